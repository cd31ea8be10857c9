// From a code, a search hit or a walk-in to a verdict on the screen, and what can be done from there.

import { CODES } from "../core/codes.js";
import { answerOf, t } from "../core/texts.js";
import { byId, closeDialogs, toast } from "./dom.js";
import { isAllowed } from "./scanscreen.js";
import { askOverride, canOverride } from "./supervisor.js";

/** Longer codes are no ticket's. */
const CODE_MAX = 255;

/** Nobody was found, and the person may have come honestly. */
const NEEDS_HELP = ["unknown", "unlisted", "forged"];

/** @typedef {import("../core/gate.js").Outcome} Outcome */
/** @typedef {import("../core/list.js").Person} Person */

export class Scanning {
  #count = 0;
  /** The number of the scan whose verdict was shown last. */
  #shown = 0;

  /** @param {import("./parts.js").Parts} app */
  constructor(app) {
    this.app = app;
    app.wedge.isKnown = (code) => app.list.isKnown(code);
    byId("open-type").addEventListener("click", () => openType(""));
    byId("open-search").addEventListener("click", () => app.search.open());
    byId("open-walkin").addEventListener("click", () => this.openWalkIn());
    byId("undo").addEventListener("click", () => this.undo());
    byId("type-form").addEventListener("submit", () => {
      const code = /** @type {HTMLInputElement} */ (byId("type-code")).value.trim();
      if (code) this.scanned({ code });
    });
  }

  /** The gate waits for the next scan. */
  get isFree() {
    return !document.querySelector("dialog[open]") && document.body.dataset.screen === "scan" && byId("verdict").hidden;
  }

  /** A camera or a hand scanner read a code: what is open over the screen takes it, or stays as it is. @param {string} code */
  read(code) {
    const { badges, evacuation, kiosk, screens } = this.app;
    screens.used();
    if (kiosk.isOn) return kiosk.scanned(code);
    if (evacuation.isShown) return evacuation.scanned(code);
    if (document.body.dataset.screen !== "scan") return;
    const dialog = document.querySelector("dialog[open]");
    if (!dialog || dialog.id === "type-dialog") this.scanned({ code });
    else toast(badges.isOpen ? badges.take(code) : t("scan.ignored"));
  }

  /** Keys of a person with no field in focus: the code is typed by hand. @param {string} text */
  typed(text) {
    if (this.isFree && /^[\p{L}\p{N}]/u.test(text)) openType(text);
  }

  /** Somebody wants to go in or out. @param {{code?: string, person?: Person}} who */
  async scanned(who) {
    if (!this.app.settings.place || document.body.dataset.screen !== "scan") return;
    const startedAt = performance.now();
    const number = (this.#count += 1);
    closeDialogs();
    const outcome = await this.app.gate.pass(who);
    if (outcome) this.#settle(outcome, number, startedAt);
  }

  /** Shows a verdict, unless that of a later scan is on the screen already. @param {Outcome} outcome @param {number} number @param {number} startedAt */
  #settle(outcome, number, startedAt) {
    const { screens, server, shift, verdicts } = this.app;
    // Revoked meanwhile: the scan is kept, the person is not shown.
    if (!server.credentials) return;
    this.#offer(outcome);
    shift.add(outcome);
    if (number > this.#shown) {
      this.#shown = number;
      closeDialogs();
      verdicts.show(outcome.shown, startedAt);
    }
    screens.draw();
  }

