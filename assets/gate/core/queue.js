// Scans and walk-ins until the server has them, and its second machine, where there is one. Each gets its nonce and is stored
// before its verdict is shown; the nonce makes it safe to send one again, by another tab or after a restart.

import { CODES } from "./codes.js";
import { randomHex } from "./secrets.js";

const BATCH = 200;
/** After this a scan that nobody decided was cut off by the end of its tab. */
const UNDECIDED_MS = 5000;
/** A walk-in that got no answer waits this long, so that one that fails always does not hold up the others. */
const AGAIN_MS = 10_000;
const CODES_MIN = 20;
const CODES_MAX = 50;

/**
 * @typedef {{firstName?: string, lastName?: string, email?: string, delegateType?: string}} WalkIn
 *
 * @typedef {import("../io/server.js").Answer<"/gate/walk-in", "POST">} WalkInAnswer
 * @typedef {WalkInAnswer|import("../io/server.js").Answer<`/interaction/new/${string}`, "POST">} ScanAnswer
 * @typedef {import("../io/server.js").Schemas["Durable"]} Durable
 * @typedef {(scan: Scan, id?: number, person?: import("./list.js").Person) => Promise<void>} OnStored
 *
 * @typedef {object} Scan
 * @property {string} nonce
 * @property {number} seq orders scans that were made in the same millisecond
 * @property {string} [code] as scanned
 * @property {number} [delegate] the attendee, where the list knows them; below zero for a walk-in that the server does not have
 * @property {WalkIn} [walkIn] registers this person, with `code` as their ticket
 * @property {boolean} [hasBadge] a walk-in came with this code: none is taken from the reserved ones
 * @property {"in"|"out"} passage
 * @property {number} at Unix ms by the server's clock
 * @property {number} place
 * @property {boolean} [override] a supervisor let the person in
 * @property {string} [reason] why
 * @property {boolean} [admitted] this gate decided and let the person pass
 * @property {boolean} [due] the gate has decided; until then its own request may be under way
 * @property {"safe"|"unsafe"|"start"} [tick] no passage, but a tick of an evacuation list, its end, or its beginning
 * @property {boolean} [undone] to be taken back as soon as the server has it
 * @property {{epoch: number, mark: number}} [sent] the server has it; kept until the second machine has everything up to this mark
 * @property {{status: number, code: number, message: string}} [failed] the server refused to store it
 */

export class Queue {
  /** @type {Map<string, Scan>} */
  #scans = new Map();
  #last = 0;
  #store;
  #channel = typeof BroadcastChannel === "undefined" ? null : new BroadcastChannel("gatepost-queue");
  #uploading = false;
  /** Nonces that the server may have seen. @type {Set<string>} */
  #sent = new Set();
  /** Changes that the store does not have yet: the last one of each scan, by nonce. @type {Map<string, import("../io/store.js").Change>} */
  #unwritten = new Map();
  /** When walk-ins that got no answer are due again, by nonce. @type {Map<string, number>} */
  #again = new Map();
  onChange = () => {};
  /** The server has these ticks. @type {(ticks: Scan[]) => Promise<unknown>} */
  onTicked = async () => undefined;

