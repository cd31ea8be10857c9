// What the server knows as well: shared.json and presence.json are written by tests of the server.

import "fake-indexeddb/auto";
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";
import { meant } from "../../assets/gate/core/barcode.js";
import { CODES } from "../../assets/gate/core/codes.js";
import { judgeOffline } from "../../assets/gate/core/judge.js";
import { TEXTS } from "../../assets/gate/core/kiosk-texts.js";
import { List } from "../../assets/gate/core/list.js";
import { hasText } from "../../assets/gate/core/texts.js";
import { Store } from "../../assets/gate/io/store.js";

const read = (name) => JSON.parse(readFileSync(new URL(name, import.meta.url), "utf8"));
const shared = read("./shared.json");
const folder = new URL("../../assets/gate/", import.meta.url);

test("error codes are the server's", () => {
  assert.deepEqual(CODES, shared.codes);
});

test("kiosks speak the languages that the console offers", () => {
  assert.deepEqual(Object.keys(TEXTS), shared.languages);
});

test("every policy has its name, and a verdict of its own", () => {
  assert.deepEqual(shared.policies.filter((policy) => !hasText(`policy.${policy}`)), []);
  const facts = { passage: "in", place: { name: "Hall", available: true }, rules: {}, at: 0, rooms: [], inside: false, entries: 0, joined: false };
  const verdicts = shared.policies.map((policy) => judgeOffline(policy, facts).key ?? "");
  assert.equal(new Set(verdicts).size, shared.policies.length, String(verdicts));
});

test("features that the app asks for are among those that can be set", () => {
  const sources = readdirSync(new URL("ui/", folder)).map((name) => readFileSync(new URL(`ui/${name}`, folder), "utf8")).join("\n");
  const asked = [...sources.matchAll(/isAllowed\([^)]*"([a-z-]+)"\)/g)].map(([, feature]) => feature);
  assert.ok(asked.includes("check-out") && asked.includes("delegate-search"), String(asked));
  assert.deepEqual(asked.filter((feature) => !shared.features.includes(feature)), []);
});

test("check symbols hold where the server says so", () => {
  assert.ok(shared.ticketCodes.some(([, isOurs]) => isOurs) && shared.ticketCodes.some(([, isOurs]) => !isOurs));
  // Only a code of ours is read from small letters in groups.
  for (const [code, isOurs] of shared.ticketCodes) {
    const typed = code.toLowerCase().replace(/.{4}(?=.)/g, "$& ");
    assert.equal(meant(typed), isOurs ? code : typed, code);
  }
});

test("scanned texts mean whom the server finds", async () => {
  const { people, blocked, scans } = read("./scans.json");
  const list = new List(await Store.open("scans"));
  const changes = [
    ...people.map(([id, codes, noTicket]) => ({ action: "upsert", type: "delegate", id, data: { name: `No. ${id}`, codes, noTicket } })),
    ...blocked.map((code, id) => ({ action: "upsert", type: "blocked-code", id, data: { code, reason: "lost" } })),
  ];
  await list.apply(changes, { cursor: "a", serverTime: 1 });
  for (const [pattern, scanned, expected, likely] of scans) {
    list.scanPattern = pattern ?? undefined;
    const code = list.read(scanned);
    const why = list.blockedReason(scanned) ? "blocked" : list.isShared(scanned) ? "several" : null;
    const about = JSON.stringify([pattern, scanned]);
    assert.deepEqual(list.find(code)?.id ?? why, expected, about);
    assert.equal(list.isKnown(scanned), expected !== null, about);
    // A code that nobody has goes to the server as it was scanned.
    if (expected === null) assert.deepEqual([code, list.newCode(scanned)], [scanned, likely], about);
  }
});

test("scans leave people inside or outside as the server counts them", async () => {
  const list = new List(await Store.open("shared"), () => 1000);
  const ada = { name: "Ada", codes: ["T-1"], inside: false, entries: 0 };
  await list.apply([{ action: "upsert", type: "delegate", id: 1, data: ada }], { cursor: "a", serverTime: 0, place: { id: 5, name: "Hall", available: true, rules: {}, rooms: [] } });
  for (const [scans, isInside, entries] of read("./presence.json")) {
    const waiting = scans.map((kind, at) => ({ passage: kind === "check-in" ? "in" : "out", at: at + 1, delegate: 1, place: 5 }));
    const after = list.withWaiting(list.find("T-1"), waiting);
    assert.deepEqual([after.inside, after.entries], [isInside, entries], String(scans));
  }
});
