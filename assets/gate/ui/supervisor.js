// What a supervisor does with the PIN: dialogs that ask for it, and letting in somebody who was refused. The server
// checks it; its hash on this device is for when the server does not answer.

import { byId, setText } from "./dom.js";
import { CODES } from "../core/codes.js";
import { isPin } from "../core/secrets.js";
import { Busy } from "../io/server.js";
import { t } from "../core/texts.js";

const PIN_TRIES = 5;
const PIN_PAUSE_MS = 60_000;
const CHECK_MS = 4000;

/**
 * @typedef {import("../core/gate.js").Outcome} Outcome
 * @typedef {import("../core/secrets.js").PinHash} PinHash
 */

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

/**
 * Why a PIN is not accepted; empty where it is.
 * @param {string} pin @param {PinHash} expected @param {import("../io/server.js").Server} server
 */
export async function pinProblem(pin, expected, server) {
  const left = until - Date.now();
  // More than a pause is left where the clock was set back.
  if (left > 0 && left <= PIN_PAUSE_MS) return locked(left);
  let isRight;
  try {
    isRight = (await byServer(pin, server)) ?? (await isPin(pin, expected));
  } catch (cause) {
    return locked(/** @type {Busy} */ (cause).retryMs);
  }
  wrong = isRight ? 0 : wrong + 1;
  until = !isRight && wrong % PIN_TRIES === 0 ? Date.now() + PIN_PAUSE_MS : 0;
  keep();
  return isRight ? "" : t("pin.wrong");
}

/** @param {number} ms */
const locked = (ms) => t("pin.locked", { count: Math.ceil(ms / 1000) });

/**
 * What the server says of a PIN; nothing where it does not answer, or is of a version that does not check them.
 * @param {string} pin @param {import("../io/server.js").Server} server @returns {Promise<boolean|undefined>} @throws {Busy} after too many wrong ones
 */
async function byServer(pin, server) {
  if (!server.online) return undefined;
  try {
    const { status } = await server.request("POST", "/gate/pin", { body: { pin }, timeoutMs: CHECK_MS });
    return status === 204 ? true : status === 403 ? false : undefined;
  } catch (cause) {
    if (cause instanceof Busy && cause.status === 429) throw cause;
    return undefined;
  }
}

/**
 * Opens the dialog `NAME-dialog` with its parts `NAME-form`, `NAME-pin` and `NAME-wrong`. With the right PIN `run` is called with it;
 * the text that it answers is a problem to show, none closes the dialog.
 * @param {string} name @param {{server: import("../io/server.js").Server, expected: () => PinHash}} check @param {(pin: string) => Promise<string>|string} run
 */
export function openWithPin(name, { server, expected }, run) {
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
    if (go.disabled) return;
    go.disabled = true;
    let isOpen = true;
    dialog.addEventListener("close", () => (isOpen = false), { once: true });
    try {
      const refusal = await pinProblem(pin.value, expected(), server);
      // Closed meanwhile, perhaps open for somebody else: nothing is done any more.
      if (!isOpen) return;
      if (refusal) {
        show(refusal);
        pin.value = "";
        return pin.focus();
      }
      const problem = await run(pin.value);
      show(problem);
      if (!problem) dialog.close();
    } finally {
      go.disabled = false;
    }
  };
  dialog.showModal();
}

/**
 * What the PIN of this gate is checked with, where it has one.
 * @param {import("../io/server.js").Server} server @param {() => import("../core/state.js").GateSettings|undefined} gate
 */
export const pinCheck = (server, gate) => ({ server, expected: () => /** @type {PinHash} */ (gate()?.supervisorPin) });

/** Somebody who is known, at a gate with a supervisor. @param {Outcome} outcome @param {import("../core/state.js").GateSettings|undefined} gate */
export function canOverride({ scan, code, shown }, gate) {
  const isKnown = code !== CODES.delegateNotFound || shown.why === "unlisted";
  return scan.passage === "in" && !scan.walkIn && isKnown && gate?.allowRejected && gate?.supervisorPin;
}

/** @param {Outcome} outcome @param {Parameters<typeof openWithPin>[1]} check @param {(reason: string) => void} letIn */
export function askOverride(outcome, check, letIn) {
  const reason = /** @type {HTMLInputElement} */ (byId("override-reason"));
  const who = t("override.who", { name: outcome.shown.name ?? "" });
  // Typed before, for the same person.
  if (byId("override-who").textContent !== who) reason.value = "";
  setText(byId("override-who"), who);
  openWithPin("override", check, () => {
    letIn(reason.value.trim());
    reason.value = "";
    return "";
  });
}
