// The list: pages of the feed, codes, names, and scans that wait.

import "fake-indexeddb/auto";
import assert from "node:assert/strict";
import { test } from "node:test";
import { judge } from "../../assets/gate/core/judge.js";
import { List } from "../../assets/gate/core/list.js";
import { Store } from "../../assets/gate/io/store.js";

const PLACE = { id: 10, name: "Gate B", available: true, rules: { entry: "single" }, rooms: [{ id: 10, name: "Gate B", capacity: 2, inside: 1 }, { id: 2, name: "Hall", capacity: 9, inside: 4 }], inside: 1, arrived: 1 };
const person = (id, name, more = {}) => ({ action: "upsert", type: "delegate", id, data: { id, name, codes: [`T-${id}`], ...more } });
let names = 0;
const fresh = async () => {
  const store = await Store.open(`list-${(names += 1)}`);
  return { store, list: new List(store) };
};

test("a snapshot of several pages is complete with its last, and survives a restart", async () => {
  const { store, list } = await fresh();
  await list.apply([person(1, "Ada Lovelace")], { cursor: "a", more: true, serverTime: 5, place: PLACE });
  assert.equal(list.complete, false);
  const blocked = { action: "upsert", type: "blocked-code", id: 3, data: { code: "L-1", reason: "reported lost" } };
  await list.apply([person(2, "Zoë Groß"), blocked], { cursor: "b", more: false, serverTime: 6, place: PLACE });
  assert.equal(list.complete, true);
  const again = new List(store);
  await again.load();
  assert.deepEqual([again.cursor, again.complete, again.at, again.place.name], ["b", true, 6, "Gate B"]);
  assert.equal(again.find("T-2").name, "Zoë Groß");
  assert.equal(again.blockedReason("L-1"), "reported lost");
});

test("codes follow their attendee, and go with them", async () => {
  const { list } = await fresh();
  await list.apply([person(1, "Ada", { codes: ["A", "B"] })], { cursor: "a", serverTime: 1 });
  await list.apply([person(1, "Ada", { codes: ["B", "C"] }), person(2, "Bob", { codes: ["A"] })], { cursor: "b", serverTime: 2 });
  assert.deepEqual(["A", "B", "C"].map((code) => list.find(code)?.id), [2, 1, 1]);
  await list.apply([{ action: "delete", type: "delegate", id: 1 }], { cursor: "c", serverTime: 3 });
  assert.deepEqual(["A", "B", "C"].map((code) => list.find(code)?.id), [2, undefined, undefined]);
});

test("after a reset the old list serves until the new one is complete", async () => {
  const { store, list } = await fresh();
  await list.apply([person(1, "Ada"), person(2, "Bob")], { cursor: "a", serverTime: 1, place: PLACE });
  await list.apply([{ action: "reset" }], { cursor: "r", more: true, serverTime: 2 });
  assert.equal(list.find("T-1").name, "Ada");
  // A restart in the middle of the new snapshot forgets nothing.
  const again = new List(store);
  await again.load();
  await again.apply([person(2, "Bob again")], { cursor: "s", more: false, serverTime: 3 });
  assert.equal(again.find("T-1"), undefined);
  assert.equal(again.find("T-2").name, "Bob again");
  assert.equal((await store.all("people")).length, 1);
});

test("search folds names, wants three letters and gives eight hits at most", async () => {
  const { list } = await fresh();
  const many = Array.from({ length: 20 }, (_, i) => person(i + 10, `Jürgen Groß ${i}`));
  await list.apply([person(1, "Zoë Ångström"), ...many], { cursor: "a", serverTime: 1 });
  assert.deepEqual(list.search("zoe ang").map(({ id }) => id), [1]);
  assert.equal(list.search("GROSS").length, 8);
  assert.equal(list.search("zo").length, 0);
});

