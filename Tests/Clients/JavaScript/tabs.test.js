import assert from "node:assert/strict";
import { test } from "node:test";
import { open } from "../../../Sources/clients/javascript/fieldmerge.js";
import { MemoryStorage, TestClock } from "../../../Sources/clients/javascript/testing.js";
import { SimulatedGateway } from "./simulated.js";

/** Resolves when a condition is true. Messages between tabs pass through the event loop. */
async function until(holds) {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 1));
}

/** A tab: a store with a clock over a shared storage, that can be frozen at any moment. */
class Tab {
  clock = new TestClock();
  /** Its requests to the gateway. */
  asked = [];
  #frozen = null;

  static async open(gateway, kept, name) {
    const tab = new Tab();
    tab.storage = {
      shared: name, close: async () => {},
      run: async (writes, body) => {
        await tab.#frozen?.promise;
        return kept.run(writes, body);
      },
    };
    const ask = async (url, init) => {
      await tab.#frozen?.promise;
      tab.asked.push(new URL(url).pathname);
      return gateway.fetch(url, init);
    };
    tab.store = await open({ server: gateway.url, user: "u", storage: tab.storage, fetch: ask, clock: tab.clock });
    return tab;
  }

  freeze() {
    const frozen = (this.#frozen = {});
    frozen.promise = new Promise((resolve) => { frozen.thaw = resolve; });
  }

  thaw() {
    this.#frozen.thaw();
    this.#frozen = null;
  }

  get isLeading() { return this.store.diagnose().then((told) => told.isLeading); }
}

/** Tabs of one store, all started, of which the first leads. */
async function tabs(context, count) {
  const gateway = new SimulatedGateway(null), kept = new MemoryStorage(), all = [];
  context.after(() => Promise.all(all.map(({ store }) => store.close())));
  for (let index = 0; index < count; index++) {
    const tab = await Tab.open(gateway, kept, `tabs:${context.name}`);
    all.push(tab);
    tab.store.start();
    if (index === 0) await until(() => tab.store.status.revision !== null && tab.store.status.phase === "idle");
    else await tab.clock.advance(0);
  }
  return { gateway, all };
}

test("a tab that does not lead lets the leading tab sync", async (context) => {
  const { gateway, all: [leading, other] } = await tabs(context, 2);
  assert.deepEqual([await leading.isLeading, await other.isLeading], [true, false]);
  gateway.draw = () => 0.4;
  gateway.addElsewhere();
  gateway.calm();
  const before = leading.asked.length, report = await other.store.sync();
  assert.deepEqual([report.phase, report.changes], ["idle", 1]);
  assert.ok(leading.asked.length > before);
  assert.deepEqual(other.asked, [], "it asks for nothing itself");
  assert.equal((await other.store.record("boxes", 2)).box.count, 1000);
});

test("a sync that waits for a frozen tab takes over after three beats, and the frozen tab does no harm later", async (context) => {
  const { gateway, all: [leading, other] } = await tabs(context, 2);
  await other.clock.advance(5000); // it has received a beat
  leading.freeze();
  await other.store.edit("boxes", 1, (box) => { box.box.count += 1; });
  let report = null;
  void other.store.sync().then((told) => { report = told; });
  for (let beat = 0; beat < 2; beat++) await other.clock.advance(5000);
  assert.equal(await other.isLeading, false, "two beats are not enough");
  assert.equal(report, null);
  assert.deepEqual(other.asked, []);
  await other.clock.advance(5000);
  await until(() => report !== null);
  assert.equal(await other.isLeading, true);
  assert.equal(report.merged, 1);
  assert.equal(gateway.records.get("boxes/1").box.count, 1);
  leading.thaw();
  await leading.clock.advance(5000);
  await until(async () => !(await leading.isLeading));
  await leading.store.edit("boxes", 1, (box) => { box.box.count += 1; });
  await Promise.all([leading.store.sync(), other.store.sync()]);
  assert.equal(gateway.records.get("boxes/1").box.count, 2, "counted once");
});

test("if a third tab takes over, it answers", async (context) => {
  const { all: [leading, second, third] } = await tabs(context, 3);
  for (const tab of [second, third]) await tab.clock.advance(5000);
  leading.freeze();
  const synced = third.store.sync();
  for (let beat = 0; beat < 3; beat++) await second.clock.advance(5000);
  assert.equal((await synced).phase, "idle");
  assert.ok(second.asked.length > 0);
  assert.deepEqual(third.asked, []);
  leading.thaw();
});

test("a sync in another tab ends with its signal, its deadline, and with the store", async (context) => {
  const { all: [leading, other] } = await tabs(context, 2);
  leading.freeze();
  const controller = new AbortController(), aborted = other.store.sync({ signal: controller.signal });
  controller.abort();
  assert.equal((await aborted).sent, 0);
  const late = other.store.sync({ deadline: 3000 });
  await other.clock.advance(3000);
  assert.equal((await late).sent, 0);
  const closed = other.store.sync();
  await other.store.close();
  assert.equal((await closed).sent, 0);
  leading.thaw();
});

test("without a listener of a type, another tab delivers its events after its handlers have returned", async (context) => {
  const held = new Map(), before = Object.getOwnPropertyDescriptor(globalThis, "navigator");
  const locks = { request: (name, { signal }, body) => {
    const next = (held.get(name) ?? Promise.resolve()).then(() => (signal?.aborted ? undefined : body()));
    held.set(name, next.catch(() => {}));
    return next;
  } };
  Object.defineProperty(globalThis, "navigator", { configurable: true, value: { locks } });
  context.after(() => (before ? Object.defineProperty(globalThis, "navigator", before) : delete globalThis.navigator));
  const gateway = new SimulatedGateway(null), kept = new MemoryStorage(), heard = [], stores = [];
  for (let index = 0; index < 2; index++) {
    stores.push(await open({ server: gateway.url, user: "u", fetch: gateway.fetch, storage: { shared: context.name, close: async () => {}, run: (writes, body) => kept.run(writes, body) } }));
  }
  const [one, other] = stores, turn = () => new Promise((resolve) => setTimeout(resolve, 5));
  const meet = async (label) => {
    await one.edit("boxes", 1, (box) => { box.box.label = label; });
    gateway.records.get("boxes/1").box.label = `not ${label}`;
    await one.sync();
    await turn();
  };
  await one.sync();
  const leaving = new AbortController(), listener = ({ new: label }) => void heard.push(`one ${label}`);
  let done;
  one.addEventListener("conflict", listener);
  one.removeEventListener("conflict", listener);
  one.addEventListener("conflict", listener);
  one.addEventListener("conflict", () => {}, { signal: leaving.signal });
  one.addEventListener("conflict", ({ new: label }) => new Promise((resolve) => {
    heard.push(`once ${label}`);
    done = resolve;
  }), { once: true });
  await turn();
  other.addEventListener("conflict", ({ new: label }) => { heard.push(`other ${label}`); });
  one.removeEventListener("conflict", listener);
  leaving.abort();
  await turn();
  await meet("a");
  // The handler has not returned, so no other listener is called.
  assert.deepEqual(heard, ["once a"]);
  done();
  await until(async () => (await kept.run(false, (tx) => tx.all("e"))).length === 0);
  await meet("b");
  await until(() => heard.length > 1);
  await turn();
  assert.deepEqual(heard, ["once a", "other b"]);
  // A listener that comes back waits for its turn.
  one.addEventListener("conflict", listener);
  await meet("c");
  await other.close();
  await turn();
  await meet("d");
  assert.deepEqual(heard, ["once a", "other b", "other c", "one d"]);
  await one.close();
});

test("a tab that does not lead also gets conflicts, and leaves the app's rule to the leading tab", async (context) => {
  const { gateway, all: [leading, other] } = await tabs(context, 2), heard = [], asked = [], complaints = context.mock.method(console, "error", () => {});
  other.store.addEventListener("conflict", ({ current }) => heard.push(current));
  for (const tab of [leading, other]) tab.store.onConflict = ({ current }) => void asked.push(tab === leading ? current : "the other");
  gateway.records.get("boxes/1").box.label = "theirs";
  await other.store.edit("boxes", 1, (box) => { box.box.label = "mine"; });
  await leading.store.sync();
  await until(() => heard.length > 0 && asked.length > 0);
  await new Promise((resolve) => setTimeout(resolve, 10));
  assert.deepEqual([heard, asked], [["theirs"], ["theirs"]]);
  assert.equal(complaints.mock.callCount(), 0);
});
