// The queue: nothing is lost, nothing is stored twice, one bad scan blocks nothing.

import "fake-indexeddb/auto";
import assert from "node:assert/strict";
import { test } from "node:test";
import { Queue, body } from "../../assets/gate/core/queue.js";
import { Store } from "../../assets/gate/io/store.js";

const SCAN = { code: "T-1", delegate: 1, passage: "in", at: 1_795_262_400_123, place: 10, admitted: true, due: true };
let names = 0;
/** A queue over an empty store; it ends with its test. */
const fresh = async (t, name = `queue-${(names += 1)}`) => {
  const store = await Store.open(name);
  const queue = new Queue(store);
  t.after(() => queue.close());
  return { store, queue };
};

/** A server that keeps scans by nonce; `answer` may replace what it says to an item or to a batch. */
function server({ item = () => undefined, batch = () => undefined } = {}) {
  const stored = new Map();
  const deleted = [];
  const batches = [];
  return {
    stored, deleted, batches,
    async request(method, path, { body: sent } = {}) {
      if (method === "DELETE") {
        deleted.push(path);
        return { status: 204, data: undefined, meta: {} };
      }
      const items = Object.entries(sent.interactions);
      batches.push(items.length);
      const early = batch(items);
      if (early) return early;
      const data = items.map(([key, scan]) => {
        const special = item(scan);
        if (special) return { key, ...special };
        const status = stored.has(key) ? 200 : 201;
        stored.set(key, scan);
        return { key, status, data: { id: stored.size }, meta: {} };
      });
      return { status: 200, data, meta: {} };
    },
  };
}

const refused = (status, internalCode, message) => ({ status, data: {}, meta: { error: { code: status, internalCode, message } } });
const noop = async () => {};

test("a scan is stored before add answers, and a restart finds it in order", async (t) => {
  const { store, queue } = await fresh(t);
  for (let i = 0; i < 30; i += 1) await queue.add({ ...SCAN, code: `T-${i}` });
  const again = new Queue(store);
  await again.load();
  assert.deepEqual(again.waiting.map(({ code }) => code), Array.from({ length: 30 }, (_, i) => `T-${i}`));
  assert.equal(new Set(again.waiting.map(({ nonce }) => nonce)).size, 30);
  again.close();
});

test("everything is uploaded once, in batches, however often answers are lost", async (t) => {
  const { store, queue } = await fresh(t);
  for (let i = 0; i < 450; i += 1) await queue.add({ ...SCAN, code: `T-${i}` });
  const peer = server();
  const lossy = { request: async (...all) => { await peer.request(...all); throw new Error("lost"); } };
  await assert.rejects(queue.upload(lossy, noop));
  assert.equal(queue.waiting.length, 450);
  let told = 0;
  await queue.upload(peer, async () => { told += 1; });
  assert.deepEqual([peer.stored.size, told, queue.waiting.length, (await store.all("queue")).length], [450, 450, 0, 0]);
  assert.deepEqual(peer.batches, [200, 200, 200, 50]);
});

test("a bad scan fails alone and can be tried again", async (t) => {
  const { queue } = await fresh(t);
  for (const code of ["A", "BAD", "C"]) await queue.add({ ...SCAN, code });
  let isBad = true;
  const peer = server({ item: ({ delegate }) => (isBad && delegate === "scan:BAD" ? refused(400, 1503, "unusable") : undefined) });
  await queue.upload(peer, noop);
  assert.deepEqual(queue.failed.map(({ code, failed }) => [code, failed]), [["BAD", { status: 400, code: 1503, message: "unusable" }]]);
  assert.equal(queue.waiting.length, 0);
  isBad = false;
  await queue.retry(queue.failed[0]);
  await queue.upload(peer, noop);
  assert.deepEqual([queue.failed.length, peer.stored.size], [0, 3]);
});

test("a batch that is refused as a whole is halved down to the scan at fault", async (t) => {
  const { queue } = await fresh(t);
  for (let i = 0; i < 9; i += 1) await queue.add({ ...SCAN, code: i === 4 ? "BAD" : `T-${i}` });
  const peer = server({ batch: (items) => (items.some(([, { delegate }]) => delegate === "scan:BAD") ? { ...refused(400, 1100, "no"), error: { code: 400, internalCode: 1100, message: "no" } } : undefined) });
  await queue.upload(peer, noop);
  assert.deepEqual([peer.stored.size, queue.failed.map(({ code }) => code)], [8, ["BAD"]]);
});

