import { Engine } from "./engine.js";
import { FieldMergeError, fail } from "./errors.js";
import { Leader } from "./leader.js";
import { nameOf } from "./layers.js";
import { Gateway, bareAddress } from "./network.js";
import { Rules, blankRecord, deletion, difference, guarded } from "./rules.js";
import { compareIDs, copy, idKey, isObject, isTemporary, same, temporaryId, uuid } from "./values.js";
import { Work } from "./work.js";

const reruns = 100, networkEvents = ["online", "offline"];
const offline = (cause) => new FieldMergeError("offline", "This is not kept here, and the server cannot be reached.", { cause });
const missing = (resource, id) => new FieldMergeError("no-such-record", `There is no record ${idKey(id)} of “${resource}” here.`);
const isPromise = (value) => typeof value?.then === "function";

/** An event of a store: its `detail`, whose members stand on the event itself as well. */
export class StoreEvent extends Event {
  constructor(type, detail) {
    super(type);
    this.detail = detail;
    for (const [name, value] of Object.entries(detail)) if (!(name in this)) this[name] = value;
  }
}

/** What becomes of an edit. */
export class Ticket {
  #store; #told;
  constructor(store, told) {
    this.#store = store;
    this.#told = told;
    /** The name by which `store.ticket` finds it after a restart. */
    this.name = told.name;
    /** The id of the record, which may be temporary; where there are several, of the first. */
    this.id = told.records[0]?.id;
    this.resource = told.records[0]?.resource;
    this.records = told.records;
  }

  /** Resolves with `{status, conflicts, problem, record}` once there is an answer, and that may be in a week. */
  get outcome() { return this.wait(); }

  /**
   * @param {{signal?: AbortSignal}} [options]
   * @returns {Promise<any>} the outcome
   */
  wait({ signal } = {}) { return this.#store.awaitOutcome(this.name, signal); }

  /** The outcome, or null where there is none yet. */
  async peek() { return this.#store.outcomeOf(this.name); }
}

/** A user's records on this device, and the edits that were not sent yet. Made by `open`. */
export class FieldMergeStore extends EventTarget {
  #options; #storage; #clock; #gateway; #engine;
  #leader = null;
  #channel = null;
  #rules = null;
  #status = { phase: "idle", unsent: 0, refused: 0, progress: null, lastSynced: null, nextTry: null, revision: null, message: null, link: null, problem: null };
  #observers = new Set();
  #waiters = new Set();
  #heard = new Set();
  #hasPersisted; #isClosed; #isStarted; #onConflict;
  #listened = new Set();

  constructor(options, storage, clock) {
    super();
    this.#options = options;
    this.#storage = storage;
    this.#clock = clock;
    this.#onConflict = options.onConflict ?? null;
    /** A function of the app that sees each change of the server's as it is stored, and may add edits of its own. */
    this.beforeStore = options.beforeStore ?? null;
    this.#gateway = new Gateway({ ...options, clock });
    const store = this;
    this.#engine = new Engine({
      work: (body) => this.#work(body), read: (body) => this.#read(body), meta: () => this.#read((work) => work.meta()),
      page: (work, told, place) => this.#page(work, told, place),
      setRules: (told) => this.#setRules(told), changedStatus: () => this.#tellStatus(),
      get rules() { return store.#rules; },
      get resources() { return options.resources ?? null; },
    }, this.#gateway, clock);
  }

  /** Reads what is kept, and makes a device of what has none. For `open`. */
  async prepare() {
    const { server, user, resources = null } = this.#options;
    await this.#work(async (work) => {
      const meta = await work.meta();
      const owner = JSON.stringify([bareAddress(server), user ?? null]);
      if (meta.owner !== undefined && meta.owner !== owner) throw new FieldMergeError("other-owner", "This store belongs to another server or user.");
      Object.assign(meta, { owner, device: meta.device ?? uuid() });
      this.#gateway.device = meta.device;
      if (meta.revision !== null && !same(meta.kept ?? null, resources)) Object.assign(meta, { feed: null, revision: null, snapshot: null });
      // Counted anew: nothing else is derived.
      meta.unsent = (await work.pushes()).reduce((sum, push) => sum + (push.settled ? 0 : push.edits.length), 0);
      meta.refused = (await work.entries()).length;
    });
    if (this.#storage.shared && globalThis.BroadcastChannel) {
      this.#channel = new BroadcastChannel(this.#storage.shared);
      this.#channel.onmessage = ({ data }) => this.#told(data);
    }
    for (const type of networkEvents) globalThis.addEventListener?.(type, this.#network);
  }

  #network = ({ type }) => this.#engine.post(type);

  // MARK: Transactions

  async #read(body) { return (await this.#run(false, body)).result; }

  async #run(writes, body) {
    if (this.#isClosed) throw new FieldMergeError("closed", "The store is closed.");
    let work, meta;
    const result = await this.#storage.run(writes, async (tx) => {
      work = new Work(tx, this.#rules);
      meta = await work.meta();
      // Another tab may have read other rules.
      if (meta.rules !== this.#rules?.version) {
        const told = meta.rules === undefined ? undefined : await work.get("rules");
        work.rules = this.#rules = told ? new Rules(told) : null;
      }
      if (this.beforeStore) work.beforeStore = (change) => this.#repair(work, change);
      const result = await body(work);
      if (writes) await work.finish();
      return result;
    });
    Object.assign(this.#status, { unsent: meta.unsent, refused: meta.refused, revision: meta.revision, lastSynced: meta.lastSynced ?? null });
    return { result, work };
  }

  async #work(body) {
    const { result, work } = await this.#run(true, body);
    const { changed, events } = work;
    if (changed.length || events.length) this.#channel?.postMessage({ changed, events });
    await this.#changed(changed, events);
    return result;
  }

