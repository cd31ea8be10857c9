// The menu, and the settings that somebody chooses at the gate.

import { setLanguage } from "../core/texts.js";
import { byId, fillTexts } from "./dom.js";

export class Menu {
  /** @param {import("./parts.js").Parts} app */
  constructor(app) {
    this.app = app;
    byId("open-menu").addEventListener("click", () => this.#open());
    byId("menu-reload").addEventListener("click", () => location.reload());
    this.#bind("sound");
    this.#bind("vibration");
    this.#bind("theme", () => this.applyTheme());
    this.#bind("language", () => {
      this.applyLanguage();
      app.screens.draw();
    });
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

  /** Sets `settings[name]` by a field of the menu. @param {"sound"|"vibration"|"theme"|"language"} name @param {() => void} [then] */
  #bind(name, then = () => {}) {
    const field = /** @type {HTMLInputElement} */ (byId(name));
    field.onchange = () => {
      Object.assign(this.app.settings, { [name]: field.type === "checkbox" ? field.checked : field.value });
      this.app.screens.saveSettings();
      then();
    };
  }

  #open() {
    const { settings, sync } = this.app;
    for (const name of /** @type {const} */ (["sound", "vibration"])) /** @type {HTMLInputElement} */ (byId(name)).checked = settings[name];
    for (const name of /** @type {const} */ (["theme", "language"])) /** @type {HTMLSelectElement} */ (byId(name)).value = settings[name];
    byId("menu-kiosk").hidden = !sync.gate?.kiosk;
    /** @type {HTMLDialogElement} */ (byId("menu-dialog")).showModal();
  }
}
