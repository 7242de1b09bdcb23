import assert from "node:assert/strict";
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { open } from "../../../Sources/clients/javascript/fieldmerge.js";
import { folder, startMariaDB, startShop } from "./gateway.js";

/*
 * Subsets with unsent edits, on both engines.
 */

let mariadb;
before(async () => { mariadb = await startMariaDB(); });
after(() => mariadb.stop());

const from = (...counties) => ({ shoppers: { where: { "customer.county": counties } } });
const named = async (store) => (await store.records("shoppers")).map(({ id, customer }) => [id, customer.county]);

async function synced(...stores) {
  for (const store of stores) assert.equal((await store.sync()).phase, "idle", JSON.stringify(store.status.problem));
}

for (const engine of ["SQLite", "MariaDB"]) {
  const start = async (context, rules) => {
    const shop = await startShop({ rules, options: engine === "MariaDB" ? ["--database", mariadb.url] : [] }), stores = [];
    context.after(async () => {
      for (const store of stores) await store.close();
      await shop.stop();
    });
    const device = async (keep, more = {}) => {
      const store = await open({ server: shop.url, user: "ann", path: ":memory:", keep, ...more });
      stores.push(store);
      return store;
    };
    const all = await device();
    await synced(all);
    const kent = async () => (await all.records("shoppers")).filter(({ customer }) => customer.county === "Kent").map(({ id }) => id);
    return { shop, device, all, kent };
  };

  test(`a subset changes while edits wait: ${engine}`, async (context) => {
    const { device, all, kent } = await start(context), path = join(folder(), "store"), [first, second, third] = await kent();
    let store = await device(from("Kent"), { path });
    await synced(store);
    const tickets = [await store.edit("shoppers", first, (s) => { s.customer.lastName = "Hill"; }), await store.edit("shoppers", second, (s) => { s.customer.county = "Essex"; s.groceries.push({ name: "Rice", quantity: "1 kg" }); })];
    tickets.push(await store.create("shoppers", (s) => { s.customer = { firstName: "Ada", lastName: "Nought", street: "1 Zero Rd", county: "Kent", postCode: "CT1 1AA" }; }));
    await store.close();
    // The records of these edits are in no page of the next subset. Another device moves one of them back meanwhile.
    await all.edit("shoppers", third, (s) => { s.customer.county = "Essex"; });
    await synced(all);
    store = await device(from("Essex"), { path });
    tickets.push(await store.edit("shoppers", first, (s) => { s.customer.phone = "01632 960001"; }));
    assert.equal(store.status.unsent, 3);
    await synced(store, all, store);
    for (const { name } of tickets) assert.equal((await (await store.ticket(name)).outcome).status, "merged");
    const [one, two] = [await all.record("shoppers", first), await all.record("shoppers", second)], { record: { id } } = await (await store.ticket(tickets[2].name)).outcome;
    assert.deepEqual([one.customer.lastName, one.customer.phone, two.customer.county, two.groceries.at(-1).name], ["Hill", "01632 960001", "Essex", "Rice"]);
    assert.equal((await all.record("shoppers", id)).customer.lastName, "Nought");
    assert.deepEqual(await named(store), (await named(all)).filter(([, county]) => county === "Essex"));
    assert.ok((await store.record("shoppers", third)) && !(await store.record("shoppers", first)) && !(await store.record("shoppers", id)));
    assert.deepEqual([store.status.unsent, store.status.refused], [0, 0]);
  });

  test(`two stores with different subsets edit one record, which leaves one of them: ${engine}`, async (context) => {
    const { device, all, kent } = await start(context), [first, second] = await kent();
    const inland = await device(from("Kent", "Devon")), coast = await device(from("Kent", "Cornwall"), { user: "ben" });
    await synced(inland, coast);
    await inland.edit("shoppers", first, (s) => { s.customer.lastName = "Inland"; });
    await coast.edit("shoppers", first, (s) => { s.customer.lastName = "Coast"; s.customer.county = "Cornwall"; s.customer.balance = "1.00"; });
    await synced(coast);
    // The record has departed. Its unsent edit is sent, and is a conflict.
    assert.equal((await inland.sync()).conflicts, 1);
    assert.equal(await inland.record("shoppers", first), null);
    await synced(coast, all);
    const record = await all.record("shoppers", first);
    assert.deepEqual([record.customer.lastName, record.customer.county], ["Inland", "Cornwall"]);
    assert.deepEqual(await coast.record("shoppers", first), record);
    // A record that enters a subset, and a deleted one.
    await coast.edit("shoppers", first, (s) => { s.customer.county = "Devon"; });
    await all.delete("shoppers", second);
    const late = await inland.edit("shoppers", second, (s) => { s.customer.lastName = "Late"; });
    await synced(coast, all);
    await inland.sync();
    assert.deepEqual([(await inland.record("shoppers", first)).customer.county, await coast.record("shoppers", first)], ["Devon", null]);
    assert.deepEqual([await inland.record("shoppers", second), (await late.outcome).status, inland.status.refused], [null, "refused", 1]);
    // Values of a filter are compared exactly, whatever the collation of the column.
    for (const [county, number] of [["kent", 2], ["Kent ", 3]]) await all.edit("shoppers", (await kent())[number], (s) => { s.customer.county = county; });
    await synced(all, inland, coast);
    const counties = async (store) => [...new Set((await named(store)).map(([, county]) => county))].sort();
    assert.deepEqual([await counties(inland), await counties(coast)], [["Devon", "Kent"], ["Cornwall", "Kent"]]);
    const fresh = await device(from("Kent"));
    await synced(fresh);
    assert.deepEqual(await named(fresh), (await named(all)).filter(([, county]) => county === "Kent"));
  });

  test(`other rules and another subset while edits wait: ${engine}`, async (context) => {
    const own = folder(), rules = join(own, "rules"), path = join(own, "store"), file = join(rules, "shoppers.yaml");
    cpSync(new URL("../../../MergeRules", import.meta.url), rules, { recursive: true });
    const { shop, device, all, kent } = await start(context, rules), [first] = await kent();
    let store = await device(from("Kent"), { path });
    await synced(store);
    const { name } = await store.edit("shoppers", first, (s) => { s.customer.lastName = "Ruled"; s.customer.county = "Devon"; });
    const text = readFileSync(file, "utf8");
    writeFileSync(file, text.replace(/^ +birthday: .*\n/m, "").replace("      email: email\n", "      mail: {column: email, formerly: email}\n"));
    await shop.restart();
    await store.close();
    store = await device(from("Devon"), { path });
    await store.edit("shoppers", first, (s) => { s.customer.phone = "01632 960002"; });
    for (let count = 0; count < 3; count++) await store.sync();
    assert.deepEqual([store.status.phase, store.status.unsent, store.status.refused], ["idle", 0, 0]);
    assert.equal((await (await store.ticket(name)).outcome).status, "merged");
    const { customer } = await store.record("shoppers", first);
    assert.deepEqual([customer.lastName, customer.county, customer.phone, "birthday" in customer, "mail" in customer], ["Ruled", "Devon", "01632 960002", false, true]);
    assert.deepEqual([...new Set((await named(store)).map(([, county]) => county))], ["Devon"]);
  });
}