test("search finds companies and codes, and whoever has the code comes first", async () => {
  const { list } = await fresh();
  await list.apply([person(1, "Ada Nord"), person(2, "Bob", { company: "Nordwind Ø" }), person(3, "Eve", { codes: ["nord"] })], { cursor: "a", serverTime: 1 });
  assert.deepEqual(list.search("nord").map(({ id }) => id), [3, 1, 2]);
  assert.deepEqual(list.search("NORDWIND o").map(({ id }) => id), [2]);
  await list.apply([{ action: "delete", type: "delegate", id: 2 }], { cursor: "b", serverTime: 2 });
  assert.deepEqual(list.search("nordwind"), []);
});

test("scans that wait count in facts and numbers", async () => {
  const { list } = await fresh();
  await list.apply([person(1, "Ada", { joined: true }), person(2, "Bob", { inside: true, lastIn: 5, entries: 1, rooms: [10, 2] })], { cursor: "a", serverTime: 1, place: PLACE });
  const [ada, bob] = [list.find("T-1"), list.find("T-2")];
  const entered = { passage: "in", at: 100, delegate: 1, place: 10 };
  const left = { passage: "out", at: 200, delegate: 2, place: 10 };
  assert.deepEqual(list.facts(ada, "in", 150, []).rooms.map(({ inside }) => inside), [1, 4]);
  const facts = list.facts(ada, "in", 150, [entered]);
  assert.deepEqual([facts.lastIn, facts.inside, facts.entries, facts.rooms], [100, true, 1, []]);
  assert.deepEqual([...list.counts([entered]).values()], [2, 5, 2]);
  assert.deepEqual([...list.counts([entered, left]).values()], [1, 4, 1]);
  assert.deepEqual(list.facts(bob, "in", 250, [left]).rooms.map(({ name }) => name), ["Gate B", "Hall"]);
  // The same person twice is one person.
  assert.deepEqual([...list.counts([entered, { ...entered, at: 120 }]).values()], [2, 5, 2]);
  await list.record(entered);
  assert.deepEqual([list.place.inside, list.place.rooms[1].inside], [2, 5]);
  const { arrived, expected } = list.arrivals([]);
  assert.deepEqual([arrived, expected], [2, 2]);
  assert.deepEqual([...list.counts([]).values()], [2, 5, 2]);
});

test("who leaves a room leaves the places above it, unless they are there by another check-in", async () => {
  const { list } = await fresh();
  const place = { ...PLACE, rules: {}, inside: 2, rooms: [{ id: 2, name: "Event", capacity: 2, inside: 2 }] };
  const stay = { inside: true, lastIn: 5, entries: 1, rooms: [2] };
  const people = [person(1, "Ada", stay), person(2, "Bob", { ...stay, elsewhere: [2] }), person(3, "Cy")];
  await list.apply(people, { cursor: "a", serverTime: 9, place });
  const scan = (passage, delegate, at) => ({ passage, delegate, at, place: 10 });
  const judged = (waiting) => judge(list.facts(list.find("T-3"), "in", 300, waiting)).code;
  assert.deepEqual([judged([]), judged([scan("out", 2, 100)])], [744, 744]);
  const left = [scan("out", 1, 100)];
  assert.deepEqual([judged(left), list.counts(left).get(2)], [0, 1]);
  const again = [...left, scan("in", 1, 150)];
  assert.deepEqual([judged(again), list.counts(again).get(2)], [744, 2]);
  assert.equal(judged([...again, scan("out", 1, 200)]), 0);
  await list.record(left[0]);
  assert.deepEqual([judged([]), list.place.rooms[0].inside], [0, 1]);
});

test("who arrived while the gate is offline is counted, once", async () => {
  const { list } = await fresh();
  await list.apply([person(1, "Ada", { entries: 1 }), person(2, "Bob"), person(3, "Cleo")], { cursor: "a", serverTime: 1, place: PLACE });
  const scans = [1, 2, 2, 9].map((delegate, i) => ({ passage: "in", at: 100 + i, delegate, place: 10 }));
  assert.equal(list.arrivals(scans).arrived, 2);
  assert.equal(list.arrivals([{ ...scans[1], place: 11 }, { ...scans[1], passage: "out" }]).arrived, 1);
  // Who checked in at a session is inside the hall, and no entry of the hall says so.
  await list.apply([], { cursor: "b", serverTime: 2, place: { ...PLACE, hasPlacesBelow: true } });
  assert.equal(list.arrivals(scans), undefined);
});

