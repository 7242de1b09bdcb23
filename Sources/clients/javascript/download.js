import { lost } from "./errors.js";
import { lines as linesOf } from "./lines.js";
import { range } from "./ranges.js";
import { activate, isKept } from "./regroup.js";
import { pages, record } from "./remote.js";
import { putRecords } from "./told.js";
import { idKey, isTemporary, same, uuid } from "./values.js";

/** Records that are stored in a transaction. */
const batch = 500;

/**
 * Loaded for a first sync or a resync. Reads every record, a batch in a transaction, and then drops records that were not
 * in it. An interrupted snapshot continues after its last cursor.
 *
 * @param {{local: import("./local.js").Local, gateway: ReturnType<typeof import("./network.js").gatewayOf>, options: any,
 *   signal: AbortSignal, asked?: (kept: any) => string[], progressed: (progress: any) => void}} task `options` are those of `open`,
 *   `asked` returns the requested resources
 * @returns {Promise<string | void>} the version of the rules of the snapshot
 */
export async function download(task) {
  // An app that keeps no resources needs no records.
  if (task.asked(task.local.meta.kept)?.length === 0) return task.local.note({ feed: "", revision: 0 });
  try {
    return await readSnapshot(task);
  } catch (error) {
    if (error.answer?.problem?.code !== "no-feed") throw error;
    await readPages(task);
  }
}

/**
 * Fetches the records of stale resources again, and activates their new rules with the last record. The revision does not
 * change: repeated changes do no harm. Of a resource that is not kept, only records with edits are fetched.
 *
 * @param task as for `download`
 */
export async function refresh(task) {
  const { local, gateway, signal } = task, only = local.rules.stale.filter((name) => isKept(local, name)), others = local.rules.stale.filter((name) => !isKept(local, name));
  for (const place of await local.read((work) => editedIn(work, others))) await record({ local, gateway }, place.resource, place.id, signal);
  if (others.length) await local.write((work) => activateOthers(local, work, others));
  if (!only.length) return;
  try {
    await readSnapshot(task, only);
  } catch (error) {
    if (error.answer?.problem?.code !== "no-feed") throw error;
    await readPages(task, only);
  }
}

/** The records of some resources that edits build on. */
const editedIn = async (work, names) => (await work.pushes()).flatMap(({ edits }) => edits.filter(({ resource, id }) => names.includes(resource) && !isTemporary(id)));

/** Drops the copies of a resource that is not kept, except those that edits build on. */
async function activateOthers(local, work, names) {
  const needed = new Set((await editedIn(work, names)).map(({ resource, id }) => `${resource}\n${idKey(id)}`));
  for (const name of names) for (const { key, record: { id } } of await basesOf(work, name)) if (!needed.has(`${name}\n${key}`)) await work.putBase({ resource: name, id }, null);
  await activate(local, work, names);
}

