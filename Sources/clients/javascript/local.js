import { FieldMergeError, loaded } from "./errors.js";
import { Rules } from "./rules.js";
import { same, uuid } from "./values.js";
import { report } from "./watching.js";
import { Work, needsDecisions } from "./work.js";

/** The feed's position of a store that begins a resync. `feed` names the history of the bases until they are replaced. */
export const nowhere = { revision: null, snapshot: null };

/** The number of the form in which a store is kept. One that has indexes has the next number: earlier libraries do not keep these. */
export const form = 3;

/** The error of a store that was signed out and is not deleted yet. */
const signedOut = () => new FieldMergeError("closed", "The user has signed out.", { isSignedOut: true });

/** The store on this device: runs the local transactions, and reports their changes. */
export class Local {
  /** The rules that this tab or another read last; null or undefined if there are none. */
  rules = null;
  /** The store's single values after the last transaction. */
  meta = {};
  /** Values of the last answer's headers, for the next transaction: `offset`, milliseconds to the gateway's time. */
  told;
  isClosed = false;
  /** The name of the user, for a new store. */
  owner;
  /** The modules that `load` has loaded. */
  decisions = null;
  /** The loaded keeper of indexes, and the options of `open`. */
  indexes = null;
  options = {};
  /** Pushes that were frozen when the storage could not be written, by their numbers: the next transaction that writes stores them. */
  unstored = new Map();
  #storage; #changed;

  /**
   * @param storage tables of values: `run(writes, body)`
   * @param {(changed: {resource: string, id: any}[], events: any[]) => any} changed called with records and events after
   *   each transaction that wrote
   * @param {() => null | ((change: any, t: any) => any)} seeing the app's function for changes of the server when they are stored
   */
  constructor(storage, changed, seeing) {
    this.#storage = storage;
    this.#changed = changed;
    this.seeing = seeing;
  }

  /** Runs a transaction that only reads. */
  async read(body) { return (await this.#run(false, body)).result; }

  /** Runs an atomic transaction; its function may run again. */
  async write(body) {
    const skipped = new Set(), run = () => this.#run(true, body, skipped).catch(async (error) => {
      this.indexes?.fail(error);
      if (error !== needsDecisions) throw error;
      await this.load();
      return run();
    }), { result, work } = await run();
    // An error of a listener does not affect stored data.
    await Promise.resolve(this.#changed(Array.from(work.before.values(), ({ resource, id }) => ({ resource, id })), work.events, work.ended)).catch(report);
    return result;
  }

  /**
   * Loads `decisions.js`, the handling of conflicts and refusals: after the first answer with a conflict or a refusal, and for
   * a store that contains any.
   */
  async load() { return (this.decisions ??= await loaded(import("./decisions.js"))); }

  async #run(writes, body, skipped) {
    if (this.isClosed) throw new FieldMergeError("closed", "The store is closed.");
    let work;
    const unstored = [...this.unstored.keys()];
    const result = await this.#storage.run(writes, async (tx) => {
      work = Object.assign(new Work(tx, { ...await tx.get("meta", "meta"), ...this.told }, this), { skipped, isReading: !writes });
      if (work.meta.isSignedOut) throw signedOut();
      if (work.meta.form > form + 1) throw new FieldMergeError("newer-store", "A newer version of this app has opened this store. Reload the page.");
      if (this.meta.device && !work.meta.device) this.#begin(work, writes);
      // Another tab may have read other rules, or the records for them.
      if (work.meta.rules !== this.rules?.version || String(work.meta.stale ?? "") !== String(this.rules?.stale ?? "")) {
        const told = await work.tx.get("meta", "rules");
        this.rules = told && new Rules(told);
      }
      for (const seq of writes ? unstored : []) {
        const push = await tx.get("p", seq);
        if (this.asSent(push) !== push) await tx.put("p", seq, this.asSent(push));
      }
      const result = await body(work);
      if (writes) {
        work.meta.form ??= form;
        await work.finish();
      }
      return result;
    });
    for (const seq of writes ? unstored : []) this.unstored.delete(seq);
    if (writes || !work.isWiped) this.meta = work.meta;
    return { result, work };
  }

  /** Begins a new store after the open store was wiped. */
  #begin(work, writes) {
    work.isWiped = true;
    Object.assign(work.meta, { owner: this.owner, device: uuid() });
    if (writes) work.events.push({ event: "lost", unsent: this.meta.unsent });
  }

  /** A push as it was sent, also if it could not be stored. A push that another tab has extended meanwhile does not change. */
  asSent(push) {
    const { key, edits, body, stamp, doubt } = (push && this.unstored.get(push.seq)) ?? {};
    return key && push.key === key && (push.body ? push.body === body : same(push.edits, edits)) ? { ...push, body, stamp, doubt } : push;
  }

  /** Loads the keeper of a store's indexes. */
  async index() { return (this.indexes ??= new (await loaded(import("./indexes.js"))).Indexes(this)); }

  /** Updates the indexes after a transaction. If another tab has declared them meanwhile, they are built again. */
  follow(work) {
    if (this.indexes) return this.indexes.follow(work);
    delete work.meta.indexes;
    this.index().catch(() => {});
  }

  /** Changes single values of the store. */
  note(values) { return this.write((work) => { Object.assign(work.meta, values); }); }

  /** The current single values of the store. */
  place() { return this.read((work) => work.meta); }
}
