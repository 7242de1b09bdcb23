import { FieldMergeError, fail } from "./errors.js";
import { parse, stringify } from "./json.js";
import { nameOf } from "./layers.js";
import { blankRecord, deletion, difference, guarded, newId } from "./rules.js";
import { byKey, copy, idKey, temporaryId } from "./values.js";

/** The rules of a resource in the store or its transaction. */
export function rulesOf({ rules }, resource) {
  if (!rules) throw new FieldMergeError("no-rules", "The rules are unknown; sync() once.");
  return rules.resource(resource);
}

export const missing = (resource, id) => new FieldMergeError("no-such-record", `There is no record ${idKey(id)} of “${resource}”.`);

export const isPromise = (value) => typeof value?.then === "function";

/** A text that differs once an edit of a record was made or answered. */
const markOf = async (work, place) => stringify(await work.pushesOf(place));

/**
 * Edits before they are stored: the app's changes to copies of records, which become one edit.
 *
 * `record`, `records`, `edit`, `create` and `delete` are the functions of a transaction.
 *
 * @param store whose records are read
 * @param {import("./local.js").Local} local
 */
export function editsOf(store, local) {
  const entries = new Map();

  /** Takes a record up, inside a transaction that runs. */
  async function open(work, resource, id) {
    const rules = rulesOf(work, resource), place = { resource, id: await work.resolve(id) }, seen = await work.read(place);
    if (!seen) throw missing(resource, id);
    return add({ ...place, rules, seen, mark: await markOf(work, place) }, copy(seen));
  }

  /** Adds an entry; if functions run concurrently, the first entry counts. */
  function add(entry, record) {
    const name = nameOf(entry);
    if (!entries.has(name)) entries.set(name, { ...entry, record, draft: guarded(record, entry.rules) });
    return entries.get(name);
  }

  const known = async (resource, id) => entries.get(nameOf({ resource, id: await local.read((work) => work.resolve(id)) }));

  async function find(resource, id) {
    let entry = await known(resource, id);
    if (!entry) {
      await store.reach(resource, id);
      entry = await local.read((work) => open(work, resource, id));
    }
    if (entry.isGone) throw missing(resource, id);
    return entry;
  }

  /** Adds the changes to the queue, and returns their ticket. */
  function append(work, atomic) {
    const about = [...entries.values()];
    return work.append(about.filter((entry) => !entry.isGone || entry.seen).map(({ resource, id, rules, seen, record, isGone }) => ({
      resource, id, ...(!seen && { creates: true }), rows: isGone ? deletion(rules, seen) : difference(rules, seen, record),
    })), about, atomic);
  }

  return {
    open, add, append,

    async record(resource, id) {
      const entry = await known(resource, id);
      return entry ? standing(entry) : store.record(resource, id);
    },

    async records(resource) {
      const records = byKey(await store.records(resource));
      for (const entry of entries.values()) if (entry.resource === resource) records.set(idKey(entry.id), standing(entry));
      return [...records.values()].filter(Boolean);
    },

    async edit(resource, id, change) {
      const entry = await find(resource, id);
      await change(entry.draft);
      return { id: entry.id };
    },

    async create(resource, change) {
      const rules = rulesOf(local, resource), record = blankRecord(rules, rules.root.generated ? temporaryId() : null);
      await change?.(guarded(record, rules));
      const id = newId(record.id ?? null, rules.root, "id"), place = { resource, id };
      if (entries.has(nameOf(place)) || (await local.read((work) => work.read(place)))) fail("exists", "id", "is that of another record");
      add({ ...place, rules }, record);
      return { id };
    },

    async delete(resource, id) { (await find(resource, id)).isGone = true; },

    /** Returns whether the records that a function read, and the rules, have not changed. */
    async isCurrent(work) {
      for (const entry of entries.values()) if (entry.rules !== work.rules.resources.get(entry.resource)) return false;
      for (const entry of entries.values()) if (entry.seen && (await markOf(work, entry)) !== entry.mark) return false;
      return true;
    },
  };
}

const standing = (entry) => (entry.isGone ? null : parse(stringify(entry.record)));
