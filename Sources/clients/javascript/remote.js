import { lost } from "./errors.js";
import { nameOf } from "./layers.js";
import { putRecords } from "./told.js";
import { idKey, isTemporary } from "./values.js";

/*
 * Loaded for a request for all records of a resource, page by page, or for a record of a resource that is not kept.
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

/** The names of the records with edits whose answer is due. */
const underWay = async (work) => new Set((await work.pushes()).flatMap(({ body, records = [] }) => (body ? records : [])));

/**
 * Stores the results of requests. A record whose edits were already in progress at the request does not change: their answer
 * may be older or newer than the result.
 */
async function storing({ local }, body) {
  const before = await local.read(underWay);
  return body((told) => local.write(async (work) => {
    const now = await underWay(work), isSettled = (one) => !before.has(nameOf(one)) && !now.has(nameOf(one));
    const found = [];
    for (const one of told) if (isSettled(one) || !(await work.base(one))) found.push(one);
    await putRecords(work, found);
  }));
}

/** Gets a record. */
export async function record({ local, gateway }, resource, id, signal) {
  const real = await local.read((work) => work.resolve(id));
  if (isTemporary(real)) return; // the gateway does not have it yet
  await storing({ local }, async (store) => {
    const answer = await gateway.ask(`/v1/records/${encodeURIComponent(resource)}/${idKey(real)}`, { signal });
    const found = answer.status === 404 && answer.problem ? null : answer.json;
    const problem = unreadable(answer);
    if (answer.kind !== "ok" && found !== null && !problem) throw lost(answer);
    await store([{ resource, id: real, record: problem ? null : found, problem }]);
    if (problem && !(await local.read((work) => work.base({ resource, id: real })))) throw lost(answer);
  });
}

/** Gets all records of a resource. */
export const records = ({ local, gateway }, resource, signal) => storing({ local }, (store) => pages(gateway, resource, signal, store));
