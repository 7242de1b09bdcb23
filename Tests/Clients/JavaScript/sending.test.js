import assert from "node:assert/strict";
import { test } from "node:test";
import { open } from "../../../Sources/clients/javascript/fieldmerge.js";
import { MemoryStorage, ScriptedServer, TestClock } from "../../../Sources/clients/javascript/testing.js";
import { SimulatedGateway, rules } from "./simulated.js";

const box = (id, more = {}) => ({ id, box: { count: 0, code: "", label: "", tag: null, ...more }, things: [] });
const photo = "p".repeat(300000);

/** Resolves when a condition is true. */
async function until(holds) {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 1));
}

/** A store with three boxes, and a server whose answers to pushes the test sends. */
async function begun({ limits = rules.limits, ...more } = {}) {
  const server = new ScriptedServer({ rules: { ...rules, limits }, records: [1, 2, 3].map((id) => ({ resource: "boxes", id, record: box(id) })) });
  let revision = 1;
  server.handle("/v1/changes", (request) => request.answer(200, { feed: "feed-1", revision, more: false, rules: "v1", changes: [] }));
  const clock = new TestClock(), store = await open({ server: server.url, user: "u", path: ":memory:", fetch: server.fetch, clock, ...more });
  await store.sync();
  /** Answers a request: everything in it is merged. */
  const merge = (request, records = {}) => request.answer(200, {
    feed: "feed-1", revision: ++revision, more: false, rules: "v1", changes: [],
    results: request.json.pushes.map(({ key, edits }) => ({ key, status: "merged", code: 200, results: edits.map(({ resource, id }) => ({ resource, id, status: "merged", record: records[id] ?? box(id), ids: {}, outcomes: [] })) })),
  });
  return { server, clock, store, merge };
}

const label = (store, id, text) => store.edit("boxes", id, (one) => { one.box.label = text; });
const idsOf = (request) => request.json.pushes.flatMap(({ edits }) => edits.map(({ id }) => id));

test("a body of more than 1 kB is packed, a short one is not", async () => {
  const { server, store, merge } = await begun();
  for (const [text, encoding] of [["x", null], ["x".repeat(2000), "gzip"]]) {
    await label(store, 1, text);
    const synced = store.sync(), request = await server.request();
    assert.equal(request.headers.get("content-encoding"), encoding);
    assert.equal(request.json.pushes[0].edits[0].changeset.box.label.new, text);
    merge(request, { 1: box(1, { label: text }) });
    await synced;
  }
  await store.close();
});

test("a request has 64 kB of pushes, twice as much after an answer, half as much without one, and at least one push", async () => {
  const { server, clock, store, merge } = await begun({ limits: { ...rules.limits, body: 300000 } });
  for (let number = 0; number < 40; number++) await store.create("tags", (tag) => { tag.tag.name = `${number}`.repeat(9000).slice(0, 9000); });
  const counts = [];
  const answer = async (how) => {
    const request = await server.request();
    counts.push(request.json.pushes.length);
    if (how) request.answer(200, {
      feed: "feed-1", revision: 2, more: false, rules: "v1", changes: [],
      results: request.json.pushes.map(({ key, edits: [{ id }] }, index) => ({ key, status: "merged", code: 200, results: [{ resource: "tags", id: counts.length * 100 + index, status: "merged", record: null, ids: { [id]: counts.length * 100 + index }, outcomes: [] }] })),
    });
    else request.fail();
  };
  let synced = store.sync();
  await answer(true);
  for (let time = 0; time < 5; time++) {
    await answer(false);
    await synced;
    synced = store.sync();
  }
  for (let time = 0; time < 2; time++) await answer(true);
  assert.deepEqual(counts, [7, 14, 7, 3, 1, 1, 1, 1]);
  await store.close();
  await synced;
});