test("what the server cannot take now stays", async (t) => {
  const { queue } = await fresh(t);
  await queue.add(SCAN);
  await queue.upload(server({ item: () => refused(503, 1108, "busy") }), noop);
  assert.equal(queue.waiting.length, 1);
  const peer = server();
  await queue.upload(peer, noop);
  assert.deepEqual([queue.waiting.length, peer.stored.size], [0, 1]);
});

test("a nonce that the server has with another body (1109) is stored already", async (t) => {
  const { queue } = await fresh(t);
  await queue.add(SCAN);
  await queue.upload(server({ item: () => refused(409, 1109, "nonce used before") }), noop);
  assert.deepEqual([queue.waiting.length, queue.failed.length], [0, 0]);
});

test("a scan that is being decided is left to its own request", async (t) => {
  const { queue } = await fresh(t);
  await queue.add({ ...SCAN, admitted: undefined, due: undefined });
  const peer = server();
  await queue.upload(peer, noop);
  assert.equal(peer.batches.length, 0);
});

test("undo takes a scan back, at the server too if it may have it", async (t) => {
  const { queue } = await fresh(t);
  await queue.undo(await queue.add(SCAN));
  assert.equal(queue.waiting.length, 0);
  const sent = await queue.add({ ...SCAN, admitted: undefined });
  queue.markSent(sent);
  await queue.undo(sent);
  assert.equal(body(sent).admitted, undefined);
  const peer = server();
  await queue.upload(peer, noop);
  assert.deepEqual([peer.deleted, queue.waiting.length], [["/interaction/id:1"], 0]);
});

test("a scan that was taken back is gone from the server before anything is judged after it", async (t) => {
  const { queue } = await fresh(t);
  const scan = (delegate, more) => queue.add({ ...SCAN, code: `T-${delegate}`, delegate, ...more });
  await scan(1);
  // It was sent while the network was gone: nobody knows whether it arrived.
  const taken = await scan(20, { admitted: undefined });
  queue.markSent(taken);
  await queue.undo(taken);
  await scan(20);
  await scan(21);
  // Never sent: nothing to take back.
  await queue.undo(await scan(22));
  const calls = [];
  const peer = server();
  let lost = 1;
  const logged = {
    async request(method, path, options) {
      calls.push(method === "DELETE" ? "delete" : Object.values(options.body.interactions).map(({ delegate, admitted }) => `${delegate}${admitted ? "" : "?"}`).join(" "));
      const answer = await peer.request(method, path, options);
      if (method === "DELETE" && (lost -= 1) >= 0) throw new Error("lost");
      return answer;
    },
  };
  await assert.rejects(queue.upload(logged, noop));
  assert.deepEqual([calls, queue.waiting.length], [["scan:T-20?", "delete"], 4]);
  await queue.upload(logged, noop);
  assert.deepEqual(calls.slice(2), ["scan:T-20?", "delete", "scan:T-1 scan:T-20 scan:T-21"]);
  assert.equal(queue.waiting.length, 0);
});

test("while the server cannot take a scan back, later ones of the same person wait, and no others", async (t) => {
  const { queue } = await fresh(t);
  const taken = await queue.add({ ...SCAN, admitted: undefined });
  queue.markSent(taken);
  await queue.undo(taken);
  await queue.add({ ...SCAN, code: undefined });
  await queue.add({ ...SCAN, code: "T-2", delegate: 2 });
  const peer = server({ item: ({ admitted }) => (admitted ? undefined : refused(503, 1108, "busy")) });
  await queue.upload(peer, noop);
  assert.deepEqual([[...peer.stored.values()].map(({ delegate }) => delegate), queue.waiting.length], [["scan:T-2"], 2]);
  await queue.upload(server(), noop);
  assert.equal(queue.waiting.length, 0);
});

test("a scan whose code nobody has yet is done, and is taken back by its nonce", async (t) => {
  const { queue } = await fresh(t);
  await queue.add(SCAN);
  const peer = server({ item: () => ({ status: 201, data: { id: null }, meta: { unknown: true } }) });
  let id = 0;
  await queue.upload(peer, async (_, stored) => { id = stored; });
  assert.deepEqual([queue.waiting.length, queue.failed.length, id], [0, 0, undefined]);
  const sent = await queue.add(SCAN);
  queue.markSent(sent);
  await queue.undo(sent);
  await queue.upload(peer, noop);
  assert.deepEqual([peer.deleted, queue.waiting.length, queue.failed.length], [[`/interaction/nonce:${sent.nonce}`], 0, 0]);
});

