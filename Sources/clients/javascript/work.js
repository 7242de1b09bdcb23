import { created, editOf, groupIn, isSame, joined, mapped, named, nameOf, onTheWire, view } from "./layers.js";
import { copy, idKey, isTemporary, same, uuid } from "./values.js";

const keptTickets = 1000, keptEvents = 1000;
const table = (resource) => `r:${resource}`;
const inOrder = (list) => list.sort((one, other) => one.seq - other.seq);
const isEmpty = (object) => !Object.keys(object).length;
const records = (edits) => edits.map(({ resource, id }) => ({ resource, id }));

/** The problem of an edit; that of its push where it was only rolled back with it. */
export const causeOf = ({ problem: own }, problem) => (own && own.code !== "rolled-back" ? own : problem);

/** Whether the text of a push names one of the ids. */
const names = ({ body }, ids) => ids.some((id) => body?.includes(`"${id}"`));

/**
 * One local transaction: everything that reads or writes what a client keeps.
 *
 * It is kept in tables: `r:RESOURCE` base records, `p` pushes by number, `q` the pushes of each record, `i` temporary ids,
 * `x` refused pushes, `t` tickets, `k` the last ticket of each record, `e` events that nobody heard yet, and `meta`.
 */
export class Work {
  #meta;
  #pushes = new Map();
  #bases = new Map();
  /** Records that this work touches, as they were before. */
  before = new Map();
  /** Whether pushes end with it, so that some need not be repeated any more. */
  endsPushes = false;
  events = [];
  /** @type {null | (() => Promise<void>)} what is to be done before it is stored */
  ending = null;
  /** @type {null | ((change: any) => any)} */
  beforeStore = null;

  /** @param {import("./rules.js").Rules | null} rules */
  constructor(tx, rules) {
    this.tx = tx;
    this.rules = rules;
  }

  /** The names of the records that this work touches. */
  get changed() { return [...this.before.keys()]; }