test("only edits of a resource with another shape wait, and those that depend on them", async () => {
  const gateway = new SimulatedGateway(null), storage = new MemoryStorage(), sent = [];
  let isBroken = false;
  const fetch = async (url, init) => {
    if (isBroken && String(url).includes("snapshot")) throw new TypeError("fetch failed");
    const before = gateway.names().length;
    const answer = await gateway.fetch(url, init);
    if (String(url).includes("/v1/sync")) sent.push(gateway.names().length - before);
    return answer;
  };
  const store = await open({ server: gateway.url, user: "u", storage, fetch, clock: new TestClock({ now: gateway.now }) });
  await store.sync();
  gateway.changeRules();
  isBroken = true;
  const used = await store.create("tags", (one) => { one.tag.name = "used"; });
  await label(store, 1, "waits");
  await store.edit("boxes", 2, (one) => { one.box.tag = used.id; });
  // This one shares its tag with an edit that waits.
  const both = await store.transaction(async (t) => {
    await t.edit("boxes", 1, (one) => { one.box.code = "both"; });
    await t.create("tags", (one) => { one.tag.name = "both"; });
  });
  await store.create("tags", (one) => { one.tag.name = "free"; });
  assert.equal((await store.sync()).phase, "waiting");
  assert.deepEqual(gateway.names().sort(), ["free", "used"]);
  assert.equal(await both.peek(), null);
  isBroken = false;
  assert.equal((await store.sync()).phase, "idle");
  assert.deepEqual(gateway.names().sort(), ["both", "free", "used"]);
  assert.equal(gateway.records.get("boxes/1").box.label, "waits");
  assert.equal(gateway.names().filter((name) => name === gateway.records.get(`tags/${gateway.records.get("boxes/2").box.tag}`).tag.name).length, 1);
  await store.close();
});

test("a large push is sent alone, requests no changes, and delays no independent edit", async () => {
  const { server, clock, store, merge } = await begun();
  store.start();
  await until(() => store.status.phase === "idle");
  const first = label(store, 1, photo);
  await first;
  const big = await server.request();
  assert.deepEqual([idsOf(big), big.json.feed, big.json.since], [[1], undefined, undefined]);
  await until(() => store.status.phase === "pushing");
  // An independent edit is sent meanwhile. A later edit of the record waits.
  await label(store, 2, "small");
  const small = await server.request();
  assert.deepEqual(idsOf(small), [2]);
  merge(small, { 2: box(2, { label: "small" }) });
  await until(() => store.status.unsent === 1);
  await store.edit("boxes", 1, (one) => { one.box.code = "behind"; });
  await until(() => store.status.phase === "pushing");
  // The push is lost, and repeated after a separate wait, which another edit does not end.
  big.fail();
  await until(() => store.status.phase === "waiting");
  const { nextTry } = store.status;
  await label(store, 3, "meanwhile");
  const other = await server.request();
  assert.deepEqual(idsOf(other), [3]);
  merge(other, { 3: box(3, { label: "meanwhile" }) });
  await until(() => store.status.unsent === 2);
  await clock.advance(nextTry - clock.now());
  const again = await server.request();
  assert.equal(again.text, big.text, "the same bytes");
  merge(again, { 1: box(1, { label: photo }) });
  const behind = await server.request();
  assert.deepEqual(behind.json.pushes[0].edits[0].changeset, { box: { code: { old: "", new: "behind" } } });
  merge(behind, { 1: box(1, { label: photo, code: "behind" }) });
  await until(() => store.status.unsent === 0 && store.status.phase === "idle");
  await store.close();
});

test("an edit that is made while a large push is frozen is sent at the same time", async () => {
  for (let turns = 0; turns < 30; turns++) {
    const { server, store, merge } = await begun();
    store.start();
    await until(() => store.status.phase === "idle");
    await label(store, 1, photo);
    for (let turn = 0; turn < turns; turn++) await null;
    await label(store, 2, "small");
    const first = await server.request(), isSmall = idsOf(first)[0] === 2;
    if (isSmall) merge(first);
    const second = await server.request();
    assert.deepEqual([first, second].map(idsOf).sort(), [[1], [2]]);
    for (const request of [first, second]) merge(request);
    await until(() => store.status.unsent === 0);
    await store.close();
  }
});

