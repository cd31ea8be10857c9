// The evacuation list: who is inside the gate's place and below it, ticked as they are seen outside. People come from the
// gate's own list, which the server keeps up to date, so that it is there offline, too; ticks are shared by all screens,
// and wait in the queue for the server as scans do. A tick is no check-out.

import { byId, make, setText, showScreen, toast } from "./dom.js";
import { split } from "../core/fold.js";
import { spokenTime } from "../core/judge.js";
import { placeOf } from "../core/state.js";
import { language, t } from "../core/texts.js";
import { confirmThen } from "./uploads.js";

/** How often ticks of other screens are asked for while the list is on the screen, and while it is not. */
const [SHOWN_MS, BEHIND_MS] = [3000, 10_000];
const ASK_MS = 5000;

/**
 * @typedef {import("../core/list.js").Person} Person
 * @typedef {{at: number, by?: string}} Tick when somebody was seen outside, and by whom
 * @typedef {{id: number, name: string, company?: string, place: string, since?: number, isInside: boolean, tick?: Tick, heading?: string}} Row
 * @typedef {{place?: number, startedAt?: number, unnamed?: number, ticks: [number, Tick][]}} Kept of the server: since when an evacuation runs, its ticks, and how many inside have no name
 * @typedef {import("./parts.js").Parts} App
 */

export class Evacuation {
  /** @type {Kept} */
  #kept = { ticks: [] };
  #askedAt = -Infinity;
  /** Counts what was learnt of ticks. */
  #answers = 0;
  /** Counts what this gate uploaded: an older answer does not know of it. */
  #uploads = 0;
  #isByPlace = false;
  /** @type {Map<number, {item: HTMLElement, draw: (row: Row, isRunning: boolean) => void}>} */
  #items = new Map();
  #order = "";
  /** Times as they are told, by their minute: thousands came in within a few. @type {Map<string, string>} */
  #times = new Map();
  /** What the page was drawn from last. */
  #drawn = "";

