import { stringify } from "./json.js";
import { created, editOf, isChange, joined, mapped, named, namedIn, nameOf, referencesOf, view } from "./layers.js";
import { withDoubles } from "./rules.js";
import { byKey, idKey, isTemporary, uuid } from "./values.js";

export const inOrder = (list) => list.sort((one, other) => one.seq - other.seq);

/** Thrown to run a transaction again: after loading `decisions.js`, or without its failed part. */
export const needsDecisions = Symbol("decisions");

/**
 * One local transaction: all reads and writes of a client's store.
 *
 * The store has tables: `r:RESOURCE` base records, `p` pushes by number, `q` the pushes of each record, `n:ID` the pushes that
 * name a temporary id, `i` the real ids of temporary ids, `f` the values that the database has filled in at their creation,
 * `x` refused pushes, `t` tickets, `k` the ticket of a name and the last ticket of each record, `e` undelivered events, and
 * `meta`.
 *
 * A push is `{seq, key, edits, atomic, tickets, records, names}`, with `body` and `stamp` when it is frozen, and `settled`,
 * the temporary ids that it created, if it was answered and has to be repeated. `records` and `names` are its entries in `q`
 * and `n:ID`. `doubt` counts its requests that may have written. A push with `change` is of another history and waits for a
 * snapshot (`history.js`).
 */
export class Work {
  #bases = new Map();
  #local;
  /** Temporary ids that a push named before and names no longer. */
  #released = new Set();
  /** Records that this work touches, as they were before. */
  before = new Map();
  /** Whether the transaction stores data from the server. */
  isTold = false;
  /** An answer is older than the stored changes, so the current records come with the next changes. */
  isBehind = false;
  /** Records that this client deleted, and the sender of each change, if it is known. */
  deleted = new Set();
  by = new Map();
  events = [];
  /** Records whose bases this work writes, as they were before, if the store has indexes. */
  written = new Map();
  /** The names of the tickets that have an outcome now. */
  ended = new Set();

  /** @param {import("./local.js").Local} local */
  constructor(tx, meta, local) {
    this.tx = tx;
    this.#local = local;
    /** Single values: feed and revision, counters, the device's id. `finish` stores changes to them. */
    this.meta = { seq: 0, unsent: 0, refused: 0, offset: 0, feed: null, revision: null, snapshot: null, ...meta };
  }

