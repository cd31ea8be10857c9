// The gate app: puts the parts together and draws the screen where people scan.

import { age, byId, fill, icon, make, setText, showScreen } from "./dom.js";
import { Gate } from "./gate.js";
import { spokenTime } from "./judge.js";
import { List } from "./list.js";
import { choosePlace, setUp } from "./onboarding.js";
import { Queue } from "./queue.js";
import { batteryOf, showReadiness } from "./readiness.js";
import { Scanner, cameraProblem } from "./scanner.js";
import { SearchDialog } from "./search.js";
import { Server } from "./server.js";
import { isPin, randomHex } from "./sha256.js";
import * as sound from "./sound.js";
import { Store } from "./store.js";
import { Sync } from "./sync.js";
import { fillTexts, t } from "./texts.js";
import { confirmThen, showUploads } from "./uploads.js";
import { VerdictScreen } from "./verdict.js";
import { Wedge } from "./wedge.js";

const RECENT = 3;
const PIN_TRIES = 5;
const PIN_PAUSE_MS = 60_000;

/** @typedef {import("./gate.js").Outcome} Outcome */

/** @type {any} */
const settings = { mode: "in", theme: "auto", sound: true, vibration: true, passed: 0 };
const store = await Store.open();
const server = new Server();
const list = new List(store);
const queue = new Queue(store);
/** @type {Sync} */
const sync = new Sync(server, list, queue, store, {
  place: () => settings.place?.id,
  onChange: () => {
    followConsole();
    draw();
  },
  onStored: (scan, id) => gate.stored(scan, id),
  status,
});
/** @type {Gate} */
const gate = new Gate(server, list, queue, sync, settings);
const verdicts = new VerdictScreen(() => settings);
const scanner = new Scanner(byId("video"), (code) => scanned({ code }));
const wedge = new Wedge((code) => scanned({ code }), typed);
const search = new SearchDialog(server, list, () => settings.place?.id, (person) => scanned({ person }));
/** @type {{shown: import("./verdict.js").Shown, at: number}[]} */
const recent = [];
/** People that this gate let in since it was opened, so that nobody counts twice. */
const mine = new Set();
let scanCount = 0;
let shownScan = 0;
let battery = /** @type {{level: number}|undefined} */ (undefined);
let wrongPins = 0;
let pinLockedUntil = 0;

async function start() {
  Object.assign(settings, await store.get("settings"));
  applyTheme();
  for (const radio of document.querySelectorAll("input[name=mode]")) {
    /** @type {HTMLInputElement} */ (radio).checked = /** @type {HTMLInputElement} */ (radio).value === settings.mode;
  }
  server.offsetMs = (await store.get("offset")) ?? 0;
  server.use(await store.get("credentials"));
  sync.gate = await store.get("gate");
  wedge.settings = settings.wedge;
  await Promise.all([list.load(), queue.load()]);
  server.onChange = () => {
    draw();
    if (server.online) sync.upload();
    else sync.wentOffline();
  };
  server.onRevoked = revoked;
  queue.onChange = draw;
  store.onProblem = draw;
  setInterval(draw, 1000);
  keepAwake();
  if (!server.credentials) await onboard();
  sync.start();
  if (!settings.place) await changePlace();
  else await scanScreen();
}

/** @param {string} [note] */
async function onboard(note = queue.waiting.length ? t("setup.kept", { count: queue.waiting.length }) : "") {
  const name = settings.name ?? `G-${randomHex(2).toUpperCase()}`;
  const given = await setUp(server, store, { name, note });
  settings.name = given.name;
  server.use({ clientId: given.clientId, clientSecret: given.clientSecret });
  await store.set("credentials", server.credentials);
  await saveSettings();
  navigator.storage?.persist?.().catch(() => {});
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

/** The console set another place since it was asked last: this gate follows. */
function followConsole() {
  const set = sync.gate?.place;
  if (!set || set.id === settings.consolePlace) return;
  settings.consolePlace = set.id;
  if (settings.place && settings.place.id !== set.id) usePlace(set);
}

/** @param {{id: number, name: string}} place */
async function usePlace({ id, name }) {
  settings.place = { id, name };
  settings.passed = 0;
  mine.clear();
  recent.length = 0;
  gate.last = undefined;
  await saveSettings();
  await sync.changePlace();
}

async function scanScreen() {
  showScreen("scan");
  draw();
  if (settings.cameraOn && !scanner.isOn) await turnCamera(true);
}

async function readiness() {
  showScreen("readiness");
  draw();
}

/** The console took the access away: everything personal goes, scans that were not uploaded stay. */
async function revoked() {
  if (!server.credentials) return;
  server.use(undefined);
  sync.gate = undefined;
  delete settings.place;
  gate.last = undefined;
  recent.length = 0;
  verdicts.close();
  scanner.stop();
  await list.clear();
  await queue.strip();
  await store.write([["meta", "delete", "credentials"], ["meta", "delete", "gate"]]);
  await saveSettings();
  await onboard(t("setup.revoked", { count: queue.waiting.length + queue.failed.length }));
  await changePlace();
}

/** Somebody wants to go in or out. @param {{code?: string, person?: import("./list.js").Person}} who */
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
  const { shown, passed, scan } = outcome;
  if (passed) {
    shown.onUndo = undo;
    const key = scan.delegate ?? scan.code;
    if (scan.passage === "in" && !mine.has(key)) {
      mine.add(key);
      settings.passed += 1;
      saveSettings();
    }
  } else if (canOverride(outcome)) shown.onOverride = () => askOverride(outcome);
  recent.unshift({ shown, at: scan.at });
  recent.length = Math.min(recent.length, RECENT);
  if (number > shownScan) {
    shownScan = number;
    verdicts.show(shown, startedAt);
  }
  draw();
}

