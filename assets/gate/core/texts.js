// Every text of the app for the crew, by key, in the language of the browser or of the menu: one object each. `{name}`
// stands for a parameter; `key.one` is for a `count` of which the language speaks so (`Intl.PluralRules`). What
// attendees read at a kiosk is in kiosk-texts.js.

import { de } from "./texts-de.js";
import { en } from "./texts-en.js";

/** @type {Record<string, Record<string, string>>} */
export const LANGUAGES = { en, de };

let current = "en";
let plurals = new Intl.PluralRules(current);

/** Takes the language that is chosen, or the first of the browser's that there is. @param {string} [chosen] */
export function setLanguage(chosen) {
  const wished = [chosen, ...(globalThis.navigator?.languages ?? [])].map((name) => name?.split("-")[0] ?? "");
  current = wished.find((name) => name in LANGUAGES) ?? "en";
  plurals = new Intl.PluralRules(current);
}

/** The language of the crew. */
export const language = () => current;

/** @param {string} key @param {Record<string, string|number|undefined>} [params] */
export function t(key, params = {}) {
  const texts = LANGUAGES[current];
  const form = typeof params.count === "number" ? texts[`${key}.${plurals.select(params.count)}`] : undefined;
  const text = form ?? texts[key] ?? key;
  return text.replace(/\{(\w+)\}/g, (_, name) => String(params[name] ?? ""));
}

/** Whether a text exists. @param {string} key */
export const hasText = (key) => key in en;

/** The crew chose from a few reasons why a badge is blocked, or wrote one. @param {string} reason */
export const blockedReason = (reason) => (hasText(`blocked.${reason}`) ? t(`blocked.${reason}`) : reason);

/** What the server answered, in the crew's language where there is a text for its code. @param {{internalCode?: number, message?: string}|undefined} error @param {string} [otherwise] */
export function answerOf(error, otherwise = "") {
  const key = `code.${error?.internalCode}`;
  // The server's own sentence says more.
  const isBetter = current !== "en" || !error?.message;
  return isBetter && hasText(key) ? t(key) : (error?.message ?? otherwise);
}

/** How old something is, in a few letters. @param {number} ms @param {boolean} isFollowed by requests that wait for news @returns {[key: string, count: number]} */
export function age(ms, isFollowed) {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (isFollowed && seconds < 45) return ["age.live", 0];
  if (seconds < 120) return ["age.seconds", seconds];
  if (seconds < 7200) return ["age.minutes", Math.round(seconds / 60)];
  return ["age.hours", Math.round(seconds / 3600)];
}