  get rules() { return this.#local.rules; }

  /** Functions that only some answers need. */
  get decisions() {
    if (!this.#local.decisions) throw needsDecisions;
    this.meta.hasDecisions = true;
    return this.#local.decisions;
  }

  /** The app's function for changes of the server when they are stored. */
  get seeing() { return this.#local.seeing(); }

  /** The values of a table, in the order of their numbers. */
  async values(name) { return inOrder((await this.tx.all(name)).map(([, value]) => value)); }

  // MARK: Records

  /** The current id of a record. */
  async resolve(id) { return isTemporary(id) ? ((await this.tx.get("i", id)) ?? id) : id; }

  async base(place) {
    const name = nameOf(place);
    if (!this.#bases.has(name)) this.#bases.set(name, (await this.tx.get(`r:${place.resource}`, idKey(place.id)))?.r ?? null);
    return this.#bases.get(name);
  }

  /** Stores a base, or null, without an update of edits; for records without edits. */
  async putBase(place, record) {
    const at = [`r:${place.resource}`, idKey(place.id)], name = nameOf(place);
    if (this.meta.indexes && !this.written.has(name)) this.written.set(name, { ...place, before: await this.base(place) });
    for (const section of record ? (this.rules?.resources.get(place.resource)?.sections.values() ?? []) : []) {
      for (const row of [record[section.name] ?? []].flat()) withDoubles(row, section);
    }
    this.#bases.set(name, record);
    if (record) await this.tx.put(...at, { r: record, g: this.meta.snapshot?.generation });
    else await this.tx.delete(...at);
  }

  /** The pushes that edit a record and have no answer, in their order. */
  async pushesOf(place) {
    const numbers = (this.meta.unsent && (await this.tx.get("q", nameOf(place)))) || [];
    return inOrder(await Promise.all(numbers.map((number) => this.push(number))));
  }

  async push(number) { return this.#local.asSent(await this.tx.get("p", number)); }

  /** Every push, in order. */
  async pushes() { return (await this.values("p")).map((push) => this.#local.asSent(push)); }

  /** Every push, in order, some at a time. */
  async *queue() {
    for (let after = 0, some; (some = await this.tx.all("p", after, 100)).length; after = some.at(-1)[0]) {
      for (const [, push] of some) yield this.#local.asSent(push);
    }
  }

  /** The pushes whose edits or bytes name any of some temporary ids, or which created them, in order. */
  async naming(ids) {
    const found = await Promise.all(ids.map((id) => this.tx.all(`n:${id}`)));
    return inOrder((await Promise.all([...new Set(found.flat().map(([seq]) => seq))].map((seq) => this.push(seq)))).filter(Boolean));
  }

  /** The record for the app. */
  async read({ resource, id }) { return this.below({ seq: Infinity }, { resource, id: await this.resolve(id) }); }

  /** The record below the edit of a push: the base with the edits of earlier pushes. */
  async below({ seq }, place) {
    return view(await this.base(place), (await this.pushesOf(place)).filter((one) => one.seq < seq), place, this.rules);
  }

  /** All records of a resource for the app. */
  async readAll(resource) {
    const found = byKey((await this.tx.all(`r:${resource}`)).map(([, { r }]) => r));
    for (const push of this.meta.unsent ? await this.pushes() : []) {
      for (const edit of push.edits) if (edit.resource === resource) found.set(idKey(edit.id), view(found.get(idKey(edit.id)), [push], edit, this.rules));
    }
    return [...found.values()].filter(Boolean);
  }

  /** Notes how records are before this work changes them. */
  async touch(...places) {
    for (const place of places) {
      const name = nameOf(place), { resource, id } = place;
      if (!this.before.has(name)) this.before.set(name, { resource, id, base: await this.base(place), pushes: await this.pushesOf(place) });
    }
  }

  // MARK: Pushes

  /** Stores a push, with the indexes that lead to it. One that has no edits and is not repeated is taken out. */
  async save(push) {
    const { seq, edits, settled, records = [], names = [] } = push, places = edits.map(nameOf);
    for (const name of new Set([...records, ...places])) {
      const numbers = ((await this.tx.get("q", name)) ?? []).filter((number) => number !== seq);
      if (places.includes(name)) numbers.push(seq);
      if (numbers.length) await this.tx.put("q", name, numbers);
      else await this.tx.delete("q", name);
    }
    push.names = settled ?? (edits.length ? [...new Set([...edits.flatMap(named), ...namedIn(push.body ?? "")])] : []);
    for (const id of push.names) if (!names.includes(id)) await this.tx.put(`n:${id}`, seq, 1);
    for (const id of names) if (!push.names.includes(id)) await this.tx.delete(`n:${id}`, seq);
    for (const id of [...names, ...(settled ?? [])]) if (settled || !push.names.includes(id)) this.#released.add(id);
    this.meta.unsent += places.length - records.length;
    push.records = places;
    push.key ??= uuid();
    if (places.length || settled) await this.tx.put("p", seq, push);
    else await this.tx.delete("p", seq);
  }

  /**
   * Adds the edits of one local transaction to the queue.
   *
   * @param {{resource: string, id: any, creates?: boolean, rows: any[]}[]} edits
   * @param {{resource: string, id: any}[]} about the records of the ticket if no edit is left
   * @param {"edit"} [atomic]
   * @param {boolean} [isApart] the edits are a separate push
   * @returns {Promise<any>} the ticket
   */
  async append(edits, about, atomic, isApart) {
    const ids = {};
    for (const id of edits.flatMap(named)) ids[id] = await this.resolve(id);
    edits = edits.map((edit) => mapped(edit, ids)).filter(({ rows }) => rows.length);
    const ticket = await this.ticketFor(edits.length ? edits : about);
    if (!edits.length) return this.#cancelled(ticket);
    await this.touch(...edits);
    const refuse = this.meta.refused && (await this.decisions.dependent(this, edits));
    const push = (!refuse && !isApart && (await this.#joined(edits, atomic))) || { seq: ++this.meta.seq, atomic, edits, tickets: [] };
    push.tickets.push(ticket.seq);
    await this.shrink(push);
    await (refuse && refuse(push));
    return this.tx.get("t", ticket.seq);
  }

  /** The unsent push that contains the new edits after joining them; null if there is none. */
  async #joined(edits, atomic) {
    const last = inOrder((await Promise.all(edits.map((edit) => this.pushesOf(edit)))).flat()).at(-1);
    if (!last || last.body || last.atomic !== atomic) return null;
    const made = last.edits.flatMap(created), needs = edits.flatMap(named), { limits } = this.rules;
    for (const edit of edits) {
      const own = editOf(last, edit), rows = own && joined(own.rows, edit.rows, this.rules.resource(edit.resource), await this.below(last, edit));
      if (!rows) return null;
      own.rows = rows;
    }
    if (last.edits.flatMap(({ rows }) => rows).length > limits.items || stringify(last.edits).length >= limits.body / 2) return null;
    // No later push may create or delete records that these edits need. A creation that other edits need is not cancelled.
    const left = last.edits.filter(({ rows }) => rows.length), stay = left.flatMap(created), lost = made.filter((id) => !stay.includes(id));
    const isLater = async (pushes, ends) => (await pushes).some((push) => push.seq > last.seq && push.edits.some(ends));
    if (await isLater(this.naming(needs), (edit) => created(edit).some((id) => needs.includes(id)))) return null;
    for (const place of edits.flatMap((edit) => referencesOf(edit, this.rules))) {
      if (await isLater(this.pushesOf(place), (edit) => nameOf(edit) === nameOf(place) && this.isEnd(edit))) return null;
    }
    return left.flatMap(named).some((id) => lost.includes(id)) || (await this.naming(lost)).some(({ seq }) => seq !== last.seq) ? null : last;
  }

  /** Stores a push before it is sent; in memory if this transaction cannot write. */
  keep(push) { return this.isReading ? this.#local.unstored.set(push.seq, push) : this.tx.put("p", push.seq, push); }

  /** Stores an unsent push without edits that cancel each other; if none is left, its tickets end. */
  async shrink(push) {
    await this.touch(...push.edits);
    push.edits = push.edits.filter(({ rows }) => rows.length);
    await this.save(push);
    for (const ticket of push.edits.length ? [] : await this.tickets(push)) await this.#cancelled(ticket);
  }

  /** Ends the ticket of edits that cancel each other. */
  async #cancelled(ticket) {
    const [first] = ticket.records;
    return this.end(ticket, { status: "merged", conflicts: [], record: first ? await this.read(first) : null });
  }

  // MARK: Sending

  /** Tells whether the bases of a resource have another shape than the rules: nothing of it is built. */
  isStale({ resource }) { return this.rules.stale.includes(resource); }

  /** The place in the changes, as a text. Bases that were fetched again count as another place. */
  get stamp() {
    const { feed, revision, snapshot, refreshes } = this.meta;
    return JSON.stringify([feed, revision, snapshot?.generation, refreshes]);
  }

  // MARK: Tickets

  /** The stored tickets of a push, or of a refused push. */
  async tickets({ tickets }) { return (await Promise.all(tickets.map((seq) => this.tx.get("t", seq)))).filter(Boolean); }

  /** A new ticket for edits. */
  async ticketFor(edits) {
    const seq = ++this.meta.seq, ticket = { seq, name: `ticket:${uuid()}`, records: edits.map(({ resource, id }) => ({ resource, id })) };
    await this.end(ticket);
    for (const name of namesOf(ticket)) await this.tx.put("k", name, seq);
    return ticket;
  }

  /** Returns a function that tests if a ticket concerns a record. */
  async isAbout({ records }) {
    const places = await Promise.all(records.map(async ({ resource, id }) => nameOf({ resource, id: await this.resolve(id) })));
    return (place) => places.includes(nameOf(place));
  }

  /** Stores the outcome of an edit; without an outcome, the ticket is open. */
  async end(ticket, outcome) {
    if (outcome) this.ended.add(ticket.name);
    await this.tx.put("t", ticket.seq, Object.assign(ticket, { outcome }));
    return ticket;
  }

  /** Finds a ticket by its name. */
  async ticket(name) { return this.tx.get("t", (await this.tx.get("k", idKey(name))) ?? 0); }

  // MARK: States

  /** Tells whether an edit deletes its record. */
  isDeletion({ resource, rows }) { return rows.some((row) => !row.new && row.section === this.rules.resources.get(resource)?.root.name); }

  /** Tells whether an edit creates or deletes its record. */
  isEnd(edit) { return edit.creates || this.isDeletion(edit); }

  // MARK: The end

  /** Stores the results of the transaction: first the effects of the server's data on unsent edits, then events and counters. */
  async finish() {
    if (this.meta.isRebuilding && this.meta.revision !== null) await this.decisions.rebuild(this);
    for (const { base, pushes, ...place } of this.isTold ? this.before.values() : []) {
      if (!pushes.some((push) => !push.body || this.meta.snapshot) && (!base || (await this.base(place)))) continue;
      await this.decisions.rebase(this);
      break;
    }
    await this.#dropSettled();
    if (this.events.length || this.meta.overtaken) await this.decisions.keepEvents(this);
    if (this.written.size) await this.#local.follow(this);
    await this.tx.put("meta", "meta", this.meta);
  }

  /** Drops answered pushes that need no repetition, since no frozen push names their ids any more. */
  async #dropSettled() {
    for (const push of this.#released.size ? await this.naming([...this.#released]) : []) {
      const { settled, seq } = push;
      if (settled && !(await this.isRepeated(seq, settled))) await this.save({ ...push, settled: undefined });
    }
  }

  /** Whether frozen bytes of other pushes name the temporary ids that a push created. */
  async isRepeated(seq, ids) { return (await this.naming(ids)).some((other) => other.seq !== seq && !other.settled && other.body); }
}

/** The names that find a ticket: its name, and the names of its records until there is a newer ticket. */
export const namesOf = ({ name, records }) => [idKey(name), ...records.flatMap((place) => [nameOf(place), idKey(place.id)])];
