import { FieldMergeError, fail } from "./errors.js";
import { nameOf } from "./layers.js";
import { blankRecord, deletion, difference, guarded } from "./rules.js";
import { copy, idKey, temporaryId } from "./values.js";

/** The rules of a resource, as the store knows them. */
export function rulesOf(local, resource) {
  if (!local.rules) throw new FieldMergeError("no-rules", "The store has never been in touch with its server; sync() it once.");
  return local.rules.resource(resource);
}

export const missing = (resource, id) => new FieldMergeError("no-such-record", `There is no record ${idKey(id)} of “${resource}” here.`);

/**
 * Edits in the making: what the functions of an app do to copies of records, until it becomes one edit.
 *
 * `record`, `records`, `edit`, `create` and `delete` are what a transaction offers.
 */
export class Edits {
  #store; #local;
  #entries = new Map();

  /**
   * @param store whose records are read
   * @param local {import("./local.js").Local}
   */
  constructor(store, local) {
    this.#store = store;
    this.#local = local;
  }

  /** Takes a record up, inside a transaction that runs. */
  async open(work, resource, id) {
    const rules = rulesOf(this.#local, resource), real = await work.resolve(id), seen = copy(await work.read(resource, real));
    if (!seen) throw missing(resource, id);
    return this.#add({ resource, id: real, rules, seen, mark: await work.mark(resource, real) }, copy(seen));
  }

  /** Takes an entry up; where functions run side by side, the first one counts. */
  #add(entry, record) {
    const name = nameOf(entry.resource, entry.id);
    if (!this.#entries.has(name)) this.#entries.set(name, Object.assign(entry, { record, draft: guarded(record, entry.rules) }));
    return this.#entries.get(name);
  }

  async #known(resource, id) { return this.#entries.get(nameOf(resource, await this.#local.read((work) => work.resolve(id)))); }

  async #find(resource, id) {
    let entry = await this.#known(resource, id);
    if (!entry) {
      await this.#store.reach(resource, id);
      entry = await this.#local.read((work) => this.open(work, resource, id));
    }
    if (entry.isGone) throw missing(resource, id);
    return entry;
  }

  record = async (resource, id) => {
    const entry = await this.#known(resource, id);
    return entry ? standing(entry) : this.#store.record(resource, id);
  };

  records = async (resource) => {
    const records = new Map((await this.#store.records(resource)).map((record) => [idKey(record.id), record]));
    for (const entry of this.#entries.values()) if (entry.resource === resource) records.set(idKey(entry.id), standing(entry));
    return [...records.values()].filter(Boolean);
  };

  edit = async (resource, id, change) => {
    const entry = await this.#find(resource, id);
    await change(entry.draft);
    return { id: entry.id };
  };

  create = async (resource, change) => {
    const rules = rulesOf(this.#local, resource), given = rules.root.generated ? temporaryId() : null;
    const record = blankRecord(rules, given);
    await change?.(guarded(record, rules));
    const { id = null } = record;
    if (given && id !== given) fail("generated-key", "id", "is given by the database; leave it out");
    if (id === null) fail("missing-id", "id", "is needed: the database gives none");
    if (this.#entries.has(nameOf(resource, id)) || (await this.#local.read((work) => work.read(resource, id)))) fail("exists", "id", `is that of another record: ${idKey(id)}`);
    this.#add({ resource, id, rules, seen: null }, record);
    return { id };
  };

  /** Makes a record that is gone once more. */
  restore(resource, gone, fields) {
    const rules = rulesOf(this.#local, resource), id = rules.root.generated ? temporaryId() : gone, record = blankRecord(rules, id);
    Object.assign(record[rules.root.name], fields);
    this.#add({ resource, id, rules, seen: null }, record);
  }

  delete = async (resource, id) => { (await this.#find(resource, id)).isGone = true; };

  /** Tells whether nothing was edited meanwhile below what a function saw. */
  async isCurrent(work) {
    for (const { seen, resource, id, mark } of this.#entries.values()) if (seen && (await work.mark(resource, id)) !== mark) return false;
    return true;
  }

  /** Puts what was done into the queue, and returns its ticket. */
  append(work, atomic) {
    const about = [...this.#entries.values()];
    return work.append(about.filter((entry) => !entry.isGone || entry.seen).map(({ resource, id, rules, seen, record, isGone }) => ({
      resource, id, ...(!seen && { creates: true }), rows: isGone ? deletion(rules, seen) : difference(rules, seen, record, !seen),
    })), { about, atomic });
  }
}

const standing = (entry) => (entry.isGone ? null : copy(entry.record));
