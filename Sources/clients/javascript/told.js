import { bare, created, editOf, groupIn, isSame, mapped, named, nameOf, view } from "./layers.js";
import { copy, isTemporary, same } from "./values.js";
import { causeOf } from "./work.js";

const isEmpty = (object) => !Object.keys(object).length;

/** A problem of the shape that the gateway's have, of something that this client found out by itself. */
const localProblem = (code, status, detail, more) => ({ type: `urn:fieldmerge:problem:${code}`, title: detail, status, detail, code, retry: false, ...more });

/** What the server tells, and what it means for edits: stored in a local transaction, of which it is a part. */
export class Told {
  #work;
  #deleted = new Set();
  /** Who changed each record, where the change tells it. */
  #by = new Map();
  /** The answer told of a state that the changes have passed, so what stands comes with the next ones. */
  isBehind = false;

  /** @param {import("./work.js").Work} work */
  constructor(work) {
    this.#work = work;
    work.ending = () => this.#rebase();
  }

  /** Stores what the server says of a record; null where it is gone. */
  async record({ resource, id, record, by = null }) {
    const work = this.#work, before = await work.base(resource, id), isOther = !same(before, record);
    if (isOther) {
      await work.touch({ resource, id });
      this.#by.set(nameOf(resource, id), by);
    }
    await work.putBase(resource, id, record);
    if (isOther && work.beforeStore) await work.beforeStore({ resource, id, before, record: copy(record), by });
  }

  /** Stores what the server says of many records: at once, unless the app wants to see each. */
  async records(told) {
    if (!this.#work.beforeStore) await Promise.all(told.map((one) => this.record(one)));
    else for (const one of told) await this.record(one);
  }

  /** Drops records that the server did not tell. */
  async drop(resource, bases) {
    for (const { record: { id } } of bases) {
      await this.#work.touch({ resource, id });
      await this.#work.putBase(resource, id, null);
    }
  }

  /** Stores a page of changes where it goes on from the place that is stored, and tells whether it did. */
  async page({ changes, feed, revision }, place, now) {
    const meta = await this.#work.meta();
    if (!Array.isArray(changes) || place.since === undefined || meta.feed !== place.feed || meta.revision !== place.since) return false;
    await this.records(changes);
    Object.assign(meta, { feed, revision, lastSynced: now });
    return true;
  }

  /**
   * Stores what became of a push.
   *
   * @returns {Promise<"merged" | "refused" | "retry" | "rules" | "known">}
   */
  async answered({ seq, key }, { status, code, results, problem = results.find((result) => result.problem)?.problem }) {
    const work = this.#work;
    const push = await work.push(seq);
    if (!push || push.settled || push.key !== key) return "known";
    if (status === "merged" || status === "partial") await this.#settle(push, results);
    else if (problem?.code === "rules-changed") {
      // Nothing was written under the key: the edit is unsent again.
      delete push.body;
      delete push.key;
      work.endsPushes = true;
      await work.save(push);
      return "rules";
    } else if (problem?.code === "in-progress" || (problem?.retry ?? ![400, 403, 404, 409, 413, 415, 422].includes(code))) return "retry";
    else await this.#settle(push, results, problem ?? localProblem("refused", code, "The push was refused."));
    return status === "merged" ? status : "refused";
  }

  /** Ends a push: each of its edits was merged or refused; with a problem of the push itself, all were refused. */
  async #settle(push, results, problem) {
    const work = this.#work, ends = await this.#ends(push, results, problem), ids = Object.assign({}, ...results.map((result) => result.ids));
    for (const { edit, isRefused, id } of ends) if (edit.creates && !isRefused && isTemporary(edit.id)) ids[edit.id] ??= id;
    await work.remove(push);
    // Frozen bytes of later pushes may still name its temporary ids; then it is repeated in front of them.
    if (!problem && push.creates.length) await work.save({ ...push, settled: true, edits: [], counted: 0, records: [] });
    work.endsPushes = true;
    await this.#map(ids);
    const conflicts = ends.flatMap((end) => end.conflicts), refused = ends.filter((end) => end.isRefused), tickets = [];
    const fault = refused.find((end) => end.problem?.code !== "rolled-back") ?? refused[0];
    problem ??= fault && (fault.problem ?? localProblem("refused", 422, "The edit was refused."));
    for (const ticket of await work.tickets(push)) {
      const places = await Promise.all(ticket.records.map(async ({ resource, id }) => ({ resource, id: await work.resolve(id) })));
      const about = (place) => places.some((one) => isSame(one, place)), own = ends.filter(about);
      const cause = own.find((end) => end.isRefused) ?? (refused.length === ends.length ? fault : undefined);
      if (cause) tickets.push(ticket.seq);
      await work.end(ticket, {
        status: cause ? "refused" : "merged", problem: cause && causeOf(cause, problem), conflicts: conflicts.filter(about),
        record: (cause ?? own[0])?.record ?? null,
        records: own.filter((end) => !end.isRefused).map(({ resource, id, record }) => ({ resource, id, record })),
      });
    }
    work.events.push(...conflicts);
    if (fault) await this.#refused({ tickets, atomic: push.atomic, isLocal: !results.length, problem, at: refused.indexOf(fault) }, refused);
  }

