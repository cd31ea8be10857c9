// Gates at once, each on a network of its own that breaks at random: the app's own modules with a store in
// memory. A Rust test starts it with the servers' addresses and checks what was stored.

import { AsyncLocalStorage } from "node:async_hooks";

// Each gate is a device of its own, not a tab beside the others.
globalThis.BroadcastChannel = undefined;
globalThis.document = {};
Object.defineProperty(globalThis, "navigator", { value: {}, configurable: true });
const { Gate } = await import("../../assets/gate/core/gate.js");
const { List } = await import("../../assets/gate/core/list.js");
const { Queue } = await import("../../assets/gate/core/queue.js");
const { Server } = await import("../../assets/gate/io/server.js");
const { Sync } = await import("../../assets/gate/io/sync.js");

const { gates, place, people, scans, seed } = JSON.parse(process.argv[2]);
const network = new AsyncLocalStorage();
const { fetch } = globalThis;
globalThis.fetch = (path, init) => fetch(`${network.getStore()}${path}`, init);
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Numbers from 0 to 1, the same for the same seed (mulberry32). */
function random(state) {
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

/** As store.js, in memory. */
class MemoryStore {
  problem = "";
  #kept = { meta: new Map(), people: new Map(), blocked: new Map(), queue: new Map() };

  async all(name) {
    return [...this.#kept[name].values()];
  }

  async get(key) {
    return this.#kept.meta.get(key);
  }

  async write(changes) {
    for (const [name, action, value] of structuredClone(changes)) {
      const store = this.#kept[name];
      if (action === "clear") store.clear();
      else if (action === "delete") store.delete(value);
      else if (name === "meta") store.set(...value);
      else store.set(name === "queue" ? value.nonce : value.id, value);
    }
    return true;
  }
}

async function run({ clientId, clientSecret }, count, next) {
  const store = new MemoryStore();
  const [server, list, queue] = [new Server(), new List(store), new Queue(store)];
  let gate;
  const app = { place: () => place, onChange: () => {}, onStored: (scan, id) => gate.stored(scan, id), status: () => ({}) };
  const sync = new Sync(server, list, queue, store, app);
  gate = new Gate(server, list, queue, sync, { mode: "in", place: { id: place } });
  server.use({ clientId, clientSecret });
  server.onChange = () => (server.online ? sync.upload() : sync.wentOffline());
  sync.start();
  while (!list.complete) await sleep(20);
  const told = { passed: [], refused: 0, offline: 0 };
  for (let i = 0; i < count; i += 1) {
    const { passed, scan } = await gate.pass({ code: `T-${1 + Math.floor(next() * people)}` });
    if (passed) told.passed.push(scan.nonce);
    else told.refused += 1;
    if (scan.admitted) told.offline += 1;
    // Somebody else comes to the gate.
    await sleep(next() * 10);
  }
  while (queue.waiting.length > 0) await sleep(20);
  return { ...told, failed: queue.failed.length };
}

const all = gates.map((gate, i) => network.run(gate.origin, () => run(gate, scans / gates.length, random(seed + i))));
process.stdout.write(JSON.stringify(await Promise.all(all)), () => process.exit());