test("after a revocation only nonce, code, time and place are left", async (t) => {
  const { store, queue } = await fresh(t);
  await queue.add({ ...SCAN, reason: "a friend of Ada" });
  await queue.strip();
  const [kept] = await store.all("queue");
  assert.deepEqual([kept.code, kept.at, kept.place, kept.delegate, kept.reason], ["T-1", SCAN.at, 10, undefined, undefined]);
});

test("two tabs see each other's scans", async (t) => {
  const { store, queue } = await fresh(t);
  const other = new Queue(store);
  await queue.add(SCAN);
  await new Promise((resolve) => setTimeout(resolve, 50));
  assert.equal(other.waiting.length, 1);
  other.close();
});

test("without a database the queue works in memory and says so", async (t) => {
  const kept = globalThis.indexedDB;
  globalThis.indexedDB = undefined;
  const { store, queue } = await fresh(t);
  globalThis.indexedDB = kept;
  assert.notEqual(store.problem, "");
  await queue.load();
  await queue.add(SCAN);
  const peer = server();
  await queue.upload(peer, noop);
  assert.deepEqual([peer.stored.size, queue.waiting.length], [1, 0]);
});

test("scans that a full disk refused are stored as soon as it takes them", async (t) => {
  const { store, queue } = await fresh(t);
  const write = store.write.bind(store);
  store.write = async () => false;
  await queue.add({ ...SCAN, code: "A" });
  store.write = write;
  await queue.load();
  assert.deepEqual(queue.waiting.map(({ code }) => code), ["A"]);
  await queue.add({ ...SCAN, code: "B" });
  assert.deepEqual((await store.all("queue")).map(({ code }) => code).sort(), ["A", "B"]);
});

test("an undo while an upload reads the queue takes the scan back", async (t) => {
  const { store, queue } = await fresh(t);
  await queue.add(SCAN);
  const peer = server();
  const uploading = queue.upload(peer, noop);
  await queue.undo(queue.waiting[0]);
  await uploading;
  assert.deepEqual([peer.stored.size, queue.waiting.length, (await store.all("queue")).length], [0, 0, 0]);
});

test("whatever is changed while the queue is read stays changed", async (t) => {
  const { queue } = await fresh(t);
  for (const code of ["A", "B", "C"]) await queue.add({ ...SCAN, code });
  const [a, b, c] = queue.waiting;
  // A write is under way, the queue is read behind it, and changed once more.
  const changes = [queue.update(a, { reason: "first" })];
  const loading = queue.load();
  changes.push(queue.update(a, { undone: true }), queue.remove([b]), queue.complete(c));
  await Promise.all([...changes, loading]);
  assert.deepEqual(queue.waiting.map(({ code, undone }) => [code, undone]), [["A", true]]);
  await queue.load();
  assert.deepEqual(queue.waiting.map(({ code, undone }) => [code, undone]), [["A", true]]);
});

test("a removal that the store did not take is remembered", async (t) => {
  const { store, queue } = await fresh(t);
  const scan = await queue.add(SCAN);
  const write = store.write.bind(store);
  store.write = async () => false;
  await queue.remove([scan]);
  store.write = write;
  await queue.load();
  assert.equal(queue.waiting.length, 0);
  await queue.add({ ...SCAN, code: "B" });
  assert.deepEqual((await store.all("queue")).map(({ code }) => code), ["B"]);
});

test("a tab that dies while a walk-in is completed leaves no id of this device behind", async (t) => {
  const { store, queue } = await fresh(t);
  const walkIn = await queue.add({ ...SCAN, code: undefined, delegate: undefined, walkIn: { firstName: "Ada" } });
  await queue.add({ ...SCAN, code: undefined, delegate: walkIn.delegate, passage: "out" });
  const write = store.write.bind(store);
  let writes = 0;
  // The first write is kept, then the tab is gone.
  store.write = (...all) => ((writes += 1) === 1 ? write(...all) : new Promise(() => {}));
  queue.complete(walkIn, 77);
  await new Promise((resolve) => setTimeout(resolve, 50));
  const kept = await store.all("queue");
  const names = new Set(kept.filter((scan) => scan.walkIn).map(({ delegate }) => delegate));
  assert.deepEqual(kept.filter(({ delegate }) => delegate < 0 && !names.has(delegate)), []);
  assert.deepEqual(kept.map(({ delegate }) => delegate), [77]);
});

