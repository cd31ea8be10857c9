// Talks to the server: time-outs, token, and whether it can be reached. Never `navigator.onLine`.

import { CODES } from "../core/codes.js";

const API = "/api/v5";
const EPOCH = "Gatepost-Epoch";
const TIMEOUT_MS = 8000;

/**
 * Requests and answers are those of the API's document: the tests make `api.d.ts` of it.
 * @typedef {import("api").paths} Paths
 * @typedef {import("api").components["schemas"]} Schemas
 * @typedef {"GET"|"POST"|"DELETE"} Method
 *
 * @typedef {object} Status
 * @property {number} status
 * @property {{code: number, message: string, internalCode: number, reason?: string}} [error]
 * @property {number} [sentAt] Unix ms by this device's clock, of the request that was answered
 * @property {number} [answeredAt]
 *
 * @typedef {{clientId: string, clientSecret: string}} Credentials
 */
/** @template {keyof Paths} P @template {Method} M @typedef {Paths[P][Lowercase<M> & keyof Paths[P]]} Operation */
/** @template O @typedef {O extends {responses: infer R} ? Content<R[keyof R & (200|201)]> : never} Success */
/** @template C @typedef {C extends {content: {"application/json": infer J}} ? J : never} Content */
/** @template O @typedef {O extends {requestBody: infer B} ? Content<B> : undefined} Body */
/** @template O @typedef {O extends {parameters: {query?: infer Q}} ? Q : undefined} Query */
/** Less what the document allows without a name. @template T @typedef {{[K in keyof T as string extends K ? never : K]: T[K]}} Named */
/** Of a success; an error has nothing of it but the note; `durable` is of all that write. @template C @typedef {C extends {data: infer D, meta: infer M} ? Status & {data: D, meta: Named<M> & {note?: Schemas["GateNote"], durable?: Schemas["Durable"]}} : Status} AnswerOf */
/** @template {keyof Paths} P @template {Method} M @typedef {[Success<Operation<P, M>>] extends [never] ? Status : AnswerOf<Success<Operation<P, M>>>} Answer */
/** @template O @typedef {{body?: Body<O>, query?: Query<O>, timeoutMs?: number, signal?: AbortSignal, anonymous?: boolean}} Options */

/** No answer, or one that says that the server cannot take it now. */
export class Unreachable extends Error {}

/** The server is there and has too much to do: no reason to judge alone. */
export class Busy extends Unreachable {
  /** @param {string} message @param {number} status @param {number} retryMs when to ask again */
  constructor(message, status, retryMs) {
    super(message);
    this.status = status;
    this.retryMs = retryMs;
  }
}

/** How long a busy server is left alone that does not say, and at most. */
const [BUSY_MS, BUSY_MAX_MS] = [1000, 60_000];

/** The server does not know these credentials; nothing is deleted. */
export class NotSignedIn extends Error {}

export class Server {
  /** @type {Credentials|undefined} */
  credentials;
  /** @type {string|undefined} */
  #token;
  /** @type {Promise<void>|undefined} */
  #signingIn;
  online = false;
  /** Whether the token endpoint refused the credentials. */
  denied = false;
  /** Server's clock minus ours, in ms. */
  offsetMs = 0;
  /** The newest epoch that was heard of, with its proof: `EPOCH.PROOF`; empty where no machine can take over. */
  epoch = "";
  onChange = () => {};
  /** Another machine took over, or the first epoch is known. @param {string} epoch */
  onEpoch = (epoch) => {};
  /** The client was revoked. */
  onRevoked = () => {};

  /** Now, by the server's clock. */
  now() {
    return Date.now() + this.offsetMs;
  }

