import { editOf, onTheWire } from "./layers.js";
import { settle } from "./told.js";
import { uuid } from "./values.js";
import { inOrder, names } from "./work.js";

/*
 * Pushes on their way, as parts of a local transaction (`work`).
 */

/**
 * Stores the bytes and keys of the pushes that go into the next request, and returns them; none before a snapshot that
 * pushes of another history wait for. A push that cannot be built is refused.
 *
 * @param {import("./work.js").Work} work
 * @param {boolean} isSingle one push alone
 * @param {number} now milliseconds since 1970, by the gateway's clock
 */
export async function freeze(work, isSingle, now) {
  const { stamp, rules, meta } = work, pushes = meta.isRebuilding ? [] : await work.pushes(), chosen = [], frozen = [];
  let size = 0;
  for (const push of pushes) {
    if (push.settled) continue;
    if (!push.body && push.edits.some((edit) => work.isStale(edit))) break;
    // The answer to a creation tells what the database filled in: what builds on that is frozen behind it.
    if (!push.body && push.edits.some((edit) => chosen.some((other) => editOf(other, edit))) && work.decisions.isUnknown(work, chosen, push)) break;
    const { edits, atomic, key = uuid() } = push;
    let { body } = push;
    try {
      body ??= JSON.stringify({
        key, feed: meta.feed || undefined, sent: new Date(now).toISOString(), rules: rules.version, edits: edits.map((edit) => onTheWire(edit, rules)), atomic,
      });
    } catch (error) {
      await settle(work, push, [], work.decisions.localProblem("not-built", 422, `This edit cannot be sent: ${error?.message}`));
      return freeze(work, isSingle, now);
    }
    const needed = pushes.filter((other) => other.settled && !chosen.includes(other) && names(body, other.settled));
    for (const other of [...needed, { body }]) size += other.body.length * 2;
    if (chosen.length && (isSingle || chosen.length + needed.length >= 500 || size > rules.limits.body)) break;
    // An older version has not counted its requests.
    const doubt = push.doubt ?? (push.body ? 1 : 0);
    frozen.push(Object.assign(push, { key, body, stamp: push.stamp ?? stamp, doubt: doubt + 1 }));
    chosen.push(...needed, push);
  }
  for (const push of frozen) await work.tx.put("p", push.seq, push);
  return inOrder(chosen);
}

/** Stores that a request wrote nothing of its pushes. */
export async function nothingWritten(work, pushes) {
  for (const { seq, key } of pushes) {
    const push = await work.push(seq);
    if (push?.key === key && push.doubt) await work.tx.put("p", seq, { ...push, doubt: push.doubt - 1 });
  }
}
