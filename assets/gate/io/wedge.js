// Keyboard wedge scanners: they type a code within milliseconds and mostly end it with Enter or Tab.
// Keys are watched for the whole page, so that no field needs the focus.

/** People need longer than this between two keys, scanners do not. */
const FAST_MS = 70;
/** Once it has begun a code, a scanner may take a breath: Bluetooth does. */
const BREATH_MS = 150;
/** Keys after a longer pause have nothing to do with those before. */
const APART_MS = 300;
/** A scanner that wakes up may send the first letter of a code this long before the others. */
const WAKE_MS = 3000;
/** Keys without an end are over this long after the next could have come. */
const PAUSE_MS = 50;
const SHORTEST = 3;
/** A name is typed nearly as fast: in a field a code is longer, and its keys come closer together. */
const IN_FIELD = { shortest: 6, gap: 50 };

/** What the test code says; every character that layouts are known to move. */
export const TEST_CODE = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.:/+";

/**
 * @typedef {object} WedgeSettings
 * @property {"Enter"|"Tab"|"none"} suffix
 * @property {Record<string, string>} layout what arrives instead of what the code says
 */

export class Wedge {
  #keys = "";
  /** What came right before and was taken for a person's: a breath early in a code breaks it in two. */
  #before = "";
  /** A single key that came before a longer pause, by a person or by a scanner that woke up. */
  #first = "";
  #lastAt = 0;
  /** Where the keys went: the field may be gone when they are over. */
  #isInField = false;
  /** @type {ReturnType<typeof setTimeout>|undefined} */
  #timer;
  /** @type {WedgeSettings|undefined} */
  settings;
  /** Says whether somebody has a code. @type {(code: string) => boolean} */
  isKnown = () => false;

  /**
   * @param {(code: string) => void} onScan
   * @param {(text: string) => void} onTyped keys that a person pressed, with no field focused
   */
  constructor(onScan, onTyped) {
    this.onScan = onScan;
    this.onTyped = onTyped;
    /** Takes raw keys and their end instead of `onScan`. @type {((raw: string, end: "Enter"|"Tab"|"none") => void)|undefined} */
    this.onRaw = undefined;
    document.addEventListener("keydown", (event) => this.#key(event), true);
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    if (event.ctrlKey || event.metaKey || event.isComposing) return;
    const focused = document.activeElement;
    // A PIN is never a code: it would be shown, sent and kept.
    if (isField(focused) && focused.type === "password") return this.#forget();
    const gap = event.timeStamp - this.#lastAt;
    const isFast = gap < this.#gap();
    if (event.key === "Enter" || event.key === "Tab") {
      const isEnd = !this.#isInField || !this.settings || this.settings.suffix === event.key;
      if (!isFast || !isEnd || this.#keys.length < this.#shortest()) return this.#flush();
      event.preventDefault();
      event.stopImmediatePropagation();
      return this.#finish(event.key);
    }
    if (event.key.length !== 1) return;
    if (!isFast) this.#flush();
    if (gap >= APART_MS) {
      this.#first = gap < WAKE_MS && this.#before.length === 1 ? this.#before : "";
      this.#before = "";
    }
    this.#keys += event.key;
    this.#isInField = isField(document.activeElement);
    this.#lastAt = event.timeStamp;
    // A space would press the button that has the focus, a quote open the browser's search.
    if (!isField(event.target) && (this.#keys.length > 1 || event.key === "'" || event.key === "/")) event.preventDefault();
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#paused(), this.#gap() + PAUSE_MS);
  }

  /** The next key of a scanner comes within this time, in ms. */
  #gap() {
    if (this.#isInField) return IN_FIELD.gap;
    return this.#keys.length < SHORTEST ? FAST_MS : BREATH_MS;
  }

  #shortest() {
    return this.#isInField ? IN_FIELD.shortest : SHORTEST;
  }

  #paused() {
    const isScan = this.#keys.length >= SHORTEST * 2 || (this.settings?.suffix === "none" && this.#keys.length >= this.#shortest());
    if (isScan && (this.onRaw || this.settings?.suffix === "none")) this.#finish("none");
    else this.#flush();
  }

  /** @param {"Enter"|"Tab"|"none"} end */
  #finish(end) {
    const raw = this.#whole(this.#before + this.#keys);
    this.#forget();
    this.#before = this.#first = "";
    const field = document.activeElement;
    if (isField(field) && field.value.endsWith(raw)) field.value = field.value.slice(0, -raw.length);
    if (this.onRaw) this.onRaw(raw, end);
    else this.onScan(this.#translated(raw));
  }

  /** @param {string} raw */
  #translated(raw) {
    return translate(raw, this.settings?.layout ?? {}).trim();
  }

  /** Keys with the letter before the pause, unless that is a person's: somebody has the code without it, or more is in the field. @param {string} raw */
  #whole(raw) {
    const whole = this.#first + raw;
    const field = document.activeElement;
    const isPersons = isField(field) && field.value !== whole;
    const isWhole = !isPersons && (this.isKnown(this.#translated(whole)) || !this.isKnown(this.#translated(raw)));
    return isWhole ? whole : raw;
  }

  /** Keys of a person: the page may put them into its field. */
  #flush() {
    const keys = this.#keys;
    this.#forget();
    this.#before += keys;
    if (keys.trim() && !this.#isInField) this.onTyped(keys);
  }

  #forget() {
    this.#keys = "";
    clearTimeout(this.#timer);
  }
}

/** Whether keys go into it; a direction that was just chosen has the focus, too. @param {EventTarget|null} target @returns {target is HTMLInputElement|HTMLTextAreaElement} */
const isField = (target) =>
  (target instanceof HTMLInputElement && target.type !== "radio" && target.type !== "checkbox") ||
  target instanceof HTMLTextAreaElement ||
  target instanceof HTMLSelectElement;

/** @param {string} raw @param {Record<string, string>} layout */
export const translate = (raw, layout) => [...raw].map((key) => layout[key] ?? key).join("");

/**
 * The layout by which a scanner typed the test code; undefined when it cannot be told.
 * @param {string} raw
 */
export function layoutOf(raw) {
  const arrived = [...raw];
  if (arrived.length !== TEST_CODE.length) return undefined;
  /** @type {Record<string, string>} */
  const layout = {};
  for (const [i, meant] of [...TEST_CODE].entries()) {
    if (layout[arrived[i]] !== undefined && layout[arrived[i]] !== meant) return undefined;
    layout[arrived[i]] = meant;
  }
  return Object.fromEntries(Object.entries(layout).filter(([key, meant]) => key !== meant));
}
