import { created, mapped, nameOf } from "./layers.js";
import { copy, same } from "./values.js";

/*
 * The server's changes and results, and their effects on edits, stored within a local transaction (`work`).
 */

/** Stores the server's record; null if it was deleted. With a problem, keeps the base and adds the problem to it. */
export async function putRecord(work, { resource, id, record, problem, by = null }) {
  const place = { resource, id }, before = await work.base(place);
  if (problem) record ??= before && { ...before, problem };
  work.isTold = true;
  if (same(before, record)) return work.putBase(place, record);
  await work.touch(place);
  work.by.set(nameOf(place), by);
  await work.putBase(place, record);
  if (work.seeing) await work.decisions.see(work, { ...place, before, record: copy(record), by });
}

/** Stores many records of the server: at once, unless the app has a function for each. */
export async function putRecords(work, told) {
  if (work.meta.isPart) told = await work.decisions.filtered(work, told);
  if (!work.seeing) await Promise.all(told.map((one) => putRecord(work, one)));
  else for (const one of told) await putRecord(work, one);
}

/** Stores a page of changes if it continues from the stored position; returns whether it did. */
export async function putPage(work, { changes, feed, revision, rules }, place, lastSynced) {
  const { meta } = work;
  // Records of rules that may be past when they are read.
  if (rules && rules !== meta.rules) meta.seen = [...(meta.seen ?? []), rules];
  const isNext = changes && meta.feed === place.feed && meta.revision === place.since;
  if (isNext) {
    await putRecords(work, changes);
    Object.assign(meta, { feed, revision, lastSynced });
  }
  return isNext;
}

/**
 * Stores the outcome of a push.
 *
 * @returns {Promise<"merged" | "refused" | "retry" | "rules" | "history" | "known">}
 */
export async function answered(work, { seq, key }, answer) {
  const push = await work.push(seq);
  if (push?.key !== key || !push.body || push.settled) return "known";
  if (answer.status !== "merged") return work.decisions.unmerged(work, push, answer);
  await settle(work, push, answer.results);
  return "merged";
}

/** Ends a push: each of its edits was merged or refused; with a problem of the push itself, all were refused. */
export async function settle(work, push, results, problem) {
  const first = work.events.length, ends = await endsOf(work, push, results, problem), conflicts = work.events.slice(first), ids = Object.assign({}, ...results.map((result) => result.ids));
  for (const { edit, isRefused, id } of ends) if (edit.creates && !isRefused) ids[edit.id] ??= id;
  // Frozen bytes of later pushes may still name its temporary ids; then it is repeated before them.
  const settled = push.edits.flatMap(created);
  await work.save({ ...push, edits: [], settled: !problem && (await work.isRepeated(push.seq, settled)) ? settled : undefined });
  work.isTold = true;
  const isMapped = Object.keys(ids).length > 0;
  if (isMapped) await work.decisions.mapIds(work, ids, ends);
  for (const end of ends) if (end.record && !end.isRefused && (await work.pushesOf(end)).length) await work.decisions.fill(work, mapped(end.edit, ids), end);
  for (const ticket of await work.tickets(push)) {
    const isAbout = await work.isAbout(ticket), own = ends.filter((end) => isAbout(end) && !end.isRefused);
    await work.end(ticket, {
      status: "merged", conflicts: conflicts.filter(isAbout), record: own[0]?.record ?? null, records: own.map(({ resource, id, record }) => ({ resource, id, record })),
    });
    // Old tickets are deleted from time to time.
    if (ticket.seq % 100 === 0) await work.decisions.prune(work);
  }
  if (ends.some((end) => end.isRefused)) await work.decisions.refuse(work, push, ends, problem, !results.length, isMapped ? ids : undefined);
}

/** The outcome of each edit of a push; stores the records in their results. */
async function endsOf(work, push, results, problem) {
  // A key that was sent with an earlier place may be answered with a record that the changes have passed already.
  const ends = [], { kept } = work.meta;
  await work.touch(...push.edits);
  for (const [index, edit] of push.edits.entries()) {
    const result = results[index];
    if (!result && !problem) continue;
    // The changes never contain a record of a resource that is not kept.
    const isFresh = push.stamp === work.stamp || (kept && !kept.includes(edit.resource));
    const isRefused = !!problem || (result.status ?? "merged") !== "merged", id = isRefused ? edit.id : (result.id ?? edit.id), place = { resource: edit.resource, id };
    let record = result?.record ?? null;
    await work.touch(place);
    if (!isFresh) work.isBehind ||= !isRefused;
    else if (!isRefused || (record && !edit.creates)) {
      if (work.isDeletion(edit)) work.deleted.add(nameOf(place));
      await putRecord(work, { ...place, record, problem: result.problem });
    }
    if (isRefused) record ??= await work.base(place);
    const end = { ...place, edit, isRefused, record, problem: result ? result.problem : problem, outcomes: result?.outcomes };
    ends.push(end);
    if (result?.outcomes?.some(({ conflict, outcome }) => conflict || outcome === "missing")) ends.push(...(await work.decisions.judged(work, push, end, result)));
  }
  return ends;
}
