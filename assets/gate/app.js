// The gate app: puts the parts together and draws the screen where people scan.

import { BadgeDialog } from "./ui/badge.js";
import { BookingDialog } from "./ui/booking.js";
import { CODES } from "./core/codes.js";
import { byId, fill, fillTexts, make, setText, showScreen, toast } from "./ui/dom.js";
import { Evacuation } from "./ui/evacuation.js";
import { Gate } from "./core/gate.js";
import { Kiosk } from "./ui/kiosk.js";
import { List } from "./core/list.js";
import { MessageNotice } from "./ui/message.js";
import { choosePlace, setUp } from "./ui/onboarding.js";
import { Queue } from "./core/queue.js";
import { batteryOf, isPersistent, showReadiness } from "./ui/readiness.js";
import { Scanner, cameraProblem } from "./io/scanner.js";
import { drawScan, isAllowed } from "./ui/scanscreen.js";
import { SearchDialog } from "./ui/search.js";
import { Server } from "./io/server.js";
import { Shift } from "./core/shift.js";
import * as sound from "./io/sound.js";
import { forgotten, initialSettings } from "./core/state.js";
import { Store } from "./io/store.js";
import { askOverride, canOverride, openWithPin } from "./ui/supervisor.js";
import { Sync } from "./io/sync.js";
import { setLanguage, t } from "./core/texts.js";
import { confirmThen, showUploads } from "./ui/uploads.js";
import { VerdictScreen } from "./ui/verdict.js";
import { WalkInDialog } from "./ui/walkin.js";
import { Wedge } from "./io/wedge.js";

/** Without a touch, a key or a scan for so long, nobody is at the gate. */
const IDLE_MS = 60_000;
const WORKER_RETRY_MS = 5_000;
/** Longer codes are no ticket's. */
const CODE_MAX = 255;

/** @typedef {import("./core/gate.js").Outcome} Outcome */

const settings = initialSettings();
const store = await Store.open();
const server = new Server();
const list = new List(store, () => server.now());
const queue = new Queue(store);
/** @type {Sync} */
const sync = new Sync(server, list, queue, store, {
  place: () => settings.place?.id,
  onChange: () => {
    followConsole();
    draw();
  },
  onStored: async (scan, id, registered) => {
    await gate.stored(scan, id, registered);
    await shift.stored(scan, registered);
  },
  status,
});
/** @type {Gate} */
const gate = new Gate(server, list, queue, sync, settings);
const shift = new Shift(store, gate);
const verdicts = new VerdictScreen(() => settings);
const scanner = new Scanner(byId("video"), read);
const wedge = new Wedge(read, typed);
const badges = new BadgeDialog(server, list, () => sync.gate, (shown) => verdicts.show(shown));
const bookings = new BookingDialog({ list, queue, gate, shift, settings });
const walkIns = new WalkInDialog(register);
const message = new MessageNotice(settings, saveSettings);
const search = new SearchDialog(server, list, () => settings.place?.id, {
  choose: (person) => scanned({ person }),
  more: searchActions,
  walkIn: () => (sync.gate?.walkIn ? openWalkIn : undefined),
});
const pinCheck = { server, expected: () => sync.gate.supervisorPin };
let scanCount = 0;
let shownScan = 0;
let usedAt = -IDLE_MS;
let battery = /** @type {{level: number}|undefined} */ (undefined);

async function start() {
  Object.assign(settings, await store.get("settings"));
  applyLanguage();
  applyTheme();
  server.offsetMs = (await store.get("offset")) ?? 0;
  server.use(await store.get("credentials"));
  sync.gate = await store.get("gate");
  wedge.settings = settings.wedge;
  await Promise.all([list.load(), queue.load(), shift.load(server.now()), evacuation.load()]);
  // Requests of this page before its reload are not known any more.
  for (const scan of queue.waiting) queue.markSent(scan);
  server.onChange = () => {
    draw();
    if (server.online) sync.upload();
    else sync.wentOffline();
  };
  server.onRevoked = revoked;
  list.setWalkIns(queue.walkIns);
  queue.onChange = () => {
    list.setWalkIns(queue.walkIns);
    draw();
  };
  store.onProblem = draw;
  store.onReopened = storeIsBack;
  setInterval(draw, 1000);
  keepAwake();
  if (!server.credentials) await onboard();
  isPersistent();
  sync.start();
  if (!settings.place) await changePlace();
  else await scanScreen();
}

