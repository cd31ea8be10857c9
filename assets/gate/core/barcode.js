// Ticket codes of Gatepost's own making: symbols of Crockford's base 32, the last two of which check the others.

export const SYMBOLS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const [SHORTEST, LONGEST] = [16, 31];

/** Times α in GF(32), by x⁵ + x² + 1. @param {number} value */
const timesAlpha = (value) => (value & 16 ? (value << 1) ^ 0b100101 : value << 1);

/** Whether the check symbols of a code hold. @param {string} code */
function isOurs(code) {
  const word = [...code].map((letter) => SYMBOLS.indexOf(letter));
  if (word.length < SHORTEST || word.length > LONGEST || word.includes(-1)) return false;
  const once = word.reduce((value, symbol) => timesAlpha(value) ^ symbol, 0);
  const twice = word.reduce((value, symbol) => timesAlpha(timesAlpha(value)) ^ symbol, 0);
  return once === 0 && twice === 0;
}

/** The code of ours that a text means which was typed as codes are shown, in groups, or in lower case; any other text as it is. @param {string} text */
export function meant(text) {
  const code = text.replace(/\s/g, "").toUpperCase();
  return isOurs(code) ? code : text;
}
