import { entries } from "./decisions.js";
import { stringify } from "./json.js";

/** Loaded on demand: a report on a store and its status for support, without values of records. */
export const diagnosis = (desk, local, isLeading) => local.read(async (work) => {
  const { device, feed, revision, rules = null, snapshot } = work.meta, resources = {};
  for (const resource of work.rules?.resources.keys() ?? []) resources[resource] = (await work.tx.all(`r:${resource}`)).length;
  return {
    status: desk.store.status, isLeading, server: String(desk.options.server), device, feed, revision, rules, resources, snapshot,
    pushes: (await work.pushes()).map(({ seq, key, settled, body, edits }) => ({
      seq, key, state: settled ? "repeated" : body ? "frozen" : "draft",
      edits: edits.map(({ resource, id, rows }) => ({ resource, id, rows: rows.map(({ section, item }) => (item === undefined ? section : `${section}/${item}`)) })),
    })),
    indexes: (await work.tx.all("o")).map(([name, { isWhole = false, epoch }]) => ({ name, isWhole: isWhole && epoch === work.meta.indexes })),
    slow: desk.slow ?? [], live: liveQueries(desk),
    refused: (await entries(work)).map(({ resource, id, problem }) => ({ resource, id, code: problem.code })),
  };
});

/** The complete content of a store; with a path also written to a file, in Node. */
export async function contents(_, local, path) {
  const told = await local.read(async (work) => {
    const records = {};
    for (const resource of work.rules?.resources.keys() ?? []) records[resource] = (await work.tx.all(`r:${resource}`)).map(([, { r }]) => r);
    return { meta: work.meta, records, pushes: await work.pushes(), refused: await entries(work), events: await work.values("e") };
  });
  if (path !== undefined) await (await import("node:fs/promises")).writeFile(path, stringify(told, 1));
  return told;
}

/** Everything that a store of any form keeps, as it is: the values of all tables, each with its table and key. */
export async function everything(storage) {
  if (storage.entries) {
    const all = [...storage.entries()];
    await storage.close();
    return all;
  }
  const done = (request) => new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
  const database = await done(indexedDB.open(storage.shared)), names = [...database.objectStoreNames], all = [];
  for (const name of names) {
    const values = database.transaction(name).objectStore(name), [keys, found] = await Promise.all([done(values.getAllKeys()), done(values.getAll())]);
    all.push(...found.map((value, index) => [...[keys[index]].flat(), value]));
  }
  database.close();
  return all;
}

/** How often each live query ran over the store, and how many records it has tested. */
const liveQueries = ({ live }) => [...(live?.all ?? [])].filter(({ shown }) => !shown.isClosed).map(({ resource, options: { where = {} }, runs, tests }) => ({ resource, where: Object.keys(where), runs, tests }));