  /** What became of each edit of a push; the records that their results tell are stored. */
  async #ends(push, results, problem) {
    const work = this.#work, ends = [];
    // A key that was sent with an earlier place may be answered with a record that the changes have passed already.
    const isFresh = push.stamp === (await work.stamp());
    await work.touch(...push.edits);
    for (const [index, edit] of push.edits.entries()) {
      const result = results[index], { resource } = edit;
      if (!result && !problem) continue;
      const isRefused = !!problem || (result.status ?? "merged") !== "merged", id = isRefused ? edit.id : (result.id ?? edit.id);
      let record = result?.record ?? null;
      await work.touch({ resource, id });
      if (!isFresh) this.isBehind ||= !isRefused;
      else if (!isRefused || (record && !edit.creates)) {
        if (edit.rows[work.rootOf(resource)]?.kind === "delete") this.#deleted.add(nameOf(resource, id));
        await this.record({ resource, id, record });
      }
      if (isRefused) record ??= await work.base(resource, id);
      ends.push({ resource, id, edit, isRefused, record, problem: result?.problem ?? problem, conflicts: conflictsOf(edit, result) });
    }
    return ends;
  }

  /** Puts real ids in the place of temporary ones wherever edits name them. */
  async #map(told) {
    const work = this.#work, ids = Object.fromEntries(Object.entries(told).filter(([id]) => isTemporary(id)));
    for (const [id, real] of Object.entries(ids)) await work.tx.put("i", id, { ...(await work.tx.get("i", id)), id: real });
    const concerns = ({ edits }) => edits.flatMap(named).some((id) => id in ids);
    const map = (edits) => edits.map((edit) => mapped(edit, ids));
    if (isEmpty(ids)) return;
    for (const push of (await work.pushes()).filter(concerns)) {
      await work.touch(...push.edits);
      push.edits = map(push.edits);
      await work.touch(...push.edits);
      await work.save(push);
    }
    for (const entry of (await work.values("x")).filter(concerns)) await work.tx.put("x", entry.seq, { ...entry, edits: map(entry.edits) });
  }

  /** Keeps edits that were refused and tells of them; what builds on rows that they would have created is refused as well. */
  async #refused(entry, refused) {
    const work = this.#work, seq = await work.next(), edits = refused.map((one) => one.edit), { resource, id, record, problem } = refused[entry.at];
    await work.tx.put("x", seq, { ...entry, seq, edits, told: refused.map((one) => ({ record: one.record, problem: one.problem })) });
    (await work.meta()).refused += 1;
    work.events.push({ event: "refused", entry: seq, resource, id, problem: causeOf({ problem }, entry.problem), record });
    const lost = edits.flatMap(created);
    for (const later of lost.length ? await work.pushes() : []) {
      const needed = lost.find((one) => later.edits.flatMap(named).includes(one));
      if (later.settled || !needed || !(await work.push(later.seq))) continue;
      const creation = edits.find((edit) => created(edit).includes(needed));
      const dependsOn = { resource: creation.resource, id: needed, entry: seq };
      await this.#settle(later, [], localProblem("depends-on-refused", 422, "A row that this edit builds on was not created.", { dependsOn }));
    }
  }

  /** Finds out what the changes mean for unsent edits. */
  async #rebase() {
    const work = this.#work;
    // Refusing what is gone touches further records; a map that grows is walked to its end.
    for (const [name, { resource, id, base }] of work.before) {
      if (!base || (await work.base(resource, id))) continue;
      if (!this.#deleted.has(name)) work.events.push({ event: "gone", resource, id, record: base });
      await this.#gone(resource, id);
    }
    const overtaken = [];
    for (const before of work.before.values()) overtaken.push(...(await this.#overtaken(before)));
    const first = work.events.findIndex(({ event, problem }) => event === "gone" || (event === "refused" && problem.code === "gone"));
    work.events.splice(first < 0 ? work.events.length : first, 0, ...overtaken);
  }

  /** What becomes of unsent edits of a record that is gone. */
  async #gone(resource, id) {
    const work = this.#work;
    for (const push of await work.pushesOf(resource, id)) {
      const edit = editOf(push, resource, id);
      if (push.body || edit.creates) continue;
      if (edit.rows[work.rootOf(resource)]?.kind === "delete") {
        edit.rows = {};
        await work.shrink(push);
      } else await this.#settle(push, [], localProblem("gone", 410, "The record is gone."));
    }
  }

  /** The events of a record: groups of unsent edits that stand on another value than before. */
  async #overtaken({ resource, id, base, pushes }) {
    const work = this.#work, events = [], now = await work.base(resource, id), left = await work.pushesOf(resource, id);
    for (const [index, push] of !now && base ? [] : left.entries()) {
      const earlier = pushes.findIndex((one) => one.seq === push.seq);
      if (push.body || earlier < 0) continue;
      const was = view(base, pushes.slice(0, earlier), resource, id, work.rules), is = view(now, left.slice(0, index), resource, id, work.rules);
      for (const row of Object.values(editOf(push, resource, id).rows)) {
        for (const [group, { old, new: value }] of Object.entries(row.groups ?? {})) {
          const current = groupIn(is, row, value);
          if (same(groupIn(was, row, value), current)) continue;
          const { section, item } = row, by = this.#by.get(nameOf(resource, id)) ?? null;
          events.push({
            event: "overtaken", push: push.seq, resource, id, section, ...(item !== undefined && { item }), group,
            old: bare(old), current: bare(current), new: bare(value), by,
          });
        }
      }
    }
    return events;
  }
}

/** The conflicts of an edit, by its result. */
function conflictsOf({ resource, id }, result) {
  return (result?.outcomes ?? []).filter((outcome) => outcome.conflict).map(({ id: item, conflict: _, ...told }) => ({
    event: "conflict", resource, id: result.id ?? id, ...(item !== undefined && { item }), old: null, current: null, new: null, written: null, by: null, ...told,
  }));
}
