import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";
import { hooks } from "../../../Samples/bindings/react.js";
import { live, record } from "../../../Samples/bindings/svelte.js";
import { composables } from "../../../Samples/bindings/vue.js";
import { box, scripted, until } from "./stores.js";

const query = { where: { "box.label": "a" } };

/** A store of three boxes, two of them with the label `a`. */
const boxes = () => scripted([1, 2, 3].map((id) => ({ resource: "boxes", id, record: box(id, { label: id === 3 ? "b" : "a" }) })));
const ids = (value) => value?.map(({ id }) => id);
const rename = (store, id, label) => store.edit("boxes", id, (one) => { one.box.label = label; });
/** Advances frames until a condition is true. */
const frames = (store, clock, holds) => until(async () => { await clock.advance(16); return holds(); });

test("each binding has at most 40 lines", () => {
  const folder = new URL("../../../Samples/bindings/", import.meta.url);
  for (const name of readdirSync(folder)) assert.ok(readFileSync(new URL(name, folder), "utf8").trimEnd().split("\n").length <= 40, name);
});

test("Svelte: a store of a query, opened with the first subscriber and closed with the last", async () => {
  const { store, clock } = await boxes(), orders = live(store, "boxes", query), one = [], other = [];
  const ends = [orders.subscribe((value) => one.push(ids(value))), orders.subscribe((value) => other.push(ids(value)))];
  assert.deepEqual([one, other], [[undefined], [undefined]]);
  await until(() => one.length > 1);
  await rename(store, 3, "a");
  await frames(store, clock, () => one.length > 2);
  assert.deepEqual(one, [undefined, [1, 2], [1, 2, 3]]);
  assert.deepEqual(other, one);
  for (const end of ends) end();
  assert.deepEqual((await store.diagnose()).live, []);
  const seen = [], end = record(store, "boxes", 3).subscribe((value) => seen.push(value?.box.label));
  await until(() => seen.length > 1);
  end();
  assert.deepEqual(seen, [undefined, "a"]);
  await store.close();
});

test("Svelte: a live query is a store itself", async () => {
  const { store } = await boxes(), orders = store.live("boxes", query), seen = [], end = orders.subscribe((value) => seen.push(ids(value)));
  await until(() => seen.length > 1);
  assert.deepEqual(seen, [undefined, [1, 2]]);
  end();
  orders.close();
  await store.close();
});

test("Vue: a ref follows a query, and a query that is another one", async () => {
  const { store, clock } = await boxes(), cleanups = [];
  let effect, ends;
  const run = () => { for (const cleanup of cleanups.splice(0)) cleanup(); effect((cleanup) => cleanups.push(cleanup)); };
  const { useLive, useRecord } = composables({ shallowRef: (value) => ({ value }), watchEffect: (body) => { effect = body; run(); }, onScopeDispose: (end) => { ends = end; } });
  let label = "a";
  const found = useLive(store, "boxes", () => ({ where: { "box.label": label } }));
  assert.equal(found.value, undefined);
  await until(() => found.value);
  assert.deepEqual(ids(found.value), [1, 2]);
  await rename(store, 3, "a");
  await frames(store, clock, () => found.value.length === 3);
  label = "b";
  run();
  await until(() => found.value.length === 0);
  assert.equal((await store.diagnose()).live.length, 1);
  const one = useRecord(store, "boxes", 1);
  await until(() => one.value);
  assert.equal(one.value.id, 1);
  ends();
  await store.close();
});

test("React: a hook whose snapshot is the same until the result is another", async () => {
  const { store, clock } = await boxes(), kept = new Map();
  let mounted, renders = 0, slot;
  const memo = (make, inputs) => {
    const name = slot++, before = kept.get(name);
    if (!before || before.inputs.some((one, index) => one !== inputs[index])) kept.set(name, { inputs, value: make() });
    return kept.get(name).value;
  };
  const { useLive, useRecord } = hooks({
    useRef: (current) => memo(() => ({ current }), []), useMemo: memo, useCallback: (body, inputs) => memo(() => body, inputs),
    useSyncExternalStore: (subscribe, snapshot) => {
      if (mounted?.subscribe !== subscribe) {
        mounted?.end();
        mounted = { subscribe, end: subscribe(() => { renders += 1; }) };
      }
      return snapshot();
    },
  });
  const render = (hook) => { slot = 0; return hook(); };
  const list = () => render(() => useLive(store, "boxes", { where: { "box.label": "a" } }));
  assert.equal(list(), undefined);
  await until(list);
  assert.deepEqual(ids(list()), [1, 2]);
  assert.equal(list(), list(), "one snapshot");
  await rename(store, 3, "a");
  await frames(store, clock, () => list().length === 3);
  assert.ok(renders >= 2);
  mounted.end();
  assert.deepEqual((await store.diagnose()).live, [], "the query ends with the component");
  [mounted, slot] = [null, 0];
  kept.clear();
  const one = () => render(() => useRecord(store, "boxes", 1));
  one();
  await until(one);
  assert.equal(one().id, 1);
  mounted.end();
  await store.close();
});
