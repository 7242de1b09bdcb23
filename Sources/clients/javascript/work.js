import { created, editOf, isChange, joined, mapped, named, nameOf, view } from "./layers.js";
import { byKey, idKey, isTemporary, uuid } from "./values.js";

export const inOrder = (list) => list.sort((one, other) => one.seq - other.seq);

/** Thrown where a transaction is to be run again: behind `decisions.js`, or without what failed in it. */
export const needsDecisions = Symbol("decisions");

/** Whether the text of a push names one of the ids. */
export const names = (body, ids) => ids.some((id) => body?.includes(`"${id}"`));

/**
 * One local transaction: everything that reads or writes what a client keeps.
 *
 * It is kept in tables: `r:RESOURCE` base records, `p` pushes by number, `q` the pushes of each record, `i` the ids of
 * temporary ones, `x` refused pushes, `t` tickets, `k` the ticket of a name, and the last one of each record, `e` events that nobody heard yet, and
 * `meta`.
 *
 * A push is `{seq, edits, atomic, tickets, records}`, with `key`, `body` and `stamp` once it is frozen, and `settled`, the
 * temporary ids that it created, where it was answered and has to be repeated. `doubt` counts its requests of which no
 * answer says that they wrote nothing. With `change` it is of another history and waits for a snapshot (`history.js`).
 */
export class Work {
  #bases = new Map();
  #local;
  /** Records that this work touches, as they were before. */
  before = new Map();
  /** Whether the server tells something. */
  isTold = false;
  /** An answer told of a state that the changes have passed, so what stands comes with the next ones. */
  isBehind = false;
  /** Records that this client deleted itself, and who changed each, where the change tells it. */
  deleted = new Set();
  by = new Map();
  events = [];

  /** @param {import("./local.js").Local} local */
  constructor(tx, meta, local) {
    this.tx = tx;
    this.#local = local;
    /** What is kept once: feed and revision, counters, the device's id. Changes to it are stored by `finish`. */
    this.meta = { seq: 0, unsent: 0, refused: 0, offset: 0, feed: null, revision: null, snapshot: null, ...meta };
  }