test("where stays end with the day, nobody is inside from before it", async () => {
  const { list } = await fresh();
  const hour = 3_600_000;
  const [yesterday, today, tomorrow] = [-20 * hour, 0, 24 * hour];
  const rooms = [{ id: 10, name: "Gate B", capacity: 2, inside: 2, daily: true }, { id: 2, name: "Fair", capacity: 9, inside: 4, daily: false }];
  const place = { ...PLACE, rules: { entry: "daily" }, rooms, inside: 2, daily: true, days: [-24 * hour, today, tomorrow] };
  const stay = { inside: true, entries: 1, dayEntries: 1, rooms: [10, 2] };
  await list.apply(
    [person(1, "Ada", { ...stay, lastIn: yesterday, since: yesterday }), person(2, "Bob", { ...stay, lastIn: hour, since: hour }), person(3, "Cleo", { insideBefore: true })],
    { cursor: "a", serverTime: 2 * hour, place },
  );
  const [ada, bob, cleo] = [1, 2, 3].map((id) => list.people.get(id));
  const at = (who, time, waiting = []) => {
    const { inside, entries, dayEntries, rooms } = list.facts(who, "in", time, waiting);
    return [list.withWaiting(who, waiting, time).inside ?? false, inside, entries, dayEntries, rooms.map(({ id, inside }) => `${id}:${inside}`).join()];
  };
  // Ada is of the day before: she may leave, and is counted again where she comes back.
  assert.deepEqual(at(ada, 3 * hour), [false, true, 1, 1, "10:2"]);
  assert.deepEqual(at(bob, 3 * hour), [true, true, 1, 1, ""]);
  assert.equal(list.facts(cleo, "out", 3 * hour, []).inside, true);
  const again = { passage: "in", at: 4 * hour, delegate: 1, place: 10 };
  assert.deepEqual(at(ada, 5 * hour, [again]), [true, true, 2, 1, ""]);
  assert.deepEqual(at(bob, 5 * hour, [{ ...again, delegate: 2 }]), [true, true, 2, 2, ""]);
  assert.equal(list.counts([again], 5 * hour).get(10), 3);
  // While the gate is offline the next day begins: the place is empty, the fair is as it was.
  assert.deepEqual(at(bob, 25 * hour), [false, true, 1, 1, "10:0"]);
  assert.deepEqual([...list.counts([again], 25 * hour).values()], [0, 4, 0]);
  const next = { ...again, at: 26 * hour, delegate: 2 };
  assert.deepEqual([...list.counts([next], 26 * hour).values()], [1, 4, 1]);
  const left = { ...again, at: 3 * hour, passage: "out" };
  assert.equal(list.facts(ada, "out", 3 * hour, [left]).inside, false);
});

test("a booking is its parent and everybody who names them, kept in step with the list", async () => {
  const { store, list } = await fresh();
  const children = Array.from({ length: 200 }, (_, i) => person(i + 100, `Child ${i}`, { parent: 7 }));
  await list.apply([...children, person(7, "School"), person(8, "Alone")], { cursor: "a", serverTime: 1, place: PLACE });
  assert.deepEqual([list.booking(list.find("T-7")).length, list.booking(list.find("T-150"))[0].name], [201, "School"]);
  assert.deepEqual(list.booking(list.find("T-8")).map(({ id }) => id), [8]);
  await list.apply([person(150, "Child 50", { parent: 8 }), { action: "delete", type: "delegate", id: 151 }], { cursor: "b", serverTime: 2 });
  const again = new List(store);
  await again.load();
  for (const one of [list, again]) {
    assert.equal(one.booking(one.find("T-100")).length, 199);
    assert.deepEqual(one.booking(one.find("T-150")).map(({ id }) => id), [8, 150]);
  }
  // Where the list does not have the parent, the others are still a booking.
  await list.apply([{ action: "delete", type: "delegate", id: 7 }], { cursor: "c", serverTime: 3 });
  assert.equal(list.booking(list.find("T-100")).length, 198);
});

