// The table of state: what a revocation leaves on the device, and that nothing is kept beside it.

import "fake-indexeddb/auto";
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";
import { List } from "../../assets/gate/core/list.js";
import { Queue } from "../../assets/gate/core/queue.js";
import { Shift } from "../../assets/gate/core/shift.js";
import { STATE, forgotten, initialSettings } from "../../assets/gate/core/state.js";
import { Store } from "../../assets/gate/io/store.js";

const NOW = Date.UTC(2026, 10, 21, 9, 0);
const folder = new URL("../../assets/gate/", import.meta.url);

test("a gate begins with what the table says", () => {
  assert.deepEqual(initialSettings(), { mode: "in", theme: "auto", language: "auto", sound: true, vibration: true });
});

test("a revocation leaves what the table says, and nobody's name", async (t) => {
  const store = await Store.open("state");
  const queue = new Queue(store);
  t.after(() => queue.close());
  const list = new List(store, () => NOW);
  const shift = new Shift(store, { server: { credentials: {} }, last: undefined });
  const settings = Object.fromEntries(Object.keys(STATE.settings).map((name) => [name, `${name} was set`]));
  const records = Object.keys(STATE.records).filter((name) => name !== "list" && name !== "shift");
  for (const name of records) await store.set(name, `${name} was set`);
  await list.apply([
    { action: "upsert", type: "delegate", id: 1, data: { name: "Ada", codes: ["T-1"] } },
    { action: "upsert", type: "blocked-code", id: 2, data: { code: "LOST", reason: "Ada lost it" } },
  ], { cursor: "a", serverTime: NOW, place: { id: 10, name: "Ada's hall", rules: {}, rooms: [] } });
  const scan = await queue.add({ code: "T-1", delegate: 1, passage: "in", at: NOW, place: 10, override: true, reason: "Ada's friend" });
  await shift.add({ scan, shown: { kind: "good", name: "Ada" }, passed: true });

  await shift.clear();
  await list.clear();
  await queue.strip();
  await store.write(forgotten(settings));

  const left = {
    settings: async (name) => settings[name],
    records: (name) => store.get(name),
    stores: (name) => store.all(name),
  };
  const fates = { stays: [], deleted: [], emptied: [], stripped: [] };
  for (const [group, keys] of Object.entries(STATE)) {
    for (const [name, { revoked }] of group === "local" ? [] : Object.entries(keys)) {
      const kept = await left[group](name);
      if (revoked === "stays") assert.equal(kept, `${name} was set`);
      else if (revoked === "deleted") assert.equal(kept, undefined, name);
      else assert.doesNotMatch(JSON.stringify(kept), /Ada|LOST/, name);
      fates[revoked].push(name);
    }
  }
  assert.deepEqual(fates.deleted, ["place", "credentials", "gate", "codes", "evacuation"]);
  assert.deepEqual([fates.emptied, fates.stripped], [["list", "shift", "people", "blocked"], ["queue"]]);
  assert.equal((await store.all("queue")).length, 1);
});

test("nothing is kept that is not in the table", () => {
  const sources = readdirSync(folder, { recursive: true }).filter((name) => name.endsWith(".js") && !name.startsWith("vendor")).map((name) => readFileSync(new URL(name, folder), "utf8"));
  const named = (pattern) => new Set(sources.flatMap((text) => [...text.matchAll(pattern)].map(([, name, other]) => name ?? other)));
  const records = named(/store\.(?:get|set|change)\("(\w+)"|"meta", "(?:put|delete)", \[?"(\w+)"/g);
  assert.deepEqual([...records].filter((name) => name !== "settings" && !(name in STATE.records)), []);
  assert.deepEqual([...named(/createObjectStore\("(\w+)"/g)].filter((name) => name !== "meta").sort(), Object.keys(STATE.stores).sort());
  const [local] = named(/const KEPT = "([^"]+)"/g);
  assert.deepEqual([local], Object.keys(STATE.local));
  assert.equal(sources.filter((text) => /localStorage|sessionStorage/.test(text)).length, 2, "the table, and what asks for PINs");
});