  /** What is kept once: feed and revision, counters, the device's id. Changes to it are stored by `finish`. */
  async meta() {
    return (this.#meta ??= { seq: 0, unsent: 0, refused: 0, feed: null, revision: null, snapshot: null, ...(await this.get("meta")) });
  }

  /** Counts anew what is unsent and what was refused: nothing else is derived. */
  async recount() {
    const unsent = (await this.pushes()).reduce((sum, push) => sum + (push.settled ? 0 : push.edits.length), 0);
    Object.assign(await this.meta(), { unsent, refused: (await this.entries()).length });
  }

  get(name) { return this.tx.get("meta", name); }
  put(name, value) { return this.tx.put("meta", name, value); }

  async next() { return ++(await this.meta()).seq; }

  /** The values of a table, in the order of their numbers. */
  async values(name) { return inOrder((await this.tx.all(name)).map(([, value]) => value)); }

  rootOf(resource) { return this.rules?.resources.get(resource)?.root.name; }

  // MARK: Records

  /** The id by which a record is known now. */
  async resolve(id) { return isTemporary(id) ? ((await this.tx.get("i", id))?.id ?? id) : id; }

  async base(resource, id) {
    const name = nameOf(resource, id);
    if (!this.#bases.has(name)) this.#bases.set(name, (await this.tx.get(table(resource), idKey(id)))?.r ?? null);
    return this.#bases.get(name);
  }

  /** Every base record of a resource. */
  async bases(resource) {
    return (await this.tx.all(table(resource))).map(([key, { r, g }]) => ({ key, record: r, generation: g }));
  }

  /** Puts a base, or null, without asking what it means for anybody's edits; for records that nobody edits. */
  async putBase(resource, id, record) {
    this.#bases.set(nameOf(resource, id), record);
    if (record) await this.tx.put(table(resource), idKey(id), { r: record, g: (await this.meta()).snapshot?.generation });
    else await this.tx.delete(table(resource), idKey(id));
  }

  /** The pushes that edit a record and have no answer, in their order. */
  async pushesOf(resource, id) {
    if (!(await this.meta()).unsent) return [];
    const numbers = (await this.tx.get("q", nameOf(resource, id))) ?? [];
    return (await Promise.all(numbers.map((number) => this.push(number)))).filter((push) => push && !push.settled);
  }

  async push(number) {
    if (!this.#pushes.has(number)) this.#pushes.set(number, await this.tx.get("p", number));
    return this.#pushes.get(number);
  }

  /** Every push, in order. */
  async pushes() {
    for (const push of await this.values("p")) if (!this.#pushes.has(push.seq)) this.#pushes.set(push.seq, push);
    return inOrder([...this.#pushes.values()].filter(Boolean));
  }

  /** What the app reads. */
  async read(resource, id) {
    const real = await this.resolve(id);
    return view(await this.base(resource, real), await this.pushesOf(resource, real), resource, real, this.rules);
  }

  /** A text that differs once an edit of the record was made or answered. */
  async mark(resource, id) {
    return (await this.pushesOf(resource, await this.resolve(id))).map((push) => `${push.seq}.${push.version}`).join();
  }

  /** What the app reads of all records of a resource. */
  async readAll(resource) {
    const found = new Map((await this.bases(resource)).map(({ key, record }) => [key, record]));
    for (const push of await this.pushes()) {
      for (const edit of push.edits) if (edit.resource === resource) found.set(idKey(edit.id), view(found.get(idKey(edit.id)), [push], resource, edit.id, this.rules));
    }
    return [...found.values()].filter(Boolean);
  }

  /** Notes how records are before this work changes them. */
  async touch(...places) {
    for (const { resource, id } of places) {
      const name = nameOf(resource, id);
      if (!this.before.has(name)) this.before.set(name, { resource, id, base: await this.base(resource, id), pushes: copy(await this.pushesOf(resource, id)) });
    }
  }

  // MARK: Pushes

  /** Stores a push, with the indexes that lead to it. */
  async save(push) {
    const { seq, settled } = push, places = push.edits.map((edit) => nameOf(edit.resource, edit.id)), creates = push.edits.flatMap(created);
    await this.#index(push, places);
    for (const id of creates) if (!(await this.tx.get("i", id))?.id) await this.tx.put("i", id, { seq });
    for (const id of settled ? [] : (push.creates ?? [])) {
      if (!creates.includes(id) && (await this.tx.get("i", id))?.id === undefined) await this.tx.delete("i", id);
    }
    const counted = settled ? 0 : push.edits.length;
    (await this.meta()).unsent += counted - (push.counted ?? 0);
    Object.assign(push, { records: places, creates: settled ? push.creates : creates, counted, version: (push.version ?? 0) + 1 });
    this.#pushes.set(seq, push);
    await this.tx.put("p", seq, push);
  }

  /** Lets the records lead to a push, and no others. */
  async #index({ seq, records: old = [] }, places) {
    for (const name of new Set([...old, ...places])) {
      const numbers = ((await this.tx.get("q", name)) ?? []).filter((number) => number !== seq);
      if (places.includes(name)) numbers.push(seq);
      if (numbers.length) await this.tx.put("q", name, numbers.sort((one, other) => one - other));
      else await this.tx.delete("q", name);
    }
  }

  /** Takes a push out, without saying what became of it. */
  async remove(push) {
    await this.touch(...push.edits);
    await this.#index(push, []);
    (await this.meta()).unsent -= push.counted;
    this.#pushes.set(push.seq, undefined);
    await this.tx.delete("p", push.seq);
  }

  /**
   * Adds the edits of one local transaction to the queue.
   *
   * @param {{resource: string, id: any, creates?: boolean, rows: any}[]} edits
   * @returns {Promise<any>} the ticket
   */
  async append(edits, { atomic, about = [] } = {}) {
    const ids = {};
    for (const id of edits.flatMap(named)) ids[id] = await this.resolve(id);
    edits = edits.map((edit) => mapped(edit, ids)).filter((edit) => !isEmpty(edit.rows));
    const ticket = await this.#ticket(edits.length ? edits : about);
    if (!edits.length) return this.#cancelled(ticket);
    await this.touch(...edits);
    const push = (await this.#joined(edits, atomic)) ?? { seq: await this.next(), atomic, edits, tickets: [] };
    push.tickets.push(ticket.seq);
    await this.shrink(push);
    return (await this.tx.get("t", ticket.seq)) ?? ticket;
  }

  /** The unsent push that edits join, with these in it; null where there is none. */
  async #joined(edits, atomic) {
    const pushes = [];
    for (const edit of edits) pushes.push(...(await this.pushesOf(edit.resource, edit.id)));
    const last = inOrder(pushes).at(-1);
    if (!last || last.body || last.atomic !== atomic) return null;
    const all = [...last.edits];
    for (const edit of edits) {
      const at = all.findIndex((one) => isSame(one, edit)), rows = at < 0 ? null : joined(all[at], edit, this.rules.resource(edit.resource));
      if (!rows) return null;
      all[at] = { ...all[at], rows };
      for (const id of named(edit)) if ((await this.tx.get("i", id))?.seq > last.seq) return null;
    }
    const { items, body } = this.rules.limits, both = [...last.edits, ...edits];
    if (both.flatMap((edit) => Object.keys(edit.rows)).length > items || JSON.stringify(both).length >= body / 2) return null;
    // A creation that others build on is not taken back.
    const left = all.filter((edit) => !isEmpty(edit.rows)), lost = last.edits.flatMap(created).filter((id) => !left.flatMap(created).includes(id));
    const others = lost.length ? (await this.pushes()).filter((push) => push !== last).flatMap((push) => push.edits) : [];
    if ([...left, ...others].flatMap(named).some((id) => lost.includes(id))) return null;
    last.edits = all;
    return last;
  }

  /** Stores an unsent push without the edits that have come to nothing, or settles it where none is left. */
  async shrink(push) {
    const whole = push.edits;
    await this.touch(...whole);
    push.edits = whole.filter((edit) => !isEmpty(edit.rows));
    await this.save(push);
    if (push.edits.length) return;
    await this.remove({ ...push, edits: whole });
    for (const ticket of await this.tickets(push)) await this.#cancelled(ticket);
  }

  /** Ends the ticket of edits that came to nothing. */
  async #cancelled(ticket) {
    const [first] = ticket.records;
    return this.end(ticket, { status: "merged", conflicts: [], record: first ? await this.read(first.resource, first.id) : null });
  }

  /** Takes the base as seen by whoever edited a group: its `old` becomes what stands now. False where it was sent. */
  keep(place) {
    return this.#change(place, (row, name, record) => {
      const group = row.groups[name];
      group.old = groupIn(record, row, group.new) ?? group.old;
    });
  }

  /** Drops the unsent edits of a group. False where it was sent. */
  drop(place) { return this.#change(place, (row, name) => { delete row.groups[name]; }); }

  async #change({ resource, id, section, item, group: name, push: seq }, change) {
    const real = await this.resolve(id), base = await this.base(resource, real), pushes = await this.pushesOf(resource, real);
    if (!pushes.some((push) => push.seq === seq && !push.body)) return false;
    const path = item === undefined ? section : `${section}/${idKey(await this.resolve(item))}`;
    for (const [index, push] of pushes.entries()) {
      const { rows } = editOf(push, resource, real), row = rows[path];
      if (push.body || !row?.groups?.[name]) continue;
      await this.touch({ resource, id: real });
      change(row, name, view(base, pushes.slice(0, index), resource, real, this.rules));
      for (const [group, { old, new: value }] of Object.entries(row.groups)) if (same(old, value)) delete row.groups[group];
      if (isEmpty(row.groups)) delete rows[path];
      await this.shrink(push);
    }
    return true;
  }

  // MARK: Sending

  /** The place in the changes, as a text. */
  async stamp() {
    const { feed, revision, snapshot } = await this.meta();
    return JSON.stringify([feed, revision, snapshot?.generation]);
  }

  /**
   * Stores the bytes and keys of the pushes that go into the next request.
   *
   * @param {boolean} single one push alone
   * @returns {Promise<{seq: number, key: string, body: string}[]>}
   */
  async freeze(single) {
    const pushes = await this.pushes(), chosen = [], stamp = await this.stamp();
    let size = 0;
    for (const push of pushes) {
      if (push.settled) continue;
      const body = push.body ?? this.#body(push, (push.key = uuid()));
      const needed = pushes.filter((other) => other.settled && !chosen.includes(other) && names({ body }, other.creates));
      for (const other of [...needed, { body }]) size += other.body.length * 2;
      if (chosen.length && (single || chosen.length + needed.length >= 500 || size > this.rules.limits.body)) break;
      if (!push.body) await this.save(Object.assign(push, { body, stamp }));
      chosen.push(...needed, push);
    }
    return inOrder(chosen).map(({ seq, key, body, settled }) => ({ seq, key, body, settled }));
  }

  #body({ edits, atomic }, key) {
    return JSON.stringify({ key, rules: this.rules.version, edits: edits.map((edit) => onTheWire(edit, this.rules)), atomic });
  }

  // MARK: What was refused

  /** What was refused, the oldest first. */
  async entries() {
    return Promise.all((await this.values("x")).map(async ({ seq, isLocal, edits, told, at, problem }) => {
      const { resource, id } = edits[at];
      return {
        seq, isLocal, resource, id, problem: causeOf(told[at], problem), record: (await this.base(resource, id)) ?? told[at].record ?? null,
        edits: edits.map((edit, index) => ({ problem: told[index].problem, ...onTheWire(edit, this.rules) })),
      };
    }));
  }

  /** Takes out what was refused. */
  async #take(number) {
    const entry = await this.tx.get("x", number);
    if (!entry) return null;
    await this.tx.delete("x", number);
    (await this.meta()).refused -= 1;
    await this.touch(...entry.edits);
    return entry;
  }