  /** @param {boolean} online */
  #setOnline(online) {
    if (this.online === online) return;
    this.online = online;
    this.onChange();
  }

  /**
   * @template {keyof Paths} P @template {Method} M
   * @param {M} method @param {P} path below the API @param {Options<Operation<P, M>>} [options]
   * @returns {Promise<Answer<P, M>>} whatever the server answered; 5xx and 429 throw
   * @throws {Unreachable|Busy|NotSignedIn}
   */
  async request(method, path, options = {}) {
    // One deadline for the request, a new token and the second try together.
    const deadline = AbortSignal.timeout(options.timeoutMs ?? TIMEOUT_MS);
    const signal = options.signal ? AbortSignal.any([deadline, options.signal]) : deadline;
    return this.#request(method, `${API}${path}${queryOf(options.query)}`, { ...options, signal });
  }

  /** @param {string} method @param {string} url @param {{body?: unknown, signal: AbortSignal, anonymous?: boolean}} options */
  async #request(method, url, { body, signal, anonymous }) {
    for (let attempt = 0; ; attempt += 1) {
      /** @type {Record<string, string>} */
      const headers = {};
      if (body !== undefined) headers["Content-Type"] = "application/json";
      if (this.epoch) headers[EPOCH] = this.epoch;
      if (!anonymous) {
        if (!this.#token) await waitFor(this.signIn(), signal);
        headers.Authorization = `Bearer ${this.#token}`;
      }
      const used = this.#token;
      const text = body === undefined ? undefined : JSON.stringify(body);
      const answer = await this.#fetch(url, { method, headers, body: text, signal });
      if (answer.status !== 401 || anonymous) return answer;
      if (answer.error?.internalCode === CODES.clientRevoked) {
        this.onRevoked();
        throw new NotSignedIn("revoked");
      }
      if (this.#token === used) this.#token = undefined;
      if (attempt === 1) throw new NotSignedIn(answer.error?.message);
    }
  }

  /** @param {string} url @param {RequestInit} init */
  async #fetch(url, init) {
    const sentAt = Date.now();
    let response;
    let json;
    try {
      response = await fetch(url, { ...init, cache: "no-store", credentials: "omit" });
      json = response.status === 204 ? {} : await response.json();
    } catch (cause) {
      // Somebody else's wish to stop says nothing about the server.
      if (!(init.signal?.reason instanceof Cancelled)) this.#setOnline(false);
      throw new Unreachable(String(cause));
    }
    this.#hear(response.headers);
    const { status } = response;
    const error = json.meta?.error;
    const message = error?.message ?? `HTTP ${status}`;
    const retryAfter = response.headers.get("Retry-After");
    const isBusy = status === 429 || (status === 503 && (retryAfter !== null || error?.internalCode === CODES.unavailable));
    if (isBusy) throw new Busy(message, status, Math.min(Number(retryAfter) * 1000 || BUSY_MS, BUSY_MAX_MS));
    // Discovery that is closed is an answer, not a server that is down.
    if (status >= 500 && error?.internalCode !== CODES.discoveryClosed) {
      this.#setOnline(false);
      throw new Unreachable(message);
    }
    this.#setOnline(true);
    return {
      status,
      sentAt,
      answeredAt: Date.now(),
      meta: json.meta ?? {},
      data: url.endsWith("/token") ? json : json.data,
      error: error ?? (json.error ? { code: status, message: json.error, internalCode: json.internalCode ?? 0 } : undefined),
    };
  }

  /**
   * A machine from which another one took over is as good as away. One that calls our epoch unproven is right: somebody
   * else made it up.
   * @param {Headers} headers @throws {Unreachable}
   */
  #hear(headers) {
    const told = headers.get(EPOCH);
    if (!told || told === this.epoch) return;
    const isLower = Number(told.split(".")[0]) < Number(this.epoch.split(".")[0]);
    if (isLower && !headers.get(`${EPOCH}-Unproven`)) {
      this.#setOnline(false);
      throw new Unreachable("another machine took over");
    }
    this.epoch = told;
    this.onEpoch(told);
  }

  /** Gets a token; calls at once share one request. @returns {Promise<void>} */
  signIn() {
    this.#signingIn ??= this.#signIn().finally(() => (this.#signingIn = undefined));
    return this.#signingIn;
  }

  async #signIn() {
    if (!this.credentials) throw new NotSignedIn("no credentials");
    const answer = await this.#fetch("/api/oauth/v2/token", {
      method: "POST",
      headers: { "Content-Type": "application/x-www-form-urlencoded" },
      body: new URLSearchParams({
        grant_type: "client_credentials",
        client_id: this.credentials.clientId,
        client_secret: this.credentials.clientSecret,
      }).toString(),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    this.denied = answer.status !== 200;
    if (this.denied) {
      // Said only to a client that has the right secret.
      if (answer.error?.internalCode === CODES.clientRevoked) this.onRevoked();
      this.onChange();
      throw new NotSignedIn(answer.error?.message);
    }
    this.#token = answer.data.access_token;
  }

  /** Other credentials, or none. @param {Credentials|undefined} credentials @param {string} [epoch] as it was known before a restart */
  use(credentials, epoch = this.epoch) {
    this.credentials = credentials;
    this.epoch = epoch;
    this.#token = undefined;
    this.denied = false;
  }

  /** Measures the clock's offset by an answer that tells the server's time; a sign-in before it does not count. @param {Answer<"/gate", "GET">} answer */
  measureClock({ sentAt = Date.now(), answeredAt = Date.now(), data }) {
    this.offsetMs = Math.round(data.serverTime - (sentAt + answeredAt) / 2);
  }
}

/** @param {object} [query] */
function queryOf(query = {}) {
  const given = Object.entries(query).filter(([, value]) => value !== undefined);
  return given.length === 0 ? "" : `?${new URLSearchParams(given)}`;
}

class Cancelled extends Error {}

/** A reason for a caller's own abort. */
export const cancelled = () => new Cancelled("cancelled");

/** Waits for shared work, but no longer than one's own deadline. @param {Promise<void>} work @param {AbortSignal} signal */
function waitFor(work, signal) {
  return new Promise((resolve, reject) => {
    signal.addEventListener("abort", () => reject(new Unreachable("no answer in time")));
    work.then(resolve, reject);
  });
}
