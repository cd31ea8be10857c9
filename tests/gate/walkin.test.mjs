// Walk-ins: registered once however often a gate is cut off, no code given twice, nobody lost.

import "fake-indexeddb/auto";
import assert from "node:assert/strict";
import { test } from "node:test";
import { Gate } from "../../assets/gate/core/gate.js";
import { List } from "../../assets/gate/core/list.js";
import { Queue, body, walkInPerson } from "../../assets/gate/core/queue.js";
import { Store } from "../../assets/gate/io/store.js";

const PLACE = { id: 10, name: "Gate B", available: true, rules: { ruleSet: "simple", entry: "single" }, rooms: [{ id: 10, name: "Gate B", capacity: 5, inside: 1 }], inside: 1 };
const ADA = { firstName: "Ada", lastName: "Lovelace", email: "ada@example.org", delegateType: "Press" };
const MADE = { passage: "in", at: 1_795_262_400_123, place: 10, walkIn: ADA };
const DECIDED = { admitted: true, due: true };
let names = 0;

/** A server that registers walk-ins by nonce, as the API says. */
function server() {
  const peer = {
    online: true, lost: 0, full: false, people: new Map(), scans: [], nonces: new Map(), reserved: 0, deleted: [], calls: [], answers: {},
    now: () => MADE.at,
    async request(method, path, { body: sent } = {}) {
      peer.calls.push(path);
      if (!peer.online) throw new Error("offline");
      const answer = peer.answers[path]?.(sent) ?? peer.answer(method, path, sent);
      if (peer.lost > 0) {
        peer.lost -= 1;
        throw new Error("lost");
      }
      return answer;
    },
    answer(method, path, sent) {
      if (method === "DELETE") {
        peer.deleted.push(path);
        return { status: 204, meta: {} };
      }
      if (path === "/gate/codes") return { status: 201, data: Array.from({ length: sent.count }, () => `C-${(peer.reserved += 1)}`), meta: {} };
      if (path === "/gate/walk-in") return peer.register(sent);
      if (path === "/interaction/batch") {
        const data = Object.entries(sent.interactions).map(([key, scan]) => ({ key, ...peer.scan(scan) }));
        return { status: 200, data, meta: {} };
      }
      return peer.scan(sent);
    },
    scan(scan) {
      const known = [...peer.people.values()].some(({ id, codes }) => id === scan.delegate || `scan:${codes[0]}` === scan.delegate);
      if (!known) return refused(404, 1301, "unknown code");
      peer.scans.push(scan);
      return { status: 201, data: { id: 1000 + peer.scans.length }, meta: {} };
    },
    register({ nonce, ...sent }) {
      const before = peer.nonces.get(nonce);
      if (before && before.sent !== JSON.stringify(sent)) return refused(409, 1109, "nonce used before");
      if (before) return { status: 200, data: peer.people.get(before.id), meta: { interaction: before.id + 500, replayed: true } };
      if (peer.full && !sent.admitted) return refused(412, 744, "Gate B is full");
      const id = peer.people.size + 1;
      const { name, codes } = walkInPerson({ walkIn: sent, code: sent.code ?? `S-${id}` });
      peer.people.set(id, { id, name, codes, joined: true, inside: true, lastIn: MADE.at, entries: 1, rooms: [10] });
      peer.nonces.set(nonce, { id, sent: JSON.stringify(sent) });
      return { status: 201, data: peer.people.get(id), meta: { interaction: id + 500 } };
    },
  };
  return peer;
}

const refused = (status, internalCode, message) => ({ status, data: {}, meta: { error: { internalCode, message } }, error: { code: status, internalCode, message } });

/** A gate of its own store, or one more over `store`. */
async function gate(t, peer = server(), { store, codes = 3 } = {}) {
  const isNew = store === undefined;
  store ??= await Store.open(`walkin-${(names += 1)}`);
  if (isNew) await store.set("codes", Array.from({ length: codes }, (_, i) => `R-${i + 1}`));
  const list = new List(store);
  const queue = new Queue(store);
  await list.load();
  if (isNew) await list.apply([], { cursor: "a", serverTime: 1, place: PLACE });
  await queue.load();
  queue.onChange = () => list.setWalkIns(queue.walkIns);
  queue.onChange();
  t.after(() => queue.close());
  const app = new Gate(peer, list, queue, { gate: { policy: "admit", timeZone: "UTC" } }, { mode: "in", place: PLACE });
  const upload = () => queue.upload(peer, (scan, id, registered) => app.stored(scan, id, registered));
  return { peer, store, list, queue, app, upload };
}