test("a sync ends when the large push has ended as well, and a small one is sent before it", async () => {
  const { server, store, merge } = await begun();
  await label(store, 1, photo);
  await label(store, 2, "small");
  const synced = store.sync(), small = await server.request();
  assert.deepEqual(idsOf(small), [2]);
  merge(small, { 2: box(2, { label: "small" }) });
  const big = await server.request();
  let isOver = false;
  void synced.then(() => { isOver = true; });
  await new Promise((resolve) => setTimeout(resolve, 10));
  assert.equal(isOver, false);
  merge(big, { 1: box(1, { label: photo }) });
  const report = await synced;
  assert.deepEqual([report.phase, report.sent, report.merged], ["idle", 2, 2]);
  assert.equal(store.status.unsent, 0);
  // A failure also ends the sync, and the next one tries again at once.
  await label(store, 1, photo.toUpperCase());
  const failing = store.sync();
  (await server.request()).fail();
  assert.equal((await failing).phase, "waiting");
  const next = store.sync();
  merge(await server.request(), { 1: box(1, { label: photo.toUpperCase() }) });
  assert.equal((await next).phase, "idle");
  await store.close();
});

test("a large push that is broken off by close() or a deadline is sent again", async () => {
  const { server, clock, store, merge } = await begun();
  await label(store, 1, photo);
  const synced = store.sync({ deadline: 1000 }), first = await server.request();
  await clock.advance(1000);
  await synced;
  assert.ok(first.isAnswered);
  const next = store.sync();
  const again = await server.request();
  assert.equal(again.text, first.text);
  merge(again, { 1: box(1, { label: photo }) });
  await next;
  assert.equal(store.status.unsent, 0);
  await label(store, 1, photo.toUpperCase());
  const last = store.sync();
  const request = await server.request();
  await store.close();
  assert.ok(request.isAnswered);
  await last;
});

test("a large push that the deadline of a sync breaks off is repeated by a store that was started", async () => {
  const { server, clock, store, merge } = await begun();
  store.start();
  await until(() => store.status.phase === "idle");
  await label(store, 1, photo);
  const first = await server.request(), synced = store.sync({ deadline: 1000 });
  await until(() => store.status.phase === "pushing");
  await clock.advance(1000);
  await synced;
  assert.ok(first.isAnswered);
  await until(() => store.status.phase === "waiting");
  await clock.advance(store.status.nextTry - clock.now());
  merge(await server.request(), { 1: box(1, { label: photo }) });
  await until(() => store.status.unsent === 0);
  await store.close();
});

test("the answer to a large push replaces no newer record", async () => {
  const { server, store, merge } = await begun();
  await label(store, 1, photo);
  const synced = store.sync(), big = await server.request();
  server.handle("/v1/changes", (request) => request.answer(200, { feed: "feed-1", revision: 9, more: false, rules: "v1", changes: [{ revision: 9, resource: "boxes", id: 1, record: box(1, { label: photo, code: "newer" }) }] }));
  const pulled = store.sync();
  await until(async () => (await store.record("boxes", 1)).box.code === "newer");
  merge(big, { 1: box(1, { label: photo, code: "older" }) });
  await Promise.all([synced, pulled]);
  assert.equal((await store.record("boxes", 1)).box.code, "newer");
  await store.close();
});

/** A store whose large push of box 1 is being sent, and a page of the changes, which a test changes. */
async function withLarge() {
  const { server, store, merge } = await begun(), told = { revision: 1, changes: [], fails: false };
  const page = () => ({ feed: "feed-1", revision: told.revision, more: false, rules: "v1", changes: told.changes.map((record) => ({ revision: told.revision, resource: record.tag ? "tags" : "boxes", id: record.id, record })) });
  server.handle("/v1/changes", (request) => (told.fails ? request.fail() : request.answer(200, page())));
  const overtaken = [];
  store.addEventListener("overtaken", ({ group, current }) => overtaken.push([group, current]));
  return { server, store, merge, told, page, overtaken };
}

