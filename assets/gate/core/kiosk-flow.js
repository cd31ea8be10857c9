// What a kiosk shows after what: pure functions from a state and an event to the next state. Names and
// codes live in the state alone, so that a fresh state has forgotten them.

/**
 * @typedef {import("./list.js").Person} Person
 * @typedef {"start"|"find"|"code"|"confirm"|"register"|"result"} Step
 * @typedef {{key: string, name?: string, place?: string, code?: string, at?: number}} Sentence a text and what stands in it; `at` in Unix ms
 * @typedef {{kind: "good"|"already"|"help", title: Sentence, lines: Sentence[]}} Result
 *
 * @typedef {object} State
 * @property {Step} step
 * @property {string} language
 * @property {Person[]} people who it may be: the first is asked first
 * @property {string} [code] as scanned or typed
 * @property {Result} [result]
 * @property {string} [problem] key of the text that a form shows
 *
 * @typedef {{type: "open", step: Step, problem?: string}
 *   | {type: "language", language: string}
 *   | {type: "people", people: Person[], code?: string}
 *   | {type: "not-me"}
 *   | {type: "problem", problem: string}
 *   | {type: "result", result: Result, code?: string}} Event
 */

/** Seconds in which a welcome can be read, and what has more to say. */
const [WELCOME_S, MORE_S] = [8, 20];
/** Seconds in which a new code can be written down. */
const CODE_S = 60;
/** Seconds of the countdown before a kiosk starts over. */
const COUNTDOWN_S = 10;

/** @param {string} language @returns {State} */
export const fresh = (language) => ({ step: "start", language, people: [] });

/** @param {State} state @param {Event} event @returns {State} */
export function next(state, event) {
  const empty = fresh(state.language);
  switch (event.type) {
    case "open":
      return { ...empty, step: event.step, problem: event.problem };
    case "language":
      return { ...state, language: event.language };
    case "problem":
      return { ...state, problem: event.problem };
    case "result":
      return { ...empty, step: "result", code: event.code, result: event.result };
    case "people":
      return { ...empty, step: "confirm", people: event.people, code: event.code };
    case "not-me": {
      const people = state.people.slice(1);
      if (people.length) return { ...state, people };
      // Somebody else's ticket: the next scan may be the right one.
      return state.code === undefined ? next(state, { type: "result", result: help("why.notMe") }) : empty;
    }
  }
}

/** @param {string} key @param {Omit<Sentence, "key">} [about] @returns {Result} */
export const help = (key, about) => ({ kind: "help", title: { key: "result.help" }, lines: [{ key, ...about }] });

/** A note of this level is for the crew: they speak with the person before the check-in. @param {Person|undefined} person */
export const mustSeeCrew = (person) => person?.note?.level === "stop";

/**
 * What an attendee reads after a check-in. Never a note, and no message that was written for stewards.
 * @param {import("./gate.js").Outcome} outcome
 * @param {import("./list.js").Place|undefined} place @param {number} now Unix ms
 * @returns {Result}
 */
export function resultOf({ passed, person, shown, scan, code = 0 }, place, now) {
  // A walk-in was never here before: what is known of them tells of this check-in.
  const since = scan.walkIn ? undefined : person?.lastIn;
  const isInside = passed && person?.inside && since !== undefined;
  if (passed && shown.note?.level === "stop") return help("why.other");
  if (isInside || (code === 740 && since !== undefined)) {
    return { kind: "already", title: { key: "result.already" }, lines: [{ key: "result.since", at: since }, { key: "result.ifWrong" }] };
  }
  if (!passed) return whyNot(code, place, now);
  const title = person?.name ? { key: "result.welcome", name: person.name } : { key: "result.welcome.plain" };
  /** @type {Sentence[]} */
  const lines = [{ key: "result.in" }];
  if (scan.walkIn && shown.badge) lines.push({ key: "result.code", code: shown.badge });
  if (shown.note?.level === "warning") lines.push({ key: "result.desk" });
  return { kind: "good", title, lines };
}

/** @param {number} code @param {import("./list.js").Place|undefined} place @param {number} now */
function whyNot(code, place, now) {
  // A door may open later than its place.
  const { startAt, rules } = place?.door ?? place ?? {};
  const opens = startAt === undefined ? undefined : startAt - (rules?.opensBefore ?? 0) * 60_000;
  if (code === 742 && opens !== undefined && now < opens) return help("why.opens", { at: opens });
  if (code === 1) return help("why.offline");
  const isKnown = (code >= 740 && code <= 746) || code === 1301;
  return help(isKnown ? `why.${code}` : "why.other", { place: place?.name ?? "" });
}

/**
 * What a kiosk that nobody touches does: `ask` counts down, `reset` starts over.
 * @param {State} state @param {number} idleMs since the last touch, key or scan @param {number} idleSeconds
 * @returns {{action: "stay"|"ask"|"reset", left: number}} `left` in seconds
 */
export function whenIdle(state, idleMs, idleSeconds) {
  const asks = state.step !== "start" && state.step !== "result";
  const isShort = state.result?.kind === "good" && state.result.lines.length === 1;
  const hasCode = state.result?.lines.some(({ code }) => code !== undefined);
  const limit = hasCode ? CODE_S : isShort ? WELCOME_S : state.result ? MORE_S : idleSeconds;
  const left = Math.ceil(limit - idleMs / 1000);
  if (left <= 0) return { action: "reset", left: 0 };
  return { action: asks && left <= Math.min(COUNTDOWN_S, limit / 2) ? "ask" : "stay", left };
}
