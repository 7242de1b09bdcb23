import { stringify } from "./json.js";
import { groupsOf, isChange, namedIn } from "./layers.js";
import { pick } from "./rules.js";
import { inOrder } from "./work.js";

/*
 * Pushes on their way, as parts of a local transaction (`work`).
 */

/** The value of a group in a request: without an object if the group has one field. */
export const bare = (row, names, isBare = names.length === 1) => row && (isBare ? pick(row, names)[names[0]] : pick(row, names));

/** The edit as it is in a push. */
export function onTheWire({ resource, id, rows }, rules) {
  const changeset = new Map();
  for (const row of rows) {
    const { section: name, item, old, new: value } = row, section = rules.resources.get(resource)?.sections.get(name);
    // Several fields are an object, even if only one of them is left.
    const groups = isChange(row) && groupsOf(row, section).map(([group, names]) => {
      const isBare = !(section?.groups.get(group)?.length > 1);
      return [group, { old: bare(old, names, isBare), new: bare(value, names, isBare) }];
    });
    const told = groups ? Object.fromEntries(groups) : { old, new: value };
    changeset.set(name, item === undefined ? told : [...(changeset.get(name) ?? []), { id: item, ...told }]);
  }
  return { resource, id, changeset: Object.fromEntries(changeset) };
}

/** The size in bytes from which a push has a separate request, for which no other push waits. */
const large = 256 * 1024;

const bytesOf = (text) => new TextEncoder().encode(text).length;

/** The bytes of a push. They must follow from stored data, so bytes that cannot be stored have no time. */
const bodyOf = ({ key, edits, atomic, body }, { rules, meta, isReading }, now) => body ?? stringify({
  key, feed: meta.feed || undefined, sent: isReading ? undefined : new Date(now).toISOString(), rules: rules.version, edits: edits.map((edit) => onTheWire(edit, rules)), atomic,
});

/**
 * Stores the bytes of the pushes of the next request. A push that cannot be built is refused. Pushes of stale resources and
 * large pushes are skipped; if there are no others, the first large push is sent alone.
 *
 * @param {import("./work.js").Work} work
 * @param {{limit: number, isSingle?: boolean, takesLarge: boolean, now: number}} options `limit`: bytes of a request;
 *   `isSingle`: one push alone; `takesLarge`: permits a large push; `now`: milliseconds since 1970, by the gateway's clock
 * @returns {Promise<{pushes: any[], isLarge: boolean, isHeld: boolean}>} `pushes` begins with repeated pushes; `isHeld`: all
 *   other pushes wait for a large push
 */
export async function freeze(work, { limit, isSingle, takesLarge, now }) {
  const { meta } = work, chosen = new Map(), byRecord = new Map();
  let held = null, size = 0, big = null, isStale = false, isHeld = false;
  const needs = async (body) => (await work.naming(namedIn(body))).filter(({ settled, seq }) => settled && !chosen.has(seq));
  // Nothing is sent before the snapshot that pushes of another history wait for.
  for await (const push of meta.isRebuilding ? [] : work.queue()) {
    if (push.settled) continue;
    const waits = held?.holds(push), isOwnStale = !push.body && push.edits.some((edit) => work.isStale(edit));
    isStale ||= isOwnStale;
    // The answer to a creation contains values that the database filled in. Edits that need them are frozen after it.
    const below = push.records.flatMap((name) => byRecord.get(name) ?? []);
    if (!push.body && !waits && below.length && work.decisions.isUnknown(work, below, push)) break;
    let body;
    try { body = waits || isOwnStale ? "" : bodyOf(push, work, now); } catch (error) {
      (held ??= work.decisions.passedOver(work)).add(push);
      if (work.isReading) continue;
      await work.decisions.notBuilt(work, push, error);
      return freeze(work, { limit, isSingle, takesLarge, now });
    }
    // An older version has not counted its requests.
    const next = { ...push, body, stamp: push.stamp ?? work.stamp, doubt: (push.doubt ?? (push.body ? 1 : 0)) + 1 };
    const bytes = bytesOf(body), isLarge = bytes > large;
    if (isLarge || !bytes) {
      if (isLarge) big ??= [...(await needs(body)), next];
      isHeld ||= isLarge;
      (held ??= work.decisions.passedOver(work)).add(push);
      continue;
    }
    const needed = await needs(body);
    for (const other of needed) size += bytesOf(other.body);
    size += bytes;
    if (chosen.size && (isSingle || chosen.size + needed.length >= 500 || size > limit)) break;
    for (const one of [...needed, next]) chosen.set(one.seq, one);
    for (const name of push.records) byRecord.set(name, [...(byRecord.get(name) ?? []), push]);
  }
  const isLarge = !chosen.size && takesLarge && !!big, pushes = inOrder(isLarge ? big : [...chosen.values()]);
  for (const push of pushes) if (!push.settled) await work.keep(push);
  return { pushes, isLarge, isHeld: isHeld && !isStale };
}