test("online the server registers a walk-in at once, with a reserved code", async (t) => {
  const { peer, store, list, queue, app } = await gate(t);
  const outcome = await app.walkIn({ ...ADA, email: " ada@example.org " });
  assert.deepEqual([outcome.passed, outcome.id, outcome.shown.name, outcome.shown.badge], [true, 501, "Ada Lovelace", "R-1"]);
  assert.equal(outcome.shown.kind, "good");
  assert.deepEqual([queue.waiting.length, (await store.all("queue")).length, await store.get("codes")], [0, 0, ["R-2", "R-3"]]);
  assert.deepEqual([list.find("R-1").id, list.place.inside, [...list.people.keys()]], [1, 2, [1]]);
  assert.match((await app.undo()).message, /Ada/);
  assert.deepEqual(peer.deleted, ["/interaction/id:501"]);
});

test("somebody who came with a code of nobody's keeps it, online and offline", async (t) => {
  const { peer, store, queue, list, app, upload } = await gate(t);
  const { shown } = await app.walkIn(ADA, "NEW-77");
  assert.deepEqual([shown.badge, peer.people.get(1).codes, await store.get("codes")], ["NEW-77", ["NEW-77"], ["R-1", "R-2", "R-3"]]);
  assert.match(shown.more.join(), /code that was scanned/);
  peer.online = false;
  await app.walkIn({ firstName: "Grace" }, "NEW-78");
  assert.equal(list.find("NEW-78")?.name, "Grace");
  peer.online = true;
  await upload();
  assert.deepEqual([peer.people.get(2).codes, queue.waiting.length, (await store.get("codes")).length], [["NEW-78"], 0, 3]);
});

test("the body is what the API takes", () => {
  const scan = { ...MADE, nonce: "n", seq: 1, delegate: -1, code: "R-1" };
  const sent = { place: 10, ...ADA, code: "R-1", recordedAt: 1_795_262_400, nonce: "n" };
  assert.deepEqual(body(scan), sent);
  assert.deepEqual(body({ ...scan, ...DECIDED }), { ...sent, admitted: true });
  assert.deepEqual(body({ ...scan, ...DECIDED, undone: true }), sent);
});

test("offline a walk-in is in the list at once, leaves and comes back, and is uploaded before those scans", async (t) => {
  const { peer, store, list, queue, app, upload } = await gate(t);
  peer.online = false;
  const { shown, scan } = await app.walkIn(ADA);
  assert.deepEqual([shown.badge, scan.admitted, list.search("lovelace").length, list.counts(queue.passed).get(0)], ["R-1", true, 1, 2]);
  assert.match((await app.pass({ code: "R-1" })).shown.reason, /already used/);
  // The server was there a moment ago: what is known is the list's all the same.
  app.list.at = peer.now();
  assert.deepEqual((await app.pass({ code: "R-1" })).shown.more, ["Offline. Decided by this gate’s list, 0 s old"]);
  app.settings.mode = "out";
  assert.equal((await app.pass({ code: "R-1" })).passed, true);
  // A restart without the server knows the person, too.
  const again = await gate(t, peer, { store });
  assert.equal((await again.app.pass({ code: "R-1" })).passed, true);
  assert.equal(again.list.counts(again.queue.passed).get(0), 2);
  peer.online = true;
  await again.upload();
  assert.deepEqual([peer.people.size, peer.scans.map(({ interactionType }) => interactionType), again.queue.waiting.length], [1, ["check-out", "check-in"], 0]);
  assert.ok(peer.calls.indexOf("/gate/walk-in") < peer.calls.indexOf("/interaction/batch"));
  assert.deepEqual([...again.list.people.keys()], [1]);
  assert.equal(again.list.find("R-1").id, 1);
  await queue.load();
  await upload();
  assert.equal(peer.people.size, 1);
});

test("an answer that is lost registers once, online and in the upload", async (t) => {
  const { peer, app, queue, upload } = await gate(t);
  peer.lost = 1;
  assert.equal((await app.walkIn(ADA)).passed, true);
  assert.equal(queue.waiting.length, 1);
  await upload();
  peer.online = false;
  await app.walkIn(ADA);
  Object.assign(peer, { online: true, lost: 1 });
  await upload();
  await queue.retry(queue.waiting[0]);
  await upload();
  assert.deepEqual([peer.people.size, queue.waiting.length, queue.failed.length], [2, 0, 0]);
});

