import { editsOf, isPromise, missing, rulesOf } from "./editing.js";
import { FieldMergeError } from "./errors.js";
import { historyChanged, refuseOthers, withDependents } from "./history.js";
import { bare, created, editOf, groupsOf, isChange, mapped, named, nameOf, onTheWire, rowIn, view, withoutSame } from "./layers.js";
import { StoreEvent } from "./store.js";
import { refusals } from "./network.js";
import { reshapePush } from "./regroup.js";
import { blankRecord, pick } from "./rules.js";
import { nothingWritten } from "./sending.js";
import { settle } from "./told.js";
import { idKey, isTemporary, same, temporaryId } from "./values.js";
import { report } from "./watching.js";
import { namesOf, needsDecisions } from "./work.js";

/*
 * Loaded behind the first answer that holds a conflict or a refusal, or meets edits that were not sent yet, and from then
 * on wherever a store holds any: what comes of them, and what people decide.
 */

// MARK: What the server's words mean

/** A problem of the shape that the gateway's have, of something that this client found out by itself. */
export const localProblem = (code, status, detail, more) => ({ type: `urn:fieldmerge:problem:${code}`, title: detail, status, detail, code, retry: false, ...more });

/** The conflicts of an edit, by its result. Of a refused one nothing was written. */
export function conflictsOf({ resource, id }, result, isRefused) {
  return result.outcomes.filter((outcome) => outcome.conflict).map(({ id: item, conflict: _, ...told }) => ({
    event: "conflict", resource, id: result.id ?? id, ...(item !== undefined && { item }), old: null, current: null, new: null, written: null, by: null, ...told, ...(isRefused && { outcome: "refused" }),
  }));
}

/** What of an edit ended as `missing`: the row is gone, or this client may see it no longer. null where nothing did. */
export function missingOf(work, edit, { record = null, outcomes }) {
  const missing = outcomes.filter(({ outcome }) => outcome === "missing"), { root, sections } = work.rules.resources.get(edit.resource) ?? {};
  const isAt = (row) => ({ section, id }) => section === row.section && (id === undefined || idKey(id) === idKey(row.item ?? edit.id));
  // With the record all of its rows are gone.
  const isGone = !record && missing.some(({ section, group }) => group === undefined && section === root?.name);
  const rows = edit.rows.flatMap((row) => {
    const own = missing.filter(isAt(row)), groups = own.flatMap(({ group }) => group ?? []);
    if (own.length > groups.length || (isGone && !outcomes.some(isAt(row)))) return row;
    const names = isChange(row) ? groupsOf(row, sections?.get(row.section)).flatMap(([group, fields]) => (groups.includes(group) ? fields : [])) : [];
    return names.length ? { ...row, old: pick(row.old, names), new: pick(row.new, names) } : [];
  });
  return rows.length ? { ...edit, rows } : null;
}

/** The problem of an edit; that of its push where it was only rolled back with it. */
const causeOf = ({ problem: own }, problem) => (own && own.code !== "rolled-back" ? own : problem);

/**
 * Stores what became of a push that was not merged as a whole.
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
    await reshapePush(work, unsent); // the new rules may be known already
    return "rules";
  } else if (problem?.code === "history-changed") return historyChanged(work, push);
  else if (problem?.code === "in-progress" || (problem?.retry ?? !refusals.includes(code))) {
    if ([429, 503].includes(code)) await nothingWritten(work, [push]);
    return "retry";
  }
  else await settle(work, push, results, problem ?? localProblem("refused", code, "The push was refused."));
  return "refused";
}

export { rebuild } from "./history.js";

/** Problems that say nothing of the pushes in a request. */
const ofTheRequest = ["strange-host", "strange-origin", "unknown-query", "duplicate-query", "malformed-request", "not-utf8", "http"];

/** Tells whether an answer to a request refuses what was pushed in it. */
export const refusesPushes = ({ status, problem }) => [400, 403, 413].includes(status) && !ofTheRequest.includes(problem.code);

/**
 * Keeps edits of a push that were refused, ends their tickets, and tells of them; what builds on rows that they would have
 * created is refused as well.
 */
