import { bare, created, editOf, groupIn, joined, mapped, named, nameOf, onTheWire, regrouped, view } from "./layers.js";
import { copy, idKey, isTemporary, same, uuid } from "./values.js";

const keptTickets = 1000, keptEvents = 1000;
const table = (resource) => `r:${resource}`;

/** A problem of the shape that the gateway's have, of something that this client found out by itself. */
export const localProblem = (code, status, detail, more = {}) => ({
  type: `urn:fieldmerge:problem:${code}`, title: detail, status, detail, code, retry: false, ...more,
});

/**
 * One local transaction: everything that reads or writes what a client keeps.
 *
 * It is kept in tables: `r:RESOURCE` base records, `p` pushes by number, `q` the pushes of each record, `i` temporary ids,
 * `x` refused pushes, `t` tickets, `k` the last ticket of each record, `e` events that nobody heard yet, and `meta`.
 */
export class Work {
  #tx;
  #rules;
  #meta;
  #pushes = new Map();
  #bases = new Map();
  /** Records that this work touches, as they were before. */
  #before = new Map();
  #deleted = new Set();
  #endsPushes = false;
  /** The answer told of a state that the changes have passed, so what stands comes with the next ones. */
  isBehind = false;
  events = [];
  changed = new Set();
  /** @type {null | ((change: any, t: any) => any)} */
  beforeStore = null;

  /** @param {import("./rules.js").Rules | null} rules */
  constructor(tx, rules) {
    this.#tx = tx;
    this.#rules = rules;
  }

