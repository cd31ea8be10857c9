// Which screen is shown, what draws it, and what happens every second.

import { showReadiness } from "./readiness.js";
import { byId, closeDialogs, showScreen } from "./dom.js";
import { drawScan } from "./scanscreen.js";
import { showUploads } from "./uploads.js";

/** Without a touch, a key or a scan for so long, nobody is at the gate. */
const IDLE_MS = 60_000;

export class Screens {
  #usedAt = -IDLE_MS;

  /** @param {import("./parts.js").Parts} app */
  constructor(app) {
    this.app = app;
    const on = (/** @type {string} */ id, /** @type {() => void} */ run) => byId(id).addEventListener("click", run);
    for (const type of ["pointerdown", "keydown", "input", "click"]) addEventListener(type, () => this.used(), { capture: true });
    for (const id of ["ready-continue", "uploads-close", "evacuation-close"]) on(id, () => this.scan());
    for (const id of ["status-queue", "menu-uploads"]) on(id, () => this.#show("uploads"));
    for (const id of ["menu-evacuation", "evacuation-open"]) on(id, () => app.evacuation.open());
    on("menu-readiness", () => this.readiness());
    on("menu-kiosk", () => app.kiosk.enter());
    on("uploads-now", () => {
      app.sync.hurry();
      app.sync.upload();
    });
    for (const button of document.querySelectorAll("[data-close]")) {
      button.addEventListener("click", () => /** @type {HTMLDialogElement|null} */ (button.closest("dialog"))?.close());
    }
    this.#followBack();
  }

  /** Somebody is at the gate. */
  used() {
    this.#usedAt = performance.now();
  }

  /** @param {string} name */
  #show(name) {
    showScreen(name);
    this.draw();
  }

  readiness() {
    this.#show("readiness");
  }

  /** The screen where people scan; a kiosk's, where this is one. */
  async scan() {
    const { camera, kiosk, scanner, settings } = this.app;
    if (kiosk.isWanted) return kiosk.enter();
    this.#show("scan");
    if (settings.cameraOn && !scanner.isOn) await camera.turn(true);
  }

  saveSettings() {
    return this.app.store.set("settings", this.app.settings);
  }

  /** What the time brings, once a second and when the server's settings came: then it draws. */
  tick() {
    const { evacuation, kiosk, message, scanning, server, sync, update } = this.app;
    if (kiosk.isOn) kiosk.tick();
    else if (kiosk.isWanted && scanning.isFree) kiosk.enter();
    evacuation.tick();
    message.hear(this.#message);
    if (server.online && sync.version) update.follow(sync.version);
    if (update.isDue && this.#isIdle) location.reload();
    this.draw();
  }

  /** Draws what is on the screen now, and changes nothing else; cheap enough for every second. */
  draw() {
    const { evacuation, gate, kiosk, list, message, queue, server } = this.app;
    const { screen } = document.body.dataset;
    const now = server.now();
    if (screen === "readiness") showReadiness(this.app);
    else if (screen === "uploads") showUploads(queue, list, gate.zone, now);
    else if (screen === "kiosk") kiosk.draw();
    else if (screen === "scan") drawScan(this.app, now);
    evacuation.draw();
    message.show(this.#message, gate.zone, now);
  }

  /** The crew's words are not for attendees. */
  get #message() {
    return this.app.kiosk.isOn ? undefined : this.app.sync.gate?.message;
  }

  /** Nothing waits for upload, and nobody is at the gate: a reload costs nothing. */
  get #isIdle() {
    const { kiosk, queue, server, store } = this.app;
    const { screen } = document.body.dataset;
    const isFree = screen === "kiosk" ? kiosk.isAtStart : screen !== "setup" && screen !== "places" && screen !== "evacuation" && byId("verdict").hidden;
    const isUsed = performance.now() - this.#usedAt < IDLE_MS || document.querySelector("dialog[open]");
    return isFree && !isUsed && server.online && queue.waiting.length === 0 && !store.problem;
  }

  /** Back takes away what is over the screen where people scan. It leaves the app only from there, and when it is pressed twice. */
  #followBack() {
    for (const type of ["click", "keydown"]) {
      // Browsers skip entries that no touch or key made.
      addEventListener(type, () => history.state ?? history.pushState("over", ""), { capture: true });
    }
    addEventListener("popstate", () => {
      const { kiosk, verdicts, walkIns } = this.app;
      const { screen } = document.body.dataset;
      if (history.state || kiosk.isOn || walkIns.isBusy) return;
      closeDialogs();
      verdicts.close();
      if (screen === "readiness" || screen === "uploads" || screen === "evacuation") this.scan();
      else if (screen === "places" && !byId("places-back").hidden) byId("places-back").click();
    });
  }
}
