// Where something comes to rest that is dragged: at an edge or the centre of something else, otherwise on whole steps.

/** @typedef {import("./layout.js").Frame} Frame */
/** @typedef {{ start: number, length: number }} Span */
/** @typedef {{ frame: Frame, guides: { x: number[], y: number[] } }} Snapped */
/** @typedef {{ step: number, near: number }} Reach `step` in millimetres; closer than `near` an edge attracts. */

/** @param {Span} span */
const lines = ({ start, length }) => [start, start + length / 2, start + length];

const across = (/** @type {Frame} */ { x, width }) => ({ start: x, length: width });
const down = (/** @type {Frame} */ { y, height }) => ({ start: y, length: height });

/**
 * The way from the nearest of some points to a line, where one is near.
 * @param {number[]} points
 * @param {number[]} targets
 * @param {number} near
 */
const pull = (points, targets, near) => {
  /** @type {{ by: number, at: number } | undefined} */
  let best;
  for (const point of points) {
    for (const at of targets) {
      const by = at - point;
      if (Math.abs(by) <= near && (!best || Math.abs(by) < Math.abs(best.by))) best = { by, at };
    }
  }
  return best;
};

const onStep = (/** @type {number} */ length, /** @type {number} */ step) => Math.round(length / step) * step;

/**
 * @param {Span} span
 * @param {Span[]} others
 * @param {Reach} reach
 */
const rest = (span, others, { step, near }) => {
  const found = pull(lines(span), others.flatMap(lines), near);
  return found ? { start: span.start + found.by, guides: [found.at] } : { start: onStep(span.start, step), guides: [] };
};

/**
 * A frame that is moved.
 * @param {Frame} frame
 * @param {Frame[]} others
 * @param {Reach} reach
 * @returns {Snapped}
 */
export const snapMove = (frame, others, reach) => {
  const x = rest(across(frame), others.map(across), reach);
  const y = rest(down(frame), others.map(down), reach);
  return { frame: { ...frame, x: x.start, y: y.start }, guides: { x: x.guides, y: y.guides } };
};

/**
 * One end of a span that is moved by `by`.
 * @param {Span} span
 * @param {boolean} isStart
 * @param {number} by
 * @param {Span[]} others
 * @param {Reach} reach
 */
const stretch = (span, isStart, by, others, { step, near }) => {
  const end = span.start + span.length;
  const edge = (isStart ? span.start : end) + by;
  const found = pull([edge], others.flatMap(lines), near);
  const at = found ? found.at : onStep(edge, step);
  const [start, stop] = isStart ? [Math.min(at, end), end] : [span.start, Math.max(at, span.start)];
  return { start, length: stop - start, guides: found ? [found.at] : [] };
};

/**
 * A frame whose corner is dragged: `nw`, `ne`, `sw` or `se`.
 * @param {Frame} frame
 * @param {string} corner
 * @param {{ x: number, y: number }} by
 * @param {Frame[]} others
 * @param {Reach} reach
 * @returns {Snapped}
 */
export const snapResize = (frame, corner, by, others, reach) => {
  const x = stretch(across(frame), corner.endsWith("w"), by.x, others.map(across), reach);
  const y = stretch(down(frame), corner.startsWith("n"), by.y, others.map(down), reach);
  return { frame: { x: x.start, y: y.start, width: x.length, height: y.length }, guides: { x: x.guides, y: y.guides } };
};