  /** Puts a refused push behind the others again, what it builds on before it; returns a ticket. */
  async resend(number) {
    const entry = await this.#take(number);
    if (!entry) return null;
    const { edits, atomic } = entry, needs = edits.flatMap(named), tickets = await this.tickets(entry);
    for (const other of await this.values("x")) if (other.edits.flatMap(created).some((id) => needs.includes(id))) await this.resend(other.seq);
    for (const ticket of tickets) await this.end(ticket);
    if (!tickets.length) tickets.push(await this.#ticket(edits));
    await this.save({ seq: await this.next(), atomic, edits, tickets: tickets.map((ticket) => ticket.seq) });
    return tickets.at(-1);
  }

  async discard(number) {
    const entry = await this.#take(number);
    for (const ticket of entry ? await this.tickets(entry) : []) await this.end(ticket, { ...ticket.outcome, status: "discarded" });
  }

  // MARK: Tickets

  /** The tickets of a push, or of a refused one, that are kept still. */
  async tickets({ tickets }) {
    return (await Promise.all(tickets.map((seq) => this.tx.get("t", seq)))).filter(Boolean);
  }

  async #ticket(edits) {
    const seq = await this.next(), ticket = { seq, name: `ticket:${seq}:${uuid()}`, records: records(edits) };
    await this.tx.put("t", seq, ticket);
    for (const name of namesOf(ticket)) await this.tx.put("k", name, seq);
    if (seq % 100 === 0) await this.#prune();
    return ticket;
  }

