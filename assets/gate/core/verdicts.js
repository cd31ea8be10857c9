// The kinds of verdicts, in one table: each has a word, a colour, a symbol, a sound and a vibration, so that a steward knows
// from a metre away, or without a look, what to do. Pure; the sentence below the word says the rest.

import { CODES, UNDECIDED } from "./codes.js";

/** A tone: frequency in Hz, start in s, length in s. @typedef {[hz: number, start: number, length: number]} Tone */
/** @typedef {{tones: Tone[], pulse: number[]}} Signal `pulse`: a vibration and its pauses, in ms, by turns */

// Refusals that ask the same of a steward sound the same.
/** @type {Signal} */
const STOP = { tones: [[196, 0, 0.55]], pulse: [400] };
/** @type {Signal} */
const TIME = {
  tones: [
    [262, 0, 0.14],
    [196, 0.2, 0.4],
  ],
  pulse: [100, 80, 350],
};
/** @type {Signal} */
const PLACE = {
  tones: [
    [196, 0, 0.35],
    [147, 0.42, 0.35],
  ],
  pulse: [300, 80, 300],
};

/**
 * @typedef {object} Verdict
 * @property {string} word key of the text
 * @property {string} colour a class of style.css
 * @property {string} symbol one of those in index.html
 * @property {Tone[]} tones
 * @property {number[]} pulse
 */

/** A message of the crew: no verdict. @type {Signal} */
export const MESSAGE = {
  tones: [
    [988, 0, 0.12],
    [740, 0.16, 0.12],
    [988, 0.32, 0.2],
  ],
  pulse: [60, 60, 60, 60, 200],
};

/** What comes of a scan: `level` is its colour in lists, `stayMs` how long it is on the screen. */
// prettier-ignore
export const KINDS = {
  good: { word: "verdict.in", colour: "go", symbol: "tick", tones: [[880, 0, 0.09], [1320, 0.1, 0.14]], pulse: [60], level: "good", stayMs: 2500 },
  out: { word: "verdict.out", colour: "go", symbol: "leave", tones: [[1320, 0, 0.09], [880, 0.1, 0.14]], pulse: [60], level: "good", stayMs: 2500 },
  look: { word: "verdict.look", colour: "look", symbol: "look", tones: [[660, 0, 0.12], [660, 0.18, 0.12], [660, 0.36, 0.12]], pulse: [80, 80, 80], level: "warn", stayMs: 5000 },
  stop: { word: "verdict.stop", colour: "stop", symbol: "cross", ...STOP, level: "bad", stayMs: 9000 },
};

/** Why somebody is refused: each is a `stop`. */
// prettier-ignore
export const REFUSALS = {
  used: { word: "why.used", colour: "stop", symbol: "again", tones: [[196, 0, 0.22], [196, 0.3, 0.22]], pulse: [200, 80, 200] },
  unknown: { word: "why.unknown", colour: "unknown", symbol: "question", tones: [[196, 0, 0.4], [294, 0.46, 0.14]], pulse: [350, 80, 100] },
  blocked: { word: "why.blocked", colour: "blocked", symbol: "barred", tones: [[147, 0, 0.16], [147, 0.22, 0.16], [147, 0.44, 0.16], [147, 0.66, 0.16]], pulse: [120, 60, 120, 60, 120, 60, 120] },
  forged: { word: "why.forged", colour: "blocked", symbol: "shield", tones: [[131, 0, 0.12], [131, 0.18, 0.12], [131, 0.36, 0.12], [131, 0.54, 0.12], [131, 0.72, 0.12]], pulse: [90, 50, 90, 50, 90, 50, 90, 50, 90] },
  unlisted: { word: "why.unlisted", colour: "unknown", symbol: "unlisted", tones: [[220, 0, 0.3], [330, 0.36, 0.14]], pulse: [250, 80, 120] },
  full: { word: "why.full", colour: "full", symbol: "crowd", tones: [[196, 0, 0.14], [196, 0.22, 0.14], [196, 0.44, 0.14]], pulse: [100, 80, 100, 80, 100] },
  early: { word: "why.early", colour: "time", symbol: "wait", ...TIME },
  late: { word: "why.late", colour: "time", symbol: "wait", ...TIME },
  time: { word: "why.time", colour: "time", symbol: "wait", ...TIME },
  type: { word: "why.type", colour: "elsewhere", symbol: "ticket", ...PLACE },
  registration: { word: "why.registration", colour: "elsewhere", symbol: "register", ...PLACE },
  closed: { word: "why.closed", colour: "closed", symbol: "lock", ...PLACE },
  absent: { word: "why.absent", colour: "closed", symbol: "absent", ...STOP },
  offline: { word: "why.offline", colour: "closed", symbol: "cloud", ...STOP },
  other: { word: "why.other", colour: "stop", symbol: "cross", ...STOP },
};

/** @typedef {keyof typeof KINDS} Kind */
/** @typedef {keyof typeof REFUSALS} Why */

/** @type {Record<number, Why>} */
const OF_CODE = {
  [UNDECIDED]: "offline",
  [CODES.tooMany]: "used",
  [CODES.notJoined]: "registration",
  [CODES.outsideWindow]: "time",
  [CODES.notAvailable]: "closed",
  [CODES.full]: "full",
  [CODES.notCheckedIn]: "absent",
  [CODES.wrongType]: "type",
  [CODES.delegateNotFound]: "unknown",
};

/** What the gate's own judge says in more detail than the code. @type {Record<string, Why>} */
const OF_KEY = { opensAt: "early", typeOpensAt: "early", closedSince: "late", typeClosedSince: "late", nobodyMay: "closed" };

/** What a signed ticket is by which nobody is found. @type {Record<import("./signed.js").Ticket["state"], Why>} */
const OF_TICKET = { genuine: "unlisted", cancelled: "blocked", forged: "forged", "retired-key": "blocked" };

/**
 * @param {number} code of the refusal
 * @param {{key?: string, isBlocked?: boolean, ticket?: import("./signed.js").Ticket["state"]}} [about] `key` of the gate's own verdict
 * @returns {Why}
 */
export function whyOf(code, { key = "", isBlocked = false, ticket } = {}) {
  if (code === CODES.delegateNotFound && isBlocked) return "blocked";
  if (code === CODES.delegateNotFound && ticket) return OF_TICKET[ticket];
  return OF_KEY[key] ?? OF_CODE[code] ?? "other";
}

/** The row of a verdict. @param {{kind: Kind, why?: Why}} shown @returns {Verdict} */
export const verdictOf = ({ kind, why }) => /** @type {Verdict} */ (why ? REFUSALS[why] : KINDS[kind]);
