import { open } from "../../../Sources/clients/javascript/fieldmerge.js";
import { MemoryStorage, ScriptedServer, TestClock } from "../../../Sources/clients/javascript/testing.js";
import { SimulatedGateway, rules } from "./simulated.js";

/*
 * Stores for tests, each synced once, and the usual things that happen to them.
 */

/** A box as the gateway has it. */
export const box = (id, more = {}) => ({ id, box: { count: 0, code: "", label: "", tag: null, ...more }, things: [] });

/** Resolves when a condition is true. */
export async function until(holds) {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 1));
}

/** A store of a simulated gateway that was synced once. */
export async function started() {
  const gateway = new SimulatedGateway(null), store = await open({ server: gateway.url, user: "u", storage: new MemoryStorage(), fetch: gateway.fetch });
  await store.sync();
  return { gateway, store };
}

/** A store of a scripted server that was synced once. */
export async function scripted(records = [{ resource: "boxes", id: 1, record: box(1) }], { rules: told = rules, ...options } = {}) {
  const clock = new TestClock(), server = new ScriptedServer({ rules: told, records }), page = { feed: "feed-1", revision: 1, more: false, rules: told.version, changes: [] };
  const store = await open({ server: server.url, user: "u", path: ":memory:", fetch: server.fetch, clock, ...options }), first = store.sync();
  (await server.request()).answer(200, page);
  await first;
  return { server, store, page, clock };
}

/** The gateway refuses the waiting edits by a check of a field. */
export async function refuse({ server, store, page }, field) {
  const synced = store.sync(), request = await server.request(), problem = { type: "t", code: "check", status: 422, retry: false, fields: [field] };
  request.answer(207, { ...page, results: request.json.pushes.map(({ key, edits }) => ({
    key, status: "failed", code: 422, problem, results: edits.map(({ resource, id }) => ({ resource, id, status: "failed", record: null, outcomes: [], problem })),
  })) });
  await synced;
}

/** The changesets of the first edits of the pushes without an answer. */
export const waiting = async (store) => (await store.unsent()).map(({ edits }) => edits[0].changeset);

/** A store of a box that is read on request: `see` has it read the box with another label. */
export async function reading() {
  let label = "";
  const { server, store } = await scripted([], { resources: ["tags"] });
  server.handle("/v1/records/boxes/1", (request) => request.answer(200, box(1, { label })));
  return { store, see: (next) => { label = next; return store.record("boxes", 1); } };
}
