// Credentials and place: how this gate gets them, follows the console, and forgets them.

import { forgotten } from "../core/state.js";
import { t } from "../core/texts.js";
import { byId, closeDialogs, fill, make, setText, showScreen, toast } from "./dom.js";
import { choosePlace, setUp } from "./onboarding.js";
import { isAllowed } from "./scanscreen.js";
import { openWithPin, pinCheck } from "./supervisor.js";
import { confirmThen } from "./uploads.js";

export class Access {
  /** @param {import("./parts.js").Parts} app */
  constructor(app) {
    this.app = app;
    this.pinCheck = pinCheck(app.server, () => app.sync.gate);
    byId("place-name").addEventListener("click", () => this.changePlace());
    byId("menu-place").addEventListener("click", () => this.changePlace());
    byId("menu-reset").addEventListener("click", (event) => this.#askReset(event));
  }

  /** @param {string} [note] */
  async onboard(note) {
    const { queue, screens, server, settings, store } = this.app;
    const kept = queue.waiting.length ? t("setup.kept", { count: queue.waiting.length }) : "";
    const { name, clientId, clientSecret } = await setUp(server, store, { name: settings.name, note: note ?? kept });
    settings.name = name;
    server.use({ clientId, clientSecret });
    await store.set("credentials", { clientId, clientSecret });
    await screens.saveSettings();
  }

  /** Lets somebody choose where scans count; a place set in the console needs no choice. */
  async changePlace() {
    const { screens, settings, sync } = this.app;
    const before = settings.place;
    if (!before) showScreen("places");
    if (!before) await this.#placesKnown();
    const places = sync.gate?.places ?? [];
    const fixed = sync.gate?.place ?? (places.length === 1 ? places[0] : undefined);
    const chosen = !before && fixed ? fixed : await choosePlace(sync.gate, Boolean(before));
    if (chosen && chosen.id !== before?.id) await this.#usePlace(chosen);
    if (before || !chosen) await screens.scan();
    else screens.readiness();
  }

  /** Waits until the server names places that this gate may use. */
  async #placesKnown() {
    const { server, sync } = this.app;
    for (;;) {
      await sync.refresh().catch(() => {});
      if (server.denied) await this.onboard(t("setup.denied"));
      else if (sync.gate?.place || sync.gate?.places?.length) return;
      else {
        showScreen("places");
        setText(byId("places-note"), t(sync.gate ? "place.none" : "place.loading"));
        await new Promise((resolve) => setTimeout(resolve, 2000));
      }
    }
  }

  /** @param {{id: number, name: string}} place */
  async #usePlace({ id, name }) {
    const { screens, settings, shift, sync } = this.app;
    settings.place = { id, name };
    await shift.clear();
    await screens.saveSettings();
    await sync.changePlace();
  }

  /** What the console set since it was asked last: this gate follows, and says so. */
  followConsole() {
    const { screens, settings, sync } = this.app;
    const { policy } = sync.gate ?? {};
    const news = [];
    if (policy && settings.policy && policy !== settings.policy) news.push(t("console.policy", { policy: t(`policy.${policy}`) }));
    settings.policy = policy ?? settings.policy;
    // Nobody could choose another direction any more.
    if (settings.mode !== "in" && !isAllowed(sync.gate, "check-out")) {
      settings.mode = "in";
      screens.saveSettings();
      news.push(t("console.in"));
    }
    news.push(...this.#followPlace());
    if (news.length > 0) toast(news.join(" "));
  }

  #followPlace() {
    const { settings, sync } = this.app;
    const { place, places } = sync.gate ?? {};
    const isSet = place && place.id !== settings.consolePlace;
    if (isSet) settings.consolePlace = place.id;
    if (isSet && settings.place && settings.place.id !== place.id) {
      this.#usePlace(place);
      return [t("console.place", { name: place.name })];
    }
    if (!place && settings.place && places && !places.some((/** @type {{id: number}} */ { id }) => id === settings.place?.id)) {
      const { name } = settings.place;
      delete settings.place;
      this.changePlace();
      return [t("console.place.gone", { name })];
    }
    return [];
  }

  /** Everything personal goes, from the page as well; scans that were not uploaded stay. */
  async #forget() {
    const { bookings, evacuation, kiosk, list, scanner, screens, search, server, settings, shift, store, sync, verdicts } = this.app;
    const deleted = forgotten(settings);
    server.use(undefined);
    sync.gate = undefined;
    scanner.stop();
    kiosk.close();
    closeDialogs();
    verdicts.close();
    search.clear();
    bookings.clear();
    toast("");
    for (const form of document.querySelectorAll("dialog form")) /** @type {HTMLFormElement} */ (form).reset();
    for (const id of ["override-who", "badge-who", "undo-text"]) setText(byId(id), "");
    for (const id of ["recent", "failed"]) fill(byId(id), [], () => make("li"));
    await shift.clear();
    await list.clear();
    await evacuation.clear();
    await store.write(deleted);
    await screens.saveSettings();
  }

  /** The console took the access away. */
  async revoked() {
    const { queue, server } = this.app;
    if (!server.credentials) return;
    await this.#forget();
    await queue.strip();
    const walkInCount = queue.walkIns.length;
    const kept = t("setup.revoked", { count: queue.waiting.length + queue.failed.length });
    await this.onboard(walkInCount ? `${kept} ${t("setup.revoked.walkins", { count: walkInCount })}` : kept);
    await this.changePlace();
  }

  async #reset() {
    await this.#forget();
    await this.onboard();
    await this.changePlace();
  }

  /** The supervisor's, where there is one. @param {Event} event */
  #askReset(event) {
    const { queue, sync } = this.app;
    const count = queue.waiting.length + queue.failed.length;
    if (!sync.gate?.supervisorPin) return confirmThen(t("menu.reset.sure", { count }), () => this.#reset())(event);
    closeDialogs();
    setText(byId("reset-what"), t("menu.reset.with", { count }));
    openWithPin("reset", this.pinCheck, () => {
      this.#reset();
      return "";
    });
  }
}
