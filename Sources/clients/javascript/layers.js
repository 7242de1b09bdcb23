import { copy, idKey, same } from "./values.js";
import { blankRecord } from "./rules.js";

/** The name of a record among those of all resources. */
export const nameOf = (resource, id) => `${resource}\n${idKey(id)}`;

/** A group's value as it travels: bare where the group is of one field. */
export function bare(fields) {
  if (!fields) return null;
  const names = Object.keys(fields);
  return names.length === 1 ? fields[names[0]] : fields;
}

/** The edits of a record that a push holds: one at most. */
export const editOf = (push, resource, id) => push.edits.find((edit) => edit.resource === resource && idKey(edit.id) === idKey(id));

/** What the app reads: a base with the edits of pushes over it, in their order. */
export function view(base, pushes, resource, id, rules) {
  let record = copy(base) ?? null;
  for (const push of pushes) {
    const edit = editOf(push, resource, id);
    if (edit) record = over(record, edit, rules?.resources.get(resource));
  }
  return record;
}

function over(record, edit, resource) {
  if (!resource) return record;
  for (const row of Object.values(edit.rows)) {
    const section = resource.sections.get(row.section);
    if (!section) continue;
    const name = row.section;
    if (section === resource.root && row.kind === "create") {
      record ??= { ...blankRecord(resource), id: edit.id };
      record[name] = { ...section.blank(), ...record[name], ...copy(row.new) };
    } else if (section === resource.root && row.kind === "delete") {
      return null;
    } else if (!record) {
      continue;
    } else if (section.kind === "list") {
      const items = (record[name] ??= []);
      const index = items.findIndex((item) => idKey(item.id) === idKey(row.item));
      if (row.kind === "delete") record[name] = items.filter((_, at) => at !== index);
      else if (row.kind === "create" && index < 0) items.push({ id: row.item, ...section.blank(), ...copy(row.new) });
      else if (index >= 0) for (const fields of fieldsOf(row)) Object.assign(items[index], copy(fields));
    } else if (row.kind === "delete") {
      record[name] = null;
    } else if (row.kind === "create") {
      record[name] = { ...section.blank(), ...record[name], ...copy(row.new) };
    } else if (record[name]) {
      for (const fields of fieldsOf(row)) Object.assign(record[name], copy(fields));
    }
  }
  return record;
}

const fieldsOf = (row) => (row.kind === "create" ? [row.new] : Object.values(row.groups).map((group) => group.new));

/** The row of a record that a row of an edit speaks of; null where there is none. */
export function rowIn(record, row) {
  const value = record?.[row.section] ?? null;
  return row.item === undefined ? value : (value?.find((item) => idKey(item.id) === idKey(row.item)) ?? null);
}

/** The fields of a group as a record has them; null where it has no such row. */
export function groupIn(record, row, fields) {
  const found = rowIn(record, row);
  return found && Object.fromEntries(Object.keys(fields).map((name) => [name, found[name] ?? null]));
}

/**
 * Joins an edit of a record to an unsent one of the same.
 *
 * @returns the rows of both, empty where they cancel each other; null where they cannot be one.
 */
export function joined(earlier, later, resource) {
  const root = resource.root.name;
  const first = earlier.rows[root], next = later.rows[root];
  if (next?.kind === "create") return null;
  if (next?.kind === "delete" && first?.kind === "create") return {};
  const rows = { ...earlier.rows };
  for (const [path, row] of Object.entries(later.rows)) {
    const both = joinedRow(rows[path], row, resource.sections.get(row.section));
    if (both === null) return null;
    if (both) rows[path] = both;
    else delete rows[path];
  }
  // What was edited below a row that goes away goes with it.
  return next?.kind === "delete" ? { [root]: rows[root] } : rows;
}