/** The database is open again. @param {boolean} wasOpen */
async function storeIsBack(wasOpen) {
  if (wasOpen || !(await store.get("credentials"))) return keepAll();
  // It has what an earlier page kept: the scans of this one join it, and the page begins again with all of them.
  await queue.keepAll();
  isLeaving = !store.problem;
  if (isLeaving) location.reload();
}

/** Memory has what the browser deleted. */
async function keepAll() {
  /** @type {[string, any][]} */
  const kept = [["settings", settings], ["credentials", server.credentials], ["gate", sync.gate], ["offset", server.offsetMs]];
  await store.write(kept.filter(([, value]) => value !== undefined).map((pair) => ["meta", "put", pair]));
  await Promise.all([list.keepAll(), queue.keepAll(), shift.save()]);
  draw();
}

/** @param {string} [note] */
async function onboard(note = queue.waiting.length ? t("setup.kept", { count: queue.waiting.length }) : "") {
  const given = await setUp(server, store, { name: settings.name, note });
  settings.name = given.name;
  server.use({ clientId: given.clientId, clientSecret: given.clientSecret });
  await store.set("credentials", { clientId: given.clientId, clientSecret: given.clientSecret });
  await saveSettings();
}

/** Lets somebody choose where scans count; a place set in the console needs no choice. */
async function changePlace() {
  const before = settings.place;
  if (!before) showScreen("places");
  if (!before) await placesKnown();
  const places = sync.gate?.places ?? [];
  const fixed = sync.gate?.place ?? (places.length === 1 ? places[0] : undefined);
  const chosen = !before && fixed ? fixed : await choosePlace(sync.gate, Boolean(before));
  if (chosen && chosen.id !== before?.id) await usePlace(chosen);
  if (before || !chosen) await scanScreen();
  else await readiness();
}

/** Waits until the server names places that this gate may use. */
async function placesKnown() {
  for (;;) {
    await sync.refresh().catch(() => {});
    if (server.denied) await onboard(t("setup.denied"));
    else if (sync.gate?.place || sync.gate?.places?.length) return;
    else {
      showScreen("places");
      setText(byId("places-note"), t(sync.gate ? "place.none" : "place.loading"));
      await new Promise((resolve) => setTimeout(resolve, 2000));
    }
  }
}

/** What the console set since it was asked last: this gate follows, and says so. */
function followConsole() {
  const { place, places, policy } = sync.gate ?? {};
  const news = [];
  if (policy && settings.policy && policy !== settings.policy) news.push(t("console.policy", { policy: t(`policy.${policy}`) }));
  settings.policy = policy ?? settings.policy;
  // Nobody could choose another direction any more.
  if (settings.mode !== "in" && !isAllowed(sync.gate, "check-out")) {
    settings.mode = "in";
    saveSettings();
    news.push(t("console.in"));
  }
  const isSet = place && place.id !== settings.consolePlace;
  if (isSet) settings.consolePlace = place.id;
  if (isSet && settings.place && settings.place.id !== place.id) {
    news.push(t("console.place", { name: place.name }));
    usePlace(place);
  } else if (!place && settings.place && places?.length && !places.some((/** @type {{id: number}} */ { id }) => id === settings.place?.id)) {
    news.push(t("console.place.gone", { name: settings.place.name }));
    delete settings.place;
    changePlace();
  }
  if (news.length > 0) toast(news.join(" "));
}

/** @param {{id: number, name: string}} place */
async function usePlace({ id, name }) {
  settings.place = { id, name };
  await shift.clear();
  await saveSettings();
  await sync.changePlace();
}

