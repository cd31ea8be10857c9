// From nothing to credentials: a request that an administrator adds in the console (device discovery).

import { byId, setText, showScreen } from "./dom.js";
import { CODES } from "../core/codes.js";
import { checkDigits, randomHex } from "../core/secrets.js";
import { answerOf, t } from "../core/texts.js";
import { Busy, Unreachable } from "../io/server.js";

const POLL_MS = 2000;

/** @typedef {{code: string, secret: string}} AccessRequest */

/**
 * Shows the screen until the gate has credentials.
 * @param {import("../io/server.js").Server} server @param {import("../io/store.js").Store} store
 * @param {{name?: string, note?: string}} hints `name`: that of the last setup, as a suggestion
 * @returns {Promise<{clientId: string, clientSecret: string, name: string}>}
 */
export async function setUp(server, store, hints) {
  showScreen("setup");
  note(hints.note ?? "");
  const field = /** @type {HTMLInputElement} */ (byId("setup-name"));
  field.placeholder = hints.name ?? t("setup.name.example");
  /** @type {AccessRequest|undefined} */
  let request = await store.get("request");
  for (;;) {
    request ??= await askName(store);
    const result = await waitForAdministrator(server, request);
    await store.write([["meta", "delete", "request"]]);
    request = undefined;
    if (result) return result;
  }
}

/** @param {string} text */
function note(text) {
  byId("setup-note").hidden = text === "";
  setText(byId("setup-note"), text);
}

/** The pairing code in an address that the picture of a place leads to, once. @returns {string|null} */
function pairingCode() {
  const code = new URLSearchParams(location.hash.slice(1)).get("pair");
  if (code) history.replaceState(null, "", location.pathname + location.search);
  return code;
}

/** Keeps a request before it is sent. @param {import("../io/store.js").Store} store @param {string} code @returns {Promise<AccessRequest>} */
async function keep(store, code) {
  const request = { code, secret: randomHex(16) };
  await store.set("request", request);
  return request;
}

/** @param {import("../io/store.js").Store} store @returns {Promise<AccessRequest>} */
function askName(store) {
  const paired = pairingCode();
  if (paired) return keep(store, paired);
  byId("setup-form").hidden = false;
  byId("setup-wait").hidden = true;
  return new Promise((resolve) => {
    byId("setup-form").onsubmit = async (event) => {
      event.preventDefault();
      const code = /** @type {HTMLInputElement} */ (byId("setup-name")).value.trim();
      const request = { code, secret: randomHex(16) };
      // Before it is sent: a reload goes on with the same secret.
      await store.set("request", request);
      note("");
      resolve(request);
    };
  });
}

/**
 * @param {import("../io/server.js").Server} server @param {AccessRequest} request
 * @returns {Promise<{clientId: string, clientSecret: string, name: string}|undefined>} undefined: ask again
 */
async function waitForAdministrator(server, { code, secret }) {
  byId("setup-form").hidden = true;
  byId("setup-wait").hidden = false;
  setText(byId("setup-step2"), t("setup.step2", { code }));
  setText(byId("setup-digits"), checkDigits(secret));
  let isCancelled = false;
  byId("setup-cancel").onclick = () => (isCancelled = true);
  while (!isCancelled) {
    let pauseMs = POLL_MS;
    try {
      const body = { code, secret, preferredType: "gate" };
      const answer = await server.request("POST", "/device-request/new", { body, anonymous: true, timeoutMs: 5000 });
      const { clientId, clientSecret, clearedStatus } = answer.data ?? {};
      if (clientId && clientSecret) return { clientId, clientSecret, name: code };
      if (answer.error?.reason === "spent-code") return again(t("setup.refused", { message: answerOf(answer.error) }));
      else if (answer.error?.internalCode === CODES.discoveryClosed) note(t("setup.closed", { code }));
      else if (answer.error?.internalCode === CODES.requestCodeTaken) return again(t("setup.taken", { code }));
      else if (answer.error) return again(t("setup.refused", { message: answerOf(answer.error) }));
      else if (clearedStatus === "dismissed") return again(t("setup.dismissed"));
      else if (clearedStatus === "added") return again(t("setup.fetched"));
      else note("");
    } catch (cause) {
      if (!(cause instanceof Unreachable)) throw cause;
      note(t(cause instanceof Busy ? "setup.busy" : "setup.offline"));
      if (cause instanceof Busy) pauseMs = Math.max(pauseMs, cause.retryMs);
    }
    for (let waited = 0; waited < pauseMs && !isCancelled; waited += 200) await new Promise((resolve) => setTimeout(resolve, 200));
  }
  note("");
}

/** @param {string} text */
function again(text) {
  note(text);
  return undefined;
}

/**
 * Shows the places that this gate may use, and answers the one that is chosen; undefined: Back.
 * @param {Pick<import("../core/state.js").GateSettings, "places">|undefined} gate @param {boolean} canGoBack
 * @returns {Promise<{id: number, name: string}|undefined>}
 */
export function choosePlace(gate, canGoBack) {
  showScreen("places");
  const places = gate?.places ?? [];
  setText(byId("places-note"), t(places.length ? "place.intro" : gate ? "place.none" : "place.loading"));
  return new Promise((resolve) => {
    byId("place-list").replaceChildren(
      ...places.map((place) => {
        const item = document.createElement("li");
        const button = document.createElement("button");
        button.append(place.name);
        if (place.type) button.append(Object.assign(document.createElement("small"), { textContent: place.type }));
        button.onclick = () => resolve(place);
        item.append(button);
        return item;
      }),
    );
    byId("places-back").hidden = !canGoBack;
    byId("places-back").onclick = () => resolve(undefined);
  });
}