test("the rules refuse a walk-in, and nobody is made", async (t) => {
  const { peer, store, app, queue, list } = await gate(t);
  peer.full = true;
  const outcome = await app.walkIn(ADA);
  assert.deepEqual([outcome.passed, outcome.code, outcome.shown.name, queue.waiting.length, list.people.size], [false, 744, "Ada Lovelace", 0, 0]);
  peer.online = false;
  list.place = { ...PLACE, rooms: [{ ...PLACE.rooms[0], inside: 5 }] };
  const codes = await store.get("codes");
  Object.assign(app, { server: { ...peer, online: false } });
  assert.equal((await app.walkIn(ADA)).code, 744);
  assert.deepEqual([queue.waiting.length, peer.people.size, await store.get("codes")], [0, 0, codes]);
});

test("a walk-in that is refused or fails holds up nobody but its own scans", async (t) => {
  const { peer, queue, upload, app } = await gate(t);
  peer.online = false;
  const bad = await app.walkIn({ lastName: "Bad" });
  await app.walkIn({ lastName: "Broken" });
  await app.walkIn({ lastName: "Good" });
  app.settings.mode = "out";
  for (const code of ["R-1", "R-3"]) assert.equal((await app.pass({ code })).passed, true);
  peer.online = true;
  let isBroken = true;
  peer.answers["/gate/walk-in"] = ({ lastName }) => {
    if (lastName === "Bad" && isBroken) return refused(400, 1503, "e-mail already used");
    if (lastName === "Broken" && isBroken) throw new Error("HTTP 500");
  };
  await upload();
  await upload();
  assert.deepEqual(queue.failed.map(({ walkIn, failed }) => [walkIn.lastName, failed.message]), [["Bad", "e-mail already used"]]);
  assert.deepEqual(queue.waiting.map(({ walkIn, code }) => [walkIn?.lastName, code]), [["Broken", "R-2"], [undefined, "R-1"]]);
  assert.deepEqual(peer.scans.map(({ delegate }) => delegate), ["scan:R-3"]);
  isBroken = false;
  for (const scan of [bad.scan.nonce, queue.waiting[0].nonce]) await queue.retry([...queue.failed, ...queue.waiting].find(({ nonce }) => nonce === scan));
  await upload();
  assert.deepEqual([queue.waiting.length, queue.failed.length, peer.people.size, peer.scans.length], [0, 0, 3, 2]);
});

test("without a reserved code the server makes it, and scans of the person follow by id", async (t) => {
  const { peer, queue, list, app, upload } = await gate(t, server(), { codes: 0 });
  peer.online = false;
  const { shown } = await app.walkIn(ADA);
  assert.equal(shown.badge, undefined);
  app.settings.mode = "out";
  await app.pass({ person: list.search("ada")[0] });
  peer.online = true;
  await upload();
  assert.deepEqual([queue.waiting.length, queue.failed.length, peer.scans[0].delegate], [0, 0, 1]);
});

test("two tabs and a restart never give a code twice, and the block is refilled once", async (t) => {
  const { peer, store, queue } = await gate(t, server(), { codes: 0 });
  const other = new Queue(store);
  t.after(() => other.close());
  await Promise.all([queue.reserveCodes(peer), other.reserveCodes(peer)]);
  assert.equal((await store.get("codes")).length, 50);
  const scans = await Promise.all(Array.from({ length: 20 }, (_, i) => [queue, other][i % 2].add(MADE)));
  const again = new Queue(store);
  t.after(() => again.close());
  scans.push(await again.add(MADE));
  assert.equal(new Set(scans.map(({ code }) => code)).size, 21);
  await again.reserveCodes(peer);
  assert.equal((await store.get("codes")).length, 29);
  for (let i = 0; i < 10; i += 1) scans.push(await again.add(MADE));
  await again.reserveCodes(peer);
  assert.equal((await store.get("codes")).length, 69);
  assert.equal(new Set([...scans.map(({ code }) => code), ...(await store.get("codes"))]).size, 100);
});