/** undefined where nothing is left, null where the two cannot be one. */
function joinedRow(first, next, section) {
  if (!first) return next;
  if (first.kind === "delete") return null;
  if (first.kind === "create") {
    if (next.kind === "delete") return undefined;
    if (next.kind === "create") return null;
    if (Object.keys(next.groups).some((name) => isStep(section, name) && Object.keys(next.groups[name].new).some((field) => field in first.new))) return null;
    return { ...first, new: Object.assign({}, first.new, ...fieldsOf(next)) };
  }
  if (next.kind === "create") return null;
  if (next.kind === "delete") {
    if (Object.keys(first.groups).some((name) => isStep(section, name))) return null;
    return { ...next, old: Object.assign({}, next.old, ...Object.values(first.groups).map((group) => group.old)) };
  }
  const groups = { ...first.groups };
  for (const [name, { old, new: value }] of Object.entries(next.groups)) {
    if (groups[name] && isStep(section, name)) return null;
    groups[name] = { old: groups[name]?.old ?? old, new: value };
    if (same(groups[name].old, value)) delete groups[name];
  }
  return Object.keys(groups).length ? { ...first, groups } : undefined;
}

const isStep = (section, group) => section?.groups.get(group)?.transitions !== undefined;

/** The edit as it stands in a push. */
export function onTheWire(edit, rules) {
  const changeset = {};
  for (const row of Object.values(edit.rows)) {
    const isItem = row.item !== undefined;
    const value = row.kind === "create" ? { old: null, new: row.new } : row.kind === "delete" ? { old: row.old, new: null }
      : Object.fromEntries(Object.entries(row.groups).map(([name, group]) => [name, { old: wireValue(group.old, name, row, edit, rules), new: wireValue(group.new, name, row, edit, rules) }]));
    if (isItem) (changeset[row.section] ??= []).push({ id: row.item, ...value });
    else changeset[row.section] = value;
  }
  return { resource: edit.resource, id: edit.id, changeset };
}

/** Several fields are an object, also where only one of them is left. */
function wireValue(fields, name, row, edit, rules) {
  const group = rules?.resources.get(edit.resource)?.sections.get(row.section)?.groups.get(name);
  return group && group.fields.length > 1 ? fields : bare(fields);
}

/** The temporary ids that an edit creates. */
export function created(edit) {
  return Object.values(edit.rows).filter((row) => row.kind === "create").map((row) => row.item ?? (edit.creates ? edit.id : null))
    .filter((id) => typeof id === "string" && id.startsWith("tmp:"));
}

/** Every temporary id that an edit names. */
export function named(edit) {
  return new Set(JSON.stringify([edit.id, edit.rows]).match(/(?<=")tmp:[^"\\]+(?=")/g) ?? []);
}

/** Puts real ids in the place of temporary ones, wherever an edit names them. */
export function mapped(edit, ids) {
  const map = (value) => (typeof value === "string" && Object.hasOwn(ids, value) ? ids[value] : value);
  const fields = (object) => object && Object.fromEntries(Object.entries(object).map(([name, value]) => [name, map(value)]));
  const rows = {};
  for (const row of Object.values(edit.rows)) {
    const item = map(row.item);
    rows[item === undefined ? row.section : `${row.section}/${idKey(item)}`] = {
      ...row, item, ...(row.new && { new: fields(row.new) }), ...(row.old && { old: fields(row.old) }),
      ...(row.groups && { groups: Object.fromEntries(Object.entries(row.groups).map(([name, group]) => [name, { old: fields(group.old), new: fields(group.new) }])) }),
    };
  }
  return { ...edit, id: map(edit.id), rows };
}

/** Sorts the fields of an edit into the groups of other rules; a field that has none there keeps its group. */
export function regrouped(edit, rules, seen) {
  const resource = rules.resources.get(edit.resource);
  const rows = {};
  for (const [path, row] of Object.entries(edit.rows)) {
    const section = resource?.sections.get(row.section);
    rows[path] = row;
    if (!section || row.kind !== "edit") continue;
    const groups = {}, found = rowIn(seen, row) ?? {};
    for (const [name, { old, new: value }] of Object.entries(row.groups)) {
      for (const field of Object.keys(value)) {
        const group = section.groupOf.get(field);
        const target = (groups[group?.group ?? name] ??= { old: {}, new: {} });
        for (const each of group?.fields ?? []) {
          const other = found[each.field] ?? null;
          if (!(each.field in target.old)) [target.old[each.field], target.new[each.field]] = [other, other];
        }
        [target.old[field], target.new[field]] = [old[field], value[field]];
      }
    }
    rows[path] = { ...row, groups };
  }
  return { ...edit, rows };
}
