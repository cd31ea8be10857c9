// The verdict over the whole screen: colour, symbol and word, then who and why.

import { byId, icon, make, setText } from "./dom.js";
import { t } from "../core/texts.js";
import { KINDS, verdictOf } from "../core/verdicts.js";
import { play } from "../io/sound.js";

/** Time enough to choose the whole booking. */
const BOOKING_MS = 6000;
/** Time enough to choose what is done about an unknown code. */
const UNKNOWN_MS = 20_000;
/** A scanner may end a code by two keys: the second one must not close the verdict of the first. */
const KEY_MS = 400;

/**
 * @typedef {object} Shown
 * @property {import("../core/verdicts.js").Kind} kind
 * @property {string} word
 * @property {import("../core/verdicts.js").Why} [why] the kind of a refusal
 * @property {string} [name]
 * @property {string} [category]
 * @property {string} [reason]
 * @property {{level: string, note: string}} [note]
 * @property {string[]} [more] further lines
 * @property {string} [photo]
 * @property {string} [badge] a new code, to be written on a badge
 * @property {number} [booking] how many people belong to the booking
 * @property {() => void} [onUndo]
 * @property {() => void} [onOverride]
 * @property {() => void} [onBooking]
 * @property {() => void} [onBadge]
 * @property {() => void} [onPrint]
 * @property {() => void} [onSearch]
 * @property {() => void} [onWalkIn]
 */

export class VerdictScreen {
  /** @type {ReturnType<typeof setTimeout>|undefined} */
  #timer;
  /** @type {Shown|undefined} */
  #shown;
  #shownAt = 0;
  /** Times from scan to verdict, in ms, the last ones. @type {number[]} */
  times = [];

  /** @param {() => {sound: boolean, vibration: boolean}} settings */
  constructor(settings) {
    this.settings = settings;
    byId("verdict-next").addEventListener("click", () => this.close());
    byId("verdict-body").addEventListener("click", () => this.close());
    byId("verdict-undo").addEventListener("click", () => this.#act(this.#shown?.onUndo));
    byId("verdict-override").addEventListener("click", () => this.#act(this.#shown?.onOverride));
    byId("verdict-booking").addEventListener("click", () => this.#act(this.#shown?.onBooking));
    byId("verdict-badge").addEventListener("click", () => this.#act(this.#shown?.onBadge));
    byId("verdict-print").addEventListener("click", () => this.#shown?.onPrint?.());
    byId("verdict-search").addEventListener("click", () => this.#act(this.#shown?.onSearch));
    byId("verdict-walkin").addEventListener("click", () => this.#act(this.#shown?.onWalkIn));
    addEventListener("keydown", (event) => this.#key(event));
  }

  /** Shows a verdict in place of the last one. @param {Shown} shown @param {number} [startedAt] performance.now() of the scan */
  show(shown, startedAt) {
    this.#shown = shown;
    const screen = byId("verdict");
    const { colour, symbol } = verdictOf(shown);
    screen.className = `verdict ${shown.kind} ${colour}`;
    byId("verdict-body").replaceChildren(
      icon(symbol, "symbol"),
      ...line("stop-word", shown.why && t("verdict.stop")),
      make("p", { class: "word" }, shown.word),
      ...(shown.photo ? [photo(shown.photo, shown.name ?? "")] : []),
      ...line("name", shown.name),
      ...line("more", shown.category),
      ...(shown.badge ? [badge(grouped(shown.badge))] : []),
      ...line("reason", capitalized(shown.reason)),
      ...line("note", shown.note?.note),
      ...(shown.more ?? []).flatMap((text) => line("more", text)),
    );
    byId("verdict-undo").hidden = !shown.onUndo;
    byId("verdict-override").hidden = !shown.onOverride;
    byId("verdict-booking").hidden = !shown.onBooking;
    setText(byId("verdict-booking"), t("verdict.booking", { count: shown.booking ?? 0 }));
    byId("verdict-badge").hidden = !shown.onBadge;
    byId("verdict-print").hidden = !shown.onPrint;
    byId("verdict-search").hidden = !shown.onSearch;
    byId("verdict-walkin").hidden = !shown.onWalkIn;
    screen.hidden = false;
    byId("scan").inert = true;
    play(shown.why ?? shown.kind, this.settings());
    this.#shownAt = performance.now();
    clearTimeout(this.#timer);
    // Somebody has to copy a new code: it stays until the next scan or a touch.
    if (!shown.badge) this.#timer = setTimeout(() => this.#closeWhenLeft(), stayMs(shown));
    if (startedAt !== undefined) requestAnimationFrame(() => this.#measure(performance.now() - startedAt));
  }

  /** @param {number} ms */
  #measure(ms) {
    this.times.push(ms);
    if (this.times.length > 500) this.times.shift();
  }

  /** Next without a look at the screen; a button that has the focus does what it says. @param {KeyboardEvent} event */
  #key(event) {
    if (byId("verdict").hidden || document.querySelector("dialog[open]")) return;
    if (event.key === "Escape") return this.close();
    const isNext = event.key === "Enter" || event.key === " ";
    if (!isNext || event.repeat || event.target instanceof HTMLButtonElement || performance.now() - this.#shownAt < KEY_MS) return;
    event.preventDefault();
    this.close();
  }

  /** Nobody's button goes away under the finger. */
  #closeWhenLeft() {
    if (!byId("verdict").contains(document.activeElement)) return this.close();
    this.#timer = setTimeout(() => this.#closeWhenLeft(), 2000);
  }

  /** @param {(() => void)|undefined} action */
  #act(action) {
    this.close();
    action?.();
  }

  close() {
    clearTimeout(this.#timer);
    byId("verdict").hidden = true;
    byId("verdict-body").replaceChildren();
    byId("scan").inert = false;
    this.#shown = undefined;
  }
}

/** @param {Shown} shown */
function stayMs({ kind, onBooking, onSearch, onWalkIn }) {
  return Math.max(KINDS[kind].stayMs, onBooking ? BOOKING_MS : 0, onSearch || onWalkIn ? UNKNOWN_MS : 0);
}

/** @param {string} name @param {string|undefined} text */
const line = (name, text) => (text ? [make("p", { class: name }, text)] : []);

/** A long code in groups of four, to be read and written. @param {string} code */
export const grouped = (code) => (/^[A-Za-z0-9]{8,}$/.test(code) ? code.replace(/.{4}(?=.)/g, "$& ") : code);

/** As large as its line is long. @param {string} text */
function badge(text) {
  const shown = make("p", { class: "badge" }, text);
  shown.style.setProperty("--length", String(text.length));
  return shown;
}

/** The server's sentences go on after a code; here they stand alone. @param {string} [text] */
const capitalized = (text) => text && text[0].toUpperCase() + text.slice(1);

/** @param {string} address @param {string} name */
function photo(address, name) {
  const image = make("img", { class: "photo", src: address, alt: t("verdict.photo", { name }) });
  image.addEventListener("error", () => image.remove());
  return image;
}
