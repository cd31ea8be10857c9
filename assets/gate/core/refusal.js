// Kinds of refusals: each has a symbol, a word, a colour and a sound of its own, so that a steward knows what to do
// from a metre away. Pure; the sentence below the word says the rest.

/**
 * @typedef {"used"|"unknown"|"blocked"|"full"|"early"|"late"|"time"|"type"|"registration"|"closed"|"absent"|"offline"|"other"} Why
 */

/** @type {Record<number, Why>} */
const OF_CODE = { 1: "offline", 740: "used", 741: "registration", 742: "time", 743: "closed", 744: "full", 745: "absent", 746: "type", 1301: "unknown" };

/** What the gate's own judge says in more detail than the code. @type {Record<string, Why>} */
const OF_KEY = { opensAt: "early", typeOpensAt: "early", closedSince: "late", typeClosedSince: "late", nobodyMay: "closed" };

/**
 * @param {number} code of the refusal @param {{key?: string, isBlocked?: boolean}} [about] `key` of the gate's own verdict
 * @returns {Why}
 */
export function whyOf(code, { key = "", isBlocked = false } = {}) {
  if (code === 1301 && isBlocked) return "blocked";
  return OF_KEY[key] ?? OF_CODE[code] ?? "other";
}

/** @type {Record<Why, string>} */
const SYMBOLS = {
  used: "again", unknown: "question", blocked: "barred", full: "crowd", early: "wait", late: "wait", time: "wait",
  type: "ticket", registration: "register", closed: "lock", absent: "absent", offline: "cloud", other: "cross",
};

const OF_KIND = { good: "tick", out: "leave", look: "look", stop: "cross" };

/** The symbol of a verdict. @param {{kind: "good"|"out"|"look"|"stop", why?: Why}} shown */
export const symbolOf = ({ kind, why }) => (why ? SYMBOLS[why] : OF_KIND[kind]);
