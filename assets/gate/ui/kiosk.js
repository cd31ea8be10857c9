// The kiosk: attendees check themselves in, in their own language. It shows nobody but the person whose
// code or e-mail was given, and forgets them when they leave.

import { byId, fill, icon, make, setText, showScreen } from "./dom.js";
import { fresh, help, mustSeeCrew, next, resultOf, whenIdle } from "../core/kiosk-flow.js";
import { TEXTS, say } from "../core/kiosk-texts.js";
import { cameraProblem } from "../io/scanner.js";
import { placeOf } from "../core/state.js";
import { Busy } from "../io/server.js";
import { play } from "../io/sound.js";
import { openWithPin } from "./supervisor.js";
import { language as crewLanguage, t } from "../core/texts.js";
import { grouped } from "./verdict.js";

const FIND_MS = 4000;
/** So many look-ups without a result within so many ms, and nobody looks up until they are over. */
const MISSES = { most: 10, ms: 60_000 };
const CAMERA_RETRY_MS = 15_000;
/** So many taps within so many ms, so many px from the top left corner, ask for the PIN. */
const EXIT = { taps: 5, ms: 4000, px: 120 };
const SYMBOL = { good: "tick", already: "tick", help: "look" };

/**
 * @typedef {import("../core/kiosk-flow.js").Event} Event
 * @typedef {import("../core/list.js").Person} Person
 * @typedef {import("./parts.js").Parts} Parts
 */

/** @param {string} id */
const input = (id) => /** @type {HTMLInputElement} */ (byId(id));
/** @param {string} id */
const dialog = (id) => /** @type {HTMLDialogElement} */ (byId(id));

export class Kiosk {
  #state = fresh(crewLanguage());
  #touchedAt = 0;
  #isBusy = false;
  /** Counts fresh starts: what was asked before the last one is not shown. */
  #run = 0;
  /** The crew ended it: until the menu starts it again, or the app. */
  #isLeft = false;
  /** @type {number[]} */
  #taps = [];
  /** When somebody was looked up and not found. @type {number[]} */
  #misses = [];
  #cameraNote = "";
  #cameraTriedAt = -Infinity;

  /** @param {Parts} parts */
  constructor(parts) {
    this.parts = parts;
    for (const type of ["pointerdown", "keydown", "input", "click"]) addEventListener(type, (event) => this.#touched(event), { capture: true });
    for (const button of byId("kiosk").querySelectorAll("[data-step-to]")) {
      button.addEventListener("click", () => this.#open(/** @type {import("../core/kiosk-flow.js").Step} */ (button.getAttribute("data-step-to"))));
    }
    byId("kiosk-no-code").onclick = () => this.#open("find");
    byId("kiosk-register").onclick = () => this.#open("register");
    byId("kiosk-yes").onclick = () => this.#confirmed();
    byId("kiosk-no").onclick = () => this.#go({ type: "not-me" });
    this.#onSubmit("kiosk-find", () => this.#find());
    this.#onSubmit("kiosk-code-form", () => this.#typed());
    this.#onSubmit("kiosk-register-form", () => this.#register());
  }

  /** @param {string} id @param {() => void} run */
  #onSubmit(id, run) {
    byId(id).addEventListener("submit", (event) => {
      event.preventDefault();
      run();
    });
  }

  get #settings() {
    return this.parts.sync.gate?.kiosk;
  }

  get isOn() {
    return document.body.dataset.screen === "kiosk";
  }

  /** Nobody has begun anything. */
  get isAtStart() {
    return this.isOn && this.#state.step === "start" && !this.#isBusy;
  }

  get isWanted() {
    return Boolean(this.#settings) && !this.#isLeft;
  }

  get #languages() {
    const known = (this.#settings?.languages ?? []).filter((language) => language in TEXTS);
    return known.length ? known : ["en"];
  }

  /** The first of those that are set; where all are offered, that of the browser or the menu. */
  get #first() {
    const languages = this.#languages;
    return String(languages) === String(Object.keys(TEXTS)) ? crewLanguage() : languages[0];
  }

