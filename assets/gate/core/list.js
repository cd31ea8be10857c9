// The list of attendees: a copy of the server's snapshot, in memory indexed by code and by folded
// texts, and in IndexedDB so that the gate starts without the server.

import { meant } from "./barcode.js";
import { find, indexed } from "./find.js";
import { foldType } from "./fold.js";
import { Codes, forms, meaningOf } from "./scanned.js";
import { Tickets, serialOf } from "./signed.js";

/**
 * @typedef {import("api").components["schemas"]} Schemas
 * @typedef {Schemas["GateDelegate"] & {g?: number}} Person `g`: the generation of the snapshot; the id of a walk-in that the server does not have is below zero
 * @typedef {Schemas["PlaceAtGate"] & {countedAt?: number}} Place `countedAt`: when this gate counted those inside last
 *
 * @typedef {{passage: "in"|"out", at: number, delegate?: number, place: number}} Passed
 * @typedef {{id: number, code: string, reason: string, g?: number}} Blocked
 * @typedef {{place?: Place, cursor?: string, complete: boolean, at: number, generation: number}} Head what is stored beside the people
 * @typedef {Schemas["GateChanges"][number]} FeedChange
 * @typedef {import("../io/server.js").Answer<"/gate/snapshot", "GET">["meta"]} FeedMeta
 */

const SEARCH_HITS = 8;

const DAY_MS = 86_400_000;

/**
 * When the day of an instant began; beyond the days that are known, they have 24 hours each.
 * @param {number[]|undefined} days in order @param {number} at Unix ms
 */
export function dayBegan(days, at) {
  const began = days?.findLast((day) => day <= at);
  if (began === undefined) return -Infinity;
  return began === days?.at(-1) ? began + Math.floor((at - began) / DAY_MS) * DAY_MS : began;
}

/**
 * Whether the server told of a scan already: it has the same time, to the second as it was sent.
 * @param {Person} person @param {Pick<Passed, "passage"|"at">} scan
 */
export function isTold({ lastIn, lastOut }, { passage, at }) {
  const last = passage === "in" ? lastIn : lastOut;
  return last === at || last === at - (at % 1000);
}

/** Whether a code is that of somebody's ticket. @param {Person} person @param {string} code */
const isTicket = ({ codes, noTicket }, code) => codes?.[0] === code && !noTicket;

export class List {
  /** @type {Map<number, Person>} */
  people = new Map();
  #codes = new Codes((id) => this.people.get(id)?.codes ?? []);
  /** What each is found by. @type {Map<number, string>} */
  #texts = new Map();
  /** Ids of those who name an attendee as their parent. @type {Map<number, Set<number>>} */
  #children = new Map();
  /** @type {Map<number, Blocked>} */
  #blocked = new Map();
  #blockedCodes = new Codes((id) => [this.#blocked.get(id)?.code ?? ""]);
  /** Barcodes by the serials of signed tickets, where there are any. @type {Map<number, string>} */
  #serials = new Map();
  /** As these, of blocked codes. @type {Map<number, string>} */
  #blockedSerials = new Map();
  /** Serials of barcodes that nobody has any more; the server tells them within seconds. @type {Set<number>} */
  #gone = new Set();
  #tickets = new Tickets();
  /** Which part of a scanned text is the code, by the server's settings. @type {string|undefined} */
  scanPattern;
  /** @type {Place|undefined} */
  place;
  /** @type {string|undefined} */
  cursor;
  /** Whether a snapshot was taken to its end. */
  complete = false;
  /** Unix ms, by the server's clock, of the last answer. */
  at = 0;
  /** Counts snapshots: what an older one left is dropped when the next is complete. */
  #generation = 1;
  /** Local ids. @type {Set<number>} */
  #walkIns = new Set();
  #arrivals = { arrived: 0, expected: 0, counted: 0 };
  /** Who left by the gate's own clock: for which moments, and how many of each room. */
  #leavers = { key: "", counts: /** @type {Map<number, number>} */ (new Map()) };
  #store;
  #now;

  /** @param {import("../io/store.js").Store} store @param {() => number} [now] the server's clock, Unix ms */
  constructor(store, now = Date.now) {
    this.#store = store;
    this.#now = now;
  }

