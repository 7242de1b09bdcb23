/*
 * Reads of a table in the order of its keys, for queries and indexes.
 */

const done = (request) => new Promise((resolve, reject) => {
  request.onsuccess = () => resolve(request.result);
  request.onerror = () => reject(request.error);
});

/** Entries of a table from one key to another, exclusive, in order; with `isDown` in reverse order. */
export async function range(tx, table, low, high, count, isDown) {
  if (!(low < high)) return [];
  if (!tx.store) return tx.range(table, low, high, count, isDown);
  const keys = IDBKeyRange.bound([table, low], [table, high], false, true), store = tx.store(table), found = [];
  if (!isDown) {
    const [names, values] = await Promise.all([done(store.getAllKeys(keys, count)), done(store.getAll(keys, count))]);
    return names.map(([, key], index) => [key, values[index]]);
  }
  const cursor = store.openCursor(keys, "prev");
  return new Promise((resolve, reject) => {
    cursor.onerror = () => reject(cursor.error);
    cursor.onsuccess = () => {
      if (!cursor.result || found.push([cursor.result.key[1], cursor.result.value]) === count) resolve(found);
      else cursor.result.continue();
    };
  });
}

/** The values of some keys, without missing keys. */
export const many = async (tx, table, keys) => (await Promise.all(keys.map((key) => (tx.store ? done(tx.store(table).get([table, key])) : tx.get(table, key))))).filter(Boolean);
