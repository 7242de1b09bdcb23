import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { FieldMergeError, open } from "../../../Sources/clients/javascript/fieldmerge.js";
import { folder, startShop } from "./gateway.js";

let shop;
before(async () => { shop = await startShop(); });
after(() => shop.stop());

const device = (more = {}) => open({ server: shop.url, user: "ann", path: ":memory:", client: "tests/1.0", ...more });

/** Resolves at the next event of a type. */
const heard = (store, type) => new Promise((resolve) => store.addEventListener(type, resolve, { once: true }));

/** Resolves once a store has nothing to send and rests. */
async function settled(store) {
  while (store.status.revision === null || store.status.unsent || store.status.phase !== "idle") await heard(store, "status");
}

test("two devices edit one record", async () => {
  const [one, other] = [await device(), await device()];
  assert.equal((await one.sync()).phase, "idle");
  await other.sync();
  const before = await one.record("shoppers", 123);
  assert.equal(before.customer.firstName, "Joe");
  assert.equal((await one.records("aisles")).length, (await other.records("aisles")).length);
  const first = await one.edit("shoppers", 123, (s) => { s.customer.firstName = "Bob"; s.groceries[0].quantity = "3 tins"; });
  const second = await other.edit("shoppers", 123, (s) => { s.customer.firstName = "Joseph"; s.customer.street = "2 High St"; s.groceries.push({ name: "Rice", quantity: "1 kg" }); s.groceries.splice(1, 1); });
  await one.sync();
  assert.equal((await first.outcome).status, "merged");
  const told = heard(other, "conflict");
  const report = await other.sync();
  assert.deepEqual([report.phase, report.merged, report.conflicts], ["idle", 1, 1]);
  const { status, conflicts, record } = await second.outcome;
  assert.equal(status, "merged");
  const expected = { section: "customer", group: "firstName", old: "Joe", current: "Bob", new: "Joseph", written: "Joseph" };
  for (const conflict of [conflicts[0], await told]) for (const [name, value] of Object.entries(expected)) assert.equal(conflict[name], value);
  assert.equal(conflicts[0].by.device, (await one.diagnose()).device);
  assert.equal(record.customer.street, "2 High St");
  assert.deepEqual(record.groceries.map((item) => item.name), ["Beans", "Rice"]);
  await one.sync();
  assert.deepEqual(await one.record("shoppers", 123), await other.record("shoppers", 123));
  // The other user restores her value.
  const mine = await one.edit("shoppers", 123, (s) => { s.customer.firstName = "Rob"; });
  await one.sync();
  assert.deepEqual((await mine.outcome).conflicts, []);
  for (const store of [one, other]) await store.close();
});

test("a form reads the values of inputs, and the gateway stores them", async () => {
  const store = await device();
  await store.sync();
  const { fields } = (await store.rules("shoppers")).sections.customer;
  assert.deepEqual([fields.creditLimit.policy, fields.balance.merge, fields.modified.mayWrite, fields.street.group], ["server-wins", "add", false, "address"]);
  const form = await store.form("shoppers", 125), set = (path, input) => form.field(path).set(input);
  set("customer.creditLimit", "12,50");
  assert.equal(form.field("customer.creditLimit").code, "not-a-number");
  for (const [path, input] of [["creditLimit", "321.50"], ["birthday", "1990-02-28"], ["newsletter", true], ["tags", "regular, new"], ["notes", " two\nlines"]]) set(`customer.${path}`, input);
  const ticket = await form.save();
  await store.sync();
  const { status, conflicts, record: { customer } } = await ticket.outcome;
  assert.deepEqual([status, conflicts, customer.creditLimit, customer.birthday, customer.newsletter, customer.notes, [...customer.tags].sort()], ["merged", [], "321.50", "1990-02-28", true, " two\nlines", ["new", "regular"]]);
  form.close();
  await store.close();
});

