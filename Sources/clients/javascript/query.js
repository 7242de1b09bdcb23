import { FieldMergeError, loaded } from "./errors.js";
import { stringify } from "./json.js";
import { behind, idOrder, keyOf, keysOf, kinds, number, valueOf, wordsIn, wordsOf } from "./keys.js";
import { namedIn } from "./layers.js";
import { range } from "./ranges.js";
import { unknown } from "./rules.js";
import { checkValue, copy, idKey, isObject, isTemporary, nearest } from "./values.js";

/*
 * Queries, loaded with the first of them. A query is compiled to a test of a record and the texts by which it is sorted
 * (`keys.js`). Scans, indexes and live queries use the same two.
 */

/** Milliseconds from which on `diagnose()` lists a query. */
const slow = 100;

export const invalid = (path, text, near) => { throw new FieldMergeError("invalid-query", `“${path}” ${text}`, { path, near }); };

/** Checks the names of an object. */
function checkNames(given, names, path) {
  for (const name of Object.keys(given)) {
    if (!names.includes(name)) invalid(path ?? name, `is no query: “${name}” is unknown. Use ${names.join(", ")}.`, nearest(name, names));
  }
}

/** The place that a path names. */
export function placeOf({ sections, root }, path) {
  const [name, field] = path.split(/\./), section = sections.get(name), types = (one) => (one.key ?? []).map(({ type }) => type);
  if (path === "id") return { type: types(root) };
  if (!section) unknown("section", name, path, sections.keys());
  const { isList } = section;
  if (isList && field === "id") return { section: name, isList, type: types(section) };
  if (!section.types.has(field)) unknown("field", field ?? "", path, section.types.keys());
  return { section: name, field, isList, type: section.types.get(field) };
}

/** The text of a value in a condition; the value must have the field's type. */
function valueKey(given, { field, type }, path, ids) {
  const value = ids.get(given) ?? given, isOne = isTemporary(value), parts = [value].flat();
  const isFit = value === undefined ? false
    : !field ? isOne || (parts.length === (type.length || 1) && parts.every((part) => ["string", "number"].includes(typeof part)))
    : value === null ? true : kinds[type] === kinds.integer ? isOne || number(value) !== undefined : type === "json" ? typeof value !== "object" : !!kinds[type] || typeof value === "string";
  if (!isFit) throw new FieldMergeError("invalid-value", `“${path}” is no ${field ? type : "id"}: ${JSON.stringify(value) ?? value}`, { path });
  if (!field) return `1${idOrder(value, type)}`;
  if (type === "date" || (kinds[type] && kinds[type] !== kinds.integer)) checkValue(type === "datetime" && value?.length === 10 ? `${value}T00:00:00` : value, { type }, path);
  return keyOf(value, type === "set" ? "text" : type);
}

/** A condition: a test of the texts of values and, unless it is a negation, ranges that contain all that match. */
function conditionOf(given, place, path, ids) {
  const key = (value) => valueKey(value ?? undefined, place, path, ids), point = (low) => [low, low + behind];
  const within = (ranges) => ({ ranges, test: (keys) => keys.some((one) => ranges.some(([low, high]) => one >= low && one < high)) });
  if (!isObject(given) || given instanceof String) {
    const points = new Set((Array.isArray(given) ? given : [given]).map((value) => valueKey(value, place, path, ids)));
    return { ranges: Array.from(points, point), isExact: true, test: (keys) => keys.some((one) => points.has(one)) };
  }
  checkNames(given, "from before startsWith not".split(" "), path);
  const { from, before, startsWith, not } = given, all = [];
  if (from !== undefined || before !== undefined) {
    if (place.type === "json") invalid(path, "is JSON, which has no ranges.");
    all.push(within([[from === undefined ? "1" : key(from), before === undefined ? "2" : key(before)]]));
  }
  if (startsWith !== undefined) {
    if (!place.field || kinds[place.type] || place.type === "date") invalid(path, "is no text. Use “startsWith” with texts.");
    all.push(within([[key(startsWith), `${key(startsWith)}\uffff`]]));
  }
  if (not !== undefined) {
    const { test } = conditionOf(not, place, path, ids);
    all.push({ test: (keys) => !test(keys) });
  }
  if (!all.length) invalid(path, "has no condition. Use a value, a list, from, before, startsWith or not.");
  return { ranges: all.find(({ ranges }) => ranges)?.ranges, isExact: all.length === 1 && not === undefined, test: (keys) => all.every(({ test }) => test(keys)) };
}

/** Compares the texts by which records are sorted. */
const comparing = (order) => (one, other) => {
  for (let index = 0; index < one.length; index++) {
    if (one[index] !== other[index]) return (one[index] < other[index]) !== !!order[index]?.isDown ? -1 : 1;
  }
  return 0;
};

/**
 * Compiles a query by the rules of its resource.
 *
 * @param {{where?: object, search?: string, sort?: string[], limit?: number, after?: string}} options
 * @param {string[]} [searched] the paths that `search` reads
 * @param {Map<string, any>} ids the real ids of temporary ids in the query
 */