export async function refuse(work, push, ends, given, isLocal) {
  const refused = ends.filter((end) => end.isRefused), fault = refused.find(({ problem: own }) => own && own.code !== "rolled-back") ?? refused[0];
  const problem = given ?? fault.problem ?? localProblem("refused", 422, "The edit was refused."), tickets = [];
  for (const ticket of await work.tickets(push)) {
    const cause = refused.find(await work.isAbout(ticket)) ?? (refused.length === ends.length ? fault : null);
    if (!cause) continue;
    tickets.push(ticket.seq);
    await work.end(ticket, { conflicts: [], ...ticket.outcome, status: "refused", problem: causeOf(cause, problem), record: cause.record });
  }
  const seq = ++work.meta.seq, edits = refused.map((one) => one.edit), { resource, id, record } = fault;
  await work.tx.put("x", seq, {
    seq, atomic: push.atomic, tickets, isLocal, problem, at: refused.indexOf(fault), edits, told: refused.map((one) => ({ record: one.record, problem: one.problem })),
  });
  work.meta.refused += 1;
  work.events.push({ event: "refused", entry: seq, resource, id, problem: causeOf(fault, problem), record });
  const lost = edits.flatMap(created);
  for (const { seq: number } of lost.length ? await work.pushes() : []) {
    // Refusing one may have refused others.
    const later = await work.push(number), needed = later && !later.settled && lost.find((one) => later.edits.flatMap(named).includes(one));
    if (!needed) continue;
    await refuseDependent(work, later, { seq, edits }, needed);
  }
}

/** Refuses some edits of a push, and those of it that build on them; the others stay in it. */
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

/** Refuses a push that builds on a row which a refused one would have created. */
function refuseDependent(work, push, { seq, edits }, needed) {
  const { resource } = edits.find((edit) => created(edit).includes(needed)), dependsOn = { resource, id: needed, entry: seq };
  return settle(work, push, [], localProblem("depends-on-refused", 422, "A row that this edit builds on was not created.", { dependsOn }));
}

/** What refuses a push of new edits, where they build on a row which a refused one would have created; undefined where none does. */
export async function dependent(work, edits) {
  const needs = edits.flatMap(named);
  for (const entry of needs.length ? await work.values("x") : []) {
    const needed = entry.edits.flatMap(created).find((id) => needs.includes(id));
    if (needed) return (push) => refuseDependent(work, push, entry, needed);
  }
}

/*
 * A field that a creation does not name is the database's to fill in: `old` is null for it in edits that were made before the
 * creation was answered, which stands for «not known yet». Such an edit is sent only behind that answer, which tells it.
 */

/** Gathers, edit by edit in their order, what nobody knows: the fields of new rows that no edit has given a value. */
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
    /** The fields of a row whose `old` is not known. */
    of: (row) => Object.keys(row.old ?? {}).filter((name) => row.old[name] === null && found.get(keyOf(row))?.has(name)),
  };
}

const sectionsOf = (work, { resource }) => work.rules.resources.get(resource)?.sections;

/** Tells whether a push has an `old` that only the answers to earlier ones tell. */
export const isUnknown = (work, earlier, push) => push.edits.some((edit) => {
  const unknown = unnamed(sectionsOf(work, edit));
  for (const other of earlier) unknown.add(editOf(other, edit) ?? { rows: [] });
  return edit.rows.some((row) => unknown.of(row).length);
});

/** Tells unsent edits of a record what the database has filled in, by the answer to an edit that made rows of it. */
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
        // A field of a group that was given no value keeps what the database gave it.
        if (row.new?.[name] === null) row.new[name] = now[name];
        row.old[name] = now[name];
      }
      return now ? withoutSame(row, sections?.get(row.section)) : [row];
    });
    await work.shrink(push);
  }
  // Whoever built on a new record has seen it as its answer tells it.
  if (edit.creates && (await work.base(place))) work.before.set(nameOf(place), { ...place, base: record, pushes: await work.pushesOf(place) });
}

