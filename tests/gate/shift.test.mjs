// What a gate still knows after a reload.

import "fake-indexeddb/auto";
import assert from "node:assert/strict";
import { test } from "node:test";
import { Shift } from "../../assets/gate/core/shift.js";
import { Store } from "../../assets/gate/io/store.js";

let names = 0;
/** @returns {any} */
const gate = () => ({ server: { credentials: {} } });
const open = async () => new Shift(await Store.open(`shift-${(names += 1)}`), gate());

/** @returns {any} */
const outcome = (delegate, more = {}) => ({
  passed: true, id: delegate + 1000, shown: { kind: "good", word: "Welcome", name: `Person ${delegate}`, onUndo() {} },
  scan: { nonce: `n-${delegate}`, delegate, passage: "in", at: 1000 + delegate, place: 1, ...more },
});

/** The same page, opened again. */
async function reload({ store }, now) {
  const again = new Shift(store, gate());
  await again.load(now);
  return again;
}

test("a reload keeps who was counted, the last scans and the one to undo", async () => {
  const shift = await open();
  for (const delegate of [1, 2, 3, 4, 4]) {
    shift.gate.last = outcome(delegate);
    await shift.add(shift.gate.last);
  }
  const again = await reload(shift, 2000);
  assert.deepEqual([...again.mine], [1, 2, 3, 4]);
  assert.deepEqual(again.recent.map(({ shown }) => shown.name), ["Person 4", "Person 4", "Person 3"]);
  assert.deepEqual([again.gate.last.id, again.gate.last.scan.nonce, again.gate.last.shown.name], [1004, "n-4", "Person 4"]);
  await again.add(outcome(1));
  assert.equal(again.mine.size, 4);
  assert.equal((await reload(shift, 1004 + 10 * 60_000)).gate.last, undefined);
});

test("what is undone does not come back", async () => {
  const shift = await open();
  const last = outcome(1);
  await shift.add(last);
  shift.gate.last = undefined;
  await shift.undone(last);
  const again = await reload(shift, 2000);
  assert.deepEqual([again.mine.size, again.recent, again.gate.last], [0, [], undefined]);
});

test("a walk-in counts once, before the upload and after it", async () => {
  const shift = await open();
  await shift.add(outcome(-7));
  await shift.stored({ ...outcome(-7).scan, walkIn: {} }, { id: 12 });
  await shift.add(outcome(12));
  assert.deepEqual([...(await reload(shift, 2000)).mine], [12]);
});

test("another place begins anew", async () => {
  const shift = await open();
  shift.gate.last = outcome(1);
  await shift.add(shift.gate.last);
  await shift.clear();
  const again = await reload(shift, 2000);
  assert.deepEqual([again.mine.size, again.recent, again.gate.last], [0, [], undefined]);
});

test("a scan that ends after the gate was revoked keeps nobody", async () => {
  const shift = await open();
  await shift.clear();
  shift.gate.server.credentials = undefined;
  await shift.add(outcome(1));
  assert.deepEqual([shift.mine.size, shift.recent, (await shift.store.get("shift")).recent], [0, [], []]);
});
