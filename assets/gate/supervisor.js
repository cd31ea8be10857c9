// What a supervisor does with the PIN: dialogs that ask for it, and letting in somebody who was refused.

import { byId, setText } from "./dom.js";
import { isPin } from "./sha256.js";
import { t } from "./texts.js";

const PIN_TRIES = 5;
const PIN_PAUSE_MS = 60_000;

/** @typedef {import("./gate.js").Outcome} Outcome */

/** A reload ends no pause, and forgets no wrong PIN. */
const KEPT = "gatepost-pin";

/** How many wrong PINs there were; until then, in Unix ms, none is accepted. */
let { wrong, until } = kept();

/** @returns {{wrong: number, until: number}} */
function kept() {
  try {
    return { wrong: 0, until: 0, ...JSON.parse(localStorage.getItem(KEPT) ?? "{}") };
  } catch {
    return { wrong: 0, until: 0 };
  }
}

function keep() {
  try {
    localStorage.setItem(KEPT, JSON.stringify({ wrong, until }));
  } catch {
    // Then only this page knows.
  }
}

/** Why a PIN is not accepted; empty where it is. @param {string} pin @param {{salt: string, hash: string}} expected */
export function pinProblem(pin, expected) {
  const left = until - Date.now();
  // More than a pause is left where the clock was set back.
  if (left > 0 && left <= PIN_PAUSE_MS) return t("pin.locked", { count: Math.ceil(left / 1000) });
  const isRight = isPin(pin, expected);
  wrong = isRight ? 0 : wrong + 1;
  until = !isRight && wrong % PIN_TRIES === 0 ? Date.now() + PIN_PAUSE_MS : 0;
  keep();
  return isRight ? "" : t("pin.wrong");
}

/**
 * Opens the dialog `NAME-dialog` with its parts `NAME-form`, `NAME-pin` and `NAME-wrong`. With the right PIN `run` is called with it;
 * the text that it answers is a problem to show, none closes the dialog.
 * @param {string} name @param {() => {salt: string, hash: string}} expected @param {(pin: string) => Promise<string>|string} run
 */
export function openWithPin(name, expected, run) {
  const dialog = /** @type {HTMLDialogElement} */ (byId(`${name}-dialog`));
  const pin = /** @type {HTMLInputElement} */ (byId(`${name}-pin`));
  const wrong = byId(`${name}-wrong`);
  const go = /** @type {HTMLButtonElement} */ (byId(`${name}-form`).querySelector("button:not([type])"));
  const show = (/** @type {string} */ problem) => {
    wrong.hidden = !problem;
    setText(wrong, problem);
  };
  pin.value = "";
  show("");
  byId(`${name}-form`).onsubmit = async (event) => {
    event.preventDefault();
    const refusal = pinProblem(pin.value, expected());
    if (refusal) {
      pin.value = "";
      pin.focus();
      return show(refusal);
    }
    go.disabled = true;
    const problem = await Promise.resolve(run(pin.value)).finally(() => (go.disabled = false));
    show(problem);
    if (!problem) dialog.close();
  };
  dialog.showModal();
}

/** Somebody who is known, at a gate with a supervisor. @param {Outcome} outcome @param {any} gate */
export function canOverride({ scan, code }, gate) {
  return scan.passage === "in" && !scan.walkIn && code !== 1301 && gate?.allowRejected && gate?.supervisorPin;
}

/** @param {Outcome} outcome @param {() => any} gate @param {(reason: string) => void} letIn */
export function askOverride(outcome, gate, letIn) {
  const reason = /** @type {HTMLInputElement} */ (byId("override-reason"));
  const who = t("override.who", { name: outcome.shown.name ?? "" });
  // Typed before, for the same person.
  if (byId("override-who").textContent !== who) reason.value = "";
  setText(byId("override-who"), who);
  openWithPin("override", () => gate().supervisorPin, () => {
    letIn(reason.value.trim());
    reason.value = "";
    return "";
  });
}
