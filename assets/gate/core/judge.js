// May this person pass here now? The rules of `src/core/rules/passage.rs`, for a gate that cannot
// reach the server. Pure: facts in, a verdict out. `tests/gate/judge.json` holds both to one law.

import { foldType } from "./fold.js";
import { dayBegan } from "./list.js";
import { language, t } from "./texts.js";

/**
 * @typedef {NonNullable<import("./list.js").Place["rules"]>} Rules
 *
 * @typedef {{id?: number, name: string, capacity: number, inside: number}} Room
 *
 * @typedef {{name: string, available: boolean, startAt?: number, endAt?: number}} JudgedPlace
 *
 * @typedef {object} Facts
 * @property {"in"|"out"} passage
 * @property {JudgedPlace} place at a door, the place of the door
 * @property {Rules|null} rules `null` when nobody can read them
 * @property {{place: JudgedPlace, rules: Rules|null}} [door] what a door sets, which must pass, too
 * @property {number} [lastIn] Unix ms of the last check-in at the place
 * @property {string} [lastDoor] the door that it was at, if it was at one
 * @property {number} [lastOut] Unix ms of the last check-out there or above
 * @property {boolean} inside there or at anything below, whatever day they came
 * @property {number} entries
 * @property {number} [dayEntries] those of the day of the last one
 * @property {number[]} [days] when days begin, Unix ms
 * @property {string} [type] of the attendee
 * @property {string} [zone] IANA name
 * @property {boolean} joined
 * @property {Room[]} rooms those with a capacity that the person would enter
 * @property {number} at when it happens, Unix ms
 *
 * @typedef {{code: number, key: string, params: Record<string, string|number>}} Verdict
 */

/** @type {Verdict} */
const PASSES = { code: 0, key: "passes", params: {} };

/** @param {number} code @param {string} key @param {Record<string, string|number>} params @returns {Verdict} */
const refuse = (code, key, params) => ({ code, key, params });

/** @param {Facts} facts @returns {Verdict} */
export function judge(facts) {
  if (facts.passage === "out") return judgeCheckOut(facts);
  const verdict = judgeCheckIn(facts);
  if (verdict.code !== 0 || !facts.door) return verdict;
  // Nobody is counted at a door.
  return judgeCheckIn({ ...facts, ...facts.door, rooms: [] });
}

/**
 * The verdict of a gate that is offline: the policy of the device first, then the rules.
 * @param {"admit"|"joined-only"|"hold"} policy @param {Facts} facts @returns {Verdict}
 */
export function judgeOffline(policy, facts) {
  if (facts.passage === "in" && policy === "hold") return refuse(1, "offlineHold", {});
  const verdict = judge(facts);
  if (verdict.code === 0 && facts.passage === "in" && policy === "joined-only" && !facts.joined) {
    return refuse(1, "offlineJoinedOnly", { place: facts.place.name });
  }
  return verdict;
}

/** @param {Facts} facts @returns {Verdict} */
function judgeCheckIn(facts) {
  const { rules } = facts;
  const place = facts.place.name;
  if (!rules) return refuse(743, "rulesUnreadable", { place });
  if (!facts.place.available) return refuse(743, "notAvailable", { place });
  const outside = judgeTime(facts, rules);
  if (outside) return outside;
  const wrong = judgeType(facts, rules);
  if (wrong) return wrong;
  if (rules.ruleSet === "simple" && !facts.joined) return refuse(741, "notRegistered", { place });
  const last = facts.lastIn ?? "";
  const today = facts.lastIn !== undefined && facts.lastIn >= dayBegan(facts.days, facts.at);
  const door = facts.lastDoor ?? "";
  const used = door ? `${place}, ${door}` : place;
  if (rules.entry === "single" && isInside(facts)) return refuse(740, "alreadyUsed", { place: used, at: last });
  if (rules.entry === "daily" && today && isInside(facts)) return refuse(740, "alreadyUsedToday", { place: used, at: last });
  const most = rules.maxCheckIns;
  const daily = rules.per === "day";
  const entries = daily ? (today ? (facts.dayEntries ?? 0) : 0) : facts.entries;
  if (most !== undefined && entries >= most) {
    if (most === 0) return refuse(740, "nobodyMay", { place });
    return refuse(740, daily ? "checkedInToday" : "checkedIn", { place, count: most, door, at: last });
  }
  const full = facts.rooms.find((room) => room.inside >= room.capacity);
  if (full) return refuse(744, "full", { place: full.name, inside: full.inside, capacity: full.capacity });
  return PASSES;
}

