// The one folding of names for searches, as the server folds them (types/fold.rs): case, accents, apostrophes, hyphens,
// widths and spellings of one letter do not matter. tests/gate/fold.json holds both together.

const JOINED_WORDS_MAX = 6;
const JOINED_MAX = 3;

/** @type {Record<string, string>} */
// prettier-ignore
const SPELT = {
  "ß": "ss", "æ": "ae", "œ": "oe", "þ": "th", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "ɖ": "d", "ı": "i",
  "ħ": "h", "ŧ": "t", "ŋ": "n", "ə": "a", "ς": "σ", "ى": "ي", "ة": "ه", "ٱ": "ا", "ـ": "", "ʼ": "",
};
const APOSTROPHES = /[’‘‛ʼʻʹ′`´]/gu;
const CJK =
  /[\u1100-\u11ff\u2e80-\u2fdf\u3005-\u3007\u3040-\u30ff\u3100-\u318f\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\u{20000}-\u{3ffff}]/u;
const MARK =
  /[\u0300-\u036f\u0483-\u0489\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed\u00ad\u200b-\u200f\u1ab0-\u1aff\u1dc0-\u1dff\u2060\u20d0-\u20ff\ufe00-\ufe0f\ufe20-\ufe2f\ufeff]/u;
const MARKS = new RegExp(MARK, "gu");
const LETTER = /[\p{Alphabetic}\p{N}]/u;
// Scripts in which signs that are no letters stand within words.
const INDIC = /[\u0900-\u1cff\ua800-\uabff]/u;
const ASCII = /^[\u0000-\u007f]*$/;

/** Letters of Chinese, Japanese and Korean. @param {string} text */
export const isCjk = (text) => CJK.test(text);

/**
 * The words of a text, folded, with one space between them. Apostrophes are dropped; every other sign ends a word. Each
 * letter of Chinese, Japanese and Korean is a word of its own.
 * @param {string} text
 */
export const fold = (text) => foldWith(text, "");

/** @param {string} text @param {string} apostrophe in place of each */
function foldWith(text, apostrophe) {
  let plain = text.replaceAll("`", "'");
  if (!ASCII.test(text)) {
    plain = "";
    // Before, as an accent alone would become a space; after, as one sign becomes another of the apostrophes.
    for (const letter of text.replace(APOSTROPHES, "'").normalize("NFKC").replace(APOSTROPHES, "'")) {
      if (letter < "\u0080") plain += letter;
      else if (CJK.test(letter)) plain += LETTER.test(letter) ? ` ${letter} ` : " ";
      else for (const part of letter.normalize("NFKD")) for (const small of part.toLowerCase()) plain += spelt(small);
    }
  }
  plain = plain.toLowerCase().replaceAll("'", apostrophe);
  return plain.replace(/[\u0000-\u002f\u003a-\u0060\u007b-\u007f]+/g, " ").trim();
}

/** A small letter, or a mark, that has no parts. @param {string} letter */
function spelt(letter) {
  if (letter in SPELT) return SPELT[letter];
  if (MARK.test(letter)) return "";
  if (LETTER.test(letter)) return letter;
  return INDIC.test(letter) ? "" : " ";
}

/**
 * The spelling that `Müller` and `Mueller`, `Åse` and `Aase`, `Đorđe` and `Djordje` have in common, of words that are
 * folded.
 * @param {string} folded
 */
export const alternative = (folded) => folded.replace(/a[ae]+|[ou]e+|dj+/g, (letters) => letters[0]);

/**
 * What a name is found by: its folded words, its words where apostrophes separate, and neighbours as one word.
 * @param {string} text
 */
export function forms(text) {
  const words = split(text);
  const found = [...words];
  if (!ASCII.test(text) || /['`]/.test(text)) found.push(...foldWith(text, " ").split(" ").filter(Boolean));
  if (words.length <= JOINED_WORDS_MAX) {
    for (let length = 2; length <= JOINED_MAX; length += 1) {
      for (let at = 0; at + length <= words.length; at += 1) {
        const joined = words.slice(at, at + length).join("");
        if (!isCjk(joined)) found.push(joined);
      }
    }
  }
  return found.filter((word, at) => found.indexOf(word) === at);
}

/** The words of a text, folded. @param {string} text */
export function split(text) {
  const folded = fold(text);
  return folded ? folded.split(" ") : [];
}

/** The form in which types are compared: unlike names, `VIP+` is another than `VIP`. @param {string} text */
export const foldType = (text) => text.toLowerCase().normalize("NFD").replace(MARKS, "").replaceAll("ß", "ss").replaceAll("ς", "σ").trim();
