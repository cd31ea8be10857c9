// Service worker: the app's own files, so that the gate starts without the server. It never sees the API.
// The server puts VERSION and FILES above this text. Files are addressed below their version, and no server answers
// for another version than its own: what is in a cache belongs together.

const CACHE = `gate-${VERSION}`;
const PAGE = "/gate";
const worker = /** @type {any} */ (self);

worker.addEventListener("install", (/** @type {any} */ event) => event.waitUntil(install().then(() => worker.skipWaiting())));
worker.addEventListener("activate", (/** @type {any} */ event) => event.waitUntil(worker.clients.claim()));

worker.addEventListener("fetch", (/** @type {any} */ event) => {
  const { method, url } = event.request;
  const { origin, pathname } = new URL(url);
  if (method !== "GET" || origin !== location.origin) return;
  if (pathname === PAGE) {
    event.respondWith(kept(event.request, { cacheName: CACHE, ignoreSearch: true }));
    event.waitUntil(tidy());
    // A page of an older version goes on with its own files.
  } else if (pathname.startsWith(`${PAGE}/`)) event.respondWith(kept(event.request, {}));
});

async function install() {
  const cache = await caches.open(CACHE);
  await cache.addAll(FILES.map((file) => new Request(`${PAGE}/${VERSION}/${file}`, { cache: "reload" })));
  const page = await cache.match(`${PAGE}/${VERSION}/index.html`);
  await cache.put(PAGE, /** @type {Response} */ (page));
}

/** @param {Request} request @param {MultiCacheQueryOptions} options */
async function kept(request, options) {
  return (await caches.match(request, options)) ?? fetch(request);
}

/** Deletes the files of versions that no page runs: each page holds a lock with the name of its cache. */
async function tidy() {
  // The next version may be filling its cache.
  if (worker.registration.installing || worker.registration.waiting) return;
  const { held = [] } = (await navigator.locks?.query()) ?? {};
  const used = [CACHE, ...held.map(({ name }) => name)];
  const old = (await caches.keys()).filter((name) => name.startsWith("gate-") && !used.includes(name));
  await Promise.all(old.map((name) => caches.delete(name)));
}
