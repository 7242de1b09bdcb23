import { FieldMergeError, fail } from "./errors.js";
import { checkValue, copy, idKey, isObject, isTemporary, nearest, same, temporaryId } from "./values.js";

/** JavaScript cannot assign a member of this name, so that no edit may have it. */
const isAssignable = (name) => name !== "__proto__";

/** A section of a resource, with lookups. */
function sectionOf({ section, kind, key, groups, readOnly = [] }) {
  /** Those that can be written, each with the name of its group. */
  const fields = new Map(groups.flatMap(({ fields, formerly: earlier, ...told }) => fields.map((field) => [field.field, { ...told, earlier, ...field }])).filter(([name]) => isAssignable(name)));
  const types = new Map([...fields.values(), ...readOnly].map(({ field, type }) => [field, type]));
  return {
    name: section, key, isList: kind === "list", generated: key?.some((column) => column.generated), fields, types,
    /** The names of the fields of each group. */
    groups: new Map(groups.map(({ group, fields }) => [group, fields.map(({ field }) => field).filter(isAssignable)])),
    names: [...types.keys()],
    doubles: [...types.keys()].filter((name) => ["float", "double"].includes(types.get(name))),
  };
}

/** Makes the doubles of a row JavaScript's own numbers, whatever their size. */
export function withDoubles(row, { doubles }) {
  for (const name of doubles) if (typeof row?.[name] === "bigint") row[name] = Number(row[name]);
}

/**
 * The answer of `GET /v1/rules`, with lookups.
 *
 * `stale` contains the resources whose bases have another shape than these rules, each with its earlier rules, which are
 * active until the records were fetched again. null represents a new resource.
 */
export class Rules {
  constructor({ version, limits, resources, stale = [] }) {
    const before = new Map(stale);
    Object.assign(this, { version, limits, stale: [...before.keys()] });
    this.resources = new Map(resources.flatMap((told) => {
      const { resource, sections } = before.has(told.resource) ? (before.get(told.resource) ?? {}) : told;
      return resource === undefined ? [] : [[resource, ready(sections)]];
    }));
  }

  /** @throws {FieldMergeError} if no resource has this name. */
  resource(name) { return this.resources.get(name) ?? unknown("resource", name, name, this.resources.keys()); }
}

function ready(told) {
  const sections = new Map(told.map((section) => [section.section, sectionOf(section)]).filter(([name]) => isAssignable(name)));
  return { sections, root: sections.values().next().value };
}

export function unknown(what, name, path, names) {
  const near = nearest(name, names);
  throw new FieldMergeError(`unknown-${what}`, `There is no ${what} “${path}”${near ? `; did you mean “${near}”?` : "."}`, { path, near });
}

/** Returns a record that throws if a misspelled section or field is read or assigned, by the sections of the active rules. */
export function guarded(record, rules) {
  const of = (section) => rules.sections.get(section)?.names ?? [];
  const guard = (target, what, path, names, below = (value) => value) => {
    const check = (name) => { if (typeof name === "string" && !names().includes(name)) unknown(what, name, path + name, names()); };
    return new Proxy(target, {
      get(object, name) {
        if (!Object.hasOwn(object, name) && name !== "then" && name !== "toJSON") check(name);
        return below(object[name], name);
      },
      set(object, name, value) {
        check(name);
        object[name] = value;
        return true;
      },
      deleteProperty: (object, name) => (names().includes(name) ? fail("invalid-value", path + name, "must be a value or null") : delete object[name]),
    });
  };
  const section = (value, name) => (rules.sections.has(name) && isObject(value) ? guard(value, "field", `${name}.`, () => of(name)) : value);
  for (const { name, isList } of rules.sections.values()) {
    if (isList) record[name] &&= record[name].map((row, index) => guard(row, "field", `${name}[${index}].`, () => ["id", ...of(name)]));
  }
  return guard(record, "section", "", () => ["id", ...rules.sections.keys()], section);
}