/** @param {string[]} [only] the resources whose records are replaced; without it all, and also the feed's position */
async function readSnapshot({ local, gateway, options, signal, asked, progressed }, only) {
  const meta = await local.place(), { kept } = meta, resources = only ?? asked(kept);
  let lines = [], { snapshot, feed: known, revision: since, keep, filter: current, target = { filter: keep }, isDue } = meta, isFirst = true, rules;
  // The records of another subset are the difference, while there is a place in the changes.
  const unless = !only && since !== null && known && isDue ? `${known}:${since}` : undefined;
  if (!only && snapshot?.unless !== unless) snapshot = null;
  const filter = only ? current : snapshot ? snapshot.filter : unless ? target.filter : keep;
  let isWhole = snapshot?.isWhole;
  /** Runs a transaction, unless another tab has begun a new download. */
  const continued = (body) => local.write((work) => {
    if (work.meta.snapshot?.generation !== snapshot.generation) throw lost({ error: "Another tab began anew." });
    return body(work, work.meta);
  });
  const store = async (cursor) => {
    const told = lines.splice(0);
    progressed(await continued(async (work, { snapshot: kept }) => {
      await readBases(work, told);
      await putRecords(work, told);
      kept.done += told.length;
      if (cursor) kept.cursor = cursor;
      return { done: kept.done, total: kept.total };
    }));
    if (!local.meta.isPart) local.stored?.(told);
  };
  const query = new URLSearchParams({ ...(resources && { resources }), ...(filter && { filter }), ...(unless && { unless }), ...(snapshot?.cursor && { after: snapshot.cursor }) });
  try {
    if (!isWhole) await linesOf(gateway, `/v1/snapshot?${query}`, signal, async (line) => {
      if (isFirst) {
        const { feed, revision, records: total } = line.snapshot ?? {};
        if (typeof revision !== "number") throw lost({});
        isFirst = false;
        rules = line.snapshot.rules;
        if (only && rules && rules !== local.rules.version) throw lost({}, "rules");
        // Another feed shows other records.
        if (only && !snapshot && feed !== known) throw lost({}, "resync");
        // The feed of the first records. It is kept until all of them are replaced, also if another snapshot begins before.
        if (!snapshot) {
          snapshot = { generation: uuid(), feed, revision, done: 0, total, cursor: null, filter, unless, isFirst: !known };
          await local.write(({ meta }) => {
            if (!same(meta.kept, kept)) throw lost({ error: "Another tab keeps other resources." });
            Object.assign(meta, { feed: known ?? feed, snapshot }, unless && { target: { filter } });
          });
        } else if (feed !== snapshot.feed || revision !== snapshot.revision) throw lost({}, "resync");
      } else if (line.record !== undefined) {
        if (lines.push(line) >= batch) await store();
      } else if (line.cursor) await store(line.cursor);
      else if (line.end) isWhole = true;
    });
    if (!isWhole) throw lost({});
  } catch (error) {
    const isLost = error.answer?.kind === "resync" || (snapshot?.cursor && error.answer?.status === 400);
    if (!isLost) throw error;
    if (!only || !snapshot) throw lost(error.answer, "resync");
    await local.note({ snapshot: null }); // these resources are read from their beginning
    throw lost({ error });
  }
  // The effect of a new position or a new feed on edits is decided first. New rules become active with the last records.
  if (!only) await store();
  const told = lines.splice(0), { feed, revision } = snapshot;
  const end = async (work, meta) => {
    const names = only ?? (unless ? [] : work.rules.stale);
    if (names.length && (!rules || rules === work.rules.version)) await activate(local, work, names);
    if (!only) meta.seen = rules && rules !== work.rules.version ? [...((unless && meta.seen) || []), rules] : unless && meta.seen;
    Object.assign(meta, { snapshot: null }, !only && { feed, revision, lastSynced: options.clock.now() });
    if (only) return;
    delete meta.target;
    Object.assign(meta, { filter, isDue: meta.keep !== filter });
  };
  const gone = await continued(async (work, meta) => {
    await putRecords(work, told);
    const left = unless || (!only && snapshot.isFirst) ? [] : await untold(work, only ?? [...work.rules.resources.keys()], snapshot.generation);
    meta.snapshot.isWhole = true;
    if (!only || left.length > batch) return left;
    await drop(work, left, resources);
    return end(work, meta);
  });
  while (gone?.length) {
    const some = gone.splice(0, batch);
    await continued((work) => drop(work, some, resources));
  }
  if (gone) await continued(end);
  progressed(null);
  return rules ?? local.rules.version;
}

/** Reads the bases of some records, with one request for each resource if IndexedDB has few other records between them. */
async function readBases({ tx }, told) {
  if (!tx.known) return;
  for (const resource of new Set(told.map((one) => one.resource))) {
    const table = `r:${resource}`, keys = told.flatMap((one) => (one.resource === resource ? [idKey(one.id)] : [])).sort(), most = 2 * batch;
    const found = await range(tx, table, keys[0], `${keys.at(-1)}\0`, most);
    if (found.length === most) continue;
    const rows = new Map(found);
    for (const key of keys) tx.known.set(`${table}\n${key}`, rows.get(key));
  }
}

/** Base records that a snapshot did not contain. */
async function untold(work, names, generation) {
  const all = await Promise.all(names.map(async (resource) => (await basesOf(work, resource)).map((row) => ({ resource, ...row }))));
  return all.flat().filter((row) => row.generation !== generation);
}

/** Reads every record, page by page, from a gateway without a journal. */
async function readPages({ local, gateway, options, signal, asked }, only) {
  const { stale, resources: known } = local.rules, resources = only ?? asked(local.meta.kept);
  for (const resource of resources ?? new Set([...known.keys(), ...stale])) {
    const told = new Set();
    await pages(gateway, resource, signal, async (records) => {
      for (const { id } of records) told.add(idKey(id));
      await local.write((work) => putRecords(work, records));
    });
    await local.write(async (work) => drop(work, (await basesOf(work, resource)).flatMap((row) => (told.has(row.key) ? [] : { resource, ...row }))));
  }
  await local.write(async (work) => {
    if (stale.length) await activate(local, work, only ?? stale);
    Object.assign(work.meta, { feed: "", revision: 0, lastSynced: options.clock.now(), isDue: false });
  });
}

/** Every base record of a resource. */
const basesOf = async (work, resource) => (await work.tx.all(`r:${resource}`)).map(([key, { r, g }]) => ({ key, record: r, generation: g }));

/** Drops records that the server did not send. Of resources that were not requested, it keeps records with edits. */
async function drop(work, bases, requested) {
  const gone = [];
  for (const { resource, record: { id } } of bases) {
    const isRequested = requested?.includes(resource) ?? true;
    if (isRequested || !(await work.pushesOf({ resource, id })).length) gone.push({ resource, id, record: null });
  }
  await putRecords(work, gone);
}
