// Walk-ins: somebody without a ticket is registered and checked in on one screen.

import { byId, make, setText } from "./dom.js";
import { t } from "../core/texts.js";

/** @typedef {import("../core/queue.js").WalkIn} WalkIn */

const FIELDS = { firstName: "walkin-first", lastName: "walkin-last", email: "walkin-email", delegateType: "walkin-type" };

export class WalkInDialog {
  /** There is no answer yet. */
  isBusy = false;
  /** What was scanned, to be the code of the person. @type {string|undefined} */
  #code;

  /** @param {(person: WalkIn, code?: string) => Promise<boolean>} onRegister answers whether the person is registered */
  constructor(onRegister) {
    this.onRegister = onRegister;
    byId("walkin-form").addEventListener("submit", (event) => {
      event.preventDefault();
      this.#register();
    });
    byId("walkin-cancel").addEventListener("click", () => this.#forget());
    byId("walkin-dialog").addEventListener("cancel", (event) => this.isBusy && event.preventDefault());
    for (const id of [FIELDS.firstName, FIELDS.lastName]) byId(id).addEventListener("input", () => this.#wantName());
  }

  /** What was typed before stays, unless it was cancelled. @param {string[]} types of attendees to choose from @param {string} [code] that they came with */
  open(types, code) {
    this.#code = code;
    byId("walkin-code").hidden = code === undefined;
    setText(byId("walkin-code"), code === undefined ? "" : t("walkin.code", { code }));
    const select = /** @type {HTMLSelectElement} */ (byId(FIELDS.delegateType));
    const chosen = select.value;
    select.replaceChildren(...types.map((type) => make("option", { value: type }, type)));
    if (types.includes(chosen)) select.value = chosen;
    byId("walkin-type-field").hidden = types.length === 0;
    this.#wantName();
    /** @type {HTMLDialogElement} */ (byId("walkin-dialog")).showModal();
    field(FIELDS.firstName).focus();
  }

  #wantName() {
    const isNamed = [FIELDS.firstName, FIELDS.lastName].some((id) => field(id).value.trim());
    field(FIELDS.firstName).setCustomValidity(isNamed ? "" : t("walkin.name"));
  }

  /** The dialog stays until there is an answer: nobody is registered twice. */
  async #register() {
    if (this.isBusy) return;
    const person = Object.fromEntries(Object.entries(FIELDS).map(([key, id]) => [key, field(id).value.trim()]));
    this.#setBusy(true);
    const isRegistered = await this.onRegister(person, this.#code).finally(() => this.#setBusy(false));
    if (isRegistered) this.#forget();
    /** @type {HTMLDialogElement} */ (byId("walkin-dialog")).close();
  }

  /** @param {boolean} isBusy */
  #setBusy(isBusy) {
    this.isBusy = isBusy;
    /** @type {HTMLFieldSetElement} */ (byId("walkin-fields")).disabled = isBusy;
    setText(byId("walkin-go"), t(isBusy ? "walkin.running" : "walkin.go"));
  }

  #forget() {
    this.#code = undefined;
    for (const id of [FIELDS.firstName, FIELDS.lastName, FIELDS.email]) field(id).value = "";
  }
}

/** @param {string} id */
const field = (id) => /** @type {HTMLInputElement} */ (byId(id));