test("a created row can always be found by its temporary id, also after a restart", async () => {
  const path = join(folder(), "ann.store");
  let store = await device({ path });
  await store.sync();
  const aisle = await store.create("aisles", (a) => { a.aisle.name = "Oils"; });
  assert.match(aisle.id, /^tmp:[0-9a-f-]{36}$/);
  const ticket = await store.edit("shoppers", 124, (s) => { s.groceries.push({ name: "Olive oil", quantity: "1 bottle", aisle: aisle.id }); });
  await store.close();
  store = await device({ path });
  assert.equal(store.status.unsent, 2);
  await store.sync();
  assert.equal(store.status.unsent, 0);
  const real = await store.record("aisles", aisle.id);
  assert.equal(typeof real.id, "number");
  assert.equal((await store.record("shoppers", 124)).groceries.at(-1).aisle, real.id);
  assert.equal((await (await store.ticket(ticket.name)).outcome).status, "merged");
  assert.equal((await (await store.ticket(aisle.id)).outcome).record.id, real.id);
  await store.close();
});

test("a push that is refused blocks nothing", async () => {
  const [one, other] = [await device(), await device()];
  for (const store of [one, other]) await store.sync();
  await one.edit("orders", "A-1001", (o) => { o.order.status = "picked"; });
  await one.sync();
  const refused = await other.edit("orders", "A-1001", (o) => { o.order.status = "cancelled"; });
  const after = await other.edit("aisles", 5, (a) => { a.aisle.description = "On the left"; });
  const conflict = heard(other, "conflict"), told = heard(other, "refused");
  await other.sync();
  assert.equal((await refused.outcome).status, "refused");
  assert.equal((await refused.outcome).problem.code, "rejected");
  assert.equal((await after.outcome).status, "merged");
  assert.equal((await told).record.order.status, "picked");
  assert.equal((await conflict).current, "picked");
  assert.equal((await other.record("orders", "A-1001")).order.status, "picked");
  assert.equal(await other.state("orders", "A-1001", "order.status"), "refused");
  await (await conflict).takeMine();
  await other.sync();
  assert.equal((await other.record("orders", "A-1001")).order.status, "cancelled");
  const [entry] = await other.refusedEdits();
  await entry.discard();
  assert.equal(other.status.refused, 0);
  for (const store of [one, other]) await store.close();
});

test("amounts are exact with several clients", async () => {
  const stores = await Promise.all([1, 2, 3].map(() => device()));
  for (const store of stores) await store.sync();
  const before = (await stores[0].record("articles", 1)).article.stock;
  for (let round = 0; round < 5; round++) {
    for (const store of stores) {
      for (let time = 0; time < 3; time++) await store.edit("articles", 1, (a) => { a.article.stock += 1; });
    }
    await Promise.all(stores.map((store) => store.sync()));
  }
  for (const store of stores) await store.sync();
  for (const store of stores) {
    assert.equal((await store.record("articles", 1)).article.stock, before + 45);
    await store.close();
  }
});

test("changes arrive without a sync", async () => {
  const [one, other] = [await device(), await device()];
  for (const store of [one, other]) store.start();
  await Promise.all([settled(one), settled(other)]);
  const seen = other.observe("aisles", 3);
  const names = [];
  const came = (async () => {
    for await (const record of seen) {
      names.push(record?.aisle.description);
      if (record?.aisle.description === "By the door") return;
    }
  })();
  await one.edit("aisles", 3, (a) => { a.aisle.description = "By the door"; });
  await came;
  assert.equal(names.at(-1), "By the door");
  for (const store of [one, other]) await store.close();
});

test("a server that is killed and comes again costs nothing", async () => {
  const own = await startShop();
  const store = await open({ server: own.url, user: "ann", path: ":memory:" });
  store.start();
  await settled(store);
  await own.kill();
  const ticket = await store.edit("shoppers", 123, (s) => { s.customer.lastName = "Hill"; });
  while (store.status.phase !== "waiting") await heard(store, "status");
  assert.equal(store.status.unsent, 1);
  await own.restart();
  await store.sync();
  assert.equal((await ticket.outcome).status, "merged");
  await store.close();
  await own.stop();
});

