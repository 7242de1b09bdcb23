import { parse, stringify } from "./json.js";
import { blankRecord, pick } from "./rules.js";
import { copy, idKey, isTemporary, same } from "./values.js";

/** The unique name of a record among all resources. */
export const nameOf = ({ resource, id }) => `${resource}\n${idKey(id)}`;

/** The edit of a record in a push: one at most. */
export const editOf = ({ edits }, place) => edits.find((edit) => nameOf(edit) === nameOf(place));

/** Whether a row of an edit changes an existing row: its `old` and `new` contain every field of the edited groups. */
export const isChange = ({ old, new: value }) => old && value;

const isSameRow = (one, other) => one.section === other.section && idKey(one.item) === idKey(other.item);

/** The record for the app: the base with the edits of pushes, in order. */
export function view(base, pushes, place, rules) {
  const known = rules?.resources.get(place.resource);
  let record = copy(base) ?? null;
  for (const push of known ? pushes : []) {
    const edit = editOf(push, place);
    if (edit) record = over(record, edit, known);
  }
  return record;
}

function over(record, { id, rows }, { sections, root }) {
  for (const row of rows) {
    const { section: name, item, old, new: value } = row, section = sections.get(name), isList = section?.isList;
    if (section === root && !value) return null;
    if (section === root && !old) record ??= blankRecord({ sections, root }, id);
    if (!section || !record) continue;
    let found = rowIn(record, row);
    if (!value) record[name] = isList ? record[name]?.filter((one) => one !== found) : null;
    else if (!old && !(isList && found)) {
      found = { ...(isList && { id: item }), ...Object.fromEntries(section.names.map((one) => [one, null])), ...found };
      record[name] = isList ? [...(record[name] ?? []), found] : found;
    }
    if (value && found) Object.assign(found, pick(value, section.names));
  }
  return record;
}

/** The row of a record for a row of an edit; null if there is none. */
export function rowIn(record, { section, item }) {
  const value = record?.[section] ?? null;
  return item === undefined ? value : (value?.find((one) => idKey(one.id) === idKey(item)) ?? null);
}

/** The groups of an edited row, each with its fields; a field that is not in the rules is a group. */
export function groupsOf(row, section) {
  const groups = new Map();
  for (const name of Object.keys(row.new)) {
    const group = section?.fields.get(name)?.group ?? name;
    groups.set(group, [...(groups.get(group) ?? []), name]);
  }
  return [...groups];
}

/** A row of an edit without unchanged groups; none if no group is left. */
export function withoutSame(row, section) {
  if (!isChange(row)) return [row];
  const { old, new: value } = row, names = groupsOf(row, section).flatMap(([, fields]) => (same(pick(old, fields), pick(value, fields)) ? [] : fields));
  return names.length ? [{ ...row, old: pick(old, names), new: pick(value, names) }] : [];
}

/**
 * Joins the rows of an edit to the rows of an unsent edit of the same record.
 *
 * @param below the record below the unsent edit
 * @returns the rows of both, none if they cancel each other; null if they cannot be joined.
 */
export function joined(earlier, later, { sections, root }, below) {
  let rows = earlier;
  for (const row of later) {
    const first = rows.find((one) => isSameRow(one, row)), both = first ? joinedRow(first, row, sections.get(row.section), rowIn(below, row)) : [row];
    if (!both) return null;
    rows = first ? rows.flatMap((one) => (one === first ? both : one)) : [...rows, row];
  }
  // A deletion of the row includes the earlier edits of it.
  const isRoot = ({ section }) => section === root.name;
  return later.some((row) => isRoot(row) && !row.new) ? rows.filter(isRoot) : rows;
}

function joinedRow(first, next, section, found) {
  if (!first.new || !next.old) return null;
  if (!first.old && !next.new) return [];
  // Each step of a group with transitions counts.
  if (Object.keys(next.new ?? next.old).some((name) => Object.hasOwn(first.new, name) && section?.fields.get(name)?.transitions)) return null;
  const value = next.new && { ...first.new, ...next.new };
  // A creation omits fields that the database fills in.
  for (const name in first.old ? {} : value) if (value[name] === null && !Object.hasOwn(first.new, name)) delete value[name];
  const rows = withoutSame({ ...next, old: first.old && { ...next.old, ...first.old }, new: value }, section), left = rows[0]?.new ?? {};
  // A value equal to the first `old` is still an edit, if the record below has another value.
  for (const name in found && value) if (!Object.hasOwn(left, name) && !same(found[name], value[name])) return null;
  return rows;
}

/** The temporary ids that an edit creates. */
export const created = ({ id, rows, creates }) => rows.filter((row) => !row.old).map(({ item }) => item ?? (creates ? id : null)).filter(isTemporary);

const temporary = /"(tmp:[^"\\]+)"(?!:)/g;

/** Every temporary id that a text of JSON names. */
export const namedIn = (text) => Array.from(text.matchAll(temporary), ([, id]) => id);

/** Every temporary id that an edit names. */
export const named = (edit) => namedIn(stringify(edit));

/** The records that the fields of an edit refer to, in `old` or `new`. */
export const referencesOf = ({ resource, rows }, rules) => rows.flatMap(({ section, old, new: value }) => {
  const fields = rules.resources.get(resource)?.sections.get(section)?.fields;
  return [old, value].flatMap((row) => Object.entries(row ?? {})).flatMap(([name, id]) => {
    const { references } = fields?.get(name) ?? {};
    return references && id !== null ? { resource: references, id } : [];
  });
});

/** The edit with real ids instead of temporary ids. */
export const mapped = (edit, ids) => parse(stringify(edit).replace(temporary, (text, id) => (id in ids ? JSON.stringify(ids[id]) : text)));
