// A second machine takes over: scans stay until it has them, are sent again where it lacks them, and the first machine is
// as good as away then.

import "fake-indexeddb/auto";
import assert from "node:assert/strict";
import { test } from "node:test";
import { Queue } from "../../assets/gate/core/queue.js";
import { Server, Unreachable } from "../../assets/gate/io/server.js";
import { Store } from "../../assets/gate/io/store.js";

const SCAN = { code: "T-1", delegate: 1, passage: "in", at: 1_795_262_400_123, place: 10, due: true };
let names = 0;

async function fresh(t, name = `standby-${(names += 1)}`) {
  const store = await Store.open(name);
  const queue = new Queue(store);
  t.after(() => queue.close());
  return { store, queue };
}

/** A machine that keeps scans by nonce, at an epoch; its replica has those up to `covered`. */
function machine(epoch, covered = () => 0) {
  const stored = new Map();
  return {
    stored,
    async request(method, path, { body: sent } = {}) {
      if (method === "DELETE") {
        stored.delete([...stored.keys()][Number(path.split("id:")[1]) - 1]);
        return { status: 204, meta: {} };
      }
      const data = Object.entries(sent.interactions).map(([key, scan]) => {
        stored.set(key, scan);
        return { key, status: 201, data: { id: stored.size }, meta: {} };
      });
      return { status: 200, data, meta: { durable: { epoch, proof: "p", mark: stored.size, covered: covered() } } };
    },
  };
}

test("a scan stays until the second machine has it, also over a restart", async (t) => {
  const { store, queue } = await fresh(t);
  const first = machine(1);
  for (let i = 0; i < 3; i += 1) await queue.add({ ...SCAN, code: `T-${i}` });
  let told = 0;
  await queue.upload(first, async () => (told += 1));
  assert.deepEqual([first.stored.size, told, queue.waiting.length, queue.uncovered.length], [3, 3, 0, 3]);
  assert.deepEqual(queue.passed, []);
  const again = new Queue(store);
  t.after(() => again.close());
  await again.load();
  await again.cover({ epoch: 1, covered: 2 });
  assert.equal(again.uncovered.length, 3, "all came in one batch, with its mark");
  await again.cover({ epoch: 1, covered: 3 });
  assert.deepEqual([again.uncovered.length, (await store.all("queue")).length], [0, 0]);
});

test("where no machine can take over nothing is kept", async (t) => {
  const { store, queue } = await fresh(t);
  const scan = await queue.add(SCAN);
  await queue.complete(scan, undefined, undefined);
  const covered = await queue.add(SCAN);
  await queue.complete(covered, undefined, { epoch: 1, proof: "p", mark: 5, covered: 5 });
  assert.equal((await store.all("queue")).length, 0);
});

test("after a takeover what is not covered is sent again as decided, with its nonce, and what was taken back is taken back", async (t) => {
  const { queue } = await fresh(t);
  const first = machine(1);
  const scans = [];
  for (const more of [{}, {}, { override: true }]) scans.push(await queue.add({ ...SCAN, ...more }));
  await queue.upload(first, async () => {});
  await queue.takenBack(scans[1]);
  assert.equal(queue.waiting.length, 0);
  const second = machine(900);
  // Its marks are others: only its epoch says that it lacks something.
  await queue.cover({ epoch: 900, covered: 1_000_000 });
  assert.equal(queue.waiting.length, 3);
  await queue.upload(second, async () => {});
  assert.deepEqual([...second.stored.keys()].sort(), [scans[0].nonce, scans[2].nonce].sort());
  assert.deepEqual([second.stored.get(scans[0].nonce).admitted, second.stored.get(scans[2].nonce).admitted], [true, undefined]);
  assert.equal(second.stored.get(scans[0].nonce).recordedAt, first.stored.get(scans[0].nonce).recordedAt);
  await queue.cover({ epoch: 900, covered: 1_000_000 });
  assert.equal(queue.uncovered.length, 0);
});

test("a walk-in keeps the code that the server made", async (t) => {
  const { queue } = await fresh(t);
  await queue.add({ passage: "in", at: SCAN.at, place: 10, walkIn: { firstName: "Ada" }, due: true });
  const bodies = [];
  const server = {
    async request(_method, _path, { body }) {
      bodies.push(body);
      return { status: 201, data: { id: 7, codes: ["MADE-1"] }, meta: { interaction: 9, durable: { epoch: 1, proof: "p", mark: 4, covered: 0 } } };
    },
  };
  await queue.upload(server, async () => {});
  assert.deepEqual([queue.uncovered.length, queue.walkIns.length, queue.uncovered[0].code], [1, 0, "MADE-1"]);
  await queue.cover({ epoch: 2, covered: 0 });
  await queue.upload(server, async () => {});
  assert.deepEqual(bodies.map(({ code, admitted }) => [code, admitted]), [[undefined, undefined], ["MADE-1", true]]);
  assert.equal(bodies[0].nonce, bodies[1].nonce);
});

test("the machine before is away once a higher epoch is known, and an epoch that somebody made up is forgotten", async (t) => {
  let headers = {};
  const sent = [];
  t.mock.method(globalThis, "fetch", async (url, init) => {
    sent.push(init.headers["Gatepost-Epoch"]);
    return new Response(JSON.stringify(url.endsWith("/token") ? { access_token: "t" } : { data: {} }), { status: 200, headers });
  });
  const server = new Server();
  server.use({ clientId: "c", clientSecret: "s" });
  const heard = [];
  server.onEpoch = (epoch) => heard.push(epoch);
  await server.request("GET", "/gate");
  headers = { "Gatepost-Epoch": "1.aa" };
  await server.request("GET", "/gate");
  headers = { "Gatepost-Epoch": "70.bb" };
  await server.request("GET", "/gate");
  headers = { "Gatepost-Epoch": "1.aa" };
  await assert.rejects(server.request("GET", "/gate"), Unreachable);
  assert.equal(server.online, false);
  headers = { "Gatepost-Epoch": "70.bb" };
  await server.request("GET", "/gate");
  assert.equal(server.online, true);
  headers = { "Gatepost-Epoch": "1.aa", "Gatepost-Epoch-Unproven": "true" };
  await server.request("GET", "/gate");
  assert.deepEqual([server.epoch, heard], ["1.aa", ["1.aa", "70.bb", "1.aa"]]);
  assert.deepEqual(sent.slice(-3), ["70.bb", "70.bb", "70.bb"]);
});
