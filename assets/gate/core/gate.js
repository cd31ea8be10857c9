// One scan from code to verdict: the server judges, or the list where the server does not answer in
// time. What the screen shows of it is a `Shown`; nothing here touches the page.

import { CODES, UNDECIDED } from "./codes.js";
import { judge, judgeOffline, spokenTime, word } from "./judge.js";
import { isTold } from "./list.js";
import { body, codeKept, interactionOf, isRefusal, isStored, pathOf, registered, undoPath, walkInPerson } from "./queue.js";
import { isForDay } from "./signed.js";
import { placeOf } from "./state.js";
import { age, answerOf, blockedReason, language, t } from "./texts.js";
import { KINDS, REFUSALS, whyOf } from "./verdicts.js";

const VERDICT_MS = 1500;
/** A code that is read twice in a row must not let somebody in and out again. */
const TWICE_MS = 4000;

/**
 * @typedef {import("../ui/verdict.js").Shown} Shown
 * @typedef {import("./queue.js").Scan} Scan
 * @typedef {import("./list.js").Person} Person
 * @typedef {import("./queue.js").WalkIn} WalkIn
 * @typedef {{scan: Scan, person?: Person, shown: Shown, passed: boolean, id?: number, code?: number}} Outcome
 *   `id` of the interaction, `code` of the refusal
 * @typedef {import("../io/server.js").Named<import("../io/server.js").Schemas["InteractionMeta"]>} Meta
 * @typedef {{note?: Meta["note"], repeat?: Omit<NonNullable<Meta["repeat"]>, "firstAt"> & {firstAt?: string}}} Additions what the server adds to a scan that passed
 * @typedef {{code: number, message: string, key?: string, more?: string[]}} Refusal `key` of the text of this gate's own verdict
 */

export class Gate {
  /** The last scan that passed, for undo. @type {Outcome|undefined} */
  last;
  #lastCode = "";
  #lastAt = 0;

  /**
   * @param {import("../io/server.js").Server} server @param {import("./list.js").List} list
   * @param {import("./queue.js").Queue} queue @param {import("../io/sync.js").Sync} sync @param {Pick<import("./state.js").Settings, "mode"|"place">} settings
   */
  constructor(server, list, queue, sync, settings) {
    this.server = server;
    this.list = list;
    this.queue = queue;
    this.sync = sync;
    this.settings = settings;
  }

  get zone() {
    return this.sync.gate?.timeZone ?? "UTC";
  }

  /**
   * By the direction that is set, where none is given.
   * @param {{code?: string, person?: Person}} who @param {"in"|"out"|"both"} [mode]
   * @returns {Promise<Outcome|undefined>} undefined: the same code again, nothing to do
   */
  async pass(who, mode = this.settings.mode) {
    // Half a character of a torn code would be no JSON.
    const given = who.code?.toWellFormed?.() ?? who.code;
    const scanned = given && this.list.read(given);
    const code = scanned ?? who.person?.codes?.[0];
    const person = who.person ?? this.list.find(scanned ?? "");
    const now = performance.now();
    const isTwice = mode === "both" && code === this.#lastCode && now - this.#lastAt < TWICE_MS;
    this.#lastCode = code ?? "";
    this.#lastAt = now;
    if (isTwice) return undefined;
    const before = person ? this.list.withWaiting(person, this.queue.passed) : this.#stranger(code);
    /** @type {"in"|"out"} */
    const passage = mode === "both" ? (before?.inside ? "out" : "in") : mode;
    return this.#decide({ code, delegate: person?.id, passage, ...this.#hereAndNow() }, before);
  }

