// The menu, and the settings that somebody chooses at the gate.

import { setLanguage } from "../core/texts.js";
import { byId, fillTexts } from "./dom.js";

/** Settings that are fields of the menu, by their ids there. */
const TICKS = /** @type {const} */ (["sound", "vibration"]);
const CHOICES = /** @type {const} */ (["theme", "language"]);

export class Menu {
  /** @param {import("./parts.js").Parts} app */
  constructor(app) {
    this.app = app;
    byId("open-menu").addEventListener("click", () => this.#open());
    byId("menu-reload").addEventListener("click", () => location.reload());
    for (const name of [...TICKS, ...CHOICES]) this.#bind(name);
    for (const radio of document.querySelectorAll("input[name=mode]")) {
      const field = /** @type {HTMLInputElement} */ (radio);
      field.addEventListener("change", () => {
        app.settings.mode = /** @type {typeof app.settings.mode} */ (field.value);
        app.screens.saveSettings();
      });
    }
  }

  applyLanguage() {
    setLanguage(this.app.settings.language);
    fillTexts(document);
  }

  applyTheme() {
    document.documentElement.dataset.theme = this.app.settings.theme;
  }

  /** Sets `settings[name]` by a field of the menu. @param {typeof TICKS[number]|typeof CHOICES[number]} name */
  #bind(name) {
    const field = /** @type {HTMLInputElement} */ (byId(name));
    field.onchange = () => {
      Object.assign(this.app.settings, { [name]: field.type === "checkbox" ? field.checked : field.value });
      this.app.screens.saveSettings();
      this.applyTheme();
      this.applyLanguage();
      this.app.screens.draw();
    };
  }

  #open() {
    const { settings, sync } = this.app;
    for (const name of TICKS) /** @type {HTMLInputElement} */ (byId(name)).checked = settings[name];
    for (const name of CHOICES) /** @type {HTMLSelectElement} */ (byId(name)).value = settings[name];
    byId("menu-kiosk").hidden = !sync.gate?.kiosk;
    /** @type {HTMLDialogElement} */ (byId("menu-dialog")).showModal();
  }
}
