import { LostAnswer } from "./errors.js";
import { Told } from "./told.js";
import { idKey, uuid } from "./values.js";

/**
 * Loaded for a first sync, or one from the start: reads every record, a batch in a transaction, and then drops those that
 * were not told. A snapshot that breaks off goes on where it broke.
 *
 * @param {{local: import("./local.js").Local, gateway: import("./network.js").Gateway, clock: any, signal: AbortSignal,
 *   resources: string[] | null, kept: string[] | null, batch: number, progressed: (progress: any) => void}} task `resources`
 *   are those that are asked for, `kept` those that the app wants
 * @returns {Promise<string | undefined>} the version of the rules that the snapshot speaks of
 */
export async function download(task) {
  try {
    return await readSnapshot(task);
  } catch (error) {
    if (error.answer?.problem?.code !== "no-feed") throw error;
    await readPages(task);
  }
}

async function readSnapshot({ local, gateway, clock, signal, resources, kept: wanted, batch, progressed }) {
  let lines = [], { snapshot } = await local.place(), isFirst = true, rules, isWhole = snapshot?.isWhole;
  /** Runs a transaction, where no other tab has begun anew. */
  const continued = (body) => local.write(async (work) => {
    const meta = await work.meta();
    if (meta.snapshot?.generation !== snapshot.generation) throw new LostAnswer({ kind: "lost", error: "Another tab began anew." });
    return body(work, meta);
  });
  const store = async (cursor) => {
    const told = lines.splice(0);
    progressed(await continued(async (work, { snapshot: kept }) => {
      await new Told(work).records(told);
      kept.done += told.length;
      if (cursor) kept.cursor = cursor;
      return { done: kept.done, total: kept.total };
    }));
  };
  const query = new URLSearchParams({ ...(resources && { resources }), ...(snapshot?.cursor && { after: snapshot.cursor }) });
  try {
    for await (const line of isWhole ? [] : gateway.lines(`/v1/snapshot?${query}`, signal)) {
      if (isFirst) {
        const { feed, revision, records: total } = line.snapshot ?? {};
        if (typeof revision !== "number") throw new LostAnswer({ kind: "lost" });
        isFirst = false;
        rules = line.snapshot.rules;
        if (!snapshot) await local.note({ snapshot: (snapshot = { generation: uuid(), feed, revision, done: 0, total, cursor: null }) });
        else if (feed !== snapshot.feed || revision !== snapshot.revision) throw new LostAnswer({ kind: "resync" });
      } else if (line.record !== undefined) {
        if (lines.push(line) >= batch) await store();
      } else if (line.cursor) await store(line.cursor);
      else if (line.end) isWhole = true;
    }
    if (!isWhole) throw new LostAnswer({ kind: "lost" });
  } catch (error) {
    if (snapshot?.cursor && error.answer?.status === 400) throw new LostAnswer({ ...error.answer, kind: "resync" });
    throw error;
  }
  await store();
  await continued((_, { snapshot: kept }) => { kept.isWhole = true; });
  for (const resource of local.rules.resources.keys()) {
    const stale = await local.read(async (work) => (await work.bases(resource)).filter((row) => row.generation !== snapshot.generation));
    while (stale.length) await continued((work) => new Told(work).drop(resource, stale.splice(0, batch)));
  }
  const { feed, revision } = snapshot;
  await continued((_, meta) => { Object.assign(meta, { feed, revision, snapshot: null, lastSynced: clock.now(), kept: wanted }); });
  progressed(null);
  return rules;
}

/** Where the gateway keeps no journal: every record, page by page, each time. */
async function readPages({ local, gateway, clock, signal, resources }) {
  for (const resource of resources ?? local.rules.resources.keys()) {
    const told = new Set();
    for await (const records of gateway.pages(resource, signal)) {
      for (const { id } of records) told.add(idKey(id));
      await local.write((work) => new Told(work).records(records.map((record) => ({ resource, id: record.id, record }))));
    }
    await local.write(async (work) => new Told(work).drop(resource, (await work.bases(resource)).filter(({ key }) => !told.has(key))));
  }
  await local.note({ feed: "", revision: 0, lastSynced: clock.now() });
}
