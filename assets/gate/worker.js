// Service worker: the app's own files, so that the gate starts without the server. It never sees the
// API. The page registers it as `worker.js?v=VERSION`; another version of the server makes another cache.

const VERSION = new URL(location.href).searchParams.get("v");
const CACHE = `gate-${VERSION}`;
const FILES = [
  "/gate", "/gate/app.js", "/gate/badge.js", "/gate/barcode.js", "/gate/booking.js", "/gate/dom.js", "/gate/gate.js", "/gate/icon.svg", "/gate/judge.js", "/gate/list.js", "/gate/manifest.webmanifest", "/gate/message.js",
  "/gate/onboarding.js", "/gate/queue.js", "/gate/readiness.js", "/gate/scanner.js", "/gate/scanscreen.js", "/gate/search.js", "/gate/server.js", "/gate/sha256.js",
  "/gate/sound.js", "/gate/store.js", "/gate/style.css", "/gate/supervisor.js", "/gate/sync.js", "/gate/test-code.svg", "/gate/texts.js",
  "/gate/kiosk.css", "/gate/kiosk.js", "/gate/kiosk-flow.js", "/gate/kiosk-texts.js",
  "/gate/shift.js", "/gate/uploads.js", "/gate/verdict.js", "/gate/walkin.js", "/gate/wedge.js", "/gate/vendor/zxing-reader-3.1.4.js",
  "/gate/vendor/zxing-reader-3.1.4.wasm", "/gate/vendor/zxing-share-3.1.4.js",
];

const worker = /** @type {any} */ (self);

worker.addEventListener("install", (/** @type {any} */ event) => {
  const fresh = FILES.map((file) => new Request(file, { cache: "reload" }));
  event.waitUntil(caches.open(CACHE).then((cache) => cache.addAll(fresh)).then(() => worker.skipWaiting()));
});

worker.addEventListener("activate", (/** @type {any} */ event) => {
  const old = (/** @type {string} */ name) => name.startsWith("gate-") && name !== CACHE;
  event.waitUntil(caches.keys()
    .then((names) => Promise.all(names.filter(old).map((name) => caches.delete(name))))
    .then(() => worker.clients.claim()));
});

worker.addEventListener("fetch", (/** @type {any} */ event) => {
  const { method, url } = event.request;
  if (method !== "GET" || !FILES.includes(new URL(url).pathname)) return;
  event.respondWith(caches.open(CACHE)
    .then((cache) => cache.match(event.request, { ignoreSearch: true }))
    .then((kept) => kept ?? fetch(event.request)));
});
