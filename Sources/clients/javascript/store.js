import { Edits, missing, rulesOf } from "./editing.js";
import { Engine, emptyReport } from "./engine.js";
import { FieldMergeError } from "./errors.js";
import { Leader } from "./leader.js";
import { Local, nowhere } from "./local.js";
import { nameOf } from "./layers.js";
import { bareAddress, compareIDs, copy, idKey, isObject, isTemporary, same, uuid } from "./values.js";
import { within } from "./waits.js";
import { report, watching } from "./watching.js";

const reruns = 100, networkEvents = ["online", "offline"];
const offline = (cause) => new FieldMergeError("offline", "This is not kept here, and the server cannot be reached.", { cause });
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
  #options; #storage; #clock; #local; #engine; #onConflict; #isStarted; #hasPersisted; #lastStatus;
  #leader = null;
  #channel = null;
  /** What the tab that leads says of itself. */
  #leading = null;
  #observers = new Set();
  #waiters = new Set();
  /** Syncs that the tab that leads was asked for. */
  #wishes = new Map();
  #heard = new Set();
  #listened = new Set();

  constructor(options, storage, clock) {
    super();
    this.#options = { resources: null, ...options };
    this.#storage = storage;
    this.#clock = clock;
    this.#onConflict = options.onConflict ?? null;
    this.#local = new Local(storage, (changed, events) => {
      if (changed.length || events.length) this.#say({ changed, events });
      return this.#changed(changed, events);
    }, () => this.beforeStore && ((work, change) => this.#repair(work, change)));
    /** A function of the app that sees each change of the server's as it is stored, and may add edits of its own. */
    this.beforeStore = options.beforeStore ?? null;
    this.#engine = new Engine(this.#local, clock, this.#options, () => this.#tellStatus());
  }

  /** Reads what is kept, and makes a device of what has none. For `open`. */
  async prepare() {
    const { server, user = null, resources, snapshot } = this.#options, owner = JSON.stringify([bareAddress(server), user]);
    await this.#local.write(async (work) => {
      const meta = await work.meta(), { revision, kept = null, device = uuid() } = meta;
      if ((meta.owner ?? owner) !== owner) throw new FieldMergeError("other-owner", "This store belongs to another server or user.");
      Object.assign(meta, { owner, device }, revision !== null && !same(kept, resources) && nowhere);
      await work.recount();
    });
    if (snapshot !== undefined && this.#local.meta.revision === null) await (await import("./snapshot.js")).fill(this.#local, this.#options);
    if (this.#storage.shared && globalThis.BroadcastChannel) {
      this.#channel = new BroadcastChannel(this.#storage.shared);
      this.#channel.onmessage = ({ data }) => this.#told(data);
    }
    for (const type of networkEvents) globalThis.addEventListener?.(type, this.#network);
  }

  #network = ({ type }) => this.#engine.post(type);

  // MARK: Tabs

  /** Tells the other tabs. */
  #say(message) { this.#channel?.postMessage(message); }

  /** A message of another tab. */
  #told({ changed, events, status, wish, granted, report, leads, signedOut }) {
    if (this.#local.isClosed) return;
    if (changed) {
      void this.#local.place().then(() => this.#changed(changed, events)).catch(() => {});
      if (this.#leads) this.#engine.post("edit");
    } else if (status && !this.#leads) {
      this.#leading = status;
      this.#tellStatus();
    } else if (wish && this.#leader?.isLeading) void this.#engine.sync().then((done) => this.#say({ granted: wish, report: done }));
    else if (granted) this.#wishes.get(granted)?.(report);
    else if (leads) for (const one of this.#wishes.keys()) this.#say({ wish: one });
    else if (signedOut) void this.close();
  }

  get #leads() { return !this.#leader || this.#leader.isLeading; }

  /** This tab leads from now on, and has what was asked of the one before; or it does no longer. */
  #lead(isLeading) {
    if (!isLeading) return this.#engine.stop();
    this.#engine.start();
    this.#say({ leads: true });
    for (const grant of this.#wishes.values()) void this.#engine.sync().then(grant);
  }

  // MARK: Status

  /** What the store does now: `phase`, `unsent`, `refused`, `progress`, `lastSynced`, `nextTry`, `revision`. */
  get status() {
    const { unsent, refused, revision, lastSynced = null } = this.#local.meta;
    return { ...((!this.#leads && this.#leading) || this.#engine.standing), unsent, refused, revision, lastSynced };
  }

  /** Tells the app, and tabs that do not lead, where anything is another. */
  #tellStatus() {
    const { status } = this, text = JSON.stringify(status);
    if (this.#leader?.isLeading) this.#say({ status: this.#engine.standing });
    if (text === this.#lastStatus) return;
    this.#lastStatus = text;
    this.dispatchEvent(new StoreEvent("status", status));
  }

  // MARK: Events

  /** Tells the app: first events, then records. */
  async #changed(changed, events) {
    for (const event of events) this.#dispatch(event);
    for (const waiter of this.#waiters) void waiter();
    await Promise.all([...this.#observers].filter(({ concerns }) => changed.some(concerns)).map(({ look }) => look()));
    this.#tellStatus();
  }

  addEventListener(type, listener, options) {
    super.addEventListener(type, listener, options);
    if (!listener) return;
    this.#listened.add(type);
    // What came while nobody listened, perhaps before a restart.
    if (type !== "status") queueMicrotask(() => void this.#hear());
  }

  async #hear() {
    for (const event of await this.#local.read((work) => work.unheard()).catch(() => [])) this.#dispatch(event);
  }

  #dispatch({ event: type, seq, ...told }) {
    const asks = type === "conflict" && this.#onConflict && this.#leads, isListened = this.#listened.has(type);
    if (this.#heard.has(seq) || !(isListened || asks)) return;
    this.#heard.add(seq);
    const detail = this.#detail(type, told);
    if (isListened) this.dispatchEvent(new StoreEvent(type, detail));
    void this.#answer(seq, asks ? detail : undefined).catch(() => {});
  }

  /** Notes that an event was heard; what the app's own rule answers to a conflict is an edit. */
  async #answer(seq, conflict) {
    let value;
    try { value = conflict && (await this.#onConflict(conflict)); } catch (error) { return report(error); }
    await this.#queued(async (work) => {
      await work.heard([seq]);
      return value === undefined ? null : this.#assign(work, conflict, value);
    });
  }

  #detail(type, told) {
    if (type === "conflict") return { ...told, takeMine: () => this.#queued((work) => this.#assign(work, told, told.new)) };
    if (type === "refused") return { ...told, ...this.#decisions(told.entry) };
    if (type !== "overtaken") return told;
    // Once it was sent, either is an edit from what stands then.
    const decision = (change, value) => () => this.#queued(async (work) => ((await work[change](told)) ? null : this.#assign(work, told, value)));
    const { push: _, ...place } = told;
    return { ...place, keepMine: decision("keep", told.new), takeTheirs: decision("drop", told.current) };
  }

  #decisions(number) {
    return { resend: () => this.#queued((work) => work.resend(number)), discard: () => this.#local.write((work) => work.discard(number)) };
  }

  /** Makes a value of a conflict an edit, from what stands now. */
  async #assign(work, { resource, id, section, item, group, old }, value) {
    const { root, sections } = rulesOf(this.#local, resource), { isList, groups } = sections.get(section), key = idKey(await work.resolve(item));
    if (group === undefined && section === root.name && !(value && (await work.read(resource, id)))) {
      const edits = this.#edits();
      if (value) edits.restore(resource, id, { ...old, ...value });
      else (await edits.open(work, resource, id)).isGone = true;
      return edits.append(work);
    }
    return this.#editNow(work, resource, id, (record) => {
      const list = record[section], index = isList ? list.findIndex((one) => idKey(one.id) === key) : -1, row = isList ? list[index] : list;
      if (group !== undefined) {
        if (!row) throw missing(resource, id);
        const { fields } = groups.get(group);
        Object.assign(row, fields.length === 1 ? { [fields[0].field]: value } : value);
      } else if (row && value) Object.assign(row, value);
      else if (!isList) record[section] = value;
      else if (value) list.push({ ...old, ...value });
      else list.splice(index, row ? 1 : 0);
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

  #isKept(resource) { return this.#options.resources?.includes(resource) ?? true; }

  /**
   * Returns a record as the app sees it, with edits that were not sent yet; null where there is none.
   *
   * A resource that is not kept is asked for online; without a network what was read last counts.
   */
  async record(resource, id, { signal } = {}) {
    const local = this.#local;
    if (!this.#isKept(resource)) await this.#fetch("record", resource, id, signal).catch(async (error) => {
      if (error.code !== "offline" || !(await local.read(async (work) => work.base(resource, await work.resolve(id))))) throw error;
    });
    return local.read(async (work) => {
      work.rules?.resource(resource);
      return copy(await work.read(resource, id));
    });
  }

  /** Gets what is not kept from the gateway. */
  async #fetch(what, ...about) {
    try {
      await (await this.#engine.exchange())[what](...about);
    } catch (error) {
      throw error.answer ? offline(error.answer.problem ?? error.answer.error) : error;
    }
  }

  /** For edits: gets a record that is not kept, where it was never read. */
  async reach(resource, id) {
    if (!this.#isKept(resource) && !(await this.#local.read((work) => work.read(resource, id)))) await this.#fetch("record", resource, id);
  }

  /** Returns all records of a resource, in the order of their ids. */
  async records(resource, { signal } = {}) {
    if (!this.#isKept(resource)) await this.#fetch("records", resource, signal);
    const found = await this.#local.read((work) => {
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
    const id = typeof rest[0] === "function" || isObject(rest[0]) ? undefined : rest[0], isAny = id === undefined || isTemporary(id), key = nameOf(resource, id ?? "");
    const { look, end } = watching(() => (id === undefined ? this.records(resource) : this.record(resource, id)), {
      callback: rest.find((one) => typeof one === "function"), ended: () => this.#observers.delete(observer),
    });
    const observer = { concerns: (name) => (isAny ? name.startsWith(`${resource}\n`) : name === key), look };
    this.#observers.add(observer);
    rest.find(isObject)?.signal?.addEventListener("abort", end, { once: true });
    void look();
    return end;
  }

  // MARK: Editing

  /**
   * Edits a record: the function changes what it is given. Resolves with a ticket once the edit is on disk.
   *
   * A function that waits for something may run again where another tab edits the same record meanwhile.
   */
  async edit(resource, id, change) {
    if (!this.#isKept(resource)) await this.reach(resource, id);
    const edits = this.#edits();
    let given;
    const told = await this.#local.write(async (work) => {
      given = change((await edits.open(work, resource, id)).draft);
      if (!isPromise(given)) return edits.append(work);
      given.then(null, () => {}); // it is awaited outside
    });
    return told ? this.#edited(told) : this.#finish((t) => t.edit(resource, id, change), undefined, edits, given);
  }

  /** Creates a record: the function fills it in. */
  async create(resource, change) { return this.transaction((t) => t.create(resource, change)); }

  /** Deletes a record. */
  async delete(resource, id) { return this.transaction((t) => t.delete(resource, id)); }

  /**
   * Makes several edits one: all of them are pushed together, and an error leaves none.
   *
   * The function gets `record`, `records`, `edit`, `create` and `delete`, and may run again where another tab edits the
   * same records meanwhile.
   *
   * @param {{atomic?: "push" | "edit"}} [options] `edit`: one that is refused does not hold back the others
   */
  async transaction(body, { atomic } = {}) { return this.#finish(body, atomic === "edit" ? atomic : undefined); }

  async #finish(body, atomic, edits = this.#edits(), given = body(edits)) {
    for (let run = 0; run < reruns; run++) {
      await given;
      const told = await this.#local.write(async (work) => ((await edits.isCurrent(work)) ? edits.append(work, atomic) : null));
      if (told) return this.#edited(told);
      edits = this.#edits();
      given = body(edits);
    }
    throw new FieldMergeError("busy", "Other tabs edit the same records all the time.");
  }

  #edits() { return new Edits(this, this.#local); }

  /** Makes an edit inside a transaction that runs. */
  async #editNow(work, resource, id, change) {
    const edits = this.#edits(), { draft } = await edits.open(work, resource, id);
    if (isPromise(change(draft))) throw new FieldMergeError("not-synchronous", "This function may not wait for anything.");
    return edits.append(work);
  }

  /** Puts an edit into the queue, and returns its ticket; null where there was nothing to do. */
  async #queued(body) {
    const told = await this.#local.write(body);
    return told && this.#edited(told);
  }

  #edited(told) {
    if (this.#storage.shared && !this.#hasPersisted) {
      this.#hasPersisted = true;
      globalThis.navigator?.storage?.persist?.().catch(() => {}); // asks the browser not to evict the store
    }
    this.#engine.post("edit");
    return new Ticket(this, told);
  }

  // MARK: Tickets and refused edits

  /** Finds a ticket by its name, or the last one of a record by its id; null where there is none. */
  async ticket(id, resource) {
    const told = await this.#local.read((work) => work.ticket(id, resource));
    return told && new Ticket(this, told);
  }

  /** For tickets: the outcome, or null where there is none yet. */
  async outcomeOf(name) {
    const outcome = (await this.#local.read((work) => work.ticket(name)))?.outcome;
    return outcome ? { ...outcome, problem: outcome.problem ?? null, conflicts: outcome.conflicts.map(({ event, ...conflict }) => this.#detail(event, conflict)) } : null;
  }

  /** For tickets: resolves with the outcome. */
  awaitOutcome(name, signal) {
    return new Promise((resolve, reject) => {
      const end = (settle, value) => {
        this.#waiters.delete(look);
        signal?.removeEventListener("abort", abort);
        settle(value);
      };
      const abort = () => end(reject, signal.reason);
      const look = () => this.outcomeOf(name).then((outcome) => { if (outcome) end(resolve, outcome); }, (error) => end(reject, error));
      if (signal?.aborted) return abort();
      signal?.addEventListener("abort", abort);
      this.#waiters.add(look);
      void look();
    });
  }

  /** The pushes that were refused, the oldest first: each with `problem`, `record`, `resend()` and `discard()`. */
  async refusedEdits() {
    const entries = await this.#local.read((work) => work.entries());
    return entries.map(({ seq, isLocal: _, ...entry }) => ({ ...entry, ...this.#decisions(seq) }));
  }

  /**
   * `clean`, `draft`, `sending` or `refused`: what becomes of a record, or of a part of it.
   *
   * @param {string} [place] a section, or `section.group`; a field stands for its group
   * @param {any} [item] the id of an item of a list
   */
  async state(resource, id, place, item) {
    return this.#local.read((work) => {
      const [section, name] = place?.split(".") ?? [], found = work.rules?.resource(resource).sections.get(section);
      return work.state({ resource, id, section, item, group: found?.groups.has(name) ? name : (found?.groupOf.get(name)?.group ?? name) });
    });
  }

  // MARK: Syncing

  /**
   * Sends what was edited and gets what has changed, in the tab that leads. Never throws for the network or an answer: the
   * report has `phase`, `sent`, `merged`, `refused`, `conflicts`, `changes` and, where something is wrong, `problem`.
   *
   * @param {{signal?: AbortSignal, deadline?: number | Date}} [options] the deadline is a moment, or milliseconds from now
   */
  async sync(options = {}) {
    if (this.#local.isClosed) throw new FieldMergeError("closed", "The store is closed.");
    if (this.#leads || !this.#channel) return this.#engine.sync(options);
    const wish = uuid(), granted = new Promise((resolve) => this.#wishes.set(wish, resolve));
    this.#say({ wish });
    const report = await within(granted, options, this.#clock);
    this.#wishes.delete(wish);
    return report ?? { phase: this.status.phase, ...emptyReport };
  }

  /** Syncs by itself from now on: after each edit, when the server tells of a change, when the network returns. */
  start() {
    const local = this.#local;
    if (this.#isStarted || local.isClosed) return;
    this.#isStarted = true;
    if (!this.#storage.shared) return this.#engine.start();
    this.#leader = new Leader(this.#storage.shared, {
      read: () => local.read((work) => work.get("beat")), write: (beat) => local.write((work) => work.put("beat", beat)),
    }, this.#clock, (isLeading) => this.#lead(isLeading));
    this.#leader.start();
  }

  /** Ends what `start` began; edits can go on. */
  stop() {
    this.#isStarted = false;
    this.#leader?.stop();
    this.#leader = null;
    this.#engine.stop();
    for (const grant of this.#wishes.values()) grant();
  }

  /** Reads everything anew; edits that were not sent stay. */
  async resync(options) {
    await this.#local.beginAnew();
    return this.sync(options);
  }

  // MARK: The end

  /** Closes the store; what is on disk stays. */
  async close() {
    if (this.#local.isClosed) return;
    this.#end();
    await this.#storage.close();
  }

  #end() {
    this.stop();
    this.#engine.close();
    this.#local.isClosed = true;
    for (const type of networkEvents) globalThis.removeEventListener?.(type, this.#network);
    this.#channel?.close();
    this.#channel = null;
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
    const left = await this.#local.read(async (work) => (await work.meta()).unsent + (await work.entries()).filter((entry) => entry.isLocal).length);
    if (left && unsent !== "discard") throw new FieldMergeError("unsent", `${left} edits were not sent.`, { unsent: left });
    this.#say({ signedOut: true });
    this.#end();
    await this.#storage.destroy();
  }

  /** What support wants to know; no values of records. */
  async diagnose() {
    const { diagnosis } = await import("./support.js"), told = await this.#local.read(diagnosis);
    return { status: this.status, isLeading: this.#leads, server: String(this.#options.server), ...told };
  }

  /**
   * Everything that is kept, as a value; with a path, in Node, also as a file of JSON.
   *
   * @param {string} [path]
   */
  async export(path) {
    const { contents, written } = await import("./support.js"), told = await this.#local.read(contents);
    if (path !== undefined) await written(path, told);
    return told;
  }
}
