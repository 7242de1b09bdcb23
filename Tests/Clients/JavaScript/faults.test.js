import assert from "node:assert/strict";
import { test } from "node:test";
import { open } from "../../../Sources/clients/javascript/fieldmerge.js";
import { MemoryStorage, ScriptedServer, TestClock } from "../../../Sources/clients/javascript/testing.js";
import { SimulatedGateway, rules } from "./simulated.js";

/** A storage that fails once, at a step of a transaction: before it, in it, before it is kept, or after. */
class FaultyStorage {
  steps = 0;
  kept = new MemoryStorage();

  constructor(failAt) { this.failAt = failAt; }

  #step() { if (++this.steps === this.failAt) throw new Error("The disk fails."); }

  async run(writes, body) {
    this.#step();
    const result = await this.kept.run(writes, async (tx) => {
      const stepped = Object.fromEntries(Object.entries(tx).map(([name, method]) => [name, async (...given) => {
        this.#step();
        return method(...given);
      }]));
      const result = await body(stepped);
      this.#step();
      return result;
    });
    this.#step();
    return result;
  }

  async close() {}
}

/** Edits and syncs with a storage that fails once, and returns the number of steps. */
async function work(failAt) {
  const gateway = new SimulatedGateway(null), storage = new FaultyStorage(failAt), clock = new TestClock({ now: gateway.now }), where = `step ${failAt}`;
  const openStore = () => open({ server: gateway.url, user: "u", storage, clock, fetch: gateway.fetch, token: () => "t" });
  const store = await openStore().catch(openStore), sure = new Set();
  let isRefused = false;
  const attempt = async (name, body) => {
    try {
      await body(name);
      sure.add(name);
    } catch { /* it is stored, or it is not */ }
  };
  const add = (name) => store.edit("boxes", 1, (box) => { box.box.count += 1; box.things.push({ name }); });
  await store.sync();
  await store.sync();
  await attempt("a", add);
  await store.sync();
  await attempt("b", add);
  gateway.records.get("boxes/1").box.count += 1000;
  await attempt("tag", (name) => store.transaction(async (t) => {
    const tag = await t.create("tags", (one) => { one.tag.name = name; });
    await t.edit("boxes", 2, (box) => { box.box.tag = tag.id; });
  }));
  await store.create("tags", (one) => { one.tag.name = "no"; }).then(() => { isRefused = true; }, () => {});
  await store.sync();
  await attempt("c", add);
  for (let count = 0; count < 3; count++) await store.sync();
  const { steps } = storage;
  storage.failAt = Infinity;
  for (let count = 0; count < 2; count++) await store.sync();
  const { phase, unsent } = store.status, { box, things } = gateway.records.get("boxes/1"), names = gateway.names();
  assert.deepEqual([phase, unsent], ["idle", 0], where);
  assert.equal(box.count, 1000 + things.length, `${where}: counted exactly`);
  assert.equal(new Set(names).size, names.length, `${where}: nothing is doubled`);
  for (const name of sure) assert.ok(names.includes(name), `${where}: ${name} is lost`);
  assert.ok(!isRefused || (await store.refusedEdits()).length === 1, `${where}: what was refused is kept`);
  assert.deepEqual(await store.record("boxes", 1), gateway.records.get("boxes/1"), `${where}: the store has what the server has`);
  await store.close();
  return steps;
}

test("a storage that fails at any step of any transaction loses and doubles nothing, and the next sync works", async (context) => {
  const steps = await work(Infinity);
  context.diagnostic(`${steps} steps`);
  for (let failAt = 1; failAt <= steps; failAt++) await work(failAt);
});

const named = (name) => ({ ...rules, resources: rules.resources.map((one) => ({
  ...one, sections: one.sections.map((section) => (section.section !== "box" ? section : { ...section, groups: [...section.groups, { group: name, fields: [{ field: name, type: "text", nullable: true }, { field: "other", type: "text", nullable: true }] }] })),
})) });

/** A store with a box, of which a group has a name that objects have themselves. */
async function strange(name, more = {}) {
  const values = `{"count":0,"code":"","label":"","tag":null,${JSON.stringify(name)}:"old","other":"x"}`;
  const records = [1, 2].map((id) => ({ resource: "boxes", id, record: { id, box: JSON.parse(values), things: [] } }));
  const server = new ScriptedServer({ rules: named(name), records });
  server.handle("/v1/changes", (request) => request.answer(200, { feed: "feed-1", revision: 1, more: false, rules: "v1", changes: [] }));
  const pushed = [];
  server.handle("/v1/sync", (request) => {
    pushed.push(...request.json.pushes);
    request.answer(200, {
      feed: "feed-1", revision: 1, more: false, rules: "v1", changes: [],
      results: request.json.pushes.map(({ key, edits }) => ({ key, status: "merged", code: 200, results: edits.map(({ resource, id }) => ({ resource, id, status: "merged", record: records[id - 1].record, ids: {}, outcomes: [] })) })),
    });
  });
  const store = await open({ server: server.url, user: "u", path: ":memory:", fetch: server.fetch, clock: new TestClock(), ...more });
  await store.sync();
  return { store, pushed };
}

test("a group named constructor is sent like other groups", async () => {
  const { store, pushed } = await strange("constructor");
  await store.edit("boxes", 1, (box) => { box.box.label = "x"; });
  assert.equal(await store.state("boxes", 1, "box.constructor"), "clean");
  await store.edit("boxes", 1, (box) => { box.box.constructor = "new"; });
  await store.sync();
  assert.deepEqual(pushed[0].edits[0].changeset.box.constructor, { old: { constructor: "old", other: "x" }, new: { constructor: "new", other: "x" } });
  await store.close();
});

