import assert from "node:assert/strict";
import { test } from "node:test";
import { open } from "../../../Sources/clients/javascript/fieldmerge.js";
import { MemoryStorage, ScriptedServer, TestClock } from "../../../Sources/clients/javascript/testing.js";
import { SimulatedGateway, rules } from "./simulated.js";

/** Resolves when a condition is true. */
async function until(holds) {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 1));
}

const begin = (gateway, more) => open({ server: gateway.url, user: "u", path: ":memory:", fetch: gateway.fetch, clock: new TestClock({ now: gateway.now }), ...more });

/** A storage that counts its operations. */
function counting(storage = new MemoryStorage()) {
  const counts = { read: 0, transactions: 0, longest: 0 };
  return {
    counts, close: async () => {}, destroy: async () => {},
    run: (writes, body) => storage.run(writes, async (tx) => {
      const before = counts.read;
      const result = await body({
        ...tx,
        get: (...given) => { counts.read += 1; return tx.get(...given); },
        all: async (...given) => { const found = await tx.all(...given); counts.read += 1 + found.length; return found; },
      });
      counts.transactions += writes;
      counts.longest = Math.max(counts.longest, writes ? counts.read - before : 0);
      return result;
    }),
  };
}

/** Makes and sends edits and creations, and returns the costs. */
async function cost(edits) {
  const gateway = new SimulatedGateway(null), storage = counting();
  for (let id = 4; id <= edits; id++) gateway.records.set(`boxes/${id}`, { id, box: { count: 0, code: "", label: "", tag: null }, things: [] });
  const store = await begin(gateway, { storage });
  await store.sync();
  storage.counts.read = 0;
  for (let id = 1; id <= edits; id++) {
    const tag = id % 2 ? await store.create("tags", (one) => { one.tag.name = `tag ${id}`; }) : null;
    await store.edit("boxes", id, (box) => { box.box.count += 1; if (tag) box.box.tag = tag.id; });
  }
  const edited = storage.counts.read;
  await store.sync();
  assert.equal(store.status.unsent, 0);
  for (let id = 1; id <= edits; id++) {
    const { box } = gateway.records.get(`boxes/${id}`);
    assert.equal(box.count, 1);
    if (id % 2) assert.equal(gateway.records.get(`tags/${box.tag}`).tag.name, `tag ${id}`);
  }
  assert.deepEqual((await store.diagnose()).pushes, []);
  await store.close();
  return { edited: edited / edits, sent: (storage.counts.read - edited) / edits, longest: storage.counts.longest };
}

test("the costs of an edit do not grow with the queue, and no transaction stores more than 25 answers", async (context) => {
  const few = await cost(100), many = await cost(800);
  context.diagnostic(JSON.stringify({ few, many }));
  assert.ok(many.edited < 1.2 * few.edited, "edits");
  assert.ok(many.sent < 1.5 * few.sent, "sending");
  assert.ok(many.longest < 5000, `${many.longest} reads in a transaction`);
});
