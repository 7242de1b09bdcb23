import { nameOf } from "./layers.js";
import { invalid, placeOf } from "./query.js";
import { copy, same } from "./values.js";

/*
 * References that queries follow; loaded with the first query that follows any.
 */

/** The reference that a path names. */
function referenceOf(rules, path) {
  const { section, field, isList } = placeOf(rules, path), { references } = rules.sections.get(section)?.fields.get(field) ?? {};
  if (!references || isList) invalid(path, "is no reference of the root or of a singleton. Follow a field with “references”.");
  return { section, field, resource: references };
}

/**
 * Compiles the references of a query to a function that reads, for some records, the records that they refer to.
 *
 * It returns `followed`: for each record, by name, the referred record, or null. With the result of an earlier call for a live
 * query, equal records are the same objects, and `isOther` is true if a record differs. `isOf` returns whether changes concern
 * them, `resources` are their resources.
 *
 * @param {Record<string, string>} follow paths by name
 */
export function beside(rules, follow) {
  const references = Object.entries(follow).map(([name, path]) => ({ name, ...referenceOf(rules, path) })), resources = references.map(({ resource }) => resource);
  return async (work, records, before) => {
    const places = new Map(), followed = [];
    const read = async (resource, given) => {
      const place = { resource, id: await work.resolve(given) }, name = nameOf(place);
      if (!places.has(name)) {
        const record = await work.read(place), known = before?.places.get(name);
        places.set(name, known && record && same(known, record) ? known : work.tx.store ? record : copy(record));
      }
      return places.get(name);
    };
    for (const record of records) {
      const found = {};
      for (const { name, section, field, resource } of references) {
        const id = record[section]?.[field] ?? null;
        found[name] = id === null ? null : await read(resource, id);
      }
      followed.push(found);
    }
    const isOther = places.size !== before?.places.size || [...places].some(([name, record]) => before.places.get(name) !== record);
    // The app gets enumerable properties only.
    return Object.create({ places, resources, isOther, isOf: (changes) => changes.some((place) => places.has(nameOf(place))) }, { followed: { value: followed, enumerable: true } });
  };
}