  /**
   * Somebody whose signed ticket is genuine, and whom the list does not have, as scans of it that wait leave them.
   * @param {string} [code] @returns {Person|undefined}
   */
  #stranger(code = "") {
    const ticket = this.list.ticket(code);
    if (ticket?.state !== "genuine") return undefined;
    const stranger = { id: -ticket.serial, name: t("ticket.name"), category: ticket.type, codes: [code] };
    const own = this.queue.passed.filter((scan) => scan.code === code);
    return this.list.withWaiting(
      stranger,
      own.map((scan) => ({ ...scan, delegate: stranger.id })),
    );
  }

  /** One of a booking, in a given direction. @param {Person} person @param {"in"|"out"} passage @returns {Promise<Outcome>} */
  async passOne(person, passage) {
    const before = this.list.withWaiting(person, this.queue.passed);
    return this.#decide({ code: person.codes?.[0], delegate: person.id, passage, ...this.#hereAndNow() }, before);
  }

  /**
   * Registers somebody who has no ticket and checks them in. `shown.badge` is their new code; absent where the
   * server makes it later.
   * @param {WalkIn} person a first or a last name is needed @param {string} [code] on a badge that they have, in place of a new one
   * @returns {Promise<Outcome>}
   */
  async walkIn({ firstName, lastName, email, delegateType }, code) {
    const given = Object.entries({ firstName, lastName, email, delegateType }).map(([key, text]) => [key, text?.trim()]);
    const walkIn = Object.fromEntries(given.filter(([, text]) => text));
    /** @type {Omit<Scan, "nonce"|"seq">} */
    const made = { passage: "in", walkIn, ...(code === undefined ? {} : { code, hasBadge: true }), ...this.#hereAndNow() };
    return this.#decide(made, walkInPerson(made));
  }

  #hereAndNow() {
    return { at: this.server.now(), place: placeOf(this.settings).id };
  }

  /** A supervisor lets in somebody who was refused. @param {Outcome} refused @param {string} reason */
  async override(refused, reason) {
    const { code, delegate, place } = refused.scan;
    // The server keeps a scan of nobody whom it knows where a gate has decided.
    const decision = refused.shown.why === "unlisted" ? { admitted: true, due: true } : {};
    return this.#decide({ code, delegate, passage: "in", at: this.server.now(), place, override: true, reason, ...decision }, refused.person);
  }

  /** @param {Omit<Scan, "nonce"|"seq">} made @param {Person|undefined} person as they were before */
  async #decide(made, person) {
    // The server does not know a walk-in whom it does not have yet.
    const isLocal = made.delegate !== undefined && made.delegate < 0;
    if (!this.server.online || isLocal) return this.#decideAlone(made, person);
    const known = person && (this.list.people.get(person.id) ?? person);
    const scan = await this.queue.add(made);
    this.queue.markSent(scan);
    let answer;
    try {
      answer = await this.server.request("POST", pathOf(scan), { body: body(scan), timeoutMs: VERDICT_MS });
    } catch {
      return this.#decideAlone(made, person, { scan, known });
    }
    if (isStored(answer)) {
      const newcomer = registered(scan, answer);
      const outcome = this.#passed(scan, newcomer ?? person, answer.meta, []);
      outcome.id = interactionOf(scan, answer);
      await this.stored(scan, outcome.id, newcomer);
      await this.queue.complete(codeKept(scan, newcomer), newcomer?.id, answer.meta.durable);
      if (newcomer && !scan.sent) scan.delegate = newcomer.id;
      return outcome;
    }
    if (!isRefusal(answer.status)) return this.#decideAlone(made, person, { scan, known });
    await this.queue.remove([scan]);
    return this.#refused(scan, person, this.#refusalByServer(scan, person, answer), answer.meta.note);
  }

  /**
   * The list judges. `asked`: the server was asked and did not answer; it may have stored the scan. `known` is the person as
   * the list had them before.
   * @param {Omit<Scan, "nonce"|"seq">} made @param {Person|undefined} person @param {{scan: Scan, known?: Person}} [asked]
   */
  async #decideAlone(made, person, asked) {
    const { list } = this;
    const refusal = this.#refusalByList(asked?.scan ?? made, person, asked?.known);
    if (refusal !== undefined) {
      if (asked) await this.queue.undo(asked.scan);
      const scan = asked?.scan ?? { ...made, nonce: "", seq: 0 };
      return this.#refused(scan, person, refusal, person?.note, this.#listNotes());
    }
    const decision = { admitted: true, due: true };
    const scan = asked?.scan ?? (await this.queue.add({ ...made, ...decision }));
    if (asked) await this.queue.update(scan, decision);
    const repeat = made.passage === "in" && person?.entries && person.lastIn !== undefined ? { count: person.entries, firstAt: undefined } : undefined;
    return this.#passed(
      scan,
      scan.walkIn ? walkInPerson(scan) : person,
      { note: person?.note, repeat },
      list.complete ? this.#listNotes() : [t("verdict.offline.incomplete")],
    );
  }

  /** @param {Omit<Scan, "nonce"|"seq">} made @param {Person|undefined} person @param {Person} [known] @returns {Refusal|undefined} */
  #refusalByList(made, person, known) {
    const { list, server } = this;
    if (!list.place) return { code: UNDECIDED, message: t("verdict.noList") };
    if (!person) return this.#unknown(made.code);
    if (made.override) return undefined;
    const ticket = list.ticket(made.code ?? "");
    if (ticket && !isForDay(ticket, made.at)) return { code: CODES.outsideWindow, message: t("ticket.otherDay") };
    const verdict = judgeOffline(this.sync.gate?.policy ?? "admit", this.#facts(made, person, known));
    return verdict.code === 0 ? undefined : { code: verdict.code, key: verdict.key, message: word(verdict, this.zone, server.now()) };
  }

  /**
   * What decides about a scan. The feed may have told of that very scan since the server was asked: then by the person
   * as they were `known` before it.
   * @param {Omit<Scan, "nonce"|"seq">} made @param {Person} person @param {Person} [known]
   */
  #facts(made, person, known = person) {
    const { list } = this;
    const now = list.people.get(person.id) ?? (made.walkIn && list.find(made.code ?? "")) ?? known;
    return list.facts(isTold(now, made) ? known : now, made.passage, made.at, this.queue.passed, this.zone, now);
  }

  /** @param {string} [code] that nobody has, or that is blocked @returns {Refusal} */
  #unknown(code = "") {
    const reason = this.list.blockedReason(code);
    const ticket = this.list.ticket(code);
    if (ticket) return { code: CODES.delegateNotFound, message: t(`ticket.${ticket.state}`, { kid: ticket.kid }) };
    const unknown = this.list.isShared(code) ? "verdict.shared" : "verdict.unknown";
    const message = reason === undefined ? t(unknown, { code: short(code) }) : t("verdict.blocked", { reason: blockedReason(reason) });
    return { code: CODES.delegateNotFound, message };
  }

  /**
   * In English in the server's words. In another language this gate's own verdict says the same where it agrees; where
   * it does not, there is a text for the code, and the server's words stand below it.
   * @param {Scan} scan @param {Person|undefined} person @param {import("../io/server.js").Status} answer @returns {Refusal}
   */
  #refusalByServer(scan, person, { status, error }) {
    const code = error?.internalCode ?? 0;
    const message = answerOf(error, `HTTP ${status}`);
    if (code === CODES.delegateNotFound && language() !== "en") return this.#unknown(scan.code);
    const verdict = person && this.list.place ? judge(this.#facts(scan, person)) : undefined;
    const isSame = verdict?.code === code;
    if (language() === "en") return { code, key: isSame ? verdict.key : undefined, message };
    if (isSame) return { code, key: verdict.key, message: word(verdict, this.zone, this.server.now()) };
    return { code, message, more: error && error.message !== message ? [error.message] : [] };
  }

  #listNotes() {
    const { online } = this.server;
    const [key, count] = age(this.server.now() - this.list.at, online);
    return [t(online ? "verdict.byList" : "verdict.offline", { age: t(key, { count }) })];
  }

  /**
   * @param {Scan} scan @param {Person|undefined} person @param {Additions} meta @param {string[]} more
   * @returns {Outcome}
   */
  #passed(scan, person, meta, more) {
    const isOut = scan.passage === "out";
    const { note, repeat } = meta;
    const lines = [...more];
    const badge = scan.walkIn && person?.codes?.[0];
    if (scan.walkIn) lines.unshift(t(scan.hasBadge ? "verdict.walkin.kept" : badge ? "verdict.walkin" : "verdict.walkin.nocode"));
    const wasInside = !isOut && !scan.walkIn && person?.inside && person.lastIn !== undefined;
    if (!scan.walkIn && !isOut && !repeat && !scan.override && !wasInside) lines.unshift(t("verdict.first"));
    if (scan.override) lines.unshift(t("verdict.override"));
    if (wasInside) lines.unshift(t("verdict.again", { at: this.#time(person?.lastIn ?? 0) }));
    else if (repeat?.firstAt) {
      // The server counts no further.
      const key = repeat.count < 100 ? "verdict.repeat" : "verdict.repeat.many";
      lines.unshift(t(key, { count: repeat.count + 1, at: this.#time(Date.parse(repeat.firstAt)) }));
    }
    const stops = note?.level === "stop";
    const isUnlisted = scan.admitted && this.list.ticket(scan.code ?? "") !== undefined;
    if (isUnlisted) lines.unshift(t("ticket.genuine"));
    const needsLook = wasInside || note?.level === "warning" || scan.override || isUnlisted;
    /** @type {Shown["kind"]} */
    const kind = stops ? "stop" : needsLook ? "look" : isOut ? "out" : "good";
    const word = kind === "look" && isOut ? "verdict.look.out" : KINDS[kind].word;
    const shown = {
      kind,
      note,
      badge,
      word: t(word),
      more: lines,
      reason: stops ? t("verdict.stop.note") : undefined,
      name: person?.name ?? short(scan.code),
      category: person?.category,
      photo: person?.photo,
    };
    const outcome = { scan, person, shown, passed: true };
    this.last = outcome;
    return outcome;
  }

  /**
   * @param {Scan} scan @param {Person|undefined} person @param {Refusal} refusal
   * @param {Shown["note"]} note @param {string[]} [more] @returns {Outcome}
   */
  #refused(scan, person, { code, key, message, more: own = [] }, note, more = []) {
    const { name, category, photo } = person ?? {};
    const scanned = scan.code ?? "";
    const why = whyOf(code, { key, isBlocked: this.list.blockedReason(scanned) !== undefined, ticket: this.list.ticket(scanned)?.state });
    /** @type {Shown} */
    const shown = {
      kind: "stop",
      why,
      word: t(REFUSALS[why].word),
      name: name ?? (code === CODES.delegateNotFound ? undefined : short(scan.code)),
      category,
      photo,
      reason: message,
      note,
      more: [...own, ...more],
    };
    return { scan, person, shown, passed: false, code };
  }

  /** @param {number} at */
  #time(at) {
    return spokenTime(at, this.zone, this.server.now());
  }

  /**
   * The server has a scan: the list counts it, and undo knows its id.
   * @param {Scan} scan @param {number} [id] @param {Person} [registered] whom it made of a walk-in
   */
  async stored(scan, id, registered) {
    if (this.last?.scan.nonce === scan.nonce) {
      this.last.id = id;
      // The queue still needs the scan as it was.
      if (registered?.id) this.last.scan = { ...scan, delegate: registered.id };
    }
    if (registered?.id) await this.list.takeWalkIn(registered, scan);
    else await this.list.record(scan);
  }

  /** Takes the last scan back. @returns {Promise<{message: string, isDone: boolean}>} */
  async undo() {
    const { last } = this;
    if (!last) return { message: "", isDone: false };
    const name = last.shown.name ?? "";
    const waiting = this.queue.waiting.find(({ nonce }) => nonce === last.scan.nonce);
    if (waiting) await this.queue.undo(waiting);
    else {
      try {
        const answer = await this.server.request("DELETE", undoPath(last.scan, last.id), { timeoutMs: 4000 });
        if (answer.status !== 204) return { message: t("undo.failed", { message: answerOf(answer.error, String(answer.status)) }), isDone: false };
        await this.queue.takenBack(last.scan);
      } catch {
        return { message: t("undo.offline"), isDone: false };
      }
    }
    this.last = undefined;
    this.#lastCode = "";
    return { message: t("undo.done", { name }), isDone: true };
  }
}

const SHOWN_MAX = 40;

/** A code as a steward reads it. @template {string|undefined} T @param {T} code @returns {T|string} */
const short = (code) => (code && code.length > SHOWN_MAX ? `${code.slice(0, SHOWN_MAX)}…` : code);