  /** @param {App} app */
  constructor(app) {
    this.app = app;
    app.queue.onTicked = (ticks) => this.#uploaded(ticks);
    byId("evacuation-search").addEventListener("input", () => this.#render());
    byId("evacuation-by-place").addEventListener("click", () => {
      this.#isByPlace = !this.#isByPlace;
      this.#render();
    });
    byId("evacuation-start").addEventListener("click", (event) => confirmThen(t("evacuation.start.sure"), () => this.#add("start"))(event));
  }

  get isShown() {
    return document.body.dataset.screen === "evacuation";
  }

  /** Reads what the store has. */
  async load() {
    this.#kept = (await this.app.store.get("evacuation")) ?? this.#kept;
  }

  open() {
    /** @type {HTMLInputElement} */ (byId("evacuation-search")).value = "";
    this.#askedAt = -Infinity;
    showScreen("evacuation");
    this.#render();
    this.tick();
    this.draw();
  }

  /** Forgets everybody. */
  clear() {
    this.#kept = { ticks: [] };
    this.#items.clear();
    this.#order = "";
    byId("evacuation-list").replaceChildren();
    return this.app.store.write([["meta", "delete", "evacuation"]]);
  }

  /** Ticks of this gate at its place that the server does not have. */
  get #waiting() {
    const { queue, settings } = this.app;
    return queue.waiting.filter(({ tick, place }) => tick && place === settings.place?.id);
  }

  /** What the server told of this place. */
  get #known() {
    const isHere = this.#kept.place === this.app.settings.place?.id;
    return isHere ? this.#kept : { ticks: [], startedAt: undefined, unnamed: undefined };
  }

  /** Whether people are ticked here now. */
  get isRunning() {
    return this.#known.startedAt !== undefined || this.#waiting.length > 0;
  }

  /** Asks the server for its ticks, where it is time to; whether they are others than before. @returns {Promise<boolean>} */
  async ask() {
    const { server, settings, sync, store } = this.app;
    const place = settings.place?.id;
    const isDue = performance.now() - this.#askedAt >= (this.isShown ? SHOWN_MS : BEHIND_MS);
    const isWanted = this.isShown || sync.gate?.evacuation || this.#known.startedAt !== undefined;
    if (!isDue || !isWanted || !server.online || !server.credentials || place === undefined) return false;
    this.#askedAt = performance.now();
    const uploads = this.#uploads;
    const asking = server.request("GET", "/gate/evacuation", { query: { place, only: "safe" }, timeoutMs: ASK_MS });
    const answer = await asking.catch(() => undefined);
    if (answer?.status !== 200 || uploads !== this.#uploads || place !== settings.place?.id || !server.credentials) return false;
    /** @type {Kept["ticks"]} */
    const ticks = answer.data.flatMap(({ id, safe }) => (safe ? [[id, safe]] : []));
    const kept = { place, startedAt: answer.meta.evacuation?.startedAt, unnamed: answer.meta.unnamed, ticks };
    if (JSON.stringify(kept) === JSON.stringify(this.#kept)) return false;
    this.#kept = kept;
    this.#answers += 1;
    await store.set("evacuation", kept);
    return true;
  }

  /** The server has ticks of this gate: they hold until it tells the same. @param {import("../core/queue.js").Scan[]} scans */
  #uploaded(scans) {
    const { settings, store } = this.app;
    this.#uploads += 1;
    const ticks = new Map(this.#known.ticks);
    let { startedAt, unnamed } = this.#known;
    for (const scan of scans.filter(({ place }) => place === settings.place?.id)) {
      startedAt ??= scan.at;
      change(ticks, scan, settings.name);
    }
    this.#kept = { place: settings.place?.id, startedAt, unnamed, ticks: [...ticks] };
    this.#answers += 1;
    this.#askedAt = -Infinity;
    return store.set("evacuation", this.#kept);
  }

  /** @param {"safe"|"unsafe"|"start"} tick @param {number} [delegate] */
  async #add(tick, delegate) {
    const { queue, server, settings, sync } = this.app;
    await queue.add({ passage: "in", tick, delegate, at: server.now(), place: placeOf(settings).id, due: true });
    this.draw();
    await sync.upload();
  }

  /** A badge that is scanned while the list is on the screen. @param {string} code */
  scanned(code) {
    const { list } = this.app;
    const person = list.find(list.read(code));
    const row = this.#rows().find(({ id }) => id === person?.id);
    if (!row) return toast(t("evacuation.notListed", { name: person?.name ?? code.slice(0, 40) }));
    if (this.isRunning && !row.tick) this.#add("safe", row.id);
    toast(this.isRunning ? t("evacuation.safe.name", { name: row.name }) : t("evacuation.none"));
  }

  /** Everybody on the list, by name. @returns {Row[]} */
  #rows() {
    const { list, queue, settings } = this.app;
    /** @type {Map<number, Tick>} */
    const ticks = new Map(this.#known.ticks);
    for (const scan of this.#waiting) change(ticks, scan, settings.name);
    const here = list.place?.doorOf?.name ?? list.place?.name ?? "";
    const inside = list.inside(queue.passed);
    const ids = new Set(inside.map(({ id }) => id));
    const left = [...ticks.keys()]
      .filter((id) => !ids.has(id))
      .map((id) => list.people.get(id))
      .filter((person) => person !== undefined);
    const row = (/** @type {Person} */ { id, name, company, at, since, lastIn }, /** @type {boolean} */ isInside) => ({
      id,
      name: name ?? String(id),
      company,
      isInside,
      tick: ticks.get(id),
      place: isInside ? (at ?? here) : "",
      since: isInside ? (since ?? lastIn) : undefined,
    });
    const { compare } = new Intl.Collator(language());
    return [...inside.map((person) => row(person, true)), ...left.map((person) => row(person, false))].sort(
      (one, other) => compare(one.name, other.name) || one.id - other.id,
    );
  }

  /** Once a second, and when the list is opened. */
  tick() {
    this.ask().then((isNew) => isNew && this.draw());
  }

  draw() {
    byId("evacuation-notice").hidden = !this.isRunning;
    if (this.isShown && this.#basis() !== this.#drawn) this.#render();
  }

  /** Changes with whatever the page shows; the list of thousands is drawn anew only then. */
  #basis() {
    const { list, queue, server } = this.app;
    const { waiting } = queue;
    return [
      list.at,
      list.people.size,
      list.complete,
      list.place?.inside,
      waiting.length,
      waiting.at(-1)?.seq,
      this.#answers,
      server.online,
      language(),
      Math.floor(server.now() / 30_000),
    ].join();
  }

  #render() {
    this.#drawn = this.#basis();
    const { gate, list, server, settings } = this.app;
    const now = server.now();
    const rows = this.#rows();
    const { isRunning } = this;
    setText(byId("evacuation-place"), settings.place?.name ?? "");
    const inside = rows.filter((row) => row.isInside).length;
    const safe = rows.filter(({ isInside, tick }) => isInside && tick).length;
    const { unnamed } = this.#known;
    const sum = isRunning ? t("evacuation.sum", { count: inside, safe }) : t("evacuation.inside", { count: inside });
    setText(byId("evacuation-sum"), [sum, unnamed && t("evacuation.unnamed", { count: unnamed })].filter(Boolean).join(", "));
    const waiting = this.#waiting.length;
    const asOf = !list.complete
      ? t("verdict.offline.incomplete")
      : server.online
        ? t("evacuation.live")
        : t("evacuation.asOf", { at: spokenTime(list.at, gate.zone, now) });
    setText(
      byId("evacuation-as-of"),
      [isRunning ? t("evacuation.running") : t("evacuation.none"), asOf, waiting && t("evacuation.waiting", { count: waiting })].filter(Boolean).join(" "),
    );
    byId("evacuation-start").hidden = isRunning;
    byId("evacuation-by-place").setAttribute("aria-pressed", String(this.#isByPlace));
    const words = split(/** @type {HTMLInputElement} */ (byId("evacuation-search")).value);
    const hits = words.length ? rows.filter(({ id }) => words.every((word) => list.textOf(id).includes(` ${word}`))) : rows;
    byId("evacuation-empty").hidden = hits.length > 0;
    setText(byId("evacuation-empty"), t(words.length ? "search.none" : "evacuation.empty"));
    this.#renderRows(this.#isByPlace ? byPlace(hits) : hits, isRunning);
  }

  /** Elements stay as long as their people do, so that a button keeps the focus. @param {Row[]} rows @param {boolean} isRunning */
  #renderRows(rows, isRunning) {
    const items = new Map(rows.map((row) => [row.id, this.#items.get(row.id) ?? this.#item(row.id)]));
    for (const row of rows) items.get(row.id)?.draw(row, isRunning);
    this.#items = items;
    const order = rows.map(({ id }) => id).join();
    if (order === this.#order && rows.length > 0) return;
    this.#order = order;
    const focused = document.activeElement;
    byId("evacuation-list").replaceChildren(...[...items.values()].map(({ item }) => item));
    if (focused instanceof HTMLElement && byId("evacuation-list").contains(focused)) focused.focus();
  }

  /** @param {number} at */
  #time(at) {
    const { gate, server } = this.app;
    const now = server.now();
    const key = [Math.floor(at / 60_000), Math.floor(now / 3_600_000), language()].join();
    const text = this.#times.get(key) ?? spokenTime(at, gate.zone, now);
    this.#times.set(key, text);
    return text;
  }

  /** @param {number} id */
  #item(id) {
    const heading = make("h2", {});
    const name = make("strong", {});
    const about = make("small", {});
    const seen = make("small", { class: "is-good" });
    const word = make("span", {});
    const whose = make("span", { class: "unseen" });
    const button = make(
      "button",
      { class: "plain", onclick: () => this.#add(button.getAttribute("aria-pressed") === "true" ? "unsafe" : "safe", id) },
      word,
      whose,
    );
    const item = make("li", {}, heading, make("p", {}, name, about, seen), button);
    let drawn = "";
    const draw = (/** @type {Row} */ row, /** @type {boolean} */ isRunning) => {
      // Times are told with the date on another day.
      const state = JSON.stringify([row, isRunning, language(), Math.floor(this.app.server.now() / 3_600_000)]);
      if (state === drawn) return;
      drawn = state;
      const { tick } = row;
      setText(heading, row.heading ?? "");
      heading.hidden = !row.heading;
      setText(name, row.name);
      setText(
        about,
        [row.company, row.place, row.isInside ? row.since && t("evacuation.since", { at: this.#time(row.since) }) : t("evacuation.left")]
          .filter(Boolean)
          .join(" · "),
      );
      setText(seen, tick ? t("evacuation.seen", { at: this.#time(tick.at), by: tick.by }) : "");
      setText(word, t(tick ? "evacuation.safe" : "evacuation.tick"));
      setText(whose, `: ${row.name}`);
      button.hidden = !isRunning;
      button.setAttribute("aria-pressed", String(Boolean(tick)));
    };
    return { item, draw };
  }
}

/** The places in order, each headed by its numbers; those who left at the end. @param {Row[]} rows by name @returns {Row[]} */
function byPlace(rows) {
  const { compare } = new Intl.Collator(language());
  const places = Map.groupBy(rows, ({ place }) => place);
  const ordered = [...places].sort(([one], [other]) => Number(!one) - Number(!other) || compare(one, other));
  return ordered.flatMap(([place, [first, ...others]]) => {
    const safe = Number(Boolean(first.tick)) + others.filter(({ tick }) => tick).length;
    const heading = place ? t("evacuation.group", { place, count: others.length + 1, safe }) : t("evacuation.left.group");
    return [{ ...first, heading }, ...others];
  });
}

/** @param {Map<number, Tick>} ticks @param {import("../core/queue.js").Scan} scan @param {string} [by] */
function change(ticks, { tick, delegate, at }, by) {
  if (delegate === undefined) return;
  if (tick === "unsafe") ticks.delete(delegate);
  else if (tick === "safe" && !ticks.has(delegate)) ticks.set(delegate, { at, by });
}
