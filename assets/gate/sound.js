// A sound and a vibration for each verdict, told apart without looking.

/** @type {AudioContext|undefined} */
let context;

/** Tones as [frequency in Hz, start in s, length in s]. @type {Record<string, number[][]>} */
const TONES = {
  good: [[880, 0, 0.09], [1320, 0.1, 0.14]],
  out: [[1320, 0, 0.09], [880, 0.1, 0.14]],
  look: [[660, 0, 0.12], [660, 0.18, 0.12], [660, 0.36, 0.12]],
  stop: [[196, 0, 0.55]],
  message: [[988, 0, 0.12], [740, 0.16, 0.12], [988, 0.32, 0.2]],
};

/** @type {Record<string, number[]>} */
const PULSES = { good: [60], out: [60], look: [80, 80, 80], stop: [400], message: [60, 60, 60, 60, 200] };

/** Browsers play nothing before a touch or a key. */
export function unlock() {
  context ??= typeof AudioContext === "undefined" ? undefined : new AudioContext();
  context?.resume().catch(() => {});
}

export const isReady = () => context?.state === "running";

/** @param {"good"|"out"|"look"|"stop"|"message"} kind @param {{sound: boolean, vibration: boolean}} settings */
export function play(kind, settings) {
  if (settings.vibration) navigator.vibrate?.(PULSES[kind]);
  if (!settings.sound || !context || context.state !== "running") return;
  for (const [frequency, start, length] of TONES[kind]) {
    const from = context.currentTime + start;
    const tone = new OscillatorNode(context, { frequency, type: kind === "stop" ? "square" : "triangle" });
    const gain = new GainNode(context, { gain: 0 });
    gain.gain.setTargetAtTime(kind === "stop" ? 0.35 : 0.7, from, 0.005);
    gain.gain.setTargetAtTime(0, from + length - 0.03, 0.01);
    tone.connect(gain).connect(context.destination);
    tone.start(from);
    tone.stop(from + length + 0.05);
  }
}