  /** @param {import("../io/store.js").Store} store */
  constructor(store) {
    this.#store = store;
    if (this.#channel) this.#channel.onmessage = () => this.load();
  }

  /** Reads what the store has; another tab may have changed it. Scans that only this tab holds stay. */
  async load() {
    /** @type {Scan[]|undefined} */
    const kept = await this.#store.all("queue").catch(() => undefined);
    // A store that cannot be read says nothing about what is in memory.
    if (!kept) return;
    const scans = new Map(kept.map((scan) => [scan.nonce, scan]));
    // The store may have been read before the last changes came to it.
    for (const [nonce, [, action, scan]] of this.#unwritten) {
      if (action === "put") scans.set(nonce, scan);
      else scans.delete(nonce);
    }
    this.#scans = new Map([...scans].sort(([, a], [, b]) => a.seq - b.seq));
    this.onChange();
  }

  /** For tests, and for tabs that end. */
  close() {
    this.#channel?.close();
  }

  /** Scans that the server does not have yet. @returns {Scan[]} */
  get waiting() {
    return [...this.#scans.values()].filter((scan) => !scan.failed && !scan.sent);
  }

  /** Scans that the server has, and its second machine does not yet. @returns {Scan[]} */
  get uncovered() {
    return [...this.#scans.values()].filter((scan) => scan.sent);
  }

  /** Scans that the server will not store: conflicts for a person to look at. @returns {Scan[]} */
  get failed() {
    return [...this.#scans.values()].filter((scan) => scan.failed);
  }

  /** Waiting scans that this gate let pass, so that the list counts them. @returns {Scan[]} */
  get passed() {
    return this.waiting.filter((scan) => (scan.admitted || scan.override) && !scan.undone);
  }

  /** Walk-ins that the server does not have, as attendees for the list. */
  get walkIns() {
    return [...this.#scans.values()].filter(({ walkIn, undone, sent }) => walkIn && !undone && !sent).map(walkInPerson);
  }

  /** Stores a new scan. @param {Omit<Scan, "nonce"|"seq">} scan @returns {Promise<Scan>} */
  async add(scan) {
    const added = this.#stamp(scan);
    if (added.walkIn) await this.#addWalkIn(added);
    else await this.update(added, {});
    return added;
  }

  /** @param {Omit<Scan, "nonce"|"seq">} scan @returns {Scan} */
  #stamp(scan) {
    this.#last = Math.max(Date.now() * 1000, this.#last + 1);
    return { ...scan, nonce: randomHex(16), seq: this.#last };
  }

  /**
   * The code leaves the reserved block in the transaction that stores the walk-in: no code is given to two people.
   * Where the block is empty, or nothing can be stored, the server makes the code.
   * @param {Scan} scan
   */
  async #addWalkIn(scan) {
    scan.delegate = -scan.seq;
    const isKept = await this.#store.change("codes", ["meta", "queue"], (codes = []) => {
      if (scan.hasBadge) return [["queue", "put", scan]];
      if (codes.length > 0) scan.code = codes[0];
      return [
        ["meta", "put", ["codes", codes.slice(1)]],
        ["queue", "put", scan],
      ];
    });
    if (isKept) {
      this.#scans.set(scan.nonce, scan);
      this.#announce();
    } else {
      if (!scan.hasBadge) delete scan.code;
      await this.update(scan, {});
    }
  }

  /** Reserves ticket codes for walk-ins while offline. @param {import("../io/server.js").Server} server */
  async reserveCodes(server) {
    const kept = (await this.#store.get("codes")) ?? [];
    if (kept.length >= CODES_MIN) return;
    const { status, data } = await server.request("POST", "/gate/codes", { body: { count: CODES_MAX } });
    if (status !== 201) return;
    // Another tab may have been faster.
    await this.#store.change("codes", ["meta"], (codes = []) => (codes.length < CODES_MIN ? [["meta", "put", ["codes", [...codes, ...data]]]] : []));
  }

  /** @param {Scan} scan @param {Partial<Scan>} changes */
  async update(scan, changes) {
    Object.assign(scan, changes);
    this.#scans.set(scan.nonce, scan);
    await this.#write([["queue", "put", scan]], true);
  }

  /** @param {Scan[]} scans */
  async remove(scans) {
    for (const { nonce } of scans) this.#scans.delete(nonce);
    await this.#write(
      scans.map(({ nonce }) => ["queue", "delete", nonce]),
      false,
    );
  }

  /**
   * The server has a scan. Later scans of a walk-in go by the server's id from now on. It stays until the second machine
   * has it as well.
   * @param {Scan} scan @param {number} [id] of the attendee @param {Durable} [durable] what the server said of it
   */
  async complete(scan, id, durable) {
    const later = scan.walkIn && id ? [...this.#scans.values()].filter((other) => other !== scan && other.delegate === scan.delegate) : [];
    for (const other of later) other.delegate = id;
    this.#again.delete(scan.nonce);
    const { epoch = 0, mark, covered = 0 } = durable ?? {};
    if (mark !== undefined && mark > covered) {
      scan.sent = { epoch, mark };
      this.#scans.set(scan.nonce, scan);
      await this.#write([...later.map(stored), stored(scan)], true);
    } else {
      this.#scans.delete(scan.nonce);
      await this.#write([...later.map(stored), ["queue", "delete", scan.nonce]], later.length > 0);
    }
    if (durable) await this.cover(durable);
  }

  /**
   * The second machine has everything up to a mark. Where it took over, what it may lack is sent again, as decided here.
   * @param {Pick<Durable, "epoch"|"covered">} durable
   */
  async cover({ epoch, covered }) {
    const done = this.uncovered.filter(({ sent }) => sent?.epoch === epoch && sent.mark <= covered);
    const lost = this.uncovered.filter(({ sent }) => sent && sent.epoch < epoch);
    for (const scan of done) this.#scans.delete(scan.nonce);
    for (const scan of lost) Object.assign(scan, { sent: undefined, due: true, ...(scan.override ? {} : { admitted: true }) });
    /** @type {import("../io/store.js").Change[]} */
    const changes = [...lost.map(stored), ...done.map(({ nonce }) => /** @type {import("../io/store.js").Change} */ (["queue", "delete", nonce]))];
    if (changes.length > 0) await this.#write(changes, lost.length > 0);
  }

  /** The server has taken a scan back: so does the second machine, if it takes over. @param {Scan} scan */
  async takenBack({ nonce }) {
    const kept = this.uncovered.find((scan) => scan.nonce === nonce);
    if (kept) await this.update(kept, { undone: true });
  }

  #announce() {
    this.#channel?.postMessage("changed");
    this.onChange();
  }

  /**
   * Writes changes, and what could not be written before, all at once.
   * @param {import("../io/store.js").Change[]} changes @param {boolean} durable
   */
  async #write(changes, durable) {
    for (const change of changes) this.#unwritten.set(nonceOf(change), change);
    const all = [...this.#unwritten.values()];
    if (await this.#store.write(all, { durable })) this.#written(all);
    // A full disk still deletes; but nothing that other scans were to be changed with.
    else if (changes.every(([, action]) => action === "delete") && (await this.#store.write(changes))) {
      this.#written(changes);
      const puts = [...this.#unwritten.values()].filter(([, action]) => action === "put");
      if (await this.#store.write(puts, { durable })) this.#written(puts);
    }
    this.#announce();
  }

  /** @param {import("../io/store.js").Change[]} changes */
  #written(changes) {
    for (const change of changes) {
      const nonce = nonceOf(change);
      // Another change of the same scan may be on its way already.
      if (this.#unwritten.get(nonce) === change) this.#unwritten.delete(nonce);
    }
  }

  /** The gate was revoked: keeps of each scan what names nobody. A walk-in is nothing but the person: it stays until it is uploaded or discarded. */
  async strip() {
    for (const scan of this.#scans.values()) {
      if (scan.code !== undefined && !isLocal(scan)) delete scan.delegate;
      delete scan.reason;
      if (scan.failed) scan.failed = { ...scan.failed, message: "" };
    }
    await this.keepAll();
  }

  /** Writes every scan anew. */
  keepAll() {
    return this.#write([...this.#scans.values()].map(stored), true);
  }

  /** A request with this scan is made. @param {Scan} scan */
  markSent(scan) {
    this.#sent.add(scan.nonce);
  }

  /** Takes a waiting scan back, at the server too if it may have it. @param {Scan} scan */
  undo(scan) {
    return this.#sent.has(scan.nonce) ? this.update(scan, { undone: true, due: true }) : this.remove([scan]);
  }

  /** Takes a failed scan up again. @param {Scan} scan */
  retry(scan) {
    this.#again.delete(scan.nonce);
    return this.update(scan, { failed: undefined, due: true });
  }

  /**
   * Sends what waits, in batches, until nothing does. One tab at a time where locks exist.
   * @param {import("../io/server.js").Server} server
   * @param {OnStored} onStored
   */
  async upload(server, onStored) {
    if (this.#uploading) return;
    this.#uploading = true;
    try {
      const { locks } = globalThis.navigator ?? {};
      if (!locks) await this.#uploadAll(server, onStored);
      else {
        await locks.request("gatepost-upload", { ifAvailable: true }, async (lock) => {
          if (lock) await this.#uploadAll(server, onStored);
        });
      }
    } finally {
      this.#uploading = false;
    }
  }

  /** @param {import("../io/server.js").Server} server @param {OnStored} onStored */
  async #uploadAll(server, onStored) {
    await this.load();
    // What a walk-in meets, the scans behind it need not.
    await this.#uploadWalkIns(server, onStored).catch(() => {});
    await this.#uploadTicks(server).catch(() => {});
    let size = BATCH;
    const busy = new Set();
    for (;;) {
      const scans = this.#next((scan) => !busy.has(scan.nonce)).slice(0, size);
      if (scans.length === 0) return;
      scans.forEach((scan) => this.markSent(scan));
      const interactions = Object.fromEntries(scans.map((scan) => [scan.nonce, body(scan)]));
      const answer = await server.request("POST", "/interaction/batch", { body: { interactions }, timeoutMs: 20_000 });
      if (answer.status === 200) {
        for (const item of answer.data) {
          const scan = this.#scans.get(item.key);
          if (scan) await this.#settle(server, scan, { ...item, error: item.meta?.error }, onStored, answer.meta.durable);
        }
        // What is still here is for the next upload.
        for (const scan of scans) busy.add(scan.nonce);
        size = BATCH;
      } else if (isRefusal(answer.status) && scans.length > 1) {
        size = Math.ceil(scans.length / 2);
      } else if (isRefusal(answer.status)) {
        await this.update(scans[0], { failed: failure(answer) });
      } else return;
    }
  }

  /**
   * Scans that are due. Those that were taken back come first, and alone, so that nothing is judged by them; while one of
   * them stays, later ones of the same person wait.
   * @param {(scan: Scan) => boolean} isWanted
   */
  #next(isWanted) {
    const takenBack = this.waiting.filter(({ undone }) => undone);
    const isBehind = (/** @type {Scan} */ scan) => takenBack.some((other) => other.seq < scan.seq && isOfSamePerson(other, scan));
    const due = this.waiting.filter((scan) => !scan.walkIn && !scan.tick && isDue(scan) && !this.#isHeld(scan) && isWanted(scan));
    const undone = due.filter((scan) => scan.undone);
    return undone.length > 0 ? undone : due.filter((scan) => !isBehind(scan));
  }

  /** Each in a call of its own, before the scans of the same people. @param {import("../io/server.js").Server} server @param {OnStored} onStored */
  async #uploadWalkIns(server, onStored) {
    for (const scan of this.waiting) {
      if (!scan.walkIn || !isDue(scan) || Date.now() < (this.#again.get(scan.nonce) ?? 0)) continue;
      this.#again.set(scan.nonce, Date.now() + AGAIN_MS);
      this.markSent(scan);
      await this.#settle(server, scan, await server.request("POST", pathOf(scan), { body: body(scan) }), onStored);
    }
  }

  /** Ticks of evacuations in their order: the server takes them as often as they come. @param {import("../io/server.js").Server} server */
  async #uploadTicks(server) {
    for (;;) {
      const due = this.waiting.filter((scan) => scan.tick && isDue(scan) && !this.#isHeld(scan));
      const ticks = due.filter(({ place }) => place === due[0].place).slice(0, BATCH);
      if (ticks.length === 0) return;
      const answer = await server.request("POST", "/gate/evacuation", { body: tickBody(ticks), timeoutMs: 20_000 });
      if (answer.status === 204) {
        await this.onTicked(ticks);
        await this.remove(ticks);
      } else if (isRefusal(answer.status)) {
        for (const tick of ticks) await this.update(tick, { failed: failure(answer) });
      } else return;
    }
  }

  /** Whether a scan is of a walk-in that is still in the queue. @param {Scan} scan */
  #isHeld(scan) {
    return isLocal(scan) && [...this.#scans.values()].some(({ walkIn, delegate, sent }) => walkIn && !sent && delegate === scan.delegate);
  }

  /**
   * What the server answered for one scan; where it could not take it now, it stays.
   * @param {import("../io/server.js").Server} server @param {Scan} scan
   * @param {ScanAnswer} answer @param {OnStored} onStored @param {Durable} [durable] of the batch that it was in
   */
  async #settle(server, scan, answer, onStored, durable = answer.meta?.durable) {
    const isKept = isStored(answer);
    const id = interactionOf(scan, answer);
    const person = registered(scan, answer);
    if (isKept && scan.undone) {
      // Without an id it waits for its code, or was stored with the gate's decision; otherwise it was taken back before.
      const wasGone = id === undefined && !answer.error && (isOfWalkIn(scan, answer) || !answer.meta?.unknown);
      const undo = wasGone ? answer : await server.request("DELETE", undoPath(scan, id));
      const isGone = wasGone || undo.status === 204 || undo.status === 404;
      if (isGone) await this.remove([scan]);
      else await this.update(scan, { failed: failure(undo) });
    } else if (isKept) {
      await onStored(scan, id, person);
      await this.complete(codeKept(scan, person), person?.id, durable);
    } else if (scan.undone && isRefusal(answer.status)) {
      await this.remove([scan]);
    } else if (isRefusal(answer.status)) {
      await this.update(scan, { failed: failure(answer) });
    }
  }
}

/** @param {Scan} scan */
const isDue = (scan) => scan.due || Math.abs(Date.now() - scan.seq / 1000) > UNDECIDED_MS;

/** @param {Scan} scan @returns {import("../io/store.js").Change} */
const stored = (scan) => ["queue", "put", scan];

/** @param {import("../io/store.js").Change} change @returns {string} */
const nonceOf = ([, action, value]) => (action === "put" ? value.nonce : value);

/** A walk-in with the code that the server made, for which another machine would make another. @param {Scan} scan @param {import("./list.js").Person} [person] */
export function codeKept(scan, person) {
  if (scan.walkIn && scan.code === undefined && person?.codes?.[0]) Object.assign(scan, { code: person.codes[0] });
  return scan;
}

/** Known by an id of this device only. @param {Scan} scan */
const isLocal = ({ delegate }) => delegate !== undefined && delegate < 0;

/** @param {Scan} one @param {Scan} other */
const isOfSamePerson = (one, other) => (one.delegate !== undefined && one.delegate === other.delegate) || (one.code !== undefined && one.code === other.code);

/** Somebody who was registered here, as the list knows attendees. @param {Omit<Scan, "nonce"|"seq">} scan @returns {import("./list.js").Person} */
export function walkInPerson({ walkIn = {}, delegate = 0, code }) {
  const name = [walkIn.firstName, walkIn.lastName].filter(Boolean).join(" ");
  return { id: delegate, name, category: walkIn.delegateType, codes: code === undefined ? [] : [code], joined: true };
}

/** @param {Scan} scan @param {ScanAnswer} answer @returns {answer is WalkInAnswer} */
const isOfWalkIn = (scan, answer) => scan.walkIn !== undefined;

/** The attendee whom the server made of a walk-in; none once they are deleted. @param {Scan} scan @param {ScanAnswer} answer */
export const registered = (scan, answer) => (isOfWalkIn(scan, answer) && answer.data?.id ? /** @type {import("./list.js").Person} */ (answer.data) : undefined);

/** The id of the check-in, for undo; none of a scan whose code nobody has yet. @param {Scan} scan @param {ScanAnswer} answer @returns {number|undefined} */
export const interactionOf = (scan, answer) => (isOfWalkIn(scan, answer) ? answer.meta?.interaction : answer.data?.id) ?? undefined;

/** What takes a scan back. Without an id the server knows it by its nonce, which its document says in words. @param {Scan} scan @param {number} [id] */
export const undoPath = (scan, id) => /** @type {`/interaction/id:${number}`} */ (`/interaction/${id === undefined ? `nonce:${scan.nonce}` : `id:${id}`}`);

/** Where a scan is sent to by itself. @param {Scan} scan @returns {"/gate/walk-in"|`/interaction/new/${string}`} */
export const pathOf = (scan) => (scan.walkIn ? "/gate/walk-in" : `/interaction/new/${typeOf(scan)}`);

/** @param {Scan} scan */
const typeOf = (scan) => (scan.override ? "check-in-override" : scan.passage === "in" ? "check-in" : "check-out");

/** The body of a request. What is undone is sent as it was first, to be found by its nonce. @param {Scan} scan */
export function body(scan) {
  const { walkIn, code, place, nonce, reason } = scan;
  const made = { recordedAt: Math.floor(scan.at / 1000), nonce, ...(scan.admitted && !scan.undone ? { admitted: true } : {}) };
  if (walkIn) return { place, ...walkIn, ...(code === undefined ? {} : { code }), ...made };
  const delegate = code === undefined ? scan.delegate : `scan:${code}`;
  return { interactionType: typeOf(scan), delegate, device: place, ...(reason ? { data: { reason } } : {}), ...made };
}

/** @param {Scan[]} ticks of one place */
const tickBody = (ticks) => ({
  place: ticks[0].place,
  ticks: ticks.map(({ tick, delegate, at }) => ({ recordedAt: Math.floor(at / 1000), ...(tick === "start" ? {} : { delegate, safe: tick === "safe" }) })),
});

/** Stored now (without an id where nobody has the code yet), before, or before with the gate's own decision not yet in it. @param {import("../io/server.js").Status} answer */
export const isStored = ({ status, error }) => status === 200 || status === 201 || error?.internalCode === CODES.keyReused;

/** Sending it again changes nothing. @param {number} status */
export const isRefusal = (status) => status >= 400 && status < 500 && status !== 401 && status !== 408 && status !== 429;

/** @param {import("../io/server.js").Status} answer */
const failure = ({ status, error }) => ({ status, code: error?.internalCode ?? 0, message: error?.message ?? "" });
