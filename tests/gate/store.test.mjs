// The database: upgrades, tabs beside each other, and transactions that are whole.

import "fake-indexeddb/auto";
import assert from "node:assert/strict";
import { test } from "node:test";
import { Store } from "../../assets/gate/io/store.js";

let names = 0;
const name = () => `store-${(names += 1)}`;
const first = (db) => db.createObjectStore("meta");
const second = (db) => db.createObjectStore("more");
/** Waits until something is so. */
async function until(isSo) {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 5));
}

test("a new version adds to what an older one kept", async () => {
  const db = name();
  await (await Store.open(db, [first])).set("a", 1);
  const store = await Store.open(db, [first, second]);
  assert.equal(store.problem, "");
  assert.equal(await store.get("a"), 1);
  assert.deepEqual(await store.all("more"), []);
});

test("a tab of the older version goes on beside one of the newer", async () => {
  const db = name();
  const older = await Store.open(db, [first]);
  const reopened = new Promise((resolve) => (older.onReopened = resolve));
  const newer = await Store.open(db, [first, second]);
  assert.equal(newer.problem, "");
  // What was in the database is in the older tab's memory.
  assert.equal(await reopened, true);
  assert.ok(await older.set("a", 1));
  assert.equal(await newer.get("a"), 1);
});

test("a database that opens late is used as soon as it is open", async () => {
  const db = name();
  // Somebody keeps the database of the older version, and does not let go.
  const keeper = await new Promise((resolve) => {
    const opening = indexedDB.open(db, 1);
    opening.onupgradeneeded = () => first(opening.result);
    opening.onsuccess = () => resolve(opening.result);
  });
  const store = await Store.open(db, [first, second], 20);
  assert.notEqual(store.problem, "");
  assert.equal(await store.set("a", 1), false);
  const reopened = new Promise((resolve) => (store.onReopened = resolve));
  keeper.close();
  assert.equal(await reopened, false);
  assert.ok(await store.set("a", 1));
  assert.equal(store.problem, "");
});

test("a database that fails to open is tried again", async (t) => {
  const { open } = indexedDB;
  let fails = 2;
  t.mock.method(indexedDB, "open", (...all) => {
    fails -= 1;
    if (fails >= 0) throw new DOMException("not now", "UnknownError");
    return open.apply(indexedDB, all);
  });
  const store = await Store.open(name(), [first]);
  assert.ok(await store.set("a", 1));
});

test("what throws leaves nothing half written", async () => {
  const store = await Store.open(name(), [first]);
  const unclonable = () => {};
  assert.equal(await store.write([["meta", "put", ["a", 1]], ["meta", "put", ["b", unclonable]]]), false);
  assert.equal(await store.get("a"), undefined);
  assert.notEqual(store.problem, "");
  const changed = store.change("a", ["meta"], () => {
    throw new Error("undecided");
  });
  assert.equal(await changed, false);
  assert.equal(store.problem, "undecided");
  assert.ok(await store.set("a", 2));
  await until(async () => (await store.get("a")) === 2);
});