  get rules() { return this.#local.rules; }

  /** The functions for what only some answers need. */
  get decisions() {
    if (!this.#local.decisions) throw needsDecisions;
    this.meta.hasDecisions = true;
    return this.#local.decisions;
  }

  /** The app's function that sees changes of the server's as they are stored. */
  get seeing() { return this.#local.seeing(); }

  /** The values of a table, in the order of their numbers. */
  async values(name) { return inOrder((await this.tx.all(name)).map(([, value]) => value)); }

  // MARK: Records

  /** The id by which a record is known now. */
  async resolve(id) { return isTemporary(id) ? ((await this.tx.get("i", id)) ?? id) : id; }

  async base(place) {
    const name = nameOf(place);
    if (!this.#bases.has(name)) this.#bases.set(name, (await this.tx.get(`r:${place.resource}`, idKey(place.id)))?.r ?? null);
    return this.#bases.get(name);
  }

  /** Puts a base, or null, without asking what it means for anybody's edits; for records that nobody edits. */
  async putBase(place, record) {
    const at = [`r:${place.resource}`, idKey(place.id)];
    this.#bases.set(nameOf(place), record);
    if (record) await this.tx.put(...at, { r: record, g: this.meta.snapshot?.generation });
    else await this.tx.delete(...at);
  }

  /** The pushes that edit a record and have no answer, in their order. */
  async pushesOf(place) {
    const numbers = (this.meta.unsent && (await this.tx.get("q", nameOf(place)))) || [];
    return inOrder(await Promise.all(numbers.map((number) => this.push(number))));
  }

  push(number) { return this.tx.get("p", number); }

  /** Every push, in order. */
  pushes() { return this.values("p"); }

  /** What the app reads. */
  async read({ resource, id }) {
    const place = { resource, id: await this.resolve(id) };
    return view(await this.base(place), await this.pushesOf(place), place, this.rules);
  }

  /** What the app reads of all records of a resource. */
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

  /** Stores a push, with the index that leads to it; one that has no edits and is not repeated is taken out. */
  async save(push) {
    const { seq, edits, records = [] } = push, places = edits.map(nameOf);
    for (const name of new Set([...records, ...places])) {
      const numbers = ((await this.tx.get("q", name)) ?? []).filter((number) => number !== seq);
      if (places.includes(name)) numbers.push(seq);
      if (numbers.length) await this.tx.put("q", name, numbers);
      else await this.tx.delete("q", name);
    }
    this.meta.unsent += places.length - records.length;
    push.records = places;
    if (places.length || push.settled) await this.tx.put("p", seq, push);
    else await this.tx.delete("p", seq);
  }

  /**
   * Adds the edits of one local transaction to the queue.
   *
   * @param {{resource: string, id: any, creates?: boolean, rows: any[]}[]} edits
   * @param {{resource: string, id: any}[]} about what the ticket is about where nothing is left of them
   * @param {"edit"} [atomic]
   * @param {boolean} [isApart] the edits are a push of their own
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

  /** The unsent push that edits join, with these in it; null where there is none. */
  async #joined(edits, atomic) {
    const last = inOrder((await Promise.all(edits.map((edit) => this.pushesOf(edit)))).flat()).at(-1);
    if (!last || last.body || last.atomic !== atomic) return null;
    const made = last.edits.flatMap(created), needs = edits.flatMap(named), { limits } = this.rules;
    for (const edit of edits) {
      const own = editOf(last, edit), rows = own && joined(own.rows, edit.rows, this.rules.resource(edit.resource));
      if (!rows) return null;
      own.rows = rows;
    }
    if (last.edits.flatMap(({ rows }) => rows).length > limits.items || JSON.stringify(last.edits).length >= limits.body / 2) return null;
    // No later push may create what these need, and a creation that others build on is not taken back.
    const left = last.edits.filter(({ rows }) => rows.length), stay = left.flatMap(created), lost = made.filter((id) => !stay.includes(id));
    const others = needs.length || lost.length ? (await this.pushes()).filter(({ seq }) => seq !== last.seq) : [];
    const isLater = others.some(({ seq, edits }) => seq > last.seq && edits.flatMap(created).some((id) => needs.includes(id)));
    return isLater || names(JSON.stringify([left, others]), lost) ? null : last;
  }

  /** Stores an unsent push without the edits that have come to nothing; where none is left its tickets end. */
  async shrink(push) {
    await this.touch(...push.edits);
    push.edits = push.edits.filter(({ rows }) => rows.length);
    await this.save(push);
    for (const ticket of push.edits.length ? [] : await this.tickets(push)) await this.#cancelled(ticket);
  }

  /** Ends the ticket of edits that came to nothing. */
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

  /** The tickets of a push, or of a refused one, that are kept still. */
  async tickets({ tickets }) { return (await Promise.all(tickets.map((seq) => this.tx.get("t", seq)))).filter(Boolean); }

  /** A new ticket for edits. */
  async ticketFor(edits) {
    const seq = ++this.meta.seq, ticket = { seq, name: `ticket:${uuid()}`, records: edits.map(({ resource, id }) => ({ resource, id })) };
    await this.end(ticket);
    for (const name of namesOf(ticket)) await this.tx.put("k", name, seq);
    return ticket;
  }

  /** A function that tells whether a ticket is about a record. */
  async isAbout({ records }) {
    const places = await Promise.all(records.map(async ({ resource, id }) => nameOf({ resource, id: await this.resolve(id) })));
    return (place) => places.includes(nameOf(place));
  }

  /** Stores what became of an edit; nothing yet where it is left out. */
  async end(ticket, outcome) {
    await this.tx.put("t", ticket.seq, Object.assign(ticket, { outcome }));
    return ticket;
  }

  /** Finds a ticket by its name. */
  async ticket(name) { return this.tx.get("t", (await this.tx.get("k", idKey(name))) ?? 0); }

  // MARK: States

  /** Tells whether an edit deletes its record. */
  isDeletion({ resource, rows }) { return rows.some((row) => !row.new && row.section === this.rules.resources.get(resource)?.root.name); }

  // MARK: The end

  /** Stores what the transaction leaves behind: first what the server's words mean for unsent edits, then events and counters. */
  async finish() {
    if (this.meta.isRebuilding && this.meta.revision !== null) await this.decisions.rebuild(this);
    for (const { base, pushes, ...place } of this.isTold ? this.before.values() : []) {
      if (!pushes.some((push) => !push.body || this.meta.snapshot) && (!base || (await this.base(place)))) continue;
      await this.decisions.rebase(this);
      break;
    }
    // What no frozen push names need not be repeated any more.
    const pushes = this.isTold ? await this.pushes() : [];
    for (const { seq, settled } of pushes) if (settled && !pushes.some((other) => !other.settled && names(other.body, settled))) await this.tx.delete("p", seq);
    if (this.events.length || this.meta.overtaken) await this.decisions.keepEvents(this);
    await this.tx.put("meta", "meta", this.meta);
  }
}

/** The names by which a ticket is found: its own, and those of its records until there is a newer one. */
export const namesOf = ({ name, records }) => [idKey(name), ...records.flatMap((place) => [nameOf(place), idKey(place.id)])];
