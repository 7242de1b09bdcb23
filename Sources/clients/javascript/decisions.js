import { editNow } from "./deciding.js";
import { editsOf } from "./editing.js";
import { conflictsOf } from "./events.js";
import { historyChanged, refuseOthers, withDependents } from "./history.js";
import { stringify } from "./json.js";
import { created, editOf, groupsOf, isChange, mapped, nameOf, named, referencesOf, rowIn, view, withoutSame } from "./layers.js";
import { refusals } from "./network.js";
import { causeOf, faultyIn, withFaulty } from "./refused.js";
import { reshapePush } from "./regroup.js";
import { pick } from "./rules.js";
import { bare } from "./sending.js";
import { settle } from "./told.js";
import { idKey, isTemporary, same } from "./values.js";
import { report } from "./watching.js";
import { namesOf, needsDecisions } from "./work.js";

/*
 * Loaded after the first answer that contains a conflict or a refusal, or concerns unsent edits, and later with each store
 * that contains such data.
 */

// MARK: Results

/** A problem that this client detected, in the form of the gateway's problems. */
export const localProblem = (code, status, detail, more) => ({ type: `urn:fieldmerge:problem:${code}`, title: detail, status, detail, code, retry: false, ...more });

/** The problem of an edit with an unknown outcome. */
export const outcomeUnknown = () => localProblem("outcome-unknown", 409, "This edit may have been merged already.");

/** Adds the conflicts of an edit to the events, and returns the refusal of parts with a deleted row, if there are any. */
export async function judged(work, push, end, result) {
  if (result.outcomes.some(({ conflict }) => conflict)) work.events.push(...(await conflictsOf(work, push, end.edit, result, end.isRefused)));
  const edit = end.isRefused ? null : missingOf(work, end.edit, result);
  return edit ? [{ ...end, edit, isRefused: true, problem: localProblem("missing", 409, "The row that this edit changes is gone.") }] : [];
}

/** The `missing` parts of an edit: the row was deleted, or this client may not read it any more. null if there are none. */
function missingOf(work, edit, { record = null, outcomes }) {
  const missing = outcomes.filter(({ outcome }) => outcome === "missing"), { root, sections } = work.rules.resources.get(edit.resource) ?? {};
  const isAt = (row) => ({ section, id }) => section === row.section && (id === undefined || idKey(id) === idKey(row.item ?? edit.id));
  // A deleted record has no rows.
  const isGone = !record && missing.some(({ section, group }) => group === undefined && section === root?.name);
  const rows = edit.rows.flatMap((row) => {
    const own = missing.filter(isAt(row)), groups = own.flatMap(({ group }) => group ?? []);
    if (own.length > groups.length || (isGone && !outcomes.some(isAt(row)))) return row;
    const names = isChange(row) ? groupsOf(row, sections?.get(row.section)).flatMap(([group, fields]) => (groups.includes(group) ? fields : [])) : [];
    return names.length ? { ...row, old: pick(row.old, names), new: pick(row.new, names) } : [];
  });
  return rows.length ? { ...edit, rows } : null;
}

