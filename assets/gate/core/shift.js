// What a gate knows of its own scans: whom it let in, the last ones, and the one that can be undone. A reload keeps it.

const RECENT = 3;
/** The server takes nothing back after this. */
const UNDO_MS = 10 * 60_000;

/**
 * @typedef {import("./gate.js").Outcome} Outcome
 * @typedef {{nonce: string, at: number, shown: import("../ui/verdict.js").Shown}} Recent
 * @typedef {{mine: (number|string|undefined)[], recent: Recent[], last?: Outcome}} Kept
 */

export class Shift {
  /** People that this gate let in, so that nobody counts twice. @type {Set<number|string|undefined>} */
  mine = new Set();
  /** The last outcomes, the newest first. @type {Recent[]} */
  recent = [];

  /** @param {import("../io/store.js").Store} store @param {import("./gate.js").Gate} gate */
  constructor(store, gate) {
    this.store = store;
    this.gate = gate;
  }

  /** Reads what the store has. @param {number} now Unix ms */
  async load(now) {
    const { mine = [], recent = [], last } = (await this.store.get("shift")) ?? /** @type {Partial<Kept>} */ ({});
    this.mine = new Set(mine);
    this.recent = recent;
    this.gate.last = last && now - last.scan.at < UNDO_MS ? last : undefined;
  }

  save() {
    const { last } = this.gate;
    const kept = last && { scan: last.scan, id: last.id, shown: plain(last.shown), passed: true };
    return this.store.set("shift", { mine: [...this.mine], recent: this.recent, last: kept });
  }

  /** @param {Outcome} outcome */
  async add({ shown, passed, scan }) {
    // Of a gate that was revoked meanwhile nobody is kept.
    if (!this.gate.server.credentials) return;
    if (passed && scan.passage === "in") this.mine.add(key(scan));
    this.recent.unshift({ nonce: scan.nonce, at: scan.at, shown: plain(shown) });
    this.recent.length = Math.min(this.recent.length, RECENT);
    await this.save();
  }

  /** @param {Outcome} outcome */
  undone({ scan }) {
    this.recent = this.recent.filter(({ nonce }) => nonce !== scan.nonce);
    if (scan.passage === "in") this.mine.delete(key(scan));
    return this.save();
  }

  /** The server has a scan. @param {import("./queue.js").Scan} scan @param {import("./list.js").Person} [registered] whom it made of a walk-in */
  async stored(scan, registered) {
    if (registered && this.mine.delete(scan.delegate)) this.mine.add(registered.id);
    if (registered || this.gate.last?.scan.nonce === scan.nonce) await this.save();
  }

  /** Another place, or another setup. */
  clear() {
    this.mine.clear();
    this.recent = [];
    this.gate.last = undefined;
    return this.save();
  }
}

/** @param {import("./queue.js").Scan} scan */
const key = (scan) => scan.delegate ?? scan.code;

/** Without what only the open page can do. @param {import("../ui/verdict.js").Shown} shown @returns {import("../ui/verdict.js").Shown} */
const plain = ({ kind, why, word, name, reason, badge }) => ({ kind, why, word, name, reason, badge });
