/** Loaded when somebody asks: what support wants to know of a store; no values of records. */
export async function diagnosis(work) {
  const { device, feed, revision, rules = null, snapshot } = await work.meta(), resources = {};
  for (const resource of work.rules?.resources.keys() ?? []) resources[resource] = (await work.bases(resource)).length;
  return {
    device, feed, revision, rules, resources, snapshot,
    pushes: (await work.pushes()).map(({ seq, key, settled, body, edits }) => ({
      seq, key, state: settled ? "repeated" : body ? "frozen" : "draft", edits: edits.map(({ resource, id, rows }) => ({ resource, id, rows: Object.keys(rows) })),
    })),
    refused: (await work.entries()).map(({ resource, id, problem }) => ({ resource, id, code: problem.code })),
  };
}

/** Everything that a store keeps. */
export async function contents(work) {
  const records = {};
  for (const resource of work.rules?.resources.keys() ?? []) records[resource] = (await work.bases(resource)).map((row) => row.record);
  return { meta: await work.meta(), records, pushes: await work.pushes(), refused: await work.entries(), events: await work.unheard() };
}

/** Writes it down; in Node. */
export async function written(path, told) {
  const { writeFile } = await import("node:fs/promises");
  await writeFile(path, JSON.stringify(told, null, 1));
}
