import { FieldMergeError } from "./errors.js";
import { checkValue, copy, idKey, isTemporary, nearest, same, uuid } from "./values.js";

/** A section of a resource, ready to be asked. */
class Section {
  constructor(told) {
    this.name = told.section;
    this.kind = told.kind;
    this.generated = told.key?.some((column) => column.generated) ?? false;
    /** @type {Map<string, any>} groups by name */
    this.groups = new Map(told.groups.map((group) => [group.group, group]));
    this.readOnly = new Map((told.readOnly ?? []).map((field) => [field.field, field]));
    /** @type {Map<string, any>} the group of each field that can be written */
    this.groupOf = new Map();
    this.fields = new Map();
    for (const group of told.groups) {
      for (const field of group.fields) {
        this.fields.set(field.field, field);
        this.groupOf.set(field.field, group);
      }
    }
  }

  /** The values that a row has before it has any. */
  blank() {
    return Object.fromEntries([...this.fields.keys(), ...this.readOnly.keys()].map((name) => [name, null]));
  }

  names() {
    return [...this.fields.keys(), ...this.readOnly.keys()];
  }
}

/** What `GET /v1/rules` tells, ready to be asked. */
export class Rules {
  constructor(told) {
    this.version = told.version;
    this.limits = { body: 8388608, edits: 1000, items: 10000, page: 500, ...told.limits };
    this.resources = new Map(told.resources.map((resource) => {
      const sections = new Map(resource.sections.map((section) => [section.section, new Section(section)]));
      return [resource.resource, { name: resource.resource, sections, root: sections.values().next().value }];
    }));
  }

  /** @throws {FieldMergeError} where there is none of this name. */
  resource(name) {
    return this.resources.get(name) ?? unknown("resource", name, name, this.resources.keys());
  }
}

function unknown(what, name, path, names) {
  const near = nearest(name, names);
  throw new FieldMergeError(`unknown-${what}`, `There is no ${what} “${path}”${near ? `; did you mean “${near}”?` : "."}`, { path, near });
}

/** Returns a record whose misspelled sections and fields are errors where they are read or assigned. */
export function guarded(record, resource) {
  const guard = (target, names, prefix, what) => new Proxy(target, {
    get(object, name) {
      if (typeof name === "string" && !(name in object) && !names.includes(name) && name !== "then" && name !== "toJSON") {
        unknown(what, name, prefix + name, names);
      }
      const value = object[name];
      const section = prefix === "" && resource.sections.get(name);
      return section && section.kind !== "list" && value && typeof value === "object"
        ? guard(value, section.names(), `${name}.`, "field") : value;
    },
    set(object, name, value) {
      if (typeof name === "string" && !names.includes(name)) unknown(what, name, prefix + name, names);
      object[name] = value;
      return true;
    },
  });
  return guard(record, ["id", ...resource.sections.keys()], "", "section");
}

/** The record of a resource that has no row yet. */
export function blankRecord(resource) {
  const record = { id: null };
  for (const section of resource.sections.values()) {
    record[section.name] = section === resource.root ? {} : section.kind === "list" ? [] : null;
  }
  return record;
}

/** Returns the fields of the row that can be written and are there. */
const written = (row, section) => Object.fromEntries([...section.fields.keys()].filter((name) => name in row).map((name) => [name, row[name]]));

/**
 * Returns the rows of an edit: what differs between a record as it was seen and as the app left it.
 *
 * A row is `{section, item?, kind}` and, by kind, `groups` (each with the fields of `old` and `new`), `new` or `old`.
 *
 * @throws {FieldMergeError} for a name that does not exist, and a value that does not fit.
 */
export function difference(resource, before, after, creates) {
  const rows = {};
  for (const name of Object.keys(after)) {
    if (name !== "id" && !resource.sections.has(name)) unknown("section", name, name, resource.sections.keys());
  }
  for (const section of resource.sections.values()) {
    const old = before?.[section.name] ?? null, now = after[section.name] ?? null;
    if (section.kind === "list") Object.assign(rows, listRows(section, old ?? [], now ?? []));
    else if (section === resource.root && creates) rows[section.name] = created(section, now ?? {}, section.name);
    else if (section === resource.root && now === null) {
      throw new FieldMergeError("invalid-value", `“${section.name}” is the record itself; use delete().`, { path: section.name });
    } else {
      const row = old === null ? now === null ? null : created(section, now, section.name)
        : now === null ? { section: section.name, kind: "delete", old: copy(written(old, section)) }
          : changed(section, old, now, section.name);
      if (row) rows[section.name] = row;
    }
  }
  return rows;
}