test("the changes of a large push remain visible until a page contains them", async () => {
  const { server, store, merge, told } = await withLarge();
  await store.edit("boxes", 1, (one) => Object.assign(one.box, { count: 1, label: photo }));
  const { id } = await store.create("tags", (one) => { one.tag.name = photo; });
  for (const [own, record, ids] of [[1, box(1, { count: 1, label: photo }), {}], [id, { id: 101, tag: { name: photo, rank: 5 } }, { [id]: 101 }]]) {
    told.fails = false;
    const synced = store.sync(), big = await server.request();
    assert.deepEqual(idsOf(big), [own]);
    // A page comes while the large push is being sent, and none after it.
    await label(store, 3, `with ${own}`);
    const other = store.sync();
    merge(await server.request(), { 3: box(3, { label: `with ${own}` }) });
    await until(async () => (await store.unsent()).every(({ edits }) => edits[0].id !== 3));
    told.fails = true;
    big.answer(200, { feed: "feed-1", revision: 9, more: false, rules: "v1", changes: [], results: [{ key: big.json.pushes[0].key, status: "merged", code: 200, results: [{ resource: own === 1 ? "boxes" : "tags", id: record.id, status: "merged", record, ids, outcomes: [] }] }] });
    await Promise.all([synced, other]);
    if (own === 1) assert.deepEqual((await store.record("boxes", 1)).box, record.box);
    else assert.equal((await store.record("tags", id)).tag.name, photo);
    Object.assign(told, { fails: false, revision: told.revision + 10, changes: [record] });
    const pulled = store.sync();
    if (own === 1) {
      const next = await server.request();
      assert.deepEqual(idsOf(next), [id], "the next large push");
      next.fail();
    }
    await pulled;
    const resource = own === 1 ? "boxes" : "tags";
    assert.deepEqual(await store.record(resource, record.id), record);
    assert.equal(await store.state(resource, record.id), "clean");
  }
  assert.equal((await store.records("tags")).length, 1);
  assert.deepEqual([store.status.unsent, server.requests.filter(({ url }) => url.pathname === "/v1/sync").length], [0, 5]);
  await store.close();
});

test("a page that is older than the answer to a large push reverts nothing", async () => {
  const { server, store, merge, told, page, overtaken } = await withLarge(), reads = [];
  await store.edit("boxes", 1, (one) => Object.assign(one.box, { code: "mine", label: photo }));
  const synced = store.sync(), big = await server.request();
  await label(store, 3, "small");
  const other = store.sync(), small = await server.request();
  await store.edit("boxes", 1, (one) => { one.box.code = "later"; });
  store.observe("boxes", 1, (record) => reads.push(record.box.code));
  merge(big, { 1: box(1, { code: "mine", count: 7, label: photo }) });
  await new Promise((resolve) => setTimeout(resolve, 5));
  Object.assign(told, { revision: 3, changes: [box(1, { code: "mine", count: 7, label: photo })] });
  const results = small.json.pushes.map(({ key }) => ({ key, status: "merged", code: 200, results: [{ resource: "boxes", id: 3, status: "merged", record: box(3, { label: "small" }), ids: {}, outcomes: [] }] }));
  small.answer(200, { ...page(), revision: 2, changes: [{ revision: 2, resource: "boxes", id: 1, record: box(1, { count: 7 }) }], results });
  const behind = await server.request();
  assert.deepEqual(behind.json.pushes[0].edits[0].changeset, { box: { code: { old: "mine", new: "later" } } });
  assert.deepEqual([overtaken, await store.conflicts(), new Set(reads)], [[], [], new Set(["later"])]);
  told.changes = [box(1, { code: "later", count: 7, label: photo })];
  merge(behind, { 1: told.changes[0] });
  await Promise.all([synced, other]);
  assert.equal(store.status.unsent, 0);
  await store.close();
});