/** Finds out what the changes mean for unsent edits. */
export async function rebase(work) {
  await refuseOthers(work);
  // Refusing what is gone touches further records; a map that grows is walked to its end.
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

/** What becomes of unsent edits of a record that is gone. */
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

/** The events of a record: groups of unsent edits that stand on another value than before. */
async function overtakenBy(work, { base, pushes, ...place }) {
  const events = [], now = await work.base(place), left = await work.pushesOf(place), { rules } = work;
  for (const [index, push] of !now && base ? [] : left.entries()) {
    const earlier = pushes.findIndex((one) => one.seq === push.seq);
    if (push.body || earlier < 0) continue;
    const was = view(base, pushes.slice(0, earlier), place, rules), is = view(now, left.slice(0, index), place, rules);
    for (const row of editOf(push, place).rows) {
      const { section, item, old, new: value } = row, known = rules.resources.get(place.resource)?.sections.get(section);
      for (const [group, names] of old && value ? groupsOf(row, known) : []) {
        const found = rowIn(is, row), current = bare(found, names);
        if (found && !names.every((name) => Object.hasOwn(found, name))) continue; // what is unknown is not compared
        // A row that was new has another id now, and what the database filled in.
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

/** Puts real ids in the place of temporary ones wherever edits name them. */
export async function mapIds(work, ids) {
  for (const [id, real] of Object.entries(ids)) if (isTemporary(id)) await work.tx.put("i", id, real);
  for (const table of ["p", "x"]) {
    for (const one of await work.values(table)) {
      if (!one.edits.flatMap(named).some((id) => id in ids)) continue;
      const edits = one.edits.map((edit) => mapped(edit, ids));
      await work.touch(...one.edits, ...edits);
      if (table === "p") await work.save({ ...one, edits });
      else await work.tx.put(table, one.seq, { ...one, edits });
    }
  }
}

// MARK: What was refused

/** What was refused, the oldest first. */
export async function entries(work) {
  return Promise.all((await work.values("x")).map(async ({ seq, edits, told, at, problem }) => {
    const { resource, id } = edits[at];
    return {
      seq, resource, id, problem: causeOf(told[at], problem), record: (await work.base(edits[at])) ?? told[at].record ?? null,
      edits: edits.map((edit, index) => ({ problem: told[index].problem, ...(edit.wire ?? onTheWire(edit, work.rules)) })),
    };
  }));
}

/** Takes out what was refused. */
async function take(work, number) {
  const entry = await work.tx.get("x", number);
  if (!entry) return null;
  await work.tx.delete("x", number);
  work.meta.refused -= 1;
  await work.touch(...entry.edits);
  return entry;
}

/** Puts a refused push behind the others again, what it builds on before it; returns a ticket. */
async function resend(work, number) {
  const entry = await take(work, number);
  if (!entry) return null;
  const edits = entry.edits.map(({ wire: _, ...edit }) => edit), { atomic } = entry, needs = edits.flatMap(named), tickets = await work.tickets(entry);
  for (const other of await work.values("x")) if (other.edits.flatMap(created).some((id) => needs.includes(id))) await resend(work, other.seq);
  for (const ticket of tickets) await work.end(ticket);
  if (!tickets.length) tickets.push(await work.ticketFor(edits));
  const push = { seq: ++work.meta.seq, atomic, edits, tickets: tickets.map((ticket) => ticket.seq) };
  await work.save(push);
  await reshapePush(work, push);
  for (const other of await work.values("x")) if (other.problem.dependsOn?.entry === number) await resend(work, other.seq);
  return tickets.at(-1);
}

async function discard(work, number) {
  const entry = await take(work, number);
  for (const ticket of entry ? await work.tickets(entry) : []) await work.end(ticket, { ...ticket.outcome, status: "discarded" });
}

// MARK: What is kept

/** How many tickets with an outcome, and events that nobody hears, are kept. */
const kept = 1000;

/** Forgets old tickets once there are many; one without an outcome is kept. */
export async function prune(work) {
  const old = (await work.values("t")).filter(({ outcome }) => outcome && outcome.status !== "refused");
  for (const ticket of old.slice(0, -kept)) {
    await work.tx.delete("t", ticket.seq);
    for (const name of namesOf(ticket)) if ((await work.tx.get("k", name)) === ticket.seq) await work.tx.delete("k", name);
  }
}

/** Keeps events until somebody hears them. */
export async function keepEvents(work) {
  for (const event of work.events) {
    event.seq = ++work.meta.seq;
    await work.tx.put("e", event.seq, event);
    // An app that never listens is not to fill the store.
    if (event.seq % 100 === 0) for (const { seq } of (await work.values("e")).slice(0, -kept)) await work.tx.delete("e", seq);
  }
}

// MARK: What people decide

/** Makes an edit inside a transaction that runs, and returns its ticket. */
async function editNow(edits, work, resource, id, change) {
  if (isPromise(change((await edits.open(work, resource, id)).draft))) throw new FieldMergeError("not-synchronous", "This function may not wait for anything.");
  return edits.append(work);
}

/** Has the app see a change of the server's as it is stored; its edits are made in the same transaction. */
export async function see(work, change) {
  const edit = (resource, id, body) => editNow(editsOf(), work, resource, id, body);
  const key = JSON.stringify([change.resource, change.id, change.record]);
  if (work.skipped.has(key)) return;
  try {
    await work.seeing({ ...change, edit: (body) => edit(change.resource, change.id, body) }, { edit });
  } catch (error) {
    // An error of the app's must not hold up what the server says: all is stored again, without the edits of this one.
    report(error);
    work.skipped.add(key);
    throw needsDecisions;
  }
}

/** Changes the unsent edits of a group, from what stands below each; false where they were sent. */
async function decide(work, { resource, id, section, item, group, push: seq }, change) {
  const { rules } = work, place = { resource, id: await work.resolve(id) }, base = await work.base(place), pushes = await work.pushesOf(place);
  const key = idKey(await work.resolve(item)), known = rules.resource(resource).sections.get(section);
  if (!pushes.some((push) => push.seq === seq && !push.body)) return false;
  for (const [index, push] of pushes.entries()) {
    const edit = editOf(push, place), row = edit.rows.find((one) => one.section === section && idKey(one.item) === key && one.old && one.new);
    const [, names] = (row && groupsOf(row, known).find(([name]) => name === group)) ?? [];
    if (push.body || !names) continue;
    await work.touch(place);
    change(row, names, rowIn(view(base, pushes.slice(0, index), place, rules), row));
    edit.rows = edit.rows.flatMap((one) => (one === row ? withoutSame(row, known) : one));
    await work.shrink(push);
  }
  return true;
}

/** Takes the base as seen by whoever edited a group: its `old` becomes what stands now. */
function keep(row, names, now) { if (now) Object.assign(row.old, pick(now, names)); }

/** Drops the edit of a group. */
function drop(row, names) { for (const name of names) row.new[name] = row.old[name]; }

/** A sum without what an edit from `old` to `own` has added to it; numbers in texts are counted exactly. */
function without(sum, old, own) {
  const values = [sum, old, own].map((value) => value ?? 0);
  if (values.every(Number.isInteger) || values.some((value) => !/^-?\d+(\.\d+)?$/.test(value))) return values[0] - (values[2] - values[1]);
  const places = Math.max(...values.map((value) => (String(value).split(".")[1] ?? "").length));
  const [all, before, after] = values.map((value) => {
    const [whole, fraction = ""] = String(value).split(".");
    return BigInt(whole + fraction.padEnd(places, "0"));
  });
  const left = all - (after - before), digits = String(left < 0n ? -left : left).padStart(places + 1, "0"), at = digits.length - places;
  const text = `${left < 0n ? "-" : ""}${digits.slice(0, at)}${places ? "." : ""}${digits.slice(at)}`;
  return typeof sum === "number" ? Number(text) : text;
}

/** Makes a value of a conflict an edit, from what stands now; what was added to a sum is taken back from it instead. */
async function assign(edits, work, { resource, id, section, item, group, old, new: own }, value, isTakenBack) {
  const rules = rulesOf(work, resource), { root, sections } = rules, { isList, groups, fields } = sections.get(section), key = idKey(await work.resolve(item));
  if (group === undefined && section === root.name && !(value && (await work.read({ resource, id })))) {
    if (value) {
      const again = rules.root.generated ? temporaryId() : id, record = blankRecord(rules, again);
      Object.assign(record[root.name], old, value);
      edits.add({ resource, id: again, rules }, record);
    } else (await edits.open(work, resource, id)).isGone = true;
    return edits.append(work);
  }
  return editNow(edits, work, resource, id, (record) => {
    const list = record[section], index = isList ? list.findIndex((one) => idKey(one.id) === key) : -1, row = isList ? list[index] : list;
    if (group !== undefined) {
      if (!row) throw missing(resource, id);
      const names = groups.get(group), rowOf = (told) => (names.length === 1 ? { [names[0]]: told } : told), were = rowOf(old), mine = rowOf(own);
      Object.assign(row, isTakenBack && fields.get(names[0])?.merge === "add" ? Object.fromEntries(names.map((name) => [name, without(row[name], were[name], mine[name])])) : rowOf(value));
    } else if (row && value) Object.assign(row, value);
    else if (!isList) record[section] = value;
    else if (value) list.push({ ...old, ...value });
    else list.splice(index, row ? 1 : 0);
  });
}

// MARK: What the app is told

/**
 * What a store gives to what is here: `queued` puts an edit into its queue, `edits` makes room for one, `listened` are the
 * types of events that somebody listens to, `heard` the numbers of those that were told, `rule` is the app's own.
 *
 * @typedef {{store: EventTarget, queued: (body: (work: any) => any) => Promise<any>, edits: () => ReturnType<typeof import("./editing.js").editsOf>,
 *   listened: Set<string>, heard: Set<number>, rule: () => any}} Desk
 */

/**
 * An event as the app gets it, with what can be decided.
 *
 * @param {Desk} desk
 */
export function detailed({ queued, edits }, { event: type, seq: _, push, ...told }) {
  const made = (value, isTakenBack) => (work) => assign(edits(), work, told, value, isTakenBack);
  if (type === "conflict") return { ...told, takeMine: () => queued(made(told.new)) };
  if (type === "refused") return withChoice({ queued }, told.entry, told);
  if (type !== "overtaken") return told;
  // Once it was sent, either is an edit from what stands then.
  const decision = (change, value) => () => queued(async (work) => ((await decide(work, { ...told, push }, change)) ? null : made(value, change === drop)(work)));
  return { ...told, keepMine: decision(keep, told.new), takeTheirs: decision(drop, told.current) };
}

/** What was refused, as the app gets it. */
export const refusedEdits = async (desk, local) => (await local.read(entries)).map(({ seq, ...entry }) => withChoice(desk, seq, entry));

/** What was refused, with what can be done about it. */
const withChoice = ({ queued }, number, told) => ({
  ...told, resend: () => queued((work) => resend(work, number)), discard: () => queued((work) => discard(work, number)),
});

/**
 * Hands events to the app, each once, and to its own rule.
 *
 * @param {Desk} desk
 */
export function tell(desk, events) {
  for (const event of events) {
    const { event: type, seq } = event, rule = (type === "conflict" && desk.rule()) || null, isListened = desk.listened.has(type);
    if (desk.heard.has(seq) || !(isListened || rule)) continue;
    desk.heard.add(seq);
    const detail = detailed(desk, event);
    if (isListened) desk.store.dispatchEvent(new StoreEvent(type, detail));
    void answer(desk, event, rule, detail).catch(() => {});
  }
}

/** Notes that an event was heard; what the app's own rule answers to a conflict is an edit. */
async function answer({ queued, edits }, event, rule, detail) {
  let value;
  try { value = await rule?.(detail); } catch (error) { return report(error); }
  await queued(async (work) => {
    await work.tx.delete("e", event.seq);
    return value === undefined ? null : assign(edits(), work, event, value);
  });
}