test("a list of 100,000 is looked up in no time", async () => {
  const list = new List({ write: async () => true });
  const all = Array.from({ length: 100_000 }, (_, i) => person(i, `Person Number${i}`));
  list.apply(all, { cursor: "a", serverTime: 1, place: PLACE });
  assert.equal(list.search("number99999").length, 1);
  const start = performance.now();
  for (let i = 0; i < 10_000; i += 1) list.facts(list.find(`T-${i * 10}`), "in", 1, []);
  assert.ok(performance.now() - start < 2000, `${performance.now() - start} ms for 10,000 codes`);
});

test("a code is read as it is, or as one of ours that was typed as it is shown", async () => {
  const { list } = await fresh();
  const blocked = { action: "upsert", type: "blocked-code", id: 3, data: { code: "w003 csce6r79q83s", reason: "lost" } };
  const imported = person(1, "Ada", { codes: ["w001 pj9s vnyn d6g2", "ab 12"] });
  for (const code of ["W002NSDDW1KWCNYY", "W002 NSDD W1KW CNYY", "w002nsddw1kwcnyy"]) assert.equal(list.read(code), "W002NSDDW1KWCNYY");
  assert.equal(list.read("t1h26 0110 1234 5678 zvp"), "T1H26011012345678ZVP");
  // A wrong symbol, two that changed places, and what others made.
  for (const code of ["W002 NSDD W1KW CNYX", "W002 NSDD W1KW CYNY", "a1b2 c3d4 e5f6 0718", "t-1", "", "\ud800"]) assert.equal(list.read(code), code);
  await list.apply([imported, blocked], { cursor: "a", serverTime: 1 });
  for (const code of ["w001 pj9s vnyn d6g2", "ab 12", "w003 csce6r79q83s"]) assert.equal(list.read(code), code);
});

test("a gate that was revoked keeps no list, in memory or on the device", async () => {
  const { store, list } = await fresh();
  const blocked = { action: "upsert", type: "blocked-code", id: 3, data: { code: "L-1", reason: "reported lost" } };
  await list.apply([person(1, "Ada Lovelace"), blocked], { cursor: "a", more: false, serverTime: 5, place: PLACE });
  await list.clear();
  const again = new List(store);
  await again.load();
  for (const known of [list, again]) {
    assert.deepEqual([known.people.size, known.find("T-1"), known.search("ada"), known.blockedReason("L-1")], [0, undefined, [], undefined]);
    assert.deepEqual([known.cursor, known.complete, known.place], [undefined, false, undefined]);
  }
  assert.deepEqual([await store.all("people"), await store.all("blocked")], [[], []]);
});

test("a server that says revoked (1204) is heard, at the sign-in and after it", async (t) => {
  const { Server } = await import("../../assets/gate/io/server.js");
  const fetched = globalThis.fetch;
  t.after(() => (globalThis.fetch = fetched));
  const headers = new Headers();
  const revoked = { ok: false, status: 401, headers, json: async () => ({ meta: { error: { code: 401, message: "revoked", internalCode: 1204 } } }) };
  const token = { ok: true, status: 200, headers, json: async () => ({ access_token: "t", expires_in: 3600 }) };
  const denied = { ok: false, status: 401, headers, json: async () => ({ error: "invalid_client", internalCode: 1204 }) };
  for (const answers of [{ token: denied }, { token, api: revoked }]) {
    const server = new Server();
    server.credentials = { clientId: "c", clientSecret: "s" };
    let told = 0;
    server.onRevoked = () => (told += 1);
    // @ts-ignore
    globalThis.fetch = async (url) => (String(url).endsWith("/token") ? answers.token : answers.api);
    await assert.rejects(server.request("GET", "/gate"));
    assert.equal(told, 1);
  }
});

