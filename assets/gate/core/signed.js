// Signed tickets, read and verified without the server, as it does (types/signed_ticket.rs). The verification needs no secure
// context, and takes some milliseconds.

import { verify } from "../vendor/noble-ed25519-3.2.0.js";
import { sha256 } from "../vendor/noble-hashes-2.4.0.js";
import { SYMBOLS } from "./barcode.js";

const LENGTH = 120;
const CLAIMS = 11;
/** Tickets whose verification is remembered: those of the last few scans. */
const KEPT = 50;

/**
 * @typedef {NonNullable<import("api").components["schemas"]["Gate"]["tickets"]>} Keys
 * @typedef {object} Ticket
 * @property {"genuine"|"cancelled"|"forged"|"retired-key"} state
 * @property {string} text the ticket as it was signed
 * @property {number} kid
 * @property {number} serial
 * @property {string} [type] of the attendee, where a name for it is known
 * @property {[from: number, to: number][]} [days] that it is for, Unix ms; absent: every day
 */

/** The number that stands for the code of a ticket. @param {string} code */
export const serialOf = (code) => numberOf(sha256(new TextEncoder().encode(code)).subarray(0, 6));

/** @param {Uint8Array} bytes with the highest first */
const numberOf = (bytes) => bytes.reduce((number, byte) => number * 256 + byte, 0);

/** A text as a signed ticket is written, however it was typed; undefined where it is none. @param {string} text */
export function canonical(text) {
  if (text.length < LENGTH) return undefined;
  const upper = text.replace(/[\p{White_Space}-]/gu, "").replace(/[a-z]+/g, (letters) => letters.toUpperCase());
  const read = upper.replace(/O/g, "0").replace(/[IL]/g, "1");
  return read.length === LENGTH && [...read].every((letter) => SYMBOLS.includes(letter)) ? read : undefined;
}

/** The 75 bytes of a ticket. @param {string} text as it was signed */
function bytesOf(text) {
  const bytes = new Uint8Array((LENGTH * 5) / 8);
  let [bits, count, at] = [0, 0, 0];
  for (const letter of text) {
    bits = ((bits << 5) | SYMBOLS.indexOf(letter)) & 0xfff;
    count += 5;
    if (count < 8) continue;
    count -= 8;
    bytes[at++] = bits >> count;
  }
  return bytes;
}

export class Tickets {
  /** @type {Keys|undefined} */
  #keys;
  /** @type {Set<number>} */
  #cancelled = new Set();
  /** @type {Map<string, Ticket>} */
  #read = new Map();

  /** @param {Keys} [keys] as the server told them; none where tickets are not signed */
  set(keys) {
    this.#keys = keys;
    this.#cancelled = new Set(keys?.cancelled);
    this.#read.clear();
  }

  /** Whether there are signed tickets. */
  get isOn() {
    return this.#keys !== undefined;
  }

  /** A text as a signed ticket; undefined where it is none. @param {string} text @returns {Ticket|undefined} */
  read(text) {
    const ticket = this.#keys && canonical(text);
    if (!ticket) return undefined;
    const known = this.#read.get(ticket);
    if (known) return known;
    const read = this.#verified(ticket);
    if (this.#read.size >= KEPT) this.#read.clear();
    this.#read.set(ticket, read);
    return read;
  }

  /** @param {string} text @returns {Ticket} */
  #verified(text) {
    const bytes = bytesOf(text);
    const [kid, serial] = [bytes[0], numberOf(bytes.subarray(1, 7))];
    const key = this.#keys?.keys.find((known) => known.kid === kid);
    if (key?.retired) return { state: "retired-key", text, kid, serial };
    const isGenuine = key?.publicKey !== undefined && isSigned(bytes, key.publicKey);
    if (!isGenuine) return { state: "forged", text, kid, serial };
    const named = numberOf(bytes.subarray(9, CLAIMS));
    const begins = key?.days ?? [];
    const all = begins.slice(1).map((ends, day) => /** @type {[number, number]} */ ([begins[day], ends]));
    const days = named === 0 ? undefined : all.filter((_, day) => (named >> day) & 1);
    const type = this.#keys?.types[String(numberOf(bytes.subarray(7, 9)))];
    return { state: this.#cancelled.has(serial) ? "cancelled" : "genuine", text, kid, serial, type, days };
  }
}

/** @param {Uint8Array} bytes of a ticket @param {string} publicKey hexadecimal */
function isSigned(bytes, publicKey) {
  const key = Uint8Array.from(publicKey.match(/../g) ?? [], (byte) => parseInt(byte, 16));
  try {
    // Strictly by the RFC, as the server does.
    return verify(bytes.subarray(CLAIMS), bytes.subarray(0, CLAIMS), key, { zip215: false });
  } catch {
    return false;
  }
}

/** Whether a ticket is for the day of an instant. @param {Ticket} ticket @param {number} at Unix ms */
export const isForDay = ({ days }, at) => days === undefined || days.some(([from, to]) => from <= at && at < to);
