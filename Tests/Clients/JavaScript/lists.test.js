import assert from "node:assert/strict";
import { test } from "node:test";
import { open } from "../../../Sources/clients/javascript/fieldmerge.js";
import { MemoryStorage, ScriptedServer, TestClock } from "../../../Sources/clients/javascript/testing.js";
import { SimulatedGateway, rules } from "./simulated.js";

const box = (id, more = {}) => ({ id, box: { count: 0, label: "", tag: null, ...more }, things: [] });
const turn = () => new Promise((resolve) => setTimeout(resolve, 0));

/** Resolves when a condition is true. */
async function until(holds) {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 1));
}

/** A store of a simulated gateway that was synced once. */
async function started(options = {}) {
  const gateway = new SimulatedGateway(null), storage = options.storage ?? new MemoryStorage();
  const begin = (more) => open({ server: gateway.url, user: "u", storage, fetch: gateway.fetch, ...options, ...more });
  const store = await begin();
  await store.sync();
  return { gateway, storage, store, begin };
}

/** Causes a conflict of a label with an edit at the gateway. */
async function meet(gateway, store, label = "mine") {
  await store.edit("boxes", 1, (record) => { record.box.label = label; });
  gateway.records.get("boxes/1").box.label = `theirs of ${label}`;
  await store.sync();
}

test("an event is on disk until a handler has returned", async (context) => {
  context.mock.method(console, "error", () => {});
  const { gateway, storage, store, begin } = await started(), names = [];
  let release;
  store.addEventListener("conflict", async ({ name }) => {
    names.push(name);
    await new Promise((resolve) => { release = resolve; });
  });
  await meet(gateway, store);
  await until(() => release);
  await store.close();
  let next = await begin();
  next.addEventListener("conflict", ({ name }) => { names.push(name); throw new Error("of the app"); });
  await until(() => names.length === 2);
  await turn();
  await next.close();
  next = await begin({ storage });
  next.addEventListener("conflict", ({ name }) => { names.push(name); });
  await until(() => names.length === 3);
  await turn();
  await next.close();
  next = await begin({ storage });
  next.addEventListener("conflict", ({ name }) => { names.push(name); });
  await turn();
  assert.equal(names.length, 3);
  assert.equal(new Set(names).size, 1, "the same name each time");
  assert.equal((await next.conflicts()).length, 1, "the list keeps it");
  await next.close();
});

test("a listener that was removed hears nothing, and the event waits for another", async () => {
  const { gateway, store } = await started(), heard = [], first = () => heard.push("first");
  store.addEventListener("conflict", first);
  store.removeEventListener("conflict", first);
  await meet(gateway, store);
  store.addEventListener("conflict", () => heard.push("second"));
  await until(() => heard.length);
  assert.deepEqual(heard, ["second"]);
  await store.close();
});

test("one tab delivers an event, and the next one does when that is closed", async (context) => {
  const held = new Map();
  const locks = { request: (name, options, body) => {
    const last = held.get(name) ?? Promise.resolve(), next = last.then(() => (options.signal?.aborted ? undefined : (body ?? options)()));
    held.set(name, next.catch(() => {}));
    return next;
  } };
  const before = Object.getOwnPropertyDescriptor(globalThis, "navigator");
  Object.defineProperty(globalThis, "navigator", { configurable: true, value: { locks } });
  context.after(() => (before ? Object.defineProperty(globalThis, "navigator", before) : delete globalThis.navigator));
  const kept = new MemoryStorage(), gateway = new SimulatedGateway(null), heard = [], tabs = [];
  for (const name of ["one", "two"]) {
    const storage = { shared: "lists", close: async () => {}, run: (writes, body) => kept.run(writes, body) };
    const store = await open({ server: gateway.url, user: "u", storage, fetch: gateway.fetch });
    store.addEventListener("conflict", ({ new: mine }) => { heard.push(`${name} ${mine}`); });
    tabs.push(store);
  }
  await tabs[0].sync();
  await turn();
  await meet(gateway, tabs[1], "a");
  await until(() => heard.length === 1);
  await tabs[0].close();
  await meet(gateway, tabs[1], "b");
  await until(() => heard.length === 2);
  await turn();
  assert.deepEqual(heard, ["one a", "two b"]);
  await tabs[1].close();
});

test("two decisions about one conflict in two tabs are one edit", async () => {
  const { gateway, store, begin } = await started();
  await meet(gateway, store);
  const other = await begin(), [[mine], [again]] = await Promise.all([store.conflicts(), other.conflicts()]);
  const made = await Promise.all([mine.takeTheirs(), again.takeTheirs(), again.takeMine()]);
  assert.equal(made.filter(Boolean).length, 1);
  assert.deepEqual(await store.conflicts(), []);
  assert.equal((await store.unsent()).length, 1);
  for (const one of [other, store]) await one.close();
});

test("at most 1,000 conflicts that were delivered are kept, and all that were not", async () => {
  const { store } = await started();
  store.addEventListener("conflict", () => {});
  await turn();
  const { keepEvents } = await import("../../../Sources/clients/javascript/events.js");
  const storage = new MemoryStorage(), meta = { seq: 0 }, add = (count) => storage.run(true, (tx) => keepEvents({
    meta, tx, rules: { resources: new Map() }, push: async () => null, values: async (table) => (await tx.all(table)).map(([, value]) => value).sort((one, other) => one.seq - other.seq),
    events: Array.from({ length: count }, () => ({ event: "conflict", resource: "boxes", id: 1, section: "box", group: "label", entry: ++meta.seq, name: "n" })),
  }));
  const count = async (table) => (await storage.run(false, (tx) => tx.all(table))).length;
  await add(50);
  assert.equal(await count("c"), 50);
  await storage.run(true, async (tx) => { for (const [key] of await tx.all("e")) await tx.delete("e", key); });
  await add(990);
  assert.equal(await count("c"), 1040, "an entry whose event waits is kept");
  await storage.run(true, async (tx) => { for (const [key] of await tx.all("e")) await tx.delete("e", key); });
  await add(1);
  const left = await storage.run(false, (tx) => tx.all("c"));
  assert.equal(left.length, 1001, "1,000 that were delivered, and the new one");
  await store.close();
});