  /** Reads what the store has. */
  async load() {
    const kept = await this.#store.get("list");
    if (!kept) return;
    ({ place: this.place, cursor: this.cursor, complete: this.complete, at: this.at } = kept);
    this.#generation = kept.generation;
    for (const person of await this.#store.all("people")) this.#put(person);
    for (const blocked of await this.#store.all("blocked")) this.#putBlocked(blocked);
  }

  /** Takes a page of changes, in memory at once. @param {FeedChange[]} changes @param {FeedMeta} meta */
  async apply(changes, meta) {
    /** @type {import("../io/store.js").Change[]} */
    const writes = [];
    for (const { action, type, id = 0, data } of changes) {
      if (action === "reset") {
        this.restart();
      } else if (type === "delegate" && action === "upsert") {
        /** @type {Person} */
        const person = { ...data, id, g: this.#generation };
        this.#put(person);
        writes.push(["people", "put", person]);
      } else if (type === "delegate") {
        this.#drop(id);
        writes.push(["people", "delete", id]);
      } else if (type === "blocked-code" && action === "upsert") {
        const blocked = { .../** @type {Blocked} */ (data), id, g: this.#generation };
        this.#putBlocked(blocked);
        writes.push(["blocked", "put", blocked]);
      } else if (type === "blocked-code") {
        this.#dropBlocked(id);
        writes.push(["blocked", "delete", id]);
      }
    }
    this.cursor = meta.cursor;
    // A server that is busy answers without a look, and without a time.
    this.at = meta.serverTime ?? this.at;
    if (meta.place) this.place = meta.place;
    if (!meta.more && !this.complete) {
      this.complete = true;
      for (const person of this.people.values()) {
        if (person.id < 0 || person.g === this.#generation) continue;
        this.#drop(person.id);
        writes.push(["people", "delete", person.id]);
      }
      for (const blocked of this.#blocked.values()) {
        if (blocked.g === this.#generation) continue;
        this.#dropBlocked(blocked.id);
        writes.push(["blocked", "delete", blocked.id]);
      }
    }
    writes.push(this.#head());
    await this.#store.write(writes);
  }

  /** The server has no such cursor any more: the next page begins anew. The old list serves meanwhile. */
  restart() {
    this.#generation += 1;
    this.cursor = undefined;
    this.complete = false;
  }

  /** Forgets everything: another place, or the gate was revoked. */
  async clear() {
    const walkIns = [...this.people.values()].filter(({ id }) => id < 0);
    for (const map of [
      this.people,
      this.#codes,
      this.#texts,
      this.#children,
      this.#blocked,
      this.#blockedCodes,
      this.#serials,
      this.#blockedSerials,
      this.#gone,
    ])
      map.clear();
    this.setWalkIns(walkIns);
    this.restart();
    this.place = undefined;
    this.at = 0;
    await this.#store.write([["people", "clear"], ["blocked", "clear"], this.#head()]);
  }

  /** Writes the whole list anew. */
  keepAll() {
    /** @type {import("../io/store.js").Change[]} */
    const writes = [...this.people.values()].map((person) => ["people", "put", person]);
    for (const blocked of this.#blocked.values()) writes.push(["blocked", "put", blocked]);
    return this.#store.write([...writes, this.#head()]);
  }

  /** @returns {import("../io/store.js").Change} */
  #head() {
    const { place, cursor, complete, at } = this;
    return ["meta", "put", ["list", { place, cursor, complete, at, generation: this.#generation }]];
  }

  /** @param {Person} person */
  #put(person) {
    this.#drop(person.id);
    this.people.set(person.id, person);
    for (const code of person.codes ?? []) this.#codes.put(code, person.id);
    if (this.#tickets.isOn) this.#putSerial(person);
    this.#texts.set(person.id, indexed(person));
    if (person.parent === undefined) return;
    const children = this.#children.get(person.parent);
    if (children) children.add(person.id);
    else this.#children.set(person.parent, new Set([person.id]));
  }

  /** @param {number} id */
  #drop(id) {
    const { codes = [], parent } = this.people.get(id) ?? {};
    for (const code of codes) this.#codes.drop(code, id);
    if (this.#tickets.isOn && codes.length) this.#dropSerial(codes[0]);
    if (parent !== undefined) this.#children.get(parent)?.delete(id);
    this.people.delete(id);
    this.#texts.delete(id);
  }

  /** @param {Blocked} blocked */
  #putBlocked(blocked) {
    this.#dropBlocked(blocked.id);
    this.#blocked.set(blocked.id, blocked);
    this.#blockedCodes.put(blocked.code, blocked.id);
    if (this.#tickets.isOn) this.#blockedSerials.set(serialOf(blocked.code), blocked.code);
  }

  /** @param {number} id */
  #dropBlocked(id) {
    const code = this.#blocked.get(id)?.code;
    if (code !== undefined) {
      this.#blockedCodes.drop(code, id);
      if (this.#tickets.isOn) this.#blockedSerials.delete(serialOf(code));
    }
    this.#blocked.delete(id);
  }

  /** @param {Person} person */
  #putSerial({ codes = [], noTicket }) {
    if (!codes.length || noTicket) return;
    const serial = serialOf(codes[0]);
    this.#serials.set(serial, codes[0]);
    this.#gone.delete(serial);
  }

  /** @param {string} code that somebody had, or has twice in the list */
  #dropSerial(code) {
    if (this.#codes.exact(code).length) return;
    const serial = serialOf(code);
    this.#serials.delete(serial);
    this.#gone.add(serial);
  }

  /** What signed tickets are verified by, as the server told it. @param {import("./signed.js").Keys} [keys] */
  useTickets(keys) {
    const wasOn = this.#tickets.isOn;
    this.#tickets.set(keys);
    if (wasOn || !keys) return;
    for (const person of this.people.values()) this.#putSerial(person);
    for (const { code } of this.#blocked.values()) this.#blockedSerials.set(serialOf(code), code);
  }

  /** Walk-ins that the server does not have yet, in place of those that were told before. @param {Person[]} walkIns */
  setWalkIns(walkIns) {
    const waiting = new Set(walkIns.map(({ id }) => id));
    for (const id of this.#walkIns) if (!waiting.has(id)) this.#drop(id);
    for (const person of walkIns) {
      // The feed may tell of them before the queue has its answer.
      const known = person.codes?.length ? this.find(person.codes[0]) : undefined;
      if (known && known.id > 0) this.#drop(person.id);
      else this.#put(person);
    }
    this.#walkIns = waiting;
  }

  /** An attendee as the server just told them; the feed tells the same later. @param {Person} person */
  async take(person) {
    const taken = { ...person, g: this.#generation };
    this.#put(taken);
    await this.#store.write([["people", "put", taken]]);
  }

  /** The server has a walk-in: they take the place of the local attendee. @param {Person} person @param {Passed} scan */
  async takeWalkIn(person, scan) {
    if (!this.#countsHere(scan)) return;
    // Where the feed was faster, they are counted already.
    if (!this.people.has(person.id)) this.#count([scan]);
    this.#drop(scan.delegate ?? 0);
    await this.take(person);
    await this.#store.write([this.#head()]);
  }

  /** Somebody's whole booking or group, themselves included: its parent and everybody who names that parent. @param {Person} person */
  booking(person) {
    const parent = person.parent ?? person.id;
    const children = [...(this.#children.get(parent) ?? [])].sort((a, b) => a - b);
    const members = [...new Set([parent, ...children])].map((id) => this.people.get(id));
    return members.filter((member) => member !== undefined).map((member) => this.#today(member));
  }

  /** The attendee with a code, whose ticket it is before all others. @param {string} code */
  find(code) {
    const holders = this.#codes.exact(code).map((id) => /** @type {Person} */ (this.people.get(id)));
    const person = holders.findLast((holder) => isTicket(holder, code)) ?? holders.at(-1);
    return person && this.#today(person);
  }

  /** A person as the day leaves them: where stays end with it, nobody is inside from before. @param {Person} person @param {number} [at] */
  #today(person, at = this.#now()) {
    const { place } = this;
    if (!place?.daily || !person.inside || (person.since ?? person.lastIn ?? Infinity) >= dayBegan(place.days, at)) return person;
    const isKept = (/** @type {number} */ id) => !place.rooms?.some((room) => room.id === id && room.daily);
    return { ...person, inside: false, insideBefore: true, rooms: person.rooms?.filter(isKept), elsewhere: person.elsewhere?.filter(isKept) };
  }

  /** Why a code is blocked, if it is. @param {string} code */
  blockedReason(code) {
    const { blocked } = this.#meaning(code);
    return blocked === undefined ? undefined : this.#blocked.get(blocked)?.reason;
  }

  /** Whether more than one person has a code like this, and nobody has it exactly. @param {string} code */
  isShared(code) {
    return this.#meaning(code).isShared === true;
  }

  /** Whether the list knows what a scanned text means. @param {string} text */
  isKnown(text) {
    const { code, isShared, ticket } = this.#meaning(text);
    return code !== undefined || isShared === true || (ticket !== undefined && ticket.state !== "forged");
  }

  /** The signed ticket in a text, if it is of nobody whom the list knows. @param {string} text */
  ticket(text) {
    return this.#meaning(text).ticket;
  }

  /** @param {string} text @returns {import("./scanned.js").Meaning} */
  #meaning(text) {
    const meaning = meaningOf(text, this.scanPattern, this.#codes, this.#blockedCodes);
    const isFound = meaning.code !== undefined || meaning.isShared;
    const ticket = isFound ? undefined : this.#tickets.read(forms(text, this.scanPattern).at(-1) ?? "");
    if (!ticket) return meaning;
    const { state, serial } = ticket;
    if (state !== "genuine" && state !== "cancelled") return { ticket };
    const code = this.#blockedSerials.get(serial) ?? this.#serials.get(serial);
    if (code !== undefined) return meaningOf(code, undefined, this.#codes, this.#blockedCodes);
    return { ticket: this.#gone.has(serial) ? { ...ticket, state: "cancelled" } : ticket };
  }

  /** Who has a ticket with this code; other codes, such as running numbers, do not count. @param {string} code */
  findTicket(code) {
    const person = this.find(code);
    return person && isTicket(person, code) ? person : undefined;
  }

  /**
   * The code that a text from a person or a scanner stands for. One that the list does not know stays as it is, for the server;
   * only a code of ours and a genuine ticket are read from groups.
   * @param {string} text
   */
  read(text) {
    const { code, blocked, ticket } = this.#meaning(text);
    if (ticket?.state === "genuine") return ticket.text;
    // Somebody else may have a code that is blocked as another kind of code.
    if (code === undefined || (blocked !== undefined && this.find(code))) return meant(text);
    return code;
  }

  /** The code in a text, for whoever is to get that code; empty of a signed ticket that is not valid. @param {string} text */
  newCode(text) {
    const { code, ticket } = this.#meaning(text);
    if (ticket && ticket.state !== "genuine") return "";
    return code ?? forms(text, this.scanPattern).at(-1) ?? text;
  }

  /** A few attendees by name, company or code, the likeliest first: whoever has the code before all others. @param {string} query */
  search(query) {
    const holder = this.find(this.read(query.trim()));
    const hits = find(this.people, this.#texts, query, SEARCH_HITS).filter((person) => person !== holder);
    const best = holder ? [holder, ...hits].slice(0, SEARCH_HITS) : hits;
    return best.map((person) => this.#today(person));
  }

  /** Everybody who is inside the place or below it, scans that wait included. @param {Passed[]} waiting */
  inside(waiting) {
    const moved = new Set(waiting.map(({ delegate }) => delegate));
    const people = [];
    for (const known of this.people.values()) {
      if (!known.inside && !moved.has(known.id)) continue;
      const person = this.withWaiting(known, moved.has(known.id) ? waiting : []);
      if (person.inside) people.push(person);
    }
    return people;
  }

  /** What somebody is found by, folded, each word after a space. @param {number} id */
  textOf(id) {
    return this.#texts.get(id) ?? "";
  }

  /**
   * A person as the scans that wait for upload leave them.
   * @param {Person} person @param {Passed[]} waiting in the order in which they were made @param {number} [at]
   */
  withWaiting(person, waiting, at = this.#now()) {
    const all = waiting.filter((scan) => scan.delegate === person.id && this.#countsHere(scan));
    // Those before the last that the server told of are in what it told.
    const own = all.slice(all.findLastIndex((scan) => isTold(person, scan)) + 1);
    const after = own.reduce((state, scan) => this.#moved(state, scan), this.#untilNow(person));
    const last = own.at(-1);
    return this.#today(last ? this.#left(after, last.at) : after, at);
  }

  /** A person as the moments since the server's last answer leave them; whom a day before it ended, those leave alone. @param {Person} person */
  #untilNow(person) {
    return this.#left(this.#today(person, this.at), this.at);
  }

  /** The place where people are counted: at a door, that of the door. */
  get #here() {
    return this.place?.doorOf?.id ?? this.place?.id ?? 0;
  }

  /** Whether a scan was made at the place, by whatever door. @param {Passed} scan */
  #countsHere({ place }) {
    return place === this.place?.id || place === this.#here || this.#doorOf(place) !== undefined;
  }

  /** The door of an id. @param {number} id */
  #doorOf(id) {
    return this.place?.doors?.find((door) => door.id === id);
  }

  /** The moments at which everybody left since, which the server has not told of. @param {number} since */
  #moments(since) {
    const rules = this.place?.everybodyOut;
    if (!rules) return [];
    const now = this.#now();
    return rules.flatMap((rule) => {
      const at = rule.at.findLast((moment) => moment > since && moment <= now);
      return at === undefined ? [] : [{ ...rule, at }];
    });
  }

  /** A person after the moments since. @param {Person} person @param {number} since @returns {Person} */
  #left(person, since) {
    const type = foldType(person.category ?? "");
    return this.#moments(since).reduce((state, { rooms, at, except }) => {
      // Whoever is in another room is inside a place above, too.
      const isInside = state.inside || (state.movedOn && rooms.length > 1);
      if (!isInside || except.some((name) => foldType(name) === type)) return state;
      const elsewhere = (state.elsewhere ?? []).filter((id) => !rooms.includes(id));
      return { ...state, lastOut: at, inside: false, movedOn: false, rooms: elsewhere, elsewhere };
    }, person);
  }

  /** @param {Person} person @param {Passed} scan @returns {Person} */
  #moved(person, scan) {
    if (scan.passage === "out") {
      return { ...person, lastOut: scan.at, inside: false, insideBefore: false, movedOn: false, rooms: person.elsewhere ?? [] };
    }
    const isSameDay = person.lastIn !== undefined && person.lastIn >= dayBegan(this.place?.days, scan.at);
    const dayEntries = isSameDay ? (person.dayEntries ?? 0) + 1 : 1;
    const entered = [...new Set([...(person.rooms ?? []), ...(this.place?.rooms ?? []).map((room) => room.id)])];
    const lastDoor = this.#doorOf(scan.place)?.name;
    const count = (person.entries ?? 0) + 1;
    return { ...person, lastIn: scan.at, lastDoor, since: scan.at, at: undefined, entries: count, dayEntries, inside: true, rooms: entered };
  }

  /**
   * The facts of a passage, scans that wait included.
   * @param {Person} person @param {"in"|"out"} passage @param {number} at @param {Passed[]} waiting
   * @param {string} [zone] IANA name
   * @param {Person} [counted] as they are counted now, where they are judged as they were before
   * @returns {import("./judge.js").Facts}
   */
  facts(person, passage, at, waiting, zone, counted = person) {
    const place = /** @type {Place} */ (this.place);
    const now = this.withWaiting(person, waiting, at);
    const inside = this.counts(waiting, at);
    const own = counted === person ? now : this.withWaiting(counted, waiting, at);
    const rooms = (place.rooms ?? [])
      .filter((room) => room.capacity !== undefined && !(now.rooms ?? []).includes(room.id))
      .map((room) => ({ ...room, inside: (inside.get(room.id) ?? room.inside) - Number(own.rooms?.includes(room.id) ?? false) }));
    const { doorOf, door, name } = place;
    return {
      passage,
      place: doorOf ? { ...place, name: doorOf.name } : place,
      rules: place.rules,
      at,
      rooms,
      door: door && { place: { ...door, name }, rules: door.rules },
      lastIn: now.lastIn,
      lastDoor: now.lastDoor,
      lastOut: now.lastOut,
      inside: Boolean(now.inside || now.insideBefore || now.movedOn),
      entries: now.entries ?? 0,
      dayEntries: now.dayEntries,
      joined: now.joined ?? false,
      type: now.category,
      days: place.days,
      zone,
    };
  }

  /**
   * How many people checked in at the place, of how many who may be expected: where registration is needed those
   * who are registered. Counted at most once a second, but for scans that wait.
   * @param {Passed[]} waiting
   * @returns {{arrived: number, expected: number}|undefined} undefined where people arrive at places below, too: the
   *   list does not know them
   */
  arrivals(waiting) {
    if (this.place?.hasPlacesBelow) return undefined;
    const { arrived, expected } = this.#counted();
    const isNew = (/** @type {Passed} */ scan) => {
      const known = this.people.get(scan.delegate ?? 0);
      return scan.passage === "in" && this.#countsHere(scan) && known !== undefined && !known.entries;
    };
    return { arrived: arrived + new Set(waiting.filter(isNew).map(({ delegate }) => delegate)).size, expected };
  }

  #counted() {
    const now = Date.now();
    if (now - this.#arrivals.counted < 1000) return this.#arrivals;
    const registered = this.place?.rules?.ruleSet === "simple";
    let [arrived, expected] = [0, 0];
    for (const person of this.people.values()) {
      if (person.entries) arrived += 1;
      if (!registered || person.joined) expected += 1;
    }
    this.#arrivals = { arrived, expected, counted: now };
    return this.#arrivals;
  }

  /** People inside of each room, scans that wait included; key 0 is the place itself. @param {Passed[]} waiting @param {number} [at] */
  counts(waiting, at = this.#now()) {
    const { place } = this;
    // What was counted on a day before holds no longer where stays end with the day.
    const isOver = Math.max(this.at, place?.countedAt ?? 0) < dayBegan(place?.days, at);
    const counts = new Map((place?.rooms ?? []).map((room) => [room.id, isOver && room.daily ? 0 : room.inside]));
    counts.set(0, isOver && place?.daily ? 0 : (place?.inside ?? 0));
    for (const [room, left] of this.#countLeavers()) counts.set(room, Math.max(0, (counts.get(room) ?? 0) - left));
    /** @type {Map<number, Passed[]>} */
    const moves = new Map();
    for (const scan of waiting) {
      if (scan.delegate === undefined) continue;
      const own = moves.get(scan.delegate);
      if (own) own.push(scan);
      else moves.set(scan.delegate, [scan]);
    }
    for (const [id, own] of moves) {
      const known = this.people.get(id);
      if (!known) continue;
      const [before, after] = [this.#today(this.#untilNow(known), at), this.withWaiting(known, own, at)];
      counts.set(0, (counts.get(0) ?? 0) + Number(after.inside ?? false) - Number(before.inside ?? false));
      for (const room of this.place?.rooms ?? []) {
        const change = Number(after.rooms?.includes(room.id) ?? false) - Number(before.rooms?.includes(room.id) ?? false);
        counts.set(room.id, (counts.get(room.id) ?? 0) + change);
      }
    }
    return counts;
  }

  /** How many people left each room, key 0 the place itself, since the server told of it: counted once for each moment. */
  #countLeavers() {
    const moments = this.#moments(this.at);
    const key = moments.length === 0 ? "" : `${this.at} ${moments.map(({ at }) => at)}`;
    if (key === this.#leavers.key) return this.#leavers.counts;
    const counts = new Map();
    const leave = (/** @type {number} */ room) => counts.set(room, (counts.get(room) ?? 0) + 1);
    for (const person of key === "" ? [] : this.people.values()) {
      const before = this.#today(person, this.at);
      const after = this.#left(before, this.at);
      if (after === before) continue;
      leave(0);
      for (const room of before.rooms ?? []) if (!after.rooms?.includes(room)) leave(room);
    }
    this.#leavers = { key, counts };
    return counts;
  }

  /** The server took a scan: it holds until the feed tells the same. @param {Passed} scan */
  async record(scan) {
    const before = scan.delegate === undefined ? undefined : this.people.get(scan.delegate);
    // Where the feed was faster, it is counted already.
    if (!before || !this.#countsHere(scan) || isTold(before, scan)) return;
    const after = this.#moved(before, scan);
    this.#count([scan]);
    this.#put(after);
    await this.#store.write([["people", "put", after], this.#head()]);
  }

  /** @param {Passed[]} scans */
  #count(scans) {
    const counts = this.counts(scans);
    const place = /** @type {Place} */ (this.place);
    const rooms = place.rooms?.map((room) => ({ ...room, inside: counts.get(room.id) ?? room.inside }));
    this.place = { ...place, rooms, inside: counts.get(0) ?? place.inside, countedAt: this.#now() };
  }
}
