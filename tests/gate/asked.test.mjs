// The server was asked and does not answer in time: the gate decides alone, while the feed may tell of the same scan.

import "fake-indexeddb/auto";
import assert from "node:assert/strict";
import { test } from "node:test";
import { Gate } from "../../assets/gate/core/gate.js";
import { List } from "../../assets/gate/core/list.js";
import { Queue } from "../../assets/gate/core/queue.js";
import { Store } from "../../assets/gate/io/store.js";

const NOW = Date.UTC(2026, 10, 21, 9, 0) + 345;
const SECOND = NOW - 345;
const ROOM = { id: 10, name: "Hall", capacity: 1 };
let names = 0;

/** A gate at a hall for one person; `meanwhile` happens to its list while the server has a scan and does not answer. */
async function gate(t, { rules = { entry: "single" }, person = {}, inside = 0, mode = "in" }, meanwhile) {
  const store = await Store.open(`asked-${(names += 1)}`);
  const [list, queue] = [new List(store, () => NOW), new Queue(store)];
  t.after(() => queue.close());
  let cursor = 0;
  const tell = (id, more, count) =>
    list.apply(
      [{ action: "upsert", type: "delegate", id, data: { id, name: `P${id}`, codes: [`T-${id}`], ...more } }],
      { cursor: `${(cursor += 1)}`, serverTime: NOW, place: { id: 10, name: "Hall", available: true, rules, rooms: [{ ...ROOM, inside: count }], inside: count } },
    );
  await tell(1, person, inside);
  const server = {
    online: true, now: () => NOW,
    async request(method, path, { body } = {}) {
      if (path === "/interaction/batch") return { status: 200, data: Object.keys(body.interactions).map((key) => ({ key, status: 200, data: { id: 7 }, meta: { replayed: true } })), meta: {} };
      await meanwhile(tell, body);
      throw new Error("no answer in time");
    },
  };
  const app = new Gate(server, list, queue, { gate: { policy: "admit", timeZone: "UTC" } }, { mode, place: { id: 10, name: "Hall" } });
  return { app, list, queue, upload: () => queue.upload(server, (scan, id) => app.stored(scan, id)) };
}

const entered = { inside: true, lastIn: SECOND, since: SECOND, entries: 1, rooms: [10] };

test("nobody is refused because of the scan that is judged", async (t) => {
  for (const rules of [{ entry: "single" }, { maxCheckIns: 1 }, {}]) {
    const { app, list, queue, upload } = await gate(t, { rules }, (tell) => tell(1, entered, 1));
    const outcome = await app.pass({ code: "T-1" });
    assert.deepEqual([outcome.passed, outcome.shown.reason, queue.waiting.map(({ admitted, undone }) => [admitted, undone])], [true, undefined, [[true, undefined]]]);
    // It is one entry, waiting and uploaded.
    for (let i = 0; i < 2; i += 1) {
      assert.deepEqual([list.withWaiting(list.find("T-1"), queue.passed).entries, list.counts(queue.passed).get(10)], [1, 1]);
      await upload();
    }
    assert.deepEqual([queue.waiting.length, list.find("T-1").entries], [0, 1]);
  }
});

test("nobody is held back because of the check-out that is judged", async (t) => {
  const { app, list, upload } = await gate(t, { mode: "out", person: entered, inside: 1 }, (tell) => tell(1, { lastIn: SECOND, lastOut: SECOND, entries: 1 }, 0));
  const outcome = await app.pass({ code: "T-1" });
  assert.deepEqual([outcome.passed, outcome.shown.kind], [true, "out"]);
  await upload();
  assert.deepEqual([list.find("T-1").inside ?? false, list.place.inside], [false, 0]);
});

test("a walk-in that the feed brings first does not fill the place against itself", async (t) => {
  const walkedIn = (tell, { code }) => tell(2, { ...entered, codes: [code] }, 1);
  const { app } = await gate(t, {}, walkedIn);
  assert.equal((await app.walkIn({ firstName: "Ada" }, "NEW-1")).passed, true);
});

test("what others did meanwhile counts", async (t) => {
  // Another gate let the same ticket in before, or somebody else took the last seat.
  for (const [id, more, code] of [[1, { ...entered, lastIn: SECOND - 1000 }, 740], [2, entered, 744]]) {
    const { app, queue } = await gate(t, {}, (tell) => tell(id, more, 1));
    assert.deepEqual([(await app.pass({ code: "T-1" })).code, queue.waiting.map(({ undone }) => undone)], [code, [true]]);
  }
  // The same ticket was read twice.
  const { app, queue } = await gate(t, {}, () => {});
  const both = await Promise.all([app.pass({ code: "T-1" }), app.pass({ code: "T-1" })]);
  assert.deepEqual([both.map(({ passed }) => passed), queue.passed.length], [[true, false], 1]);
});
