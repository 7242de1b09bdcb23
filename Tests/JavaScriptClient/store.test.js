import assert from "node:assert/strict";
import { test } from "node:test";
import { open } from "../../Sources/clients/javascript/fieldmerge.js";
import { MemoryStorage, ScriptedServer, TestClock } from "../../Sources/clients/javascript/testing.js";
import { SimulatedGateway, rules } from "./simulated.js";

const box = (id, more = {}) => ({ id, box: { count: 0, label: "", tag: null, ...more }, things: [] });
const turn = () => new Promise((resolve) => setTimeout(resolve, 5));

async function started({ answers = true, ...options } = {}) {
  const server = new ScriptedServer({ rules, records: [{ resource: "boxes", id: 1, record: box(1) }] });
  server.handle("/v1/changes", (request) => {
    if (!answers) return;
    if (request.headers.get("accept") === "text/event-stream") request.answer(200, (async function* () { yield ":\n\n"; await new Promise(() => {}); })(), { headers: { "Content-Type": "text/event-stream" } });
    else request.answer(200, { feed: "feed-1", revision: 1, more: false, rules: "v1", changes: [] });
  });
  const clock = new TestClock();
  const store = await open({ server: server.url, user: "u", path: ":memory:", fetch: server.fetch, clock, client: "test/1.0", ...options });
  await store.sync();
  return { server, clock, store };
}

test("every request says who asks", async () => {
  const { server, store } = await started({ token: () => "secret" });
  for (const request of server.requests) {
    assert.equal(request.headers.get("authorization"), "Bearer secret");
    assert.equal(request.headers.get("x-client"), "test/1.0");
    assert.match(request.headers.get("x-device-id"), /^[0-9a-f-]{36}$/);
  }
  await store.close();
});

test("one asking for a token at a time, and once more when it was refused", async () => {
  let asked = 0;
  const server = new ScriptedServer({ rules, records: [] });
  server.handle("/v1/rules", (request) => request.headers.get("authorization") !== "Bearer 2" && request.answer(401, { type: "t", code: "no-token" }));
  const store = await open({ server: server.url, user: "u", path: ":memory:", fetch: server.fetch, clock: new TestClock(), token: async () => { await turn(); return String(++asked); } });
  const [report] = await Promise.all([store.sync(), store.sync(), (async () => (await server.request()).answer(200, { feed: "feed-1", revision: 1, more: false, rules: "v1", changes: [] }))()]);
  assert.equal(asked, 2);
  assert.equal(report.phase, "idle");
  await store.close();
});

test("a wait is a second, then twice as long up to five minutes; Retry-After is obeyed, and it never ends", async () => {
  const { server, clock, store } = await started();
  store.start();
  await turn();
  await store.edit("boxes", 1, (b) => { b.box.label = "x"; });
  const waits = [];
  for (let time = 0; time < 14; time++) {
    const request = await server.request();
    if (time === 5) request.answer(503, { type: "t", code: "busy", retry: true }, { headers: { "Retry-After": "700" } });
    else request.fail();
    await turn();
    assert.equal(store.status.phase, "waiting");
    waits.push((store.status.nextTry - clock.now()) / 1000);
    await clock.advance(store.status.nextTry - clock.now());
    await turn();
  }
  assert.deepEqual(waits, [0.5, 1, 2, 4, 8, 700, 32, 64, 128, 150, 150, 150, 150, 150]);
  // A new edit ends the wait.
  const request = await server.request();
  request.fail();
  await turn();
  await store.edit("boxes", 1, (b) => { b.box.count = 1; });
  assert.equal((await server.request()).json.pushes.length, 2);
  await store.close();
});

test("an edit made while another is sent is not added to it", async () => {
  const { server, store } = await started();
  await store.edit("boxes", 1, (b) => { b.box.count = 1; });
  const synced = store.sync(), request = await server.request();
  const [push] = request.json.pushes;
  const later = await store.edit("boxes", 1, (b) => { b.box.count += 1; });
  assert.equal(await store.state("boxes", 1, "box.count"), "draft");
  request.answer(200, { results: [{ key: push.key, status: "merged", code: 200, revision: null, results: [{ resource: "boxes", id: 1, status: "merged", record: box(1, { count: 1 }), ids: {}, outcomes: [] }] }], feed: "feed-1", revision: 2, more: false, rules: "v1", changes: [] });
  const next = await server.request();
  assert.deepEqual(next.json.pushes[0].edits[0].changeset, { box: { count: { old: 1, new: 2 } } });
  assert.notEqual(next.json.pushes[0].key, push.key);
  next.fail();
  await synced;
  assert.equal(await later.peek(), null);
  await store.close();
});

test("waits end with a signal, and a sync with its deadline", async () => {
  const { server, clock, store } = await started();
  const ticket = await store.edit("boxes", 1, (b) => { b.box.count = 1; });
  const controller = new AbortController();
  const waiting = ticket.wait({ signal: controller.signal });
  controller.abort();
  await assert.rejects(waiting, { name: "AbortError" });
  const synced = store.sync({ deadline: 3000 });
  const request = await server.request();
  await clock.advance(3000);
  await synced;
  assert.ok(request.isAnswered, "the request is broken off");
  assert.equal(store.status.unsent, 1);
  await store.close();
});