  /** Tells the app: first events, then records. */
  async #changed(changed, events) {
    for (const event of events) this.#dispatch(event);
    for (const waiter of this.#waiters) void waiter();
    await Promise.all([...this.#observers].filter((observer) => changed.some((name) => observer.concerns(name))).map((observer) => observer.look()));
    this.#tellStatus();
  }

  /** A message of another tab. */
  #told(message) {
    if (this.#isClosed) return;
    if (message.changed) {
      void this.#read((work) => work.meta()).then(() => this.#changed(message.changed, message.events)).catch(() => {});
      if (this.#leads) this.#engine.post("edit");
    } else if (message.status && !this.#leads) {
      Object.assign(this.#status, message.status);
      this.#announceStatus();
    } else if (message.signedOut) void this.close();
  }

  get #leads() { return !this.#leader || this.#leader.isLeading; }

  // MARK: Status

  /** What the store does now: `phase`, `unsent`, `refused`, `progress`, `lastSynced`, `nextTry`, `revision`. */
  get status() { return { ...this.#status }; }

  #lastStatus = "";

  #tellStatus() {
    if (this.#leads) {
      const { state: phase, nextTry, progress, problem } = this.#engine, upgrade = phase === "needsUpgrade" ? problem : null;
      const own = { phase, nextTry, progress, problem, message: upgrade?.message ?? upgrade?.detail ?? null, link: upgrade?.link ?? null };
      Object.assign(this.#status, own);
      if (this.#leader) this.#channel?.postMessage({ status: own });
    }
    this.#announceStatus();
  }

  #announceStatus() {
    const text = JSON.stringify(this.#status);
    if (text === this.#lastStatus) return;
    this.#lastStatus = text;
    this.dispatchEvent(new StoreEvent("status", this.status));
  }

  // MARK: Events

  addEventListener(type, listener, options) {
    super.addEventListener(type, listener, options);
    if (listener) this.#listened.add(type);
    // What came while nobody listened, perhaps before a restart.
    if (listener && type !== "status") queueMicrotask(() => void this.#hear());
  }

  async #hear() {
    for (const event of await this.#read((work) => work.unheard()).catch(() => [])) this.#dispatch(event);
  }

  #dispatch(event) {
    const { event: type, seq, ...told } = event;
    if (this.#heard.has(seq)) return;
    const asks = type === "conflict" && this.#onConflict && this.#leads;
    if (!this.#listened.has(type) && !asks) return;
    this.#heard.add(seq);
    const detail = this.#detail(type, told);
    if (this.#listened.has(type)) this.dispatchEvent(new StoreEvent(type, detail));
    if (asks) void this.#ask(detail, seq).catch(() => {});
    else void this.#work((work) => work.heard([seq])).catch(() => {});
  }

  /** Asks the app's rule for the value of a group, and makes its answer an edit. */
  async #ask(conflict, seq) {
    const value = await this.#onConflict(conflict);
    await this.#queued(async (work) => {
      await work.heard([seq]);
      return value === undefined ? null : this.#assign(work, conflict, value);
    });
  }

  #detail(type, told) {
    if (type === "conflict") return { ...told, takeMine: () => this.#queued((work) => this.#assign(work, told, told.new)) };
    if (type === "overtaken") {
      // Once it was sent, either is an edit from what stands then.
      const decision = (change, value) => () => this.#queued(async (work) => ((await work[change](told)) ? null : this.#assign(work, told, value)));
      const { push: _, ...place } = told;
      return { ...place, keepMine: decision("keep", told.new), takeTheirs: decision("drop", told.current) };
    }
    return type === "refused" ? { ...told, ...this.#decisions(told.entry) } : told;
  }

  #decisions(number) {
    return { resend: () => this.#queued((work) => work.resend(number)), discard: () => this.#work((work) => work.discard(number)) };
  }

  /** Puts an edit into the queue, and returns its ticket; null where there was nothing to do. */
  async #queued(body) {
    const told = await this.#work(body);
    if (told) this.#engine.post("edit");
    return told && new Ticket(this, told);
  }

  async #assign(work, { resource, id, section, item, group }, value) {
    const key = idKey(await work.resolve(item));
    return this.#editNow(work, resource, id, (record) => {
      const { root, sections } = this.#resource(resource), { isList, groups } = sections.get(section), list = record[section];
      const index = isList ? list.findIndex((one) => idKey(one.id) === key) : -1, row = isList ? list[index] : list;
      if (group !== undefined) {
        if (!row) throw missing(resource, id);
        const { fields } = groups.get(group);
        Object.assign(row, fields.length === 1 ? { [fields[0].field]: value } : value);
      } else if (isList && !value) list.splice(index, row ? 1 : 0);
      else if (row && value) Object.assign(row, value);
      else if (isList) list.push({ ...value });
      else if (value || section !== root.name) record[section] = value;
      else throw new FieldMergeError("deletion", "Delete the record with delete().");
    });
  }

  /** A function of the app that answers the value of a group in conflict, or undefined. */
  get onConflict() { return this.#onConflict; }
  set onConflict(rule) {
    this.#onConflict = rule;
    if (rule) void this.#hear();
  }

  async #repair(work, change) {
    const edit = (resource, id, body) => this.#editNow(work, resource, id, body);
    await this.beforeStore({ ...change, edit: (body) => edit(change.resource, change.id, body) }, { edit });
  }

  // MARK: Reading

  #resource(name) {
    if (!this.#rules) throw new FieldMergeError("no-rules", "The store has never been in touch with its server; sync() it once.");
    return this.#rules.resource(name);
  }

  #isKept(resource) { return this.#options.resources?.includes(resource) ?? true; }

  /**
   * Returns a record as the app sees it, with edits that were not sent yet; null where there is none.
   *
   * A resource that is not kept is asked for online; without a network what was read last counts.
   */
  async record(resource, id, { signal } = {}) {
    if (!this.#isKept(resource)) await this.#fetchRecord(resource, id, signal);
    return this.#read(async (work) => {
      work.rules?.resource(resource);
      return copy(await work.read(resource, id));
    });
  }

  async #fetchRecord(resource, id, signal) {
    const real = await this.#read((work) => work.resolve(id));
    const { kind, status, problem, error, json } = await this.#gateway.ask(`/v1/records/${encodeURIComponent(resource)}/${idKey(real)}`, { signal });
    const record = status === 404 && problem ? null : json;
    if (kind === "ok" || record === null) return this.#work((work) => work.store({ resource, id: real, record }));
    if (!(await this.#read((work) => work.base(resource, real)))) throw offline(problem ?? error);
  }

  /** Returns all records of a resource, in the order of their ids. */
  async records(resource, { signal } = {}) {
    if (!this.#isKept(resource)) {
      try {
        for await (const records of this.#gateway.pages(resource, signal)) await this.#work((work) => work.storeAll(records.map((record) => ({ resource, id: record.id, record }))));
      } catch (error) {
        throw error.answer ? offline(error.answer.problem ?? error.answer.error) : error;
      }
    }
    const found = await this.#read((work) => {
      work.rules?.resource(resource);
      return work.readAll(resource);
    });
    found.sort((one, other) => compareIDs(one.id, other.id));
    return this.#storage.shared ? found : copy(found); // what comes from the browser's database is a copy already
  }

  /**
   * Watches a record, or all of a resource: the callback gets it now and after each change.
   *
   * @returns {any} a function that ends it, which is an async iterator as well
   */
  observe(resource, ...rest) {
    const id = typeof rest[0] === "function" || isObject(rest[0]) ? undefined : rest[0];
    const callback = rest.find((one) => typeof one === "function"), { signal } = rest.find(isObject) ?? {};
    let last, unread, isOver = false, looking, again, readers = [];
    const wake = () => { for (const reader of readers.splice(0)) reader(); };
    const look = async () => {
      again = true;
      if (looking) return;
      looking = true;
      try {
        while (again) {
          again = false;
          const value = id === undefined ? await this.records(resource) : await this.record(resource, id), text = JSON.stringify(value);
          if (isOver || text === last) continue;
          last = text;
          unread = { value, done: false }; // the latest counts
          wake();
          try { callback?.(value); } catch (error) { (globalThis.reportError ?? console.error)(error); }
        }
      } catch { /* the next change looks again */ } finally {
        looking = false;
      }
    };
    const key = nameOf(resource, id ?? ""), isAny = id === undefined || isTemporary(id);
    const observer = { concerns: (name) => name === key || (isAny && name.startsWith(`${resource}\n`)), look };
    const end = () => {
      isOver = true;
      this.#observers.delete(observer);
      wake();
    };
    this.#observers.add(observer);
    signal?.addEventListener("abort", end, { once: true });
    void look();
    const over = { value: undefined, done: true };
    const iterator = {
      next: async () => {
        while (!unread && !isOver) await new Promise((resolve) => readers.push(resolve));
        const seen = unread ?? over;
        unread = null;
        return seen;
      },
      return: async () => { end(); return over; },
      [Symbol.asyncIterator]: () => iterator,
    };
    return Object.assign(() => end(), iterator);
  }

  // MARK: Editing

  /**
   * Edits a record: the function changes what it is given. Resolves with a ticket once the edit is on disk.
   *
   * A function that waits for something may run again where another tab edits the same record meanwhile.
   */
  async edit(resource, id, change) {
    let first;
    const told = await this.#work(async (work) => {
      const entry = await this.#entry(work, resource, id), given = change(entry.draft);
      if (!isPromise(given)) return this.#append(work, [entry]);
      given.then(null, () => {});
      first = { entry, given };
    });
    return told ? this.#edited(told) : this.transaction((t) => t.edit(resource, id, change), { first });
  }

  /** Creates a record: the function fills it in. */
  async create(resource, change) { return this.transaction((t) => t.create(resource, change)); }

  /** Deletes a record. */
  async delete(resource, id) { return this.transaction((t) => t.delete(resource, id)); }

  async #entry(work, resource, id) {
    const rules = this.#resource(resource), real = await work.resolve(id), seen = copy(await work.read(resource, real));
    if (!seen) throw missing(resource, id);
    const record = copy(seen);
    return { resource, id: real, rules, seen, record, draft: guarded(record, rules), mark: await work.mark(resource, real) };
  }

  /** Makes an edit inside a transaction that runs. */
  async #editNow(work, resource, id, change) {
    const entry = await this.#entry(work, resource, id);
    if (isPromise(change(entry.draft))) throw new FieldMergeError("not-synchronous", "This function may not wait for anything.");
    return this.#append(work, [entry]);
  }

