// Codes as scanners send them: the forms in which a scanned text is looked for, as the server does (types/scanned.rs).

import { meant } from "./barcode.js";
import { canonical } from "./signed.js";

/**
 * @typedef {{code: string, id?: number, blocked?: number}} Found somebody's code, or a blocked one
 * @typedef {{code?: string, blocked?: number, isShared?: boolean, ticket?: import("./signed.js").Ticket}} Meaning
 *   a code that the list knows, `blocked` with the id of its block; or a signed ticket of somebody whom it does not know
 */

/** A code ends before the first of these where the pattern has no text after it. */
const ENDS = /[ \t\r\n"'<>?&#,;|)\]}]/;
const AROUND = /^[\p{White_Space}\p{Cc}\u200b-\u200f\u2060\ufeff]+|[\p{White_Space}\p{Cc}\u200b-\u200f\u2060\ufeff]+$/gu;
/** By these a scanner says what kind of code it read. */
const AIM_PREFIX = /^\][A-Za-z][0-9A-Za-z]/;

/** A text without spaces, line ends, control characters and marks of no width around it. @param {string} text */
const trimmed = (text) => text.replace(AROUND, "");

/** A text by which codes are compared whose case a keyboard changed. @param {string} text */
export const inOneCase = (text) => text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());

/**
 * The forms of a scanned text, in the order in which they are looked for: as it is; without spaces around it; without an
 * AIM prefix; the part that the pattern names; a code of Gatepost's own, or a signed ticket, that was typed in groups. The last
 * one is the code that the text most likely has in it.
 * @param {string} scanned @param {string} [pattern]
 */
export function forms(scanned, pattern) {
  const whole = trimmed(scanned);
  const plain = trimmed(whole.replace(AIM_PREFIX, ""));
  const part = pattern === undefined ? "" : partOf(plain, pattern);
  const all = [whole, plain, part, meant(plain), canonical(part || plain) ?? ""];
  // The last one stays the last.
  return all.filter(Boolean).reduce((found, form) => (found.includes(form) ? found : [...found, form]), [scanned]);
}

/** The code in a text; empty where the pattern does not fit. @param {string} text @param {string} pattern with `(*)` in the place of the code */
function partOf(text, pattern) {
  const [before, after] = inOneCase(pattern)
    .split("(*)")
    .map((side) => side.split("*").filter(Boolean));
  const folded = inOneCase(text);
  const behind = (/** @type {number} */ from, /** @type {string} */ piece) => {
    const at = from < 0 ? -1 : folded.indexOf(piece, from);
    return at < 0 ? -1 : at + piece.length;
  };
  const start = before.reduce(behind, 0);
  if (start < 0 || after.reduce(behind, start) < 0) return "";
  const end = after.length ? folded.indexOf(after[0], start) : start + folded.slice(start).search(ENDS);
  return trimmed(text.slice(start, end < start ? undefined : end));
}

/** Who has which code, found in any case. */
export class Codes {
  /** One id mostly, many for codes that differ by their case alone. @type {Map<string, number|number[]>} */
  #ids = new Map();
  #codesOf;

  /** @param {(id: number) => string[]} codesOf */
  constructor(codesOf) {
    this.#codesOf = codesOf;
  }

  /** @param {string} code @param {number} id */
  put(code, id) {
    const key = inOneCase(code);
    const others = this.#without(key, id);
    this.#ids.set(key, others.length ? [...others, id] : id);
  }

  /** @param {string} code @param {number} id */
  drop(code, id) {
    const key = inOneCase(code);
    const others = this.#without(key, id);
    if (others.length) this.#ids.set(key, others);
    else this.#ids.delete(key);
  }

  clear() {
    this.#ids.clear();
  }

  /** @param {string} key @param {number} id */
  #without(key, id) {
    return this.#all(key).filter((other) => other !== id);
  }

  /** @param {string} key */
  #all(key) {
    return [this.#ids.get(key) ?? []].flat();
  }

  /** @param {string} code @returns {{code: string, id: number}[]} */
  inAnyCase(code) {
    const key = inOneCase(code);
    const codesOf = (/** @type {number} */ id) => this.#codesOf(id).filter((own) => inOneCase(own) === key);
    return this.#all(key).flatMap((id) => codesOf(id).map((own) => ({ code: own, id })));
  }

  /** Everybody who has exactly this code, as whichever kind of code. @param {string} code */
  exact(code) {
    return this.inAnyCase(code)
      .filter((holder) => holder.code === code)
      .map(({ id }) => id);
  }
}

/**
 * What a scanned text means, as the server finds it (core/scanned.rs): the exact text first, then its other forms, and last
 * each form in any case. Of a form that more than one person has, or that is blocked, nobody is meant.
 * @param {string} text @param {string|undefined} pattern @param {Codes} codes @param {Codes} blocked @returns {Meaning}
 */
export function meaningOf(text, pattern, codes, blocked) {
  if (codes.exact(text).length) return { code: text };
  /** @type {[form: string, found: Found[]][]} */
  const all = forms(text, pattern).map((form) => [form, [...codes.inAnyCase(form), ...blocked.inAnyCase(form).map(({ code, id }) => ({ code, blocked: id }))]]);
  const exact = all.map(([form, found]) => found.filter(({ code }) => code === form));
  const meanings = [...exact, ...all.map(([, found]) => found)].map(decided);
  return meanings.find((meaning) => meaning !== undefined) ?? {};
}

/** What everything that has a form of a code makes of it; undefined where nothing has. @param {Found[]} found @returns {Meaning|undefined} */
function decided(found) {
  const blocked = found.find((one) => one.blocked !== undefined);
  if (blocked) return blocked;
  if (new Set(found.map(({ id }) => id)).size > 1) return { isShared: true };
  return found[0] && { code: found[0].code };
}
