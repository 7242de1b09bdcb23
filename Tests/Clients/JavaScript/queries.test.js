import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { open } from "../../../Sources/clients/javascript/fieldmerge.js";
import "../../../Sources/clients/javascript/follow.js"; // a frame does not wait for a module
import { TestClock } from "../../../Sources/clients/javascript/testing.js";
import { Run } from "./model.js";
import { SimulatedGateway } from "./simulated.js";
import { until } from "./stores.js";

const shared = JSON.parse(readFileSync(new URL("../Cases/queries.json", import.meta.url)));

const followedIn = ({ followed }) => followed.map((one) => Object.fromEntries(Object.entries(one).map(([name, record]) => [name, record && record.id])));

/** The steps of queries, in addition to those of the model. */
class QueryRun extends Run {
  options = { search: shared.search };
  results = new Map();
  lives = new Map();

  query(step) {
    const { resource, query: given, ids, followed, next, count, error, as, after } = step, query = { ...this.names.filled(given), ...(after && { after: this.results.get(after).next }) };
    return this.ticketOf({ error }, async () => {
      const found = await this.storeNow.query(resource, query);
      if (ids) this.names.match(ids, found.map(({ id }) => id), "ids");
      if (followed) this.names.match(followed, followedIn(found), "followed");
      if (next !== undefined) assert.equal(found.next !== null, next, "next");
      if (count !== undefined) assert.equal(await this.storeNow.count(resource, query), count, "count");
      if (as) this.results.set(as, found);
    });
  }

  async live({ resource, query, as, after }) {
    const given = { ...this.names.filled(query), ...(after && { after: this.results.get(after).next }) }, index = this.lives.size;
    const live = index % 2 ? this.storeNow.live({ resource, ...given }) : this.storeNow.live(resource, given), own = { live, callbacks: 0, index }; // two spellings of one call
    live.subscribe((value) => { if (value) own.callbacks += 1; });
    this.lives.set(as, own);
  }

  /** Lets the time of a frame pass, and the looks that it begins. */
  async frame() {
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setTimeout(resolve, 0));
    await this.clock.advance(16);
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setTimeout(resolve, 0));
  }

  async value({ live: name, ids, followed, callbacks, next, runs }) {
    const own = this.lives.get(name), { value } = own.live;
    if (ids === null) assert.equal(value, undefined);
    else this.names.match(ids, value.map(({ id }) => id), "ids");
    if (followed) this.names.match(followed, followedIn(value), "followed");
    assert.equal(own.callbacks, callbacks, "callbacks");
    own.callbacks = 0;
    if (next !== undefined) assert.equal(value.next !== null, next, "next");
    if (runs !== undefined) {
      const found = (await this.storeNow.diagnose()).live[own.index].runs;
      assert.ok(found <= runs, `${found} runs`);
    }
  }

  async closeLive({ live }) { this.lives.get(live).live.close(); }
}

/** Runs a case with and without indexes. */
function both(name, theCase) {
  test(name, () => new QueryRun(shared, theCase).run());
  test(`${name}, with indexes`, () => {
    const run = new QueryRun(shared, theCase);
    run.options = { search: shared.search, indexes: shared.indexes };
    return run.run();
  });
}

for (const { name, ...query } of shared.queries) both(`query: ${name}`, { steps: [{ do: "query", ...query }] });
for (const { name, rule, steps } of shared.cases) both(`${name} (${rule})`, { steps });

test("a live list has its records as soon as the first load ends", async () => {
  const clock = new TestClock(), begun = clock.now(), gateway = new SimulatedGateway(null);
  // The list is first evaluated for the new rules, so the snapshot's records are visible while it is read.
  const fetch = async (url, init) => {
    if (url.includes("/v1/snapshot")) await until(() => clock.advance(16).then(() => clock.now() - begun >= 160));
    return gateway.fetch(url, init);
  };
  const store = await open({ server: gateway.url, user: "u", path: ":memory:", clock, fetch });
  const live = store.live("boxes", { sort: ["-id"] });
  await until(() => live.value);
  await store.sync();
  await until(() => clock.advance(16).then(() => live.value.length));
  assert.deepEqual(live.value.map(({ id }) => id), [3, 2, 1]);
  assert.ok(clock.now() - begun < 1000, `${clock.now() - begun} ms`);
});
