import { FieldMergeError } from "./errors.js";
import { stringify } from "./json.js";
import { nameOf } from "./layers.js";
import { putRecord } from "./told.js";
import { isObject } from "./values.js";

/*
 * A subset on the device: only records that match `keep` of `open`. The gateway filters. Loaded if a store has or had a
 * subset (`meta.isPart`).
 *
 * `meta.keep` is the app's filter, `meta.filter` the feed's: texts, undefined for all records. If they differ (`isDue`), a
 * snapshot with the difference is due (`download.js`). `target` is the filter of a started difference, which is read to its
 * end even if the app's filter changes. `left` contains records outside the filter that have edits without an answer.
 */

const invalid = (path, text) => { throw new FieldMergeError("invalid-option", `“keep.${path}” ${text}`, { path: `keep.${path}` }); };

const sorted = (value) => Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)));

/** The filter of a subset as text; undefined for all records. The gateway checks names and values. */
function filterOf(keep = {}) {
  const filter = {};
  for (const [resource, told] of Object.entries(keep ?? {})) {
    if (!isObject(told) || Object.keys(told).some((name) => name !== "where")) invalid(resource, "must be an object with “where”.");
    for (const [path, given] of Object.entries(told.where ?? {})) {
      if (given === undefined) invalid(`${resource}.${path}`, "has no value. Use null for records without one.");
      for (const name of isObject(given) ? Object.keys(given) : []) if (!/^(before|from)$/.test(name)) invalid(`${resource}.${path}`, `cannot have “${name}”. Use a value, null, a list, from or before.`);
    }
    if (Object.keys(told.where ?? {}).length) filter[resource] = sorted(told.where);
  }
  return Object.keys(filter).length ? stringify(sorted(filter)) : undefined;
}

/** Stores the app's new subset. All tabs of a store use the subset of the last opened tab. */
export async function keep({ options }, local) {
  const filter = filterOf(options.keep);
  await local.write(({ meta, ended }) => {
    if (meta.keep === filter) return;
    Object.assign(meta, { isPart: true, keep: filter, isDue: (meta.target ?? { filter }).filter !== meta.filter });
    // A snapshot of all records of another subset is of no use.
    if (meta.revision === null) meta.snapshot = null;
    ended.add(""); // notifies the leading tab
  });
}

const names = new Map();

/** The resources of a filter. */
function resourcesOf(text) {
  if (!names.has(text)) names.set(text, text ? Object.keys(JSON.parse(text)) : []);
  return names.get(text);
}

/** Tells whether a resource is only here in part. */
const isPart = ({ meta: { keep, filter, target } }, resource) => [keep, filter, target?.filter].some((text) => resourcesOf(text).includes(resource));

const isOf = (place) => (other) => nameOf(other) === nameOf(place);

function note({ meta }, { resource, id }, hasLeft) {
  meta.left = (meta.left ?? []).filter((other) => !isOf({ resource, id })(other));
  if (hasLeft) meta.left.push({ resource, id });
  if (!meta.left.length) delete meta.left;
}

/**
 * The server's changes, without departures of records that have edits without an answer: these records are kept, since the
 * answer to their edits decides.
 */
export async function filtered(work, told) {
  const changes = [];
  for (const one of told) {
    const isLost = !one.record && !one.problem && isPart(work, one.resource), stays = isLost && !work.meta.isRebuilding && (await work.base(one)) && (await work.pushesOf(one)).length > 0;
    if (stays || work.meta.left?.some(isOf(one))) note(work, one, stays);
    // The app's own filter is no news for it.
    if (isLost && work.meta.target) work.deleted.add(nameOf(one));
    if (!stays) changes.push(one);
  }
  await leave(work);
  return changes;
}

/** Marks a record outside the store as left if it is edited or sent again; with `base`, the store has it until the answer. */
export async function revive(work, place, base) {
  if (!work.meta.isPart || !isPart(work, place.resource) || (await work.base(place))) return false;
  if (base) await work.putBase(place, base);
  note(work, place, true);
  return true;
}

/** Drops records outside the filter after the answer to their edits. */
export async function leave(work) {
  for (const place of work.meta.left ?? []) {
    if ((await work.pushesOf(place)).length) continue;
    note(work, place, false);
    await putRecord(work, { ...place, record: null });
  }
}
