// A whole booking or group at once. Each person is a scan of their own: one who is refused holds up nobody.

import { byId, icon, make, setText } from "./dom.js";
import { spokenTime } from "../core/judge.js";
import { play } from "../io/sound.js";
import { t } from "../core/texts.js";
import { KINDS, verdictOf } from "../core/verdicts.js";

/**
 * @typedef {import("../core/list.js").Person} Person
 * @typedef {import("../core/gate.js").Outcome} Outcome
 * @typedef {import("./parts.js").Parts} App
 */

/** Requests at once: quick on the LAN, and the scans of other gates get their turn. */
const AT_ONCE = 4;

export class BookingDialog {
  #dialog = /** @type {HTMLDialogElement} */ (byId("booking-dialog"));
  #go = /** @type {HTMLButtonElement} */ (byId("booking-go"));
  #all = /** @type {HTMLButtonElement} */ (byId("booking-all"));
  /** @type {"in"|"out"} */
  #passage = "in";
  /** @type {{person: Person, box: HTMLInputElement, item: HTMLElement}[]} */
  #rows = [];

  get #isIn() {
    return this.#passage === "in";
  }

  /** @param {App} app */
  constructor(app) {
    this.app = app;
    this.#all.addEventListener("click", () => this.#tickAll());
    byId("booking-list").addEventListener("change", () => this.#count());
    byId("booking-form").addEventListener("submit", (event) => {
      event.preventDefault();
      this.#run();
    });
  }

  /** How many people belong to somebody's booking, themselves included. @param {Person|undefined} person */
  sizeOf(person) {
    return person ? this.app.list.booking(person).length : 0;
  }

  /** @param {Person} person @param {"in"|"out"} passage */
  open(person, passage) {
    const { list, queue } = this.app;
    const waiting = queue.passed;
    const members = list.booking(person).map((member) => list.withWaiting(member, waiting));
    this.#passage = passage;
    this.#rows = members.map((member) => this.#row(member));
    setText(byId("booking-who"), t("booking.of", { name: members[0]?.name ?? "", count: members.length }));
    setText(byId("booking-result"), "");
    byId("booking-list").replaceChildren(...this.#rows.map(({ item }) => item));
    this.#go.hidden = this.#all.hidden = false;
    this.#count();
    this.#dialog.showModal();
  }

  /** Forgets whom it showed. */
  clear() {
    this.#rows = [];
    setText(byId("booking-who"), "");
    byId("booking-list").replaceChildren();
  }

  /** @param {Person} person */
  #row(person) {
    const wants = this.#isIn !== Boolean(person.inside);
    const box = /** @type {HTMLInputElement} */ (make("input", { type: "checkbox", checked: wants }));
    const about = [person.category, this.#state(person), person.note?.note].filter(Boolean).join(" · ");
    const item = make("li", {}, make("label", { class: "tick" }, box, make("span", {}, person.name ?? String(person.id), make("small", {}, about))));
    return { person, box, item };
  }

  /** @param {Person} person */
  #state(person) {
    const { gate } = this.app;
    if (person.inside) return t("search.inside");
    if (person.lastOut === undefined) return t("booking.expected");
    return t("booking.left", { at: spokenTime(person.lastOut, gate.zone, gate.server.now()) });
  }

  #tickAll() {
    const tick = !this.#rows.every(({ box }) => box.checked);
    for (const { box } of this.#rows) box.checked = tick;
    this.#count();
  }

  #count() {
    const count = this.#rows.filter(({ box }) => box.checked).length;
    setText(this.#go, t(this.#isIn ? "booking.in" : "booking.out", { count }));
    setText(this.#all, t(count === this.#rows.length ? "booking.none" : "booking.all"));
    this.#go.disabled = count === 0;
  }

  async #run() {
    const { settings, gate, shift } = this.app;
    const rows = this.#rows;
    const chosen = rows.filter(({ box }) => box.checked);
    const due = [...chosen];
    this.#go.hidden = this.#all.hidden = true;
    for (const { box } of rows) box.disabled = true;
    /** @type {Outcome[]} */
    const outcomes = [];
    const work = async () => {
      for (let row = due.shift(); row && gate.server.credentials; row = due.shift()) {
        const outcome = await gate.passOne(row.person, this.#passage);
        outcomes.push(outcome);
        shift.add(outcome);
        row.item.replaceChildren(...result(outcome));
        if (rows === this.#rows) setText(byId("booking-result"), t("booking.running", { count: outcomes.length, total: chosen.length }));
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    const passed = outcomes.filter((outcome) => outcome.passed).length;
    const isClean = outcomes.every(({ shown }) => shown.kind === "good" || shown.kind === "out");
    play(isClean ? "good" : passed === chosen.length ? "look" : "stop", settings);
    if (rows !== this.#rows) return;
    setText(byId("booking-result"), t(this.#isIn ? "booking.done.in" : "booking.done.out", { count: passed, total: chosen.length }));
    byId("booking-close").focus();
  }
}

/** What happened to one person. @param {Outcome} outcome */
function result({ shown }) {
  const why = [shown.word, shown.reason, shown.note?.note].filter(Boolean).join(" · ");
  return [make("span", { class: `is-${KINDS[shown.kind].level}` }, icon(verdictOf(shown).symbol)), make("strong", {}, shown.name ?? ""), make("p", {}, why)];
}