/** The bytes of a push without the time of its first request, which precedes the edits. Bytes without a time do not change. */
export const withoutTime = (body) => body.replace(/^([^[]*)"sent":"[^"]*",/, "$1");

/**
 * Stores the outcome of a push that was not merged completely.
 *
 * @returns {Promise<"refused" | "retry" | "rules" | "history">}
 */
export async function unmerged(work, push, { status, code, results, problem = results.find((result) => result.problem)?.problem }) {
  if (status === "partial") await settle(work, push, results);
  else if (problem?.code === "rules-changed") {
    // Nothing was written under the key: the edit is unsent again.
    const { key, body, stamp, doubt, ...unsent } = push;
    await work.save(unsent);
    work.isTold = true;
    await reshapePush(work, unsent); // the store may already have the new rules
    return "rules";
  } else if (problem?.code === "key-reused" && withoutTime(push.body) !== push.body) {
    // An earlier request of this push could not be stored. It had no time; all other bytes are equal.
    await work.tx.put("p", push.seq, { ...push, body: withoutTime(push.body) });
    return "retry";
  } else if (problem?.code === "key-reused") await settle(work, push, [], outcomeUnknown()); // edits were added after it was sent
  else if (problem?.code === "history-changed") return historyChanged(work, push);
  else if (problem?.code === "in-progress" || (problem?.retry ?? !refusals.includes(code))) {
    if ([429, 503].includes(code)) await nothingWritten(work, [push]);
    return "retry";
  }
  else await settle(work, push, results, problem ?? localProblem("refused", code, "The push was refused."));
  return "refused";
}

export { keepEvents, tell, detailed } from "./events.js";
export { rebuild } from "./history.js";
export { revive, filtered } from "./keep.js";
export { entries, refusedEdits } from "./refused.js";

/**
 * The dependencies of the pushes that a request skips. A later push waits for a skipped push if both have a record or a
 * temporary id in common, or if a field of one refers to a record that the other creates or deletes.
 */
export function passedOver(work) {
  const known = new Set(), ends = new Set(), references = new Set();
  const own = ({ records = [], names = [] }) => [...records, ...names];
  const endsOf = ({ edits }) => edits.filter((edit) => work.isEnd(edit)).map(nameOf);
  const referred = ({ edits }) => edits.flatMap((edit) => referencesOf(edit, work.rules)).map(nameOf);
  const add = (set, values) => { for (const value of values) set.add(value); };
  const meets = (set, values) => values.some((value) => set.has(value));
  return {
    add(push) {
      add(known, own(push));
      add(ends, endsOf(push));
      add(references, referred(push));
    },
    holds: (push) => known.size > 0 && (meets(known, own(push)) || meets(references, endsOf(push)) || meets(ends, referred(push))),
  };
}

/** Stores that a request wrote nothing of its pushes. */
export async function nothingWritten(work, pushes) {
  for (const { seq, key } of pushes) {
    const push = await work.push(seq);
    if (push?.key === key && push.doubt) await work.tx.put("p", seq, { ...push, doubt: push.doubt - 1 });
  }
}

/** Refuses a push that cannot be built. */
export const notBuilt = (work, push, error) => settle(work, push, [], localProblem("not-built", 422, `This edit cannot be sent: ${error?.message}`));

/** Problems that do not concern the pushes in a request. */
export const ofTheRequest = ["strange-host", "strange-origin", "unknown-query", "duplicate-query", "malformed-request", "not-utf8", "http"];

/** Returns whether an answer refuses the pushes of its request. */
export const refusesPushes = ({ status, problem }) => [400, 403, 413].includes(status) && !ofTheRequest.includes(problem.code);

/**
 * Stores refused edits of a push, ends their tickets, and reports them. Edits that need rows which these edits create are
 * refused too. `ids`: the real ids of temporary ids.
 */
export async function refuse(work, push, ends, given, isLocal, ids) {
  const refused = ends.filter((end) => end.isRefused), fault = refused.find(({ problem: own }) => own && own.code !== "rolled-back") ?? refused[0];
  const problem = given ?? fault.problem ?? localProblem("refused", 422, "The edit was refused."), tickets = [];
  for (const ticket of await work.tickets(push)) {
    const cause = refused.find(await work.isAbout(ticket)) ?? (refused.length === ends.length ? fault : null);
    if (!cause) continue;
    tickets.push(ticket.seq);
    await work.end(ticket, { conflicts: [], ...ticket.outcome, status: "refused", problem: causeOf(cause, problem), record: cause.record });
  }
  const seq = ++work.meta.seq, { resource, id, record } = fault;
  const edits = refused.map((one) => withFaulty(work, ids ? mapped(one.edit, ids) : one.edit, { ...one, problem: causeOf(one, problem) }, ends.indexOf(one)));
  await work.tx.put("x", seq, {
    seq, atomic: push.atomic, tickets, isLocal, problem, at: refused.indexOf(fault), edits, told: refused.map((one) => ({ record: one.record, problem: one.problem })),
  });
  work.meta.refused += 1;
  work.events.push({ event: "refused", entry: seq, name: String(seq), resource, id, problem: causeOf(fault, problem), faulty: faultyIn(edits[refused.indexOf(fault)]), record });
  const lost = edits.flatMap(created);
  for (const { seq: number } of await work.naming(lost)) {
    // A refusal may have refused further edits.
    const later = await work.push(number), needed = later && !later.settled && lost.find((one) => later.edits.flatMap(named).includes(one));
    if (!needed) continue;
    await refuseDependent(work, later, { seq, edits }, needed);
  }
}

/** Refuses some edits of a push and their dependent edits. The push keeps its other edits. */
export async function refusePart(work, push, some, problem) {
  const parts = withDependents({ kept: push.edits.filter((edit) => !some.includes(edit)), unknown: some }), { edits, tickets } = push;
  await work.touch(...edits);
  const ends = await Promise.all(edits.map(async ({ resource, id }) => {
    const edit = editOf({ edits: parts.unknown }, { resource, id });
    return { resource, id, edit, isRefused: !!edit, record: await work.base({ resource, id }), problem };
  }));
  await work.save(Object.assign(push, { edits: parts.kept }));
  await refuse(work, { ...push, tickets }, ends, problem, true);
  push.tickets = (await work.tickets({ tickets })).filter(({ outcome }) => !outcome).map((ticket) => ticket.seq);
  return work.shrink(push);
}

/** Refuses a push that needs a row which a refused push creates. */
function refuseDependent(work, push, { seq, edits }, needed) {
  const { resource } = edits.find((edit) => created(edit).includes(needed)), dependsOn = { resource, id: needed, entry: seq };
  return settle(work, push, [], localProblem("depends-on-refused", 422, "A row that this edit builds on was not created.", { dependsOn }));
}

/** The refusal of new edits that need a row which a refused push creates; undefined if there is none. */
export async function dependent(work, edits) {
  const needs = edits.flatMap(named);
  for (const entry of needs.length ? await work.values("x") : []) {
    const needed = entry.edits.flatMap(created).find((id) => needs.includes(id));
    if (needed) return (push) => refuseDependent(work, push, entry, needed);
  }
}

/*
 * The database fills in a field that a creation omits. In edits made before the answer to the creation, the `old` of this
 * field is null, which means “unknown”. Such an edit is sent after the answer, which contains the value.
 */

/** Collects unknown values, edit by edit in order: the fields of new rows that no edit has set. */
function unnamed(sections = new Map()) {
  const found = new Map(), keyOf = ({ section, item }) => `${section}\n${idKey(item)}`;
  return {
    add({ rows }) {
      for (const row of rows) {
        const key = keyOf(row), names = Object.keys(row.new ?? {});
        if (!row.old) found.set(key, new Set([...(sections.get(row.section)?.fields.keys() ?? [])].filter((name) => !names.includes(name))));
        else for (const name of names) if (row.new[name] !== null) found.get(key)?.delete(name);
      }
    },
    /** The fields of a row that no edit has set. */
    left: (row) => [...found.get(keyOf(row)) ?? []],
    /** The fields of a row with an unknown `old`. */
    of: (row) => Object.keys(row.old ?? {}).filter((name) => row.old[name] === null && found.get(keyOf(row))?.has(name)),
  };
}

const sectionsOf = (work, { resource }) => work.rules.resources.get(resource)?.sections;

/** Returns whether a push has an `old` that depends on the answers to earlier pushes. */
export const isUnknown = (work, earlier, push) => push.edits.some((edit) => {
  const unknown = unnamed(sectionsOf(work, edit));
  for (const other of earlier) unknown.add(editOf(other, edit) ?? { rows: [] });
  return edit.rows.some((row) => unknown.of(row).length);
});

/** Sets the values that the database has filled in, in unsent edits of a record, from the answer to an edit that created its rows. */
export async function fill(work, edit, { resource, id, record }) {
  const place = { resource, id }, sections = sectionsOf(work, edit), unknown = unnamed(sections), base = await work.base(place);
  if (edit.rows.every((row) => row.old)) return;
  unknown.add(edit);
  for (const push of await work.pushesOf(place)) {
    const later = editOf(push, place), names = later.rows.map(unknown.of);
    unknown.add(later);
    if (push.body) continue;
    later.rows = later.rows.flatMap((row, index) => {
      const told = rowIn(record, row), now = told && { ...rowIn(base, row), ...told };
      for (const name of now ? names[index] : []) {
        // A field that an answer of other rules lacks is unknown.
        if (!Object.hasOwn(now, name)) {
          delete row.old[name];
          if (row.new?.[name] === null) delete row.new[name];
          continue;
        }
        // A field of a group without a value keeps the database's value.
        if (row.new?.[name] === null) row.new[name] = now[name];
        row.old[name] = now[name];
      }
      return now ? withoutSame(row, sections?.get(row.section)) : [row];
    });
    await work.shrink(push);
  }
  // Edits of a new record have the record in its answer as their base.
  if (edit.creates && (await work.base(place))) work.before.set(nameOf(place), { ...place, base: record, pushes: await work.pushesOf(place) });
}

/** Applies the changes to unsent edits. */
export async function rebase(work) {
  await refuseOthers(work);
  // The refusal of edits of deleted rows adds further records to this map. The loop visits them too.
  for (const [name, { resource, id, base }] of work.before) {
    if (!base || (await work.base({ resource, id }))) continue;
    if (!work.deleted.has(name)) work.events.push({ event: "gone", resource, id, record: base });
    await gone(work, { resource, id });
  }
  const overtaken = [];
  for (const before of work.before.values()) overtaken.push(...(await overtakenBy(work, before)));
  const first = work.events.findIndex(({ event, problem }) => event === "gone" || (event === "refused" && problem.code === "gone"));
  work.events.splice(first < 0 ? work.events.length : first, 0, ...overtaken);
}

/** Decides on unsent edits of a deleted record. */
async function gone(work, place) {
  for (const { seq } of await work.pushesOf(place)) {
    const push = await work.push(seq), edit = push && editOf(push, place);
    if (!edit || push.body || edit.creates) continue;
    if (work.isDeletion(edit)) {
      edit.rows = [];
      await work.shrink(push);
    } else await settle(work, push, [], localProblem("gone", 410, "The record is gone."));
  }
}

/** The events of a record: groups of unsent edits with a new base. */
export async function overtakenBy(work, { base, pushes, ...place }) {
  const events = [], now = await work.base(place), left = await work.pushesOf(place), { rules } = work;
  for (const [index, push] of !now && base ? [] : left.entries()) {
    const earlier = pushes.findIndex((one) => one.seq === push.seq);
    if (push.body || earlier < 0) continue;
    const was = view(base, pushes.slice(0, earlier), place, rules), is = view(now, left.slice(0, index), place, rules);
    for (const row of editOf(push, place).rows) {
      const { section, item, old, new: value } = row, known = rules.resources.get(place.resource)?.sections.get(section);
      for (const [group, names] of old && value ? groupsOf(row, known) : []) {
        const found = rowIn(is, row), current = bare(found, names);
        if (found && !names.every((name) => Object.hasOwn(found, name))) continue; // unknown values are not compared
        // A created row now has another id, and values that the database filled in.
        if (same(bare(rowIn(was, row) ?? old, names), current) || same(bare(old, names), current)) continue;
        events.push({
          event: "overtaken", push: push.seq, ...place, section, ...(item !== undefined && { item }), group,
          old: bare(old, names), current, new: bare(value, names), by: work.by.get(nameOf(place)) ?? null,
        });
      }
    }
  }
  return events;
}

// MARK: Ids

/**
 * Replaces temporary ids in edits by real ids. For each new row it also stores the values that the database has filled in
 * (`f`), for forms that were opened before.
 */
export async function mapIds(work, ids, ends) {
  for (const [id, real] of Object.entries(ids)) if (isTemporary(id)) await work.tx.put("i", id, real);
  for (const { edit, isRefused, record } of ends) {
    const later = isRefused ? [] : (await work.pushesOf(edit)).map((push) => editOf(push, edit)), unknown = unnamed(sectionsOf(work, edit));
    for (const one of [edit, ...later]) unknown.add(one);
    // A row that is created again gets another answer.
    const isLast = (row) => !later.some(({ rows }) => rows.some((one) => !one.old && one.section === row.section && idKey(one.item) === idKey(row.item)));
    for (const row of isRefused ? [] : edit.rows) {
      const id = row.item ?? edit.id, told = !row.old && isTemporary(id) && isLast(row) && rowIn(record, mapped(row, ids));
      if (told) await work.tx.put("f", id, { ...await work.tx.get("f", id), [row.section]: pick(told, unknown.left(row)) });
    }
  }
  const isNamed = ({ edits }) => edits.flatMap(named).some((id) => id in ids), real = async ({ edits }) => {
    const after = edits.map((edit) => mapped(edit, ids));
    await work.touch(...edits, ...after);
    return after;
  };
  for (const push of await work.naming(Object.keys(ids))) if (isNamed(push)) await work.save({ ...push, edits: await real(push) });
  for (const entry of work.meta.refused ? await work.values("x") : []) if (isNamed(entry)) await work.tx.put("x", entry.seq, { ...entry, edits: await real(entry) });
  for (const entry of work.meta.listed ? await work.values("c") : []) if (named(entry).some((id) => id in ids)) await work.tx.put("c", entry.seq, mapped(entry, ids));
}

// MARK: Limits

/** The maximum numbers of stored tickets with an outcome, and of undelivered events. */
const kept = 1000;

/** Deletes old tickets if there are many, but no ticket without an outcome. */
export async function prune(work) {
  const old = (await work.values("t")).filter(({ outcome }) => outcome && outcome.status !== "refused");
  for (const ticket of old.slice(0, -kept)) {
    await work.tx.delete("t", ticket.seq);
    for (const name of namesOf(ticket)) if ((await work.tx.get("k", name)) === ticket.seq) await work.tx.delete("k", name);
  }
}

// MARK: The app's own edits

/** Calls the app's function for a stored change of the server. Its edits are part of the same transaction. */
export async function see(work, change) {
  const edit = (resource, id, body) => editNow(editsOf(), work, resource, id, body);
  const key = stringify([change.resource, change.id, change.record]);
  if (work.skipped.has(key)) return;
  try {
    await work.seeing({ ...change, edit: (body) => edit(change.resource, change.id, body) }, { edit });
  } catch (error) {
    // An error of the app must not block the server's changes: all are stored again, without the edits of this call.
    report(error);
    work.skipped.add(key);
    throw needsDecisions;
  }
}
