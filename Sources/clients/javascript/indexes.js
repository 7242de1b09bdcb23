import { behind, entriesOf, valueOf } from "./keys.js";
import { form } from "./local.js";
import { placeOf } from "./query.js";
import { many, range } from "./ranges.js";
import { idKey, uuid } from "./values.js";
import { report } from "./watching.js";

/*
 * Indexes of the bases; loaded if `open` declares indexes or the store has some.
 *
 * The table `o` describes each index. Its entries are in the table `o:NAME`: a value, and the id of a record, with the key of
 * the record. The transaction that writes the record writes them by the description alone, so that an index is correct under
 * any rules. A query uses an index if it is complete, its description agrees with the rules, and its epoch is the store's
 * `epoch` (`meta.indexes`). The epoch ends with an error here, and if a tab without this module writes records; then all
 * indexes are built again. So no index can make an edit or a page fail.
 */

/** The number of records per transaction of the building, and the maximum number of records to read one by one instead of all. */
const batch = 500, few = 5000;

/** The end of every range of keys. */
const last = "\uffff\uffff";

/** The properties that an index depends on. */
const shapeOf = ({ places, isSearch = false, ids }) => JSON.stringify([places, isSearch, ids]);

/** Describes the declared indexes by the rules of the moment. */
function described(rules, { indexes = {}, search = {} }) {
  const found = new Map(), add = (resource, paths, path) => {
    const own = rules.resources.get(resource);
    try {
      if (own && paths.length) found.set(`${resource}:${path}`, { resource, places: paths.map((one) => placeOf(own, one)), isSearch: !path, ids: placeOf(own, "id").type });
    } catch (error) { report(error); }
  };
  for (const [resource, paths] of Object.entries(indexes)) for (const path of paths) add(resource, [path], path);
  for (const [resource, paths] of Object.entries(search)) add(resource, paths, "");
  return found;
}

/** Builds the indexes that a tab declares, and keeps all indexes of its store. */
export class Indexes {
  #local; #building = null; #rules; #epoch; #drops; #failures = 0;
  /** The epoch of the last written entries, and the epoch that ends because the storage failed. */
  #followed; #full;
  /** The rules of the last step, and the rules by which outdated indexes were dropped. */
  #stepped; #dropped;

  /** @param {import("./local.js").Local} local */
  constructor(local) {
    this.#local = local;
    this.look();
  }

