import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import "../../../Sources/clients/javascript/decisions.js"; // a wait does not wait for a module
import { open } from "../../../Sources/clients/javascript/fieldmerge.js";
import { MemoryStorage, ScriptedServer, TestClock } from "../../../Sources/clients/javascript/testing.js";
import { SimulatedGateway, rules } from "./simulated.js";

const box = (id, more = {}) => ({ id, box: { count: 0, label: "", tag: null, ...more }, things: [] });
const turn = () => new Promise((resolve) => setTimeout(resolve, 5));

/** Resolves when a condition is true. */
async function until(holds) {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 1));
}

async function started({ answers = () => true, ...options } = {}) {
  const server = new ScriptedServer({ rules, records: [{ resource: "boxes", id: 1, record: box(1) }] });
  server.handle("/v1/changes", (request) => {
    if (!answers()) return;
    if (request.headers.get("accept") === "text/event-stream") request.answer(200, (async function* () { yield ":\n\n"; await new Promise(() => {}); })(), { headers: { "Content-Type": "text/event-stream" } });
    else request.answer(200, { feed: "feed-1", revision: 1, more: false, rules: "v1", changes: [] });
  });
  const clock = new TestClock();
  const store = await open({ server: server.url, user: "u", path: ":memory:", fetch: server.fetch, clock, client: "test/1.0", ...options });
  await store.sync();
  return { server, clock, store };
}

