import { FieldMergeError } from "./errors.js";
import { Rules } from "./rules.js";
import { Work } from "./work.js";

/** The place in the changes of a store that begins anew. */
export const nowhere = { feed: null, revision: null, snapshot: null };

/** What is kept on this device: runs the local transactions, and tells what each of them has changed. */
export class Local {
  /** The rules that were read last, by this tab or another. */
  rules = null;
  /** What is kept once, as the last transaction left it. */
  meta = {};
  isClosed = false;
  #storage; #changed; #seeing;

  /**
   * @param storage tables of values: `run(writes, body)`
   * @param {(changed: string[], events: any[]) => any} changed is told the names of records, and events, after each
   *   transaction that wrote
   * @param {() => null | ((work: Work, change: any) => any)} seeing what sees changes of the server's as they are stored
   */
  constructor(storage, changed, seeing) {
    this.#storage = storage;
    this.#changed = changed;
    this.#seeing = seeing;
  }

  /** Runs a transaction that only reads. */
  async read(body) { return (await this.#run(false, body)).result; }

  /** Runs a transaction, all of which is kept or nothing. */
  async write(body) {
    const { result, work } = await this.#run(true, body);
    await this.#changed(work.changed, work.events);
    return result;
  }

  async #run(writes, body) {
    if (this.isClosed) throw new FieldMergeError("closed", "The store is closed.");
    let work, meta;
    const result = await this.#storage.run(writes, async (tx) => {
      work = new Work(tx, this.rules);
      meta = await work.meta();
      // Another tab may have read other rules.
      if (meta.rules !== this.rules?.version) {
        const told = meta.rules === undefined ? undefined : await work.get("rules");
        work.rules = this.rules = told ? new Rules(told) : null;
      }
      const see = this.#seeing();
      if (see) work.beforeStore = (change) => see(work, change);
      const result = await body(work);
      if (writes) await work.finish();
      return result;
    });
    this.meta = meta;
    return { result, work };
  }

  /** Changes what is kept once. */
  note(values) { return this.write(async (work) => { Object.assign(await work.meta(), values); }); }

  /** Forgets the place in the changes, so that everything is read anew. */
  beginAnew() { return this.note(nowhere); }

  /** What is kept once, as it stands now. */
  place() { return this.read((work) => work.meta()); }

  /** Stores the rules that the gateway tells. What is unsent is sorted into their groups. */
  async setRules(told) {
    const { regroup } = await import("./regroup.js");
    await this.write(async (work) => {
      const meta = await work.meta(), isOther = meta.rules !== told.version;
      await work.put("rules", told);
      meta.rules = told.version;
      this.rules = work.rules = new Rules(told);
      if (isOther) await regroup(work);
    });
  }
}
