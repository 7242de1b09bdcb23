import { assign, decide } from "./deciding.js";
import { editOf, groupsOf, isChange, rowIn } from "./layers.js";
import { withChoice } from "./refused.js";
import { withDoubles } from "./rules.js";
import { bare } from "./sending.js";
import { StoreEvent } from "./store.js";
import { idKey, isObject, same, uuid } from "./values.js";
import { report } from "./watching.js";

/*
 * Events that wait for a handler of the app, and the list of conflicts. Loaded with `decisions.js`.
 *
 * Table `e` contains events without a handler, table `c` the entries of the list: `conflict` and `overtaken`, each with its
 * `name`. The event of an entry has the number of the entry as `entry`.
 */

/** The largest number of events without a handler, and of entries that were delivered. */
const kept = 1000;

const placeOf = ({ resource, id, section, item = null, group }) => JSON.stringify([resource, idKey(id), section, item === null ? null : idKey(item), group]);

/** Sets the number and the name of an event's entry: those of the listed overtaken edit of its group, if there is one. */
function listed(work, entries, event, push) {
  const known = entries.find((one) => one.push === push && placeOf(one) === placeOf(event));
  return Object.assign(event, { entry: known?.seq ?? ++work.meta.seq, name: known?.name ?? uuid() });
}

const overtakenIn = async (work) => (work.meta.overtaken ? (await work.values("c")).filter(({ kind }) => kind === "overtaken") : []);

/** The conflicts in the result of an edit. A refused edit wrote nothing. */
export async function conflictsOf(work, push, { resource, id }, result, isRefused) {
  const entries = await overtakenIn(work), { sections } = work.rules.resources.get(resource) ?? {};
  return result.outcomes.filter((outcome) => outcome.conflict).map(({ id: item, conflict: _, ...told }) => {
    const section = sections?.get(told.section), [only, ...others] = section?.groups.get(told.group) ?? [];
    for (const part of ["old", "current", "new", "written"]) {
      const row = only && !others.length ? { [only]: told[part] } : told[part];
      if (section && row) withDoubles(row, section);
      if (row !== told[part] && part in told) told[part] = row[only];
    }
    return listed(work, entries, {
      event: "conflict", resource, id: result.id ?? id, ...(item !== undefined && { item }), old: null, current: null, new: null, written: null, by: null, ...told, ...(isRefused && { outcome: "refused" }),
    }, push.seq);
  });
}

/** Stores the events of a transaction and their entries, and removes overtaken edits that do not wait any more. */
export async function keepEvents(work) {
  const { meta, tx } = work, entries = await overtakenIn(work);
  for (const event of work.events) {
    event.seq = ++meta.seq;
    const { seq, event: kind, ...told } = event;
    if (kind === "overtaken") entries.push(Object.assign(told, listed(work, entries, event, event.push)));
    if (["conflict", "overtaken"].includes(kind)) {
      await unqueue(work, event.entry);
      if (!(await tx.get("c", event.entry))) meta.listed = (meta.listed ?? 0) + 1;
      await tx.put("c", event.entry, { ...told, entry: event.entry, name: event.name, kind, seq: event.entry });
    }
    await tx.put("e", seq, event);
    // An app that never listens does not fill the store.
    if (seq % 100 === 0) for (const old of (await work.values("e")).slice(0, -kept)) await tx.delete("e", old.seq);
  }
  meta.overtaken = 0;
  for (const entry of (await work.values("c")).filter(({ kind }) => kind === "overtaken")) {
    if (await isWaiting(work, entry)) meta.overtaken += 1;
    else await leave(work, entry);
  }
  await prune(work);
}

/** Returns whether the edit of an overtaken group has no answer yet, and its base differs from the current value. */
async function isWaiting(work, { resource, id, section, item, group, push: seq }) {
  const push = await work.push(seq), edit = push && editOf(push, { resource, id }), known = work.rules.resources.get(resource)?.sections.get(section);
  const row = edit?.rows.find((one) => one.section === section && idKey(one.item) === idKey(item) && isChange(one)), [, names] = (row && groupsOf(row, known).find(([name]) => name === group)) ?? [];
  return !!names && (!!push.body || !same(bare(rowIn(await work.below(push, edit), row), names), bare(row.old, names)));
}

/** Removes the event of an entry from the waiting events. */
async function unqueue(work, number) {
  for (const { seq, event, entry } of await work.values("e")) if (entry === number && event !== "refused") await work.tx.delete("e", seq);
}

