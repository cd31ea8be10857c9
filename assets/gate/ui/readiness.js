// The page before the doors open: one glance tells "ready" or what to do.

import { byId, icon, make, setText } from "./dom.js";
import { age, t } from "../core/texts.js";
import { TEST_CODE, layoutOf } from "../io/wedge.js";
import { cameraProblem } from "../io/scanner.js";
import * as sound from "../io/sound.js";

const CLOCK_OFF_MS = 5000;
const BATTERY_LOW = 0.3;

/**
 * @typedef {{key: string, level: "good"|"warn"|"bad"|"info", text: string, action?: [text: string, run: () => void], link?: [text: string, href: string]}} Check
 * @typedef {import("./parts.js").Parts} Parts
 */

/** @param {Parts} parts @returns {Promise<Check[]>} */
export async function examine(parts) {
  const { server, list, store, sync, scanner, settings, verdicts } = parts;
  /** @type {Check[]} */
  const checks = [];
  /** @param {string} key @param {Check["level"]} level @param {string} text @param {Partial<Check>} [more] */
  const add = (key, level, text, more = {}) => checks.push({ key, level, text, ...more });

  const instance = sync.gate?.instance ?? "";
  if (server.online) add("server", "good", t("ready.server.yes", { name: instance }));
  else add("server", "bad", t("ready.server.no"));

  const count = list.people.size;
  const [ageKey, ageCount] = age(server.now() - list.at, server.online);
  if (list.complete) add("list", "good", t("ready.list.yes", { count, age: t(ageKey, { count: ageCount }) }));
  else if (count > 0) add("list", "bad", t("ready.list.loading", { count }));
  else add("list", "bad", sync.problem ? t("status.problem", { message: sync.problem }) : t("ready.list.no"));

  if (sync.gate?.walkIn) {
    const codes = (await store.get("codes").catch(() => []))?.length ?? 0;
    add("codes", codes ? "good" : "warn", t(codes ? "ready.codes.yes" : "ready.codes.no", { count: codes }));
  }

  const seconds = Math.round(Math.abs(server.offsetMs) / 1000);
  if (Math.abs(server.offsetMs) < CLOCK_OFF_MS) add("clock", "good", t("ready.clock.yes", { seconds }));
  else add("clock", "warn", t("ready.clock.off", { seconds }));

  const problem = cameraProblem();
  const trust = /** @type {[string, string]} */ ([t("ready.secure.link"), "/gate/trust"]);
  if (problem === "camera.insecure") add("camera", "info", t(problem), { link: trust });
  else if (problem) add("camera", "info", t(problem));
  else if (settings.cameraProblem) add("camera", "warn", settings.cameraProblem, { action: [t("ready.camera.button"), () => parts.camera.turn(true)] });
  else if (scanner.isOn) add("camera", "good", t("ready.camera.yes"));
  else add("camera", "info", t("ready.camera.try"), { action: [t("ready.camera.button"), () => parts.camera.turn(true)] });

  const { wedge } = settings;
  const test = /** @type {[string, () => void]} */ ([t("ready.wedge.button"), () => testWedge(parts)]);
  if (wedge) {
    const layout = t(Object.keys(wedge.layout).length ? "ready.wedge.mapped" : "ready.wedge.same");
    add("wedge", "good", t("ready.wedge.yes", { suffix: wedge.suffix === "none" ? t("ready.wedge.none") : wedge.suffix, layout }), { action: test });
  } else if (scanner.isOn) add("wedge", "info", t("ready.wedge.try"), { action: test });
  else add("wedge", "warn", t("ready.scan.no"), { action: test });

  const play = /** @type {[string, () => void]} */ ([t("ready.sound.button"), playTest(settings)]);
  if (!settings.sound) add("sound", "warn", t("ready.sound.off"));
  else if (sound.isReady()) add("sound", "good", t("ready.sound.yes"), { action: play });
  else add("sound", "warn", t("ready.sound.no"), { action: play });

  const battery = await batteryOf();
  if (!battery) add("battery", "info", t("ready.battery.unknown"));
  else {
    const percent = Math.round(battery.level * 100);
    const isLow = battery.level < BATTERY_LOW && !battery.charging;
    const state = t(battery.charging ? "ready.battery.charging" : "ready.battery.draining");
    add("battery", isLow ? "warn" : "good", t(isLow ? "ready.battery.low" : "ready.battery.yes", { percent, state }));
  }

  if (globalThis.isSecureContext) add("secure", "good", t("ready.secure.yes"));
  else add("secure", "warn", t("ready.secure.no"), { link: trust });

  if (store.problem) add("storage", "bad", t("ready.storage.no", { problem: store.problem }));
  else if (await isPersistent()) add("storage", "good", t("ready.storage.yes"));
  else add("storage", "info", t("ready.storage.maybe"));

  if (navigator.serviceWorker?.controller) add("offline", "good", t("ready.offline.yes", { version: sync.version }));
  else add("offline", "warn", t("ready.offline.no"));

  if (verdicts.times.length > 0) {
    const sorted = [...verdicts.times].sort((a, b) => a - b);
    const ms = Math.round(sorted[Math.floor((sorted.length - 1) * 0.95)]);
    add("speed", "info", t("ready.speed.yes", { ms, count: sorted.length }));
  }
  return checks;
}

