import assert from "node:assert/strict";
import { test } from "node:test";
import { started } from "./stores.js";

test("store.of returns the functions of the store for one resource", async () => {
  const { store } = await started(), boxes = store.of("boxes");
  assert.deepEqual(await boxes.record(1), await store.record("boxes", 1));
  assert.deepEqual(await boxes.records(), await store.records("boxes"));
  assert.equal(await boxes.count({ where: { id: 1 } }), 1);
  const live = boxes.live({ where: { id: 1 } }), seen = await live[Symbol.asyncIterator]().next();
  assert.equal(seen.value[0].id, 1);
  live.close();
  const before = (await boxes.record(1)).box.count;
  const ticket = await boxes.edit(1, (record) => { record.box.count += 1; });
  assert.equal((await boxes.record(1)).box.count, before + 1);
  assert.equal(await boxes.state(1), "draft");
  const form = await boxes.form(1);
  assert.equal(form.record.box.count, before + 1);
  form.close();
  await store.sync();
  assert.equal((await ticket.outcome).status, "merged");
  const made = await boxes.create((record) => { record.box.count = 3; });
  assert.equal((await boxes.record(made.id)).box.count, 3);
  await boxes.delete(made.id);
  await store.close();
});

test("store.of is no promise, so an async function may return it", async () => {
  const { store } = await started();
  const boxes = await (async () => store.of("boxes"))();
  assert.equal((await boxes.record(1)).id, 1);
  await store.close();
});
