const done = (request) => new Promise((resolve, reject) => {
  request.onsuccess = () => resolve(request.result);
  request.onerror = () => reject(request.error);
});

/** A store in the browser's database, which the tabs of an origin share. */
export class IndexedDBStorage {
  #name;
  #database = null;
  #isClosed = false;

  /** @param {string} name of the database */
  constructor(name) {
    this.#name = name;
    /** The name by which tabs find each other. */
    this.shared = name;
  }

  async #open() {
    if (this.#isClosed) throw new DOMException("The store is closed.", "InvalidStateError");
    const request = indexedDB.open(this.#name, 1);
    request.onupgradeneeded = () => request.result.createObjectStore("values");
    const database = await done(request);
    const forget = () => { this.#database = null; };
    // The browser may take the database away, and somebody else may delete it: the next transaction opens it anew.
    database.onclose = forget;
    database.onversionchange = () => { forget(); database.close(); };
    return database;
  }

  /** Runs a transaction; its function may await nothing but the transaction's own answers. */
  async run(writes, body, isSecond = false) {
    let transaction;
    const database = await (this.#database ??= this.#opening());
    try {
      transaction = database.transaction("values", writes ? "readwrite" : "readonly", writes ? { durability: "strict" } : undefined);
    } catch (error) {
      if (isSecond || this.#isClosed || error.name !== "InvalidStateError") throw error;
      this.#database = null;
      return this.run(writes, body, true);
    }
    const ended = new Promise((resolve, reject) => {
      transaction.oncomplete = resolve;
      transaction.onabort = () => reject(transaction.error ?? new DOMException("The transaction was taken back.", "AbortError"));
    });
    ended.catch(() => {});
    const values = transaction.objectStore("values");
    let result;
    try {
      result = await body({
        get: (table, key) => done(values.get([table, key])),
        all: async (table) => {
          const range = IDBKeyRange.bound([table], [table, []]);
          const [keys, found] = await Promise.all([done(values.getAllKeys(range)), done(values.getAll(range))]);
          return found.map((value, index) => [keys[index][1], value]);
        },
        put: (table, key, value) => done(values.put(value, [table, key])),
        delete: (table, key) => done(values.delete([table, key])),
      });
    } catch (error) {
      try { transaction.abort(); } catch { /* it is over already */ }
      throw error;
    }
    await ended;
    return result;
  }

  #opening() {
    const opening = this.#open();
    opening.catch(() => { if (this.#database === opening) this.#database = null; });
    return opening;
  }

  async close() {
    this.#isClosed = true;
    (await this.#database?.catch(() => null))?.close();
  }

  async destroy() {
    await this.close();
    await done(indexedDB.deleteDatabase(this.#name));
  }
}
