import { FieldMergeError } from "./errors.js";
import { report } from "./watching.js";

/** Milliseconds after which a deletion that gets no answer is left to the browser. */
const patience = 2000;

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
          all: async (table, after, count) => {
            const range = IDBKeyRange.bound(count ? [table, after] : [table], [table, []], true);
            const [keys, found] = await Promise.all([done(values.getAllKeys(range, count)), done(values.getAll(range, count))]);
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

    /** Deletes everything. Another tab that keeps the database open delays only the deletion of what is empty then. */
    async destroy() {
      const transaction = await begin(true), emptied = new Promise((resolve, reject) => {
        transaction.oncomplete = resolve;
        transaction.onabort = () => reject(transaction.error);
      });
      transaction.objectStore("values").clear();
      await emptied;
      await close();
      const request = indexedDB.deleteDatabase(name);
      await Promise.race([done(request), new Promise((resolve) => {
        request.onblocked = () => {
          report(new FieldMergeError("blocked", `Another tab keeps “${name}” open. It is empty, and is deleted when that tab closes it.`));
          resolve();
        };
        setTimeout(resolve, patience);
      })]);
    },
  };
}
