import { FieldMergeError, loaded } from "./errors.js";
import { withDependents } from "./history.js";
import { revive } from "./keep.js";
import { created, groupsOf, isChange, named } from "./layers.js";
import { reshapePush } from "./regroup.js";
import { pick } from "./rules.js";
import { onTheWire } from "./sending.js";
import { idKey, nearest } from "./values.js";

/*
 * The list of refused pushes. Loaded with `decisions.js`.
 *
 * A path names a part of the entry's record: `section`, `section.group`, `list[ID]`, `list[ID].group`. ID is JSON. A field's
 * name selects its group.
 */

/** The problem of an edit; the push's problem if the edit was only rolled back with it. */
export const causeOf = ({ problem: own }, problem) => (own && own.code !== "rolled-back" ? own : problem);

const sectionsOf = (work, { resource }) => work.rules.resources.get(resource)?.sections;

/** The path of a row. */
const pathOf = ({ section, item }) => (item === undefined ? section : `${section}[${JSON.stringify(item)}]`);

/** The groups of a row with their fields; none for a deletion. */
const groupsIn = (row, sections) => (row.new ? groupsOf(row, sections?.get(row.section)) : []);

/** Keeps the groups that a refusal names with the edit, so that their ids are mapped with it. */
export function withFaulty(work, edit, { problem, outcomes = [] }, index) {
  const sections = sectionsOf(work, edit), faulty = [];
  const told = outcomes.filter(({ outcome }) => /^(rejected|failed|missing)$/.test(outcome)), { path = "", fields = [], record } = problem ?? {};
  const [, at = index, section, number, rest = ""] = path.match(/(?:edits\[(\d+)\]\.)?changeset\.([^.[]+)(?:\[(\d+)\])?(.*)/) ?? [];
  const names = rest.split(".").filter((name) => name && name !== "old" && name !== "new");
  for (const row of edit.rows) {
    const own = told.filter((one) => one.section === row.section && (one.id === undefined || idKey(one.id) === idKey(row.item))), item = row.item !== undefined && { item: row.item };
    const isAt = Number(at) === index && section === row.section && (number === undefined || edit.rows.filter((one) => one.section === section).indexOf(row) === Number(number));
    const groups = groupsIn(row, sections).filter(([group, members]) => own.some((one) => one.group === group) || (isAt && [group, ...members].some((name) => names.includes(name)))
      || (members.some((name) => fields.includes(name)) && (record?.section ?? row.section) === row.section)).map(([group]) => group);
    if (groups.length) faulty.push(...groups.map((group) => ({ section: row.section, ...item, group })));
    else if (own.some(({ group }) => group === undefined) || (isAt && !names.length)) faulty.push({ section: row.section, ...item });
  }
  return { ...edit, faulty };
}

/** The paths of the groups that a refusal names. */
export const faultyIn = ({ faulty = [] }) => faulty.map((one) => (one.group === undefined ? pathOf(one) : `${pathOf(one)}.${one.group}`));

/** The refused pushes, the oldest first. */
export async function entries(work) {
  return Promise.all((await work.values("x")).map(async ({ seq, edits, told, at, problem }) => {
    const { resource, id } = edits[at];
    return {
      seq, name: String(seq), resource, id, problem: causeOf(told[at], problem), faulty: faultyIn(edits[at]), record: (await work.base(edits[at])) ?? told[at].record ?? null,
      edits: edits.map((edit, index) => ({ problem: told[index].problem, ...(edit.wire ?? onTheWire(edit, work.rules)) })),
    };
  }));
}

/** The number of times that a part of an entry was sent. A form of it saves nothing if this is another number by then. */
export const versionOf = ({ version = 0 }) => version;

/** Removes a refused push; null if a part of it was sent since this version. */
export async function take(work, number, version) {
  const entry = await work.tx.get("x", number);
  if (!entry || versionOf(entry) !== (version ?? versionOf(entry))) return null;
  await work.tx.delete("x", number);
  work.meta.refused -= 1;
  await work.touch(...entry.edits);
  return entry;
}

/** An edit without the members of its refusal. */
export const bareEdit = ({ wire: _, faulty: __, ...edit }) => edit;

/** Appends a refused push to the queue, after the pushes that it needs; returns a ticket. */
async function resend(work, number, paths = []) {
  const entry = await take(work, number);
  if (!entry) return null;
  const { sent, left } = parted(work, entry, paths), edits = sent.map(bareEdit), { atomic } = entry, needs = edits.flatMap(named), tickets = await work.tickets(entry);
  if (left.length) await putBack(work, entry, left);
  for (const other of await work.values("x")) if (other.seq !== number && other.edits.flatMap(created).some((id) => needs.includes(id))) await resend(work, other.seq);
  for (const ticket of tickets) await work.end(ticket);
  if (!tickets.length) tickets.push(await work.ticketFor(edits));
  for (const edit of edits) if (!edit.creates) await revive(work, edit);
  const push = { seq: ++work.meta.seq, atomic, edits, tickets: tickets.map((ticket) => ticket.seq) }, missing = left.flatMap(created);
  await work.save(push);
  await reshapePush(work, push);
  for (const { seq, problem: { dependsOn } } of await work.values("x")) if (dependsOn?.entry === number && !missing.includes(dependsOn.id)) await resend(work, seq);
  return tickets.at(-1);
}

/** Keeps the unsent part of an entry under the same name. */
export async function putBack(work, { edits, told, at, ...entry }, left) {
  const indexes = left.map(({ resource, id }) => edits.findIndex((one) => one.resource === resource && idKey(one.id) === idKey(id)));
  await work.tx.put("x", entry.seq, { ...entry, version: versionOf(entry) + 1, tickets: [], edits: left, told: indexes.map((index) => told[index]), at: Math.max(indexes.indexOf(at), 0) });
  work.meta.refused += 1;
}

/** Splits the edits of an entry into those to send, and the parts of its record that the paths name. */
function parted(work, { edits, at }, paths) {
  if (!paths.length) return { sent: edits, left: [] };
  const edit = edits[at], sections = sectionsOf(work, edit), kept = [], left = [], found = new Set();
  for (const row of edit.rows) {
    const { whole, names } = namedIn(row, sections, paths, found), has = names.length > 0;
    const of = (isLeft) => Object.keys(row.new ?? {}).filter((name) => names.includes(name) === isLeft), all = of(false).length === 0;
    if (!has && !whole) kept.push(row);
    else if (whole || all) left.push(row);
    else {
      kept.push({ ...row, old: row.old && pick(row.old, of(false)), new: pick(row.new, of(false)) });
      left.push({ ...row, old: row.old ? pick(row.old, of(true)) : Object.fromEntries(of(true).map((name) => [name, null])), new: pick(row.new, of(true)) });
    }
  }
  for (const path of paths) if (!found.has(path)) unknownPath(edit, sections, path);
  const { creates, ...change } = edit, isCreation = creates && left.some((row) => !row.old && row.section === sections?.keys().next().value);
  const part = isCreation ? edit : { ...change, rows: left }, others = edits.filter((one) => one !== edit).map((one) => ({ ...one }));
  const parts = withDependents({ kept: [...others, ...(isCreation ? [] : [{ ...edit, rows: kept }])], unknown: [part] });
  if (!parts.kept.length) throw new FieldMergeError("nothing-left", "Every part of this edit is left out. Nothing would be sent.");
  return { sent: edits.flatMap((one) => parts.kept.find(({ resource, id }) => resource === one.resource && idKey(id) === idKey(one.id)) ?? []), left: parts.unknown };
}

/** The part of a row that some paths name: the whole of it, or fields. The paths that were found are added to a set. */
function namedIn(row, sections, paths, found) {
  const at = pathOf(row), wholes = paths.filter((path) => path === row.section || path === at), names = [];
  for (const path of wholes) found.add(path);
  for (const [group, fields] of groupsIn(row, sections)) {
    const own = paths.filter((path) => [group, ...fields].some((name) => path === `${at}.${name}`));
    for (const path of own) found.add(path);
    if (own.length) names.push(...fields);
  }
  return { whole: wholes.length > 0, names };
}

function unknownPath({ rows }, sections, path) {
  const known = rows.flatMap((row) => [row.section, ...groupsIn(row, sections).flat(2)]);
  throw new FieldMergeError("unknown-path", `This edit has no part “${path}”.`, { path, near: nearest(path.split(".").at(-1), known) });
}

async function discard(work, number) {
  const entry = await take(work, number);
  for (const ticket of entry ? await work.tickets(entry) : []) await work.end(ticket, { ...ticket.outcome, status: "discarded" });
}

/** A refused push in the form for the app. */
export const refusedEdits = async (desk, local) => (await local.read(entries)).map(({ seq, ...entry }) => withChoice(desk, seq, entry));

/** A refused push with its methods. */
export const withChoice = (desk, number, told) => ({
  ...told,
  resend: ({ without } = {}) => desk.queued((work) => resend(work, number, without)),
  discard: () => desk.queued((work) => discard(work, number)),
  restore: async () => (await loaded(import("./drafts.js"))).restored(desk, desk.local, number),
  form: async () => (await loaded(import("./form.js"))).refusedForm(desk, desk.local, number, told.resource),
});
