import { localProblem, outcomeUnknown, refuse } from "./decisions.js";
import { created, editOf, groupsOf, isChange, named, nameOf, rowIn } from "./layers.js";
import { nowhere } from "./local.js";
import { pick } from "./rules.js";
import { settle } from "./told.js";
import { idKey, isTemporary, same } from "./values.js";

/*
 * Pushes of another history: they wait for a snapshot and are built again in the transaction that ends it. Loaded with
 * `decisions.js`.
 */

const otherRecord = () => localProblem("other-record", 409, "Another record has this id now.");

/** Stores the answer `history-changed`: nothing is sent before a snapshot has replaced every base. */
export async function historyChanged(work, push) {
  // The last request was answered now. The effect of an earlier request in the lost history is unknown.
  await work.tx.put("p", push.seq, { ...push, change: push.doubt > 1 ? "unknown" : "nothing-written" });
  Object.assign(work.meta, nowhere, { isRebuilding: true });
  return "history";
}

/** Refuses edits of records that are different records in the snapshot of another history. */
export async function refuseOthers(work) {
  const { snapshot, feed } = work.meta;
  // A difference of two filters is of the same history.
  for (const before of snapshot && !snapshot.unless && snapshot.feed !== feed ? work.before.values() : []) {
    const pushes = await work.pushesOf(before);
    if (!pushes.length || !isOther(work, before, await work.base(before), pushes)) continue;
    for (const { seq } of pushes) {
      const push = await work.push(seq);
      if (!push || editOf(push, before)?.creates) continue;
      // Bytes under way are repeated first. The gateway decides by their feed whether they are of another history.
      if (push.body && !push.change) await work.tx.put("p", seq, { ...push, isOther: true });
      else await settle(work, push, [], otherRecord());
    }
  }
}

/** Tells whether an id names another record now: no group of the base before, or of an edit, is equal. */
function isOther(work, { base, resource, id }, now, pushes) {
  if (!now) return false;
  const { sections = new Map() } = work.rules.resources.get(resource) ?? {}, seen = [];
  for (const section of sections.keys()) {
    for (const values of [base?.[section] ?? []].flat()) seen.push({ section, item: sections.get(section).isList ? values.id : undefined, values });
  }
  for (const push of pushes) for (const { old, new: value, ...row } of editOf(push, { resource, id }).rows) seen.push({ ...row, values: old ?? {} }, { ...row, values: value ?? {} });
  const compared = seen.flatMap(({ values, ...row }) => {
    const found = rowIn(now, row), groups = [...(sections.get(row.section)?.groups.values() ?? [])];
    return found ? groups.filter((names) => names.every((name) => Object.hasOwn(values, name) && Object.hasOwn(found, name))).map((names) => same(pick(values, names), pick(found, names))) : [];
  });
  return compared.length > 0 && !compared.includes(true);
}

/** Builds the pushes of another history again, after the snapshot. Each gets a new key when it is sent. */
export async function rebuild(work) {
  delete work.meta.isRebuilding;
  work.isTold = true;
  const waiting = (await work.pushes()).filter((push) => push.change), parts = new Map(), done = new Set();
  // If a later push finds its base, the earlier pushes were merged.
  for (const push of [...waiting].reverse()) parts.set(push.seq, await partsOf(work, push, done));
  for (const { seq } of waiting) {
    const push = await work.push(seq); // or it was refused with an earlier push
    if (push) await rebuildPush(work, push, parts.get(seq));
  }
}

async function rebuildPush(work, push, { isGone, kept, unknown }) {
  if (push.isOther) return settle(work, push, [], otherRecord());
  if (isGone) return settle(work, push, [], localProblem("gone", 410, "The record is gone."));
  const { key: _, body, stamp, doubt, change, edits, ...unsent } = push, { tickets } = unsent;
  await work.touch(...edits);
  await work.save(Object.assign(unsent, { edits: kept }));
  if (unknown.length) {
    const problem = outcomeUnknown();
    const ends = await Promise.all(edits.map(async ({ resource, id }) => {
      const edit = editOf({ edits: unknown }, { resource, id });
      return { resource, id, edit, isRefused: !!edit, record: await work.base({ resource, id }), problem };
    }));
    await refuse(work, { ...push, tickets }, ends, problem, true);
    unsent.tickets = (await work.tickets({ tickets })).filter(({ outcome }) => !outcome).map((ticket) => ticket.seq);
  }
  return work.shrink(unsent);
}