/** Takes an entry out of the list. */
async function leave(work, { seq }) {
  await work.tx.delete("c", seq);
  await unqueue(work, seq);
  work.meta.listed -= 1;
}

/** Adds an entry to the list again, under the same name, and reports it again. */
async function stay(work, entry) {
  await work.tx.put("c", entry.seq, entry);
  work.meta.listed += 1;
  work.events.push({ ...entry, event: entry.kind });
}

/** Limits the number of delivered entries: removes the oldest first. */
async function prune(work) {
  if (!(work.meta.listed > kept)) return;
  const waiting = (await work.values("e")).map(({ entry }) => entry), delivered = (await work.values("c")).filter(({ seq }) => !waiting.includes(seq));
  for (const entry of delivered.slice(0, -kept)) await leave(work, entry);
}

// MARK: Delivery

/**
 * The store's part: `queued` adds an edit to its queue, `edits` makes room for an edit, `listened` are the
 * types of events that this tab delivers, `heard` the numbers of delivered events, `answers` ends when all are delivered, `rule` is the app's.
 *
 * @typedef {{store: EventTarget, queued: (body: (work: any) => any) => Promise<any>, edits: () => ReturnType<typeof import("./editing.js").editsOf>,
 *   listened: Set<string>, heard: Set<number>, answers?: Promise<any>, rule: () => any}} Desk
 */

/**
 * An event, or an entry of the list of conflicts, as the app gets it, with its decisions.
 *
 * @param {Desk} desk
 */
export function detailed(desk, { event: type, seq: _, entry: number, push: __, ...told }) {
  const { queued, edits } = desk;
  if (type === "refused") return withChoice(desk, number, told);
  if (type === "gone" || type === "lost") return told;
  /** An entry is decided once; an event of an earlier version has no entry. */
  const decided = (body) => () => queued(async (work) => {
    const entry = number === undefined ? { ...told, kind: type } : await work.tx.get("c", number);
    if (entry && number !== undefined) await leave(work, entry);
    return entry ? body(work, entry) : null;
  });
  const takeMine = decided(async (work, entry) => {
    // A handle of rules before may have its values in another form.
    const { current } = isObject(told.current) === isObject(entry.current) ? told : entry;
    if (entry.kind !== "overtaken" || !(await decide(work, entry, { current }))) return assign(edits(), work, entry, entry.new);
    // A later change than the one in this entry has no decision yet.
    if (!same(current, entry.current)) await stay(work, { ...entry, old: current });
    return null;
  });
  const takeTheirs = decided(async (work, entry) => {
    const isDone = entry.kind === "overtaken" ? await decide(work, entry, null) : same(entry.written, entry.current);
    return isDone ? null : assign(edits(), work, entry, entry.current, true);
  });
  const kind = told.kind ?? type;
  return { ...told, kind, takeMine, takeTheirs, dismiss: decided(() => null), ...(kind === "overtaken" && { keepMine: takeMine }) };
}

/** The list of conflicts, the oldest first. */
export const conflicts = async (desk, local) => (await local.read((work) => work.values("c"))).map((entry) => detailed(desk, entry));

/**
 * Delivers each event once, to the handlers and the rule of the app.
 *
 * @param {Desk} desk
 */
export function tell(desk, events) {
  for (const event of events) {
    const { event: type, seq } = event, rule = (type === "conflict" && desk.rule()) || null;
    if (desk.heard.has(seq) || !(desk.listened.has(type) || rule)) continue;
    const detail = detailed(desk, event), told = Object.assign(new StoreEvent(type, detail), { returned: [] });
    if (desk.listened.has(type)) desk.store.dispatchEvent(told);
    if (!rule && !told.returned.length) continue; // every handler was removed
    desk.heard.add(seq);
    const before = desk.answers;
    desk.answers = answer(desk, event, told.returned, rule, detail).catch((error) => { if (error.code !== "closed") report(error); }).then(() => before);
  }
}

/** Removes an event after a handler has returned. The value that the app's rule returns for a conflict becomes an edit. */
async function answer({ queued, edits }, event, returned, rule, detail) {
  const value = await rule?.(detail), ends = await Promise.allSettled(returned);
  if (ends.length && ends.every(({ status }) => status === "rejected")) return;
  await queued(async (work) => {
    await work.tx.delete("e", event.seq);
    if (value === undefined) return prune(work);
    const entry = await work.tx.get("c", event.entry ?? 0);
    if (entry) await leave(work, entry);
    return entry || event.entry === undefined ? assign(edits(), work, event, value) : null;
  });
}
