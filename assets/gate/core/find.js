// Finds attendees of the gate's own list by what somebody types, the likeliest first, as the server does
// (domain/delegates/people.rs and rank.rs): names in any order and spelling, companies and codes.

import { alternative, forms, isCjk, split } from "./fold.js";

/** @typedef {import("./list.js").Person} Person */
/** @typedef {[worst: number, sum: number, isApart: number, untyped: number, id: number]} Rank */
/** @typedef {"plain"|"joined"|"typos"} Reading */

const WORDS_MAX = 6;
const WORD_MAX = 40;
const CANDIDATES_MAX = 1000;
// With fewer hits than that, parts of words are looked for as well; with none, typos.
const FEW = 3;
const ONE_TYPO_MIN = 4;
const TWO_TYPOS_MIN = 8;
const [WHOLE, BEGINNING, SPELT, PART, TYPO] = [1, 3, 5, 7, 9];

/** Letters and digits; one of Chinese, Japanese or Korean counts as three. @param {string[]} words */
const count = (words) => words.reduce((sum, word) => sum + [...word].reduce((letters, letter) => letters + (isCjk(letter) ? 3 : 1), 0), 0);

/** Whether a gate may look for this: three letters, one of Chinese, Japanese or Korean, or two that may be a whole name. @param {string} query */
export const isLongEnough = (query) => count(split(query)) >= 2;

/** What an attendee is found by. @param {Person} person */
export function indexed({ name = "", company = "", codes = [] }) {
  const texts = [name, company].map((text) => {
    const words = forms(text).join(" ");
    const others = alternative(words);
    return others === words ? ` ${words} ` : ` ${words} ${others} `;
  });
  return [...texts, ...codes.map((code) => ` ${forms(code).join(" ")} `)].join("|");
}

/**
 * @param {Map<number, Person>} people @param {Map<number, string>} texts of each, as indexed @param {string} query
 * @param {number} most @returns {Person[]}
 */
export function find(people, texts, query, most) {
  const words = split(query)
    .slice(0, WORDS_MAX)
    .map((word) => [...word].slice(0, WORD_MAX).join(""));
  const letters = count(words);
  if (letters < 2) return [];
  const isWholeName = letters === 2;
  /** @type {Map<number, Rank>} */
  const hits = new Map();
  /** @param {string[]} typed @param {Reading} reading @param {(word: string) => string[]} needles one of which a text must have */
  const read = (typed, reading, needles) => {
    const wanted = typed.map(needles);
    const whole = typed.map((word) => ` ${word} `);
    let candidates = 0;
    for (const [id, text] of texts) {
      if (!hasEach(text, wanted)) continue;
      // Whole words are likelier than any beginning, however many there are of those.
      if (candidates >= CANDIDATES_MAX && !whole.every((word) => text.includes(word))) continue;
      candidates += 1;
      const rank = rankOf(/** @type {Person} */ (people.get(id)), typed, reading, isWholeName);
      const best = hits.get(id);
      if (rank && (!best || compare(rank, best) < 0)) hits.set(id, rank);
    }
  };
  /** @param {string} word */
  const beginning = (word) => [...new Set([` ${word}`, ` ${alternative(word)}`])];
  read(words, "plain", isWholeName ? (word) => [` ${word} `] : beginning);
  if (!isWholeName && hits.size < FEW) {
    for (const joined of joins(words)) read(joined, "joined", beginning);
    read(words, "plain", (word) => [word.length > 2 ? word : ` ${word}`]);
    if (hits.size === 0) read(words, "typos", (word) => pieces(word) ?? [` ${word}`]);
  }
  const ranked = [...hits.values()].sort(compare).slice(0, most);
  return ranked.map(([, , , , id]) => /** @type {Person} */ (people.get(id)));
}

/** Whether a text has one needle of each word. @param {string} text @param {string[][]} wanted */
function hasEach(text, wanted) {
  for (const needles of wanted) {
    let has = false;
    for (const needle of needles) has ||= text.includes(needle);
    if (!has) return false;
  }
  return true;
}