test("an error in the function leaves nothing, also in a transaction", async () => {
  const { store } = await started();
  await assert.rejects(store.edit("boxes", 1, (b) => { b.box.count = 5; throw new Error("no"); }), /no/);
  await assert.rejects(store.edit("boxes", 1, async (b) => { b.box.count = 5; await turn(); throw new Error("no"); }), /no/);
  await assert.rejects(store.transaction(async (t) => {
    await t.create("tags", (tag) => { tag.tag.name = "a"; });
    await t.edit("boxes", 1, (b) => { b.box.count = 5; });
    throw new Error("no");
  }), /no/);
  assert.equal(store.status.unsent, 0);
  assert.equal((await store.record("boxes", 1)).box.count, 0);
  assert.deepEqual(await store.records("tags"), []);
  await store.close();
});

test("functions that wait count exactly, however many run at once", async () => {
  const { store } = await started();
  await Promise.all(Array.from({ length: 20 }, (_, index) => store.edit("boxes", 1, index % 2 ? (b) => { b.box.count += 1; } : async (b) => {
    const { count } = b.box;
    await turn();
    b.box.count = count + 1;
  })));
  assert.equal((await store.record("boxes", 1)).box.count, 20);
  await store.close();
});

test("what the app does with a record changes nothing that is kept", async () => {
  const { store } = await started();
  const record = await store.record("boxes", 1);
  record.box.count = 99;
  (await store.records("boxes"))[0].things.push({ name: "x" });
  assert.deepEqual(await store.record("boxes", 1), box(1));
  await store.close();
});

test("events wait until somebody listens, also over a restart", async () => {
  const gateway = new SimulatedGateway(null), storage = new MemoryStorage();
  const begin = () => open({ server: gateway.url, user: "u", storage, fetch: gateway.fetch });
  let store = await begin();
  await store.sync();
  await store.create("tags", (tag) => { tag.tag.name = "no"; });
  await store.sync();
  await store.close();
  store = await begin();
  const told = await new Promise((resolve) => store.addEventListener("refused", resolve));
  assert.equal(told.problem.code, "check");
  await turn();
  await store.close();
  store = await begin();
  let again = 0;
  store.addEventListener("refused", () => { again += 1; });
  await turn();
  assert.equal(again, 0, "once");
  const [entry] = await store.refusedEdits();
  await entry.discard();
  await store.close();
});

test("a record is watched", async () => {
  const { store } = await started();
  const seen = [], end = store.observe("boxes", 1, (record) => seen.push(record.box.count));
  const lists = [], controller = new AbortController();
  store.observe("boxes", (records) => lists.push(records.length), { signal: controller.signal });
  await turn();
  await store.edit("boxes", 1, (b) => { b.box.count = 1; });
  await store.edit("boxes", 1, (b) => { b.box.count = 2; });
  end();
  controller.abort();
  await store.edit("boxes", 1, (b) => { b.box.count = 3; });
  assert.deepEqual(seen, [0, 1, 2]);
  assert.deepEqual(lists, [1, 1, 1]);
  await store.close();
});

test("a first sync that breaks goes on where it broke", async () => {
  const server = new ScriptedServer({ rules });
  const lines = (list) => list.map((line) => `${JSON.stringify(line)}\n`).join("");
  const head = (records) => ({ snapshot: { feed: "f", revision: 7, rules: "v1", resources: ["boxes", "tags"], records } });
  const some = Array.from({ length: 600 }, (_, index) => ({ resource: "boxes", id: index + 1, record: box(index + 1) }));
  const storage = new MemoryStorage();
  let store = await open({ server: server.url, user: "u", storage, fetch: server.fetch, clock: new TestClock() });
  let synced = store.sync();
  (await server.request()).answer(200, lines([head(700), ...some, { cursor: "c1" }]), { headers: { "Content-Type": "application/x-ndjson" } });
  assert.equal((await synced).phase, "waiting");
  assert.equal((await store.records("boxes")).length, 600);
  await store.close();
  store = await open({ server: server.url, user: "u", storage, fetch: server.fetch, clock: new TestClock() });
  synced = store.sync();
  const rest = await server.request();
  assert.equal(rest.url.searchParams.get("after"), "c1");
  rest.answer(200, lines([head(700), { resource: "boxes", id: 601, record: box(601) }, { end: { records: 1 } }]), { headers: { "Content-Type": "application/x-ndjson" } });
  const changes = await server.request();
  assert.equal(`${changes.url.pathname} ${changes.url.searchParams.get("since")}`, "/v1/changes 7");
  changes.answer(200, { feed: "f", revision: 8, more: false, rules: "v1", changes: [] });
  assert.equal((await synced).phase, "idle");
  assert.equal((await store.records("boxes")).length, 601);
  await store.close();
});

test("an error of the app's own rule is told, and the conflict waits for the next start", async (context) => {
  const told = context.mock.method(console, "error", () => {}), storage = new MemoryStorage(), gateway = new SimulatedGateway(null);
  const begin = (more) => open({ server: gateway.url, user: "u", storage, fetch: gateway.fetch, ...more });
  let store = await begin({ onConflict: () => { throw new Error("of the app"); } });
  await store.sync();
  await store.edit("boxes", 1, (b) => { b.box.label = "mine"; });
  gateway.records.get("boxes/1").box.label = "theirs";
  await store.sync();
  await turn();
  assert.match(String(told.mock.calls[0].arguments[0]), /of the app/);
  await store.close();
  const heard = [];
  store = await begin();
  store.addEventListener("conflict", ({ current }) => heard.push(current));
  await turn();
  assert.deepEqual(heard, ["theirs"]);
  await store.close();
});