function compile(rules, options, searched, ids) {
  const { where = {}, search, sort = [], limit, after } = options;
  checkNames(options, "where search sort limit after follow signal".split(" "));
  if (limit !== undefined && !(Number.isSafeInteger(limit) && limit > 0)) invalid("limit", "must be an integer above zero.");
  if (search !== undefined && !searched) invalid("search", "needs fields of this resource: name them in “search” at “open”.");
  const conditions = Object.entries(where).map(([path, given]) => {
    const place = placeOf(rules, path);
    return { path, place, ...conditionOf(given, place, path, ids) };
  });
  const order = sort.map((given) => {
    const isDown = given[0] === "-", path = isDown ? given.slice(1) : given, place = placeOf(rules, path);
    if (place.isList || place.type === "set") invalid(path, "has several values. Sort by a field of the root or of a singleton.");
    return { path, place, isDown };
  });
  const idPlace = placeOf(rules, "id"), columns = [...order.map(({ place }) => place), idPlace], compare = comparing(order);
  const places = (searched ?? []).map((path) => placeOf(rules, path)), words = search === undefined ? [] : wordsOf(String(search));
  let start = null;
  if (after !== undefined && after !== null) {
    try { start = JSON.parse(after); } catch { /* it is none */ }
    if (!Array.isArray(start) || start.length !== columns.length + 1 || start.at(-1) !== sort.join()) invalid("after", "is no “next” of this query.");
  }
  return {
    conditions, words, places, order, compare, limit, start, idPlace, unmapped: [...ids.keys()].filter((id) => ids.get(id) === id),
    matches: (record) => conditions.every(({ place, test }) => {
      const keys = keysOf(record, place), known = keys.filter(Boolean);
      return (known.length || !keys.length) && test(known);
    }) && (!words.length || isFound(wordsIn(record, places), words)),
    /** The texts by which a record is sorted. */
    orderOf: (record) => columns.map((place) => keysOf(record, place)[0]),
    /** Whether a position in the order is after the previous page. */
    isBehind: (own) => !start || compare(own, start) > 0,
    nextOf: (own) => JSON.stringify([...own, sort.join()]),
  };
}

const isFound = (found, words) => words.every((word) => found.some((one) => one.startsWith(word)));

/** Compiles a query by the active rules; null before the first sync, when there are none. */
export async function compiled(work, desk, resource, options) {
  const rules = work.rules?.resource(resource), ids = new Map();
  for (const id of namedIn(stringify(options.where ?? {}))) ids.set(id, await work.resolve(id));
  return rules ? { resource, ...compile(rules, options, desk.options.search?.[resource], ids), beside: options.follow && desk.follow.beside(rules, options.follow) } : null;
}

/** The records of a resource that have unsent edits, as the app reads them, by the keys under which they are stored. */
export async function editedOf(work, resource) {
  const edited = new Map();
  if (!work.meta.unsent) return edited;
  for (const [name] of await range(work.tx, "q", `${resource}\n`, `${resource}\n\uffff`)) {
    const key = name.slice(resource.length + 1);
    edited.set(key, await work.read({ resource, id: key.split(",").map(decodeURIComponent) }));
  }
  return edited;
}

/**
 * Runs a query.
 *
 * @param {any} indexes the keeper of the store's indexes, if it has any
 * @param {number} [count] the maximum number of rows
 * @returns {Promise<{rows: {record: any, order: string[]}[], read: number, index: string | null}>} each record with its sort
 *   texts; the number of read records, and the path of the index
 */
export async function run(work, query, indexes, count) {
  const edited = await editedOf(work, query.resource), found = { rows: [], read: 0, index: null };
  const consider = (record) => {
    found.read += 1;
    if (!query.matches(record)) return;
    const order = query.orderOf(record);
    if (query.isBehind(order)) found.rows.push({ record, order });
  };
  if (!work.meta.indexes || !(await indexes?.scan(work, query, count, edited, found, consider))) {
    Object.assign(found, { rows: [], read: 0, index: null });
    for (const [key, { r }] of await work.tx.all(`r:${query.resource}`)) if (!edited.has(key)) consider(r);
  }
  for (const record of edited.values()) if (record) consider(record);
  found.rows.sort((one, other) => query.compare(one.order, other.order));
  if (count) found.rows.length = Math.min(found.rows.length, count);
  return found;
}

/** Loads data for a query before its transaction: the records of a resource that is not kept, and the module of references. */
export async function prepare(desk, resource, { signal, follow }) {
  if (follow) desk.follow ??= await loaded(import("./follow.js"));
  await desk.reach(resource, signal);
}

/** Runs the body of a query when the records are available, and notes its duration. */
export async function timed(desk, local, resource, options, body) {
  await prepare(desk, resource, options);
  const begun = performance.now(), told = {};
  const result = await local.read(async (work) => {
    const query = await compiled(work, desk, resource, options);
    return query && body(work, query, told);
  });
  const milliseconds = Math.round(performance.now() - begun), { where = {}, sort = [], limit, search } = options;
  // No values: a report goes to support.
  if (milliseconds >= slow) desk.slow = [...(desk.slow ?? []).slice(-19), { resource, where: Object.keys(where), sort, limit, search: search !== undefined, milliseconds, ...told }];
  return result;
}

/** The records that match, in order, with `next` for the following page. */
export async function query(desk, local, resource, options = {}) {
  const found = await timed(desk, local, resource, options, async (work, query, told) => {
    const { rows, read, index } = await run(work, query, local.indexes, query.limit && query.limit + 1), { limit = Infinity } = query;
    Object.assign(told, { read, index });
    // The browser's database returns copies.
    const records = rows.slice(0, limit).map(({ record }) => (work.tx.store ? record : copy(record)));
    return Object.assign(records, { next: rows.length > limit ? query.nextOf(rows[limit - 1].order) : null, ...(await query.beside?.(work, records)) });
  });
  return found ?? Object.assign([], { next: null });
}
