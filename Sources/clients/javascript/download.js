import { lost } from "./errors.js";
import { lines as linesOf } from "./lines.js";
import { pages } from "./remote.js";
import { putRecord, putRecords } from "./told.js";
import { idKey, uuid } from "./values.js";

/** Records that are stored in a transaction. */
const batch = 500;

/**
 * Loaded for a first sync, or one from the start: reads every record, a batch in a transaction, and then drops those that
 * were not told. A snapshot that breaks off goes on where it broke.
 *
 * @param {{local: import("./local.js").Local, gateway: ReturnType<typeof import("./network.js").gatewayOf>, options: any,
 *   signal: AbortSignal, resources?: string[], progressed: (progress: any) => void}} task `options` are those of `open`,
 *   `resources` those that are asked for
 * @returns {Promise<string | void>} the version of the rules that the snapshot speaks of
 */
export async function download(task) {
  // Where the app keeps nothing there is nothing to read.
  if (task.resources?.length === 0) return task.local.note({ feed: "", revision: 0 });
  try {
    return await readSnapshot(task);
  } catch (error) {
    if (error.answer?.problem?.code !== "no-feed") throw error;
    await readPages(task);
  }
}

async function readSnapshot({ local, gateway, options, signal, resources, progressed }) {
  let lines = [], { snapshot, feed: known } = await local.place(), isFirst = true, rules, isWhole = snapshot?.isWhole;
  /** Runs a transaction, where no other tab has begun anew. */
  const continued = (body) => local.write((work) => {
    if (work.meta.snapshot?.generation !== snapshot.generation) throw lost({ error: "Another tab began anew." });
    return body(work, work.meta);
  });
  const store = async (cursor) => {
    const told = lines.splice(0);
    progressed(await continued(async (work, { snapshot: kept }) => {
      await putRecords(work, told);
      kept.done += told.length;
      if (cursor) kept.cursor = cursor;
      return { done: kept.done, total: kept.total };
    }));
  };
  const query = new URLSearchParams({ ...(resources && { resources }), ...(snapshot?.cursor && { after: snapshot.cursor }) });
  try {
    if (!isWhole) await linesOf(gateway, `/v1/snapshot?${query}`, signal, async (line) => {
      if (isFirst) {
        const { feed, revision, records: total } = line.snapshot ?? {};
        if (typeof revision !== "number") throw lost({});
        isFirst = false;
        rules = line.snapshot.rules;
        // The feed of the first records. It stays until all of them are replaced, also if another snapshot begins before.
        if (!snapshot) await local.note({ feed: known ?? feed, snapshot: (snapshot = { generation: uuid(), feed, revision, done: 0, total, cursor: null }) });
        else if (feed !== snapshot.feed || revision !== snapshot.revision) throw lost({}, "resync");
      } else if (line.record !== undefined) {
        if (lines.push(line) >= batch) await store();
      } else if (line.cursor) await store(line.cursor);
      else if (line.end) isWhole = true;
    });
    if (!isWhole) throw lost({});
  } catch (error) {
    if (snapshot?.cursor && error.answer?.status === 400) throw lost(error.answer, "resync");
    throw error;
  }
  await store();
  await continued((_, { snapshot: kept }) => { kept.isWhole = true; });
  for (const resource of local.rules.resources.keys()) {
    const stale = await local.read(async (work) => (await basesOf(work, resource)).filter((row) => row.generation !== snapshot.generation));
    while (stale.length) {
      const some = stale.splice(0, batch);
      await continued((work) => drop(work, resource, some));
    }
  }
  const { feed, revision } = snapshot;
  await continued((_, meta) => { Object.assign(meta, { feed, revision, snapshot: null, lastSynced: options.clock.now(), kept: options.resources }); });
  progressed(null);
  return rules;
}

/** Where the gateway keeps no journal: every record, page by page, each time. */
async function readPages({ local, gateway, options, signal, resources }) {
  for (const resource of resources ?? local.rules.resources.keys()) {
    const told = new Set();
    await pages(gateway, resource, signal, async (records) => {
      for (const { id } of records) told.add(idKey(id));
      await local.write((work) => putRecords(work, records));
    });
    await local.write(async (work) => drop(work, resource, (await basesOf(work, resource)).filter(({ key }) => !told.has(key))));
  }
  await local.note({ feed: "", revision: 0, lastSynced: options.clock.now() });
}

/** Every base record of a resource. */
const basesOf = async (work, resource) => (await work.tx.all(`r:${resource}`)).map(([key, { r, g }]) => ({ key, record: r, generation: g }));

/** Drops records that the server did not tell. */
async function drop(work, resource, bases) {
  for (const { record: { id } } of bases) await putRecord(work, { resource, id, record: null });
}
