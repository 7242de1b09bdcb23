import { FieldMergeError, loaded } from "./errors.js";
import { Rules } from "./rules.js";
import { same, uuid } from "./values.js";
import { report } from "./watching.js";
import { Work, needsDecisions } from "./work.js";

/** The place in the changes of a store that begins anew. `feed` keeps naming the history of the bases until they are replaced. */
export const nowhere = { revision: null, snapshot: null };

/** The number of the form in which a store is kept. One that has indexes has the next number: earlier libraries do not keep these. */
export const form = 3;

/** The error of a store that was signed out and is not deleted yet. */
const signedOut = () => new FieldMergeError("closed", "The user has signed out.", { isSignedOut: true });

/** What is kept on this device: runs the local transactions, and tells what each of them has changed. */
export class Local {
  /** The rules that were read last, by this tab or another; null or undefined where there are none. */
  rules = null;
  /** What is kept once, as the last transaction left it. */
  meta = {};
  /** What the headers of the last answer told, for the next transaction: `offset`, milliseconds to the gateway's time. */
  told;
  isClosed = false;
  /** What names the user of a store, for one that begins. */
  owner;
  /** What `load` has loaded. */
  decisions = null;
  /** What keeps indexes, once it is loaded, and what `open` was given. */
  indexes = null;
  options = {};
  /** Pushes that were frozen when the storage could not be written, by their numbers: the next transaction that writes stores them. */
  unstored = new Map();
  #storage; #changed;

  /**
   * @param storage tables of values: `run(writes, body)`
   * @param {(changed: {resource: string, id: any}[], events: any[]) => any} changed is told of records and events after
   *   each transaction that wrote
   * @param {() => null | ((change: any, t: any) => any)} seeing the app's function that sees changes of the server's as they are stored
   */
  constructor(storage, changed, seeing) {
    this.#storage = storage;
    this.#changed = changed;
    this.seeing = seeing;
  }

  /** Runs a transaction that only reads. */
  async read(body) { return (await this.#run(false, body)).result; }

  /** Runs a transaction, all of which is kept or nothing; it may be run again. */
  async write(body) {
    const skipped = new Set(), run = () => this.#run(true, body, skipped).catch(async (error) => {
      this.indexes?.fail(error);
      if (error !== needsDecisions) throw error;
      await this.load();
      return run();
    }), { result, work } = await run();
    // What is stored is stored, whatever those do who are told of it.
    await Promise.resolve(this.#changed(Array.from(work.before.values(), ({ resource, id }) => ({ resource, id })), work.events, work.ended)).catch(report);
    return result;
  }

  /**
   * Loads `decisions.js`: what comes of conflicts and refusals, which is needed from the first answer on that holds one, and
   * wherever a store holds any.
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

  /** The store was wiped while it was open: begins a new one. */
  #begin(work, writes) {
    work.isWiped = true;
    Object.assign(work.meta, { owner: this.owner, device: uuid() });
    if (writes) work.events.push({ event: "lost", unsent: this.meta.unsent });
  }

  /** A push as it was sent, also if that could not be stored. What another tab has added to meanwhile stays as it is. */
  asSent(push) {
    const { key, edits, body, stamp, doubt } = (push && this.unstored.get(push.seq)) ?? {};
    return key && push.key === key && (push.body ? push.body === body : same(push.edits, edits)) ? { ...push, body, stamp, doubt } : push;
  }

  /** Loads what keeps the indexes of a store. */
  async index() { return (this.indexes ??= new (await loaded(import("./indexes.js"))).Indexes(this)); }

  /** Has the indexes follow a transaction. If another tab has declared them meanwhile, they are built anew. */
  follow(work) {
    if (this.indexes) return this.indexes.follow(work);
    delete work.meta.indexes;
    this.index().catch(() => {});
  }

  /** Changes what is kept once. */
  note(values) { return this.write((work) => { Object.assign(work.meta, values); }); }

  /** What is kept once, as it stands now. */
  place() { return this.read((work) => work.meta); }
}
