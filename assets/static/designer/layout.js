// The layout of a badge, as the crate `badges` reads it, less its name and types: millimetres from the upper left corner, letters
// in points.

/** @typedef {{ x: number, y: number, width: number, height: number }} Frame */
/**
 * @typedef {Frame & {
 *   kind: string, when?: { types: string[] }, text?: string, size?: number, bold?: boolean, align?: string, position?: string,
 *   colour?: string, image?: string, fill?: string, line?: string, thickness?: number, radius?: number,
 * }} BadgeElement
 */
/** @typedef {{ width: number, height: number, front: BadgeElement[], back: BadgeElement[], fold?: string }} Layout */
/** @typedef {"front" | "back"} Side */

const LONGEST_MM = 420;
const SHORTEST_MM = 0.5;

/** The kinds of elements: their names, and the properties of a new one. */
export const KINDS = /** @type {Record<string, { label: string, made: Omit<BadgeElement, "kind" | "x" | "y"> }>} */ ({
  text: { label: "Text", made: { text: "{name}", size: 18, align: "centre", position: "middle", colour: "#000000", width: 50, height: 10 } },
  qr: { label: "QR code", made: { text: "{ticket}", width: 25, height: 25 } },
  code128: { label: "Code 128", made: { text: "{ticket}", width: 50, height: 12 } },
  image: { label: "Picture", made: { image: "logo", width: 30, height: 15 } },
  box: { label: "Box", made: { line: "#000000", thickness: 0.3, radius: 0, width: 30, height: 15 } },
  line: { label: "Line", made: { colour: "#000000", thickness: 0.3, width: 40, height: 0 } },
});

/** Words in the language of the page. */
export const inWords = (/** @type {string} */ words) => JSON.parse(globalThis.document?.body.dataset.texts || "{}")[words] ?? words;

/** To hundredths: sums of tenths are no longer than they look. */
export const rounded = (/** @type {number} */ length) => Math.round(length * 100) / 100;

const between = (/** @type {number} */ least, /** @type {number} */ value, /** @type {number} */ most) => Math.max(least, Math.min(value, most));

/**
 * Reads a layout.
 * @param {string} json
 * @returns {Layout}
 */
export const read = (json) => {
  const layout = JSON.parse(json);
  const isSide = (/** @type {unknown} */ side) => Array.isArray(side) && side.every((one) => one && typeof one.kind === "string");
  if (!(layout?.width > 0 && layout?.height > 0)) throw new Error("width and height must be millimetres");
  if (!isSide(layout.front) || !isSide(layout.back ?? [])) throw new Error("front and back must be lists of elements");
  return { ...layout, back: layout.back ?? [] };
};

/** @param {Layout} layout */
export const write = (layout) => {
  const { back, fold, ...rest } = layout;
  return JSON.stringify({ ...rest, ...(back.length > 0 && { back }), ...(fold && fold !== "none" && { fold }) }, null, 2);
};

/**
 * A new element in the middle of the badge.
 * @param {string} kind
 * @param {Layout} layout
 * @returns {BadgeElement}
 */
export const make = (kind, layout) => {
  const { made } = KINDS[kind];
  const width = Math.min(made.width, layout.width);
  const height = Math.min(made.height, layout.height);
  return { kind, ...made, x: Math.round((layout.width - width) / 2), y: Math.round((layout.height - height) / 2), width, height };
};

/**
 * The name of an element, in lists and for screen readers.
 * @param {BadgeElement} element
 */
export const nameOf = (element) => {
  const label = inWords(KINDS[element.kind]?.label ?? element.kind);
  const text = element.text ?? element.image;
  return text ? `${label} ${text}` : label;
};

/**
 * Words with values in them, such as "$width by $height mm".
 * @param {string} words
 * @param {Record<string, any>} values
 * @returns {string}
 */
export const filled = (words, values) => inWords(words).replace(/\$(\w+)/g, (/** @type {string} */ _, /** @type {string} */ name) => values[name]);

/** The place of a frame in words. */
export const placeOf = (/** @type {Frame} */ frame) => filled("$width by $height mm, $x from the left, $y from the top", frame);

/**
 * A frame at another place, of which at least a millimetre is on the badge.
 * @param {Frame} frame
 * @param {Layout} layout
 * @returns {Partial<Frame>}
 */
export const moved = ({ x, y, width, height }, layout) => ({
  x: rounded(between(Math.min(1 - width, 0), x, layout.width - 1)),
  y: rounded(between(Math.min(1 - height, 0), y, layout.height - 1)),
});

/**
 * A frame of another size.
 * @param {Frame} frame
 * @param {boolean} isLine
 * @returns {Frame}
 */
export const sized = ({ x, y, width, height }, isLine) => {
  const least = isLine ? 0 : SHORTEST_MM;
  return { x: rounded(x), y: rounded(y), width: rounded(between(least, width, LONGEST_MM)), height: rounded(between(least, height, LONGEST_MM)) };
};