const HALL = { id: 5, name: "Hall", available: true, rules: { entry: "single" }, rooms: [{ id: 5, name: "Hall", capacity: 9, inside: 0 }], inside: 0, hasPlacesBelow: false, doors: [{ id: 7, name: "North" }, { id: 8, name: "South" }] };
const atDoor = (id, name) => ({ ...HALL, id, name: `Hall, ${name}`, doorOf: { id: 5, name: "Hall" }, door: { available: true, rules: {} } });
const scanAt = (place, passage = "in") => ({ nonce: String(place), seq: place, delegate: 1, passage, at: 100 + place, place, admitted: true });

test("what waits of one door counts at every other and at the hall", async () => {
  const { list } = await fresh();
  await list.apply([person(1, "Ada"), person(2, "Bob")], { cursor: "a", serverTime: 1, place: atDoor(7, "North") });
  assert.equal(judge(list.facts(list.find("T-1"), "in", 200, [])).code, 0);
  // Moved from North to South, and to the hall, before the scan was uploaded.
  for (const place of [atDoor(8, "South"), HALL]) {
    await list.clear();
    await list.apply([person(1, "Ada"), person(2, "Bob")], { cursor: "b", serverTime: 2, place });
    const verdict = judge(list.facts(list.find("T-1"), "in", 200, [scanAt(7)]));
    assert.deepEqual([verdict.key, verdict.params.place], ["alreadyUsed", "Hall, North"]);
    assert.deepEqual([list.counts([scanAt(7)]).get(0), list.counts([scanAt(7)]).get(5)], [1, 1]);
    assert.equal(list.arrivals([scanAt(7)]).arrived, 1);
    assert.equal(judge(list.facts(list.find("T-1"), "out", 200, [scanAt(7)])).code, 0);
    // Out by South, and in again.
    assert.equal(judge(list.facts(list.find("T-1"), "in", 300, [scanAt(7), scanAt(8, "out")])).code, 0);
  }
  // Another hall's scans count for nothing.
  assert.equal(judge(list.facts(list.find("T-1"), "in", 200, [scanAt(9)])).code, 0);
  await list.record(scanAt(7));
  assert.deepEqual([list.find("T-1").lastDoor, list.find("T-1").inside, list.place.inside], ["North", true, 1]);
});

test("a door narrows what its place allows", async () => {
  const { list } = await fresh();
  const place = { ...atDoor(7, "North"), door: { available: false, rules: {} } };
  await list.apply([person(1, "Ada")], { cursor: "a", serverTime: 1, place });
  const { key, params } = judge(list.facts(list.find("T-1"), "in", 200, []));
  assert.deepEqual([key, params.place], ["notAvailable", "Hall, North"]);
  assert.equal(judge(list.facts({ ...list.find("T-1"), inside: true }, "out", 200, [])).code, 0);
});

test("everybody leaves at the moment though the server is away, and crew stays", async () => {
  let now = 1000;
  const store = await Store.open(`list-${(names += 1)}`);
  const list = new List(store, () => now);
  const place = { ...PLACE, inside: 3, rooms: [{ ...PLACE.rooms[0], inside: 3 }, { ...PLACE.rooms[1], inside: 4 }] };
  const everybodyOut = [{ rooms: [10], at: [1500, 2500], except: ["CREW"] }];
  const inside = { lastIn: 900, inside: true, rooms: [10, 2], entries: 1 };
  const all = [person(1, "Ada", inside), person(2, "Bob", inside), person(3, "Cem", { ...inside, category: "Crew" }), person(4, "Dee")];
  await list.apply(all, { cursor: "a", serverTime: 950, place: { ...place, everybodyOut } });
  const [ada, crew, dee] = ["T-1", "T-3", "T-4"].map((code) => list.find(code));
  const waiting = [{ passage: "in", at: 1400, delegate: 4, place: 10 }];
  assert.equal(judge(list.facts(ada, "in", now, waiting)).code, 740);
  assert.deepEqual([...list.counts(waiting).values()], [4, 5, 4]);
  now = 1500;
  assert.equal(judge(list.facts(ada, "in", now, waiting)).code, 0);
  assert.equal(judge(list.facts(dee, "in", now, waiting)).code, 0);
  assert.equal(judge(list.facts(crew, "in", now, waiting)).code, 740);
  assert.deepEqual([...list.counts(waiting).values()], [1, 2, 1]);
  const again = { passage: "in", at: 1600, delegate: 1, place: 10 };
  now = 1700;
  assert.equal(judge(list.facts(ada, "in", now, [...waiting, again])).code, 740);
  assert.deepEqual([...list.counts([...waiting, again]).values()], [2, 3, 2]);
  // What the server tells after the moment holds, such as somebody whom it let stay.
  await list.apply([person(1, "Ada", inside)], { cursor: "b", serverTime: 1650, place: { ...place, inside: 2, everybodyOut } });
  assert.equal(judge(list.facts(list.find("T-1"), "in", now, [])).code, 740);
  assert.equal(list.counts([]).get(0), 2);
  now = 2500;
  assert.equal(judge(list.facts(list.find("T-1"), "in", now, [])).code, 0);
});