/** Somebody who is known, at a gate with a supervisor. @param {Outcome & {code?: number}} outcome */
function canOverride({ scan, code }) {
  return scan.passage === "in" && code !== 1301 && sync.gate?.allowRejected && sync.gate?.supervisorPin;
}

/** @param {Outcome} outcome */
function askOverride(outcome) {
  const dialog = /** @type {HTMLDialogElement} */ (byId("override-dialog"));
  const [reason, pin] = [byId("override-reason"), byId("override-pin")].map((field) => /** @type {HTMLInputElement} */ (field));
  const wrong = byId("override-wrong");
  reason.value = pin.value = "";
  wrong.hidden = true;
  setText(byId("override-who"), t("override.who", { name: outcome.shown.name ?? "" }));
  byId("override-form").onsubmit = async (event) => {
    event.preventDefault();
    const message = pinProblem(pin.value);
    wrong.hidden = !message;
    setText(wrong, message);
    if (message) {
      pin.value = "";
      return pin.focus();
    }
    dialog.close();
    const number = (scanCount += 1);
    settle(await gate.override(outcome, reason.value.trim()), number, performance.now());
  };
  dialog.showModal();
}

/** @param {string} pin */
function pinProblem(pin) {
  const left = pinLockedUntil - Date.now();
  if (left > 0) return t("override.locked", { count: Math.ceil(left / 1000) });
  if (isPin(pin, sync.gate.supervisorPin)) {
    wrongPins = 0;
    return "";
  }
  wrongPins += 1;
  if (wrongPins % PIN_TRIES === 0) pinLockedUntil = Date.now() + PIN_PAUSE_MS;
  return t("override.wrong");
}

async function undo() {
  const undone = gate.last;
  const { message, isDone } = await gate.undo();
  if (isDone && undone) {
    const index = recent.findIndex(({ shown }) => shown === undone.shown);
    if (index >= 0) recent.splice(index, 1);
    if (undone.scan.passage === "in" && mine.delete(undone.scan.delegate ?? undone.scan.code)) settings.passed -= 1;
    saveSettings();
  }
  toast(message);
  draw();
}

/** Keys of a person with no field in focus: the code is typed by hand. @param {string} text */
function typed(text) {
  const isFree = !document.querySelector("dialog[open]") && document.body.dataset.screen === "scan" && byId("verdict").hidden;
  if (isFree && /^[\p{L}\p{N}]/u.test(text)) openType(text);
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
    ...(sync.version ? { appVersion: sync.version } : {}),
    ...(settings.place ? { place: settings.place.id } : {}),
  };
}

/** Draws what is on the screen now; cheap enough for every second. */
function draw() {
  const { screen } = document.body.dataset;
  const now = server.now();
  if (screen === "readiness") showReadiness(parts);
  else if (screen === "uploads") showUploads(queue, list, gate.zone, now);
  else if (screen === "scan") drawScan(now);
  if (server.online && sync.version) useWorker(sync.version);
}

const parts = { server, list, store, sync, scanner, wedge, verdicts, settings, saveSettings, tryCamera: () => turnCamera(true) };