  /** Adds to a verdict what may be done from it. @param {Outcome} outcome */
  #offer(outcome) {
    const { access, badges, bookings, sync } = this.app;
    const { shown, passed, person, scan } = outcome;
    if (passed) shown.onUndo = () => this.undo();
    else if (canOverride(outcome, sync.gate)) shown.onOverride = () => askOverride(outcome, access.pinCheck, (reason) => this.#override(outcome, reason));
    shown.booking = bookings.sizeOf(person);
    if (person && shown.booking > 1) shown.onBooking = () => bookings.open(person, scan.passage);
    if (badges.isAllowed && outcome.code !== CODES.delegateNotFound && !scan.walkIn && (person?.id ?? 1) > 0) {
      shown.onBadge = () => this.#replaceBadge({ name: shown.name, person, code: scan.code });
    }
    if (sync.gate?.prints && passed && person && person.id > 0) shown.onPrint = () => this.#print(person);
    if (NEEDS_HELP.includes(shown.why ?? "") && scan.code !== undefined) this.#offerHelp(shown, scan.code);
  }

  /** What may be done about a code that nobody has: it is kept on the way. @param {import("./verdict.js").Shown} shown @param {string} code */
  #offerHelp(shown, code) {
    const { list, search, sync } = this.app;
    const read = list.newCode(code);
    const kept = read && read.length <= CODE_MAX ? read : undefined;
    if (isAllowed(sync.gate, "delegate-search")) shown.onSearch = () => search.open(kept);
    if (sync.gate?.walkIn) shown.onWalkIn = () => this.openWalkIn(kept);
  }

  /** @param {Outcome} outcome @param {string} reason */
  async #override(outcome, reason) {
    const number = (this.#count += 1);
    this.#settle(await this.app.gate.override(outcome, reason), number, performance.now());
  }

  /** @param {string} [code] that somebody came with */
  openWalkIn(code) {
    const { sync, walkIns } = this.app;
    walkIns.open(sync.gate?.walkIn?.types ?? [], code);
  }

  /** Answers whether the person is registered. @param {import("../core/queue.js").WalkIn} person @param {string} [code] */
  async register(person, code) {
    const startedAt = performance.now();
    const number = (this.#count += 1);
    const outcome = await this.app.gate.walkIn(person, code);
    this.#settle(outcome, number, startedAt);
    return outcome.passed;
  }

  /** @param {import("./badge.js").Who} who @param {string} [code] of the new badge */
  #replaceBadge(who, code) {
    const { badges, server } = this.app;
    if (server.online) badges.open(who, code);
    else toast(t("badge.offline"));
  }

  /** Has the printer of this gate print a badge. @param {Person} person */
  async #print(person) {
    const { server, settings } = this.app;
    if (!server.online) return toast(t("print.offline"));
    const body = { delegate: person.id, device: settings.place?.id };
    try {
      const answer = await server.request("POST", "/badge/print", { body, timeoutMs: 5000 });
      if (answer.status === 200) toast(t("print.queued", { printer: answer.data.printer }));
      else toast(t("print.failed", { message: answerOf(answer.error, String(answer.status)) }));
    } catch {
      toast(t("print.offline"));
    }
  }

  /** What else may be done with a search hit. @param {Person} person @param {string} [code] that they came with @returns {[text: string, run: () => void][]} */
  actionsFor(person, code) {
    const { badges, bookings, settings, sync } = this.app;
    /** @type {[string, () => void][]} */
    const actions = [];
    const count = bookings.sizeOf(person);
    if (count > 1) actions.push([t("verdict.booking", { count }), () => bookings.open(person, settings.mode === "out" ? "out" : "in")]);
    if (badges.isAllowed && person.id > 0) actions.push([t("verdict.badge.button"), () => this.#replaceBadge({ name: person.name, person }, code)]);
    if (sync.gate?.prints && person.id > 0) actions.push([t("print.button"), () => this.#print(person)]);
    return actions;
  }

  async undo() {
    const { gate, screens, shift } = this.app;
    const undone = gate.last;
    const { message, isDone } = await gate.undo();
    if (isDone && undone) await shift.undone(undone);
    toast(message);
    screens.draw();
  }
}

/** @param {string} text */
function openType(text) {
  /** @type {HTMLDialogElement} */ (byId("type-dialog")).showModal();
  const field = /** @type {HTMLInputElement} */ (byId("type-code"));
  field.value = text;
  field.focus();
}