async function scanScreen() {
  if (kiosk.isWanted) return kiosk.enter();
  showScreen("scan");
  draw();
  if (settings.cameraOn && !scanner.isOn) await turnCamera(true);
}

async function readiness() {
  showScreen("readiness");
  draw();
}

/** Everything personal goes, from the page as well; scans that were not uploaded stay. */
async function forget() {
  server.use(undefined);
  sync.gate = undefined;
  scanner.stop();
  kiosk.close();
  closeDialogs();
  verdicts.close();
  search.clear();
  bookings.clear();
  toast("");
  for (const form of document.querySelectorAll("dialog form")) /** @type {HTMLFormElement} */ (form).reset();
  for (const id of ["override-who", "badge-who", "undo-text"]) setText(byId(id), "");
  for (const id of ["recent", "failed"]) fill(byId(id), [], () => make("li"));
  await shift.clear();
  await list.clear();
  await evacuation.clear();
  await store.write(forgotten(settings));
  await saveSettings();
}

/** The console took the access away. */
async function revoked() {
  if (!server.credentials) return;
  await forget();
  await queue.strip();
  const walkInCount = queue.walkIns.length;
  const kept = t("setup.revoked", { count: queue.waiting.length + queue.failed.length });
  await onboard(walkInCount ? `${kept} ${t("setup.revoked.walkins", { count: walkInCount })}` : kept);
  await changePlace();
}

/** A camera or a hand scanner read a code: what is open over the screen takes it, or stays as it is. @param {string} code */
function read(code) {
  usedAt = performance.now();
  if (kiosk.isOn) return kiosk.scanned(code);
  if (evacuation.isShown) return evacuation.scanned(code);
  if (document.body.dataset.screen !== "scan") return;
  const dialog = document.querySelector("dialog[open]");
  if (!dialog || dialog.id === "type-dialog") scanned({ code });
  else toast(badges.isOpen ? badges.take(code) : t("scan.ignored"));
}

/** Somebody wants to go in or out. @param {{code?: string, person?: import("./core/list.js").Person}} who */
async function scanned(who) {
  if (!settings.place || document.body.dataset.screen !== "scan") return;
  const startedAt = performance.now();
  const number = (scanCount += 1);
  closeDialogs();
  const outcome = await gate.pass(who);
  if (outcome) settle(outcome, number, startedAt);
}

/** Shows a verdict, unless that of a later scan is on the screen already. @param {Outcome} outcome @param {number} number @param {number} startedAt */
function settle(outcome, number, startedAt) {
  // Revoked meanwhile: the scan is kept, the person is not shown.
  if (!server.credentials) return;
  const { shown, passed, person, scan } = outcome;
  if (passed) shown.onUndo = undo;
  else if (canOverride(outcome, sync.gate)) shown.onOverride = () => askOverride(outcome, pinCheck, (reason) => override(outcome, reason));
  shown.booking = bookings.sizeOf(person);
  if (person && shown.booking > 1) shown.onBooking = () => bookings.open(person, scan.passage);
  if (badges.isAllowed && outcome.code !== CODES.delegateNotFound && !scan.walkIn && (person?.id ?? 1) > 0) shown.onBadge = () => replaceBadge({ name: shown.name, person, code: scan.code });
  if (outcome.shown.why === "unknown" && scan.code !== undefined) offerHelp(shown, scan.code);
  shift.add(outcome);
  if (number > shownScan) {
    shownScan = number;
    closeDialogs();
    verdicts.show(shown, startedAt);
  }
  draw();
}

/** @param {Outcome} outcome @param {string} reason */
async function override(outcome, reason) {
  const number = (scanCount += 1);
  settle(await gate.override(outcome, reason), number, performance.now());
}

/** What may be done about a code that nobody has: it is kept on the way. @param {import("./ui/verdict.js").Shown} shown @param {string} code */
function offerHelp(shown, code) {
  const kept = code.length <= CODE_MAX ? code : undefined;
  if (isAllowed(sync.gate, "delegate-search")) shown.onSearch = () => search.open(kept);
  if (sync.gate?.walkIn) shown.onWalkIn = () => openWalkIn(kept);
}

