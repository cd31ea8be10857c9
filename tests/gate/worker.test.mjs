// The service worker: a cache is one version, and pages of an older one go on with theirs.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { runInNewContext } from "node:vm";

const TEXT = readFileSync(new URL("../../assets/gate/io/worker.js", import.meta.url), "utf8");
const ORIGIN = "https://gate.local";

/** A browser with its caches, and a server of a version; `held` are the versions of open pages. */
function browser() {
  const stores = new Map();
  const pathOf = (request) => new URL(request.url ?? request, ORIGIN).pathname;
  const opened = (name) => {
    if (!stores.has(name)) stores.set(name, new Map());
    const kept = stores.get(name);
    return {
      addAll: async (requests) => {
        const answers = requests.map((request) => all.fetch(request));
        if (answers.some((answer) => answer === undefined)) throw new TypeError("a request failed");
        requests.forEach((request, i) => kept.set(pathOf(request), answers[i]));
      },
      match: async (request) => kept.get(pathOf(request)),
      put: async (request, answer) => void kept.set(pathOf(request), answer),
    };
  };
  const all = {
    served: "", held: [], stores, installing: null,
    fetch(request) {
      const [, , version, file] = pathOf(request).split("/");
      return version === all.served ? `${file} of ${version}` : undefined;
    },
    /** The worker of a version; `fire` gives what it answers. */
    worker(version) {
      const listeners = {};
      const self = {
        addEventListener: (name, listener) => (listeners[name] = listener), skipWaiting() {}, clients: { claim() {} },
        registration: { get installing() { return all.installing; }, waiting: null },
      };
      const caches = {
        open: async (name) => opened(name),
        keys: async () => [...stores.keys()],
        delete: async (name) => stores.delete(name),
        match: async (request, { cacheName } = {}) => {
          for (const [name, kept] of stores) if ((cacheName ?? name) === name && kept.has(pathOf(request))) return kept.get(pathOf(request));
        },
      };
      const navigator = { locks: { query: async () => ({ held: all.held.map((held) => ({ name: `gate-${held}` })) }) } };
      class Request {
        constructor(url) {
          this.url = new URL(url, ORIGIN).href;
        }
      }
      const scope = { self, caches, navigator, Request, URL, location: new URL(`${ORIGIN}/gate/worker.js`), fetch: async (request) => all.fetch(request) ?? "network" };
      runInNewContext(`const VERSION = "${version}"; const FILES = ["index.html", "app.js"];\n${TEXT}`, scope);
      return async (name, request) => {
        const work = [];
        let answer;
        listeners[name]({ request, waitUntil: (one) => work.push(one), respondWith: (one) => (answer = one) });
        await Promise.all(work);
        return answer;
      };
    },
  };
  return all;
}

const get = (path, origin = ORIGIN) => ({ method: "GET", url: `${origin}${path}` });

test("pages of an older version keep their files until they are closed", async () => {
  const device = browser();
  device.served = "one";
  const first = device.worker("one");
  await first("install");
  device.held = ["one"];
  device.served = "two";
  const second = device.worker("two");
  await second("install");
  await second("activate");
  assert.equal(await second("fetch", get("/gate/one/app.js")), "app.js of one");
  // Another page is opened: it is of the new version.
  device.held = ["one", "two"];
  assert.equal(await second("fetch", get("/gate?x=1")), "index.html of two");
  assert.equal(await second("fetch", get("/gate/two/app.js")), "app.js of two");
  assert.deepEqual([...device.stores.keys()], ["gate-one", "gate-two"]);
  device.held = ["two"];
  await second("fetch", get("/gate"));
  assert.deepEqual([...device.stores.keys()], ["gate-two"]);
});

test("a server that was updated in the middle gives no mixed version", async () => {
  const device = browser();
  device.served = "three";
  await assert.rejects(device.worker("two")("install"), TypeError);
});

test("the cache that the next version fills is left alone", async () => {
  const device = browser();
  device.served = "one";
  const first = device.worker("one");
  await first("install");
  device.stores.set("gate-two", new Map());
  device.installing = {};
  await first("fetch", get("/gate"));
  assert.ok(device.stores.has("gate-two"));
});

test("only the app's own files are answered", async () => {
  const device = browser();
  device.served = "one";
  const worker = device.worker("one");
  await worker("install");
  assert.equal(await worker("fetch", get("/api/v5/gate")), undefined);
  assert.equal(await worker("fetch", get("/gate/one/app.js", "https://elsewhere.example")), undefined);
  assert.equal(await worker("fetch", { ...get("/gate"), method: "POST" }), undefined);
  assert.equal(await worker("fetch", get("/gate/trust")), "network");
});
