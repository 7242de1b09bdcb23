import { FieldMergeError } from "./errors.js";

const done = (request) => new Promise((resolve, reject) => {
  request.onsuccess = () => resolve(request.result);
  request.onerror = () => reject(request.error);
});

/** A store in the browser's database, which the tabs of an origin share; `shared` is the name by which they find each other. */
export function indexedDBStorage(name) {
  let database = null, isClosed = false;
  const forget = () => { database = null; };

  async function opened() {
    if (isClosed) throw new FieldMergeError("closed", "The store is closed.");
    const request = indexedDB.open(name, 1);
    request.onupgradeneeded = () => request.result.createObjectStore("values");
    const found = await done(request);
    // The browser may take the database away, and somebody else may delete it: the next transaction opens it anew.
    found.onclose = forget;
    found.onversionchange = () => { forget(); found.close(); };
    return found;
  }

  async function begin(writes) {
    const opening = (database ??= opened());
    try {
      return (await opening).transaction("values", writes ? "readwrite" : "readonly", { durability: "strict" });
    } catch (error) {
      if (database === opening) forget();
      throw error;
    }
  }

  async function close() {
    isClosed = true;
    (await database?.catch(() => null))?.close();
  }

  return {
    shared: name, close,

    /** Runs a transaction; its function may await nothing but the transaction's own answers. */
    async run(writes, body) {
      const transaction = await begin(writes).catch(() => begin(writes)), values = transaction.objectStore("values");
      const ended = new Promise((resolve, reject) => {
        transaction.oncomplete = resolve;
        transaction.onabort = () => reject(transaction.error);
      });
      ended.catch(() => {});
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
    },

    async destroy() {
      await close();
      await done(indexedDB.deleteDatabase(name));
    },
  };
}