/** @param {Facts} facts @param {Rules} rules @returns {Verdict|undefined} */
function judgeTime(facts, rules) {
  const { name, startAt, endAt } = facts.place;
  if (rules.opensBefore !== undefined && startAt !== undefined) {
    const opens = startAt - rules.opensBefore * 60_000;
    if (facts.at < opens) return refuse(742, "opensAt", { place: name, at: opens });
  }
  if (rules.closesAfter !== undefined && endAt !== undefined) {
    const closes = endAt + rules.closesAfter * 60_000;
    if (facts.at > closes) return refuse(742, "closedSince", { place: name, at: closes });
  }
}

/** @param {Facts} facts @param {Rules} rules @returns {Verdict|undefined} */
function judgeType(facts, rules) {
  const { types, typeTimes = [] } = rules;
  const place = facts.place.name;
  const type = (facts.type ?? "").trim();
  const isListed = (/** @type {string[]} */ list) => type !== "" && list.some((one) => foldType(one) === foldType(type));
  if (types && !isListed(types)) {
    return type === "" ? refuse(746, "needsType", { place }) : refuse(746, "wrongType", { place, type });
  }
  const hours = typeTimes.filter((entry) => isListed(entry.types));
  if (!hours.length) return undefined;
  const time = local(facts.at, facts.zone ?? "UTC")[1];
  const isWithin = (/** @type {{from: string|number, until: string|number}} */ { from, until }) => {
    if (typeof from === "number") return from <= facts.at && facts.at < Number(until);
    return from < until ? from <= time && time < until : from <= time || time < until;
  };
  if (hours.some(isWithin)) return undefined;
  // Those that began today come after those to come.
  const daily = hours.flatMap(({ from }) => (typeof from === "string" ? [from] : [])).sort();
  const begins = hours.flatMap(({ from }) => (typeof from === "number" && from > facts.at ? [from] : []));
  const opens = daily.find((from) => from > time) ?? daily[0] ?? (begins.length ? Math.min(...begins) : undefined);
  if (opens !== undefined) return refuse(742, "typeOpensAt", { place, type, at: opens });
  return refuse(742, "typeClosedSince", { place, type, at: Math.max(...hours.map(({ until }) => Number(until))) });
}

/** People must be able to leave: only single and daily entry look at a check-out. @param {Facts} facts */
function judgeCheckOut(facts) {
  const pairs = facts.rules?.entry === "single" || facts.rules?.entry === "daily";
  if (pairs && !facts.inside) {
    return refuse(745, "notCheckedIn", { place: facts.place.name });
  }
  return PASSES;
}

/** Checked in, and not out since. @param {Facts} facts */
const isInside = (facts) => facts.lastIn !== undefined && facts.lastIn > (facts.lastOut ?? -Infinity);

/**
 * What a steward tells the guest; in English in the server's words.
 * @param {Verdict} verdict @param {string} zone IANA name @param {number} now Unix ms
 */
export function word(verdict, zone, now) {
  const { at, door } = verdict.params;
  const time = typeof at === "number" ? spokenTime(at, zone, now) : at;
  // The date is told where it is another one, though the event's day be the same.
  const isAnotherDate = verdict.key === "alreadyUsedToday" && typeof at === "number" && !isSameDate(at, now, zone);
  const key = isAnotherDate ? "alreadyUsed" : verdict.key;
  return t(`refusal.${key}`, { ...verdict.params, at: time, last: door ? t("time.door", { door, time }) : time });
}

/** `09:02`, with the day where it is not that of `now`; in English as the server tells it. @param {number} at @param {string} zone @param {number} now */
export function spokenTime(at, zone, now) {
  const [day, time] = local(at, zone);
  if (isSameDate(at, now, zone)) return time;
  return t("time.other", { time, day: language() === "en" ? day : dayMonth(at, zone) });
}

/** @param {number} at @param {number} now @param {string} zone */
const isSameDate = (at, now, zone) => local(at, zone)[0] === local(now, zone)[0];

/** `20.11.`, as the language has it. @param {number} at @param {string} zone */
const dayMonth = (at, zone) => new Intl.DateTimeFormat(language(), { day: "numeric", month: "numeric", timeZone: zone }).format(at);

/** @type {Map<string, Intl.DateTimeFormat>} */
const formats = new Map();

/** @param {number} at @param {string} zone */
function local(at, zone) {
  let format = formats.get(zone);
  if (!format) {
    /** @type {Intl.DateTimeFormatOptions} */
    const parts = { year: "numeric", month: "2-digit", day: "2-digit", hour: "2-digit", minute: "2-digit" };
    format = new Intl.DateTimeFormat("en-GB", { ...parts, timeZone: zone, hourCycle: "h23" });
    formats.set(zone, format);
  }
  const part = Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, value]));
  return [`${part.year}-${part.month}-${part.day}`, `${part.hour}:${part.minute}`];
}
