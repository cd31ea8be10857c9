// Scans until the server has them. Each gets its nonce and is stored before its verdict is shown;
// the nonce makes it safe to send one again, by another tab or after a restart.

import { randomHex } from "./sha256.js";

const BATCH = 200;
/** After this a scan that nobody decided was cut off by the end of its tab. */
const UNDECIDED_MS = 5000;

/**
 * @typedef {object} Scan
 * @property {string} nonce
 * @property {number} seq orders scans that were made in the same millisecond
 * @property {string} [code] as scanned
 * @property {number} [delegate] the attendee, where the list knows them
 * @property {"in"|"out"} passage
 * @property {number} at Unix ms by the server's clock
 * @property {number} place
 * @property {boolean} [override] a supervisor let the person in
 * @property {string} [reason] why
 * @property {boolean} [admitted] this gate decided and let the person pass
 * @property {boolean} [due] the gate has decided; until then its own request may be under way
 * @property {boolean} [undone] to be taken back as soon as the server has it
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
  /** Nonces of scans that the store did not take. @type {Set<string>} */
  #unsaved = new Set();
  onChange = () => {};

  /** @param {import("./store.js").Store} store */
  constructor(store) {
    this.#store = store;
    if (this.#channel) this.#channel.onmessage = () => this.load();
  }

  /** Reads what the store has; another tab may have changed it. Scans that only this tab holds stay. */
  async load() {
    /** @type {Scan[]} */
    const kept = await this.#store.all("queue").catch(() => []);
    kept.push(...[...this.#scans.values()].filter(({ nonce }) => this.#unsaved.has(nonce)));
    this.#scans = new Map(kept.sort((a, b) => a.seq - b.seq).map((scan) => [scan.nonce, scan]));
    this.onChange();
  }

  /** For tests, and for tabs that end. */
  close() {
    this.#channel?.close();
  }

  /** Scans that the server does not have yet. @returns {Scan[]} */
  get waiting() {
    return [...this.#scans.values()].filter((scan) => !scan.failed);
  }

  /** Scans that the server will not store: conflicts for a person to look at. @returns {Scan[]} */
  get failed() {
    return [...this.#scans.values()].filter((scan) => scan.failed);
  }

  /** Waiting scans that this gate let pass, so that the list counts them. @returns {Scan[]} */
  get passed() {
    return this.waiting.filter((scan) => (scan.admitted || scan.override) && !scan.undone);
  }

  /** Stores a new scan. @param {Omit<Scan, "nonce"|"seq">} scan @returns {Promise<Scan>} */
  async add(scan) {
    this.#last = Math.max(Date.now() * 1000, this.#last + 1);
    const added = { ...scan, nonce: randomHex(16), seq: this.#last };
    await this.update(added, {});
    return added;
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
    await this.#write(scans.map(({ nonce }) => ["queue", "delete", nonce]), false);
  }

  /** @param {import("./store.js").Change[]} changes @param {boolean} durable */
  async #write(changes, durable) {
    for (const [, action, value] of changes) {
      if (action === "put") this.#unsaved.add(value.nonce);
      else this.#unsaved.delete(value);
    }
    /** @type {import("./store.js").Change[]} */
    const again = [...this.#scans.values()].filter(({ nonce }) => this.#unsaved.has(nonce)).map((scan) => ["queue", "put", scan]);
    const isKept = await this.#store.write([...changes.filter(([, action]) => action === "delete"), ...again], { durable });
    if (isKept) for (const [, , scan] of again) this.#unsaved.delete(scan.nonce);
    this.#channel?.postMessage("changed");
    this.onChange();
  }

  /** The gate was revoked: keeps of each scan what names nobody. */
  async strip() {
    for (const scan of this.#scans.values()) {
      if (scan.code !== undefined) delete scan.delegate;
      delete scan.reason;
      if (scan.failed) scan.failed = { ...scan.failed, message: "" };
    }
    await this.#write([...this.#scans.values()].map((scan) => ["queue", "put", scan]), true);
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
    return this.update(scan, { failed: undefined, due: true });
  }

  /**
   * Sends what waits, in batches, until nothing does. One tab at a time where locks exist.
   * @param {import("./server.js").Server} server
   * @param {(scan: Scan, id?: number) => Promise<void>} onStored
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

  /** @param {import("./server.js").Server} server @param {(scan: Scan, id?: number) => Promise<void>} onStored */
  async #uploadAll(server, onStored) {
    await this.load();
    let size = BATCH;
    const busy = new Set();
    for (;;) {
      const scans = this.waiting.filter((scan) => isDue(scan) && !busy.has(scan.nonce)).slice(0, size);
      if (scans.length === 0) return;
      scans.forEach((scan) => this.markSent(scan));
      const interactions = Object.fromEntries(scans.map((scan) => [scan.nonce, body(scan)]));
      const answer = await server.request("POST", "/interaction/batch", { body: { interactions }, timeoutMs: 20_000 });
      if (answer.status === 200) {
        for (const item of answer.data) {
          const scan = this.#scans.get(item.key);
          if (scan) await this.#settle(server, scan, { ...item, error: item.meta?.error }, onStored);
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
   * What the server answered for one scan; where it could not take it now, it stays.
   * @param {import("./server.js").Server} server @param {Scan} scan
   * @param {import("./server.js").Answer} answer @param {(scan: Scan, id?: number) => Promise<void>} onStored
   */
  async #settle(server, scan, answer, onStored) {
    const stored = isStored(answer);
    if (stored && scan.undone) {
      // Without an id (1109) it cannot be named; somebody has to look.
      const id = answer.data?.id;
      const undo = id === undefined ? answer : await server.request("DELETE", `/interaction/id:${id}`);
      if (undo.status === 204 || undo.status === 404) await this.remove([scan]);
      else await this.update(scan, { failed: failure(undo) });
    } else if (stored) {
      await onStored(scan, answer.data?.id);
      await this.remove([scan]);
    } else if (scan.undone && isRefusal(answer.status)) {
      await this.remove([scan]);
    } else if (isRefusal(answer.status)) {
      await this.update(scan, { failed: failure(answer) });
    }
  }
}

/** @param {Scan} scan */
const isDue = (scan) => scan.due || Math.abs(Date.now() - scan.seq / 1000) > UNDECIDED_MS;

/** The body of an interaction. What is undone is sent as it was first, to be found by its nonce. @param {Scan} scan */
export function body(scan) {
  const type = scan.override ? "check-in-override" : scan.passage === "in" ? "check-in" : "check-out";
  return {
    interactionType: type,
    delegate: scan.code === undefined ? scan.delegate : `scan:${scan.code}`,
    device: scan.place,
    recordedAt: Math.floor(scan.at / 1000),
    nonce: scan.nonce,
    ...(scan.reason ? { data: { reason: scan.reason } } : {}),
    ...(scan.admitted && !scan.undone ? { admitted: true } : {}),
  };
}

/** Stored now, before, or (1109) before with the gate's own decision not yet in it. @param {import("./server.js").Answer} answer */
export const isStored = ({ status, error }) => status === 200 || status === 201 || error?.internalCode === 1109;

/** Sending it again changes nothing. @param {number} status */
export const isRefusal = (status) => status >= 400 && status < 500 && status !== 401 && status !== 408 && status !== 429;

/** @param {import("./server.js").Answer} answer */
const failure = ({ status, error }) => ({ status, code: error?.internalCode ?? 0, message: error?.message ?? "" });
