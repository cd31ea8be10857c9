// A PIN is checked by the server, or by its hash; five wrong ones lock a gate for a minute, reload or not.

import assert from "node:assert/strict";
import { createHash, pbkdf2Sync } from "node:crypto";
import { test } from "node:test";
import { isPin } from "../../assets/gate/core/secrets.js";
import { Busy, Unreachable } from "../../assets/gate/io/server.js";

const kept = new Map();
globalThis.localStorage = { getItem: (key) => kept.get(key) ?? null, setItem: (key, value) => kept.set(key, value) };
let loads = 0;
const OFFLINE = { online: false };
const reload = async (server = OFFLINE) => {
  const { pinProblem } = await import(`../../assets/gate/ui/supervisor.js?${(loads += 1)}`);
  return (pin, expected) => pinProblem(pin, expected, server);
};

const EARLIER = { salt: "5a17", hash: createHash("sha256").update(Buffer.from("5a17", "hex")).update("4711").digest("hex") };
const EXPECTED = { salt: "5a17", hash: pbkdf2Sync("471100", Buffer.from("5a17", "hex"), 1000, 32, "sha256").toString("hex"), iterations: 1000 };

test("a hash is that of its PIN, of earlier versions too, with WebCrypto and without", async (t) => {
  assert.deepEqual([await isPin("4711", EARLIER), await isPin("4712", EARLIER)], [true, false]);
  const check = async () => [await isPin("471100", EXPECTED), await isPin("471101", EXPECTED)];
  assert.deepEqual(await check(), [true, false]);
  assert.deepEqual(await isPin("471100", { ...EXPECTED, iterations: 1001 }), false);
  // On plain HTTP there is none.
  t.mock.getter(globalThis, "crypto", () => ({}));
  assert.deepEqual(await check(), [true, false]);
});

test("online the server says whether a PIN is right, whatever the hash", async () => {
  const answering = (answer) => ({ online: true, asked: [], async request(method, path, { body }) {
    this.asked.push(`${method} ${path} ${body.pin}`);
    if (answer instanceof Error) throw answer;
    return { status: answer };
  } });
  const right = answering(204);
  assert.equal(await (await reload(right))("999999", EXPECTED), "");
  assert.deepEqual(right.asked, ["POST /gate/pin 999999"]);
  assert.equal(await (await reload(answering(403)))("471100", EXPECTED), "The PIN is wrong.");
  assert.equal(await (await reload(answering(new Busy("wrong PINs", 429, 42_000))))("471100", EXPECTED), "Too many wrong PINs. Try again in 42 s.");
  // It does not answer, has too much to do, or is of an earlier version.
  for (const answer of [new Unreachable("gone"), new Busy("busy", 503, 1000), 404]) {
    assert.equal(await (await reload(answering(answer)))("471100", EXPECTED), "");
    assert.equal(await (await reload(answering(answer)))("1", EXPECTED), "The PIN is wrong.");
  }
});

test("a reload ends no lock and forgets no wrong PIN", async (t) => {
  t.mock.timers.enable({ apis: ["Date"], now: 1_000_000 });
  let pin = await reload();
  assert.equal(await pin("471100", EXPECTED), "");
  for (const wrong of ["1", "2", "3", "4", "5"]) {
    pin = await reload();
    assert.equal(await pin(wrong, EXPECTED), "The PIN is wrong.");
  }
  pin = await reload();
  assert.equal(await pin("471100", EXPECTED), "Too many wrong PINs. Try again in 60 s.");
  t.mock.timers.tick(59_000);
  assert.equal(await pin("471100", EXPECTED), "Too many wrong PINs. Try again in 1 s.");
  t.mock.timers.tick(1000);
  assert.equal(await pin("471100", EXPECTED), "");
  assert.equal(await (await reload())("6", EXPECTED), "The PIN is wrong.");
});

test("a clock that was set back locks nobody out", async (t) => {
  t.mock.timers.enable({ apis: ["Date"], now: 9_000_000 });
  for (const wrong of ["1", "2", "3", "4", "5"]) await (await reload())(wrong, EXPECTED);
  t.mock.timers.setTime(5_000_000);
  assert.equal(await (await reload())("471100", EXPECTED), "");
});
