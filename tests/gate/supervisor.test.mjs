// Five wrong PINs lock a gate for a minute, reload or not.

import assert from "node:assert/strict";
import { test } from "node:test";
import { sha256, toHex } from "../../assets/gate/sha256.js";

const kept = new Map();
globalThis.localStorage = { getItem: (key) => kept.get(key) ?? null, setItem: (key, value) => kept.set(key, value) };
let loads = 0;
const reload = async () => (await import(`../../assets/gate/supervisor.js?${(loads += 1)}`)).pinProblem;

const EXPECTED = { salt: "5a17", hash: toHex(sha256(new Uint8Array([0x5a, 0x17, ...new TextEncoder().encode("4711")]))) };

test("a reload ends no lock and forgets no wrong PIN", async (t) => {
  t.mock.timers.enable({ apis: ["Date"], now: 1_000_000 });
  let pin = await reload();
  assert.equal(pin("4711", EXPECTED), "");
  for (const wrong of ["1", "2", "3", "4", "5"]) {
    pin = await reload();
    assert.equal(pin(wrong, EXPECTED), "The PIN is wrong.");
  }
  pin = await reload();
  assert.equal(pin("4711", EXPECTED), "Too many wrong PINs. Try again in 60 s.");
  t.mock.timers.tick(59_000);
  assert.equal(pin("4711", EXPECTED), "Too many wrong PINs. Try again in 1 s.");
  t.mock.timers.tick(1000);
  assert.equal(pin("4711", EXPECTED), "");
  assert.equal((await reload())("6", EXPECTED), "The PIN is wrong.");
});

test("a clock that was set back locks nobody out", async (t) => {
  t.mock.timers.enable({ apis: ["Date"], now: 9_000_000 });
  for (const wrong of ["1", "2", "3", "4", "5"]) (await reload())(wrong, EXPECTED);
  t.mock.timers.setTime(5_000_000);
  assert.equal((await reload())("4711", EXPECTED), "");
});