test("sign-out refuses, sends or discards unsent edits", async () => {
  const path = join(folder(), "ann.store");
  const store = await device({ path });
  await store.sync();
  await store.edit("shoppers", 125, (s) => { s.customer.lastName = "Hill"; });
  await assert.rejects(store.signOut(), (error) => error instanceof FieldMergeError && error.code === "unsent" && error.unsent === 1);
  await store.signOut({ unsent: "send" });
  assert.throws(() => readFileSync(path));
  const next = await device({ path });
  await next.sync();
  assert.equal((await next.record("shoppers", 125)).customer.lastName, "Hill");
  await next.edit("shoppers", 125, (s) => { s.customer.lastName = "Dale"; });
  await next.signOut({ unsent: "discard" });
});

test("a store begins with a snapshot, and needs no network for it", async () => {
  const path = join(folder(), "shop.ndjson");
  writeFileSync(path, await (await fetch(`${shop.url}/v1/snapshot`)).text());
  const store = await open({ server: "http://127.0.0.1:1", user: "ann", path: ":memory:", snapshot: path });
  assert.ok((await store.records("shoppers")).length > 10);
  assert.equal((await store.sync()).phase, "waiting");
  await store.close();
  const online = await device({ snapshot: path });
  const report = await online.sync();
  assert.equal(report.phase, "idle");
  await online.edit("shoppers", 126, (s) => { s.customer.lastName = "Hill"; });
  await online.close();
});

test("only some resources are stored, the others are requested", async () => {
  const store = await device({ resources: ["aisles"] });
  await store.sync();
  assert.deepEqual((await store.diagnose()).resources.shoppers, 0);
  assert.equal((await store.record("shoppers", 127)).id, 127);
  assert.ok((await store.records("orders")).length > 0);
  await assert.rejects(store.record("shopers", 127), (error) => error.near === "shoppers");
  const ticket = await store.edit("shoppers", 127, (s) => { s.customer.lastName = "Hill"; });
  await store.sync();
  assert.equal((await ticket.outcome).record.customer.lastName, "Hill");
  await store.close();
});

test("if nothing is stored, all records are requested, and edits are sent", async () => {
  const asked = [];
  const store = await device({ resources: [], fetch: (url, init) => {
    asked.push(new URL(url).pathname);
    return fetch(url, init);
  } });
  store.start();
  await settled(store);
  assert.deepEqual(asked, ["/v1/rules"], "there is nothing to read beforehand");
  assert.equal((await store.record("shoppers", 129)).id, 129);
  assert.ok((await store.records("aisles")).length > 0);
  assert.equal(await store.record("shoppers", 99999), null);
  const ticket = await store.edit("shoppers", 129, (s) => { s.customer.lastName = "Hill"; });
  const { status, record } = await ticket.outcome;
  assert.deepEqual([status, record.customer.lastName], ["merged", "Hill"]);
  await settled(store);
  assert.equal((await store.record("shoppers", 129)).customer.lastName, "Hill");
  assert.deepEqual(asked.filter((path) => ["/v1/snapshot", "/v1/changes"].includes(path)), []);
  assert.equal(asked.filter((path) => path === "/v1/sync").length, 1);
  await store.close();
});

test("takeMine creates a missing record again, and deletes a kept one", async () => {
  const [one, other] = [await device(), await device()];
  await one.sync();
  const { id: made } = await one.create("aisles", (a) => { a.aisle.name = "Sweets"; });
  await one.edit("shoppers", 135, (s) => { s.groceries.push({ name: "Salt", quantity: "1 kg" }); });
  await one.sync();
  await other.sync();
  const { id } = await one.record("aisles", made);
  await one.delete("aisles", id);
  await one.edit("shoppers", 135, (s) => { s.groceries.pop(); });
  await one.edit("articles", 2, (a) => { a.article.stock += 1; });
  await one.sync();
  await other.edit("aisles", id, (a) => { a.aisle.name = "Candy"; });
  await other.edit("shoppers", 135, (s) => { s.groceries.at(-1).quantity = "2 kg"; });
  await other.delete("articles", 2);
  const told = [];
  other.addEventListener("conflict", (conflict) => told.push(conflict));
  await other.sync();
  assert.deepEqual(told.map(({ resource, outcome }) => [resource, outcome]), [["aisles", "missing"], ["shoppers", "missing"], ["articles", "kept"]]);
  const tickets = [];
  for (const conflict of told) tickets.push(await conflict.takeMine());
  await other.sync();
  const [aisle, shopper, article] = await Promise.all(tickets.map((ticket) => ticket.outcome));
  assert.equal(aisle.record.aisle.name, "Candy");
  assert.notEqual(aisle.record.id, id);
  assert.deepEqual([shopper.record.groceries.at(-1).name, shopper.record.groceries.at(-1).quantity], ["Salt", "2 kg"]);
  assert.equal(article.problem?.code ?? article.status, "merged");
  assert.equal(await other.record("articles", 2), null);
  for (const store of [one, other]) await store.close();
});

