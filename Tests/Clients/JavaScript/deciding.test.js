import assert from "node:assert/strict";
import { test } from "node:test";
import { renamedConflict } from "../../../Sources/clients/javascript/renaming.js";
import { Rules } from "../../../Sources/clients/javascript/rules.js";
import { rules } from "./simulated.js";
import { box, reading, scripted, started, waiting } from "./stores.js";

/** An edit and an independent form of one label, which others have changed. */
async function met() {
  const { store, see } = await reading();
  await see("");
  const form = await store.draft("boxes", 1);
  await store.edit("boxes", 1, (record) => { record.box.label = "edit"; });
  form.record.box.label = "form";
  const tickets = { form: await form.save() };
  await see("theirs");
  const entryOf = async (label) => (await store.conflicts()).find((one) => one.new === label);
  return { store, tickets, entryOf };
}

const labels = async (store) => (await waiting(store)).map(({ box }) => [box.label.old, box.label.new]);

/** Edits a record in a separate push, because it has a second record. */
const apart = (store, change) => store.transaction(async (t) => {
  await t.edit("boxes", 1, change);
  await t.edit("boxes", 2, (record) => { record.box.code += "+"; });
});

test("takeTheirs of an edit leaves a form that was made over another value, and its entry has the present one", async () => {
  const { store, tickets, entryOf } = await met();
  await (await entryOf("edit")).takeTheirs();
  assert.deepEqual(await labels(store), [["", "form"]]);
  assert.equal(await tickets.form.peek(), null);
  assert.deepEqual((await store.conflicts()).map((one) => [one.old, one.current, one.new]), [["", "theirs", "form"]]);
  await store.close();
});

test("keepMine of an edit leaves the old of a form that was made over another value", async () => {
  const { store, entryOf } = await met();
  await (await entryOf("edit")).keepMine();
  assert.deepEqual(await labels(store), [["theirs", "edit"], ["", "form"]]);
  assert.deepEqual((await store.conflicts()).map((one) => [one.current, one.new]), [["edit", "form"]]);
  await store.close();
});

test("an edit after one that takeTheirs removes has its old value, and is overtaken", async () => {
  const { store, see } = await reading();
  await see("");
  await store.edit("boxes", 1, (record) => { record.box.label = "a"; });
  await store.transaction(async (t) => {
    await t.edit("boxes", 1, (record) => { record.box.label = "b"; });
    await t.create("tags", (record) => { Object.assign(record.tag, { name: "t", rank: 1 }); });
  });
  await see("theirs");
  const [entry] = await store.conflicts();
  await entry.takeTheirs();
  assert.deepEqual(await labels(store), [["", "b"]]);
  const [next] = await store.conflicts();
  assert.deepEqual([next.old, next.current, next.new], ["", "theirs", "b"]);
  await next.takeTheirs();
  assert.deepEqual([(await store.conflicts()).length, (await store.record("boxes", 1)).box.label], [0, "theirs"]);
  await store.close();
});

test("keepMine decides about the value of its entry, and a later change is a new decision", async () => {
  const { store, see } = await reading(), heard = [];
  await see("");
  await store.edit("boxes", 1, (record) => { record.box.label = "mine"; });
  await see("t1");
  const [entry] = await store.conflicts();
  await see("t2");
  store.addEventListener("overtaken", ({ old, current }) => { heard.push([old, current]); });
  await entry.keepMine();
  assert.deepEqual(await labels(store), [["t1", "mine"]]);
  const [next] = await store.conflicts();
  assert.deepEqual([next.name, next.old, next.current], [entry.name, "t1", "t2"]);
  assert.deepEqual(heard.at(-1), ["t1", "t2"]);
  await next.keepMine();
  assert.deepEqual([await labels(store), await store.conflicts()], [[["t2", "mine"]], []]);
  await store.close();
});

test("a discarded edit does not change a later one that was based on another value", async () => {
  const { store, entryOf } = await met(), { name } = await entryOf("form");
  await (await store.unsent())[0].discard();
  assert.deepEqual(await labels(store), [["", "form"]]);
  assert.deepEqual((await store.conflicts()).map((one) => [one.name, one.old, one.current, one.new]), [[name, "", "theirs", "form"]]);
  await store.close();
});

test("the entry of an edit that was overtaken by a discarded one leaves with it", async () => {
  const { store } = await started(), form = await store.draft("boxes", 1);
  await store.edit("boxes", 1, (record) => { record.box.label = "edit"; });
  form.record.box.label = "form";
  await form.save();
  assert.equal((await store.conflicts()).length, 1);
  await (await store.unsent())[0].discard();
  assert.deepEqual([await labels(store), await store.conflicts()], [[["", "form"]], []]);
  await store.close();
});

test("the addition of a discarded edit is in no later edit", async () => {
  const { gateway, store } = await started();
  await store.edit("boxes", 1, (record) => { record.box.count += 1; });
  await apart(store, (record) => { record.box.count += 2; });
  await apart(store, (record) => { record.box.count += 4; });
  await (await store.unsent())[0].discard();
  assert.equal((await store.record("boxes", 1)).box.count, 6);
  await store.sync();
  assert.equal(gateway.records.get("boxes/1").box.count, 6);
  await store.close();
});