test("a tab that is killed between any two steps loses nobody, and gives no code twice", async (t) => {
  for (let steps = 0; steps < 12; steps += 1) {
    const { peer, store, app, queue, upload } = await gate(t);
    // From the given step on nothing is written and nothing is sent any more.
    let left = steps;
    let kill;
    const killed = new Promise((resolve) => (kill = resolve));
    const dies = (target, name) => {
      const run = target[name].bind(target);
      target[name] = (...all) => ((left -= 1) >= 0 ? run(...all) : new Promise(kill));
    };
    const wire = { ...peer, request: peer.request };
    for (const name of ["write", "change"]) dies(store, name);
    dies(wire, "request");
    Object.assign(app, { server: wire });
    peer.lost = steps % 2;
    let isShown = false;
    const work = app.walkIn(ADA).then(() => (isShown = true)).then(upload);
    await Promise.race([work, killed]);
    queue.close();
    const kept = await Store.open(`walkin-${names}`);
    const after = await gate(t, peer, { store: kept });
    peer.lost = 0;
    const isQueued = after.queue.waiting.length === 1;
    for (const scan of after.queue.waiting) await after.queue.update(scan, { due: true });
    await after.upload();
    const what = `killed after ${steps} steps`;
    assert.equal(after.queue.waiting.length + after.queue.failed.length, 0, what);
    assert.equal(peer.people.size, isShown || isQueued ? 1 : peer.people.size, what);
    assert.ok(peer.people.size <= 1, what);
    const next = await after.app.walkIn({ lastName: "Next" });
    assert.ok(!isQueued || next.shown.badge !== "R-1", what);
    assert.equal(new Set([...peer.people.values()].flatMap(({ codes }) => codes)).size, peer.people.size, what);
  }
});

test("undo takes a walk-in back before and after the server has it", async (t) => {
  const { peer, app, queue, list, upload } = await gate(t);
  peer.online = false;
  await app.walkIn(ADA);
  assert.equal((await app.undo()).isDone, true);
  assert.deepEqual([queue.waiting.length, list.people.size], [0, 0]);
  Object.assign(peer, { online: true, lost: 1 });
  await app.walkIn(ADA);
  await app.undo();
  assert.equal(list.people.size, 0);
  await upload();
  // Sent as it was first, so that the server finds it by its nonce.
  assert.deepEqual([queue.waiting.length, queue.failed.length, peer.deleted], [0, 0, ["/interaction/id:501"]]);
});

test("an undo whose answer was lost is done with when the server has no check-in any more", async (t) => {
  const { peer, app, queue, upload } = await gate(t);
  peer.lost = 1;
  await app.walkIn(ADA);
  await app.undo();
  peer.answers["/gate/walk-in"] = () => ({ status: 200, data: undefined, meta: { replayed: true } });
  await upload();
  assert.deepEqual([queue.waiting.length, queue.failed.length, peer.deleted], [0, 0, []]);
});

test("the feed may be faster than the answer: nobody is there twice", async (t) => {
  const { peer, list, app, queue, upload } = await gate(t);
  peer.lost = 1;
  await app.walkIn(ADA);
  const [told] = peer.people.values();
  await list.apply([{ action: "upsert", type: "delegate", id: 1, data: told }], { cursor: "b", serverTime: 2, place: { ...PLACE, inside: 2 } });
  queue.onChange();
  assert.deepEqual([list.search("ada").map(({ id }) => id), list.find("R-1").id, list.counts(queue.passed).get(0)], [[1], 1, 2]);
  await upload();
  assert.deepEqual([list.find("R-1").id, list.counts([]).get(0), list.people.size], [1, 2, 1]);
});

test("another place and a new snapshot keep walk-ins that wait", async (t) => {
  const { peer, list, app } = await gate(t);
  peer.online = false;
  await app.walkIn(ADA);
  await list.apply([{ action: "reset" }], { cursor: "r", more: true, serverTime: 2 });
  await list.apply([], { cursor: "s", more: false, serverTime: 3 });
  assert.equal(list.find("R-1")?.name, "Ada Lovelace");
  await list.clear();
  assert.equal(list.find("R-1")?.name, "Ada Lovelace");
});

test("a revocation keeps what an upload of walk-ins needs", async (t) => {
  const { peer, store, app, queue, upload } = await gate(t);
  peer.online = false;
  await app.walkIn(ADA);
  app.settings.mode = "out";
  await app.pass({ code: "R-1" });
  await queue.strip();
  const [walkIn, scan] = await store.all("queue").then((all) => all.sort((a, b) => a.seq - b.seq));
  assert.deepEqual([walkIn.walkIn, scan.code], [ADA, "R-1"]);
  peer.online = true;
  await upload();
  assert.deepEqual([peer.people.size, peer.scans.length], [1, 1]);
});

test("a disk that takes nothing gives no reserved code away", async (t) => {
  const { peer, store, app } = await gate(t);
  peer.online = false;
  const { change, write } = store;
  store.change = store.write = async () => false;
  const { shown } = await app.walkIn(ADA);
  Object.assign(store, { change, write });
  assert.deepEqual([shown.badge, await store.get("codes")], [undefined, ["R-1", "R-2", "R-3"]]);
});
