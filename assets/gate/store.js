// What the gate keeps on this device: one IndexedDB database. The other modules hold everything in
// memory too, so a store that is missing or full costs only what a restart would lose.

const VERSION = 1;

/** @typedef {[store: string, action: "put"|"delete"|"clear", value?: any]} Change */

export class Store {
  /** @type {IDBDatabase|null} */
  #db = null;
  /** Why nothing is kept, if so. @type {string} */
  problem = "";
  /** Told when `problem` changes. */
  onProblem = () => {};
  /** The browser deleted the database under the page: it is open again, and empty. */
  onEvicted = () => {};

  /** Opens the database; never fails, see `problem`. @param {string} name */
  static async open(name = "gatepost-gate") {
    const store = new Store();
    await store.#open(name);
    return store;
  }

  /** @param {string} name */
  async #open(name) {
    let timer;
    try {
      const opening = indexedDB.open(name, VERSION);
      opening.onupgradeneeded = () => {
        const db = opening.result;
        db.createObjectStore("meta");
        db.createObjectStore("people", { keyPath: "id" });
        db.createObjectStore("blocked", { keyPath: "id" });
        db.createObjectStore("queue", { keyPath: "nonce" });
      };
      // A second tab with another version, or a broken profile, would keep us waiting for ever.
      /** @type {Promise<never>} */
      const late = new Promise((_, fail) => (timer = setTimeout(() => fail(new Error("the database does not open")), 5000)));
      const db = await Promise.race([settled(opening), late]);
      db.onversionchange = () => db.close();
      db.onclose = async () => {
        this.#db = null;
        // While the browser is still deleting, the database does not open.
        for (;;) {
          await this.#open(name);
          if (this.#db) return this.onEvicted();
          await new Promise((resolve) => setTimeout(resolve, 500));
        }
      };
      this.#db = db;
    } catch (cause) {
      this.#fail(cause);
    }
    clearTimeout(timer);
  }

  /** @param {unknown} cause */
  #fail(cause) {
    this.problem = cause instanceof Error ? cause.message || cause.name : String(cause);
    this.onProblem();
  }

  /** Everything in a store. @param {string} name @returns {Promise<any[]>} @throws where it cannot be read */
  async all(name) {
    if (!this.#db) throw new Error(this.problem);
    return settled(this.#db.transaction(name).objectStore(name).getAll());
  }

  /** @param {string} key @returns {Promise<any>} */
  async get(key) {
    if (!this.#db) return undefined;
    return settled(this.#db.transaction("meta").objectStore("meta").get(key));
  }

  /** @param {string} key @param {any} value */
  set(key, value) {
    return this.write([["meta", "put", [key, value]]]);
  }

  /**
   * Writes all of it or nothing, and answers whether it is kept. `durable` waits for the disk.
   * @param {Change[]} changes @param {{durable?: boolean}} [options]
   */
  async write(changes, { durable = false } = {}) {
    const names = [...new Set(changes.map(([name]) => name))];
    return changes.length === 0 ? this.#db !== null : this.#transact(names, durable, (transaction) => put(transaction, changes));
  }

  /**
   * Reads `meta[key]` and writes what `decide` makes of it, in one transaction: no other tab comes between.
   * @param {string} key @param {string[]} names of the stores that are written @param {(value: any) => Change[]} decide
   */
  async change(key, names, decide) {
    return this.#transact(names, true, (transaction) => {
      const reading = transaction.objectStore("meta").get(key);
      reading.onsuccess = () => put(transaction, decide(reading.result));
    });
  }

  /** @param {string[]} names @param {boolean} durable @param {(transaction: IDBTransaction) => void} run @returns {Promise<boolean>} */
  async #transact(names, durable, run) {
    if (!this.#db) return false;
    try {
      const transaction = this.#db.transaction(names, "readwrite", { durability: durable ? "strict" : "default" });
      const done = new Promise((resolve, reject) => {
        transaction.oncomplete = () => resolve(true);
        transaction.onabort = () => reject(transaction.error ?? new Error("the disk took nothing"));
      });
      run(transaction);
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