test("a field named __proto__ is refused when it is assigned, and other fields are edited", async () => {
  const { store, pushed } = await strange("__proto__");
  await assert.rejects(store.edit("boxes", 1, (box) => { box.box.__proto__ = "new"; }), { code: "unknown-field" });
  await store.edit("boxes", 1, (box) => { box.box.label = "x"; });
  await store.sync();
  assert.deepEqual(pushed[0].edits[0].changeset, { box: { label: { old: "", new: "x" } } });
  await store.close();
});

test("a push that cannot be built is refused with its reason, and the next one is sent", async () => {
  const storage = new MemoryStorage(), { store, pushed } = await strange("plain", { storage });
  const ticket = await store.edit("boxes", 1, (box) => { box.box.label = "x"; });
  await store.edit("boxes", 2, (box) => { box.box.label = "y"; });
  // Bytes of a store that another program damaged.
  await storage.run(true, async (tx) => {
    const [[seq, push]] = await tx.all("p"), loop = {};
    loop.loop = loop;
    await tx.put("p", seq, { ...push, edits: push.edits.map((edit) => ({ ...edit, rows: [{ ...edit.rows[0], new: { label: loop } }] })) });
  });
  const report = await store.sync();
  assert.equal(report.phase, "idle");
  assert.equal((await ticket.outcome).problem.code, "not-built");
  assert.deepEqual(pushed.map(({ edits }) => edits[0].id), [2]);
  assert.equal(store.status.refused, 1);
  await store.close();
});

test("functions of the app that throw leave the store waiting, or as if nothing had happened", async () => {
  let isBroken = true;
  const own = { token: () => { if (isBroken) throw null; return "t"; }, beforeStore: () => { throw new Error("no"); }, onConflict: () => { throw new Error("no"); } };
  const before = globalThis.reportError;
  globalThis.reportError = () => {};
  try {
    const gateway = new SimulatedGateway(null), store = await open({ server: gateway.url, user: "u", path: ":memory:", clock: new TestClock({ now: gateway.now }), fetch: gateway.fetch, ...own });
    assert.equal((await store.sync()).phase, "waiting");
    isBroken = false;
    assert.equal((await store.sync()).phase, "idle");
    store.observe("boxes", 1, () => { throw new Error("no"); });
    await store.edit("boxes", 1, (box) => { box.box.count += 1; });
    assert.equal((await store.sync()).phase, "idle");
    assert.equal(gateway.records.get("boxes/1").box.count, 1);
    await store.close();
  } finally {
    globalThis.reportError = before;
  }
});

test("a token function that never settles is abandoned after 30 seconds and called again; the deadline of a sync and close() still work", async () => {
  const gateway = new SimulatedGateway(null), clock = new TestClock({ now: gateway.now });
  let calls = 0, isSilent = true;
  const store = await open({ server: gateway.url, user: "u", path: ":memory:", clock, fetch: gateway.fetch, token: () => { calls += 1; return isSilent ? new Promise(() => {}) : "t"; } });
  const turn = () => new Promise((resolve) => setTimeout(resolve, 5));
  const first = store.sync({ deadline: 1000 });
  await turn();
  await clock.advance(1000);
  assert.equal((await first).phase, "waiting");
  const second = store.sync();
  await turn();
  assert.equal(calls, 1, "one call at a time");
  await clock.advance(29000);
  assert.equal((await second).phase, "waiting");
  isSilent = false;
  assert.equal((await store.sync()).phase, "idle");
  assert.equal(calls, 2);
  await store.close();
  const other = await open({ server: gateway.url, user: "u", path: ":memory:", clock, fetch: gateway.fetch, token: () => new Promise(() => {}) });
  const third = other.sync();
  await turn();
  await other.close();
  await third;
});

test("close() and the deadline of a sync work although the storage does not answer", async () => {
  const gateway = new SimulatedGateway(null), clock = new TestClock({ now: gateway.now }), storage = new MemoryStorage(), run = storage.run.bind(storage);
  let isSilent = false;
  storage.run = (...given) => (isSilent ? new Promise(() => {}) : run(...given));
  storage.close = () => new Promise(() => {});
  const store = await open({ server: gateway.url, user: "u", storage, clock, fetch: gateway.fetch });
  isSilent = true;
  const synced = store.sync({ deadline: 1000 });
  await clock.advance(2000);
  await synced;
  const closed = store.close();
  await clock.advance(2000);
  await closed;
});

/** Fails once at the first transaction after one that has stored a whole snapshot. */
class LastStepStorage extends MemoryStorage {
  hasFailed = false;
  async run(writes, body) {
    const { snapshot } = await super.run(false, (tx) => tx.get("meta", "meta")) ?? {};
    if (writes && snapshot?.isWhole && !this.hasFailed) {
      this.hasFailed = true;
      throw new Error("the disk fails");
    }
    return super.run(writes, body);
  }
}

test("a sync that ends an earlier snapshot gets the later changes", async () => {
  const gateway = new SimulatedGateway(null), storage = new LastStepStorage(), clock = new TestClock({ now: gateway.now });
  gateway.draw = () => 0.5;
  const begin = () => open({ server: gateway.url, user: "u", storage, fetch: gateway.fetch, clock }), first = await begin();
  gateway.draw = null;
  await first.sync();
  assert.ok(storage.hasFailed);
  await first.close();
  gateway.draw = () => 0.5;
  gateway.addElsewhere();
  gateway.draw = null;
  const store = await begin();
  await store.sync();
  assert.equal(store.status.phase, "idle");
  assert.deepEqual(await store.record("boxes", 2), gateway.records.get("boxes/2"));
  await store.close();
});
