// What the gate keeps on this device: one IndexedDB database. The other modules hold everything in
// memory too, so a store that is missing or full costs only what a restart would lose.

/** What each version of the database adds to the one before. @type {((db: IDBDatabase) => void)[]} */
const UPGRADES = [
  (db) => {
    db.createObjectStore("meta");
    db.createObjectStore("people", { keyPath: "id" });
    db.createObjectStore("blocked", { keyPath: "id" });
    db.createObjectStore("queue", { keyPath: "nonce" });
  },
];
/** The page begins without a database that is not open after this: another tab, or a broken profile, may keep it. */
const OPEN_MS = 5000;
const RETRY_MS = 500;

/** @typedef {import("../core/state.js").Records} Records */
/** @typedef {import("../core/state.js").Stores} Stores */
/** @typedef {[store: string, action: "put"|"delete"|"clear", value?: any]} Change */

export class Store {
  /** @type {IDBDatabase|null} */
  #db = null;
  /** Why nothing is kept, if so. @type {string} */
  problem = "";
  /** Told when `problem` changes. */
  onProblem = () => {};
  /**
   * The database is open again: with `wasOpen` memory has what was in it, and the browser may have deleted it since.
   * Without, it opened late, and may have what an earlier page kept.
   * @param {boolean} wasOpen
   */
  onReopened(wasOpen) {}

  /** Opens the database; never fails, see `problem`. @param {string} name @param {typeof UPGRADES} upgrades @param {number} openMs */
  static async open(name = "gatepost-gate", upgrades = UPGRADES, openMs = OPEN_MS) {
    const store = new Store();
    if (!globalThis.indexedDB) {
      store.#fail(new Error("this browser has no database"));
      return store;
    }
    const opening = store.#open(name, upgrades);
    let timer;
    const late = new Promise((resolve) => (timer = setTimeout(resolve, openMs)));
    await Promise.race([opening, late]);
    clearTimeout(timer);
    if (!store.#db) {
      store.problem ||= "the database does not open";
      opening.then(() => store.onReopened(false));
    }
    return store;
  }

  /** Opens the database, however long it takes. @param {string} name @param {typeof UPGRADES} upgrades */
  async #open(name, upgrades) {
    /** @type {IDBDatabase|undefined} */
    let db;
    while (!db) {
      db = await connect(name, upgrades).catch((cause) => this.#fail(cause));
      if (!db) await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
    const opened = (this.#db = db);
    const reopen = () => {
      if (this.#db !== opened) return;
      this.#db = null;
      this.#open(name, upgrades).then(() => this.onReopened(true));
    };
    // The browser deleted it under the page.
    opened.onclose = reopen;
    // Somebody else deletes it, or adds to it.
    opened.onversionchange = () => {
      opened.close();
      reopen();
    };
  }

  /** @param {unknown} cause @returns {undefined} */
  #fail(cause) {
    this.problem = cause instanceof Error ? cause.message || cause.name : String(cause);
    this.onProblem();
  }

  /** Everything in a store. @template {keyof Stores} S @param {S} name @returns {Promise<Stores[S][]>} @throws where it cannot be read */
  async all(name) {
    if (!this.#db) throw new Error(this.problem);
    return settled(this.#db.transaction(name).objectStore(name).getAll());
  }

  /** @template {keyof Records} K @param {K} key @returns {Promise<Records[K]|undefined>} */
  async get(key) {
    if (!this.#db) return undefined;
    return settled(this.#db.transaction("meta").objectStore("meta").get(key));
  }

  /** @template {keyof Records} K @param {K} key @param {Records[K]} value */
  set(key, value) {
    return this.write([["meta", "put", [key, value]]]);
  }

  /**
   * Writes all of it or nothing, and answers whether it is kept. `durable` waits for the disk.
   * @param {Change[]} changes @param {{durable?: boolean}} [options]
   */
  async write(changes, { durable = false } = {}) {
    const names = [...new Set(changes.map(([name]) => name))];
    return changes.length === 0 ? this.#db !== null : this.#transact(names, durable, (transaction, attempt) => attempt(() => put(transaction, changes)));
  }

  /**
   * Reads `meta[key]` and writes what `decide` makes of it, in one transaction: no other tab comes between.
   * @template {keyof Records} K
   * @param {K} key @param {string[]} names of the stores that are written @param {(value: Records[K]|undefined) => Change[]} decide
   */
  async change(key, names, decide) {
    return this.#transact(names, true, (transaction, attempt) => {
      const reading = transaction.objectStore("meta").get(key);
      reading.onsuccess = () => attempt(() => put(transaction, decide(reading.result)));
    });
  }

  /**
   * What `run` does in an `attempt` that throws is not kept, nor is anything else of the transaction.
   * @param {string[]} names @param {boolean} durable
   * @param {(transaction: IDBTransaction, attempt: (work: () => void) => void) => void} run @returns {Promise<boolean>}
   */
  async #transact(names, durable, run) {
    if (!this.#db) return false;
    try {
      const transaction = this.#db.transaction(names, "readwrite", { durability: durable ? "strict" : "default" });
      /** @type {unknown} */
      let thrown;
      const done = new Promise((resolve, reject) => {
        transaction.oncomplete = () => resolve(true);
        transaction.onabort = () => reject(thrown ?? transaction.error ?? new Error("the disk took nothing"));
      });
      run(transaction, (work) => {
        try {
          work();
        } catch (cause) {
          thrown = cause;
          try {
            transaction.abort();
          } catch {
            // It was aborted before.
          }
        }
      });
      await done;
      if (this.problem) {
        this.problem = "";
        this.onProblem();
      }
      return true;
    } catch (cause) {
      this.#fail(cause);
      return false;
    }
  }
}

/** @param {string} name @param {typeof UPGRADES} upgrades @returns {Promise<IDBDatabase>} */
async function connect(name, upgrades) {
  const open = (/** @type {number} */ version) => {
    const opening = indexedDB.open(name, version);
    opening.onupgradeneeded = ({ oldVersion }) => upgrades.slice(oldVersion).forEach((upgrade) => upgrade(opening.result));
    return settled(opening);
  };
  try {
    return await open(upgrades.length);
  } catch (cause) {
    if (!(cause instanceof DOMException) || cause.name !== "VersionError") throw cause;
    // A tab of a newer version has added to it: as it is, it has what this one needs.
    return settled(indexedDB.open(name));
  }
}

/** @param {IDBTransaction} transaction @param {Change[]} changes */
function put(transaction, changes) {
  for (const [name, action, value] of changes) {
    const store = transaction.objectStore(name);
    if (action === "clear") store.clear();
    else if (action === "delete") store.delete(value);
    else if (name === "meta") store.put(value[1], value[0]);
    else store.put(value);
  }
}

/** @template T @param {IDBRequest<T>} request @returns {Promise<T>} */
function settled(request) {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}
