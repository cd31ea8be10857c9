// A sound and a vibration for each verdict, told apart without looking.

/** @type {AudioContext|undefined} */
let context;

/** Tones as [frequency in Hz, start in s, length in s]. @type {Record<string, number[][]>} */
const TONES = {
  good: [[880, 0, 0.09], [1320, 0.1, 0.14]],
  out: [[1320, 0, 0.09], [880, 0.1, 0.14]],
  look: [[660, 0, 0.12], [660, 0.18, 0.12], [660, 0.36, 0.12]],
  stop: [[196, 0, 0.55]],
  used: [[196, 0, 0.22], [196, 0.3, 0.22]],
  unknown: [[196, 0, 0.4], [294, 0.46, 0.14]],
  blocked: [[147, 0, 0.16], [147, 0.22, 0.16], [147, 0.44, 0.16], [147, 0.66, 0.16]],
  full: [[196, 0, 0.14], [196, 0.22, 0.14], [196, 0.44, 0.14]],
  time: [[262, 0, 0.14], [196, 0.2, 0.4]],
  place: [[196, 0, 0.35], [147, 0.42, 0.35]],
  message: [[988, 0, 0.12], [740, 0.16, 0.12], [988, 0.32, 0.2]],
};

/** @type {Record<string, number[]>} */
const PULSES = {
  good: [60], out: [60], look: [80, 80, 80], message: [60, 60, 60, 60, 200],
  stop: [400], used: [200, 80, 200], unknown: [350, 80, 100], blocked: [120, 60, 120, 60, 120, 60, 120],
  full: [100, 80, 100, 80, 100], time: [100, 80, 350], place: [300, 80, 300],
};

/** Refusals that ask the same of a steward sound the same. @type {Record<string, string>} */
const AS = { early: "time", late: "time", type: "place", registration: "place", closed: "place", absent: "stop", offline: "stop", other: "stop" };

/** Browsers play nothing before a touch or a key. */
export function unlock() {
  context ??= typeof AudioContext === "undefined" ? undefined : new AudioContext();
  context?.resume().catch(() => {});
}

export const isReady = () => context?.state === "running";

/** @param {"good"|"out"|"look"|"stop"|"message"|import("../core/refusal.js").Why} what a kind of verdict or of refusal @param {{sound: boolean, vibration: boolean}} settings */
export function play(what, settings) {
  const kind = AS[what] ?? what;
  if (settings.vibration) navigator.vibrate?.(PULSES[kind]);
  if (!settings.sound || !context || context.state !== "running") return;
  for (const [frequency, start, length] of TONES[kind]) {
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
