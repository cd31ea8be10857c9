// What the console tells a gate: settings every few seconds, the ping less often, messages until they are dismissed.

import "fake-indexeddb/auto";
import assert from "node:assert/strict";
import { test } from "node:test";
import { Gate } from "../../assets/gate/core/gate.js";
import { List } from "../../assets/gate/core/list.js";
import { noticeOf } from "../../assets/gate/ui/message.js";
import { Queue } from "../../assets/gate/core/queue.js";
import { Busy } from "../../assets/gate/io/server.js";
import { Store } from "../../assets/gate/io/store.js";
import { Sync } from "../../assets/gate/io/sync.js";

let names = 0;

test("each refresh asks for the settings, not each pings, and codes are reserved where walk-ins are allowed", async (t) => {
  // Nothing is asked beside the API, which has its deadlines.
  t.mock.method(globalThis, "fetch", () => new Promise(() => {}));
  const calls = [];
  let walkIn;
  const server = {
    measureClock() {},
    async request(method, path) {
      calls.push(path);
      if (path === "/gate/codes") return { status: 201, data: Array.from({ length: 50 }, (_, i) => `C-${i}`), meta: {} };
      return { status: 200, data: { serverTime: 1, appVersion: "1.2.3", ...(walkIn ? { walkIn } : {}) }, meta: {} };
    },
  };
  const store = await Store.open(`sync-${(names += 1)}`);
  const queue = new Queue(store);
  t.after(() => queue.close());
  let told = 0;
  const sync = new Sync(server, new List(store), queue, store, { place: () => 10, onChange: () => (told += 1), onStored: async () => {}, status: () => ({}) });
  t.after(() => sync.close());
  await sync.refresh();
  await sync.refresh();
  assert.deepEqual(calls, ["/gate", "/device/ping", "/gate"]);
  assert.ok(told >= 2);
  assert.equal(sync.version, "1.2.3");
  walkIn = { types: [] };
  await sync.refresh();
  await sync.refresh();
  assert.deepEqual(calls.slice(3), ["/gate", "/gate/codes", "/gate"]);
  assert.equal((await store.get("codes")).length, 50);
});

test("a message is shown until it is dismissed, and sounds once", () => {
  const settings = {};
  const first = { text: "Doors open at 8:30", at: 5 };
  assert.deepEqual(noticeOf(undefined, settings), { isShown: false, isNew: false, key: undefined });
  const { isShown, isNew, key } = noticeOf(first, settings);
  assert.deepEqual([isShown, isNew], [true, true]);
  settings.heardMessage = key;
  assert.deepEqual([noticeOf(first, settings).isShown, noticeOf(first, settings).isNew], [true, false]);
  settings.dismissedMessage = key;
  assert.deepEqual([noticeOf(first, settings).isShown, noticeOf(first, settings).isNew], [false, false]);
  // The same words sent again are news.
  for (const next of [{ ...first, at: 6 }, { ...first, text: "Doors open at 9:00" }]) {
    assert.deepEqual([noticeOf(next, settings).isShown, noticeOf(next, settings).isNew], [true, true]);
  }
});

test("each of a booking gets a verdict of their own, offline too", async (t) => {
  const store = await Store.open(`sync-${(names += 1)}`);
  const [list, queue] = [new List(store), new Queue(store)];
  t.after(() => queue.close());
  const place = { id: 10, name: "Hall", available: true, rules: { ruleSet: "simple", entry: "single" }, rooms: [{ id: 10, name: "Hall", capacity: 2, inside: 0 }], inside: 0 };
  const people = [1, 2, 3, 4].map((id) => ({ action: "upsert", type: "delegate", id, data: { id, name: `P${id}`, codes: [`T-${id}`], parent: 1, joined: id !== 2 } }));
  await list.apply(people, { cursor: "a", serverTime: 1, place });
  const gate = new Gate({ online: false, now: () => 5000 }, list, queue, { gate: {} }, { mode: "out", place });
  const outcomes = await Promise.all(list.booking(list.find("T-1")).map((person) => gate.passOne(person, "in")));
  assert.deepEqual(outcomes.map(({ passed, code }) => [passed, code ?? 0]), [[true, 0], [false, 741], [true, 0], [false, 744]]);
  assert.deepEqual(queue.waiting.map(({ code, passage }) => [code, passage]), [["T-1", "in"], ["T-3", "in"]]);
  assert.equal(new Set(queue.waiting.map(({ nonce }) => nonce)).size, 2);
});

test("a server that takes no scans is not asked again at once", async (t) => {
  const store = await Store.open(`sync-${(names += 1)}`);
  const queue = new Queue(store);
  t.after(() => queue.close());
  let asked = 0;
  const server = {
    online: true,
    async request() {
      asked += 1;
      throw new Error("503");
    },
  };
  const sync = new Sync(server, new List(store), queue, store, { place: () => 10, onChange() {}, onStored: async () => {}, status: () => ({}) });
  t.after(() => sync.close());
  await queue.add({ code: "T-1", passage: "in", at: 1, place: 10, due: true });
  // Other requests are answered meanwhile, and each says that the server is back.
  for (let i = 0; i < 5; i += 1) await sync.upload();
  assert.equal(asked, 1);
  sync.hurry();
  await sync.upload();
  assert.equal(asked, 2);
});

test("a busy server is left alone as long as it says", async (t) => {
  const store = await Store.open(`sync-${(names += 1)}`);
  const queue = new Queue(store);
  t.after(() => queue.close());
  let [asked, now] = [0, 1000];
  t.mock.method(performance, "now", () => now);
  const server = {
    online: true,
    async request() {
      asked += 1;
      throw new Busy("busy", 503, 10_000);
    },
  };
  const sync = new Sync(server, new List(store), queue, store, { place: () => 10, onChange() {}, onStored: async () => {}, status: () => ({}) });
  t.after(() => sync.close());
  await queue.add({ code: "T-1", passage: "in", at: 1, place: 10, due: true });
  for (; now < 10_500; now += 500) await sync.upload();
  assert.equal(asked, 1);
  for (; now < 16_500; now += 500) await sync.upload();
  assert.equal(asked, 2);
});

test("an empty answer without a look changes neither the list nor its age", async () => {
  const list = new List(await Store.open(`sync-${(names += 1)}`));
  const ada = { action: "upsert", type: "delegate", id: 1, data: { id: 1, name: "Ada", codes: ["T-1"] } };
  await list.apply([ada], { cursor: "a", serverTime: 5, place: { id: 10, name: "Hall", available: true, rules: {} } });
  await list.apply([], { cursor: "a" });
  assert.deepEqual([list.complete, list.cursor, list.at, list.place.name, list.find("T-1").name], [true, "a", 5, "Hall", "Ada"]);
});