test("who was inside until a day began leaves nobody's count when everybody leaves", async () => {
  let now = 3100;
  const list = new List(await Store.open(`list-${(names += 1)}`), () => now);
  const stay = { inside: true, rooms: [10], entries: 1 };
  const all = [person(1, "Ada", { ...stay, lastIn: 900, since: 900 }), person(2, "Bob", { ...stay, lastIn: 3050, since: 3050 })];
  const rooms = [{ ...PLACE.rooms[0], capacity: 9, inside: 3, daily: true }];
  const everybodyOut = [{ rooms: [10], at: [3500], except: [] }];
  const place = { ...PLACE, rules: { entry: "daily" }, rooms, inside: 3, daily: true, days: [500, 3000], everybodyOut };
  await list.apply(all, { cursor: "a", serverTime: 3100, place });
  now = 3600;
  // Ada is in no count since the day began, and Bob is one.
  assert.deepEqual([...list.counts([]).values()], [2, 2]);
  assert.equal(judge(list.facts(list.find("T-1"), "out", now, [])).code, 0);
  assert.equal(judge(list.facts(list.find("T-2"), "out", now, [])).code, 745);
  assert.equal(judge(list.facts(list.find("T-2"), "in", now, [])).code, 0);
});

test("who moved on to another room may still be checked out", async () => {
  const { list } = await fresh();
  await list.apply([person(1, "Ada", { lastIn: 100, movedOn: true, entries: 1 })], { cursor: "a", serverTime: 150, place: PLACE });
  const ada = list.find("T-1");
  assert.equal(judge(list.facts(ada, "out", 200, [])).code, 0);
  assert.equal(judge(list.facts(ada, "in", 200, [])).code, 740);
  const out = { passage: "out", at: 200, delegate: 1, place: 10 };
  assert.equal(judge(list.facts(ada, "out", 250, [out])).code, 745);
  assert.equal(list.counts([out]).get(0), 1);
});

test("who is inside is known with scans that wait: people at places below, and without those who left", async () => {
  const { list } = await fresh();
  const inside = { inside: true, lastIn: 1, since: 1 };
  await list.apply([person(1, "Ada", inside), person(2, "Béa Müller", { ...inside, at: "Stage" }), person(3, "Cy"), person(4, "Dee", inside)], { cursor: "a", serverTime: 9, place: PLACE });
  const scan = (passage, delegate) => ({ passage, delegate, at: 20, place: 10 });
  const waiting = [scan("out", 4), scan("in", 3), scan("in", 2)];
  assert.deepEqual(list.inside([]).map(({ id, at }) => [id, at]), [[1, undefined], [2, "Stage"], [4, undefined]]);
  // At the gate they came back from the place below.
  assert.deepEqual(list.inside(waiting).map(({ id, at, since }) => [id, at, since]), [[1, undefined, 1], [2, undefined, 20], [3, undefined, 20]]);
  assert.ok(list.textOf(2).includes(" muller") && list.textOf(99) === "");
});