const SYMBOLS = { good: "tick", warn: "look", bad: "cross", info: "wait" };
let shownChecks = "";

/** Draws the page; leaves it alone where nothing changed, so that a button keeps the focus. @param {Parts} parts */
export async function showReadiness(parts) {
  const checks = await examine(parts);
  const drawn = JSON.stringify(checks);
  if (drawn === shownChecks) return;
  shownChecks = drawn;
  const focused = document.activeElement?.getAttribute("data-check");
  byId("checks").replaceChildren(
    ...checks.map(({ key, level, text, action, link }) =>
      make(
        "li",
        {},
        wrap(level, icon(SYMBOLS[level])),
        make("strong", {}, t(`ready.${key}`)),
        make("p", {}, text),
        action && make("button", { class: "plain", "data-check": key, onclick: action[1] }, action[0]),
        link && make("a", { href: link[1], target: "_blank" }, link[0]),
      ),
    ),
  );
  if (focused) /** @type {HTMLElement|null} */ (document.querySelector(`[data-check=${focused}]`))?.focus();
  const worst = (/** @type {string} */ level) => checks.filter((check) => check.level === level).length;
  const [bad, warn] = [worst("bad"), worst("warn")];
  const level = bad ? "bad" : warn ? "warn" : "good";
  const sum = bad ? t("ready.no", { count: bad }) : warn ? t("ready.todo", { count: warn }) : t("ready.yes");
  if (byId("ready-sum").textContent !== sum) byId("ready-sum").replaceChildren(wrap(level, icon(SYMBOLS[level])), sum);
}

/** @param {string} level @param {Node} child */
const wrap = (level, child) => make("span", { class: `is-${level}` }, child);

/** @param {import("../core/state.js").Settings} settings */
const playTest = (settings) => () => {
  sound.unlock();
  setTimeout(() => sound.play("good", settings), 100);
  setTimeout(() => sound.play("stop", settings), 900);
};

/** Scans the test code: how the scanner ends a code, and which keys arrive. @param {Parts} parts */
function testWedge(parts) {
  const { wedge, settings } = parts;
  const dialog = /** @type {HTMLDialogElement} */ (byId("wedge-dialog"));
  const note = byId("wedge-note");
  note.hidden = true;
  wedge.onRaw = (raw, end) => {
    const layout = layoutOf(raw);
    note.hidden = false;
    if (layout) {
      settings.wedge = { suffix: end, layout };
      wedge.settings = settings.wedge;
      parts.screens.saveSettings();
      dialog.close();
      showReadiness(parts);
    } else {
      const right = [...TEST_CODE].filter((meant, i) => raw[i] === meant).length;
      setText(note, t("ready.wedge.bad", { count: right, wanted: TEST_CODE.length }));
    }
  };
  dialog.onclose = () => (wedge.onRaw = undefined);
  dialog.showModal();
}

/** @returns {Promise<{level: number, charging: boolean}|undefined>} */
export async function batteryOf() {
  return /** @type {any} */ (navigator).getBattery?.().catch(() => undefined);
}

/** @type {Promise<boolean>|undefined} */
let persistent;

/** Whether the browser keeps what is stored: it is asked once, as some browsers ask the person. */
export function isPersistent() {
  persistent ??= navigator.storage?.persist?.().catch(() => false);
  return persistent ?? false;
}