  /** Forgets old tickets once there are many; one without an outcome is kept. */
  async #prune() {
    const old = (await this.values("t")).filter(({ outcome }) => outcome && outcome.status !== "refused");
    for (const ticket of old.slice(0, -keptTickets)) {
      await this.tx.delete("t", ticket.seq);
      for (const name of namesOf(ticket)) if ((await this.tx.get("k", name)) === ticket.seq) await this.tx.delete("k", name);
    }
  }

  /** Stores what became of an edit; nothing yet where it is left out. */
  async end(ticket, outcome) {
    await this.tx.put("t", ticket.seq, (ticket = { ...ticket, outcome }));
    return ticket;
  }

  /** Finds a ticket by its name, or the last one of a record by its id. */
  async ticket(name, resource) {
    if (/^ticket:/.test(name)) {
      const ticket = await this.tx.get("t", Number(name.split(":")[1]));
      return ticket?.name === name ? ticket : null;
    }
    const find = async (id) => (await this.tx.get("k", resource === undefined ? idKey(id) : nameOf(resource, id))) ?? 0;
    return (await this.tx.get("t", Math.max(await find(name), await find(await this.resolve(name))))) ?? null;
  }

  // MARK: States

  /** `clean`, `draft`, `sending` or `refused`: what becomes of a group, an item or a record. */
  async state({ resource, id, section, item, group }) {
    const real = await this.resolve(id), realItem = await this.resolve(item);
    const concerns = ({ edits }) => Object.values(editOf({ edits }, resource, real)?.rows ?? {}).some((row) => section === undefined
      || (row.kind !== "edit" && row.section === this.rootOf(resource))
      || (row.section === section && (item === undefined || idKey(row.item) === idKey(realItem)) && (group === undefined || row.kind !== "edit" || group in row.groups)));
    const pushes = (await this.pushesOf(resource, real)).filter(concerns);
    if (pushes.length) return pushes.every((push) => push.body) ? "sending" : "draft";
    return (await this.values("x")).some(concerns) ? "refused" : "clean";
  }

  // MARK: The end

  /** Stores what the transaction leaves behind: first what the server's words mean for unsent edits, then events and counters. */
  async finish() {
    await this.ending?.();
    const pushes = this.endsPushes ? await this.pushes() : [], open = pushes.filter((push) => !push.settled);
    for (const push of pushes) if (push.settled && !open.some((other) => names(other, push.creates))) await this.tx.delete("p", push.seq);
    for (const event of this.events) {
      event.seq = await this.next();
      await this.tx.put("e", event.seq, event);
      // An app that never listens is not to fill the store.
      if (event.seq % 100 === 0) await this.heard((await this.unheard()).slice(0, -keptEvents).map((old) => old.seq));
    }
    if (this.#meta) await this.put("meta", this.#meta);
  }

  /** Events that nobody heard yet. */
  unheard() { return this.values("e"); }

  async heard(numbers) {
    for (const number of numbers) await this.tx.delete("e", number);
  }
}

/** The names by which the last ticket of a record is found. */
const namesOf = (ticket) => ticket.records.flatMap(({ resource, id }) => [nameOf(resource, id), idKey(id)]);
