import assert from "node:assert/strict";
import { test } from "node:test";
import { open } from "../../../Sources/clients/javascript/fieldmerge.js";
import { indexedDBStorage } from "../../../Sources/clients/javascript/indexeddb.js";
import { MemoryStorage, TestClock } from "../../../Sources/clients/javascript/testing.js";
import { SimulatedGateway } from "./simulated.js";

const begin = (gateway, storage, more) => open({ server: gateway.url, user: "u", storage, fetch: gateway.fetch, clock: new TestClock({ now: gateway.now }), ...more });
const add = (store) => store.edit("boxes", 1, (box) => { box.box.count += 1; });

test("an edit that resolved before a sign-out is counted, and a later one throws", async () => {
  for (let turns = 0; turns < 40; turns++) {
    const gateway = new SimulatedGateway(null), store = await begin(gateway, new MemoryStorage());
    await store.sync();
    let made = 0;
    const signingOut = (async () => {
      for (let turn = 0; turn < turns; turn++) await null;
      return store.signOut().then(() => null, (error) => error);
    })();
    const edits = await Promise.allSettled([1, 2, 3].map(() => add(store).then(() => { made += 1; })));
    const error = await signingOut;
    if (!error) assert.equal(made, 0, `${turns}: an edit was stored and deleted`);
    else {
      assert.equal(error.code, "unsent");
      assert.ok(error.unsent >= 1 && edits.every(({ status }) => status === "fulfilled"));
    }
    if (!error) await assert.rejects(add(store), { code: "closed" });
    await store.close();
  }
});

test("an edit in another tab that comes between the decision and the deletion throws", async () => {
  const gateway = new SimulatedGateway(null), kept = new MemoryStorage(), tab = () => ({ run: (...given) => kept.run(...given), close: async () => {}, destroy: () => new Promise((resolve) => { release = resolve; }) });
  let release = null;
  const one = await begin(gateway, tab()), other = await begin(gateway, tab());
  await one.sync();
  const signingOut = one.signOut();
  while (!release) await new Promise((resolve) => setTimeout(resolve, 1));
  await assert.rejects(add(other), { code: "closed" });
  release();
  await signingOut;
  await other.close();
});

test("a sign-out that a kill broke off is finished when the store is opened", async () => {
  const gateway = new SimulatedGateway(null), kept = new MemoryStorage();
  const store = await begin(gateway, { run: (...given) => kept.run(...given), close: async () => {}, destroy: async () => { throw new Error("killed"); } });
  await store.sync();
  await add(store);
  await assert.rejects(store.signOut({ unsent: "discard" }), /killed/);
  const next = await begin(gateway, kept);
  assert.equal(next.status.unsent, 0);
  assert.equal(next.status.revision, null);
  await next.sync();
  assert.equal((await next.record("boxes", 1)).box.count, 0);
  await next.close();
});

/** The part of IndexedDB that the storage needs. Another tab has the database open, so its deletion is blocked. */
function blockedIndexedDB() {
  const values = new Map(), later = (request, result) => { queueMicrotask(() => { request.result = result; request.onsuccess?.(); }); return request; };
  const transaction = () => {
    const own = {}, found = (table) => [...values].filter(([, one]) => one.table === table);
    setTimeout(() => own.oncomplete?.(), 0);
    own.objectStore = () => ({
      get: ([table, key]) => later({}, values.get(`${table}\n${key}`)?.value),
      put: (value, [table, key]) => later({}, void values.set(`${table}\n${key}`, { table, key, value })),
      delete: ([table, key]) => later({}, void values.delete(`${table}\n${key}`)),
      getAllKeys: ({ table }) => later({}, found(table).map(([, one]) => [table, one.key])),
      getAll: ({ table }) => later({}, found(table).map(([, one]) => one.value)),
      clear: () => later({}, values.clear()),
    });
    own.abort = () => {};
    return own;
  };
  return {
    values,
    open: () => later({}, { transaction, close: () => {} }),
    deleteDatabase: () => {
      const request = {};
      queueMicrotask(() => request.onblocked?.());
      return request;
    },
  };
}

test("a database that another tab keeps open is emptied, the rest is reported, and the sign-out ends", async () => {
  const fake = blockedIndexedDB(), reported = [], before = globalThis.reportError;
  Object.assign(globalThis, { indexedDB: fake, IDBKeyRange: { bound: ([table]) => ({ table }) }, reportError: (error) => reported.push(error.code) });
  try {
    const gateway = new SimulatedGateway(null), store = await begin(gateway, indexedDBStorage("blocked"));
    await store.sync();
    await add(store);
    assert.ok(fake.values.size > 0);
    await store.signOut({ unsent: "discard" });
    assert.equal(fake.values.size, 0);
    assert.deepEqual(reported, ["blocked"]);
  } finally {
    delete globalThis.indexedDB;
    delete globalThis.IDBKeyRange;
    globalThis.reportError = before;
  }
});