/** @param {string} [code] that somebody came with */
function openWalkIn(code) {
  walkIns.open(sync.gate?.walkIn?.types ?? [], code);
}

/** @param {import("./core/queue.js").WalkIn} person @param {string} [code] */
async function register(person, code) {
  const startedAt = performance.now();
  const number = (scanCount += 1);
  const outcome = await gate.walkIn(person, code);
  settle(outcome, number, startedAt);
  return outcome.passed;
}

/** @param {import("./ui/badge.js").Who} who @param {string} [code] of the new badge */
function replaceBadge(who, code) {
  if (server.online) badges.open(who, code);
  else toast(t("badge.offline"));
}

/** What else may be done with a search hit. @param {import("./core/list.js").Person} person @param {string} [code] that they came with @returns {[text: string, run: () => void][]} */
function searchActions(person, code) {
  /** @type {[string, () => void][]} */
  const actions = [];
  const count = bookings.sizeOf(person);
  if (count > 1) actions.push([t("verdict.booking", { count }), () => bookings.open(person, settings.mode === "out" ? "out" : "in")]);
  if (badges.isAllowed && person.id > 0) actions.push([t("verdict.badge.button"), () => replaceBadge({ name: person.name, person }, code)]);
  return actions;
}

async function undo() {
  const undone = gate.last;
  const { message, isDone } = await gate.undo();
  if (isDone && undone) await shift.undone(undone);
  toast(message);
  draw();
}

/** The gate waits for the next scan. */
const isFree = () => !document.querySelector("dialog[open]") && document.body.dataset.screen === "scan" && byId("verdict").hidden;

/** Keys of a person with no field in focus: the code is typed by hand. @param {string} text */
function typed(text) {
  if (isFree() && /^[\p{L}\p{N}]/u.test(text)) openType(text);
}

/** @param {string} text */
function openType(text) {
  /** @type {HTMLDialogElement} */ (byId("type-dialog")).showModal();
  const field = /** @type {HTMLInputElement} */ (byId("type-code"));
  field.value = text;
  field.focus();
}

function closeDialogs() {
  for (const dialog of document.querySelectorAll("dialog[open]")) /** @type {HTMLDialogElement} */ (dialog).close();
}

/** @param {boolean} on @param {string} [deviceId] */
async function turnCamera(on, deviceId = settings.camera) {
  settings.cameraOn = on;
  settings.cameraProblem = undefined;
  if (on) {
    const problem = cameraProblem();
    await scanner.start(deviceId).catch((cause) => {
      scanner.stop();
      const isRefused = cause?.name === "NotAllowedError";
      settings.cameraProblem = problem ? t(problem) : isRefused ? t("camera.refused") : t("camera.failed", { message: cause?.message });
      settings.cameraOn = false;
      // A camera that was unplugged must not be asked for again.
      delete settings.camera;
      toast(settings.cameraProblem);
    });
  } else scanner.stop();
  await saveSettings();
  draw();
}

/** What the ping tells the console. */
function status() {
  const { waiting, failed } = queue;
  batteryOf().then((known) => (battery = known));
  return {
    configVersion: sync.gate?.configVersion ?? 0,
    failedUploads: failed.length,
    status: document.hidden ? "background" : "foreground",
    queue: waiting.length,
    clockOffsetMs: server.offsetMs,
    ...(battery ? { battery: Math.round(battery.level * 100) } : {}),
    ...(waiting[0] ? { oldestScanAt: Math.round(waiting[0].at) } : {}),
    ...(list.at ? { listAt: Math.round(list.at) } : {}),
    appVersion: running,
    ...(settings.place ? { place: settings.place.id } : {}),
  };
}

