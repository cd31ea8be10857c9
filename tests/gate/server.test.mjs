// Requests: each ends, a busy server is not one that is away, and the clock is measured by one answer alone.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { Busy, NotSignedIn, Server, Unreachable } from "../../assets/gate/io/server.js";

// Deadlines alone do not keep Node running.
const running = setInterval(() => {}, 1000);
after(() => clearInterval(running));

const json = (status, body, headers = {}) => new Response(JSON.stringify(body), { status, headers });
const failure = (status, internalCode, headers) => json(status, { meta: { error: { code: status, internalCode, message: "no" } } }, headers);
const token = () => json(200, { access_token: "t" });

/** A server that is signed in; `answers` says what it gets from then on. */
async function connected(t, answers) {
  let answer = () => json(200, { data: {} });
  t.mock.method(globalThis, "fetch", async (url, init) => (url.endsWith("/token") ? token() : answer(url, init)));
  const server = new Server();
  server.use({ clientId: "c", clientSecret: "s" });
  await server.request("GET", "/gate");
  assert.ok(server.online);
  answer = answers;
  return server;
}

/** As fetch without an answer: only its signal ends it. */
const silent = (_, { signal }) => new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason)));

test("a request that gets no answer ends in time, its body and its token included", async (t) => {
  const server = await connected(t, silent);
  await assert.rejects(server.request("GET", "/gate", { timeoutMs: 20 }), Unreachable);
  assert.equal(server.online, false);
  // The head came, the body does not.
  const half = await connected(t, async (_, { signal }) => {
    const body = new ReadableStream({ start: (stream) => signal.addEventListener("abort", () => stream.error(signal.reason)) });
    return new Response(body, { status: 200 });
  });
  await assert.rejects(half.request("GET", "/gate", { timeoutMs: 20 }), Unreachable);
  t.mock.method(globalThis, "fetch", silent);
  const unsigned = new Server();
  unsigned.use({ clientId: "c", clientSecret: "s" });
  await assert.rejects(unsigned.request("GET", "/gate", { timeoutMs: 20 }), Unreachable);
});

test("whoever wants a request to end is obeyed, and that says nothing about the server", async (t) => {
  const { cancelled } = await import("../../assets/gate/io/server.js");
  const server = await connected(t, silent);
  const controller = new AbortController();
  const asked = server.request("GET", "/gate/snapshot", { timeoutMs: 10_000, signal: controller.signal });
  controller.abort(cancelled());
  await assert.rejects(asked, Unreachable);
  assert.equal(server.online, true);
});

test("a busy server is not away", async (t) => {
  const cases = [
    [() => failure(429, 1203, { "Retry-After": "7" }), 7000],
    [() => failure(503, 1108, { "Retry-After": "2" }), 2000],
    [() => failure(503, 1108), 1000],
    [() => json(503, {}, { "Retry-After": "1" }), 1000],
    [() => failure(429, 1203, { "Retry-After": "86400" }), 60_000],
    [() => failure(429, 1203, { "Retry-After": "Sat, 21 Nov 2026 09:02:00 GMT" }), 1000],
  ];
  for (const [answer, retryMs] of cases) {
    const server = await connected(t, answer);
    await assert.rejects(server.request("GET", "/gate"), (cause) => cause instanceof Busy && cause instanceof Unreachable && cause.retryMs === retryMs);
    assert.equal(server.online, true);
  }
  for (const answer of [() => failure(503, 1110), () => failure(500, 1199), () => json(502, {}), () => new Response("<html>", { status: 504 })]) {
    const server = await connected(t, answer);
    await assert.rejects(server.request("GET", "/gate"), (cause) => cause instanceof Unreachable && !(cause instanceof Busy));
    assert.equal(server.online, false);
  }
});

test("the clock is measured without the sign-in and the second try", async (t) => {
  let now = 1_000_000;
  t.mock.method(Date, "now", () => now);
  let tries = 0;
  t.mock.method(globalThis, "fetch", async (url) => {
    if (url.endsWith("/token")) {
      now += 4000;
      return token();
    }
    tries += 1;
    now += 50;
    // The first token is worth nothing.
    if (tries === 1) return failure(401, 1201);
    const serverTime = now + 60_000;
    now += 50;
    return json(200, { data: { serverTime } });
  });
  const server = new Server();
  server.use({ clientId: "c", clientSecret: "s" });
  server.measureClock(await server.request("GET", "/gate"));
  assert.equal(tries, 2);
  assert.equal(server.offsetMs, 60_000);
});

test("a token that is refused is an answer", async (t) => {
  t.mock.method(globalThis, "fetch", async () => json(401, { error: "invalid_client", internalCode: 1201 }));
  const server = new Server();
  server.use({ clientId: "c", clientSecret: "s" });
  await assert.rejects(server.request("GET", "/gate"), NotSignedIn);
  assert.deepEqual([server.online, server.denied], [true, true]);
});