/** @param {number} now */
function drawScan(now) {
  const { place } = list;
  setText(byId("place-name"), settings.place?.name ?? "");
  byId("place-name").setAttribute("aria-label", t("scan.place", { name: settings.place?.name ?? "" }));
  pill("status-online", server.denied ? "bad" : server.online ? "good" : "warn", t(server.denied ? "status.denied" : server.online ? "status.online" : "status.offline"));
  const [key, count] = age(now - list.at);
  const listText = list.complete ? t("status.list", { age: t(key, { count }) }) : list.people.size ? t("status.list.loading", { count: list.people.size }) : t("status.list.none");
  pill("status-list", !list.complete ? "bad" : key === "age.live" ? "good" : "warn", listText);
  const { waiting, failed } = queue;
  byId("status-queue").hidden = waiting.length + failed.length === 0;
  pill("status-queue", failed.length ? "bad" : "warn", [waiting.length && t("status.queue", { count: waiting.length }), failed.length && t("status.failed", { count: failed.length })].filter(Boolean).join(" · "));
  const banner = bannerText();
  byId("banner").hidden = !banner;
  setText(byId("banner"), banner);

  const counts = list.counts(queue.passed);
  const { arrived, expected } = list.arrivals();
  const capacity = place?.rooms?.find((room) => room.id === place.id)?.capacity;
  fill(byId("numbers"), [
    [counts.get(0) ?? 0, capacity === undefined ? t("numbers.inside") : t("numbers.inside.of", { capacity })],
    [arrived, t("numbers.arrived.of", { expected })],
    [settings.passed, t("numbers.mine")],
  ], ([number, text]) => make("li", {}, make("strong", {}, String(number)), make("span", {}, String(text))));
  fill(byId("recent"), recent.map(({ shown, at }) => [shown.kind, shown.name ?? shown.reason ?? "", spokenTime(at, gate.zone, now), shown.word]), ([kind, name, time, word]) => make(
    "li", {},
    make("span", { class: `is-${kind === "stop" ? "bad" : kind === "look" ? "warn" : "good"}` }, icon(kind === "stop" ? "cross" : kind === "look" ? "look" : kind === "out" ? "leave" : "tick")),
    make("span", { class: "unseen" }, String(word)), make("span", { class: "cut" }, String(name)), make("time", {}, String(time)),
  ));
  byId("undo").toggleAttribute("disabled", !gate.last);
  byId("video").hidden = !scanner.isOn;
  setText(byId("ready-hint"), t(scanner.isOn ? "scan.ready.camera" : "scan.ready.keys"));
  byId("camera").setAttribute("aria-pressed", String(scanner.isOn));
  byId("torch").hidden = !scanner.hasTorch;
  byId("switch-camera").hidden = !scanner.isOn || !scanner.canSwitch;
  for (const [id, feature] of [["open-search", "delegate-search"], ["modes", "check-out"]]) {
    byId(id).hidden = Boolean(sync.gate?.features && !sync.gate.features.includes(feature));
  }
}

/** @param {string} id @param {string} level @param {string} text */
function pill(id, level, text) {
  byId(id).className = `pill ${level}`;
  setText(byId(id), text);
}

/** The one thing that a steward must know now. */
function bannerText() {
  if (store.problem) return t("status.unsaved", { problem: store.problem });
  if (server.denied) return t("status.denied.more");
  if (!server.online && sync.gate?.policy === "hold") return t("status.hold");
  return sync.problem && !list.complete ? t("status.problem", { message: sync.problem }) : "";
}

let workerVersion = "";

/** Lets the app start without the server; only a secure context can. @param {string} version */
function useWorker(version) {
  if (workerVersion === version || !navigator.serviceWorker) return;
  const isUpdate = Boolean(navigator.serviceWorker.controller);
  workerVersion = version;
  const address = `/gate/worker.js?v=${encodeURIComponent(version)}`;
  const isOther = isUpdate && !navigator.serviceWorker.controller?.scriptURL.endsWith(address);
  navigator.serviceWorker.register(address, { scope: "/gate" }).then(() => isOther && toast(t("status.update")), () => {});
}

let toastTimer = /** @type {ReturnType<typeof setTimeout>|undefined} */ (undefined);

/** @param {string} text */
function toast(text) {
  setText(byId("toast"), text);
  clearTimeout(toastTimer);
  toastTimer = setTimeout(() => setText(byId("toast"), ""), 5000);
}

function saveSettings() {
  return store.set("settings", settings);
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

/** Sets `settings[name]` by a field of the menu. @param {string} name @param {() => void} [then] */
function bind(name, then = () => {}) {
  const field = /** @type {HTMLInputElement} */ (byId(name));
  field.onchange = () => {
    settings[name] = field.type === "checkbox" ? field.checked : field.value;
    saveSettings();
    then();
  };
}

function openMenu() {
  for (const name of ["sound", "vibration"]) /** @type {HTMLInputElement} */ (byId(name)).checked = settings[name];
  /** @type {HTMLSelectElement} */ (byId("theme")).value = settings.theme;
  /** @type {HTMLDialogElement} */ (byId("menu-dialog")).showModal();
}

async function reset() {
  closeDialogs();
  server.use(undefined);
  delete settings.place;
  sync.gate = undefined;
  scanner.stop();
  await list.clear();
  await store.write([["meta", "delete", "credentials"], ["meta", "delete", "gate"]]);
  await saveSettings();
  await onboard();
  await changePlace();
}

function wire() {
  const on = (/** @type {string} */ id, /** @type {() => void} */ run) => byId(id).addEventListener("click", run);
  for (const type of ["pointerdown", "keydown"]) addEventListener(type, sound.unlock, { capture: true });
  on("open-menu", openMenu);
  on("open-type", () => openType(""));
  on("open-search", () => search.open());
  on("camera", () => turnCamera(!scanner.isOn));
  on("undo", undo);
  on("place-name", changePlace);
  on("status-queue", () => { showScreen("uploads"); draw(); });
  on("menu-readiness", readiness);
  on("menu-uploads", () => { showScreen("uploads"); draw(); });
  on("menu-place", changePlace);
  on("menu-reload", () => location.reload());
  byId("menu-reset").addEventListener("click", (event) => confirmThen(t("menu.reset.sure", { count: queue.waiting.length + queue.failed.length }), reset)(event));
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
      settings.mode = field.value;
      saveSettings();
    });
  }
}

fillTexts(document);
wire();
await start();