/** Draws what is on the screen now; cheap enough for every second. */
function draw() {
  const { screen } = document.body.dataset;
  const now = server.now();
  if (screen === "readiness") showReadiness(parts);
  else if (screen === "uploads") showUploads(queue, list, gate.zone, now);
  else if (screen === "kiosk") kiosk.draw();
  else if (kiosk.isWanted && isFree()) kiosk.enter();
  else if (screen === "scan") drawScan(parts, now);
  evacuation.draw();
  // The crew's words are not for attendees.
  message.show(kiosk.isOn ? undefined : sync.gate?.message, gate.zone, now);
  if (server.online && sync.version) useWorker(sync.version);
  if (isOutdated && isIdle()) location.reload();
}

const parts = { server, list, queue, store, sync, gate, scanner, wedge, verdicts, settings, shift, saveSettings, tryCamera: () => turnCamera(true) };
const evacuation = new Evacuation(parts);
const kiosk = new Kiosk({ ...parts, onLeave: scanScreen });

/** The version that this page runs: the folder that it came from. */
const running = new URL(import.meta.url).pathname.split("/").at(-2) ?? "";
// As long as the page is there, the worker keeps the files of this version.
navigator.locks?.request(`gate-${running}`, { mode: "shared" }, () => new Promise(() => {}));
let registered = "";
let isOutdated = false;
/** Everything is kept, whatever waits. */
let isLeaving = false;

/** The version of the worker that serves this page; none without one. */
const workerVersion = () => new URL(navigator.serviceWorker?.controller?.scriptURL ?? location.href).searchParams.get("v") ?? "";

/** Lets the app start without the server, which only a secure context can, and looks for a new version. @param {string} version */
function useWorker(version) {
  if (!navigator.serviceWorker) isOutdated = version !== running;
  else if (registered !== version) {
    registered = version;
    // The new version is there once its worker serves it, all files at once.
    navigator.serviceWorker.oncontrollerchange = () => (isOutdated = workerVersion() !== running);
    const again = () => setTimeout(() => (registered = ""), WORKER_RETRY_MS);
    // A file that did not come through makes the new worker redundant.
    const watch = (/** @type {ServiceWorkerRegistration} */ { installing }) =>
      installing?.addEventListener("statechange", () => installing.state === "redundant" && workerVersion() !== version && again());
    navigator.serviceWorker.register(`/gate/worker.js?v=${encodeURIComponent(version)}`, { scope: "/gate" }).then(watch, again);
  }
}

/** Nothing waits for upload, and nobody is at the gate: a reload costs nothing. */
function isIdle() {
  const { screen } = document.body.dataset;
  const isFree = screen === "kiosk" ? kiosk.isAtStart : screen !== "setup" && screen !== "places" && screen !== "evacuation" && byId("verdict").hidden;
  const isUsed = performance.now() - usedAt < IDLE_MS || document.querySelector("dialog[open]");
  return isFree && !isUsed && server.online && queue.waiting.length === 0 && !store.problem;
}

function saveSettings() {
  return store.set("settings", settings);
}

function applyLanguage() {
  setLanguage(settings.language);
  fillTexts(document);
}

function applyTheme() {
  document.documentElement.dataset.theme = settings.theme;
}

/** A gate's screen stays on; a hidden page lets go of the lock. */
function keepAwake() {
  const ask = () => document.hidden || /** @type {any} */ (navigator).wakeLock?.request("screen").catch(() => {});
  document.addEventListener("visibilitychange", () => {
    ask();
    if (!document.hidden) sync.hurry();
  });
  ask();
}

/** Sets `settings[name]` by a field of the menu. @param {"sound"|"vibration"|"theme"|"language"} name @param {() => void} [then] */
function bind(name, then = () => {}) {
  const field = /** @type {HTMLInputElement} */ (byId(name));
  field.onchange = () => {
    Object.assign(settings, { [name]: field.type === "checkbox" ? field.checked : field.value });
    saveSettings();
    then();
  };
}

function openMenu() {
  for (const name of /** @type {const} */ (["sound", "vibration"])) /** @type {HTMLInputElement} */ (byId(name)).checked = settings[name];
  for (const name of /** @type {const} */ (["theme", "language"])) /** @type {HTMLSelectElement} */ (byId(name)).value = settings[name];
  byId("menu-kiosk").hidden = !sync.gate?.kiosk;
  /** @type {HTMLDialogElement} */ (byId("menu-dialog")).showModal();
}

