import { isPromise, missing, rulesOf } from "./editing.js";
import { FieldMergeError } from "./errors.js";
import { editOf, groupsOf, rowIn, view, withoutSame } from "./layers.js";
import { blankRecord, pick } from "./rules.js";
import { idKey, same, temporaryId } from "./values.js";

/*
 * Edits that follow from a decision of the app about a group. Loaded with `decisions.js`.
 */

/** Makes an edit inside a transaction that runs, and returns its ticket. */
export async function editNow(edits, work, resource, id, change) {
  if (isPromise(change((await edits.open(work, resource, id)).draft))) throw new FieldMergeError("not-synchronous", "This function may not wait for anything.");
  return edits.append(work);
}

/**
 * Changes the unsent edit of a group in one push, from the value below it; false if it was sent. If it is dropped, the next edit of
 * the group, which was made on top of it, continues from its `old`.
 */
export async function decide(work, { resource, id, section, item, group, push: seq }, change) {
  const { rules } = work, place = { resource, id: await work.resolve(id) }, base = await work.base(place), pushes = await work.pushesOf(place);
  const key = idKey(await work.resolve(item)), known = rules.resource(resource).sections.get(section);
  if (!pushes.some((push) => push.seq === seq && !push.body)) return false;
  let dropped = null;
  for (const [index, push] of pushes.entries()) {
    const edit = editOf(push, place), row = edit.rows.find((one) => one.section === section && idKey(one.item) === key && one.old && one.new);
    const [, names] = (row && groupsOf(row, known).find(([name]) => name === group)) ?? [];
    if (push.seq < seq || push.body || !names || (push.seq > seq && !dropped)) continue;
    await work.touch(place);
    if (push.seq === seq) {
      if (change === drop) dropped = { old: pick(row.old, names), new: pick(row.new, names) };
      change(row, names, rowIn(view(base, pushes.slice(0, index), place, rules), row));
    } else {
      if (same(pick(row.old, names), dropped.new)) Object.assign(row.old, dropped.old);
      dropped = null;
    }
    edit.rows = edit.rows.flatMap((one) => (one === row ? withoutSame(row, known) : one));
    await work.shrink(push);
  }
  return true;
}

/** Takes the base as seen by whoever edited a group: its `old` becomes what stands now. */
export function keep(row, names, now) { if (now) Object.assign(row.old, pick(now, names)); }

/** Drops the edit of a group. */
export function drop(row, names) { for (const name of names) row.new[name] = row.old[name]; }

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
export async function assign(edits, work, { resource, id, section, item, group, old, new: own }, value, isTakenBack) {
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
      const names = groups.get(group);
      if (!names) throw new FieldMergeError("field-removed", `The group “${section}.${group}” exists no longer.`, { path: `${section}.${group}` });
      const rowOf = (told) => (names.length === 1 ? { [names[0]]: told } : told), were = rowOf(old), mine = rowOf(own);
      Object.assign(row, isTakenBack && fields.get(names[0])?.merge === "add" ? Object.fromEntries(names.map((name) => [name, without(row[name], were[name], mine[name])])) : rowOf(value));
    } else if (row && value) Object.assign(row, value);
    else if (!isList) record[section] = value;
    else if (value) list.push({ ...old, ...value });
    else list.splice(index, row ? 1 : 0);
  });
}