  /** Without a list or a server, or where its policy admits nobody offline. */
  get #isClosed() {
    const { list, server, sync } = this.parts;
    return !server.online && (!list.place || sync.gate?.policy === "hold");
  }

  enter() {
    const { scanner } = this.parts;
    this.#isLeft = false;
    scanner.stop();
    scanner.video = /** @type {HTMLVideoElement} */ (byId("kiosk-video"));
    this.#cameraTriedAt = -Infinity;
    showScreen("kiosk");
    this.#startOver();
    this.#keepCamera();
    this.draw();
  }

  /** Ends the kiosk and forgets whoever used it. */
  close() {
    const { scanner } = this.parts;
    if (!this.isOn) return;
    this.#startOver();
    scanner.stop();
    scanner.video = /** @type {HTMLVideoElement} */ (byId("video"));
    document.documentElement.lang = crewLanguage();
  }

  #leave() {
    this.close();
    this.parts.screens.scan();
  }

  #startOver() {
    this.#run += 1;
    this.#state = fresh(this.#first);
    this.#touchedAt = performance.now();
    this.parts.gate.last = undefined;
    dialog("kiosk-idle").close();
    dialog("kiosk-exit-dialog").close();
    this.#clearForms();
    this.draw();
    this.#focusHeading();
  }

  /** @param {Event} event */
  #go(event) {
    if (this.#isBusy && event.type !== "language") return;
    this.#touchedAt = performance.now();
    this.#state = next(this.#state, event);
    const isNew = event.type !== "language" && event.type !== "problem";
    if (isNew) this.#clearForms();
    this.draw();
    if (!isNew) return;
    if (this.#state.step === "register") input("kiosk-first-name").focus();
    else this.#focusHeading();
  }

  #clearForms() {
    for (const form of document.querySelectorAll("#kiosk form, #kiosk-exit-form")) /** @type {HTMLFormElement} */ (form).reset();
  }

  #focusHeading() {
    const heading = /** @type {HTMLElement|null} */ (byId("kiosk").querySelector("section:not([hidden]) h1"));
    heading?.focus();
  }

  /** @param {import("../core/kiosk-flow.js").Step} step */
  #open(step) {
    // Only the server looks names up: the list has no e-mail addresses.
    if (step === "find" && !this.parts.server.online) this.#go({ type: "open", step: "code", problem: "code.offline" });
    else this.#go({ type: "open", step });
  }

  /** Does one thing at a time. @param {() => Promise<Event>} task */
  async #work(task) {
    if (this.#isBusy) return;
    this.#isBusy = true;
    const run = this.#run;
    this.draw();
    const event = await task().catch(() => /** @type {Event} */ ({ type: "result", result: help("why.other") }));
    this.#isBusy = false;
    if (run === this.#run) this.#go(event);
    else this.draw();
  }

  /** By camera or scanner, whatever is on the screen. @param {string} code */
  scanned(code) {
    if (this.#isBusy) return;
    this.#touchedAt = performance.now();
    dialog("kiosk-idle").close();
    dialog("kiosk-exit-dialog").close();
    // The ticket is still held there.
    if (this.parts.list.read(code) !== this.#state.code) this.#withCode(code);
  }

  /** Codes that are typed may be guessed: only those of tickets count. */
  #typed() {
    const { list } = this.parts;
    const code = list.read(input("kiosk-code").value.trim());
    if (!code) return this.#problem("code.need", "kiosk-code");
    this.#lookUp({ code }, (found) => {
      const people = found ?? [list.findTicket(code)].filter((person) => person !== undefined);
      return people.length ? { type: "people", people, code } : { type: "result", result: help("why.1301") };
    });
  }

  /** @param {string} text */
  #withCode(text) {
    const code = this.parts.list.read(text);
    const person = this.parts.list.find(code);
    if (person) this.#go({ type: "people", people: [person], code });
    else this.#work(() => this.#checkIn({ code }));
  }

  /** @param {string} problem @param {string} field */
  #problem(problem, field) {
    this.#go({ type: "problem", problem });
    byId(field).focus();
  }

  #find() {
    const [name, email] = ["kiosk-name", "kiosk-email"].map((id) => input(id).value.trim());
    if (!name) return this.#problem("find.need", "kiosk-name");
    if (!email) return this.#problem("find.need", "kiosk-email");
    this.#lookUp({ name, email }, (people) => {
      if (!people) return { type: "open", step: "code", problem: "code.offline" };
      return people.length ? { type: "people", people } : { type: "problem", problem: "find.none" };
    });
  }

  /** Asks the server who somebody is. @param {{name?: string, email?: string, code?: string}} who @param {(people: Person[]|undefined) => Event} then without people where the server does not answer */
  #lookUp(who, then) {
    const { server, settings } = this.parts;
    this.#work(async () => {
      if (this.#mustWait) return { type: "problem", problem: "find.wait" };
      let people;
      try {
        const answer = await server.request("POST", "/gate/find", { body: { place: placeOf(settings).id, ...who }, timeoutMs: FIND_MS });
        if (answer.status === 200) people = answer.data;
      } catch (cause) {
        if (cause instanceof Busy && cause.status === 429) return { type: "problem", problem: "find.wait" };
      }
      const event = then(people);
      if (event.type !== "people" && event.type !== "open") this.#misses.push(performance.now());
      return event;
    });
  }

  get #mustWait() {
    this.#misses = this.#misses.filter((at) => performance.now() - at < MISSES.ms);
    return this.#misses.length >= MISSES.most;
  }

  #confirmed() {
    const {
      people: [person],
      code,
    } = this.#state;
    if (mustSeeCrew(person)) this.#go({ type: "result", result: help("why.other"), code });
    else this.#work(() => this.#checkIn({ person, code }));
  }

  /** @param {{code?: string, person?: import("../core/list.js").Person}} who */
  async #checkIn(who) {
    const outcome = /** @type {import("../core/gate.js").Outcome} */ (await this.parts.gate.pass(who, "in"));
    return this.#finish(outcome, who.code);
  }

  #register() {
    const [firstName, lastName, email] = ["kiosk-first-name", "kiosk-last-name", "kiosk-new-email"].map((id) => input(id).value.trim() || undefined);
    if (!firstName && !lastName) return this.#problem("register.need", "kiosk-first-name");
    if (!input("kiosk-new-email").validity.valid) return this.#problem("register.email.bad", "kiosk-new-email");
    const delegateType = input("kiosk-type").value || undefined;
    this.#work(async () => this.#finish(await this.parts.gate.walkIn({ firstName, lastName, email, delegateType })));
  }

  /** What follows a check-in, whichever way it came. @param {import("../core/gate.js").Outcome} outcome @param {string} [code] @returns {Event} */
  #finish(outcome, code) {
    const { gate, list, server, settings } = this.parts;
    // A kiosk takes nothing back, so it keeps nobody for that.
    gate.last = undefined;
    const result = resultOf(outcome, list.place, server.now());
    play(result.kind === "good" ? "good" : "look", settings);
    return { type: "result", result, code };
  }

  /** @param {globalThis.Event} event */
  #touched(event) {
    if (!this.isOn) return;
    const idle = dialog("kiosk-idle");
    // The click that follows must still meet the dialog, not what is below.
    if (idle.open && event.type === "pointerdown") return;
    if (idle.open && event.type === "keydown") event.preventDefault();
    idle.close();
    this.#touchedAt = performance.now();
    if (event instanceof KeyboardEvent) this.#key(event);
    if (event instanceof MouseEvent && event.type === "click" && event.detail > 0) this.#tap(event);
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    if (event.ctrlKey && event.shiftKey && event.code === "KeyX") this.#askPin();
    else if (event.key === "Escape" && !event.defaultPrevented && !dialog("kiosk-exit-dialog").open && !this.#isBusy) this.#startOver();
  }

  /** By clicks: a dialog that opens before them loses its focus again. Those of keys have no place. @param {MouseEvent} event */
  #tap({ clientX, clientY, timeStamp }) {
    const isInCorner = clientX < EXIT.px && clientY < EXIT.px;
    this.#taps = isInCorner ? [...this.#taps.filter((at) => timeStamp - at < EXIT.ms), timeStamp] : [];
    if (this.#taps.length >= EXIT.taps) this.#askPin();
  }

  #askPin() {
    const { access, sync } = this.parts;
    this.#taps = [];
    if (dialog("kiosk-exit-dialog").open) return;
    const hasPin = Boolean(sync.gate?.supervisorPin);
    byId("kiosk-exit-none").hidden = hasPin;
    byId("kiosk-exit-part").hidden = byId("kiosk-exit-go").hidden = !hasPin;
    openWithPin("kiosk-exit", access.pinCheck, () => {
      this.#isLeft = true;
      this.#leave();
      return "";
    });
  }

  /** Once a second, and when the server's settings came. */
  tick() {
    if (!this.isWanted && this.isAtStart) return this.#leave();
    this.#watchIdle();
    this.#keepCamera();
  }

  #watchIdle() {
    if (this.#isBusy) return;
    const { action, left } = whenIdle(this.#state, performance.now() - this.#touchedAt, this.#settings?.idleSeconds ?? 45);
    const isUsed = this.#state.step !== "start" || this.#state.language !== this.#first || dialog("kiosk-exit-dialog").open;
    if (action === "reset" && isUsed) this.#startOver();
    if (action === "ask") {
      setText(byId("kiosk-idle-left"), say(this.#state.language, { key: "idle.left", count: left }));
      if (!dialog("kiosk-idle").open) dialog("kiosk-idle").showModal();
    }
  }

  /** Starts the camera, and again after its plug was pulled. */
  async #keepCamera() {
    const { scanner, settings } = this.parts;
    const now = performance.now();
    if (scanner.isOn || now - this.#cameraTriedAt < CAMERA_RETRY_MS) return;
    this.#cameraTriedAt = now;
    const problem = cameraProblem();
    if (problem) return void (this.#cameraNote = t(problem));
    try {
      await scanner.start(settings.camera, "user").catch(() => scanner.start(undefined, "user"));
    } catch (cause) {
      scanner.stop();
      const { name, message } = /** @type {Error} */ (cause);
      const isRefused = name === "NotAllowedError";
      this.#cameraNote = isRefused ? t("camera.refused") : t("camera.failed", { message });
      // Asking again would show the browser's question to attendees.
      if (isRefused) this.#cameraTriedAt = Infinity;
    }
    if (this.isOn) this.draw();
  }

  draw() {
    const { step, language, problem } = this.#state;
    const root = byId("kiosk");
    const shown = step === "start" && this.#isClosed ? "closed" : step;
    document.documentElement.lang = language;
    root.setAttribute("aria-busy", String(this.#isBusy));
    for (const section of root.querySelectorAll("section")) section.hidden = section.dataset.step !== shown;
    for (const element of document.querySelectorAll("[data-say]"))
      setText(/** @type {HTMLElement} */ (element), this.#say(element.getAttribute("data-say") ?? ""));
    byId("kiosk-languages").setAttribute("aria-label", this.#say("choose"));
    setText(byId("kiosk-wait"), this.#isBusy ? this.#say("wait") : "");
    for (const note of root.querySelectorAll("[data-problem]")) {
      /** @type {HTMLElement} */ (note).hidden = !problem;
      setText(/** @type {HTMLElement} */ (note), problem ? this.#say(problem) : "");
    }
    this.#renderStart();
    this.#renderPerson();
    this.#renderLanguages();
    byId("kiosk-staff").lang = byId("kiosk-exit-dialog").lang = crewLanguage();
    setText(byId("kiosk-staff"), this.#troubles().join(" · "));
  }

  #renderStart() {
    const { scanner, sync } = this.parts;
    const video = byId("kiosk-video");
    video.hidden = !scanner.isOn;
    video.classList.toggle("mirrored", scanner.facesUser);
    setText(byId("kiosk-hint"), this.#say(scanner.isOn ? "start.camera" : "start.scanner"));
    byId("kiosk-register").hidden = !this.#settings?.walkIn || !sync.gate?.walkIn;
    const types = /** @type {string[]} */ (sync.gate?.walkIn?.types ?? []);
    byId("kiosk-types").hidden = types.length < 2;
    fill(byId("kiosk-type"), types, (type) => make("option", {}, type));
    fill(byId("kiosk-closed"), this.#languages, (lang) => make("span", { lang }, say(lang, { key: "closed.title" })));
  }

  #renderPerson() {
    const {
      people: [person],
      result,
    } = this.#state;
    setText(byId("kiosk-who"), person ? this.#say("confirm.title", { name: person.name ?? "" }) : "");
    setText(byId("kiosk-category"), person?.category ?? "");
    byId("kiosk-result").className = result?.kind ?? "";
    fill(byId("kiosk-symbol"), result ? [SYMBOL[result.kind]] : [], (name) => icon(name, "symbol"));
    setText(byId("kiosk-result-title"), result ? this.#say(result.title.key, result.title) : "");
    fill(
      byId("kiosk-result-lines"),
      (result?.lines ?? []).map((line) => this.#say(line.key, { ...line, code: line.code && grouped(line.code) })),
      (line) => make("p", {}, line),
    );
  }

  #renderLanguages() {
    const { language } = this.#state;
    const languages = this.#languages;
    byId("kiosk-languages").hidden = languages.length < 2;
    fill(byId("kiosk-languages"), languages, (lang) =>
      make("button", { class: "plain", lang, onclick: () => this.#go({ type: "language", language: lang }) }, TEXTS[lang].language),
    );
    for (const button of byId("kiosk-languages").children) button.setAttribute("aria-pressed", String(button.getAttribute("lang") === language));
  }

  /** What the crew has to mend, in few words. */
  #troubles() {
    const { list, scanner, server, store } = this.parts;
    return [
      server.denied ? t("status.denied") : !server.online && t("status.offline"),
      !list.complete && t("status.list.none"),
      store.problem && t("kiosk.storage", { problem: store.problem }),
      !scanner.isOn && this.#cameraNote,
    ].filter(Boolean);
  }

  /** @param {string} key @param {Partial<import("../core/kiosk-flow.js").Sentence>} [about] */
  #say(key, about) {
    const { gate, server } = this.parts;
    return say(this.#state.language, { ...about, key }, { zone: gate.zone, now: server.now() });
  }
}