function created(section, row, path, item) {
  checkNames(section, row, path);
  const fields = {};
  for (const [name, field] of section.fields) {
    if (!(name in row) || row[name] === undefined) continue;
    checkValue(row[name], field, `${path}.${name}`);
    fields[name] = copy(row[name]);
  }
  for (const name of section.readOnly.keys()) {
    if (row[name] !== undefined && row[name] !== null) readOnly(`${path}.${name}`);
  }
  return { section: section.name, item, kind: "create", new: fields };
}

function changed(section, old, now, path, item) {
  checkNames(section, now, path);
  const groups = {};
  for (const [name, field] of section.fields) {
    if (now[name] === undefined || same(now[name], old[name])) continue;
    checkValue(now[name], field, `${path}.${name}`);
    const group = section.groupOf.get(name);
    if (groups[group.group]) continue;
    const pick = (row) => Object.fromEntries(group.fields.map((one) => [one.field, copy(row[one.field] ?? null)]));
    groups[group.group] = { old: pick(old), new: pick({ ...old, ...Object.fromEntries(Object.entries(now).filter(([, value]) => value !== undefined)) }) };
  }
  for (const name of section.readOnly.keys()) {
    if (now[name] !== undefined && !same(now[name], old[name])) readOnly(`${path}.${name}`);
  }
  return Object.keys(groups).length ? { section: section.name, item, kind: "edit", groups } : null;
}

function listRows(section, old, now) {
  if (!Array.isArray(now)) throw new FieldMergeError("invalid-value", `“${section.name}” is a list.`, { path: section.name });
  const rows = {}, before = new Map(old.map((row) => [idKey(row.id), row])), seen = new Set();
  const put = (row) => { if (row) rows[`${section.name}/${idKey(row.item)}`] = row; };
  now.forEach((row, index) => {
    const path = `${section.name}[${index}]`;
    if (typeof row !== "object" || row === null) throw new FieldMergeError("invalid-value", `“${path}” must be an object.`, { path });
    const key = row.id === undefined || row.id === null ? null : idKey(row.id);
    if (key !== null && seen.has(key)) throw new FieldMergeError("duplicate-id", `“${path}.id” stands twice in the list.`, { path: `${path}.id` });
    if (key !== null) seen.add(key);
    if (key !== null && before.has(key)) return put(changed(section, before.get(key), row, path, before.get(key).id));
    if (key === null && !section.generated) throw new FieldMergeError("missing-id", `“${path}” needs an id: the database gives none.`, { path: `${path}.id` });
    if (key !== null && section.generated && !isTemporary(row.id)) {
      throw new FieldMergeError("generated-key", `“${path}.id” is given by the database; leave it out.`, { path: `${path}.id` });
    }
    put(created(section, row, path, key === null ? `tmp:${uuid()}` : copy(row.id)));
  });
  for (const [key, row] of before) {
    if (!seen.has(key)) put({ section: section.name, item: row.id, kind: "delete", old: copy(written(row, section)) });
  }
  return rows;
}

function checkNames(section, row, path) {
  if (typeof row !== "object" || row === null || Array.isArray(row)) throw new FieldMergeError("invalid-value", `“${path}” must be an object.`, { path });
  for (const name of Object.keys(row)) {
    if (section.fields.has(name) || section.readOnly.has(name) || (section.kind === "list" && name === "id")) continue;
    unknown("field", name, `${path}.${name}`, section.names());
  }
}

function readOnly(path) {
  throw new FieldMergeError("read-only", `“${path}” is kept by the database; it cannot be edited.`, { path });
}

/** Returns the rows of the deletion of a record as it was seen. */
export function deletion(resource, record) {
  const { root } = resource;
  return { [root.name]: { section: root.name, kind: "delete", old: copy(written(record[root.name] ?? {}, root)) } };
}