/** @param {Rank} one @param {Rank} other */
function compare(one, other) {
  const at = one.findIndex((value, index) => value !== other[index]);
  return at < 0 ? 0 : one[at] - other[at];
}

/** The words with two neighbours as one, each pair in turn, and all as one: `mc carthy`. @param {string[]} words */
function joins(words) {
  if (words.some(isCjk)) return [];
  const found = words.slice(1).map((word, at) => [...words.slice(0, at), words[at] + word, ...words.slice(at + 2)]);
  if (words.length > 2) found.push([words.join("")]);
  return found;
}

/** Pieces of a word, one of which a text still has that differs by a typo, two in a long word. @param {string} word */
function pieces(word) {
  const spelt = [...` ${alternative(word)} `];
  if (spelt.length < ONE_TYPO_MIN + 2) return undefined;
  const third = Math.floor(spelt.length / 3);
  const cuts =
    spelt.length > TWO_TYPOS_MIN ? [spelt.slice(0, third), spelt.slice(third, 2 * third), spelt.slice(2 * third)] : [spelt.slice(0, 3), spelt.slice(-3)];
  return cuts.map((piece) => piece.join(""));
}

/**
 * How well an attendee fits the words; undefined where a word fits nothing.
 * @param {Person} person @param {string[]} words @param {Reading} reading @param {boolean} isWholeName
 * @returns {Rank|undefined}
 */
function rankOf(person, words, reading, isWholeName) {
  const names = forms(person.name ?? "");
  const others = isWholeName ? [] : [person.company ?? "", ...(person.codes ?? [])].flatMap(forms);
  let worst = 0;
  let sum = 0;
  for (const word of words) {
    let best = Infinity;
    for (const form of names) best = Math.min(best, fit(word, form, reading === "typos"));
    for (const form of others) best = Math.min(best, fit(word, form, reading === "typos") + 1);
    if (best === Infinity || (isWholeName && best !== WHOLE)) return undefined;
    if (reading === "joined") best = Math.max(best, SPELT);
    worst = Math.max(worst, best);
    sum += best;
  }
  const name = split(person.name ?? "");
  // First and last name in either order.
  const inRow = (name.join("") + name.join("")).includes(words.join(""));
  return [worst, sum, inRow ? 0 : 1, Math.max(0, name.length - words.length), person.id];
}

/** How a word fits a form of a text; infinite where not at all. @param {string} word @param {string} form @param {boolean} withTypos */
function fit(word, form, withTypos) {
  if (form === word) return WHOLE;
  if (form.startsWith(word)) return BEGINNING;
  const spelt = alternative(form);
  const typed = alternative(word);
  if (spelt.startsWith(typed)) return SPELT;
  if (word.length > 2 && form.includes(word)) return PART;
  const typosMax = word.length >= TWO_TYPOS_MIN ? 2 : Number(word.length >= ONE_TYPO_MIN);
  if (!withTypos || typosMax === 0) return Infinity;
  // A typo in the whole word is likelier than one in its beginning.
  const distance = Math.min(typos(typed, spelt) * 2, typos(typed, spelt.slice(0, typed.length)) * 2 + 1);
  return distance < (typosMax + 1) * 2 ? TYPO + distance : Infinity;
}

/** Letters added, left out, mistaken, or exchanged with their neighbour. @param {string} one @param {string} other */
function typos(one, other) {
  let before = /** @type {number[]} */ ([]);
  let last = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (let i = 1; i <= one.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= other.length; j += 1) {
      const cost = one[i - 1] === other[j - 1] ? 0 : 1;
      row[j] = Math.min(last[j] + 1, row[j - 1] + 1, last[j - 1] + cost);
      if (i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1]) row[j] = Math.min(row[j], before[j - 2] + 1);
    }
    [before, last] = [last, row];
  }
  return last[other.length];
}
