import { isPromise, missing, rulesOf } from "./editing.js";
import { FieldMergeError } from "./errors.js";
import { editOf, groupsOf, isChange, nameOf, rowIn, withoutSame } from "./layers.js";
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
 * Applies the app's decision to the unsent edit of a group; false if it was sent.
 *
 * @param {{current: any} | null} kept the value that the app accepted as base; null drops the edit
 */
export async function decide(work, { resource, id, section, item, group, push: seq }, kept) {
  const place = { resource, id: await work.resolve(id) }, pushes = await work.pushesOf(place), index = pushes.findIndex((one) => one.seq === seq), push = pushes[index];
  const key = idKey(await work.resolve(item)), known = work.rules.resource(resource).sections.get(section);
  const rowOf = (one) => editOf(one, place).rows.find((row) => row.section === section && idKey(row.item) === key);
  if (!push || push.body) return false;
  const row = rowOf(push), [, names] = (row && isChange(row) && groupsOf(row, known).find(([name]) => name === group)) || [];
  if (!names) return true;
  await work.touch(place);
  if (!kept) {
    const taken = { old: pick(row.old, names), new: pick(row.new, names) }, later = pushes.slice(index + 1).find((one) => names.some((name) => Object.hasOwn(rowOf(one)?.old ?? {}, name)));
    Object.assign(row.new, taken.old);
    if (later && !later.body) await change(work, later, place, known, rowOf(later), (next) => follow(next, names, taken, known));
  } else if (rowIn(await work.below(push, place), row)) Object.assign(row.old, names.length === 1 ? { [names[0]]: kept.current } : pick(kept.current ?? {}, names));
  await change(work, push, place, known, row, () => {});
  work.events.push(...(await work.decisions.overtakenBy(work, work.before.get(nameOf(place)))));
  return true;
}

/** Changes a row of an unsent push, and takes out of it the groups that end as they began. */
async function change(work, push, place, section, row, body) {
  const edit = editOf(push, place);
  body(row);
  edit.rows = edit.rows.flatMap((one) => (one === row ? withoutSame(row, section) : one));
  await work.shrink(push);
}

/** Bases an edit of a group on the `old` of the removed edit before it, without the sum that this edit had added. */
export function follow(row, names, { old, new: own }, section) {
  if (!same(pick(row.old, names), pick(own, names))) return; // its base is another value
  Object.assign(row.old, pick(old, names));
  for (const name of row.new ? names : []) if (section?.fields.get(name)?.merge === "add") row.new[name] = without(row.new[name], old[name], own[name]);
}

/** A sum minus the difference from `old` to `own`; exact for numbers in texts. */
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

/** Makes an edit from a value of a conflict and the current value. For a sum, the edit subtracts the added difference. */
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
