/**
 * Measures queries and live queries in Node: `node Tests/Clients/JavaScript/speed.js [COUNT]`. Prints milliseconds.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { open } from "../../../Sources/clients/javascript/fieldmerge.js";
import { ScriptedServer } from "../../../Sources/clients/javascript/testing.js";

const count = Number(process.argv[2] ?? 100000), folder = mkdtempSync(join(tmpdir(), "fieldmerge-speed-"));
const field = (name, type) => ({ group: name, onConflict: "client-wins", fields: [{ field: name, type, nullable: true }] });
const rules = { version: "r1", limits: { body: 1e6, edits: 100, items: 1000, page: 500 }, resources: [{ resource: "orders", shape: "s", sections: [
  { section: "order", kind: "root", key: [{ column: "id", type: "integer", generated: true }], groups: [field("title", "text"), field("status", "text"), field("due", "date"), field("amount", "decimal")], readOnly: [] }] }] };
const record = (id, more) => ({ id, order: { title: `Order ${id} of ${["Ann", "Bea", "Cem"][id % 3]}`, status: ["open", "late", "done", "paid"][id % 4], due: new Date(Date.UTC(2026, 0, 1 + (id % 3650))).toJSON().slice(0, 10), amount: `${(id * 7919) % 100000}.50`, ...more } });
const records = Array.from({ length: count }, (_, index) => ({ resource: "orders", id: index + 1, record: record(index + 1) }));
const server = new ScriptedServer({ rules, records, feed: "f", revision: 1 }), changes = [];
server.handle("/v1/changes", (request) => request.answer(200, { feed: "f", revision: 1 + changes.length, more: false, rules: "r1", changes: changes.slice(Number(request.url.searchParams.get("since")) - 1) }));
const options = { server: server.url, user: "u", fetch: server.fetch, indexes: { orders: ["order.status", "order.due", "order.amount"] }, search: { orders: ["order.title"] } };
const timed = async (name, body, times = 5) => {
  const all = [];
  for (let run = 0; run < times; run++) {
    const begun = performance.now();
    await body(run);
    all.push(performance.now() - begun);
  }
  all.sort((one, other) => one - other);
  console.log(`${name}: ${all[Math.floor(times / 2)].toFixed(1)} (at most ${all.at(-1).toFixed(1)})`);
};
const whole = async (store) => { while ((await store.diagnose()).indexes.some(({ isWhole }) => !isWhole) || !(await store.diagnose()).indexes.length) await new Promise((resolve) => setTimeout(resolve, 300)); };

for (const path of [":memory:", join(folder, "store")]) {
  console.log(`\n${path === ":memory:" ? "memory" : "a file"}, ${count} records`);
  await timed("first sync without indexes", async () => {
    const store = await open({ ...options, indexes: undefined, search: undefined, path: path === ":memory:" ? path : `${path}0` });
    await store.sync();
    await store.close();
  }, 1);
  let store = await open({ ...options, path }), callbacks = 0;
  const all = store.live("orders", { sort: ["order.due"] });
  all.subscribe((value) => { if (value) callbacks += 1; });
  await timed("first sync with four indexes and a live list of all", () => store.sync(), 1);
  console.log(`callbacks of the list: ${callbacks}`);
  all.close();
  await timed("the indexes are whole", () => whole(store), 1);
  const find = (query) => store.query("orders", query);
  await timed("50 of an order by an index", () => find({ sort: ["order.due"], limit: 50 }));
  await timed("50 with a condition and an order by indexes", () => find({ where: { "order.status": "open", "order.due": { from: "2030-01-01" } }, sort: ["-order.due"], limit: 50 }));
  await timed("an equal decimal", () => find({ where: { "order.amount": "7919.50" } }));
  await timed("50 of a search", () => find({ search: "order 77", sort: ["order.due"], limit: 50 }));
  await timed("50 without an index", () => find({ where: { "order.title": "Order 5 of Cem" }, limit: 50 }));
  await timed("count by an index", () => store.count("orders", { where: { "order.status": "open" } }));
  const lives = Array.from({ length: 100 }, (_, index) => store.live("orders", { where: { "order.status": ["open", "late", "done", "paid"][index % 4] }, sort: ["order.due"], limit: 50 }));
  await timed("100 live queries of 50 rows have values", async () => { while (lives.some(({ value }) => !value)) await new Promise((resolve) => setTimeout(resolve, 1)); }, 1);
  await timed("one remote change with 100 live queries, until all are told (a frame of 16 ms in it)", async (run) => {
    const told = new Promise((resolve) => { const end = lives[0].subscribe((value) => { if (value[0].order.title === `new ${run}`) resolve(end); }); });
    changes.push({ revision: 2 + changes.length, resource: "orders", id: 4, record: record(4, { title: `new ${run}`, due: "2000-01-01", status: "open" }), by: null });
    const synced = store.sync();
    (await told)();
    await synced;
  });
  for (const live of lives.slice(10)) live.close();
  await timed("edit() with ten live queries", (run) => store.edit("orders", 5, (order) => { order.order.title = `edited ${run}`; }), 20);
  await store.close();
  if (path === ":memory:") continue;
  await timed("open again", async () => { store = await open({ ...options, path }); }, 1);
  await timed("the first 50 rows", () => store.query("orders", { sort: ["order.due"], limit: 50 }), 1);
  await store.close();
}
rmSync(folder, { recursive: true });
