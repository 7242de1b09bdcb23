import { editsOf, isPromise } from "./editing.js";
import { emptyReport, engineOf } from "./engine.js";
import { FieldMergeError, loaded } from "./errors.js";
import { stringify } from "./json.js";
import { Local, nowhere } from "./local.js";
import { bareAddress, compareIDs, copy, idKey, isObject, isTemporary, same, uuid } from "./values.js";
import { within } from "./waits.js";
import { report, showing, watching } from "./watching.js";

/** An event of a store: its `detail`, with the same members on the event. */
export class StoreEvent extends Event {
  constructor(type, detail) {
    super(type);
    this.detail = detail;
    for (const [name, value] of Object.entries(detail)) if (!(name in this)) this[name] = value;
  }
}

const handlers = new WeakMap();

/** The listener of an app, noting for `tell` when it has returned. */
function handlerOf(listener) {
  if (!handlers.has(listener)) handlers.set(listener, function (event) {
    const returned = (async () => (listener.handleEvent ? listener.handleEvent(event) : listener.call(this, event)))();
    returned.catch(report);
    event.returned?.push(returned);
  });
  return handlers.get(listener);
}

/** The handle of an edit. */
export class Ticket {
  #store;
  constructor(store, { name, records }) {
    this.#store = store;
    // `store.ticket` finds it by its name after a restart. `resource` and `id`, which may be temporary, belong to the first record.
    Object.assign(this, records[0], { name, records });
  }

  /** Resolves with `{status, conflicts, problem, record}` once there is an answer, and that may be in a week. */
  get outcome() { return this.wait(); }

