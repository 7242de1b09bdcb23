import { copy, idKey, isTemporary, same } from "./values.js";
import { blankRecord } from "./rules.js";

/** The name of a record among those of all resources. */
export const nameOf = (resource, id) => `${resource}\n${idKey(id)}`;

/** A group's value as it travels: bare where the group is of one field. */
export function bare(fields) {
  if (!fields) return null;
  const names = Object.keys(fields);
  return names.length === 1 ? fields[names[0]] : fields;
}

/** Tells whether two places are of the same record. */
export const isSame = (one, other) => one.resource === other.resource && idKey(one.id) === idKey(other.id);

/** The edits of a record that a push holds: one at most. */
export const editOf = (push, resource, id) => push.edits.find((edit) => isSame(edit, { resource, id }));

/** What the app reads: a base with the edits of pushes over it, in their order. */
export function view(base, pushes, resource, id, rules) {
  let record = copy(base) ?? null;
  for (const push of pushes) {
    const edit = editOf(push, resource, id), known = rules?.resources.get(resource);
    if (edit && known) record = over(record, edit, known);
  }
  return record;
}

function over(record, edit, { sections, root }) {
  for (const row of Object.values(edit.rows)) {
    const name = row.section, section = sections.get(name), isNew = row.kind === "create", isDeleted = row.kind === "delete";
    if (section === root && isDeleted) return null;
    if (section === root && isNew) record ??= blankRecord({ sections, root }, edit.id);
    if (!section || !record) continue;
    if (isDeleted) {
      record[name] = section.isList ? record[name]?.filter((item) => idKey(item.id) !== idKey(row.item)) : null;
      continue;
    }
    let found = rowIn(record, row);
    if (isNew && !(section.isList && found)) {
      found = { ...(section.isList && { id: row.item }), ...section.blank(), ...found };
      if (section.isList) (record[name] ??= []).push(found);
      else record[name] = found;
    }
    if (found) Object.assign(found, copy(fieldsOf(row)));
  }
  return record;
}

/** The fields that a row of an edit writes. */
const fieldsOf = (row) => row.new ?? Object.assign({}, ...Object.values(row.groups).map((group) => group.new));

/** Applies a function to each value of an object. */
const mapValues = (object, change) => Object.fromEntries(Object.entries(object).map(([name, value]) => [name, change(value, name)]));

/** The row of a record that a row of an edit speaks of; null where there is none. */
export function rowIn(record, row) {
  const value = record?.[row.section] ?? null;
  return row.item === undefined ? value : (value?.find((item) => idKey(item.id) === idKey(row.item)) ?? null);
}

/** The fields of a group as a record has them; null where it has no such row. */
export function groupIn(record, row, fields) {
  const found = rowIn(record, row);
  return found && mapValues(fields, (_, name) => found[name] ?? null);
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
  const hasSteps = (groups) => Object.keys(groups).some((name) => section?.groups.get(name)?.transitions !== undefined);
  if (first.kind === "delete" || next.kind === "create") return null;
  if (first.kind === "create") {
    if (next.kind === "delete") return undefined;
    const known = Object.entries(next.groups).filter(([, group]) => Object.keys(group.new).some((field) => field in first.new));
    return hasSteps(Object.fromEntries(known)) ? null : { ...first, new: { ...first.new, ...fieldsOf(next) } };
  }
  if (next.kind === "delete") {
    return hasSteps(first.groups) ? null : { ...next, old: Object.assign({}, next.old, ...Object.values(first.groups).map((group) => group.old)) };
  }
  const groups = { ...first.groups };
  for (const [name, { old, new: value }] of Object.entries(next.groups)) {
    if (groups[name] && hasSteps({ [name]: value })) return null;
    groups[name] = { old: groups[name]?.old ?? old, new: value };
    if (same(groups[name].old, value)) delete groups[name];
  }
  return Object.keys(groups).length ? { ...first, groups } : undefined;
}

/** The edit as it stands in a push. */
export function onTheWire({ resource, id, rows }, rules) {
  const changeset = {};
  for (const { section, item, groups, old = null, new: value = null } of Object.values(rows)) {
    // Several fields are an object, also where only one of them is left.
    const isBare = (name) => !(rules?.resources.get(resource)?.sections.get(section)?.groups.get(name)?.fields.length > 1);
    const told = groups ? mapValues(groups, (group, name) => (isBare(name) ? mapValues(group, bare) : group)) : { old, new: value };
    if (item === undefined) changeset[section] = told;
    else (changeset[section] ??= []).push({ id: item, ...told });
  }
  return { resource, id, changeset };
}

/** The temporary ids that an edit creates. */
export const created = (edit) => Object.values(edit.rows).filter((row) => row.kind === "create").map((row) => row.item ?? (edit.creates ? edit.id : null)).filter(isTemporary);

/** Every temporary id that an edit names. */
export const named = (edit) => JSON.stringify([edit.id, edit.rows]).match(/(?<=")tmp:[^"\\]+(?=")/g) ?? [];

/** Puts real ids in the place of temporary ones, wherever an edit names them. */
export function mapped(edit, ids) {
  const map = (value) => (isTemporary(value) ? (ids[value] ?? value) : value);
  const fields = (value) => value && mapValues(value, map);
  const rows = {};
  for (const row of Object.values(edit.rows)) {
    const item = map(row.item);
    rows[item === undefined ? row.section : `${row.section}/${idKey(item)}`] = {
      ...row, item, new: fields(row.new), old: fields(row.old), groups: row.groups && mapValues(row.groups, (group) => mapValues(group, fields)),
    };
  }
  return { ...edit, id: map(edit.id), rows };
}
