// Draws the screen where people scan: state of the gate, numbers, last scans.

import { byId, fill, icon, make, setText } from "./dom.js";
import { spokenTime } from "../core/judge.js";
import { age, t } from "../core/texts.js";
import { KINDS, verdictOf } from "../core/verdicts.js";
import { grouped } from "./verdict.js";

/** @typedef {import("./parts.js").Parts} Parts */

/** @param {Parts} parts @param {number} now */
export function drawScan(parts, now) {
  const { server, list, queue, sync, scanner, settings, gate, shift } = parts;
  const { place } = list;
  setText(byId("place-name"), settings.place?.name ?? "");
  byId("place-name").setAttribute("aria-label", t("scan.place", { name: settings.place?.name ?? "" }));
  pill(
    "status-online",
    server.denied ? "bad" : server.online ? "good" : "warn",
    t(server.denied ? "status.denied" : server.online ? "status.online" : "status.offline"),
  );
  const [key, count] = age(now - list.at, server.online);
  const listText = list.complete
    ? t("status.list", { age: t(key, { count }) })
    : list.people.size
      ? t("status.list.loading", { count: list.people.size })
      : t("status.list.none");
  pill("status-list", !list.complete ? "bad" : key === "age.live" ? "good" : "warn", listText);
  const { waiting, failed } = queue;
  byId("status-queue").hidden = waiting.length + failed.length === 0;
  pill(
    "status-queue",
    failed.length ? "bad" : "warn",
    [waiting.length && t("status.queue", { count: waiting.length }), failed.length && t("status.failed", { count: failed.length })].filter(Boolean).join(" · "),
  );
  const banner = bannerText(parts);
  byId("banner").hidden = !banner;
  setText(byId("banner"), banner);

  const counts = list.counts(queue.passed);
  const arrivals = list.arrivals(queue.passed);
  const capacity = place?.rooms?.find((room) => room.id === (place.doorOf?.id ?? place.id))?.capacity;
  fill(
    byId("numbers"),
    [
      [counts.get(0) ?? 0, capacity === undefined ? t("numbers.inside") : t("numbers.inside.of", { capacity })],
      ...(arrivals ? [[arrivals.arrived, t("numbers.arrived.of", { expected: arrivals.expected })]] : []),
      [shift.mine.size, t("numbers.mine")],
    ],
    ([number, text]) => make("li", {}, make("strong", {}, String(number)), make("span", {}, String(text))),
  );
  fill(
    byId("recent"),
    shift.recent.map(({ shown, at }) => [
      KINDS[shown.kind].level,
      verdictOf(shown).symbol,
      shown.name ?? shown.reason ?? "",
      shown.badge && grouped(shown.badge),
      spokenTime(at, gate.zone, now),
      shown.word,
    ]),
    ([level, symbol, name, badge, time, word]) =>
      make(
        "li",
        {},
        make("span", { class: `is-${level}` }, icon(symbol ?? "")),
        make("span", { class: "unseen" }, String(word)),
        make("span", { class: "who" }, make("span", { class: "cut" }, name), badge && make("code", {}, badge)),
        make("time", {}, String(time)),
      ),
  );
  byId("open-walkin").hidden = !sync.gate?.walkIn;
  byId("undo").toggleAttribute("disabled", !gate.last);
  const name = gate.last?.shown.name;
  setText(byId("undo-text"), name ? t("scan.undo.name", { name }) : t("scan.undo"));
  byId("video").hidden = !scanner.isOn;
  setText(byId("ready-hint"), t(scanner.isOn ? "scan.ready.camera" : "scan.ready.keys"));
  byId("camera").setAttribute("aria-pressed", String(scanner.isOn));
  byId("torch").hidden = !scanner.hasTorch;
  byId("switch-camera").hidden = !scanner.isOn || !scanner.canSwitch;
  byId("open-search").hidden = !isAllowed(sync.gate, "delegate-search");
  byId("modes").hidden = !isAllowed(sync.gate, "check-out");
  for (const radio of document.querySelectorAll("input[name=mode]")) {
    const field = /** @type {HTMLInputElement} */ (radio);
    field.checked = field.value === settings.mode;
  }
}

/** @param {{features?: string[]}|undefined} gate what the server answered to `GET /gate` @param {string} feature */
export const isAllowed = (gate, feature) => gate?.features?.includes(feature) ?? true;

/** @param {string} id @param {string} level @param {string} text */
function pill(id, level, text) {
  byId(id).className = `pill ${level}`;
  setText(byId(id), text);
}

/** The one thing that a steward must know now. @param {Parts} parts */
function bannerText({ store, server, sync, list }) {
  if (store.problem) return t("status.unsaved", { problem: store.problem });
  if (server.denied) return t("status.denied.more");
  if (!server.online && sync.gate?.policy === "hold") return t("status.hold");
  if (sync.problem && !list.complete) return t("status.problem", { message: sync.problem });
  const lag = server.online && sync.gate?.durable?.lagSeconds;
  return lag ? t("status.replica", { seconds: lag }) : "";
}