  get rules() { return this.#rules; }
  set rules(rules) { this.#rules = rules; }

  /** What is kept once: feed and revision, counters, the device's id. Changes to it are stored by `finish`. */
  async meta() {
    return (this.#meta ??= { seq: 0, unsent: 0, refused: 0, feed: null, revision: null, snapshot: null, ...(await this.#tx.get("meta", "meta")) });
  }

  async #next() {
    return ++(await this.meta()).seq;
  }

  // MARK: Ids

  /** The id by which a record is known now. */
  async resolve(id) {
    return isTemporary(id) ? ((await this.#tx.get("i", id))?.id ?? id) : id;
  }

  // MARK: Records

  async base(resource, id) {
    const name = nameOf(resource, id);
    if (!this.#bases.has(name)) this.#bases.set(name, (await this.#tx.get(table(resource), idKey(id)))?.r ?? null);
    return this.#bases.get(name);
  }

  /** Every base record of a resource. */
  async bases(resource) {
    return (await this.#tx.all(table(resource))).map(([key, value]) => ({ key, record: value.r, generation: value.g }));
  }

  /** Puts a base without asking what it means for anybody's edits; for records that nobody edits. */
  async putBase(resource, id, record, generation) {
    this.#bases.set(nameOf(resource, id), record);
    await this.#tx.put(table(resource), idKey(id), { r: record, g: generation ?? (await this.meta()).snapshot?.generation });
  }

  /** The pushes that edit a record and have no answer, in their order. */
  async pushesOf(resource, id) {
    if (!(await this.meta()).unsent) return [];
    const numbers = (await this.#tx.get("q", nameOf(resource, id))) ?? [];
    return (await Promise.all(numbers.map((number) => this.push(number)))).filter((push) => push && !push.settled);
  }

  async push(number) {
    if (!this.#pushes.has(number)) this.#pushes.set(number, await this.#tx.get("p", number));
    return this.#pushes.get(number);
  }

  /** Every push, in order. */
  async pushes() {
    const stored = await this.#tx.all("p");
    for (const [number, push] of stored) if (!this.#pushes.has(number)) this.#pushes.set(number, push);
    return [...this.#pushes.values()].filter(Boolean).sort((one, other) => one.seq - other.seq);
  }

  /** What the app reads. */
  async read(resource, id) {
    const real = await this.resolve(id);
    return view(await this.base(resource, real), await this.pushesOf(resource, real), resource, real, this.#rules);
  }

  /** A text that differs once an edit of the record was made or answered. */
  async mark(resource, id) {
    const real = await this.resolve(id);
    return (await this.pushesOf(resource, real)).map((push) => `${push.seq}.${push.version}`).join();
  }

  /** What the app reads of all records of a resource. */
  async readAll(resource) {
    const records = new Map((await this.bases(resource)).map(({ key, record }) => [key, record]));
    const edited = new Map();
    for (const push of await this.pushes()) {
      if (push.settled) continue;
      for (const edit of push.edits) if (edit.resource === resource) edited.set(idKey(edit.id), [edit.id, [...(edited.get(idKey(edit.id))?.[1] ?? []), push]]);
    }
    for (const [key, [id, pushes]] of edited) records.set(key, view(records.get(key) ?? null, pushes, resource, id, this.#rules));
    return [...records.values()].filter(Boolean);
  }

  /** Notes how a record is before this work changes it. */
  async touch(resource, id) {
    const name = nameOf(resource, id);
    if (this.#before.has(name)) return;
    this.#before.set(name, { resource, id, base: await this.base(resource, id), pushes: copy(await this.pushesOf(resource, id)) });
    this.changed.add(name);
  }

  /** Stores what the server says of a record; null where it is gone. */
  async store(resource, id, record, by = null) {
    await this.touch(resource, id);
    const before = await this.base(resource, id);
    if (record === null) await this.deleteBase(resource, idKey(id), { id });
    else await this.putBase(resource, id, record);
    if (!this.beforeStore || same(before, record)) return;
    await this.beforeStore({ resource, id, before, record: copy(record), by });
  }

  /** Stores what the server says of many records: at once, unless the app wants to see each. */
  async storeAll(told) {
    if (!this.beforeStore) return void (await Promise.all(told.map(({ resource, id, record, by }) => this.store(resource, id, record, by))));
    for (const { resource, id, record, by } of told) await this.store(resource, id, record, by);
  }

  async deleteBase(resource, key, record) {
    await this.touch(resource, record.id);
    this.#bases.set(nameOf(resource, record.id), null);
    await this.#tx.delete(table(resource), key);
  }

  // MARK: Pushes

  /** Stores a push, with the indexes that lead to it. */
  async #save(push) {
    const meta = await this.meta();
    const records = push.edits.map((edit) => nameOf(edit.resource, edit.id)), creates = push.edits.flatMap(created);
    const counted = push.settled ? 0 : push.edits.length;
    for (const name of new Set([...(push.records ?? []), ...records])) {
      const numbers = new Set((await this.#tx.get("q", name)) ?? []);
      if (records.includes(name)) numbers.add(push.seq);
      else numbers.delete(push.seq);
      await this.#putNumbers(name, numbers);
    }
    for (const id of creates) {
      const known = await this.#tx.get("i", id);
      if (known?.id === undefined) await this.#tx.put("i", id, { seq: push.seq });
    }
    for (const id of push.settled ? [] : push.creates ?? []) {
      if (!creates.includes(id) && (await this.#tx.get("i", id))?.id === undefined) await this.#tx.delete("i", id);
    }
    meta.unsent += counted - (push.counted ?? 0);
    Object.assign(push, { records, creates: push.settled ? push.creates : creates, counted, version: (push.version ?? 0) + 1 });
    this.#pushes.set(push.seq, push);
    await this.#tx.put("p", push.seq, push);
  }

  async #putNumbers(name, numbers) {
    if (numbers.size) await this.#tx.put("q", name, [...numbers].sort((one, other) => one - other));
    else await this.#tx.delete("q", name);
  }

  /** Takes a push out, without saying what became of it. */
  async #remove(push) {
    for (const edit of push.edits) await this.touch(edit.resource, edit.id);
    for (const name of push.records) {
      const numbers = new Set((await this.#tx.get("q", name)) ?? []);
      numbers.delete(push.seq);
      await this.#putNumbers(name, numbers);
    }
    (await this.meta()).unsent -= push.counted;
    this.#pushes.set(push.seq, undefined);
    await this.#tx.delete("p", push.seq);
  }

  /**
   * Adds the edits of one local transaction to the queue.
   *
   * @param {{resource: string, id: any, creates?: boolean, rows: any}[]} edits
   * @returns {Promise<any>} the ticket
   */
  async append(edits, { atomic, about = [] } = {}) {
    const ids = {};
    for (const edit of edits) for (const id of named(edit)) { const real = await this.resolve(id); if (real !== id) ids[id] = real; }
    edits = edits.map((edit) => mapped(edit, ids)).filter((edit) => Object.keys(edit.rows).length);
    const ticket = await this.#ticket(edits.length ? edits : about);
    if (!edits.length) return this.#end(ticket, { status: "merged", conflicts: [], record: about[0] ? await this.read(about[0].resource, about[0].id) : null });
    for (const edit of edits) await this.touch(edit.resource, edit.id);
    const target = await this.#joinable(edits, atomic);
    const push = target ?? { seq: await this.#next(), atomic, edits: [], tickets: [] };
    if (target) {
      push.edits = push.edits.map((earlier) => {
        const edit = edits.find((later) => later.resource === earlier.resource && idKey(later.id) === idKey(earlier.id));
        return edit ? { ...earlier, rows: joined(earlier, edit, this.#rules.resource(edit.resource)) } : earlier;
      });
    } else {
      push.edits = edits;
    }
    push.tickets.push(ticket.seq);
    ticket.push = push.seq;
    await this.#tx.put("t", ticket.seq, ticket);
    await this.#shrink(push);
    return (await this.#tx.get("t", ticket.seq)) ?? ticket;
  }

  /** The unsent push that the edits join. */
  async #joinable(edits, atomic) {
    const pushes = [];
    for (const edit of edits) for (const push of await this.pushesOf(edit.resource, edit.id)) if (!pushes.includes(push)) pushes.push(push);
    const last = pushes.sort((one, other) => one.seq - other.seq).at(-1);
    if (!last || last.body || last.atomic !== atomic) return null;
    for (const edit of edits) {
      const earlier = editOf(last, edit.resource, edit.id);
      if (!earlier || !joined(earlier, edit, this.#rules.resource(edit.resource))) return null;
      for (const id of named(edit)) if (((await this.#tx.get("i", id))?.seq ?? 0) > last.seq) return null;
    }
    const { limits } = this.#rules;
    const rows = [...last.edits, ...edits].reduce((sum, edit) => sum + Object.keys(edit.rows).length, 0);
    return rows <= limits.items && JSON.stringify([last.edits, edits]).length < limits.body / 2 ? last : null;
  }

  /** Stores an unsent push without the edits that have come to nothing, or settles it where none is left. */
  async #shrink(push) {
    const left = push.edits.filter((edit) => Object.keys(edit.rows).length);
    for (const edit of push.edits) await this.touch(edit.resource, edit.id);
    const whole = push.edits;
    push.edits = left;
    await this.#save(push);
    if (left.length) return;
    await this.#remove({ ...push, edits: whole });
    for (const number of push.tickets) {
      const ticket = await this.#tx.get("t", number);
      if (!ticket) continue;
      const [first] = ticket.records;
      await this.#end(ticket, { status: "merged", conflicts: [], record: first ? await this.read(first.resource, first.id) : null });
    }
  }

  /** Takes the base as seen by whoever edited a group: its `old` becomes what stands now. */
  async keep(place) {
    await this.#change(place, (row, group, record) => { group.old = groupIn(record, row, group.new) ?? group.old; });
  }

  /** Drops the unsent edits of a group. */
  async drop(place) {
    await this.#change(place, (row, _group, _record, name) => { delete row.groups[name]; });
  }

  async #change({ resource, id, section, item, group: name }, change) {
    const real = await this.resolve(id), base = await this.base(resource, real), pushes = await this.pushesOf(resource, real);
    for (const [index, push] of pushes.entries()) {
      const edit = editOf(push, resource, real);
      const path = item === undefined ? section : `${section}/${idKey(await this.resolve(item))}`;
      const row = edit.rows[path];
      if (push.body || row?.kind !== "edit" || !row.groups[name]) continue;
      await this.touch(resource, real);
      change(row, row.groups[name], view(base, pushes.slice(0, index), resource, real, this.#rules), name);
      for (const [group, { old, new: value }] of Object.entries(row.groups)) if (same(old, value)) delete row.groups[group];
      if (!Object.keys(row.groups).length) delete edit.rows[path];
      await this.#shrink(push);
    }
  }

  // MARK: Sending

  /**
   * Stores the bytes and keys of the pushes that go into the next request.
   *
   * @param {boolean} single one push alone
   * @returns {Promise<{seq: number, key: string, body: string}[]>}
   */
  async freeze(single) {
    const pushes = await this.pushes(), chosen = [];
    const meta = await this.meta(), stamp = JSON.stringify([meta.feed, meta.revision, meta.snapshot?.generation ?? null]);
    let size = 0;
    for (const push of pushes) {
      if (push.settled) continue;
      const body = push.body ?? this.#body(push, (push.key = uuid()));
      const needed = pushes.filter((other) => other.settled && !chosen.includes(other) && other.creates.some((id) => body.includes(`"${id}"`)));
      size += [...needed.map((other) => other.body), body].reduce((sum, text) => sum + text.length * 2, 0);
      if (chosen.length && (single || chosen.length + needed.length >= 500 || size > this.#rules.limits.body)) break;
      if (!push.body) await this.#save(Object.assign(push, { body, stamp }));
      chosen.push(...needed, push);
    }
    return chosen.sort((one, other) => one.seq - other.seq).map(({ seq, key, body, settled }) => ({ seq, key, body, settled }));
  }

  #body(push, key) {
    return JSON.stringify({ key, rules: this.#rules.version, edits: push.edits.map((edit) => onTheWire(edit, this.#rules)), ...(push.atomic && { atomic: push.atomic }) });
  }

  // MARK: Answers

  /**
   * Stores what became of a push.
   *
   * @returns {Promise<"settled" | "retry" | "rules" | "known">}
   */
  async answered({ seq, key }, told) {
    const push = await this.push(seq);
    if (!push || push.settled || push.key !== key) return "known";
    const problem = told.problem ?? told.results.find((result) => result.problem)?.problem;
    if (told.status === "merged" || told.status === "partial") await this.#settle(push, told);
    else if (problem?.code === "rules-changed") {
      await this.#thaw(push);
      return "rules";
    } else if (problem?.code === "in-progress" || (problem?.retry ?? ![400, 403, 404, 409, 413, 415, 422].includes(told.code))) return "retry";
    else await this.refuse(push, problem ?? localProblem("refused", told.code, "The push was refused."), told.results);
    return "settled";
  }

  /** Nothing was written under the key: the edit is unsent again. */
  async #thaw(push) {
    delete push.body;
    delete push.key;
    this.#endsPushes = true;
    await this.#save(push);
  }

  /** Sorts what is not frozen into the groups of new rules. */
  async regroup(rules) {
    this.#rules = rules;
    for (const push of await this.pushes()) {
      if (push.body || push.settled) continue;
      const edits = [];
      for (const edit of push.edits) edits.push(regrouped(edit, rules, await this.read(edit.resource, edit.id)));
      push.edits = edits;
      await this.#save(push);
    }
  }

  async #settle(push, told) {
    const meta = await this.meta();
    for (const edit of push.edits) await this.touch(edit.resource, edit.id);
    const ids = Object.assign({}, ...told.results.map((result) => result.ids ?? {}));
    // A key that was sent with an earlier place may be answered with a record that the changes have passed already.
    const isFresh = push.stamp === JSON.stringify([meta.feed, meta.revision, meta.snapshot?.generation ?? null]);
    const conflicts = [], records = [], refused = [];
    for (const [index, edit] of push.edits.entries()) {
      const result = told.results[index];
      if (!result) continue;
      if (result.status !== undefined && result.status !== "merged") {
        refused.push([edit, result]);
        continue;
      }
      const id = result.id ?? edit.id;
      if (edit.creates && isTemporary(edit.id)) ids[edit.id] ??= id;
      records.push({ resource: edit.resource, id, record: result.record ?? null });
      conflicts.push(...this.#conflicts(edit.resource, id, result));
      await this.touch(edit.resource, id);
      if (isFresh) {
        if (edit.rows[this.#rules?.resources.get(edit.resource)?.root.name]?.kind === "delete") this.#deleted.add(nameOf(edit.resource, id));
        await this.store(edit.resource, id, result.record ?? null);
      } else {
        this.isBehind = true;
      }
    }
    await this.#remove(push);
    // Frozen bytes of later pushes may still name its temporary ids; then it is repeated in front of them.
    if (push.creates.length) await this.#save({ ...push, settled: true, edits: [], counted: 0, records: [] });
    this.#endsPushes = true;
    await this.#map(ids);
    this.events.push(...conflicts);
    if (refused.length) {
      await this.#refused(push, refused.map(([edit]) => edit), refused[0][1].problem ?? localProblem("refused", 422, "The edit was refused."), refused.map(([, result]) => result), false);
    }
    for (const number of push.tickets) {
      const ticket = await this.#tx.get("t", number);
      if (!ticket) continue;
      const places = await Promise.all(ticket.records.map(async ({ resource, id }) => nameOf(resource, await this.resolve(id))));
      const about = (place) => places.includes(nameOf(place.resource, place.id));
      const own = refused.find(([edit]) => about(edit));
      await this.#end(ticket, {
        status: own ? "refused" : "merged", conflicts: conflicts.filter(about),
        ...(own && { problem: own[1].problem }), record: (own ? own[1].record : records.find(about)?.record) ?? null,
        records: records.filter(about),
      });
    }
  }

  #conflicts(resource, id, result) {
    return (result.outcomes ?? []).filter((outcome) => outcome.conflict).map((outcome) => ({
      event: "conflict", resource, id, section: outcome.section, ...(outcome.id !== undefined && { item: outcome.id }),
      ...(outcome.group !== undefined && { group: outcome.group }), outcome: outcome.outcome,
      old: outcome.old ?? null, current: outcome.current ?? null, new: outcome.new ?? null, written: outcome.written ?? null, by: outcome.by ?? null,
      ...(outcome.oldHash && { oldHash: outcome.oldHash }), ...(outcome.parts && { parts: outcome.parts }), ...(outcome.rule && { rule: outcome.rule }),
    }));
  }

  /** Puts real ids in the place of temporary ones wherever edits name them. */
  async #map(told) {
    const ids = {};
    for (const [id, real] of Object.entries(told)) {
      if (!isTemporary(id)) continue;
      ids[id] = real;
      await this.#tx.put("i", id, { ...(await this.#tx.get("i", id)), id: real });
    }
    if (!Object.keys(ids).length) return;
    for (const push of await this.pushes()) {
      if (!push.edits.some((edit) => [...named(edit)].some((id) => id in ids))) continue;
      for (const edit of push.edits) await this.touch(edit.resource, edit.id);
      push.edits = push.edits.map((edit) => mapped(edit, ids));
      for (const edit of push.edits) await this.touch(edit.resource, edit.id);
      await this.#save(push);
    }
    for (const [number, entry] of await this.#tx.all("x")) {
      if (entry.edits.some((edit) => [...named(edit)].some((id) => id in ids))) await this.#tx.put("x", number, { ...entry, edits: entry.edits.map((edit) => mapped(edit, ids)) });
    }
  }

  // MARK: What was refused

  /** Moves a push to those that were refused, and with it what builds on rows that it would have created. */
  async refuse(push, problem, results = []) {
    const meta = await this.meta();
    const isFresh = push.stamp === JSON.stringify([meta.feed, meta.revision, meta.snapshot?.generation ?? null]);
    for (const [index, edit] of push.edits.entries()) {
      await this.touch(edit.resource, edit.id);
      const result = results[index];
      if (!result) continue;
      this.events.push(...this.#conflicts(edit.resource, result.id ?? edit.id, result));
      if (isFresh && !edit.creates && result.record) await this.store(edit.resource, edit.id, result.record);
    }
    await this.#remove(push);
    await this.#refused(push, push.edits, problem, results, true);
  }

  async #refused(push, edits, problem, results, isWhole) {
    this.#endsPushes = true;
    const meta = await this.meta();
    const told = edits.map((edit, index) => {
      const result = results[index];
      return { resource: edit.resource, id: edit.id, record: result?.record ?? null, hasRecord: result !== undefined && "record" in result, problem: result?.problem ?? problem };
    });
    const at = Math.max(0, told.findIndex((one) => one.problem.code !== "rolled-back"));
    const tickets = [];
    for (const number of push.tickets) {
      const ticket = await this.#tx.get("t", number);
      if (!ticket || !(isWhole || ticket.records.some((record) => edits.some((edit) => edit.resource === record.resource && idKey(edit.id) === idKey(record.id))))) continue;
      tickets.push(number);
    }
    const entry = { seq: await this.#next(), edits, tickets, atomic: push.atomic, key: push.key ?? null, isLocal: !results.length, problem, told, at };
    await this.#tx.put("x", entry.seq, entry);
    meta.refused += 1;
    if (isWhole) {
      for (const number of tickets) {
        const ticket = await this.#tx.get("t", number), [first] = ticket.records;
        const own = told.find((one) => first && one.resource === first.resource && idKey(one.id) === idKey(first.id)) ?? told[at];
        await this.#end(ticket, { status: "refused", problem: own.problem.code === "rolled-back" ? problem : own.problem, record: own.record ?? (await this.base(own.resource, own.id)), conflicts: this.#ownConflicts(edits, results, ticket) }, entry.seq);
      }
    }
    this.events.push({ event: "refused", entry: entry.seq, resource: told[at].resource, id: told[at].id, problem: told[at].problem.code === "rolled-back" ? problem : told[at].problem, record: told[at].record });
    const lost = edits.flatMap(created);
    for (const later of lost.length ? await this.pushes() : []) {
      const id = later.settled ? undefined : lost.find((one) => later.edits.some((edit) => named(edit).has(one)));
      if (id === undefined || !(await this.push(later.seq))) continue;
      const row = edits.find((edit) => created(edit).includes(id));
      await this.refuse(later, localProblem("depends-on-refused", 422, "A row that this edit builds on was not created.", { dependsOn: { resource: row.resource, id, entry: entry.seq } }));
    }
  }

  #ownConflicts(edits, results, ticket) {
    return edits.flatMap((edit, index) => (results[index] && ticket.records.some((record) => record.resource === edit.resource && idKey(record.id) === idKey(edit.id))
      ? this.#conflicts(edit.resource, results[index].id ?? edit.id, results[index]) : []));
  }

  /** What was refused, the oldest first. */
  async entries() {
    const found = (await this.#tx.all("x")).map(([, entry]) => entry).sort((one, other) => one.seq - other.seq);
    return Promise.all(found.map(async (entry) => {
      const told = entry.told[entry.at], edit = entry.edits.find((one) => one.resource === told.resource && idKey(one.id) === idKey(told.id)) ?? entry.edits[0];
      return {
        seq: entry.seq, isLocal: entry.isLocal, resource: edit.resource, id: edit.id, problem: told.problem.code === "rolled-back" ? entry.problem : told.problem,
        record: (await this.base(edit.resource, edit.id)) ?? (told.hasRecord ? told.record : null),
        edits: entry.edits.map((one, index) => ({ resource: one.resource, id: one.id, problem: entry.told[index]?.problem, changeset: onTheWire(one, this.#rules).changeset })),
      };
    }));
  }

  /** Puts a refused push behind the others again, what it builds on before it; returns a ticket. */
  async resend(number) {
    const entry = await this.#tx.get("x", number);
    if (!entry) return null;
    await this.#tx.delete("x", number);
    (await this.meta()).refused -= 1;
    const needs = new Set(entry.edits.flatMap((edit) => [...named(edit)]));
    for (const [other, waiting] of await this.#tx.all("x")) if (waiting.edits.flatMap(created).some((id) => needs.has(id))) await this.resend(other);
    for (const edit of entry.edits) await this.touch(edit.resource, edit.id);
    const push = { seq: await this.#next(), atomic: entry.atomic, edits: entry.edits, tickets: entry.tickets };
    for (const ticket of entry.tickets) {
      const stored = await this.#tx.get("t", ticket);
      if (stored) await this.#tx.put("t", ticket, { ...stored, push: push.seq, outcome: undefined, entry: undefined });
    }
    await this.#save(push);
    const ticket = await this.#tx.get("t", entry.tickets.at(-1));
    if (ticket) return ticket;
    const fresh = await this.#ticket(entry.edits);
    await this.#tx.put("t", fresh.seq, { ...fresh, push: push.seq });
    push.tickets.push(fresh.seq);
    await this.#save(push);
    return fresh;
  }

  async discard(number) {
    const entry = await this.#tx.get("x", number);
    if (!entry) return;
    await this.#tx.delete("x", number);
    (await this.meta()).refused -= 1;
    for (const edit of entry.edits) await this.touch(edit.resource, edit.id);
    for (const ticket of entry.tickets) {
      const stored = await this.#tx.get("t", ticket);
      if (stored) await this.#end(stored, { ...stored.outcome, status: "discarded" });
    }
  }

  // MARK: Tickets

  async #ticket(edits) {
    const seq = await this.#next();
    const records = edits.map(({ resource, id }) => ({ resource, id }));
    const ticket = { seq, name: `ticket:${seq}:${uuid()}`, records };
    await this.#tx.put("t", seq, ticket);
    for (const record of records) await this.#tx.put("k", nameOf(record.resource, record.id), seq);
    for (const record of records) await this.#tx.put("k", idKey(record.id), seq);
    await this.#prune(seq);
    return ticket;
  }

  /** Forgets old tickets once there are many; one without an outcome is kept. */
  async #prune(seq) {
    if (seq % 100) return;
    const old = (await this.#tx.all("t")).map(([, ticket]) => ticket).filter((ticket) => ticket.outcome && ticket.outcome.status !== "refused");
    old.sort((one, other) => other.seq - one.seq);
    for (const ticket of old.slice(keptTickets)) {
      await this.#tx.delete("t", ticket.seq);
      for (const { resource, id } of ticket.records) {
        for (const name of [nameOf(resource, id), idKey(id)]) if ((await this.#tx.get("k", name)) === ticket.seq) await this.#tx.delete("k", name);
      }
    }
  }

  async #end(ticket, outcome, entry) {
    const ended = { ...ticket, outcome, entry };
    await this.#tx.put("t", ticket.seq, ended);
    return ended;
  }

  /** Finds a ticket by its name, or the last one of a record by its id. */
  async ticket(name, resource) {
    if (typeof name === "string" && name.startsWith("ticket:")) {
      const ticket = await this.#tx.get("t", Number(name.split(":")[1]));
      return ticket?.name === name ? ticket : null;
    }
    const real = await this.resolve(name);
    const find = async (id) => this.#tx.get("k", resource === undefined ? idKey(id) : nameOf(resource, id));
    const number = Math.max((await find(name)) ?? 0, (await find(real)) ?? 0);
    return (number && (await this.#tx.get("t", number))) || null;
  }

  // MARK: States

  /** `clean`, `draft`, `sending` or `refused`: what becomes of a group, an item or a record. */
  async state({ resource, id, section, item, group }) {
    const real = await this.resolve(id), realItem = item === undefined ? undefined : await this.resolve(item);
    const concerns = (edit) => edit.resource === resource && idKey(edit.id) === idKey(real) && Object.values(edit.rows).some((row) => {
      if (section === undefined || (row.section === this.#rules?.resources.get(resource)?.root.name && row.kind !== "edit")) return true;
      if (row.section !== section || (realItem !== undefined && idKey(row.item) !== idKey(realItem))) return false;
      return group === undefined || row.kind !== "edit" || group in row.groups;
    });
    const pushes = (await this.pushesOf(resource, real)).filter((push) => push.edits.some(concerns));
    if (pushes.some((push) => !push.body)) return "draft";
    if (pushes.length) return "sending";
    return (await this.#tx.all("x")).some(([, entry]) => entry.edits.some(concerns)) ? "refused" : "clean";
  }

  // MARK: The end

  /** Finds out what the changes mean for unsent edits, and stores events and counters. */
  async finish() {
    const names = () => [...this.#before.keys()];
    const looked = new Set();
    // Refusing what is gone touches further records.
    for (let name; (name = names().find((one) => !looked.has(one))) !== undefined;) {
      looked.add(name);
      const { resource, id, base } = this.#before.get(name);
      const now = await this.base(resource, id);
      if (base && !now && !this.#deleted.has(name)) this.events.push({ event: "gone", resource, id, record: base });
      if (base && !now) await this.#gone(resource, id);
    }
    const overtaken = [];
    for (const before of this.#before.values()) overtaken.push(...(await this.#overtaken(before)));
    const first = this.events.findIndex((event) => event.event === "gone" || (event.event === "refused" && event.problem.code === "gone"));
    this.events.splice(first < 0 ? this.events.length : first, 0, ...overtaken);
    for (const push of this.#endsPushes ? await this.pushes() : []) {
      if (push.settled && !(await this.#isNamed(push))) await this.#tx.delete("p", push.seq);
    }
    for (const event of this.events) {
      event.seq = await this.#next();
      await this.#tx.put("e", event.seq, event);
      // An app that never listens is not to fill the store.
      if (event.seq % 100 === 0) await this.heard((await this.unheard()).slice(0, -keptEvents).map((old) => old.seq));
    }
    if (this.#meta) await this.#tx.put("meta", "meta", this.#meta);
  }

  /** Tells whether frozen bytes that have no answer name an id which a settled push created. */
  async #isNamed(settled) {
    return (await this.pushes()).some((push) => push.body && !push.settled && settled.creates.some((id) => push.body.includes(`"${id}"`)));
  }

  /** What becomes of unsent edits of a record that is gone. */
  async #gone(resource, id) {
    const root = this.#rules?.resources.get(resource)?.root.name;
    for (const push of await this.pushesOf(resource, id)) {
      const edit = editOf(push, resource, id);
      if (push.body || edit.creates) continue;
      if (edit.rows[root]?.kind === "delete") {
        edit.rows = {};
        await this.#shrink(push);
      } else {
        await this.refuse(push, localProblem("gone", 410, "The record is gone."));
      }
    }
  }

  async #overtaken({ resource, id, base, pushes }) {
    const events = [], now = await this.base(resource, id), left = await this.pushesOf(resource, id);
    if (!now && base) return events;
    for (const [index, push] of left.entries()) {
      const earlier = pushes.find((one) => one.seq === push.seq);
      if (push.body || !earlier) continue;
      const was = view(base, pushes.slice(0, pushes.indexOf(earlier)), resource, id, this.#rules);
      const is = view(now, left.slice(0, index), resource, id, this.#rules);
      for (const row of Object.values(editOf(push, resource, id).rows)) {
        if (row.kind !== "edit") continue;
        for (const [group, { old, new: value }] of Object.entries(row.groups)) {
          const before = groupIn(was, row, value), current = groupIn(is, row, value);
          if (same(before, current)) continue;
          events.push({ event: "overtaken", resource, id, section: row.section, ...(row.item !== undefined && { item: row.item }), group, old: bare(old), current: bare(current), new: bare(value) });
        }
      }
    }
    return events;
  }

  /** Events that nobody heard yet. */
  async unheard() {
    return (await this.#tx.all("e")).map(([, event]) => event).sort((one, other) => one.seq - other.seq);
  }

  async heard(numbers) {
    for (const number of numbers) await this.#tx.delete("e", number);
  }

  async get(name) {
    return this.#tx.get("meta", name);
  }

  async put(name, value) {
    await this.#tx.put("meta", name, value);
  }
}