test("the answer to a large push of a resource that is not kept is its record", async () => {
  const { server, store } = await begun({ resources: ["tags"] });
  await label(store, 1, photo);
  const synced = store.sync(), big = await server.request(), record = box(1, { label: photo, count: 3 });
  server.handle("/v1/changes", (request) => request.answer(200, { feed: "feed-1", revision: 8, more: false, rules: "v1", changes: [] }));
  big.answer(200, { feed: "feed-1", revision: 8, more: false, rules: "v1", changes: [], results: [{ key: big.json.pushes[0].key, status: "merged", code: 200, results: [{ resource: "boxes", id: 1, status: "merged", record, ids: {}, outcomes: [] }] }] });
  await synced;
  server.handle("/v1/records", (request) => request.fail());
  server.handle("/v1/records/boxes/1", (request) => request.fail());
  assert.deepEqual(await store.record("boxes", 1), record);
  await store.close();
});

test("a large push waits if its answer is that rules or history have changed, and again so", async () => {
  for (const code of ["rules-changed", "history-changed"]) for (const isStarted of [true, false]) {
    const { server, clock, store, merge } = await begun();
    let posts = 0, isOver = false;
    server.handle("/v1/sync", (request) => {
      posts += 1;
      if (posts > 20) return;
      if (isOver) return merge(request, { 1: box(1, { label: photo }) });
      request.answer(207, { results: request.json.pushes.map(({ key }) => ({ key, status: "failed", code: 409, results: [], problem: { type: "t", code, status: 409, retry: false } })), feed: "feed-1", revision: 1, more: false, rules: "v1", changes: [] });
    });
    if (isStarted) store.start();
    await label(store, 1, photo);
    const synced = isStarted || store.sync();
    await until(() => posts > 20 || (posts > 1 && store.status.phase === "waiting"));
    await synced;
    assert.equal(posts, 2, code);
    isOver = true;
    if (isStarted) await clock.advance(store.status.nextTry - clock.now());
    else await store.sync();
    await until(() => store.status.unsent === 0);
    assert.equal(posts, 3);
    await store.close();
  }
});

/** A storage that cannot be written from some moment on, and again later. */
class FullStorage extends MemoryStorage {
  isFull = false;
  async persist() { if (this.isFull) throw Object.assign(new Error("The disk is full."), { code: "storage" }); }
}

test("stored edits are sent although the disk is full, and their answer is stored when it is not", async () => {
  const gateway = new SimulatedGateway(null), storage = new FullStorage(), pushed = [];
  const fetch = async (url, init) => { if (String(url).includes("/v1/sync")) pushed.push(await new Response(new Blob([init.body])).text()); return gateway.fetch(url, init); };
  const begin = () => open({ server: gateway.url, user: "u", storage, fetch, clock: new TestClock({ now: gateway.now }) });
  let store = await begin();
  await store.sync();
  const add = (name) => store.edit("boxes", 1, (one) => { one.box.count += 1; one.things.push({ name }); });
  await add("a");
  storage.isFull = true;
  assert.equal((await store.sync()).phase, "waiting");
  assert.deepEqual([gateway.records.get("boxes/1").box.count, store.status.unsent], [1, 1]);
  assert.equal(await store.state("boxes", 1, "box.count"), "sending");
  await assert.rejects(add("b"), { code: "storage" });
  await store.sync();
  assert.equal(pushed[0].slice(pushed[0].indexOf('"pushes"')), pushed[1].slice(pushed[1].indexOf('"pushes"')));
  storage.isFull = false;
  await add("c");
  assert.equal((await store.sync()).phase, "idle");
  assert.deepEqual([gateway.records.get("boxes/1").box.count, gateway.names(), store.status.unsent], [2, ["a", "c"], 0]);
  // A process that was killed in between sends it with a time. The report says that there was none before.
  await add("d");
  storage.isFull = true;
  await store.sync();
  await store.close();
  storage.isFull = false;
  store = await begin();
  assert.equal((await store.sync()).phase, "waiting");
  assert.equal((await store.sync()).phase, "idle");
  assert.deepEqual([gateway.records.get("boxes/1").box.count, gateway.names(), store.status.unsent, store.status.refused], [3, ["a", "c", "d"], 0, 0]);
  assert.deepEqual(await store.record("boxes", 1), gateway.records.get("boxes/1"));
  await store.close();
});

