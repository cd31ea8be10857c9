// Refusals of different kinds differ in symbol, word and sound, whoever decided them.

import "fake-indexeddb/auto";
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { Gate } from "../../assets/gate/core/gate.js";
import { List } from "../../assets/gate/core/list.js";
import { Queue } from "../../assets/gate/core/queue.js";
import { Store } from "../../assets/gate/io/store.js";
import { LANGUAGES, hasText, setLanguage, t as words, t } from "../../assets/gate/core/texts.js";
import { KINDS, REFUSALS, verdictOf, whyOf } from "../../assets/gate/core/verdicts.js";

const read = (name) => readFileSync(new URL(`../../assets/gate/${name}`, import.meta.url), "utf8");
const NOW = Date.UTC(2026, 10, 21, 9, 0);
let names = 0;

/** A gate at a place with these rules; with `answer` the server refuses so, without it is offline. */
async function gate(t, place = {}, answer = undefined) {
  const store = await Store.open(`refusal-${(names += 1)}`);
  const server = { online: Boolean(answer), now: () => NOW, request: async () => answer };
  const list = new List(store, () => NOW);
  const queue = new Queue(store);
  t.after(() => queue.close());
  const data = { name: "Ada Lovelace", codes: ["T-1"], category: "Visitor", ...place.person };
  await list.apply([
    { action: "upsert", type: "delegate", id: 1, data },
    { action: "upsert", type: "blocked-code", id: 2, data: { code: "LOST", reason: "reported lost" } },
  ], { cursor: "a", serverTime: NOW, place: { id: 10, name: "Hall", available: true, rules: {}, rooms: [], ...place.here } });
  return new Gate(server, list, queue, { gate: { policy: place.policy ?? "admit", timeZone: "UTC" } }, { mode: place.mode ?? "in", place: { id: 10, name: "Hall" } });
}

const refusal = (internalCode, message = "no") => ({ status: internalCode === 1301 ? 404 : 412, data: {}, meta: {}, error: { code: 412, internalCode, message } });

const HOUR = 3_600_000;
const CASES = {
  used: { here: { rules: { entry: "single" } }, person: { inside: true, lastIn: NOW - HOUR, entries: 1 } },
  registration: { here: { rules: { ruleSet: "simple" } } },
  early: { here: { startAt: NOW + HOUR, rules: { opensBefore: 10 } } },
  late: { here: { endAt: NOW - HOUR, rules: { closesAfter: 10 } } },
  full: { here: { rooms: [{ id: 10, name: "Hall", capacity: 1, inside: 1 }] } },
  type: { here: { rules: { types: ["Crew"] } } },
  closed: { here: { available: false } },
  absent: { mode: "out", here: { rules: { entry: "single" } } },
  offline: { policy: "hold" },
};

test("what the gate decides alone has its kind", async (t) => {
  for (const [why, place] of Object.entries(CASES)) {
    const { shown } = await (await gate(t, place)).pass({ code: "T-1" });
    assert.deepEqual([shown.kind, shown.why], ["stop", why]);
  }
  const app = await gate(t);
  assert.deepEqual((await app.pass({ code: "NEW" })).shown.why, "unknown");
  assert.deepEqual((await app.pass({ code: "LOST" })).shown.why, "blocked");
});

test("a code counts however its scanner sends it, offline and to the server", async (t) => {
  const offline = await gate(t);
  offline.list.scanPattern = "https://tickets.example/c/(*)";
  for (const code of ["]Q1t-1\r\n", "https://tickets.example/c/T-1?utm=1"]) {
    const { passed, scan } = await offline.pass({ code });
    assert.deepEqual([passed, scan.code, scan.delegate], [true, "T-1", 1]);
  }
  assert.deepEqual((await offline.pass({ code: "]Q1lost " })).shown.why, "blocked");
  const online = await gate(t, {}, { status: 201, data: { id: 7 }, meta: {} });
  const sent = [];
  const { request } = online.server;
  online.server.request = (method, path, { body }) => sent.push(body.delegate ?? body.firstDelegate) && request();
  await online.pass({ code: "]Q1t-1" });
  // What the list does not know goes as it was scanned: the server looks at the exact text first.
  await online.pass({ code: "]Q1new\r\n" });
  assert.deepEqual(sent, ["scan:T-1", "scan:]Q1new\r\n"]);
  assert.equal(online.list.newCode("]Q1new\r\n"), "new");
});

