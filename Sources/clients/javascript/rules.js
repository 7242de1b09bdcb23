import { FieldMergeError, fail } from "./errors.js";
import { checkValue, copy, idKey, isObject, isTemporary, nearest, same, temporaryId } from "./values.js";

/** A section of a resource, ready to be asked. */
class Section {
  /** Fields that can be written, and the group of each, by name. */
  fields = new Map();
  groupOf = new Map();

  constructor({ section, kind, key, groups, readOnly = [] }) {
    this.name = section;
    this.isList = kind === "list";
    this.generated = key?.some((column) => column.generated) ?? false;
    /** @type {Map<string, any>} groups by name */
    this.groups = new Map(groups.map((group) => [group.group, group]));
    for (const group of groups) {
      for (const field of group.fields) {
        this.fields.set(field.field, field);
        this.groupOf.set(field.field, group);
      }
    }
    this.names = [...this.fields.keys(), ...readOnly.map(({ field }) => field)];
  }

  /** The values that a row has before it has any. */
  blank() { return pick({}, this.names); }
}

/** What `GET /v1/rules` tells, ready to be asked. */
export class Rules {
  constructor({ version, limits, resources }) {
    this.version = version;
    this.limits = { body: 8388608, items: 10000, ...limits };
    this.resources = new Map(resources.map(({ resource, sections: told }) => {
      const sections = new Map(told.map((section) => [section.section, new Section(section)]));
      return [resource, { sections, root: sections.values().next().value }];
    }));
  }

  /** @throws {FieldMergeError} where there is none of this name. */
  resource(name) { return this.resources.get(name) ?? unknown("resource", name, name, this.resources.keys()); }
}

function unknown(what, name, path, names) {
  const near = nearest(name, names);
  throw new FieldMergeError(`unknown-${what}`, `There is no ${what} “${path}”${near ? `; did you mean “${near}”?` : "."}`, { path, near });
}

/** Returns a record whose misspelled sections and fields are errors where they are read or assigned. */
export function guarded(record, { sections }) {
  const guard = (target, names, prefix) => {
    const check = (name) => { if (typeof name === "string" && !names.includes(name)) unknown(prefix ? "field" : "section", name, prefix + name, names); };
    return new Proxy(target, {
      get(object, name) {
        if (!(name in object) && name !== "then" && name !== "toJSON") check(name);
        const value = object[name], section = !prefix && sections.get(name);
        return section && isObject(value) ? guard(value, section.names, `${name}.`) : value;
      },
      set(object, name, value) {
        check(name);
        object[name] = value;
        return true;
      },
    });
  };
  return guard(record, ["id", ...sections.keys()], "");
}

/** The record of a resource that has no row yet. */
export function blankRecord({ sections, root }, id = null) {
  const record = { id };
  for (const section of sections.values()) record[section.name] = section === root ? {} : section.isList ? [] : null;
  return record;
}

const pick = (row, names) => Object.fromEntries(names.map((name) => [name, copy(row[name] ?? null)]));

/** The row of the deletion of a row as it was seen. */
const deleted = (section, row, item) => ({ section: section.name, item, kind: "delete", old: pick(row, [...section.fields.keys()].filter((name) => name in row)) });

/**
 * Returns the rows of an edit: what differs between a record as it was seen and as the app left it.
 *
 * A row is `{section, item?, kind}` and, by kind, `groups` (each with the fields of `old` and `new`), `new` or `old`.
 *
 * @throws {FieldMergeError} for a name that does not exist, and a value that does not fit.
 */
export function difference({ sections, root }, before, after, creates) {
  const rows = {};
  for (const name of Object.keys(after)) if (name !== "id" && !sections.has(name)) unknown("section", name, name, sections.keys());
  for (const [name, section] of sections) {
    const old = before?.[name] ?? null, now = after[name] ?? null, isNew = section === root && creates;
    if (section.isList) {
      listRows(section, old ?? [], now ?? [], rows);
      continue;
    }
    if (section === root && !creates && !now) fail("invalid-value", name, "is the record itself; use delete()");
    const row = now || isNew ? changed(section, isNew ? null : old, now ?? {}, name) : old && deleted(section, old);
    if (row) rows[name] = row;
  }
  return rows;
}

/** The row of an edit, from what was seen, null for a new one, and what the app left; null where nothing differs. */
function changed(section, old, now, path, item) {
  if (!isObject(now)) fail("invalid-value", path, "must be an object");
  const names = Object.keys(now).filter((name) => {
    const at = `${path}.${name}`, value = now[name], field = section.fields.get(name);
    if (section.isList && name === "id") return false;
    if (!section.names.includes(name)) unknown("field", name, at, section.names);
    if (value === undefined || same(value, field ? old?.[name] : (old?.[name] ?? null))) return false;
    if (!field) fail("read-only", at, "is kept by the database");
    checkValue(value, field, at);
    return true;
  });
  const row = { section: section.name, item };
  if (!old) return { ...row, kind: "create", new: pick(now, names) };
  const groups = {};
  for (const name of names) {
    const { group, fields } = section.groupOf.get(name), all = fields.map(({ field }) => field);
    groups[group] ??= { old: pick(old, all), new: { ...pick(old, all), ...pick(now, all.filter((one) => now[one] !== undefined)) } };
  }
  return names.length ? { ...row, kind: "edit", groups } : null;
}

/** Adds the rows of a list to those of an edit. */
function listRows(section, old, now, rows) {
  if (!Array.isArray(now)) fail("invalid-value", section.name, "is a list");
  const before = new Map(old.map((row) => [idKey(row.id), row])), seen = new Set();
  const put = (row) => { if (row) rows[`${section.name}/${idKey(row.item)}`] = row; };
  for (const [index, row] of now.entries()) {
    const path = `${section.name}[${index}]`, at = `${path}.id`;
    let id = row?.id ?? null;
    const known = id === null ? undefined : before.get(idKey(id));
    if (!known && id !== null && section.generated && !isTemporary(id)) fail("generated-key", at, "is given by the database; leave it out");
    if (id === null && isObject(row) && !section.generated) fail("missing-id", at, "is needed: the database gives none");
    id = known ? known.id : (copy(id) ?? temporaryId());
    if (seen.has(idKey(id))) fail("duplicate-id", at, "stands twice in the list");
    seen.add(idKey(id));
    put(changed(section, known, row, path, id));
  }
  for (const [key, row] of before) if (!seen.has(key)) put(deleted(section, row, row.id));
}

/** Returns the rows of the deletion of a record as it was seen. */
export const deletion = ({ root }, record) => ({ [root.name]: deleted(root, record[root.name] ?? {}) });