/** Divides the rows of a push into rows to send again and rows with an unknown outcome. */
async function partsOf(work, { edits, change }, done) {
  const parts = { kept: [], unknown: [] };
  for (const edit of edits) {
    const base = await work.base(edit), kept = { ...edit, rows: [] }, unknown = { ...edit, rows: [] };
    const isMissing = !base && !edit.creates && !isTemporary(edit.id);
    parts.isGone ||= isMissing && !work.isDeletion(edit);
    const mayBeMerged = change !== "nothing-written", isUnknown = mayBeMerged && !isOwnCreation(edit) && (base || edit.creates);
    for (const row of isMissing || (mayBeMerged && isCreated(work, edit, base)) ? [] : edit.rows) {
      const part = isUnknown ? partOf(work, edit, row, base, done) : { kept: row };
      if (part.kept) kept.rows.push(part.kept);
      if (part.unknown) unknown.rows.push(part.unknown);
    }
    if (kept.rows.length) parts.kept.push(kept);
    if (unknown.rows.length) parts.unknown.push(unknown);
  }
  return withDependents(parts);
}

/** Returns whether an edit creates a record under the client's key, so that its outcome can be detected. */
const isOwnCreation = ({ creates, id }) => creates && !isTemporary(id);

function isCreated(work, edit, base) {
  const root = work.rules.resources.get(edit.resource)?.root.name, value = edit.rows.find(({ section }) => section === root)?.new ?? {};
  return isOwnCreation(edit) && base && same(pick(base[root], Object.keys(value)), value);
}

/** The part of a possibly merged row that the base does not contain. */
function partOf(work, edit, row, base, done) {
  const now = rowIn(base, row), { section: name, item, old, new: value } = row;
  if (!value) return now ? { kept: row } : {};
  // A new row has no base that shows whether it was made.
  if (!old && isTemporary(item ?? edit.id)) return { unknown: row };
  if (!old) return now && same(pick(now, Object.keys(value)), value) ? {} : { kept: row };
  const section = work.rules.resources.get(edit.resource)?.sections.get(name), kept = [], unknown = [];
  for (const [group, names] of groupsOf(row, section)) {
    const key = JSON.stringify([nameOf(edit), name, idKey(item), group]), merge = section?.fields.get(names[0])?.merge;
    if (done.has(key) || (now && same(pick(now, names), pick(value, names)))) done.add(key);
    else (["add", "set"].includes(merge) ? unknown : kept).push(...names);
  }
  const only = (names) => (names.length ? { ...row, old: pick(old, names), new: pick(value, names) } : null);
  return { kept: only(kept), unknown: only(unknown) };
}

/** Moves rows that use an id of an unknown row to the unknown rows: refused rows and rows with an unknown outcome. */
export function withDependents(parts) {
  const ids = parts.unknown.flatMap(created);
  const uses = (value) => named(value).some((id) => ids.includes(id));
  let isMoved = false;
  for (const edit of parts.kept) {
    const moved = uses({ id: edit.id }) ? edit.rows : edit.rows.filter(uses);
    if (!moved.length) continue;
    isMoved = true;
    edit.rows = edit.rows.filter((row) => !moved.includes(row));
    const other = editOf({ edits: parts.unknown }, edit);
    if (other) other.rows.push(...moved);
    else parts.unknown.push({ ...edit, rows: moved });
  }
  parts.kept = parts.kept.filter(({ rows }) => rows.length);
  return isMoved ? withDependents(parts) : parts;
}