  /** Begins to build if there is anything to build: called after each transaction. The first records are fetched before. */
  look() {
    const { rules, meta, isClosed } = this.#local;
    if (this.#building || isClosed || !rules || meta.revision === null || this.#failures > 20 || (rules === this.#rules && meta.indexes === this.#epoch && meta.drops === this.#drops)) return;
    this.#building = this.#build(rules).then(() => {
      this.#building = null;
      this.#failures = 0;
      this.look();
    }, () => {
      this.#building = this.#rules = null; // the next transaction tries again
      this.#failures += 1;
    });
  }

  async #build(rules) {
    this.#rules = rules;
    for (let isMore = true; isMore;) {
      isMore = await this.#local.write((work) => this.#step(work));
      this.#dropped = this.#stepped;
      await new Promise((resolve) => setTimeout(resolve, 0)); // lets edits run
    }
  }

  /** Runs one transaction of the building; returns whether work is left. */
  async #step(work) {
    const { tx, meta } = work, { options } = this.#local, kept = new Map(await tx.all("o")), wanted = described(work.rules, options);
    // A library that does not keep indexes may have written to a store of an earlier form.
    this.#epoch = meta.indexes = (meta.form > form && meta.indexes) || uuid();
    meta.form = form + 1;
    for (const [name, one] of kept) {
      // A tab drops indexes that it does not declare once, and outdated indexes once per rules. So tabs with different
      // declarations come to an end: each builds again what another has dropped.
      const isOther = wanted.has(name) ? this.#dropped !== work.rules && shapeOf(one) !== shapeOf(wanted.get(name)) : !this.#dropped && !!options[one.isSearch ? "search" : "indexes"];
      if (one.epoch !== meta.indexes || !isOther) continue;
      kept.set(name, { ...one, epoch: null });
      await tx.put("o", name, kept.get(name));
      meta.drops = uuid();
    }
    [this.#drops, this.#stepped] = [meta.drops, work.rules];
    for (const [name, one] of kept) {
      if (one.epoch === meta.indexes) continue;
      const entries = await range(tx, `o:${name}`, "", last, 4 * batch);
      for (const [entry] of entries) await tx.delete(`o:${name}`, entry);
      if (entries.length) return true;
      await tx.delete("o", name);
      kept.delete(name);
    }
    for (const [name, one] of wanted) {
      if (!kept.has(name)) kept.set(name, { ...one, epoch: meta.indexes, built: "" });
    }
    const { resource, built } = [...kept.values()].find(({ isWhole }) => !isWhole) ?? {};
    if (!resource) return false;
    const rows = await range(tx, `r:${resource}`, built, last, batch), next = { built: `${rows.at(-1)?.[0]}\0`, isWhole: rows.length < batch };
    for (const [name, one] of kept) {
      const isNext = !one.isWhole && one.resource === resource && one.built === built;
      for (const [key, { r }] of isNext ? rows : []) for (const entry of entriesOf(r, one)) await tx.put(`o:${name}`, entry, key);
      await tx.put("o", name, { ...one, ...(isNext && next) });
    }
    return true;
  }

  /** A transaction has failed. If the disk is full, the next transaction that writes records ends the epoch, which needs no space. */
  fail(error) { if (error?.code === "storage") this.#full = this.#followed; }

  /** Writes the entries of the records that a transaction has written. */
  async follow(work) {
    const { tx, meta, written } = work;
    this.#followed = meta.indexes;
    if (this.#full === meta.indexes) return void (meta.indexes = undefined);
    try {
      const kept = await tx.all("o");
      for (const place of written.values()) {
        const records = await Promise.all([place.before, work.base(place)]);
        for (const [name, one] of kept) {
          if (one.resource !== place.resource || one.epoch !== meta.indexes) continue;
          const [old, next] = records.map((record) => (record ? entriesOf(record, one) : new Set()));
          for (const entry of old) if (!next.has(entry)) await tx.delete(`o:${name}`, entry);
          for (const entry of next) if (!old.has(entry)) await tx.put(`o:${name}`, entry, idKey(place.id));
        }
      }
    } catch {
      meta.indexes = undefined;
    }
  }

  /** Tells whether a query can use an index, and returns its table. */
  async #tables({ tx, meta }, query) {
    const kept = new Map(await tx.all("o"));
    return (path, places) => {
      const name = `${query.resource}:${path}`, one = kept.get(name);
      return one?.isWhole && one.epoch === meta.indexes && shapeOf(one) === shapeOf({ places, isSearch: !path, ids: query.idPlace.type }) ? `o:${name}` : null;
    };
  }

  /**
   * Hands the records that may match a query to a function.
   *
   * @param {number} [count] the number of records that are needed
   * @param {Map<string, any>} edited the omitted records
   * @param {{rows: any[], index: string | null}} found `rows` are the matching records
   * @returns {Promise<boolean>} false if reading all records is better
   */
  async scan(work, query, count, edited, found, consider) {
    const { tx } = work, tableOf = await this.#tables(work, query), bases = `r:${query.resource}`;
    const sorted = query.order[0] ?? { path: "id", place: query.idPlace }, inOrder = count && tableOf(sorted.path, [sorted.place]);
    const ways = [...query.conditions.map(({ path, place, ranges }) => ({ path, table: ranges && tableOf(path, [place]), ranges })),
      ...query.words.map((word) => ({ path: "search", table: tableOf("", query.places), ranges: [[word, word + last]] }))].filter(({ table }) => table);
    const read = async (keys) => { for (const { r } of await many(tx, bases, keys.filter((key) => !edited.has(key)))) consider(r); };
    /** Reads records by their keys; if the query has the order of ids, it stops when there are enough. */
    const readFirst = async (keys) => {
      if (!count || query.order.some(({ path }) => path !== "id")) return read(keys);
      const places = keys.map((key) => ({ key, order: query.orderOf({ id: key.split(",").map(decodeURIComponent) }) })).filter(({ order }) => query.isBehind(order));
      const sorted = places.sort((one, other) => query.compare(one.order, other.order)).map(({ key }) => key);
      for (let at = 0; at < sorted.length && found.rows.length < count; at += 2 * count) await read(sorted.slice(at, at + 2 * count));
    };
    /** Reads the records that the best of the conditions names, if these are few enough. */
    const readFew = async (most) => {
      let best = null;
      for (const { path, table, ranges } of ways) {
        const keys = best?.size === 0 ? null : await this.#keys(tx, table, ranges, best ? best.size : most);
        if (keys) [best, found.index] = [keys, path];
      }
      if (best) await readFirst([...best]);
      return !!best;
    };
    // A very selective condition makes it unnecessary to read many entries of other conditions.
    if (await readFew(count ? 4 * count : few)) return true;
    if (!inOrder) return !!count && readFew(few);
    found.index = sorted.path;
    if (await this.#readInOrder(tx, inOrder, query, count, found, read)) return true;
    found.rows = [];
    return readFew(few);
  }

  /** Reads records in the order of an index until there are enough that match. */
  async #readInOrder(tx, table, query, count, { rows }, read) {
    const [{ path, isDown } = { path: "id" }, tie] = query.order, isUnique = path === "id" || (isDown ? tie?.path === "id" && tie.isDown : !tie), seen = new Set();
    let [low, high] = query.conditions.find((one) => one.path === path && one.ranges?.length === 1)?.ranges[0] ?? ["", last];
    if (query.start && isDown) high = query.start[0] + behind < high ? query.start[0] + behind : high;
    if (query.start && !isDown) low = query.start[0] > low ? query.start[0] : low;
    for (let size = count + 20; seen.size < 40 * count + batch; size *= 2) {
      const entries = await range(tx, table, low, high, size, isDown), some = entries.map(([, key]) => key).filter((key) => !seen.has(key));
      for (const key of some) seen.add(key);
      await read(some);
      if (entries.length < size) return true;
      const [end] = entries.at(-1), value = valueOf(end), row = rows.sort((one, other) => query.compare(one.order, other.order))[count - 1]?.order[0];
      // Records after the last entry sort after this row.
      if (row !== undefined && (isDown ? row > value : row < value || (isUnique && row === value))) return true;
      if (isDown) high = end;
      else low = `${end}\0`;
    }
    return false;
  }

  /** The keys of the records in some ranges of an index; null if the ranges have more than `most` entries. */
  async #keys(tx, table, ranges, most) {
    const keys = [];
    for (const [low, high] of ranges) {
      for (const [, key] of await range(tx, table, low, high, most && most + 1 - keys.length)) keys.push(key);
      if (most < keys.length) return null;
    }
    return new Set(keys);
  }

  /** Counts the matches of a query by its index alone; null if this is impossible. */
  async count(work, query, edited) {
    const [one, ...others] = query.conditions, table = one?.isExact && !others.length && !query.words.length && (await this.#tables(work, query))(one.path, [one.place]);
    if (!table) return null;
    const keys = await this.#keys(work.tx, table, one.ranges);
    for (const [key, record] of edited) {
      keys.delete(key);
      if (record && query.matches(record)) keys.add(key);
    }
    return keys.size;
  }
}