test("a code that more than one person has in other case is nobody's, and says so", async (t) => {
  const app = await gate(t);
  const twin = (id, code) => ({ action: "upsert", type: "delegate", id, data: { name: code, codes: [code] } });
  await app.list.apply([twin(5, "aBc9"), twin(6, "AbC9")], { cursor: "b", serverTime: NOW });
  const { passed, shown } = await app.pass({ code: "ABC9" });
  assert.deepEqual([passed, shown.why, shown.reason], [false, "unknown", words("verdict.shared", { code: "ABC9" })]);
  assert.equal((await app.pass({ code: "AbC9" })).person.id, 6);
});

test("what the server refuses has the same kind, in detail where the list agrees", async (t) => {
  const codes = { used: 740, registration: 741, early: 742, late: 742, closed: 743, full: 744, absent: 745, type: 746 };
  for (const [why, code] of Object.entries(codes)) {
    const { shown } = await (await gate(t, CASES[why], refusal(code, "in its words"))).pass({ code: "T-1" });
    assert.deepEqual([shown.why, shown.reason], [why, "in its words"]);
  }
  const why = async (code, scanned = "T-1") => (await (await gate(t, {}, refusal(code))).pass({ code: scanned })).shown.why;
  // The list does not know yet why.
  assert.deepEqual([await why(742), await why(740), await why(1202)], ["time", "used", "other"]);
  assert.deepEqual([await why(1301, "NEW"), await why(1301, "LOST")], ["unknown", "blocked"]);
});

test("in German the server's refusals are told in German, by the list or by the code", async (context) => {
  setLanguage("de");
  context.after(() => setLanguage("en"));
  const told = async (why, code, scanned = "T-1") => {
    const { word, reason, more } = (await (await gate(context, CASES[why], refusal(code, "in its words"))).pass({ code: scanned })).shown;
    return [word, reason, more];
  };
  assert.deepEqual(await told("used", 740), ["Schon benutzt", "Schon benutzt: Hall, um 08:00", []]);
  assert.deepEqual(await told("early", 742), ["Noch nicht", "Hall öffnet um 09:50", []]);
  assert.deepEqual(await told("full", 744), ["Voll", "Hall ist voll: 1 von 1 drinnen", []]);
  // The list knows no reason yet.
  assert.deepEqual(await told("", 740), ["Schon benutzt", LANGUAGES.de["code.740"], ["in its words"]]);
  assert.deepEqual(await told("", 1301, "NEW"), ["Code unbekannt", "Diesen Code hat niemand: NEW", []]);
  assert.deepEqual(await told("", 1301, "LOST"), ["Gesperrt", "Dieses Badge ist gesperrt: als verloren gemeldet", []]);
  assert.deepEqual(await told("", 1599), ["Nicht möglich", "in its words", []]);
  const used = { ...CASES.used, person: { inside: true, lastIn: NOW - 24 * HOUR, entries: 1 } };
  const alone = await (await gate(context, used)).pass({ code: "T-1" });
  assert.equal(alone.shown.reason, "Schon benutzt: Hall, um 09:00 am 20.11.");
});

test("each kind has a word, and a symbol and a colour that no other outcome has", () => {
  const whys = Object.keys(REFUSALS);
  const kinds = Object.keys(KINDS);
  const rows = { ...KINDS, ...REFUSALS };
  for (const [name, { word }] of Object.entries(rows)) assert.ok(hasText(word), name);
  assert.equal(new Set(Object.values(rows).map(({ word }) => t(word))).size, kinds.length + whys.length);
  const symbols = whys.map((why) => verdictOf({ kind: "stop", why }).symbol);
  const [page, style, tokens] = ["index.html", "style.css", "tokens.css"].map(read);
  for (const { symbol, colour } of Object.values(rows)) {
    assert.ok(page.includes(`<symbol id="${symbol}"`), symbol);
    assert.ok(colour === "go" || style.includes(`.verdict.${colour} { --back: var(--${colour});`), colour);
    assert.ok(tokens.includes(`--${colour}: #`), colour);
  }
  // Of the clock there are three words.
  assert.equal(new Set(symbols).size, whys.length - 2);
  for (const kind of ["good", "out", "look"]) assert.ok(!symbols.includes(verdictOf({ kind }).symbol), kind);
  // What asks something else of a steward sounds and feels otherwise.
  const told = (of) => new Set(Object.values(rows).map((row) => JSON.stringify(row[of])));
  // The same are three of the clock, three of the place, and four that only stop; who comes and who goes feels the same.
  assert.equal(told("tones").size, Object.keys(rows).length - 7);
  assert.equal(told("pulse").size, Object.keys(rows).length - 8);
  assert.deepEqual([rows.early.tones, rows.late.tones, rows.registration.tones, rows.absent.tones], [rows.time.tones, rows.time.tones, rows.type.tones, rows.stop.tones]);
  assert.equal(whyOf(740, { key: "nobodyMay" }), "closed");
});
