// A lost badge: the old code is blocked and a new one takes its place. Only the server can do that.

import { byId, setText } from "./dom.js";
import { CODES } from "../core/codes.js";
import { openWithPin, pinCheck } from "./supervisor.js";
import { answerOf, blockedReason, t } from "../core/texts.js";

/**
 * @typedef {import("../core/list.js").Person} Person
 * @typedef {{name?: string, person?: Person, code?: string}} Who `code` where only the server knows the person
 */

/** The server knows this reason. */
const LOST = "reported lost";

export class BadgeDialog {
  #dialog = /** @type {HTMLDialogElement} */ (byId("badge-dialog"));
  #code = /** @type {HTMLInputElement} */ (byId("badge-code"));
  /** @type {Who} */
  #who = {};
  #reason = /** @type {HTMLInputElement} */ (byId("badge-reason"));

  /**
   * @param {import("../io/server.js").Server} server @param {import("../core/list.js").List} list
   * @param {() => import("../core/state.js").GateSettings|undefined} gate @param {(shown: import("./verdict.js").Shown) => void} onReplaced
   */
  constructor(server, list, gate, onReplaced) {
    this.server = server;
    this.list = list;
    this.gate = gate;
    this.onReplaced = onReplaced;
  }

  /** Whether this gate replaces badges at all. */
  get isAllowed() {
    const gate = this.gate();
    return Boolean(gate?.replaceBadge && gate.supervisorPin);
  }

  /** @param {Who} who @param {string} [code] of the new badge */
  open(who, code = "") {
    this.#who = who;
    this.#code.value = code;
    this.#reason.value = blockedReason(LOST);
    setText(byId("badge-who"), t("badge.who", { name: who.name ?? who.code ?? "" }));
    openWithPin("badge", pinCheck(this.server, this.gate), (pin) => this.#replace(pin));
    this.#code.focus();
  }

  get isOpen() {
    return this.#dialog.open;
  }

  /** A code that is scanned while the dialog is open is the new one. @param {string} scanned @returns {string} why it is not */
  take(scanned) {
    const code = this.list.newCode(scanned);
    if (this.#isOld(code)) return t("badge.same");
    this.#code.value = code;
    return "";
  }

  /** @param {string} code */
  #isOld(code) {
    const { person, code: known } = this.#who;
    return code === known || person?.codes?.includes(code);
  }

  /** @param {string} pin @returns {Promise<string>} what went wrong */
  async #replace(pin) {
    const { person, code: known } = this.#who;
    const code = this.list.newCode(this.#code.value.trim());
    if (code && this.#isOld(code)) return t("badge.same");
    const typed = this.#reason.value.trim();
    const reason = typed === blockedReason(LOST) ? LOST : typed;
    const body = { delegate: person?.id ?? `scan:${known}`, reason, pin, ...(code ? { code } : {}) };
    let answer;
    try {
      answer = await this.server.request("POST", "/gate/badge", { body, timeoutMs: 5000 });
    } catch {
      return t("badge.offline");
    }
    if (answer.status === 200) return this.#replaced(answer.data);
    // An answer that was lost: the feed has brought the new code meanwhile.
    const owner = code ? this.list.find(code) : undefined;
    if (answer.error?.internalCode === CODES.codeTaken && owner && owner.id === person?.id) return this.#replaced(owner);
    return t("badge.failed", { message: answerOf(answer.error, String(answer.status)) });
  }

  /** @param {Person} person */
  async #replaced(person) {
    await this.list.take(person);
    const { name, category, photo, codes = [] } = person;
    this.onReplaced({ kind: "good", word: t("badge.done"), name, category, photo, badge: codes[0], more: [t("badge.done.old")] });
    return "";
  }
}