/** The record of a resource that has no row yet. */
export function blankRecord({ sections, root }, id = null) {
  const record = { id };
  for (const section of sections.values()) record[section.name] = section === root ? {} : section.isList ? [] : null;
  return record;
}

/** Some values of a row, without unknown fields, which the row does not contain. */
export const pick = (row, names) => Object.fromEntries(names.flatMap((name) => (Object.hasOwn(row, name) ? [[name, copy(row[name])]] : [])));

/** The row that deletes a row. */
const deleted = ({ name, fields }, row, item) => ({ section: name, item, old: pick(row, [...fields.keys()]), new: null });

/**
 * Returns the rows of an edit: the differences between the base, null for a new record, and the app's record.
 *
 * A row is `{section, item?, old, new}`. `old` is null if the row is created, `new` is null if it is deleted. Otherwise both
 * contain every field of the changed groups.
 *
 * @throws {FieldMergeError} for a name that does not exist, and a value that does not fit.
 */
export function difference({ sections, root }, before, after) {
  if (before && !same(before.id, after.id)) fail("read-only", "id", "is set by the database");
  return [...sections.values()].flatMap((section) => {
    const { name } = section, old = before?.[name], now = after[name];
    if (old !== undefined && now === undefined) fail("invalid-value", name, "must be a value or null");
    if (section.isList) return listRows(section, old ?? [], now ?? []);
    if (section === root && !now) fail("invalid-value", name, "is the record itself; use delete()");
    return now ? changed(section, old, now, name) : old ? deleted(section, old) : [];
  });
}

/** The row of an edit, from the base and the app's row; none if they are equal. */
function changed(section, old, now, path, item) {
  if (!isObject(now)) fail("invalid-value", path, "must be an object");
  const names = Object.keys(now).filter((name) => {
    const at = `${path}.${name}`, value = now[name], field = section.fields.get(name);
    if (section.isList && name === "id") return false;
    // A base may have fields that these rules do not name.
    if (!section.names.includes(name)) return old && same(value, old[name]) ? false : unknown("field", name, at, section.names);
    if (value === undefined) fail("invalid-value", at, "must be a value or null");
    if (same(value, field ? old?.[name] : (old?.[name] ?? null))) return false;
    if (!field) fail("read-only", at, "is set by the database");
    checkValue(value, field, at);
    return true;
  });
  const row = { section: section.name, item, old: null, new: pick(now, names) };
  if (!old) return row;
  const all = names.flatMap((name) => section.groups.get(section.fields.get(name).group)), seen = pick(old, all);
  return names.length ? { ...row, old: seen, new: { ...seen, ...pick(now, all) } } : [];
}

/** The id of a new row: the app's, or a temporary id if the database generates ids. */
export function newId(given, { generated }, path) {
  if (given === null && !generated) fail("missing-id", path, "is needed here");
  if (given !== null && generated && !isTemporary(given)) fail("generated-key", path, "is set by the database; leave it out");
  return copy(given ?? temporaryId());
}

/** The rows of a list. */
function listRows(section, old, now) {
  if (!Array.isArray(now)) fail("invalid-value", section.name, "must be a list");
  const before = new Map(old.map((row) => [idKey(row.id), row])), seen = new Set(), rows = now.flatMap((row, index) => {
    const path = `${section.name}[${index}]`, at = `${path}.id`, given = row?.id ?? null, known = given === null ? null : before.get(idKey(given));
    const id = known ? known.id : newId(given, section, at);
    if (seen.has(idKey(id))) fail("duplicate-id", at, "is in the list twice");
    seen.add(idKey(id));
    return changed(section, known, row, path, id);
  });
  return [...rows, ...old.filter(({ id }) => !seen.has(idKey(id))).map((row) => deleted(section, row, row.id))];
}

/** Returns the rows that delete a record. */
export const deletion = ({ root }, record) => [deleted(root, record[root.name] ?? {})];
