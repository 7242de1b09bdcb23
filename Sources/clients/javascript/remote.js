import { lost } from "./errors.js";
import { putRecord, putRecords } from "./told.js";
import { idKey, isTemporary } from "./values.js";

/*
 * Loaded where all records of a resource are asked for, page by page, or one of a resource that is not kept here.
 */

/** Hands all records of a resource over, a page of them at a time. */
export async function pages(gateway, resource, signal, each) {
  for (let after = ""; after !== null;) {
    const { records, next = null } = await gateway.get(`/v1/records/${encodeURIComponent(resource)}?limit=500${after && `&after=${after}`}`, (json) => Array.isArray(json.records), signal);
    await each(records.map((record) => ({ resource, id: record.id, ...told(record) })));
    after = next;
  }
}

const unreadable = ({ problem }) => problem?.code === "unreadable-record" && problem;

const told = (record) => (unreadable(record) ? { record: null, problem: record.problem } : { record });

/** Gets a record. */
export async function record({ local, gateway }, resource, id, signal) {
  const real = await local.read((work) => work.resolve(id));
  if (isTemporary(real)) return; // the gateway does not have it yet
  const answer = await gateway.ask(`/v1/records/${encodeURIComponent(resource)}/${idKey(real)}`, { signal });
  const found = answer.status === 404 && answer.problem ? null : answer.json;
  const problem = unreadable(answer);
  if (answer.kind !== "ok" && found !== null && !problem) throw lost(answer);
  const isKnown = await local.write(async (work) => {
    await putRecord(work, { resource, id: real, record: problem ? null : found, problem });
    return work.base({ resource, id: real });
  });
  if (problem && !isKnown) throw lost(answer);
}

/** Gets all records of a resource. */
export const records = ({ local, gateway }, resource, signal) => pages(gateway, resource, signal, (told) => local.write((work) => putRecords(work, told)));