  /**
   * @param {{signal?: AbortSignal}} [options]
   * @returns {Promise<any>} the outcome
   */
  wait({ signal } = {}) { return this.#store.awaitOutcome(this.name, signal); }

  /** The outcome; null if there is none yet. */
  peek() { return this.#store.outcomeOf(this.name); }
}

/** A user's records on this device, and the edits that were not sent yet. Made by `open`. */
export class FieldMergeStore extends EventTarget {
  #options; #storage; #local; #engine; #onConflict; #persisting; #isPersisted = null; #lastStatus; #leader; #channel;
  /** The status of the leading tab. */
  #leading;
  #observers = new Set();
  /** The listeners of each type of events, with a function that ends their delivery (`over`). */
  #listening = new Map();
  #over = new AbortController();
  /** Who waits for an outcome: the names of tickets, each with a function. */
  #waiters = new Set();
  /** Syncs that were requested from the leading tab. */
  #wishes = new Map();
  /** Members of this store for modules that are loaded later; `left` are the tickets after a sign-out. */
  #desk = { store: this, listened: new Set(), heard: new Set(), edits: () => this.#edits(), queued: (body) => this.#queued(body), reach: (...what) => this.#reachAll(...what), rule: () => this.#leads && this.#onConflict, leave: () => this.#leave() };

  constructor(options, storage) {
    super();
    this.#options = options;
    this.#storage = storage;
    this.#onConflict = options.onConflict ?? null;
    this.#local = new Local(storage, async (changed, events, ended) => {
      if (changed.length || events.length || ended.size) this.#say({ changed, events, ended });
      return this.#changed(changed, events, ended);
    }, () => this.beforeStore);
    /** The app's function for each change of the server when it is stored; may add edits. */
    this.beforeStore = options.beforeStore ?? null;
    Object.assign(this.#desk, { local: this.#local, observers: this.#observers, options });
    this.#local.options = options;
    this.#engine = engineOf(this.#local, options, () => this.#tellStatus());
  }

  /** Reads the stored data, creates a device id for a new store, and returns the store. For `open`. */
  async prepare() {
    const { server, user = null, resources = null, snapshot } = this.#options, local = this.#local, told = await this.#storage.beside?.(), before = await local.place();
    local.owner = JSON.stringify([bareAddress(server), user]);
    // A gateway may get another address, a store never another user.
    if (before.owner && JSON.parse(before.owner)[1] !== user) throw new FieldMergeError("other-owner", "This store belongs to another user.");
    // The third form has a variant with indexes, the fourth (`local.js`).
    if (before.owner && !(before.form > 2)) await (await loaded(import("./upgrade.js"))).upgrade(local);
    if (!before.owner || !same(before.kept ?? null, resources)) await local.write((work) => {
      if (!before.owner && told) work.events.push({ event: "lost", unsent: told.unsent });
      Object.assign(work.meta, nowhere, { owner: local.owner, device: before.device ?? uuid(), kept: resources });
      work.ended.add(""); // notifies the leading tab
    });
    if (this.#options.keep || before.isPart) await this.#more(import("./keep.js"), "keep");
    if (snapshot !== undefined && local.meta.revision === null) await (await import("./snapshot.js")).fill(local, this.#options);
    if (this.#options.indexes || this.#options.search || local.meta.indexes) await local.index().catch(() => {});
    // Modules that this store needed before are loaded at once.
    if (local.meta.hasDecisions) await local.load().catch(() => {});
    if (this.#storage.shared) {
      this.#channel = new BroadcastChannel(this.#storage.shared);
      this.#channel.onmessage = ({ data }) => this.#told(data);
    }
    void this.#notePersisted(globalThis.navigator?.storage?.persisted?.());
    for (const type of ["online", "offline"]) globalThis.addEventListener?.(type, () => this.#engine.post(type), { signal: this.#over.signal });
    return this;
  }

  // MARK: Tabs

  /** Tells the other tabs. */
  #say(message) { this.#channel?.postMessage(message); }

  /** A message of another tab. */
  #told({ changed, events, ended, status, wish, granted, report, leads, signedOut }) {
    const local = this.#local, leader = this.#leader;
    if (local.isClosed) return;
    if (changed) {
      void local.place().then(() => this.#changed(changed, events, ended)).catch(() => {});
      if (this.#leads) this.#engine.post("edit");
    } else if (status && !this.#leads) {
      this.#leading = status;
      this.#tellStatus();
    } else if (wish && leader?.isLeading) void this.#engine.sync().then((done) => this.#say({ granted: wish, report: done }));
    else if (granted) this.#wishes.get(granted)?.(report);
    else if (leads) for (const one of this.#wishes.keys()) this.#say({ wish: one });
    else if (signedOut) void this.close();
  }

  get #leads() { return this.#leader?.isLeading ?? true; }

  /** This tab begins to lead, and runs the syncs requested from the tab before; or it ends to lead. */
  #lead(isLeading) {
    if (!isLeading) return this.#engine.stop();
    this.#engine.start();
    this.#say({ leads: true });
    for (const grant of this.#wishes.values()) void this.#engine.sync().then(grant);
  }

  // MARK: Status

  /** The store's status: `phase`, `unsent`, `refused`, `progress`, `lastSynced`, `nextTry`, `revision`. */
  get status() {
    const { unsent, refused, revision, lastSynced = null } = this.#local.meta;
    return { ...((!this.#leads && this.#leading) || this.#engine.standing()), unsent, refused, revision, lastSynced, ...(this.#storage.shared && { persisted: this.#isPersisted }) };
  }

  /** Notes whether the browser keeps the store if its disk is full. */
  async #notePersisted(asked) {
    this.#isPersisted = await Promise.resolve(asked).catch(() => null);
    this.#tellStatus();
  }

  /** Reports a changed status to the app, and to tabs that do not lead. */
  #tellStatus() {
    const { status } = this, text = stringify(status), { device, unsent } = this.#local.meta;
    if (device && !this.#local.isClosed) this.#storage.beside?.({ device, unsent });
    if (this.#leader?.isLeading) this.#say({ status: this.#engine.standing() });
    if (text === this.#lastStatus) return;
    this.#lastStatus = text;
    this.dispatchEvent(new StoreEvent("status", status));
  }

  // MARK: Events

  /** Tells the app: first events, then records, for which nothing waits. */
  async #changed(changed, events, ended) {
    if (events.length) await this.#hear(events);
    for (const { name, wake } of this.#waiters) if (!ended || ended.has(name)) wake();
    for (const observer of this.#observers) void observer(changed);
    this.#local.indexes?.look();
    this.#tellStatus();
  }

  addEventListener(type, listener, options) {
    super.addEventListener(type, listener && handlerOf(listener), options);
    const { signal, once } = options ?? {}, isNew = !this.#listening.has(type), token = {};
    if (!listener || type === "status" || signal?.aborted) return;
    if (isNew) this.#listening.set(type, Object.assign(new Map(), { over: new AbortController() }));
    const own = this.#listening.get(type), end = () => { if (own.get(listener) === token) this.#unlisten(type, listener); };
    if (!own.has(listener)) own.set(listener, token);
    signal?.addEventListener("abort", end);
    if (once) super.addEventListener(type, end, { once });
    if (isNew) void this.#deliver(type, own);
  }

  removeEventListener(type, listener, options) {
    super.removeEventListener(type, handlers.get(listener) ?? listener, options);
    this.#unlisten(type, listener);
  }

  /** Removes a listener. After the last listener of a type, and when its handlers have returned, another tab may deliver. */
  async #unlisten(type, listener) {
    const own = this.#listening.get(type);
    if (!own?.delete(listener) || own.size) return;
    this.#listening.delete(type);
    this.#desk.listened.delete(type);
    await null;
    await this.#desk.answers;
    own.over.abort();
  }

  /** Begins to deliver events of a type, including earlier events: one tab delivers them, while it has listeners. */
  async #deliver(type, own) {
    const { shared } = this.#storage, { signal } = own.over, { listened } = this.#desk, locks = shared && globalThis.navigator?.locks;
    const begin = () => {
      if (this.#listening.get(type) !== own || this.#local.isClosed) return;
      listened.add(type);
      void this.#hear();
      return new Promise((resolve) => signal.addEventListener("abort", resolve));
    };
    await null;
    if (locks) locks.request(`${shared}:${type}`, { signal }, begin).catch(() => {});
    else begin();
  }

  /** Delivers events to the app: the given events, or all undelivered events. */
  async #hear(events) {
    const local = this.#local;
    try {
      events ??= await local.read((work) => work.values("e"));
      if (events.length) (await local.load()).tell(this.#desk, events);
    } catch { /* they are told when somebody listens again */ }
  }

  /** A function of the app that answers the value of a group in conflict, or undefined. */
  get onConflict() { return this.#onConflict; }
  set onConflict(rule) {
    this.#onConflict = rule;
    if (rule) void this.#hear();
  }

  // MARK: Reading

  #isKept(resource) { return this.#local.meta.kept?.includes(resource) ?? true; }

  /** Reads inside a transaction, after a check that the resource exists. */
  #read(resource, body) {
    return this.#local.read((work) => {
      work.rules?.resource(resource);
      return body(work);
    });
  }

  /**
   * Returns a record with unsent edits; null if there is none.
   *
   * A resource that is not kept is read online; without a network the last read record is returned.
   */
  async record(resource, id, { signal } = {}) {
    if (!this.#isKept(resource)) await this.#fetch("record", resource, id, signal).catch(async (error) => {
      if (!error.answer || !(await this.#local.read((work) => work.read({ resource, id })))) throw error;
    });
    return this.#read(resource, (work) => work.read({ resource, id }));
  }

  /** Reads records that are not kept from the gateway. */
  async #fetch(what, ...about) { await (await loaded(import("./remote.js")))[what](await this.#engine.exchanging(), ...about); }

  /** For edits: reads a record that is not kept, if it was never read. */
  async reach(resource, id) {
    if (!this.#isKept(resource) && !(await this.#local.read((work) => work.read({ resource, id })))) await this.#fetch("record", resource, id);
  }

  /** Gets the records of a resource that is not kept. */
  #reachAll(resource, signal) { return this.#isKept(resource) || this.#fetch("records", resource, signal); }

  /** Returns all records of a resource, in the order of their ids. */
  async records(resource, { signal } = {}) {
    await this.#reachAll(resource, signal);
    const found = await this.#read(resource, (work) => work.readAll(resource));
    found.sort((one, other) => compareIDs(one.id, other.id));
    return this.#storage.shared ? found : copy(found); // the browser's database returns copies
  }

  /** The records of one resource: the same methods without its name, for types that `fieldmerge types` writes. */
  of(resource) { return new Proxy(this, { get: (_, name) => this[name]?.bind(this, resource) }); }

  /** Returns the records that match, in order, with `next` if there are more. */
  query(...rest) { return this.#more(import("./query.js"), "query", ...rest); }

  /** Counts the records that match. */
  count(...rest) { return this.#more(import("./count.js"), "count", ...rest); }

  /** Watches a query: `value`, `subscribe` and `getSnapshot` as Svelte and React expect, and an async iterator. */
  live(...rest) {
    const watched = showing();
    this.#more(import("./live.js"), "live", watched, ...rest).catch(report);
    return watched.shown;
  }

  /**
   * Watches a record, or all of a resource: the callback gets it now and after each change. Records that have not changed
   * are the same objects as before.
   *
   * @returns {any} a function that ends it, which is an async iterator as well
   */
  observe(resource, ...rest) {
    const id = typeof rest[0] === "function" || isObject(rest[0]) ? undefined : rest[0], isList = id === undefined;
    const { look, end } = watching(async (changed) => {
      if (changed) return this.#local.read((work) => Promise.all(changed.map((place) => work.read(place))));
      return isList ? this.records(resource) : [await this.record(resource, id)];
    }, { isList, callback: rest.find((one) => typeof one === "function"), ended: () => this.#observers.delete(observer) });
    const observer = (changed) => {
      const own = changed.filter((place) => place.resource === resource && (isList || isTemporary(id) || idKey(place.id) === idKey(id)));
      return own.length && look(isList ? own : [{ resource, id }]);
    };
    this.#observers.add(observer);
    rest.find(isObject)?.signal?.addEventListener("abort", end, { once: true });
    void look();
    return end;
  }

  // MARK: Editing

  /**
   * Edits a record: the function changes the given copy. Resolves with a ticket when the edit is on disk.
   *
   * An asynchronous function may run again if another tab edits the same record meanwhile. With `base`, a record that was read
   * earlier, the function gets a copy of the base, and the edit is the difference to the base.
   */
  async edit(resource, id, change, { base } = {}) {
    await this.reach(resource, id);
    if (base) return this.#more(import("./lists.js"), "editFrom", resource, id, change, base);
    let edits, given;
    const told = await this.#local.write(async (work) => {
      edits = this.#edits();
      given = change((await edits.open(work, resource, id)).draft);
      if (!isPromise(given)) return edits.append(work);
      given.then(null, () => {}); // it is awaited outside
    });
    return told ? this.#edited(told) : this.#finish((t) => t.edit(resource, id, change), undefined, edits, given);
  }

  /** Opens a form: `record` is a working copy to change, `base` the record as it was, `save()` makes one edit. */
  draft(...rest) { return this.#more(import("./lists.js"), "draft", ...rest); }

  /** Opens a form with fields for HTML inputs; without an id, for a new record. */
  form(...rest) { return this.#more(import("./form.js"), "form", ...rest); }

  /** The rules of a resource: types, members, lengths, policies, `mayWrite`. */
  rules(...rest) { return this.#more(import("./form.js"), "rules", ...rest); }

  /** Creates a record: the function fills it in. */
  create(...rest) { return this.transaction((t) => t.create(...rest)); }

  /** Deletes a record. */
  delete(...rest) { return this.transaction((t) => t.delete(...rest)); }

  /**
   * Combines several edits: all of them are pushed together, and an error drops all.
   *
   * The function gets `record`, `records`, `edit`, `create` and `delete`, and may run again if another tab edits the same
   * records meanwhile.
   *
   * @param {{atomic?: "push" | "edit"}} [options] `edit`: a refused edit does not block the others
   */
  transaction(body, { atomic } = {}) { return this.#finish(body, atomic === "edit" ? atomic : undefined); }

  async #finish(body, atomic, edits = this.#edits(), given = body(edits)) {
    for (let run = 0; run < 100; run++) {
      await given;
      const told = await this.#local.write(async (work) => ((await edits.isCurrent(work)) ? edits.append(work, atomic) : null));
      if (told) return this.#edited(told);
      edits = this.#edits();
      given = body(edits);
    }
    throw new FieldMergeError("busy", "The records keep changing.");
  }

  #edits() { return editsOf(this, this.#local); }

  /** Adds an edit to the queue, and returns its ticket; null if nothing changed. */
  async #queued(body) {
    const told = await this.#local.write(body);
    return told && this.#edited(told);
  }

  #edited(told) {
    // Asks the browser not to evict the store.
    if (this.#storage.shared) this.#persisting ??= this.#notePersisted(globalThis.navigator?.storage?.persist?.());
    this.#engine.post("edit");
    return new Ticket(this, told);
  }

  // MARK: Tickets and refused edits

  /** Finds a ticket by its name, or the last ticket of a record by its id; null if there is none. */
  ticket(...rest) { return this.#more(import("./state.js"), "ticket", ...rest); }

  /** For tickets: the outcome; null if there is none yet. */
  async outcomeOf(name) {
    const local = this.#local, left = this.#desk.left?.find((one) => one.name === name);
    const outcome = (left || (await local.read((work) => work.ticket(name))))?.outcome ?? (left && { status: "discarded", conflicts: [] });
    if (!outcome) return null;
    const decisions = outcome.conflicts.length && (await local.load());
    return { problem: null, record: null, ...outcome, conflicts: outcome.conflicts.map((conflict) => decisions.detailed(this.#desk, conflict)) };
  }

  /** For tickets: resolves with the outcome. */
  async awaitOutcome(name, signal) {
    for (;;) {
      const waiter = { name }, change = new Promise((resolve) => { waiter.wake = resolve; });
      this.#waiters.add(waiter);
      try {
        const outcome = await this.outcomeOf(name);
        signal?.throwIfAborted();
        if (outcome) return outcome;
        await within(change, { signal }, this.#options.clock);
      } finally {
        this.#waiters.delete(waiter);
      }
    }
  }

  /** The pushes that were refused, the oldest first: each with `problem`, `record`, `resend()` and `discard()`. */
  async refusedEdits() {
    return (await this.#local.place()).refused ? (await this.#local.load()).refusedEdits(this.#desk, this.#local) : [];
  }

  /** The conflicts and overtaken edits without a decision, the oldest first: each with `takeMine()`, `takeTheirs()` and `dismiss()`. */
  conflicts() { return this.#more(import("./lists.js"), "conflicts"); }

  /** The pushes without an answer, in order: each with `edits`, `state` and `discard()`. */
  unsent() { return this.#more(import("./lists.js"), "unsent"); }

  /** Calls a function of a module that is loaded when it is needed. */
  async #more(loading, name, ...rest) { return (await loaded(loading))[name](this.#desk, this.#local, ...rest); }

  /**
   * `clean`, `draft`, `sending` or `refused`: the state of a record, or of a part of it.
   *
   * @param {string} [place] a section, `section.group`, or `section.field` for the field's group
   * @param {any} [item] the id of an item of a list
   */
  state(...rest) { return this.#more(import("./state.js"), "state", ...rest); }

  // MARK: Syncing

  /**
   * Sends edits and reads changes, in the leading tab. Never throws for the network or an answer: the report has `phase`,
   * `sent`, `merged`, `refused`, `conflicts`, `changes` and, after a failure, `problem`.
   *
   * @param {{signal?: AbortSignal, deadline?: number | Date}} [options] the deadline is a moment, or milliseconds from now
   */
  async sync(options = {}) {
    if (this.#local.isClosed) throw new FieldMergeError("closed", "The store is closed.");
    if (this.#leads) return this.#engine.sync(options);
    const wish = uuid(), granted = new Promise((resolve) => this.#wishes.set(wish, resolve));
    this.#say({ wish });
    const report = await within(granted, options, this.#options.clock);
    this.#wishes.delete(wish);
    return report ?? { phase: this.status.phase, ...emptyReport };
  }

  /** Begins automatic syncs: after each edit, after a change on the server, and when the network returns. */
  start() {
    const local = this.#local, { shared } = this.#storage;
    if (this.#leader || local.isClosed) return;
    if (!shared) return this.#engine.start();
    const leader = (this.#leader = { isLeading: false, stop() {} });
    loaded(import("./leader.js")).then(({ elect }) => this.#leader === leader && elect(leader, shared, local, this.#options.clock, (isLeading) => this.#lead(isLeading))).catch(() => {
      // Without the module each tab leads: two that push at once do no harm.
      if (this.#leader !== leader) return;
      leader.isLeading = true;
      this.#lead(true);
    });
  }

  /** Ends automatic syncs; edits are still possible. */
  stop() {
    this.#leader?.stop();
    this.#leader = null;
    this.#engine.stop();
    for (const grant of this.#wishes.values()) grant();
  }

  /** Reads all records again, and keeps unsent edits. */
  async resync(options) {
    await this.#local.note(nowhere);
    return this.sync(options);
  }

  // MARK: The end

  /** Closes the store within two seconds; stored data are kept. */
  async close() {
    if (this.#local.isClosed) return;
    this.#end();
    await within(this.#storage.close(), { deadline: 2000 }, this.#options.clock);
  }

  #end() {
    this.stop();
    this.#engine.close();
    this.#local.isClosed = true;
    this.#over.abort();
    for (const { over } of this.#listening.values()) over.abort();
    this.#channel?.close();
    this.#channel = null;
    void this.#changed([], []);
  }

  /**
   * Signs out: deletes the local store.
   *
   * @param {{unsent?: "refuse" | "send" | "discard", signal?: AbortSignal}} [options] the treatment of unsent edits: by default
   *   the sign-out is refused; `send` sends them first, and refuses after a failure
   * @throws {FieldMergeError} `unsent`, with the number of edits in its `unsent`
   */
  signOut(...rest) { return this.#more(import("./signout.js"), "signOut", ...rest); }

  /** For a sign-out: ends the store in every tab and deletes it. */
  async #leave() {
    this.#say({ signedOut: true });
    this.#end();
    await this.#storage.destroy();
  }

  /** A report for support, without values of records. */
  diagnose() { return this.#more(import("./support.js"), "diagnosis", this.#leads); }

  /**
   * The complete content of the store as a value; with a path, in Node, also as a file of JSON.
   *
   * @param {string} [path]
   */
  export(...rest) { return this.#more(import("./support.js"), "contents", ...rest); }
}
