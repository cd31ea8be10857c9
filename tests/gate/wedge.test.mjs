// Keyboard wedge scanners, fast and slow, and people who type.

import assert from "node:assert/strict";
import { test } from "node:test";

let press;
globalThis.HTMLInputElement = class { value = ""; };
globalThis.HTMLTextAreaElement = class {};
globalThis.HTMLSelectElement = class {};
globalThis.document = { activeElement: null, addEventListener: (_, listener) => (press = listener) };
const { Wedge } = await import("../../assets/gate/io/wedge.js");

/** Keys with the pauses before them; text that a person types goes into a field that the page opens. */
function play(t, keys, settings, known = []) {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  document.activeElement = null;
  const told = { scans: [], typed: [], entered: undefined };
  const wedge = new Wedge((code) => told.scans.push(code), (text) => {
    told.typed.push(text);
    document.activeElement = Object.assign(new HTMLInputElement(), { value: text });
  });
  wedge.settings = settings;
  wedge.isKnown = (code) => known.includes(code);
  let now = 1000;
  for (const [pause, key] of keys) {
    now += pause;
    t.mock.timers.tick(pause);
    const field = document.activeElement;
    let isPrevented = false;
    const prevent = () => (isPrevented = true);
    press({ key, timeStamp: now, target: field, preventDefault: prevent, stopImmediatePropagation: prevent });
    // What the browser does then, in the field that has the focus.
    const focused = document.activeElement;
    if (focused && !isPrevented && key.length === 1) focused.value += key;
    if (focused && !isPrevented && key === "Enter") told.entered = focused.value;
  }
  t.mock.timers.tick(1000);
  told.field = document.activeElement?.value;
  return told;
}

/** The same pause before every key but for those that are named. */
const paced = (text, pause, others = {}) => [...text, "Enter"].map((key, i) => [others[i] ?? pause, key]);

test("a fast scanner's code is one scan", (t) => {
  const told = play(t, paced("TLH26-FJ7A", 8));
  assert.deepEqual([told.scans, told.typed], [["TLH26-FJ7A"], []]);
});

test("a breath of a Bluetooth scanner breaks no code, wherever it is", (t) => {
  for (let at = 1; at <= 10; at += 1) {
    const told = play(t, paced("TLH26-FJ7A", 20, { [at]: 130 }));
    assert.deepEqual([told.scans, told.field ?? ""], [["TLH26-FJ7A"], ""], `a breath before key ${at}`);
    t.mock.timers.reset();
  }
});

test("a slow scanner's code is whole, by the field at the latest", (t) => {
  for (const pause of [30, 60, 90, 110, 140, 200]) {
    const told = play(t, paced("TLH26-FJ7A", pause));
    assert.equal(told.scans[0] ?? told.entered, "TLH26-FJ7A", `${pause} ms`);
    t.mock.timers.reset();
  }
});

test("the first letter of a scanner that wakes up is not lost, however the pause", (t) => {
  for (const pause of [150, 290, 310, 400, 1000, 2900]) {
    for (const known of [[], ["TLH26-FJ7A"]]) {
      const told = play(t, paced("TLH26-FJ7A", 8, { 1: pause }), undefined, known);
      assert.deepEqual([told.scans, told.field ?? ""], [["TLH26-FJ7A"], ""], `${pause} ms, ${known}`);
      t.mock.timers.reset();
    }
  }
  const unended = play(t, paced("TLH26-FJ7A", 8, { 1: 900 }).slice(0, -1), { suffix: "none", layout: {} });
  assert.deepEqual(unended.scans, ["TLH26-FJ7A"]);
});

test("a letter that a person typed before a scan stays theirs", (t) => {
  const keys = [[0, "A"], ...paced("TLH26-FJ7A", 8, { 0: 900 })];
  const told = play(t, keys, undefined, ["TLH26-FJ7A"]);
  assert.deepEqual([told.scans, told.field], [["TLH26-FJ7A"], "A"]);
  t.mock.timers.reset();
  const later = play(t, [[0, "A"], ...paced("TLH26-FJ7A", 8, { 0: 3100 })]);
  assert.deepEqual([later.scans, later.field], [["TLH26-FJ7A"], "A"]);
});

test("a scanner without an end key is done after a pause", (t) => {
  const told = play(t, paced("TLH26-FJ7A", 20, { 5: 130 }).slice(0, -1), { suffix: "none", layout: {} });
  assert.deepEqual([told.scans, told.field], [["TLH26-FJ7A"], undefined]);
});

test("what a person types is theirs", (t) => {
  const told = play(t, paced("T-1234", 180));
  assert.deepEqual([told.scans, told.typed.length, told.entered], [[], 1, "T-1234"]);
});

test("a person's pause and a fast end leave the field as it is", (t) => {
  const told = play(t, paced("T-1234", 180, { 2: 900, 6: 60 }));
  assert.deepEqual([told.scans, told.entered], [[], "T-1234"]);
});

test("a code that is scanned over a half-typed one is a scan of its own", (t) => {
  const told = play(t, [...paced("AB", 200).slice(0, -1), ...paced("TLH26-FJ7A", 10, { 0: 800 })]);
  assert.deepEqual([told.scans, told.field], [["TLH26-FJ7A"], "AB"]);
});

test("neither a PIN nor a name that is typed fast is a scan", (t) => {
  const typed = (type, text, pause, settings) => {
    t.mock.timers.enable({ apis: ["setTimeout"] });
    const scans = [];
    new Wedge((code) => scans.push(code), (keys) => scans.push(keys)).settings = settings;
    document.activeElement = Object.assign(new HTMLInputElement(), { type });
    let now = 1000;
    for (const key of [...text, "Enter"]) {
      now += pause;
      t.mock.timers.tick(pause);
      press({ key, timeStamp: now, target: document.activeElement, preventDefault() {}, stopImmediatePropagation() {} });
    }
    t.mock.timers.tick(1000);
    t.mock.timers.reset();
    return scans;
  };
  assert.deepEqual(typed("password", "47114711", 10), []);
  assert.deepEqual(typed("text", "Thomas", 60), []);
  assert.deepEqual(typed("text", "Ann", 30), []);
  // The direction has the focus after somebody chose it.
  assert.deepEqual(typed("radio", "T-1", 30), ["T-1"]);
  for (const suffix of [undefined, "Enter"]) {
    assert.deepEqual(typed("text", "TLH26-FJ7A", 10, suffix && { suffix, layout: {} }), ["TLH26-FJ7A"]);
  }
  // A scanner that ends its codes with Tab does not end one with Enter.
  assert.deepEqual(typed("text", "TLH26-FJ7A", 10, { suffix: "Tab", layout: {} }), []);
});
