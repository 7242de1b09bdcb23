import { isObject } from "./values.js";

/*
 * Earlier names of fields and groups (`formerly` in the rules). Edits, forms and entries of lists that use them are translated
 * when new rules are taken. A name that the section still has is never translated.
 */

/** The new names by earlier names. */
function newNames(section, earlier, nameOf, has) {
  const names = Object.create(null);
  for (const field of section?.fields.values() ?? []) for (const name of field[earlier] ?? []) if (!has(name)) names[name] = nameOf(field);
  return names;
}

const inObject = (values, names) => values && Object.fromEntries(Object.entries(values).map(([name, value]) => [names[name] ?? name, value]));

const fieldNames = (section) => newNames(section, "formerly", (field) => field.field, (name) => section.fields.has(name));

/** The name of a group now. */
export const renamedGroup = (group, section) => newNames(section, "earlier", (field) => field.group, (name) => section.groups.has(name))[group] ?? group;

/** A row of an edit under the names of its section now. */
export function renamedRow(row, section) {
  const names = fieldNames(section);
  return { ...row, old: inObject(row.old, names), new: inObject(row.new, names) };
}

/** An edit under the names of the rules now. */
export function renamedEdit(edit, sections) {
  const faulty = edit.faulty?.map((one) => ({ ...one, ...(one.group !== undefined && { group: renamedGroup(one.group, sections?.get(one.section)) }) }));
  return { ...edit, rows: edit.rows.map((row) => renamedRow(row, sections?.get(row.section))), ...(faulty && { faulty }) };
}

/** Gives the fields of a record the names of the rules now, in the same objects. */
export function rename(record, sections) {
  for (const section of sections.values()) {
    const names = Object.entries(fieldNames(section)), rows = names.length ? [record?.[section.name] ?? []].flat().filter(isObject) : [];
    for (const row of rows) for (const [before, name] of names) if (Object.hasOwn(row, before)) {
      row[name] = row[before];
      delete row[before];
    }
  }
}

/** An entry of the list of conflicts under the names of the rules now, its values with the fields of its group now. */
export function renamedConflict(entry, sections, before) {
  const section = sections?.get(entry.section), names = fieldNames(section), had = before?.get(entry.section)?.groups.get(entry.group);
  const group = entry.group === undefined ? undefined : homeOf(entry.group, had, section, names), has = section?.groups.get(group);
  const isBare = has?.length === 1, wasBare = had ? had.length === 1 : isBare, turned = (value) => {
    if (group === undefined || !(wasBare || isBare)) return typeof value === "object" ? inObject(value, names) : value;
    if (wasBare === isBare || !has) return value;
    return wasBare ? { [names[had[0]] ?? had[0]]: value } : value && (inObject(value, names)[has[0]] ?? null);
  };
  const sides = ["old", "current", "new", "written"].filter((side) => entry[side] !== undefined);
  return { ...entry, ...Object.fromEntries(sides.map((side) => [side, turned(entry[side])])), ...(group !== undefined && { group }) };
}

/** The current name of a group: its new name, or the name of the group that contains all of its fields. */
function homeOf(group, fields = [], section, names) {
  const name = renamedGroup(group, section), homes = new Set(fields.map((field) => section?.fields.get(names[field] ?? field)?.group));
  return section?.groups.has(name) || homes.size !== 1 ? name : ([...homes][0] ?? name);
}