test("a full disk lets go of what is done, but not of a walk-in that later scans still name", async (t) => {
  const { store, queue } = await fresh(t);
  const done = await queue.add(SCAN);
  const walkIn = await queue.add({ ...SCAN, code: undefined, delegate: undefined, walkIn: { firstName: "Ada" } });
  await queue.add({ ...SCAN, code: undefined, delegate: walkIn.delegate, passage: "out" });
  const write = store.write.bind(store);
  store.write = async (changes, options) => (changes.some(([, action]) => action === "put") ? false : write(changes, options));
  await queue.add({ ...SCAN, code: "X" });
  await queue.remove([done]);
  await queue.complete(walkIn, 77);
  assert.deepEqual((await store.all("queue")).map(({ delegate }) => delegate), [walkIn.delegate, walkIn.delegate]);
  store.write = write;
  await queue.keepAll();
  assert.deepEqual((await store.all("queue")).map(({ delegate, code }) => [delegate, code]).sort(), [[1, "X"], [77, undefined]].sort());
});

test("the body is what the API takes", () => {
  const scan = { ...SCAN, nonce: "n", seq: 1 };
  assert.deepEqual(body(scan), { interactionType: "check-in", delegate: "scan:T-1", device: 10, recordedAt: 1_795_262_400, nonce: "n", admitted: true });
  const { interactionType, delegate } = body({ ...scan, code: undefined, passage: "out" });
  assert.deepEqual([interactionType, delegate], ["check-out", 1]);
  assert.deepEqual(body({ ...scan, override: true, admitted: undefined, reason: "speaker" }).data, { reason: "speaker" });
});

test("ticks of an evacuation are sent in their order, in one call, and hold up no scan", async (t) => {
  const { queue } = await fresh(t);
  const calls = [];
  let answer = { status: 204, meta: {} };
  const scans = server();
  const peer = { ...scans, request: async (method, path, options) => (path === "/gate/evacuation" ? (calls.push(options.body), answer) : scans.request(method, path, options)) };
  const tick = (tick, delegate, more = {}) => queue.add({ passage: "in", tick, delegate, at: SCAN.at, place: 10, due: true, ...more });
  const ticked = [];
  queue.onTicked = async (ticks) => ticked.push(...ticks.map(({ delegate }) => delegate));
  await tick("start");
  await tick("safe", 1);
  await queue.add(SCAN);
  await tick("unsafe", 1);
  await tick("safe", 2, { place: 11 });
  await tick("safe", -5);
  // Nobody whom the server does not have is ticked there before.
  await queue.add({ ...SCAN, code: undefined, delegate: -5, walkIn: { firstName: "Ada" }, due: false });
  assert.deepEqual(queue.passed.map(({ tick }) => tick).filter(Boolean), []);
  const isWalkIn = queue.waiting.find(({ walkIn }) => walkIn);
  await queue.update(isWalkIn, { delegate: -5 });
  await queue.upload(peer, noop);
  const recordedAt = Math.floor(SCAN.at / 1000);
  assert.deepEqual(calls, [
    { place: 10, ticks: [{ recordedAt }, { recordedAt, delegate: 1, safe: true }, { recordedAt, delegate: 1, safe: false }] },
    { place: 11, ticks: [{ recordedAt, delegate: 2, safe: true }] },
  ]);
  assert.deepEqual([ticked, scans.stored.size, queue.waiting.length], [[undefined, 1, 1, 2], 1, 2]);
  await queue.complete(isWalkIn, 77);
  answer = { ...refused(403, 1202, "not its place"), error: { code: 403, internalCode: 1202, message: "not its place" } };
  await queue.upload(peer, noop);
  assert.deepEqual(calls.at(-1).ticks, [{ recordedAt, delegate: 77, safe: true }]);
  assert.deepEqual(queue.failed.map(({ tick, failed }) => [tick, failed.code]), [["safe", 1202]]);
});