  #append(work, about, atomic) {
    return work.append(about.filter((entry) => !entry.isGone || entry.seen).map(({ resource, id, rules, seen, record, isGone }) => ({
      resource, id, ...(!seen && { creates: true }), rows: isGone ? deletion(rules, seen) : difference(rules, seen, record, !seen),
    })), { about, atomic });
  }

  /**
   * Makes several edits one: all of them are pushed together, and an error leaves none.
   *
   * The function gets `record`, `records`, `edit`, `create` and `delete`, and may run again where another tab edits the
   * same records meanwhile.
   *
   * @param {{atomic?: "push" | "edit", first?: any}} [options] `edit`: one that is refused does not hold back the others
   */
  async transaction(body, { atomic, first } = {}) {
    for (let run = 0; run < reruns; run++) {
      const entries = new Map();
      if (first && !run) {
        await first.given;
        entries.set("", first.entry);
      } else await body(this.#transaction(entries));
      const all = [...entries.values()];
      const told = await this.#work(async (work) => {
        for (const { seen, resource, id, mark } of all) if (seen && (await work.mark(resource, id)) !== mark) return null;
        return this.#append(work, all, atomic === "edit" ? atomic : undefined);
      });
      if (told) return this.#edited(told);
    }
    throw new FieldMergeError("busy", "Other tabs edit the same records all the time.");
  }

  #edited(told) {
    this.#persist();
    this.#engine.post("edit");
    return new Ticket(this, told);
  }

  #transaction(entries) {
    const known = async (resource, id) => entries.get(nameOf(resource, await this.#read((work) => work.resolve(id))));
    const stands = (entry) => (entry.isGone ? null : copy(entry.record));
    const find = async (resource, id) => {
      let entry = await known(resource, id);
      if (!entry) {
        const found = await this.#read((work) => this.#entry(work, resource, id)), name = nameOf(resource, found.id);
        entries.set(name, (entry = entries.get(name) ?? found));
      }
      if (entry.isGone) throw missing(resource, id);
      return entry;
    };
    return {
      record: async (resource, id) => {
        const entry = await known(resource, id);
        return entry ? stands(entry) : this.record(resource, id);
      },
      records: async (resource) => {
        const records = new Map((await this.records(resource)).map((record) => [idKey(record.id), record]));
        for (const entry of entries.values()) if (entry.resource === resource) records.set(idKey(entry.id), stands(entry));
        return [...records.values()].filter(Boolean);
      },
      edit: async (resource, id, change) => {
        const entry = await find(resource, id);
        await change(entry.draft);
        return { id: entry.id };
      },
      create: async (resource, change) => {
        const rules = this.#resource(resource), given = rules.root.generated ? temporaryId() : null;
        const record = blankRecord(rules, given), draft = guarded(record, rules);
        await change?.(draft);
        const { id } = record, name = nameOf(resource, id);
        if (given && id !== given) fail("generated-key", "id", "is given by the database; leave it out");
        if ((id ?? null) === null) fail("missing-id", "id", "is needed: the database gives none");
        if (entries.has(name) || (await this.#read((work) => work.read(resource, id)))) fail("exists", "id", `is that of another record: ${idKey(id)}`);
        entries.set(name, { resource, id, rules, seen: null, record, draft });
        return { id };
      },
      delete: async (resource, id) => { (await find(resource, id)).isGone = true; },
    };
  }

  /** Asks the browser once not to evict the store. */
  #persist() {
    if (this.#hasPersisted || !this.#storage.shared) return;
    this.#hasPersisted = true;
    globalThis.navigator?.storage?.persist?.().catch(() => {});
  }

  // MARK: Tickets and refused edits

  /** Finds a ticket by its name, or the last one of a record by its id; null where there is none. */
  async ticket(id, resource) {
    const told = await this.#read((work) => work.ticket(id, resource));
    return told && new Ticket(this, told);
  }

  /** For tickets: the outcome, or null where there is none yet. */
  async outcomeOf(name) {
    const told = await this.#read((work) => work.ticket(name));
    return told?.outcome ? this.#outcome(told.outcome) : null;
  }

  #outcome(outcome) {
    return { ...outcome, problem: outcome.problem ?? null, conflicts: outcome.conflicts.map(({ event: _, ...conflict }) => this.#detail("conflict", conflict)) };
  }

  /** For tickets: resolves with the outcome. */
  awaitOutcome(name, signal) {
    return new Promise((resolve, reject) => {
      const over = new AbortController();
      const end = (settle, value) => {
        this.#waiters.delete(look);
        over.abort();
        settle(value);
      };
      const abort = () => end(reject, signal.reason);
      const look = () => this.outcomeOf(name).then((outcome) => { if (outcome) end(resolve, outcome); }, (error) => end(reject, error));
      if (signal?.aborted) return abort();
      signal?.addEventListener("abort", abort, { signal: over.signal });
      this.#waiters.add(look);
      void look();
    });
  }

  /** The pushes that were refused, the oldest first: each with `problem`, `record`, `resend()` and `discard()`. */
  async refusedEdits() {
    const entries = await this.#read((work) => work.entries());
    return entries.map(({ seq, isLocal: _, ...entry }) => ({ ...entry, ...this.#decisions(seq) }));
  }

  /**
   * `clean`, `draft`, `sending` or `refused`: what becomes of a record, or of a part of it.
   *
   * @param {string} [place] a section, or `section.group`; a field stands for its group
   * @param {any} [item] the id of an item of a list
   */
  async state(resource, id, place, item) {
    return this.#read((work) => {
      const [section, name] = place?.split(".") ?? [], found = work.rules?.resource(resource).sections.get(section);
      return work.state({ resource, id, section, item, group: found?.groups.has(name) ? name : (found?.groupOf.get(name)?.group ?? name) });
    });
  }

  // MARK: Syncing

  async #setRules(told) {
    await this.#work(async (work) => {
      const meta = await work.meta();
      await work.put("rules", told);
      if (meta.rules !== told.version) await work.regroup(new Rules(told));
      meta.rules = told.version;
      this.#rules = work.rules = new Rules(told);
    });
  }

  /** Stores a page of changes where it goes on from the place that is stored, and tells whether it did. */
  async #page(work, told, place) {
    const meta = await work.meta();
    if (!Array.isArray(told.changes) || place.since === undefined || meta.feed !== place.feed || meta.revision !== place.since) return false;
    await work.storeAll(told.changes);
    Object.assign(meta, { feed: told.feed, revision: told.revision, lastSynced: this.#clock.now() });
    return true;
  }

  /**
   * Sends what was edited and gets what has changed. Never throws for the network or an answer: the report has `phase`,
   * `sent`, `merged`, `refused`, `conflicts`, `changes` and, where something is wrong, `problem`.
   *
   * @param {{signal?: AbortSignal, deadline?: number | Date}} [options] the deadline is a moment, or milliseconds from now
   */
  async sync(options = {}) {
    if (this.#isClosed) throw new FieldMergeError("closed", "The store is closed.");
    return this.#engine.sync(options); // another tab may push at the same time: the keys are the same
  }

  /** Syncs by itself from now on: after each edit, when the server tells of a change, when the network returns. */
  start() {
    if (this.#isStarted || this.#isClosed) return;
    this.#isStarted = true;
    if (!this.#storage.shared) return this.#engine.start();
    this.#leader = new Leader(this.#storage.shared, {
      read: () => this.#read((work) => work.get("beat")), write: (beat) => this.#storage.run(true, (tx) => tx.put("meta", "beat", beat)),
    }, this.#clock, (isLeading) => {
      if (isLeading) this.#engine.start();
      else this.#engine.stop();
    });
    this.#leader.start();
  }

  /** Ends what `start` began; edits can go on. */
  stop() {
    this.#isStarted = false;
    this.#leader?.stop();
    this.#leader = null;
    this.#engine.stop();
  }

  /** Reads everything anew; edits that were not sent stay. */
  async resync(options) {
    await this.#work(async (work) => { Object.assign(await work.meta(), { feed: null, revision: null, snapshot: null }); });
    return this.sync(options);
  }

  // MARK: The end

  /** Closes the store; what is on disk stays. */
  async close() {
    if (this.#isClosed) return;
    this.#end();
    await this.#storage.close();
  }

  #end() {
    this.stop();
    this.#engine.close();
    this.#isClosed = true;
    for (const type of networkEvents) globalThis.removeEventListener?.(type, this.#network);
    this.#channel?.close();
    this.#tellStatus();
  }

  /**
   * Signs out: deletes the local store.
   *
   * @param {{unsent?: "refuse" | "send" | "discard", signal?: AbortSignal}} [options] what becomes of edits that were not
   *   sent: by default the sign-out is refused; `send` sends them first, and refuses where that does not work
   * @throws {FieldMergeError} `unsent`, whose `unsent` says how many there are
   */
  async signOut({ unsent = "refuse", signal } = {}) {
    if (!["refuse", "send", "discard"].includes(unsent)) throw new FieldMergeError("invalid-option", "“unsent” is refuse, send or discard.");
    if (unsent === "send") await this.sync({ signal });
    // A push that the gateway refused is in its journal; one that never got there is nowhere else.
    const left = await this.#read(async (work) => (await work.meta()).unsent + (await work.entries()).filter((entry) => entry.isLocal).length);
    if (left && unsent !== "discard") throw new FieldMergeError("unsent", `${left} edits were not sent.`, { unsent: left });
    this.#channel?.postMessage({ signedOut: true });
    this.#end();
    await this.#storage.destroy();
  }

  /** What support wants to know; no values of records. */
  async diagnose() {
    return this.#read(async (work) => {
      const { device, feed, revision, rules = null, snapshot } = await work.meta(), resources = {};
      for (const resource of work.rules?.resources.keys() ?? []) resources[resource] = (await work.bases(resource)).length;
      return {
        status: this.status, isLeading: this.#leads, server: String(this.#options.server), device, feed, revision, rules, resources, snapshot,
        pushes: (await work.pushes()).map(({ seq, key, settled, body, edits }) => ({
          seq, key, state: settled ? "repeated" : body ? "frozen" : "draft", edits: edits.map(({ resource, id, rows }) => ({ resource, id, rows: Object.keys(rows) })),
        })),
        refused: (await work.entries()).map(({ resource, id, problem }) => ({ resource, id, code: problem.code })),
      };
    });
  }

  /**
   * Everything that is kept, as a value; with a path, in Node, also as a file of JSON.
   *
   * @param {string} [path]
   */
  async export(path) {
    const told = await this.#read(async (work) => {
      const records = {};
      for (const resource of work.rules?.resources.keys() ?? []) records[resource] = (await work.bases(resource)).map((row) => row.record);
      return { meta: await work.meta(), records, pushes: await work.pushes(), refused: await work.entries(), events: await work.unheard() };
    });
    if (path !== undefined) {
      const { writeFile } = await import("node:fs/promises");
      await writeFile(path, JSON.stringify(told, null, 1));
    }
    return told;
  }

  /** Fills an empty store from a snapshot's lines. For `open`. */
  async fill(lines) {
    const head = lines.find((line) => line.snapshot)?.snapshot, records = lines.filter((line) => line.record !== undefined);
    if (!head || !lines.some((line) => line.end)) throw new FieldMergeError("damaged", "The snapshot is not whole.");
    while (records.length) await this.#work(async (work) => { for (const { resource, id, record } of records.splice(0, 500)) await work.putBase(resource, id, record); });
    await this.#work(async (work) => { Object.assign(await work.meta(), { feed: head.feed, revision: head.revision, kept: this.#options.resources ?? null }); });
  }

  /** Tells whether nothing was ever stored. For `open`. */
  async isEmpty() {
    return (await this.#read((work) => work.meta())).revision === null;
  }
}
