// Keeps list, settings and queue in step with the server, and finds out when it is back.

import { Busy, Unreachable, cancelled } from "./server.js";

/** Messages of the crew, place and policy arrive within this. */
const SETTINGS_MS = 10_000;
const PING_MS = 30_000;
const FEED_WAIT_S = 25;
const PAGE = 5000;
const UPLOAD_MS = 2000;
const RETRY_MS = [500, 1000, 2000, 3000];

/** @param {number} ms */
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** How long to leave a server alone after a failure: a busy one as long as it says, and not all gates at once. @param {unknown} cause @param {number} usualMs */
const pauseMs = (cause, usualMs) => (cause instanceof Busy ? Math.max(usualMs, cause.retryMs * (1 + Math.random() / 2)) : usualMs);

/**
 * @typedef {import("../core/list.js").FeedChange} FeedChange
 * @typedef {import("../core/list.js").FeedMeta} FeedMeta
 * @typedef {Partial<import("./server.js").Schemas["DevicePing"]> & {configVersion: number}} Ping
 */

export class Sync {
  /** @type {AbortController|undefined} */
  #feed;
  #failures = 0;
  #uploadFrom = 0;
  #pingAt = 0;
  #isWaiting = false;
  #channel = typeof BroadcastChannel === "undefined" ? null : new BroadcastChannel("gatepost-list");
  /** @type {import("../core/state.js").GateSettings|undefined} */
  #gate;
  /** Why the list cannot be loaded, in the server's words. */
  problem = "";
  version = "";
  isRunning = false;

  /**
   * @param {import("./server.js").Server} server @param {import("../core/list.js").List} list
   * @param {import("../core/queue.js").Queue} queue @param {import("./store.js").Store} store
   * @param {{place: () => number|undefined, onChange: () => void, onStored: import("../core/queue.js").OnStored, status: () => Ping}} app
   */
  constructor(server, list, queue, store, app) {
    this.server = server;
    this.list = list;
    this.queue = queue;
    this.store = store;
    this.app = app;
    if (this.#channel) this.#channel.onmessage = ({ data }) => this.#fromOtherTab(data);
    server.onEpoch = (epoch) => this.#takenOver(epoch);
  }

  get gate() {
    return this.#gate;
  }

  set gate(gate) {
    this.#gate = gate;
    this.list.scanPattern = gate?.scans?.code;
    this.list.useTickets(gate?.tickets);
  }

  start() {
    if (this.isRunning) return;
    this.isRunning = true;
    const feed = () => this.#followFeed();
    // One tab asks, the others listen; without locks each asks for itself.
    if (navigator.locks && this.#channel) navigator.locks.request("gatepost-list", feed);
    else feed();
    this.#refreshForEver();
    this.#uploadForEver();
  }

  /** For tests. */
  close() {
    this.#channel?.close();
  }

  /** Another place: its list begins anew. */
  async changePlace() {
    await this.list.clear();
    this.#channel?.postMessage({ place: this.app.place() });
    this.#feed?.abort(cancelled());
  }

  /** Asks again at once, where the next try is some seconds away. */
  hurry() {
    this.#failures = this.#uploadFrom = 0;
    this.#feed?.abort(cancelled());
  }

  /** Another request got no answer: nor will the one that waits for news. */
  wentOffline() {
    if (this.#isWaiting) this.#feed?.abort(cancelled());
  }

  /** @param {{place?: number, restart?: boolean, changes?: undefined}|{place: number, restart: boolean, changes: FeedChange[], meta: FeedMeta}} message */
  async #fromOtherTab(message) {
    if (message.changes && message.place === this.app.place()) {
      if (message.restart) this.list.restart();
      await this.list.apply(message.changes, message.meta);
      this.app.onChange();
    } else if (!message.changes && message.place !== this.app.place()) location.reload();
  }

  /** Another machine has taken over: what it may lack is sent again. @param {string} epoch */
  async #takenOver(epoch) {
    await this.store.set("epoch", epoch);
    await this.queue.cover({ epoch: Number(epoch.split(".")[0]), covered: 0 });
    await this.upload();
  }

  async #followFeed() {
    while (this.isRunning) {
      const place = this.app.place();
      if (place === undefined || !this.server.credentials) await sleep(200);
      else await this.#readPage(place);
    }
  }

  /** @param {number} place */
  async #readPage(place) {
    this.#feed = new AbortController();
    const { list, server } = this;
    // While the server was away, ask without waiting: the answer says that it is back.
    const wait = list.complete && list.cursor && server.online ? FEED_WAIT_S : 0;
    const query = { place, limit: PAGE, since: list.cursor || undefined, wait: wait || undefined };
    this.#isWaiting = wait > 0;
    const timeoutMs = wait ? (wait + 5) * 1000 : list.complete ? 4000 : 20_000;
    try {
      const answer = await server.request("GET", "/gate/snapshot", { query, timeoutMs, signal: this.#feed.signal });
      this.#failures = 0;
      if (this.app.place() !== place) return;
      if (answer.status === 410) list.restart();
      else if (answer.status !== 200) throw new Error(answer.error?.message);
      else {
        const restart = list.cursor === undefined;
        await list.apply(answer.data, answer.meta);
        this.#channel?.postMessage({ place, restart, changes: answer.data, meta: answer.meta });
        this.problem = "";
      }
      this.app.onChange();
    } catch (cause) {
      if (!(cause instanceof Unreachable)) this.problem = cause instanceof Error ? cause.message : String(cause);
      if (this.#feed.signal.aborted) return;
      this.app.onChange();
      await sleep(pauseMs(cause, RETRY_MS[Math.min(this.#failures, RETRY_MS.length - 1)]));
      this.#failures += 1;
    }
  }

  async #refreshForEver() {
    while (this.isRunning) {
      await this.refresh().catch(() => {});
      await sleep(SETTINGS_MS);
    }
  }

  /** Settings, clock, the version of the app, and reserved codes; now and then the ping. @throws where the server cannot be reached */
  async refresh() {
    const { server } = this;
    const gate = await server.request("GET", "/gate");
    if (gate.status === 200) {
      server.measureClock(gate);
      this.version = gate.data.appVersion ?? this.version;
      await this.store.write([
        ["meta", "put", ["gate", gate.data]],
        ["meta", "put", ["offset", server.offsetMs]],
      ]);
      this.gate = gate.data;
      if (gate.data.durable) await this.queue.cover(gate.data.durable);
    } else this.problem = gate.error?.message ?? "";
    this.app.onChange();
    if (this.gate?.walkIn) await this.queue.reserveCodes(server).catch(() => {});
    if (performance.now() >= this.#pingAt) await this.#ping();
  }

  /** Tells the server how this gate is. */
  async #ping() {
    await this.server.request("POST", "/device/ping", {
      body: { ...this.app.status(), localTime: Math.floor(Date.now() / 1000), pingInterval: PING_MS / 1000 },
    });
    this.#pingAt = performance.now() + PING_MS - SETTINGS_MS / 2;
  }

  async #uploadForEver() {
    while (this.isRunning) {
      await this.upload();
      await sleep(UPLOAD_MS);
    }
  }

  /** Sends what waits, if the server can be reached; after a failure not at once again. */
  async upload() {
    if (!this.server.online || this.queue.waiting.length === 0 || performance.now() < this.#uploadFrom) return;
    await this.queue.upload(this.server, this.app.onStored).catch((cause) => (this.#uploadFrom = performance.now() + pauseMs(cause, UPLOAD_MS)));
  }
}