test("each request names its sender", async () => {
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

test("a wait is a second, then twice as long up to five minutes; Retry-After is obeyed, and the retries never end", async () => {
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

test("changes to a returned record do not change the store", async () => {
  const { store } = await started();
  const record = await store.record("boxes", 1);
  record.box.count = 99;
  (await store.records("boxes"))[0].things.push({ name: "x" });
  assert.deepEqual(await store.record("boxes", 1), box(1));
  await store.close();
});

test("events wait for a listener, also over a restart", async () => {
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
  for (const count of [1, 2]) {
    await store.edit("boxes", 1, (b) => { b.box.count = count; });
    await until(() => seen.at(-1) === count);
  }
  await until(() => lists.length === 3);
  end();
  controller.abort();
  await store.edit("boxes", 1, (b) => { b.box.count = 3; });
  assert.deepEqual(seen, [0, 1, 2]);
  assert.deepEqual(lists, [1, 1, 1]);
  await store.close();
});

test("an interrupted first sync continues at its position", async () => {
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

test("an error of the app's rule is logged, and the conflict waits for the next start", async (context) => {
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

test("the event stream is opened again with a sync, and once the network is back, however long it failed", async () => {
  let isUp = true, streams = 0;
  const { server, clock, store } = await started();
  server.handle("/v1/changes", (request) => {
    if (!isUp) return request.fail();
    if (request.headers.get("accept") !== "text/event-stream") return request.answer(200, { feed: "feed-1", revision: 1, more: false, rules: "v1", changes: [] });
    streams += 1;
    request.answer(200, (async function* () { yield ":\n\n"; await until(() => !isUp); throw new Error("It broke off."); })(), { headers: { "Content-Type": "text/event-stream" } });
  });
  store.start();
  await until(() => streams === 1);
  for (const wake of [() => store.sync(), () => clock.advance(store.status.nextTry - clock.now())]) {
    isUp = false;
    for (let time = 0; time < 40; time++) {
      await clock.advance(30000);
      await turn();
    }
    const before = streams; // it waits for minutes now
    isUp = true;
    await wake();
    await until(() => store.status.phase === "idle" && streams > before);
  }
  isUp = false;
  await store.close();
});

test("a watched list reads only changed records", async () => {
  const gateway = new SimulatedGateway(null), storage = new MemoryStorage();
  let whole = 0, single = 0;
  const counting = {
    close: async () => {}, destroy: async () => {},
    run: (writes, body) => storage.run(writes, (tx) => body({
      ...tx, all: (table, ...range) => { whole += table === "r:boxes"; return tx.all(table, ...range); }, get: (table, key) => { single += table === "r:boxes"; return tx.get(table, key); },
    })),
  };
  for (let id = 4; id <= 500; id++) gateway.records.set(`boxes/${id}`, box(id));
  const store = await open({ server: gateway.url, user: "u", storage: counting, fetch: gateway.fetch });
  await store.sync();
  const lists = [], end = store.observe("tags", (tags) => lists.push(tags.map((tag) => tag.tag.name))), boxes = [], other = store.observe("boxes", (all) => boxes.push(all));
  await until(() => boxes.length === 1 && lists.length === 1);
  assert.equal(boxes[0].length, 500);
  whole = single = 0;
  await store.edit("boxes", 7, (one) => { one.box.label = "seven"; });
  await until(() => boxes.length === 2);
  assert.equal(whole, 0, "the others are not read");
  assert.ok(single < 10, `${single} reads`);
  assert.deepEqual(boxes[1].map((one) => one.id), boxes[0].map((one) => one.id));
  assert.equal(boxes[1][6].box.label, "seven");
  assert.equal(boxes[1][7], boxes[0][7], "the same object");
  // A row has its temporary id, and then a real one, once.
  await store.create("tags", (tag) => { tag.tag.name = "b"; });
  await store.create("tags", (tag) => { tag.tag.name = "a"; });
  await store.sync();
  const [first] = await store.records("tags");
  await store.delete("tags", first.id);
  await until(() => lists.at(-1).length === 1);
  assert.deepEqual(lists.slice(0, 2), [[], ["b"]]);
  assert.deepEqual(lists.at(-1), (await store.records("tags")).map((tag) => tag.tag.name));
  assert.equal(lists.at(-1).length, 1);
  end();
  other();
  await store.close();
});

test("a page that is opened without a network is offline after its first try, and continues with the network", async (context) => {
  const listeners = new Map(), before = Object.getOwnPropertyDescriptor(globalThis, "navigator"), { addEventListener } = globalThis;
  context.after(() => {
    if (before) Object.defineProperty(globalThis, "navigator", before);
    else delete globalThis.navigator;
    globalThis.addEventListener = addEventListener;
  });
  Object.defineProperty(globalThis, "navigator", { configurable: true, value: { onLine: false } });
  globalThis.addEventListener = (type, listener) => listeners.set(type, listener);
  const gateway = new SimulatedGateway(null), clock = new TestClock();
  const store = await open({ server: gateway.url, user: "u", path: ":memory:", clock, fetch: (...given) => (navigator.onLine ? gateway.fetch(...given) : Promise.reject(new TypeError("fetch failed"))) });
  store.start();
  await until(() => store.status.phase === "offline");
  assert.equal(store.status.nextTry, null);
  navigator.onLine = true;
  listeners.get("online")({ type: "online" });
  await until(() => store.status.phase === "idle");
  assert.equal((await store.records("boxes")).length, 3);
  await store.close();
});

test("a sent edit has the state “sending” until its answer, also without a network", async () => {
  const { server, store } = await started();
  await store.edit("boxes", 1, (b) => { b.box.count = 1; });
  const synced = store.sync();
  (await server.request()).fail();
  await synced;
  // The server may have it, so it is no draft any more.
  assert.equal(await store.state("boxes", 1, "box.count"), "sending");
  await store.edit("boxes", 1, (b) => { b.box.label = "x"; });
  assert.equal(await store.state("boxes", 1, "box.label"), "draft");
  await store.close();
});

test("edits of a missing record are each refused once, also if one depends on the other", async () => {
  let isOpen = true;
  const { server, store } = await started({ answers: () => isOpen });
  isOpen = false;
  const synced = store.sync(), request = await server.request();
  await store.edit("boxes", 1, (b) => { b.things.push({ name: "a" }); });
  await store.transaction((t) => t.edit("boxes", 1, (b) => { b.things[0].name = "b"; }), { atomic: "edit" });
  assert.equal(store.status.unsent, 2);
  request.answer(200, { feed: "feed-1", revision: 2, more: false, rules: "v1", changes: [{ revision: 2, resource: "boxes", id: 1, record: null }] });
  await synced;
  assert.deepEqual([store.status.unsent, store.status.refused], [0, 2]);
  assert.deepEqual((await store.refusedEdits()).map((entry) => entry.problem.code), ["gone", "depends-on-refused"]);
  await store.close();
});

/** The answer to a push that was merged. */
const merged = (push, results, more = {}) => ({
  results: [{ key: push.key, status: "merged", code: 200, revision: null, results: results.map((one) => ({ status: "merged", ids: {}, outcomes: [], ...one })) }],
  feed: "feed-1", revision: 2, more: false, rules: "v1", changes: [], ...more,
});

test("the answer to a creation fills in omitted fields, also for a later transaction", async () => {
  const { server, store } = await started();
  const box9 = await store.create("boxes", (b) => { b.box.label = "new"; });
  const ticket = await store.transaction(async (t) => {
    await t.edit("boxes", box9.id, (b) => { b.box.count = 3; });
    await t.edit("boxes", 1, (b) => { b.box.label = "both"; });
  });
  assert.equal((await store.record("boxes", box9.id)).box.count, 3);
  const synced = store.sync(), request = await server.request();
  assert.equal(request.json.pushes.length, 1, "what builds on the creation waits for its answer");
  request.answer(200, merged(request.json.pushes[0], [{ resource: "boxes", id: 9, ids: { [box9.id]: 9 }, record: box(9, { count: 7, label: "new" }) }]));
  const next = await server.request(), [push] = next.json.pushes;
  assert.deepEqual(push.edits.map(({ id, changeset }) => [id, changeset]), [[9, { box: { count: { old: 7, new: 3 } } }], [1, { box: { label: { old: "", new: "both" } } }]]);
  next.answer(200, merged(push, [{ resource: "boxes", id: 9, record: box(9, { count: 3, label: "new" }) }, { resource: "boxes", id: 1, record: box(1, { label: "both" }) }]));
  await synced;
  assert.equal((await ticket.outcome).status, "merged");
  await store.close();
});

test("a value that the database has filled in already is not sent", async () => {
  const { server, store } = await started();
  const made = await store.create("boxes", (b) => { b.box.label = "new"; });
  const synced = store.sync(), request = await server.request();
  const ticket = await store.edit("boxes", made.id, (b) => { b.box.count = 0; });
  request.answer(200, merged(request.json.pushes[0], [{ resource: "boxes", id: 9, ids: { [made.id]: 9 }, record: box(9, { label: "new" }) }]));
  await synced;
  assert.equal((await ticket.outcome).status, "merged");
  assert.equal(store.status.unsent, 0);
  await store.close();
});

test("a hook that throws loses only its edits", async (context) => {
  const reported = context.mock.method(console, "error", () => {});
  const { server, store } = await started();
  store.beforeStore = async (change) => {
    await change.edit((b) => { b.box.label = "repair"; });
    throw new Error("the app's");
  };
  const ticket = await store.edit("boxes", 1, (b) => { b.box.count = 1; });
  const synced = store.sync(), request = await server.request();
  request.answer(200, merged(request.json.pushes[0], [{ resource: "boxes", id: 1, record: box(1, { count: 1 }) }]));
  await synced;
  assert.equal((await ticket.outcome).status, "merged");
  assert.deepEqual([store.status.unsent, (await store.record("boxes", 1)).box.label], [0, ""]);
  assert.deepEqual(reported.mock.calls.map(({ arguments: [error] }) => error.message), ["the app's"]);
  await store.close();
});

test("without a token a sync is tried again after it was refused", async () => {
  for (const token of [undefined, () => undefined]) {
    let isOpen = false;
    const { server, store } = await started({ token });
    server.handle("/v1/changes", (request) => (isOpen ? request.answer(200, { feed: "feed-1", revision: 1, more: false, rules: "v1", changes: [] }) : request.answer(401, { type: "t", code: "no-token" })));
    assert.equal((await store.sync()).phase, "needsAuth");
    isOpen = true;
    assert.equal((await store.sync()).phase, "idle");
    await store.close();
  }
});

test("who waits for an outcome hears of the store's end", async () => {
  const { store } = await started();
  const ticket = await store.edit("boxes", 1, (b) => { b.box.count = 1; }), waiting = ticket.outcome;
  await turn();
  await assert.rejects(store.signOut(), { code: "unsent" });
  await store.close();
  await assert.rejects(waiting, { code: "closed" });
  const { store: other } = await started();
  const lost = await other.edit("boxes", 1, (b) => { b.box.count = 1; }), pending = lost.outcome;
  await turn();
  await other.signOut({ unsent: "discard" });
  assert.equal((await pending).status, "discarded");
});

test("an outcome can be read after the sign-out that sent the edit", async () => {
  const gateway = new SimulatedGateway(null), store = await open({ server: gateway.url, user: "u", storage: new MemoryStorage(), fetch: gateway.fetch });
  await store.sync();
  const ticket = await store.edit("boxes", 1, (b) => { b.box.count = 1; });
  await store.signOut({ unsent: "send" });
  assert.equal((await ticket.outcome).status, "merged");
});

test("an answer that cannot be stored is an error at once", async () => {
  const { server, store } = await started();
  server.handle("/v1/changes", (request) => request.answer(200, { feed: "feed-1", revision: 2, more: false, rules: "v1", changes: [{ revision: 2, resource: "boxes", id: 1, record: { ...box(1), things: [{ id: 5, name: "a" }] } }] }));
  await store.sync();
  for (const [path, change] of [
    ["box.label", (b) => { b.box.label = undefined; }], ["box.label", (b) => { delete b.box.label; }], ["box", (b) => { b.box = undefined; }], ["box", (b) => { delete b.box; }],
    ["id", (b) => { b.id = 2; }], ["things[0].name", (b) => { b.things[0].name = undefined; }], ["things[0].name", (b) => { delete b.things[0].name; }],
  ]) await assert.rejects(store.edit("boxes", 1, change), { path }, String(change));
  assert.equal(store.status.unsent, 0);
  await store.close();
});

test("after its deadline a sync is idle, and the next one has a new report; all refusals are counted", async () => {
  const { server, clock, store } = await started();
  await store.edit("boxes", 1, (b) => { b.box.count = 1; });
  const synced = store.sync({ deadline: 1000 });
  const first = await server.request();
  await clock.advance(1000);
  assert.equal((await synced).phase, "waiting");
  assert.ok(first.isAnswered);
  const again = store.sync(), request = await server.request();
  request.answer(200, merged(request.json.pushes[0], [{ resource: "boxes", id: 1, record: box(1, { count: 1 }) }]));
  assert.deepEqual(await again, { phase: "idle", sent: 1, merged: 1, refused: 0, conflicts: 0, changes: 0 });
  await store.close();
  const gateway = new SimulatedGateway(null), other = await open({ server: gateway.url, user: "u", storage: new MemoryStorage(), fetch: gateway.fetch });
  await other.sync();
  const tag = await other.create("tags", (one) => { one.tag.name = "no"; });
  await other.edit("boxes", 1, (b) => { b.box.tag = tag.id; });
  assert.equal((await other.sync()).refused, 2);
  await other.close();
});

test("edits in another form than this library's are never misread", async () => {
  const storage = new MemoryStorage(), gateway = new SimulatedGateway(null), begin = () => open({ server: gateway.url, user: "u", storage, fetch: gateway.fetch });
  const store = await begin();
  await store.sync();
  await store.edit("boxes", 1, (b) => { b.box.label = "mine"; });
  await store.close();
  const [[, key, push]] = [...storage.entries()].filter(([table]) => table === "p"), [, , meta] = [...storage.entries()].find(([table, name]) => table === "meta" && name === "meta");
  const old = { ...push, edits: push.edits.map((edit) => ({ ...edit, rows: { box: { section: "box", kind: "edit", groups: { label: { old: { label: "" }, new: { label: "mine" } } } } } })) };
  for (const [change, form, code] of [[old, undefined, "other-form"], [push, 5, "newer-store"]]) {
    storage.apply([["p", key, change], ["meta", "meta", { ...meta, form }]]);
    const before = JSON.stringify([...storage.entries()]);
    const error = await begin().catch((thrown) => thrown);
    assert.equal(error.code, code);
    if (error.export) assert.deepEqual(await error.export(), [...storage.entries()]);
    assert.equal(!!error.export, code === "newer-store");
    assert.equal(JSON.stringify([...storage.entries()]), before);
  }
  storage.apply([["p", key, push], ["meta", "meta", { ...meta, form: undefined }]]);
  const again = await begin();
  assert.equal((await again.record("boxes", 1)).box.label, "mine");
  await again.close();
});

test("a store of the form before opens with its unsent edits, and sends them once", async () => {
  const storage = new MemoryStorage(), gateway = new SimulatedGateway(null);
  storage.apply(JSON.parse(readFileSync(new URL("store-form-2.json", import.meta.url))));
  const store = await open({ server: gateway.url, user: "u", storage, fetch: gateway.fetch, clock: new TestClock({ now: gateway.now }) });
  assert.equal(store.status.unsent, 4);
  for (let count = 0; count < 2; count++) assert.equal((await store.sync()).phase, "idle");
  const [one, two] = [1, 2].map((id) => gateway.records.get(`boxes/${id}`)), tag = gateway.records.get(`tags/${one.box.tag}`);
  assert.deepEqual([one.box.count, two.box.count, two.box.tag, tag.tag.name], [2, 1, one.box.tag, "made before"]);
  assert.deepEqual(gateway.names().sort(), ["a", "b", "c", "made before"]);
  assert.deepEqual((await store.diagnose()).pushes, []);
  await store.close();
});

test("a store that a newer version has opened meanwhile asks for a reload", async () => {
  const kept = new MemoryStorage(), { store: old } = await started({ path: undefined, storage: kept });
  await kept.run(true, async (tx) => tx.put("meta", "meta", { ...(await tx.get("meta", "meta")), form: 99 }));
  await assert.rejects(old.edit("boxes", 1, (b) => { b.box.count = 1; }), { code: "newer-store" });
  assert.equal((await old.sync()).phase, "waiting");
  await old.close();
});

test("a push that an older version froze without feed and sent is repeated as it is, and its outcome is unknown", async () => {
  const storage = new MemoryStorage(), { server, store, clock } = await started({ path: undefined, storage });
  await store.edit("boxes", 1, (b) => { b.box.count = 1; });
  const first = store.sync();
  (await server.request()).fail();
  await first;
  await store.close();
  const older = await storage.run(true, async (tx) => {
    const [[seq, { doubt: _, ...push }]] = await tx.all("p"), { feed: __, sent: ___, ...body } = JSON.parse(push.body);
    await tx.put("p", seq, { ...push, body: JSON.stringify(body) });
    return JSON.stringify(body);
  });
  const again = await open({ server: server.url, user: "u", storage, fetch: server.fetch, clock });
  const second = again.sync(), request = await server.request(), { key } = JSON.parse(older);
  assert.ok(request.text.includes(older));
  request.answer(207, {
    results: [{ key, status: "failed", code: 409, results: [], problem: { type: "t", code: "history-changed", status: 409, retry: false } }],
    feed: "feed-1", revision: 1, more: false, rules: "v1", changes: [],
  });
  await second;
  assert.deepEqual((await again.refusedEdits()).map(({ problem }) => problem.code), ["outcome-unknown"]);
  await again.close();
});

test("a store of an older version that was reading everything again does so, and then names the feed", async () => {
  const storage = new MemoryStorage(), { server, store, clock } = await started({ path: undefined, storage });
  await store.close();
  await storage.run(true, async (tx) => tx.put("meta", "meta", { ...(await tx.get("meta", "meta")), feed: null, revision: null, snapshot: null }));
  const again = await open({ server: server.url, user: "u", storage, fetch: server.fetch, clock });
  assert.equal((await again.sync()).phase, "idle");
  await again.edit("boxes", 1, (b) => { b.box.label = "x"; });
  const second = again.sync(), request = await server.request();
  assert.equal(request.json.pushes[0].feed, "feed-1");
  request.fail();
  await second;
  await again.close();
});

test("`sent` is the gateway's time, also after a restart; without a Date it is the time of the clock", async () => {
  const clock = new TestClock({ now: 5000 }), there = Date.UTC(2026, 0, 1);
  /** Opens a store, edits and returns the `sent` of the push, which gets no answer. */
  const sent = async (storage, date) => {
    const server = new ScriptedServer({ records: [{ resource: "boxes", id: 1, record: box(1) }] });
    server.handle("/v1/rules", (request) => request.answer(200, rules, { headers: date && { Date: new Date(date).toUTCString() } }));
    server.handle("/v1/changes", (request) => request.answer(200, { feed: "feed-1", revision: 1, more: false, rules: "v1", changes: [] }));
    const store = await open({ server: server.url, user: "u", storage, fetch: server.fetch, clock });
    if (store.status.revision === null) await store.sync();
    // It does not join an edit whose bytes are stored.
    await store.edit("boxes", 1, (b) => { b.box.count += 1; });
    const second = store.sync(), request = await server.request();
    request.fail();
    await second;
    await store.close();
    return request.json.pushes.at(-1).sent;
  };
  const storage = new MemoryStorage();
  assert.equal(await sent(storage, there), new Date(there + 1000).toISOString(), "a Date is cut to seconds");
  await clock.advance(7000);
  assert.equal(await sent(storage), new Date(there + 8000).toISOString(), "after a restart, before there is an answer");
  assert.equal(await sent(new MemoryStorage()), new Date(12000).toISOString(), "no Date");
  assert.equal(await sent(new MemoryStorage(), 11000), new Date(12000).toISOString(), "the same second");
  assert.equal(await sent(new MemoryStorage(), 71000), new Date(72000).toISOString(), "a clock that is slow");
});

test("an edit of records of a first snapshot that broke off names its feed", async () => {
  const server = new ScriptedServer({ rules }), storage = new MemoryStorage();
  let feed = "feed-a";
  server.handle("/v1/snapshot", (request) => {
    const lines = [{ snapshot: { feed, revision: 1, rules: "v1", resources: ["boxes"], records: 9 } }, { resource: "boxes", id: 1, record: box(1) }, { cursor: "1" }];
    request.answer(200, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  });
  const store = await open({ server: server.url, user: "u", storage, fetch: server.fetch, clock: new TestClock() });
  await store.sync();
  await store.resync().catch(() => {});
  feed = "feed-b";
  await store.sync();
  await store.edit("boxes", 1, (b) => { b.box.count += 1; });
  const synced = store.sync(), request = await server.request();
  assert.equal(request.json.pushes[0].feed, "feed-a");
  request.fail();
  await synced;
  await store.close();
});
