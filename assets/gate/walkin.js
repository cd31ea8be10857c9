// Walk-ins: somebody without a ticket is registered and checked in on one screen.

import { byId, make } from "./dom.js";
import { t } from "./texts.js";

/** @typedef {import("./queue.js").WalkIn} WalkIn */

const FIELDS = { firstName: "walkin-first", lastName: "walkin-last", email: "walkin-email", delegateType: "walkin-type" };

export class WalkInDialog {
  /** @param {(person: WalkIn) => Promise<boolean>} onRegister answers whether the person is registered */
  constructor(onRegister) {
    this.onRegister = onRegister;
    byId("walkin-form").addEventListener("submit", (event) => {
      event.preventDefault();
      this.#register();
    });
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

  /** The dialog stays until there is an answer: nobody is registered twice. */
  async #register() {
    const go = /** @type {HTMLButtonElement} */ (byId("walkin-form").querySelector("button:not([type])"));
    if (go.disabled) return;
    const person = Object.fromEntries(Object.entries(FIELDS).map(([key, id]) => [key, field(id).value.trim()]));
    go.disabled = true;
    const isRegistered = await this.onRegister(person).finally(() => (go.disabled = false));
    if (isRegistered) this.#forget();
    /** @type {HTMLDialogElement} */ (byId("walkin-dialog")).close();
  }

  #forget() {
    for (const id of [FIELDS.firstName, FIELDS.lastName, FIELDS.email]) field(id).value = "";
  }
}

/** @param {string} id */
const field = (id) => /** @type {HTMLInputElement} */ (byId(id));
