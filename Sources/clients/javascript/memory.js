import { copy } from "./values.js";

/** Runs what is given one after the other. */
export function queue() {
  let last = Promise.resolve();
  return (body) => {
    const run = last.then(body);
    last = run.catch(() => {});
    return run;
  };
}

/**
 * A store in memory, for tests; the storage in a file is one that is also written down.
 *
 * A storage is tables of values by key. `run` gives a transaction to a function and applies what it wrote once the
 * function has ended: all of it, or nothing.
 */
export class MemoryStorage {
  #tables = new Map();
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
      if (changes.size) {
        const list = [...changes.values()];
        await this.persist(list);
        this.apply(list);
      }
      return result;
    });
  }

  #transaction(changes) {
    const name = (table, key) => `${table}\n${typeof key}\n${key}`;
    const given = (table, value) => (table.startsWith("r:") ? value : copy(value));
    return {
      get: async (table, key) => {
        const change = changes.get(name(table, key));
        return given(table, change ? change[2] : this.#tables.get(table)?.get(key));
      },
      all: async (table) => {
        const found = new Map(this.#tables.get(table));
        for (const [of, key, value] of changes.values()) {
          if (of !== table) continue;
          if (value === undefined) found.delete(key);
          else found.set(key, value);
        }
        return [...found].map(([key, value]) => [key, given(table, value)]);
      },
      put: async (table, key, value) => void changes.set(name(table, key), [table, key, copy(value)]),
      delete: async (table, key) => void changes.set(name(table, key), [table, key, undefined]),
    };
  }

  /** Writes changes down before they count; here there is nothing to do. */
  async persist(_changes) {}

  apply(changes) {
    for (const [table, key, value] of changes) {
      let rows = this.#tables.get(table);
      if (!rows) this.#tables.set(table, (rows = new Map()));
      if (value === undefined) rows.delete(key);
      else rows.set(key, value);
    }
  }

  /** Every value with its table and key. */
  *entries() {
    for (const [table, rows] of this.#tables) for (const [key, value] of rows) yield [table, key, value];
  }

  async close() {}

  async destroy() {
    this.#tables.clear();
  }
}
