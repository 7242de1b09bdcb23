import assert from "node:assert/strict";
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { open } from "../../../Sources/clients/javascript/fieldmerge.js";
import { folder, startShop } from "./gateway.js";
import { Run } from "./model.js";
import { scripted } from "./stores.js";

const read = (name) => JSON.parse(readFileSync(new URL(`../Cases/${name}`, import.meta.url), "utf8"));
const { rules } = read("model.json"), shared = { ...read("keep.json"), rules };

for (const one of shared.cases) test(`${one.rule}: ${one.name}`, () => new Run(shared, one).run());

test("a subset of another form is an error at once", async () => {
  const refused = (keep, path) => assert.rejects(scripted([], { keep }), { code: "invalid-option", path });
  await refused({ boxes: ["box.count"] }, "keep.boxes");
  await refused({ boxes: { when: {} } }, "keep.boxes");
  await refused({ boxes: { where: { "box.label": { startsWith: "A" } } } }, "keep.boxes.box.label");
  await refused({ boxes: { where: { "box.label": undefined } } }, "keep.boxes.box.label");
});

const kent = { shoppers: { where: { "customer.county": ["Kent"] } } };

test("the gateway filters, and another subset needs only the difference", async () => {
  const shop = await startShop(), path = join(folder(), "store"), requests = [];
  const all = await open({ server: shop.url, user: "all", path: ":memory:" });
  const device = (keep) => open({ server: shop.url, user: "ann", path, keep, fetch: (url, init) => { requests.push(new URL(url)); return fetch(url, init); } });
  await all.sync();
  const shoppers = await all.records("shoppers"), of = (store) => store.records("shoppers").then((found) => found.map(({ id }) => id));
  const wanted = (test) => shoppers.filter(test).map(({ id }) => id), isKent = ({ customer }) => customer.county === "Kent";
  let store = await device(kent);
  assert.equal((await store.sync()).phase, "idle");
  assert.deepEqual(await of(store), wanted(isKent));
  assert.equal((await store.records("aisles")).length, (await all.records("aisles")).length);
  const [first] = wanted(isKent);
  // Another device moves a record out of the filter while this one edits it.
  await all.edit("shoppers", first, (s) => { s.customer.county = "Essex"; });
  await all.sync();
  const ticket = await store.edit("shoppers", first, (s) => { s.customer.lastName = "Hill"; });
  assert.equal((await store.sync()).phase, "idle");
  assert.equal((await ticket.outcome).status, "merged");
  assert.equal(await store.record("shoppers", first), null);
  await all.sync();
  assert.deepEqual([(await all.record("shoppers", first)).customer.lastName, (await all.record("shoppers", first)).customer.county], ["Hill", "Essex"]);
  await store.close();
  // Offline, the app keeps other records. Edits of departing records are sent.
  requests.length = 0;
  store = await device({ shoppers: { where: { "customer.county": "Essex" } } });
  const [, second] = wanted(isKent);
  const last = await store.edit("shoppers", second, (s) => { s.customer.lastName = "Dale"; });
  assert.equal((await store.sync()).phase, "idle");
  assert.equal((await last.outcome).status, "merged");
  const essex = (await all.records("shoppers")).filter(({ customer }) => customer.county === "Essex").map(({ id }) => id);
  assert.deepEqual(await of(store), essex);
  const snapshots = requests.filter(({ pathname }) => pathname === "/v1/snapshot");
  assert.equal(snapshots.length, 1);
  assert.match(snapshots[0].searchParams.get("unless"), /:\d+$/);
  await store.close();
  // A filter that the gateway refuses is a problem with a path. Stored records can be read, and edits are merged.
  store = await device({ shoppers: { where: { "customer.city": "Kent" } } });
  const report = await store.sync();
  assert.deepEqual([report.phase, report.problem.code, report.problem.path], ["waiting", "unknown-field", "filter.shoppers.customer.city"]);
  assert.deepEqual(await of(store), essex);
  const edit = await store.edit("shoppers", first, (s) => { s.customer.lastName = "Lane"; });
  await store.sync();
  assert.equal((await edit.outcome).status, "merged");
  await store.close();
  store = await device(undefined);
  await store.sync();
  assert.deepEqual(await of(store), shoppers.map(({ id }) => id));
  for (const one of [store, all]) await one.close();
  await shop.stop();
});

test("rules without a field of the filter wait for another subset", async () => {
  const own = folder(), path = join(own, "store"), rules = join(own, "rules"), file = join(rules, "shoppers.yaml");
  cpSync(new URL("../../../MergeRules", import.meta.url), rules, { recursive: true });
  const shop = await startShop({ rules }), device = (where) => open({ server: shop.url, user: "ann", path, keep: { shoppers: { where } } });
  let store = await device({ "customer.phone": { from: "0", before: "1" } });
  await store.sync();
  const before = await store.records("shoppers");
  writeFileSync(file, readFileSync(file, "utf8").replace(/^ +phone: .*\n/m, ""));
  await shop.restart();
  const { name } = await store.edit("shoppers", before[0].id, (s) => { s.customer.lastName = "Hill"; });
  for (let count = 0; count < 3; count++) await store.sync();
  assert.equal(store.status.problem.path, "filter.shoppers.customer.phone");
  assert.equal((await store.records("shoppers")).length, before.length);
  await store.close();
  store = await device({ "customer.county": "Kent" });
  for (let count = 0; count < 3; count++) await store.sync();
  assert.deepEqual([store.status.phase, store.status.unsent, store.status.refused], ["idle", 0, 0]);
  assert.equal((await (await store.ticket(name)).outcome).status, "merged");
  assert.deepEqual([...new Set((await store.records("shoppers")).map(({ customer }) => customer.county))], ["Kent"]);
  await store.close();
  await shop.stop();
});