async function reset() {
  await forget();
  await onboard();
  await changePlace();
}

/** The supervisor's, where there is one. @param {Event} event */
function askReset(event) {
  const count = queue.waiting.length + queue.failed.length;
  if (!sync.gate?.supervisorPin) return confirmThen(t("menu.reset.sure", { count }), reset)(event);
  closeDialogs();
  setText(byId("reset-what"), t("menu.reset.with", { count }));
  openWithPin("reset", pinCheck, () => {
    reset();
    return "";
  });
}

/** Back takes away what is over the screen where people scan. It leaves the app only from there, and when it is pressed twice. */
function followBack() {
  for (const type of ["click", "keydown"]) {
    // Browsers skip entries that no touch or key made.
    addEventListener(type, () => history.state ?? history.pushState("over", ""), { capture: true });
  }
  addEventListener("popstate", () => {
    const { screen } = document.body.dataset;
    if (history.state || kiosk.isOn || walkIns.isBusy) return;
    closeDialogs();
    verdicts.close();
    if (screen === "readiness" || screen === "uploads" || screen === "evacuation") scanScreen();
    else if (screen === "places" && !byId("places-back").hidden) byId("places-back").click();
  });
}

function wire() {
  const on = (/** @type {string} */ id, /** @type {() => void} */ run) => byId(id).addEventListener("click", run);
  // Another address has another store: who leaves this one takes no scans along.
  addEventListener("beforeunload", (event) => queue.waiting.length > 0 && !isLeaving && event.preventDefault());
  for (const type of ["pointerdown", "keydown"]) addEventListener(type, sound.unlock, { capture: true });
  for (const type of ["pointerdown", "keydown", "input", "click"]) addEventListener(type, () => (usedAt = performance.now()), { capture: true });
  on("open-menu", openMenu);
  on("open-type", () => openType(""));
  on("open-search", () => search.open());
  on("open-walkin", () => openWalkIn());
  on("camera", () => turnCamera(!scanner.isOn));
  on("undo", undo);
  on("place-name", changePlace);
  on("status-queue", () => { showScreen("uploads"); draw(); });
  on("menu-readiness", readiness);
  on("menu-evacuation", () => evacuation.open());
  on("evacuation-open", () => evacuation.open());
  on("evacuation-close", scanScreen);
  on("menu-uploads", () => { showScreen("uploads"); draw(); });
  on("menu-place", changePlace);
  on("menu-kiosk", () => kiosk.enter());
  on("menu-reload", () => location.reload());
  byId("menu-reset").addEventListener("click", askReset);
  on("ready-continue", scanScreen);
  on("uploads-close", scanScreen);
  on("uploads-now", () => { sync.hurry(); sync.upload(); });
  on("torch", () => {
    const isOn = byId("torch").getAttribute("aria-pressed") !== "true";
    byId("torch").setAttribute("aria-pressed", String(isOn));
    scanner.setTorch(isOn);
  });
  on("switch-camera", async () => {
    settings.camera = await scanner.switch().catch(() => undefined);
    saveSettings();
  });
  bind("sound");
  bind("vibration");
  bind("theme", applyTheme);
  bind("language", () => {
    applyLanguage();
    draw();
  });
  byId("type-form").addEventListener("submit", () => {
    const code = /** @type {HTMLInputElement} */ (byId("type-code")).value.trim();
    if (code) scanned({ code });
  });
  for (const button of document.querySelectorAll("[data-close]")) {
    button.addEventListener("click", () => /** @type {HTMLDialogElement|null} */ (button.closest("dialog"))?.close());
  }
  for (const radio of document.querySelectorAll("input[name=mode]")) {
    const field = /** @type {HTMLInputElement} */ (radio);
    field.addEventListener("change", () => {
      settings.mode = /** @type {import("./core/state.js").Settings["mode"]} */ (field.value);
      saveSettings();
    });
  }
}

wire();
followBack();
await start();
