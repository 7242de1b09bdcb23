import { FieldMergeError, loaded } from "./errors.js";
import { copy } from "./values.js";

/**
 * Keeps a mark that distinguishes a wiped store from a new store: in the page's storage, in a worker in a cache. Without a
 * value it is read; null deletes it.
 */
async function beside(name, value) {
  const { localStorage: kept, caches } = globalThis, text = value && JSON.stringify(value);
  try {
    if (kept) return value === undefined ? JSON.parse(kept.getItem(name)) : value ? kept.setItem(name, text) : kept.removeItem(name);
    const cache = await caches.open(name);
    if (value === undefined) return await (await cache.match("/"))?.json();
    await (value ? cache.put("/", new Response(text)) : caches.delete(name));
  } catch { /* the page may not keep anything there */ }
}

/** Converts an error of the browser's database to an error of this library. */
const failed = (error) => (error?.name === "VersionError" ? new FieldMergeError("newer-store", "A newer version of this app has opened this store. Reload the page.")
  : error instanceof FieldMergeError || !globalThis.DOMException || !(error instanceof DOMException) ? error
    : new FieldMergeError("storage", `The browser cannot keep this: ${error.message}`, { cause: error }));

/** Creates the tables of a new database; the first version had one table. */
function upgrade({ result, transaction }, oldVersion) {
  const records = result.createObjectStore("records");
  if (!oldVersion) return result.createObjectStore("queue");
  const all = transaction.objectStore("values"), found = all.openCursor(IDBKeyRange.bound(["r:"], ["r;"]));
  all.name = "queue";
  found.onsuccess = () => {
    const cursor = found.result;
    if (!cursor) return;
    records.put(cursor.value, cursor.key);
    cursor.delete();
    cursor.continue();
  };
}

const done = (request) => new Promise((resolve, reject) => {
  request.onsuccess = () => resolve(request.result);
  request.onerror = () => reject(request.error);
});

/** A store in the browser's database, which the tabs of an origin share under the name `shared`. */
export function indexedDBStorage(name) {
  let database = null, isClosed = false;
  const forget = () => { database = null; };

  async function opened() {
    if (isClosed) throw new FieldMergeError("closed", "The store is closed.");
    const request = indexedDB.open(name, 2);
    request.onupgradeneeded = ({ oldVersion }) => { upgrade(request, oldVersion); };
    const found = await done(request);
    // The browser may close the database, and another tab may delete it: the next transaction opens it again.
    found.onclose = forget;
    found.onversionchange = () => { forget(); found.close(); };
    return found;
  }

  async function begin(writes) {
    const opening = (database ??= opened());
    try {
      return (await opening).transaction(["records", "queue"], writes ? "readwrite" : "readonly", { durability: "strict" });
    } catch (error) {
      if (database === opening) forget();
      throw failed(error);
    }
  }

  async function close() {
    isClosed = true;
    (await database?.catch(() => null))?.close();
  }

  return {
    shared: name, close,
    beside: (value) => beside(name, value),

    /** Runs a transaction; its function may await only the transaction's answers. */
    async run(writes, body) {
      const transaction = await begin(writes).catch(() => begin(writes)), known = new Map();
      const values = (table) => transaction.objectStore(table.startsWith("r:") ? "records" : "queue");
      const ended = new Promise((resolve, reject) => {
        transaction.oncomplete = resolve;
        transaction.onabort = () => reject(failed(transaction.error));
      });
      ended.catch(() => {});
      let result;
      try {
        result = await body({
          store: values, known,
          get: async (table, key) => {
            const name = `${table}\n${key}`;
            if (!known.has(name)) known.set(name, await done(values(table).get([table, key])));
            return copy(known.get(name));
          },
          all: async (table, after, count) => {
            const range = IDBKeyRange.bound(count ? [table, after] : [table], [table, []], true);
            const [keys, found] = await Promise.all([done(values(table).getAllKeys(range, count)), done(values(table).getAll(range, count))]);
            return found.map((value, index) => [keys[index][1], value]);
          },
          // An error of a write aborts the transaction.
          put: async (table, key, value) => {
            values(table).put(value, [table, key]);
            known.set(`${table}\n${key}`, copy(value));
          },
          delete: async (table, key) => {
            values(table).delete([table, key]);
            known.set(`${table}\n${key}`);
          },
        });
      } catch (error) {
        try { transaction.abort(); } catch { /* it is over already */ }
        throw failed(transaction.error ?? error);
      }
      await ended;
      return result;
    },

    /** Deletes everything. */
    destroy: async () => (await loaded(import("./signout.js"))).deleteDatabase({ name, begin, close, beside }),
  };
}
