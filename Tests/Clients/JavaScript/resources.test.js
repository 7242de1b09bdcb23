import assert from "node:assert/strict";
import { test } from "node:test";
import { open } from "../../../Sources/clients/javascript/fieldmerge.js";
import { MemoryStorage } from "../../../Sources/clients/javascript/testing.js";
import { SimulatedGateway } from "./simulated.js";

/**
 * A gateway, and a function that opens stores over one storage of a device. `answered` runs before the client gets an
 * answer.
 */
function device() {
  const gateway = new SimulatedGateway(null), storage = new MemoryStorage(), hooks = {};
  const fetch = async (url, init) => {
    const answer = await gateway.fetch(url, init);
    await hooks.answered?.(new URL(url).pathname);
    return answer;
  };
  return { gateway, hooks, begin: (options) => open({ server: gateway.url, user: "u", storage, fetch, ...options }) };
}

const label = (store, text) => store.edit("boxes", 1, (box) => { box.box.label = text; });

test("an edit of a resource that is no longer stored is sent, also if it was made while the others were read", async () => {
  const { gateway, hooks, begin } = device(), all = await begin();
  await all.sync();
  let edit;
  hooks.answered = async (path) => { if (path === "/v1/snapshot") edit ??= await label(store, "mine"); };
  const store = await begin({ resources: ["tags"] });
  await store.sync();
  await store.sync();
  assert.deepEqual(await store.refusedEdits(), []);
  assert.equal(gateway.records.get("boxes/1").box.label, "mine");
});

test("an edit of a resource that is not stored is sent after everything was read again", async () => {
  const { gateway, hooks, begin } = device(), store = await begin({ resources: ["tags"] });
  await store.sync();
  await store.record("boxes", 1);
  gateway.begin();
  let edit;
  hooks.answered = async (path) => { if (path === "/v1/snapshot") edit ??= await label(store, "mine"); };
  await store.sync();
  await store.sync();
  assert.equal((await edit.outcome).status, "merged");
  assert.equal(gateway.records.get("boxes/1").box.label, "mine");
});

test("two tabs with different resources store those of the last opened tab, and miss no change", async () => {
  const { gateway, begin } = device(), first = await begin({ resources: ["tags"] });
  await first.sync();
  const second = await begin();
  await second.sync();
  const other = await open({ server: gateway.url, user: "v", path: ":memory:", fetch: gateway.fetch });
  await other.sync();
  await label(other, "theirs");
  await other.sync();
  // The tab that was opened first requests the changes.
  await first.sync();
  assert.equal((await second.record("boxes", 1)).box.label, "theirs");
  assert.equal((await first.record("boxes", 1)).box.label, "theirs");
});

test("a record that was read while an edit of it was sent does not replace the answer", async () => {
  const { gateway, hooks, begin } = device(), store = await begin({ resources: ["tags"] });
  await store.sync();
  await store.edit("boxes", 1, (box) => { box.things.push({ name: "once" }); });
  let seen;
  hooks.answered = async (path) => { if (path === "/v1/sync") seen ??= (await store.record("boxes", 1)).things.map(({ name }) => name); };
  await store.sync();
  assert.deepEqual(seen, ["once"]);
  assert.deepEqual((await store.record("boxes", 1)).things, gateway.records.get("boxes/1").things);
});

test("a form that was opened while the server had stored a new row, and its creation had no answer, is saved", async () => {
  const gateway = new SimulatedGateway(null);
  let attempts = 0;
  const store = await open({ server: gateway.url, user: "u", path: ":memory:", fetch: async (url, init) => {
    if (new URL(url).pathname !== "/v1/sync" || ++attempts > 2) return gateway.fetch(url, init);
    const { pushes, ...place } = JSON.parse(init.body);
    // The first answer is lost. The second has the changes, and no answer to the push.
    const answer = await gateway.fetch(url, attempts === 1 ? init : { ...init, body: JSON.stringify({ ...place, pushes: [] }) });
    if (attempts === 1) throw new Error("lost");
    const results = pushes.map(({ key }) => ({ key, status: "failed", code: 503, results: [], problem: { type: "t", code: "busy", status: 503, retry: true } }));
    return new Response(JSON.stringify({ ...await answer.json(), results }), { status: 207, headers: { "Content-Type": "application/json" } });
  } });
  await store.sync();
  await store.edit("boxes", 1, (box) => { box.things.push({ name: "once" }); });
  await store.sync();
  await store.sync();
  const form = await store.draft("boxes", 1);
  form.record.things.at(-1).name = "mine";
  form.record.box.label = "mine";
  await store.sync();
  await form.save();
  await store.sync();
  const { box, things } = gateway.records.get("boxes/1");
  assert.deepEqual([box.label, things.map(({ name }) => name)], ["mine", ["mine"]]);
});