test("a form and an edit of the same group are two pushes, and the second is overtaken", async () => {
  const { store } = await started(), heard = [];
  store.addEventListener("overtaken", ({ current, draft }) => { heard.push([current, !!draft]); });
  const form = await store.draft("boxes", 1);
  form.record.box.label = "form";
  await store.edit("boxes", 1, (record) => { record.box.label = "edit"; });
  await until(() => heard.length);
  const ticket = await form.save();
  assert.deepEqual((await store.unsent()).map(({ edits }) => edits[0].changeset.box.label), [{ old: "", new: "edit" }, { old: "", new: "form" }]);
  await until(() => heard.length === 2);
  assert.deepEqual(heard, [["edit", true], ["edit", false]]);
  const [entry] = await store.conflicts();
  await entry.takeTheirs();
  assert.deepEqual((await store.unsent()).map(({ edits }) => edits[0].changeset.box.label.new), ["edit"], "the edit that it met stays");
  assert.equal((await ticket.outcome).status, "merged");
  await store.close();
});

test("a decision about an overtaken edit leaves a later edit of the group alone", async () => {
  const { store } = await started(), base = await store.record("boxes", 1);
  base.box.label = "seen";
  await store.edit("boxes", 1, (record) => { record.box.label = "first"; }, { base });
  await store.transaction(async (t) => {
    await t.edit("boxes", 1, (record) => { record.box.label = "second"; });
    await t.edit("boxes", 2, (record) => { record.box.label = "other"; });
  });
  const [entry, ...others] = await store.conflicts();
  assert.deepEqual([entry.old, entry.current, entry.new, others.length], ["seen", "", "first", 0]);
  await entry.takeTheirs();
  assert.deepEqual((await store.unsent()).map(({ edits }) => edits[0].changeset.box.label), [{ old: "seen", new: "second" }]);
  assert.equal((await store.record("boxes", 1)).box.label, "second");
  await store.close();
});

test("saves that run side by side are two edits in their order", async () => {
  const { store } = await started(), form = await store.draft("boxes", 1);
  form.record.box.label = "a";
  const first = form.save();
  form.record.things.push({ name: "one" });
  const second = form.save();
  await Promise.all([first, second]);
  form.record.things[0].name = "two";
  await form.save();
  await store.sync();
  const { box: { label }, things } = await store.record("boxes", 1);
  assert.deepEqual([label, things.map(({ name }) => name)], ["a", ["two"]]);
  form.record.things[0].name = "three";
  form.record.box.label = "b";
  await form.save();
  await store.sync();
  assert.deepEqual((await store.record("boxes", 1)).things.map(({ name }) => name), ["three"]);
  assert.deepEqual(await store.conflicts(), []);
  await store.close();
});

test("a restored edit that was sent again meanwhile is not saved a second time", async () => {
  const server = new ScriptedServer({ rules, records: [{ resource: "boxes", id: 1, record: box(1) }] });
  const store = await open({ server: server.url, user: "u", path: ":memory:", fetch: server.fetch, clock: new TestClock() });
  const first = store.sync();
  (await server.request()).answer(200, { feed: "feed-1", revision: 1, more: false, rules: rules.version, changes: [] });
  await first;
  await store.edit("boxes", 1, (record) => { record.box.count += 1; });
  const synced = store.sync(), request = await server.request(), problem = { type: "t", code: "check", status: 422, retry: false, fields: ["count"] };
  request.answer(207, {
    results: [{ key: request.json.pushes[0].key, status: "failed", code: 422, problem, results: [{ resource: "boxes", id: 1, status: "failed", record: box(1), outcomes: [], problem }] }],
    feed: "feed-1", revision: 1, more: false, rules: rules.version, changes: [],
  });
  await synced;
  const [entry] = await store.refusedEdits(), form = await entry.restore();
  assert.deepEqual([entry.faulty, form.base.box.count, form.record.box.count], [["box.count"], 0, 1]);
  await entry.resend();
  await assert.rejects(form.save(), { code: "not-refused" });
  assert.equal(store.status.unsent, 1);
  await store.close();
});

test("a value that JSON would change is refused with its path", async () => {
  const { store } = await started();
  for (const [name, value] of [["label", "half \ud83d"], ["count", NaN], ["count", Infinity], ["count", 2n]]) {
    await assert.rejects(store.edit("boxes", 1, (record) => { record.box[name] = value; }), { code: "invalid-value", path: `box.${name}` });
  }
  assert.equal(store.status.unsent, 0);
  await store.close();
});

test("a record that was created in a resource that is not kept is read by its temporary id", async () => {
  const { gateway } = await started(), asked = [];
  const fetch = (url, init) => { asked.push(String(url)); return gateway.fetch(url, init); };
  const store = await open({ server: gateway.url, user: "v", path: ":memory:", fetch, resources: [] });
  await store.sync();
  const ticket = await store.create("boxes", (record) => { record.box.label = "new"; });
  assert.equal((await store.record("boxes", ticket.id)).box.label, "new");
  assert.ok(!asked.some((url) => url.includes("tmp")));
  await store.close();
});
