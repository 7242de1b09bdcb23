import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { open } from "../../../Sources/clients/javascript/fieldmerge.js";
import { MemoryStorage, ScriptedServer, TestClock } from "../../../Sources/clients/javascript/testing.js";
import { SimulatedGateway, random, rules as boxRules } from "./simulated.js";
import { box, until } from "./stores.js";

const { rules, base } = JSON.parse(readFileSync(new URL("../Cases/queries.json", import.meta.url)));
const options = { search: { orders: ["order.title", "lines.note"] }, indexes: { orders: ["order.title", "order.status", "order.amount", "order.serial", "order.planned", "order.tags", "lines.article", "id"] } };
const turns = async (count = 20) => { for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setTimeout(resolve, 0)); };

/** A gateway that accepts all edits, with records of the test. */
class Orders {
  records = new Map();
  changes = [];
  revision = 1;
  #last = 1000;

  constructor(records) {
    for (const record of records) this.records.set(record.id, record);
    this.server = new ScriptedServer({ rules, records: records.map((record) => ({ resource: "orders", id: record.id, record })), feed: "f1" });
    this.server.handle("/v1/changes", (request) => request.answer(200, this.#page(Number(request.url.searchParams.get("since")))));
    this.server.handle("/v1/sync", (request) => {
      const { pushes = [], since } = request.json, results = pushes.map(({ key, edits }) => ({ key, status: "merged", code: 200, results: edits.map((edit) => this.#merged(edit)) }));
      request.answer(200, { results, ...this.#page(since ?? this.revision) });
    });
  }

  #page(since) { return { feed: "f1", revision: this.revision, more: false, rules: "r1", changes: this.changes.filter(({ revision }) => revision > since) }; }

  put(id, record) {
    if (record) this.records.set(id, record);
    else this.records.delete(id);
    this.revision += 1;
    this.changes.push({ revision: this.revision, resource: "orders", id, record: structuredClone(record), by: null });
  }

  #merged({ id, changeset }) {
    const ids = {}, { order = {}, lines = [] } = changeset, isNew = typeof id === "string", isGone = order.new === null;
    if (isNew) ids[id] = ++this.#last;
    const own = ids[id] ?? id, old = isNew ? { id: own, order: { ...blank, ...order.new }, lines: [], delivery: null } : structuredClone(this.records.get(own));
    if (!isGone && old) {
      for (const [name, { new: value }] of Object.entries(isNew ? {} : order)) old.order[name] = value;
      for (const { id: item, old: before, new: value, ...groups } of lines) {
        if (before === null) old.lines.push({ id: (ids[item] = ++this.#last), article: null, price: null, note: null, ...value });
        else if (value === null) old.lines = old.lines.filter((row) => row.id !== item);
        else for (const row of old.lines) if (row.id === item) for (const [name, group] of Object.entries(groups)) row[name] = group.new;
      }
    }
    this.put(own, isGone ? null : old);
    return { resource: "orders", id: own, status: "merged", record: isGone ? null : structuredClone(old), ids, outcomes: [] };
  }
}

const blank = Object.fromEntries(Object.keys(base[0].record.order).map((name) => [name, null]));

/** Values that are often equal: few of each kind, in several forms. */
function values(draw) {
  const one = (list) => list[Math.floor(draw() * list.length)];
  return {
    one,
    title: () => one([null, "a", "A b", "é", "e\u0301", "z\0", "～x", "😀", "😀 a", "", "ab cd"]),
    status: () => one([null, "open", "late", "done"]),
    amount: () => one([null, "1", "1.00", 1, "-1.50", "-1.5", "0", "10.00", "9.99", "100"]),
    serial: () => one([null, 5, "5", "9007199254740993", "9007199254740992", "-9007199254740993"]),
    planned: () => one([null, "2026-01-01T10:00:00Z", "2026-01-01T11:00:00+01:00", "2026-01-01T10:00:00.5Z", "2025-12-31T23:00:00-11:30"]),
    tags: () => one([null, [], ["red"], ["blue", "red"], ["green"]]),
    article: () => one([null, 1, 2, 3]),
    note: () => one([null, "big", "BIG b", "size"]),
  };
}

const fields = ["title", "status", "amount", "serial", "planned", "tags"];

function randomOrder(id, make) {
  const lines = Array.from({ length: Math.floor(make.one([0, 0, 1, 2, 3])) }, (_, index) => ({ id: id * 10 + index, article: make.article(), price: null, note: make.note() }));
  return { id, order: { ...blank, ...Object.fromEntries(fields.map((name) => [name, make[name]()])) }, lines, delivery: null };
}

// MARK: The oracle

const codes = (text) => Array.from(text, (letter) => letter.codePointAt());
/** A value as something that `compare` compares: the oracle shares no code with the library. */
const plain = {
  title: codes, status: codes, note: codes, tags: codes, amount: (value) => Math.round(Number(value) * 100), serial: (value) => BigInt(value), article: Number, planned: Date.parse,
  id: (value) => (typeof value === "number" ? [0, value] : [1, ...codes(value)]),
};

function compare(one, other) {
  if (Array.isArray(one)) {
    for (let index = 0; index < Math.min(one.length, other.length); index++) if (one[index] !== other[index]) return one[index] - other[index];
    return one.length - other.length;
  }
  return one < other ? -1 : one > other ? 1 : 0;
}

function valuesAt(record, path) {
  if (path === "id") return [record.id];
  const [section, name] = path.split(".");
  const found = section === "lines" ? record.lines.map((row) => row[name]) : [record[section][name]];
  return name === "tags" ? found.flatMap((value) => (value === null ? [null] : value)) : found;
}

function holds(record, path, condition) {
  const read = plain[path.split(".").at(-1)], found = valuesAt(record, path), isEqual = (value, wanted) => (value === null || wanted === null ? value === wanted : compare(read(value), read(wanted)) === 0);
  if (condition === null || typeof condition !== "object") return found.some((value) => isEqual(value, condition));
  if (Array.isArray(condition)) return found.some((value) => condition.some((wanted) => isEqual(value, wanted)));
  const { from, before, startsWith, not } = condition;
  return (from === undefined && before === undefined || found.some((value) => value !== null && (from === undefined || compare(read(value), read(from)) >= 0) && (before === undefined || compare(read(value), read(before)) < 0)))
    && (startsWith === undefined || found.some((value) => value !== null && codes(value).slice(0, codes(startsWith).length).join() === codes(startsWith).join()))
    && (not === undefined || !holds(record, path, not));
}

const words = (text) => text.normalize("NFD").split("").filter((letter) => letter !== "\u0301").join("").toLowerCase().split(/[^a-z]+/).filter(Boolean);

function expected(records, { where = {}, search, sort = [] }) {
  const found = records.filter((record) => Object.entries(where).every(([path, condition]) => holds(record, path, condition))
    && (search === undefined || words(search).every((word) => [...valuesAt(record, "order.title"), ...valuesAt(record, "lines.note")].some((text) => text !== null && words(text).some((one) => one.startsWith(word))))));
  return found.sort((one, other) => {
    for (const given of [...sort, "id"]) {
      const path = given.replace("-", ""), read = plain[path.split(".").at(-1)], [left, right] = [one, other].map((record) => valuesAt(record, path)[0]);
      const order = left === null || right === null ? (left === null ? 0 : 1) - (right === null ? 0 : 1) : compare(read(left), read(right));
      if (order) return given.startsWith("-") ? -order : order;
    }
    return String(one.id) < String(other.id) ? -1 : 1;
  });
}

// MARK: Random queries

function randomQuery(draw, make) {
  const { one } = make, where = {}, condition = (name, depth = 0) => {
    const dice = draw(), bound = () => { for (;;) { const value = make[name](); if (value !== null) return name === "tags" ? value[0] ?? "red" : value; } };
    if (name === "tags" && dice < 0.4) return one([null, "red", "blue", ["green", null]]);
    if (dice < 0.3) return make[name]();
    if (dice < 0.45) return [make[name](), bound()].flat();
    if (dice < 0.7) return { from: bound(), ...(draw() < 0.5 && { before: bound() }) };
    if (dice < 0.8 && ["title", "status"].includes(name)) return { startsWith: one(["", "a", "o", "😀", "é", "z\0"]) };
    return depth ? bound() : { not: condition(name, 1), ...(draw() < 0.3 && { from: bound() }) };
  };
  for (let count = one([0, 1, 1, 2]); count > 0; count--) {
    const name = one([...fields, "article"]);
    where[name === "article" ? "lines.article" : `order.${name}`] = condition(name);
  }
  const sort = Array.from({ length: one([0, 1, 1, 2]) }, () => one(["", "-"]) + one(["order.title", "order.status", "order.amount", "order.serial", "order.planned", "id"]));
  return { where, ...(draw() < 0.25 && { search: one(["a", "big", "b a", "", "e", "size b"]) }), ...(sort.length && { sort }), ...(draw() < 0.6 && { limit: one([1, 2, 3, 5, 8]) }) };
}

const idsOf = (records) => records.map(({ id }) => id);

/** Checks a query against the oracle, and its pages. */
async function check(store, query, where) {
  const all = expected(await store.records("orders"), query), text = `${where}: ${JSON.stringify(query)}`, { limit = Infinity } = query;
  const found = await store.query("orders", query);
  assert.deepEqual(idsOf(found), idsOf(all.slice(0, limit)), text);
  assert.equal(found.next !== null, all.length > limit, `${text}: next`);
  assert.equal(await store.count("orders", query), all.length, `${text}: count`);
  const pages = [...found];
  for (let after = found.next; after !== null;) {
    const page = await store.query("orders", { ...query, after });
    pages.push(...page);
    after = page.next;
  }
  assert.deepEqual(idsOf(pages), idsOf(all), `${text}: pages`);
}

async function walk(seed, isIndexed) {
  const draw = random(seed), make = values(draw), orders = new Orders(Array.from({ length: 40 }, (_, index) => randomOrder(index + 1, make))), clock = new TestClock(), where = `seed ${seed}`;
  const store = await open({ server: orders.server.url, user: "u", path: ":memory:", fetch: orders.server.fetch, clock, search: options.search, ...(isIndexed && options) }), lives = [];
  await store.sync();
  for (let count = 0; count < 6; count++) {
    const query = randomQuery(draw, make), live = store.live("orders", query), own = { query, live, seen: 0, before: undefined };
    live.subscribe((value) => { own.seen += value !== own.before; own.before = value; });
    lives.push(own);
  }
  while (lives.some(({ live }) => !live.value)) await turns(1);
  let isWhole = 0;
  for (let step = 0; step < 25; step++) {
    const dice = draw(), id = make.one(idsOf(await store.records("orders")).concat(1));
    if (dice < 0.35 && await store.record("orders", id)) await store.edit("orders", id, (order) => {
      const name = make.one(fields);
      order.order[name] = make[name]();
      if (draw() < 0.3) order.lines.push({ article: make.article(), note: make.note() });
      else if (draw() < 0.2 && order.lines.length) order.lines.splice(0, 1);
    });
    else if (dice < 0.45) await store.create("orders", (order) => { order.order.title = make.title(); order.order.status = make.status(); });
    else if (dice < 0.5 && await store.record("orders", id)) await store.delete("orders", id);
    else if (dice < 0.75) {
      for (let count = make.one([1, 1, 3, 20]); count > 0; count--) {
        const other = 1 + Math.floor(draw() * 60);
        orders.put(other, draw() < 0.4 ? null : randomOrder(other, make));
      }
      await store.sync();
    } else if (dice < 0.83) await store.sync();
    else if (dice < 0.88) {
      // Most records go: a window has too few rows left.
      for (const one of [...orders.records.keys()]) if (draw() < 0.8) orders.put(one, null);
      await store.sync();
    } else if (dice < 0.93) {
      for (let one = 1; one <= 60; one++) if (!orders.records.has(one)) orders.put(one, randomOrder(one, make));
      await store.sync();
    }
    await turns(3);
    await clock.advance(16);
    await turns(3);
    for (const { query, live } of lives) {
      const fresh = await store.query("orders", query);
      assert.deepEqual(live.value, fresh, `${where}, step ${step}: live ${JSON.stringify(query)}`);
    }
    await check(store, randomQuery(draw, make), `${where}, step ${step}`);
  }
  const diagnosis = await store.diagnose();
  isWhole += diagnosis.indexes.filter((one) => one.isWhole).length;
  for (const [index, { live, query }] of lives.entries()) if (query.limit === undefined) assert.ok(diagnosis.live[index].runs <= 2, `${where}: ${diagnosis.live[index].runs} runs`);
  await store.close();
  return { isWhole, runs: diagnosis.live.reduce((sum, one) => sum + one.runs, 0), tests: diagnosis.live.reduce((sum, one) => sum + one.tests, 0) };
}

const seeds = Number(process.env.FIELDMERGE_SEEDS ?? 10), first = Number(process.env.FIELDMERGE_SEED ?? 1);

for (const isIndexed of [false, true]) {
  test(`queries, pages and live queries equal those of an oracle${isIndexed ? ", with indexes" : ""}, seeds ${first} to ${first + seeds - 1}`, async (context) => {
    const sum = { isWhole: 0, runs: 0, tests: 0 };
    for (let seed = first; seed < first + seeds; seed++) for (const [name, value] of Object.entries(await walk(seed, isIndexed))) sum[name] += value;
    context.diagnostic(JSON.stringify(sum));
    assert.ok((sum.runs > 6 * seeds || seeds < 50) && sum.runs < 6 * seeds * 3, "a window is filled again, and other changes are tested against it");
    if (isIndexed) assert.equal(sum.isWhole, 9 * seeds);
  });
}

// MARK: Faults

class Broken extends Error {}

/** A storage that fails once at a step, or is killed there. `isBroken` names writes that always fail. */
class FaultyStorage {
  steps = 0;
  isDead = false;
  isBroken = () => false;

  constructor(kept, failAt = Infinity, isKill = false) { Object.assign(this, { kept, failAt, isKill }); }

  #step() {
    if (this.isDead || ++this.steps === this.failAt) {
      this.isDead = this.isKill;
      throw new Broken("The disk fails.");
    }
  }

  async run(writes, body) {
    this.#step();
    const result = await this.kept.run(writes, async (tx) => {
      const stepped = Object.fromEntries(Object.entries(tx).map(([name, method]) => [name, async (...given) => {
        this.#step();
        if (["put", "delete"].includes(name) && this.isBroken(...given)) throw new Broken("No index can be written.");
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

const openStore = (orders, storage, more = options) => open({ server: orders.server.url, user: "u", storage, fetch: orders.server.fetch, clock: new TestClock(), ...more });
const queries = [{ where: { "order.status": "open" } }, { sort: ["-order.amount"], limit: 5 }, { search: "b" }, { where: { "lines.article": [1, 2] }, sort: ["id"] }, { where: { "order.tags": { not: null } } }];

/** Waits until the indexes are whole. */
async function built(store) {
  for (let turn = 0; turn < 500; turn++) {
    const { indexes } = await store.diagnose();
    if (indexes.length && indexes.every(({ isWhole }) => isWhole)) return;
    await turns(1);
  }
  assert.fail("the indexes are never whole");
}

/** Syncs, edits and gets changes, while indexes are built by a storage that fails. Then it runs queries. */
async function faulty(failAt, isKill) {
  const make = values(random(1)), orders = new Orders(Array.from({ length: 10 }, (_, index) => randomOrder(index + 1, make))), kept = new MemoryStorage(), where = `step ${failAt}`;
  let storage = new FaultyStorage(kept, failAt, isKill), sure = 0;
  const plain = await openStore(orders, new FaultyStorage(kept), {}); // a store that has records before it has indexes
  await plain.sync();
  await plain.close();
  const work = async (store) => {
    await turns(2);
    await store.edit("orders", 1, (order) => { order.order.title = "edited"; }).then(() => { sure = 1; }, () => {});
    for (const id of [2, 3, 20]) orders.put(id, randomOrder(id, make));
    orders.put(4, null);
    await store.sync().catch(() => {});
    await turns(2);
  };
  const again = () => openStore(orders, (storage = new FaultyStorage(kept)));
  let store = await openStore(orders, storage).catch(again);
  await work(store);
  const { steps } = storage;
  if (storage.isDead) store = await again();
  storage.failAt = Infinity;
  for (let count = 0; count < 3; count++) await store.sync();
  orders.put(5, randomOrder(5, make));
  await store.sync();
  await built(store);
  if (sure) assert.equal(orders.records.get(1).order.title, "edited", `${where}: an edit is lost`);
  for (const query of queries) await check(store, query, where);
  assert.deepEqual(await store.record("orders", 20), orders.records.get(20), where);
  await store.close();
  return steps;
}

for (const isKill of [false, true]) {
  test(`a storage that ${isKill ? "is killed" : "fails"} at any step while indexes are built loses nothing, and they are built in the end`, async (context) => {
    const steps = await faulty(Infinity, isKill);
    context.diagnostic(`${steps} steps`);
    for (let failAt = 1; failAt <= steps; failAt += isKill ? 3 : 2) await faulty(failAt, isKill);
  });
}

test("no index can make an edit, a page or a query fail", async () => {
  const make = values(random(2)), orders = new Orders(Array.from({ length: 10 }, (_, index) => randomOrder(index + 1, make))), storage = new FaultyStorage(new MemoryStorage());
  const store = await openStore(orders, storage);
  await store.sync();
  await built(store);
  storage.isBroken = (table) => table.startsWith("o:");
  orders.put(2, randomOrder(2, make));
  await store.edit("orders", 1, (order) => { order.order.title = "edited"; });
  const { phase, changes } = await store.sync();
  assert.deepEqual([phase, changes > 0], ["idle", true]);
  assert.equal(orders.records.get(1).order.title, "edited");
  for (const query of queries) await check(store, query, "broken");
  storage.isBroken = () => false;
  orders.put(3, randomOrder(3, make));
  await store.sync();
  await built(store);
  for (const query of queries) await check(store, query, "mended");
  await store.close();
});

test("if the disk is full, records are stored without indexes, and the next open builds these", async () => {
  const make = values(random(7)), orders = new Orders(Array.from({ length: 10 }, (_, index) => randomOrder(index + 1, make))), kept = new MemoryStorage();
  let isFull = false;
  const storage = { close: async () => {}, run: (writes, body) => kept.run(writes, async (tx) => {
    let writesIndex = false;
    const put = (table, ...given) => { writesIndex ||= table.startsWith("o:"); return tx.put(table, ...given); }, result = await body({ ...tx, put });
    if (isFull && writesIndex) throw Object.assign(new Error("The disk is full."), { code: "storage" });
    return result;
  }) };
  const store = await openStore(orders, storage);
  await store.sync();
  await built(store);
  isFull = true;
  orders.put(2, randomOrder(2, make));
  await store.sync();
  await store.sync();
  assert.deepEqual(await store.record("orders", 2), orders.records.get(2), "the page is stored");
  for (const query of queries) await check(store, query, "full");
  await store.close();
  isFull = false;
  const next = await openStore(orders, storage);
  await next.sync();
  await built(next);
  for (const query of queries) await check(next, query, "not full any more");
  await next.close();
});

test("a tab without indexes keeps those of another tab correct", async (context) => {
  const make = values(random(3)), orders = new Orders(Array.from({ length: 10 }, (_, index) => randomOrder(index + 1, make))), kept = new MemoryStorage();
  const tab = (more) => openStore(orders, { shared: context.name, close: async () => {}, run: (...given) => kept.run(...given) }, more);
  const early = await tab({}); // opened before there is any index
  await early.sync();
  const store = await tab(options);
  context.after(() => Promise.all([early, store].map((one) => one.close())));
  await built(store);
  for (let round = 0; round < 3; round++) {
    for (const id of [1, 2, 30 + round]) orders.put(id, randomOrder(id, make));
    await early.sync();
    await early.edit("orders", 5, (order) => { order.order.status = make.one(["open", "late"]); });
    await turns(2);
    for (const query of queries) await check(store, query, `round ${round}`);
  }
  await built(store);
  const entries = [...kept.entries()].length;
  const late = await tab({}); // does not change the indexes of other tabs
  context.after(() => late.close());
  orders.put(6, { ...randomOrder(6, make) });
  await late.sync();
  for (const query of queries) await check(store, query, "late");
  assert.ok([...kept.entries()].length > entries - 20, "they stay");
  for (const query of queries) await check(late, { ...query, search: undefined }, "late");
});

test("an answer and a page that change one record leave one set of entries", async () => {
  const make = values(random(4)), orders = new Orders([randomOrder(1, make), randomOrder(2, make)]), kept = new MemoryStorage(), store = await openStore(orders, kept);
  await store.sync();
  await built(store);
  const other = (status) => { const record = structuredClone(orders.records.get(1)); record.order.status = status; return record; };
  for (const [first, last] of [["open", "late"], ["done", "late"], ["late", "open"]]) {
    await store.edit("orders", 1, (order) => { order.order.title = first; });
    orders.put(1, other(first));
    await store.sync();
    orders.changes.pop();
    orders.put(1, other(last));
    await store.sync();
    const entries = [...kept.entries()].filter(([table, , key]) => table === "o:orders:order.status" && key === "1");
    assert.equal(entries.length, 1);
    assert.equal((await store.record("orders", 1)).order.status, last);
    await check(store, { where: { "order.status": last } }, last);
  }
  await store.close();
});

test("indexes that are no longer declared are dropped, and others are built", async () => {
  const make = values(random(5)), orders = new Orders(Array.from({ length: 5 }, (_, index) => randomOrder(index + 1, make))), kept = new MemoryStorage();
  const names = async (more) => {
    const store = await openStore(orders, kept, more);
    await store.sync();
    if (Object.keys(more).length) await built(store);
    const { indexes } = await store.diagnose();
    await store.close();
    return indexes.map(({ name }) => name).sort();
  };
  assert.deepEqual(await names({ indexes: { orders: ["order.status"] }, search: { orders: ["order.title"] } }), ["orders:", "orders:order.status"]);
  assert.deepEqual(await names({}), ["orders:", "orders:order.status"], "a worker that declares none leaves them");
  assert.deepEqual(await names({ indexes: { orders: ["order.amount"] } }), ["orders:", "orders:order.amount"]);
  assert.deepEqual(await names({ search: { orders: ["order.title", "lines.note"] }, indexes: { orders: ["order.amount"], nothing: ["x.y"] } }), ["orders:", "orders:order.amount"]);
});

test("a slow query and the live queries are in the report for support, without values", async () => {
  const make = values(random(6)), orders = new Orders(Array.from({ length: 5 }, (_, index) => randomOrder(index + 1, make))), store = await openStore(orders, new MemoryStorage());
  await store.sync();
  const live = store.live("orders", { where: { "order.title": "secret" } });
  for await (const value of live) { assert.deepEqual([...value], []); break; }
  assert.equal(live.isClosed, true, "leaving the loop closes it");
  const other = store.live("orders", { where: { "order.title": "secret" } });
  await other.next();
  const diagnosis = await store.diagnose();
  assert.deepEqual(diagnosis.live, [{ resource: "orders", where: ["order.title"], runs: 1, tests: 0 }]);
  assert.deepEqual(diagnosis.slow, []);
  await store.close();
  assert.equal(other.isClosed, true, "the end of the store ends live queries");
});

test("a record that a new snapshot lacks is removed from the store and its indexes", async () => {
  const orders = new Orders([1, 2, 3].map((id) => ({ id, order: { ...blank, status: "open", title: "a" }, lines: [], delivery: null }))), gone = [];
  const store = await open({ server: orders.server.url, user: "u", path: ":memory:", fetch: orders.server.fetch, clock: new TestClock(), ...options });
  store.addEventListener("gone", ({ id }) => gone.push(id));
  await store.sync();
  await turns();
  orders.server.records.splice(1, 1);
  await store.resync();
  await turns();
  for (const where of [{ "order.status": "open" }, {}]) {
    assert.deepEqual((await store.query("orders", { where, sort: ["order.title"] })).map(({ id }) => id), [1, 3]);
    assert.equal(await store.count("orders", { where }), 2);
  }
  assert.deepEqual(gone, [2]);
  await store.close();
});

/** Opens a tab of a storage, which counts its writes and fails if the test says so. */
function tabOf(context, orders, kept, more) {
  const own = { writes: 0, error: null }, storage = { shared: context.name, close: async () => {}, run: async (writes, body) => {
    own.writes += writes;
    const { error } = own;
    if (writes) own.error = null;
    if (writes && error) throw error;
    return kept.run(writes, body);
  } };
  return openStore(orders, storage, more).then((store) => {
    context.after(() => store.close());
    return Object.assign(own, { store });
  });
}

const plainOrders = (count, status = "open") => new Orders(Array.from({ length: count }, (_, index) => ({ id: index + 1, order: { ...blank, status, title: `t${index}` }, lines: [], delivery: null })));
/** Waits until tabs write no more. */
async function quiet(tabs) {
  const sum = () => tabs.reduce((all, { writes }) => all + writes, 0);
  for (let round = 0; round < 20; round++) {
    const before = sum();
    await turns(40);
    if (sum() === before) return;
  }
  assert.fail("they write without end");
}

/** Waits until a store has exactly some indexes. */
async function builtAs(store, names) {
  for (let turn = 0; turn < 500; turn++) {
    if ((await namesIn(store)).join() === names.join()) return;
    await turns(1);
  }
  assert.deepEqual(await namesIn(store), names);
}

const namesIn = async (store) => (await store.diagnose()).indexes.filter(({ isWhole }) => isWhole).map(({ name }) => name).sort();

for (const [name, names, one, other] of [
  ["declare different indexes", ["orders:order.status", "orders:order.title"], { indexes: { orders: ["order.status"] } }, { indexes: { orders: ["order.title"] } }],
  ["search different fields", ["orders:"], { search: { orders: ["order.title"] } }, { search: { orders: ["lines.note"] } }],
]) {
  test(`two tabs that ${name} come to an end`, async (context) => {
    const orders = plainOrders(5), kept = new MemoryStorage(), tab = (more) => tabOf(context, orders, kept, more), plain = await tab({});
    await plain.store.sync();
    const tabs = await Promise.all([tab(one), tab(other)]);
    await builtAs(plain.store, names);
    await quiet(tabs);
    await builtAs(plain.store, names);
    await Promise.all(tabs.map(({ store }) => store.close()));
    // A new tab drops the index of an open one, which builds it again with the next change.
    const early = await tab(one);
    await quiet([early]);
    const late = await tab(other);
    await quiet([late]);
    orders.put(1, { ...orders.records.get(2), id: 1 });
    await plain.store.sync();
    await builtAs(plain.store, names);
    await quiet([early, late]);
    for (const { store } of [early, late]) for (const query of [{ where: { "order.status": "open" } }, { sort: ["order.title"], limit: 2 }]) await check(store, query, name);
  });
}

test("a library without indexes does not open a store that has indexes", async () => {
  const orders = plainOrders(3), kept = new MemoryStorage(), metaOf = () => [...kept.entries()].find(([table, key]) => table === "meta" && key === "meta")[2];
  const run = async (more, body) => {
    const store = await openStore(orders, kept, more);
    await store.sync();
    if (more.indexes) await built(store);
    await body?.(store);
    await store.close();
    return metaOf().form;
  }, indexes = { orders: ["order.status"] }, query = { where: { "order.status": "open" } };
  assert.equal(await run({}), 3, "earlier libraries open a store without indexes");
  assert.equal(await run({ indexes }), 4);
  assert.equal(await run({}), 4);
  assert.equal(await run({ indexes, resources: ["orders"] }, (store) => check(store, query, "other resources")), 4);
  // The form of an earlier library, which has no indexes.
  kept.apply([["meta", "meta", { ...metaOf(), form: 3 }], ["r:orders", "1", { r: { ...orders.records.get(1), order: { ...blank, status: "done" } } }]]);
  assert.equal(await run({ indexes }, async (store) => {
    await turns(20);
    await check(store, query, "built anew");
  }), 4);
});

/** A store of a simulated gateway whose storage fails at the next read if `isFailing` is set, with live queries that look at once. */
async function simulated(context) {
  const own = { isFailing: false }, kept = new MemoryStorage(), gateway = new SimulatedGateway(null), clock = new TestClock({ now: gateway.now });
  const storage = { close: async () => {}, run: async (writes, body) => {
    if (!writes && own.isFailing) {
      own.isFailing = false;
      throw new Broken("One read fails.");
    }
    return kept.run(writes, body);
  } };
  const store = await open({ server: gateway.url, user: "u", storage, fetch: gateway.fetch, clock });
  context.after(() => store.close());
  await store.sync();
  const look = async (milliseconds = 16) => {
    await turns();
    await clock.advance(milliseconds);
    await turns();
  };
  return Object.assign(own, { store, look });
}

test("a live query by a temporary id keeps its records when another resource gets the id", async (context) => {
  const { store, look } = await simulated(context), { id } = await store.create("tags", (record) => { record.tag.name = "new"; });
  await store.edit("boxes", 1, (record) => { record.box.tag = id; });
  const query = { where: { "box.tag": id } }, live = store.live("boxes", query);
  await live.next();
  assert.deepEqual(idsOf(live.value), [1]);
  await store.sync();
  await look();
  const { tag } = (await store.record("boxes", 1)).box;
  assert.equal(typeof tag, "number");
  assert.deepEqual(live.value, await store.query("boxes", query));
  await store.edit("boxes", 2, (record) => { record.box.tag = tag; });
  await look();
  assert.deepEqual(idsOf(live.value), [1, 2]);
  assert.equal((await store.diagnose()).live[0].runs, 2, "it runs again when the id is mapped, and only then");
});

test("a live query by the temporary id of an item keeps its records when the item gets its id", async (context) => {
  const { store, look } = await simulated(context);
  await store.edit("boxes", 1, (record) => { record.things.push({ name: "new" }); });
  const [{ id }] = (await store.record("boxes", 1)).things, live = store.live("boxes", { where: { "things.id": id } });
  await live.next();
  assert.deepEqual(idsOf(live.value), [1]);
  await store.sync();
  await look();
  assert.deepEqual([idsOf(live.value), typeof live.value[0]?.things[0].id], [[1], "number"]);
});

test("a first load passes its records to live queries, with edits and changes made meanwhile", async () => {
  const clock = new TestClock(), records = Array.from({ length: 1200 }, (_, index) => ({ resource: "boxes", id: index + 1, record: box(index + 1, { count: index }) }));
  const server = new ScriptedServer({ rules: boxRules, records }), page = { feed: "feed-1", revision: 1, more: false, rules: boxRules.version, changes: [] };
  const store = await open({ server: server.url, user: "u", path: ":memory:", fetch: server.fetch, clock }), live = store.live("boxes", { sort: ["-box.count"] }), first = store.sync();
  const request = await server.request();
  await store.edit("boxes", 5, (record) => { record.box.count = 5000; });
  await store.edit("boxes", 5, (record) => { record.box.count = 4; });
  request.answer(200, { ...page, revision: 2, changes: [{ revision: 2, resource: "boxes", id: 7, record: box(7, { count: 7000 }), by: null }] });
  await first;
  await store.edit("boxes", 9, (record) => { record.box.count = 9000; });
  await until(async () => { await clock.advance(1500); return live.value?.length === 1200 && live.value[0].id === 9; });
  assert.deepEqual(live.value, await store.query("boxes", { sort: ["-box.count"] }));
  assert.deepEqual(idsOf(live.value).slice(0, 3), [9, 7, 1200]);
  await store.close();
});

test("live queries look again if the store cannot be read", async (context) => {
  const all = await simulated(context), { store, look } = all, live = store.live("boxes", { where: { "box.label": "x" } });
  await live.next();
  await store.edit("boxes", 1, (record) => { record.box.label = "x"; });
  await turns();
  all.isFailing = true;
  await look();
  assert.equal(all.isFailing, false);
  await look(1500);
  assert.deepEqual(idsOf(live.value), [1]);
});

test("a tab that fails once to store a page ends the indexes once, and follows again", async (context) => {
  const orders = plainOrders(30), kept = new MemoryStorage(), indexes = { orders: ["order.status"] }, one = await tabOf(context, orders, kept, { indexes });
  await one.store.sync();
  const other = await tabOf(context, orders, kept, { indexes }), names = ["orders:order.status"], put = async (id, status) => {
    orders.put(id, { ...orders.records.get(id), order: { ...blank, status } });
    await one.store.sync();
  };
  await builtAs(other.store, names);
  await quiet([one, other]);
  one.error = Object.assign(new Error("The disk is full."), { code: "storage" });
  await assert.rejects(one.store.edit("orders", 1, (order) => { order.order.title = "x"; }), { code: "storage" });
  await put(2, "late");
  await builtAs(one.store, names);
  await quiet([one, other]);
  const before = [one, other].map(({ writes }) => writes);
  for (const status of ["open", "late", "done"]) {
    await put(2, status);
    await quiet([one, other]);
    assert.deepEqual(await namesIn(other.store), names, "the index stays whole");
    for (const { store } of [one, other]) await check(store, { where: { "order.status": status } }, status);
  }
  assert.equal(other.writes, before[1], "no tab builds it anew");
});