test("if edits are added to a push that was sent without a write, its outcome is unknown", async () => {
  for (const isKilled of [true, false]) {
    const gateway = new SimulatedGateway(null), storage = new FullStorage();
    const begin = () => open({ server: gateway.url, user: "u", storage, fetch: gateway.fetch, clock: new TestClock({ now: gateway.now }) });
    let store = await begin();
    await store.sync();
    const other = await begin(), { name } = await other.edit("boxes", 1, (one) => { one.box.count += 1; });
    storage.isFull = true;
    await store.sync();
    storage.isFull = false;
    if (isKilled) {
      await store.close();
      store = await begin();
    }
    await (isKilled ? store : other).edit("boxes", 1, (one) => Object.assign(one.box, { count: one.box.count + 1, label: "two" }));
    for (let time = 0; time < 5; time++) await store.sync();
    // The first number was added. The user decides about the rest.
    assert.deepEqual([gateway.records.get("boxes/1").box.count, store.status.unsent], [1, 0]);
    const [entry, ...others] = await store.refusedEdits();
    assert.deepEqual([entry.problem.code, entry.edits[0].changeset.box.count, entry.edits[0].changeset.box.label.new, others], ["outcome-unknown", { old: 0, new: 2 }, "two", []]);
    assert.equal((await (await store.ticket(name)).outcome).problem.code, "outcome-unknown");
    await Promise.all([store.close(), other.close()]);
  }
});

test("an upload has a second more for each 1,000 bytes, and a download that yields bytes is not broken off", async () => {
  const { server, clock, store } = await begun();
  // A text that gzip cannot compress.
  const text = Array.from({ length: 150000 }, () => Math.floor(Math.random() * 36).toString(36)).join("");
  await label(store, 1, text);
  const synced = store.sync(), request = await server.request();
  await clock.advance(100000);
  assert.equal(request.isAnswered, false);
  await clock.advance(200000);
  assert.equal(request.isAnswered, true);
  await synced;
  let next;
  const parts = (async function* () {
    const answer = JSON.stringify({ results: [{ key: again.json.pushes[0].key, status: "merged", code: 200, results: [{ resource: "boxes", id: 1, status: "merged", record: box(1, { label: text }), ids: {}, outcomes: [] }] }], feed: "feed-1", revision: 2, more: false, rules: "v1", changes: [] });
    for (let at = 0; at < answer.length; at += 40000) {
      yield answer.slice(at, at + 40000);
      await new Promise((resolve) => { next = resolve; });
    }
  })();
  const slow = store.sync(), again = await server.request();
  again.answer(200, parts);
  while (store.status.unsent) {
    await until(() => next || !store.status.unsent);
    await clock.advance(50000);
    next?.();
    next = null;
  }
  await slow;
  assert.equal(store.status.unsent, 0);
  await store.close();
});

test("the name of the user comes back with each request", async () => {
  const { server, store } = await begun();
  server.handle("/v1/changes", (request) => request.answer(200, { feed: "feed-1", revision: 2, more: false, rules: "v1", changes: [] }, { headers: { "X-Who": "ann%20b" } }));
  await store.sync();
  server.handle("/v1/changes", (request) => request.answer(200, { feed: "feed-1", revision: 2, more: false, rules: "v1", changes: [] }, { headers: { "X-Who": "bob" } }));
  await store.sync();
  await store.sync();
  assert.equal(server.requests[0].headers.get("x-who"), null);
  assert.equal(server.requests.at(-1).headers.get("x-who"), "ann%20b");
  await store.close();
});
