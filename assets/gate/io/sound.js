// Plays the sound and the vibration of a verdict.

import { KINDS, MESSAGE, REFUSALS } from "../core/verdicts.js";

/** @type {AudioContext|undefined} */
let context;

/** @type {Record<string, import("../core/verdicts.js").Signal>} */
const SIGNALS = /** @type {any} */ ({ ...KINDS, ...REFUSALS, message: MESSAGE });

/** Browsers play nothing before a touch or a key. */
export function unlock() {
  context ??= typeof AudioContext === "undefined" ? undefined : new AudioContext();
  context?.resume().catch(() => {});
}

export const isReady = () => context?.state === "running";

/** @param {import("../core/verdicts.js").Kind|import("../core/verdicts.js").Why|"message"} what @param {{sound: boolean, vibration: boolean}} settings */
export function play(what, settings) {
  const { tones, pulse } = SIGNALS[what];
  if (settings.vibration) navigator.vibrate?.(pulse);
  if (!settings.sound || !context || context.state !== "running") return;
  for (const [frequency, start, length] of tones) {
    const from = context.currentTime + start;
    const isRefusal = frequency < 300;
    const tone = new OscillatorNode(context, { frequency, type: isRefusal ? "square" : "triangle" });
    const gain = new GainNode(context, { gain: 0 });
    gain.gain.setTargetAtTime(isRefusal ? 0.35 : 0.7, from, 0.005);
    gain.gain.setTargetAtTime(0, from + length - 0.03, 0.01);
    tone.connect(gain).connect(context.destination);
    tone.start(from);
    tone.stop(from + length + 0.05);
  }
}
