// Walk-ins: somebody without a ticket is registered and checked in on one screen.

import { byId, make } from "./dom.js";
import { t } from "./texts.js";

/** @typedef {import("./queue.js").WalkIn} WalkIn */

const FIELDS = { firstName: "walkin-first", lastName: "walkin-last", email: "walkin-email", delegateType: "walkin-type" };

export class WalkInDialog {
  /** @param {(person: WalkIn) => Promise<boolean>} onRegister answers whether the person is registered */
  constructor(onRegister) {
    this.onRegister = onRegister;
    byId("walkin-form").addEventListener("submit", () => this.#register());
    byId("walkin-cancel").addEventListener("click", () => this.#forget());
    for (const id of [FIELDS.firstName, FIELDS.lastName]) byId(id).addEventListener("input", () => this.#wantName());
  }

  /** What was typed before stays: a scan in between closes the dialog. @param {string[]} types of attendees to choose from */
  open(types) {
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

  async #register() {
    const person = Object.fromEntries(Object.entries(FIELDS).map(([key, id]) => [key, field(id).value.trim()]));
    if (await this.onRegister(person)) this.#forget();
  }

  #forget() {
    for (const id of [FIELDS.firstName, FIELDS.lastName, FIELDS.email]) field(id).value = "";
  }
}

/** @param {string} id */
const field = (id) => /** @type {HTMLInputElement} */ (byId(id));