test("records outside the store are watched and edited without a read before", async () => {
  let asked = 0;
  const store = await device({ resources: ["aisles"], fetch: (url, init) => {
    asked += /records.shoppers/.test(url);
    return fetch(url, init);
  } });
  await store.sync();
  const seen = [], end = store.observe("shoppers", 130, (record) => seen.push(record?.customer.lastName));
  const ticket = await store.edit("shoppers", 133, (s) => { s.customer.lastName = "Hill"; });
  await store.transaction(async (t) => { await t.edit("shoppers", 134, (s) => { s.customer.lastName = "Dale"; }); });
  await store.sync();
  assert.equal((await ticket.outcome).record.customer.lastName, "Hill");
  assert.equal((await store.record("shoppers", 134)).customer.lastName, "Dale");
  await store.edit("shoppers", 130, (s) => { s.customer.lastName = "Vale"; });
  while (seen.at(-1) !== "Vale") await new Promise((resolve) => setTimeout(resolve, 5));
  const before = asked;
  await new Promise((resolve) => setTimeout(resolve, 300));
  assert.equal(asked, before, "what was read is no change");
  end();
  await assert.rejects(store.edit("shoppers", 99999, () => {}), { code: "no-such-record" });
  await store.close();
});

test("a rule of the app decides a conflict, and a repair is made when a change is stored", async () => {
  const one = await device(), other = await device({
    onConflict: (conflict) => (conflict.group === "firstName" ? `${conflict.current}-${conflict.new}` : undefined),
    beforeStore: async (change) => {
      if (change.resource === "aisles" && change.record?.aisle.description === "left") await change.edit((a) => { a.aisle.description = "on the left"; });
    },
  });
  for (const store of [one, other]) await store.sync();
  await one.edit("shoppers", 128, (s) => { s.customer.firstName = "A"; });
  await one.edit("aisles", 4, (a) => { a.aisle.description = "left"; });
  await one.sync();
  await other.edit("shoppers", 128, (s) => { s.customer.firstName = "B"; });
  await other.sync();
  while (other.status.unsent === 0 && (await other.record("shoppers", 128)).customer.firstName !== "A-B") await heard(other, "status");
  await other.sync();
  await one.sync();
  assert.equal((await one.record("shoppers", 128)).customer.firstName, "A-B");
  assert.equal((await one.record("aisles", 4)).aisle.description, "on the left");
  for (const store of [one, other]) await store.close();
});

test("the gateway serves the modules", async () => {
  const answer = await fetch(`${shop.url}/client/fieldmerge.js`);
  assert.equal(answer.headers.get("content-type"), "text/javascript; charset=utf-8");
  const text = await answer.text();
  const again = await fetch(`${shop.url}/client/fieldmerge.js`, { headers: { "If-None-Match": answer.headers.get("etag") } });
  assert.equal(again.status, 304);
  const names = new Set(), look = async (name) => {
    if (names.has(name)) return;
    names.add(name);
    const module = await fetch(`${shop.url}/client/${name}`);
    assert.equal(module.status, 200, name);
    const code = await module.text();
    assert.equal(code, readFileSync(new URL(`../../../Sources/clients/javascript/${name}`, import.meta.url), "utf8"));
    for (const [, next] of code.matchAll(/(?:from|import\() ?"\.\/([a-z]+\.js)"/g)) if (next !== "file.js") await look(next);
  };
  await look("fieldmerge.js");
  assert.ok(names.size > 10 && text.includes("export"));
  assert.equal((await fetch(`${shop.url}/client/nothing.js`)).status, 404);
});
