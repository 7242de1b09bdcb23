import { copy } from "./values.js";

/** Runs functions one after another. */
export function queue() {
  let last = Promise.resolve();
  return (body) => {
    const run = last.then(body);
    last = run.catch(() => {});
    return run;
  };
}

/** The index of the first of some sorted keys that is not less than a key. */
function place(keys, key) {
  let low = 0, high = keys.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (keys[middle] < key) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * A store in memory, for tests; the storage in a file extends it.
 *
 * A storage has tables of values by key. `run` passes a transaction to a function and applies its writes atomically when the
 * function has ended. `all(table, after, count)` returns at most `count` values, in the order of their numbers after
 * `after`; without these all. `range(table, low, high, count, isDown)` returns entries in the order of their keys, as they
 * were before the transaction.
 */
export class MemoryStorage {
  #tables = new Map();
  /** The sorted keys of tables with range reads, and the keys added since. */
  #sorted = new Map();
  #inTurn = queue();

  /**
   * Runs a transaction.
   *
   * @template T
   * @param {boolean} _writes whether it may write
   * @param {(transaction: any) => Promise<T> | T} body
   * @returns {Promise<T>}
   */
  run(_writes, body) {
    return this.#inTurn(async () => {
      const changes = new Map();
      const result = await body(this.#transaction(changes));
      const list = [...changes].flatMap(([table, rows]) => Array.from(rows, ([key, value]) => [table, key, value]));
      if (list.length) {
        await this.persist(list);
        this.apply(list);
      }
      return result;
    });
  }

  #transaction(changes) {
    const given = (table, value) => (table.startsWith("r:") ? value : copy(value));
    const set = (table, key, value) => {
      if (!changes.has(table)) changes.set(table, new Map());
      changes.get(table).set(key, value);
    };
    return {
      get: async (table, key) => given(table, changes.get(table)?.has(key) ? changes.get(table).get(key) : this.#tables.get(table)?.get(key)),
      all: async (table, after, count) => {
        const kept = this.#tables.get(table), changed = changes.get(table);
        let found = changed ? [...new Map([...(kept ?? []), ...changed])].filter(([, value]) => value !== undefined) : [...(kept ?? [])];
        if (count) found = found.filter(([key]) => key > after).sort(([one], [other]) => one - other).slice(0, count);
        return found.map(([key, value]) => [key, given(table, value)]);
      },
      range: async (table, low, high, count = Infinity, isDown = false) => {
        const rows = this.#tables.get(table), keys = rows ? this.#inOrder(table, rows) : [], first = place(keys, low), last = place(keys, high), found = [];
        for (let index = isDown ? last - 1 : first; (isDown ? index >= first : index < last) && found.length < count; index += isDown ? -1 : 1) {
          if (rows.has(keys[index])) found.push([keys[index], rows.get(keys[index])]);
        }
        return found;
      },
      put: async (table, key, value) => set(table, key, copy(value)),
      delete: async (table, key) => set(table, key, undefined),
    };
  }

  /** The sorted keys of a table, including some deleted keys. The first read of a range sorts the table. */
  #inOrder(table, rows) {
    const { keys, added } = this.#sorted.get(table) ?? {};
    if (!keys || keys.length > 2 * rows.size + 100) {
      const sorted = { keys: [...rows.keys()].sort(), added: [] };
      this.#sorted.set(table, sorted);
      return sorted.keys;
    }
    for (const key of added.splice(0)) {
      const index = place(keys, key);
      if (keys[index] !== key) keys.splice(index, 0, key);
    }
    return keys;
  }

  /** Writes changes before they count; a store in memory writes nothing. */
  async persist(_changes) {}

  apply(changes) {
    for (const [table, key, value] of changes) {
      const rows = this.#tables.get(table) ?? new Map();
      if (value !== undefined) {
        const sorted = rows.has(key) ? undefined : this.#sorted.get(table);
        if (sorted?.added.push(key) > 100) this.#sorted.delete(table);
        this.#tables.set(table, rows.set(key, value));
      } else if (rows.delete(key) && !rows.size) {
        this.#tables.delete(table);
        this.#sorted.delete(table);
      }
    }
  }

  /** Every value with its table and key. */
  *entries() {
    for (const [table, rows] of this.#tables) for (const [key, value] of rows) yield [table, key, value];
  }

  async close() {}

  async destroy() {
    this.#tables.clear();
    this.#sorted.clear();
  }
}
