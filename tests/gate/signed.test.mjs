// Signed tickets at a gate that cannot reach the server; signed.json is written by a test of the server.

import "fake-indexeddb/auto";
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { Gate } from "../../assets/gate/core/gate.js";
import { List } from "../../assets/gate/core/list.js";
import { body, Queue } from "../../assets/gate/core/queue.js";
import { isForDay } from "../../assets/gate/core/signed.js";
import { Store } from "../../assets/gate/io/store.js";

const { tickets, now, people, blocked, cases } = JSON.parse(readFileSync(new URL("./signed.json", import.meta.url), "utf8"));
const PLACE = { id: 5, name: "Hall", available: true, rules: { entry: "single" }, rooms: [] };
const ticketOf = (what) => cases.find(([known]) => known === what)[1];

const upsert = ([id, code]) => ({ action: "upsert", type: "delegate", id, data: { name: `No. ${id}`, codes: [code] } });

async function listOf(name, place = PLACE) {
  const list = new List(await Store.open(name), () => now);
  const lost = blocked.map((code, id) => ({ action: "upsert", type: "blocked-code", id, data: { code, reason: "reported lost" } }));
  await list.apply([...lost, ...people.map(upsert)], { cursor: "a", serverTime: now, place });
  return list;
}

/** What the list makes of a scan, in the words of signed.json. */
function found(list, text) {
  const person = list.find(list.read(text));
  if (person) return person.id;
  if (list.blockedReason(text)) return "blocked";
  const ticket = list.ticket(text);
  if (ticket?.state !== "genuine") return ticket?.state ?? "unknown";
  return { type: ticket.type ?? null, isForToday: isForDay(ticket, now) };
}

test("signed tickets are what the server finds them to be, whenever a gate learns its keys", async () => {
  const [before, after] = [await listOf("signed-after"), new List(await Store.open("signed-before"), () => now)];
  before.useTickets(tickets);
  after.useTickets(tickets);
  await after.apply([...blocked.map((code, id) => ({ action: "upsert", type: "blocked-code", id, data: { code, reason: "reported lost" } })), ...people.map(upsert)], { cursor: "a", serverTime: now, place: PLACE });
  for (const list of [before, after]) {
    for (const [what, text, expected] of cases) assert.deepEqual(found(list, text), expected, what);
  }
});

test("without keys there are no signed tickets", async () => {
  const list = await listOf("signed-off");
  for (const [what, text, expected] of cases) {
    if (what !== "a code") assert.equal(found(list, text), "unknown", `${what} ${JSON.stringify(expected)}`);
  }
});

test("a ticket ends as the feed tells that its code was blocked, replaced or deleted", async () => {
  const list = await listOf("signed-feed");
  list.useTickets(tickets);
  const ada = ticketOf("a ticket");
  const tell = (...changes) => list.apply(changes, { cursor: "b", serverTime: now });
  assert.equal(found(list, ada), 1);
  // The block comes before the new code.
  await tell({ action: "upsert", type: "blocked-code", id: 9, data: { code: "ADA-1", reason: "reported lost" } }, upsert([1, "ADA-2"]));
  assert.equal(found(list, ada), "blocked");
  await tell({ action: "delete", type: "blocked-code", id: 9 });
  assert.equal(found(list, ada), "cancelled");
  await tell(upsert([1, "ADA-1"]));
  assert.equal(found(list, ada), 1);
  await tell({ action: "delete", type: "delegate", id: 1 });
  assert.equal(found(list, ada), "cancelled");
  await tell(upsert([7, "ADA-1"]));
  assert.equal(found(list, ada), 7);
});

async function gateOf(name, { policy = "admit", place = PLACE } = {}) {
  const list = await listOf(name, place);
  list.useTickets(tickets);
  const queue = new Queue(await Store.open(`${name}-queue`));
  const server = { online: false, now: () => now };
  const gate = new Gate(server, list, queue, { gate: { policy, timeZone: "UTC" } }, { mode: "in", place: { id: 5, name: "Hall" } });
  return { gate, list, queue };
}

test("a genuine ticket that is not in the list lets somebody in once, as the policy has it", async () => {
  const late = ticketOf("not in the list, today");
  const { gate, queue } = await gateOf("signed-admit");
  const first = await gate.pass({ code: ` ${late.toLowerCase()}\r\n` });
  assert.deepEqual([first.passed, first.shown.kind, first.shown.name, first.shown.category], [true, "look", "Signed ticket", "Visitor"]);
  assert.ok(first.shown.more.includes("a genuine ticket, but not in the list"), String(first.shown.more));
  const { delegate, admitted } = body(queue.waiting[0]);
  assert.deepEqual([delegate, admitted], [`scan:${late}`, true]);
  const second = await gate.pass({ code: late });
  assert.deepEqual([second.passed, second.shown.why, queue.waiting.length], [false, "used", 1]);
  queue.close();

  for (const policy of ["joined-only", "hold"]) {
    const { gate: other, queue } = await gateOf(`signed-${policy}`, { policy });
    const refused = await other.pass({ code: late });
    assert.deepEqual([refused.passed, refused.shown.why, queue.waiting.length], [false, "offline", 0], policy);
    queue.close();
  }
});

test("the rules of the place hold for a genuine ticket that is not in the list", async () => {
  const refusals = [
    [{ ruleSet: "simple" }, "not in the list, today", "registration"],
    [{ types: ["Press"] }, "not in the list, today", "type"],
    [{ types: ["Visitor"] }, "not in the list, another type", "type"],
    [{}, "not in the list, the day before", "time"],
    [{}, "not in the list, the days around", "time"],
    [{}, "a retired key", "blocked"],
    [{}, "deleted", "blocked"],
    [{}, "blocked", "blocked"],
    [{}, "another symbol", "forged"],
    [{}, "a key of somebody else with our number", "forged"],
    [{}, "truncated", "unknown"],
  ];
  for (const [at, [rules, what, why]] of refusals.entries()) {
    const { gate, queue } = await gateOf(`signed-rules-${at}`, { place: { ...PLACE, rules } });
    const refused = await gate.pass({ code: ticketOf(what) });
    assert.deepEqual([refused.passed, refused.shown.why, queue.waiting.length], [false, why, 0], what);
    queue.close();
  }
  const { gate, queue } = await gateOf("signed-types", { place: { ...PLACE, rules: { types: ["Visitor"] } } });
  assert.equal((await gate.pass({ code: ticketOf("not in the list, any day") })).passed, true);
  queue.close();
});

test("a supervisor lets in whom the server does not know, and the server keeps the scan", async () => {
  const late = ticketOf("not in the list, today");
  const { gate, list, queue } = await gateOf("signed-override");
  const sent = [];
  gate.server = {
    online: true,
    now: () => now,
    request: async (method, path, { body }) => {
      sent.push([path, body.admitted]);
      const error = { internalCode: 1301, message: "a genuine ticket (Visitor, Saturday, 28 November), but not in the list" };
      return body.admitted ? { status: 201, data: { id: null }, meta: { unknown: true } } : { status: 404, error, meta: { error } };
    },
  };
  const refused = await gate.pass({ code: late });
  assert.deepEqual([refused.shown.why, refused.shown.reason, list.newCode(late)], ["unlisted", "a genuine ticket (Visitor, Saturday, 28 November), but not in the list", late]);
  const passed = await gate.override(refused, "bought an hour ago");
  assert.equal(passed.passed, true);
  assert.deepEqual(sent, [
    ["/interaction/new/check-in", undefined],
    ["/interaction/new/check-in-override", true],
  ]);
  queue.close();
});
