// Everything that the gate knows after a restart, in one table: its type, what it is at first, and what a revocation leaves
// of it. Other modules keep nothing on the device that is not a row here.

/** @typedef {"stays"|"deleted"|"emptied"|"stripped"} Fate `emptied` and `stripped` by the module that holds it in memory */

/** @template T @typedef {{initial?: T, revoked: Fate}} Key */
/** @template T @typedef {{initial: T, revoked: Fate}} Preference a key that has a value from the start */

/** @typedef {{id: number, name: string}} ChosenPlace */

/** @typedef {import("api").components["schemas"]["Gate"]} GateSettings as the server answers them */

export const STATE = {
  /** Parts of the record `settings`. */
  settings: {
    // Chosen in the menu and on the screen.
    mode: /** @type {Preference<"in"|"out"|"both">} */ ({ initial: "in", revoked: "stays" }),
    theme: /** @type {Preference<"auto"|"light"|"dark"|"sun">} */ ({ initial: "auto", revoked: "stays" }),
    language: /** @type {Preference<string>} */ ({ initial: "auto", revoked: "stays" }),
    sound: /** @type {Preference<boolean>} */ ({ initial: true, revoked: "stays" }),
    vibration: /** @type {Preference<boolean>} */ ({ initial: true, revoked: "stays" }),
    place: /** @type {Key<ChosenPlace>} */ ({ revoked: "deleted" }),
    /** Given at setup; suggested at the next one. */
    name: /** @type {Key<string>} */ ({ revoked: "stays" }),
    // Of this device.
    camera: /** @type {Key<string>} */ ({ revoked: "stays" }),
    cameraOn: /** @type {Key<boolean>} */ ({ revoked: "stays" }),
    cameraProblem: /** @type {Key<string>} */ ({ revoked: "stays" }),
    wedge: /** @type {Key<import("../io/wedge.js").WedgeSettings>} */ ({ revoked: "stays" }),
    // As they were when the crew was last told of them.
    policy: /** @type {Key<string>} */ ({ revoked: "stays" }),
    consolePlace: /** @type {Key<number>} */ ({ revoked: "stays" }),
    heardMessage: /** @type {Key<string>} */ ({ revoked: "stays" }),
    dismissedMessage: /** @type {Key<string>} */ ({ revoked: "stays" }),
  },
  /** Records of the store `meta`, beside `settings`. */
  records: {
    credentials: /** @type {Key<import("../io/server.js").Credentials>} */ ({ revoked: "deleted" }),
    gate: /** @type {Key<GateSettings>} */ ({ revoked: "deleted" }),
    /** Server's clock minus ours, in ms. */
    offset: /** @type {Key<number>} */ ({ initial: 0, revoked: "stays" }),
    /** The newest epoch, with its proof. */
    epoch: /** @type {Key<string>} */ ({ initial: "", revoked: "stays" }),
    /** Ticket codes that are reserved for walk-ins. */
    codes: /** @type {Key<string[]>} */ ({ initial: [], revoked: "deleted" }),
    /** A request for access that an administrator has not answered. */
    request: /** @type {Key<import("../ui/onboarding.js").AccessRequest>} */ ({ revoked: "stays" }),
    list: /** @type {Key<import("./list.js").Head>} */ ({ revoked: "emptied" }),
    shift: /** @type {Key<import("./shift.js").Kept>} */ ({ revoked: "emptied" }),
    evacuation: /** @type {Key<import("../ui/evacuation.js").Kept>} */ ({ revoked: "deleted" }),
  },
  /** Stores of their own, one record an item. */
  stores: {
    people: /** @type {Key<import("./list.js").Person>} */ ({ revoked: "emptied" }),
    blocked: /** @type {Key<import("./list.js").Blocked>} */ ({ revoked: "emptied" }),
    queue: /** @type {Key<import("./queue.js").Scan>} */ ({ revoked: "stripped" }),
  },
  /** In `localStorage`, which every tab reads at once. */
  local: {
    /** How many wrong PINs there were; until then, in Unix ms, none is accepted. */
    "gatepost-pin": /** @type {Key<{wrong: number, until: number}>} */ ({ initial: { wrong: 0, until: 0 }, revoked: "stays" }),
  },
};

/** @template K @typedef {K extends Key<infer T> ? T : never} ValueOf */
/** @typedef {typeof STATE.settings} SettingKeys */
/** @typedef {typeof STATE.records} RecordKeys */
/** @typedef {{[K in keyof SettingKeys as SettingKeys[K] extends Preference<infer T> ? K : never]: ValueOf<SettingKeys[K]>}} Preferences those that have a value from the start */
/** @typedef {Preferences & {[K in Exclude<keyof SettingKeys, keyof Preferences>]?: ValueOf<SettingKeys[K]>}} Settings */
/** @typedef {{settings: Partial<Settings>} & {[K in keyof RecordKeys]: ValueOf<RecordKeys[K]>}} Records by the key in the store `meta` */

/** @typedef {{[K in keyof typeof STATE.stores]: ValueOf<typeof STATE.stores[K]>}} Stores records by the name of their store */

/** What a gate is set to before anybody set anything. @returns {Settings} */
export const initialSettings = () =>
  /** @type {any} */ (Object.fromEntries(Object.entries(STATE.settings).flatMap(([name, key]) => ("initial" in key ? [[name, key.initial]] : []))));

/**
 * Forgets, at a revocation, those of the settings that go, and gives what the store has to do for the records.
 * @param {Settings} settings @returns {import("../io/store.js").Change[]}
 */
export function forgotten(settings) {
  for (const name of deleted(STATE.settings)) delete (/** @type {Record<string, unknown>} */ (settings)[name]);
  return deleted(STATE.records).map((name) => ["meta", "delete", name]);
}

/** The place where scans count: nobody scans before one is chosen. @param {Pick<Settings, "place">} settings */
export const placeOf = ({ place }) => /** @type {ChosenPlace} */ (place);

/** @template {Record<string, {revoked: Fate}>} T @param {T} keys @returns {string[]} */
const deleted = (keys) => Object.keys(keys).filter((name) => keys[name].revoked === "deleted");