test("an edit back to the first value is sent if the store has another value, and is dropped otherwise", async () => {
  const { gateway, store } = await started(), form = await store.draft("boxes", 1);
  form.record.box.label = "form";
  await store.edit("boxes", 1, (record) => { record.box.label = "edit"; });
  await form.save();
  const ticket = await store.edit("boxes", 1, (record) => { record.box.label = ""; });
  assert.deepEqual([(await store.record("boxes", 1)).box.label, await labels(store)], ["", [["", "edit"], ["", "form"], ["form", ""]]]);
  const before = gateway.records.get("boxes/2").box.code;
  await store.edit("boxes", 2, (record) => { record.box.code = "x"; });
  await store.edit("boxes", 2, (record) => { record.box.code = before; });
  assert.equal((await store.unsent()).length, 3);
  await store.sync();
  assert.deepEqual([(await ticket.outcome).status, gateway.records.get("boxes/1").box.label], ["merged", ""]);
  await store.close();
});

test("an addition that is reverted after another one changes the sum exactly", async () => {
  const { gateway, store } = await started(), form = await store.draft("boxes", 1);
  form.record.box.count = 5;
  await store.edit("boxes", 1, (record) => { record.box.count = 1; });
  await form.save();
  await store.edit("boxes", 1, (record) => { record.box.count = 0; });
  assert.equal((await store.record("boxes", 1)).box.count, 0);
  await store.sync();
  assert.equal(gateway.records.get("boxes/1").box.count, 1);
  await store.close();
});

test("the entry of an overtaken edit of a new record has its id, and becomes the conflict of it", async () => {
  const { store } = await started();
  const { id } = await store.create("tags", (record) => { Object.assign(record.tag, { name: "a", rank: 1 }); }), form = await store.draft("tags", id);
  await store.edit("tags", id, (record) => { record.tag.name = "b"; });
  form.record.tag.name = "c";
  await form.save();
  const [{ name }] = await store.conflicts();
  await store.sync();
  const real = (await store.record("tags", id)).id;
  assert.deepEqual((await store.conflicts()).map((one) => [one.kind, one.name, one.id, one.current, one.written]), [["conflict", name, real, "b", "c"]]);
  await store.close();
});

test("an edit that refers to a discarded record with a key of the app is discarded too", async () => {
  const [boxes, tags] = rules.resources, own = { ...rules, resources: [boxes, { ...tags, sections: [{ ...tags.sections[0], key: [{ column: "id", type: "integer" }] }] }] };
  const { store } = await scripted([1, 2].map((id) => ({ resource: "boxes", id, record: box(id) })), { rules: own });
  await store.create("tags", (record) => Object.assign(record, { id: 7, tag: { name: "t", rank: 1 } }));
  const kept = await store.edit("boxes", 1, (record) => Object.assign(record.box, { tag: 7, label: "kept" }));
  const lost = await store.edit("boxes", 2, (record) => { record.box.tag = 7; });
  await (await store.unsent())[0].discard();
  assert.deepEqual(await waiting(store), [{ box: { label: { old: "", new: "kept" } } }]);
  assert.deepEqual([await kept.peek(), (await lost.outcome).status, (await store.record("boxes", 2)).box.tag], [null, "discarded", null]);
  await store.close();
});

for (const call of ["takeMine", "takeTheirs"]) {
  test(`${call} of a conflict whose group has got more fields`, async () => {
    const { gateway, store } = await started();
    await store.edit("boxes", 1, (record) => { record.box.label = "mine"; });
    gateway.records.get("boxes/1").box.label = "theirs";
    await store.sync();
    gateway.changeRules();
    await store.sync();
    await store.sync();
    const [entry] = await store.conflicts();
    assert.deepEqual([entry.new, entry.current], [{ label: "mine" }, { label: "theirs" }]);
    if (call === "takeMine") await store.edit("boxes", 1, (record) => { record.box.label = "other"; });
    await entry[call]();
    assert.equal((await store.record("boxes", 1)).box.label, call === "takeMine" ? "mine" : "theirs");
    assert.deepEqual(await store.conflicts(), []);
    await store.close();
  });
}

test("values of an entry have the form of their group, and names in JSON values are unchanged", () => {
  const sections = (...groups) => new Rules({ version: "1", limits: {}, resources: [{ resource: "a", sections: [{ section: "s", kind: "root", key: [], groups }] }] }).resources.get("a").sections;
  const field = (name, more) => ({ field: name, type: "text", ...more }), meta = { group: "meta", fields: [{ field: "meta", type: "json" }] };
  const before = sections(meta, { group: "title", fields: [field("title")] }), heading = field("heading", { formerly: ["title"] });
  const now = sections(meta, { group: "head", formerly: ["title"], fields: [heading, field("note")] }), joint = sections(meta, { group: "both", fields: [heading, field("note")] });
  const json = { section: "s", group: "meta", old: null, current: { title: 1 }, new: { title: 2 } }, text = { section: "s", group: "title", old: "a", current: null, new: "b" };
  assert.deepEqual(renamedConflict(json, now, before), json);
  const turned = { section: "s", group: "head", old: { heading: "a" }, current: { heading: null }, new: { heading: "b" } };
  assert.deepEqual(renamedConflict(text, now, before), turned);
  assert.deepEqual(renamedConflict(text, joint, before), { ...turned, group: "both" });
  assert.deepEqual(renamedConflict({ ...turned, current: { heading: "c", note: "d" } }, sections({ group: "head", fields: [field("heading")] }), now), { section: "s", group: "head", old: "a", current: "c", new: "b" });
  assert.deepEqual(renamedConflict({ section: "s", old: { title: "a" }, current: null, new: { title: "b" } }, now, before), { section: "s", old: { heading: "a" }, current: null, new: { heading: "b" } });
});
