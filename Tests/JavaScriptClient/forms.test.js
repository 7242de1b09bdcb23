import assert from "node:assert/strict";
import { test } from "node:test";
import { box, refuse, scripted, started, until, waiting } from "./stores.js";

test("a restored form whose entry was sent in part meanwhile is not saved", async () => {
  const { gateway, store } = await started();
  await store.edit("boxes", 1, (record) => {
    record.box.count += 1;
    record.things.push({ name: "no" });
  });
  await store.sync();
  const [entry] = await store.refusedEdits(), form = await entry.restore(), [{ id }] = entry.edits[0].changeset.things;
  await entry.resend({ without: [`things[${JSON.stringify(id)}]`] });
  form.record.things[0].name = "yes";
  await assert.rejects(form.save(), { code: "not-refused" });
  await store.sync();
  assert.equal(gateway.records.get("boxes/1").box.count, 1);
  const [rest] = await store.refusedEdits(), again = await rest.restore();
  again.record.things[0].name = "yes";
  await again.save();
  await store.sync();
  assert.deepEqual([gateway.records.get("boxes/1").box.count, gateway.names(), store.status.refused], [1, ["yes"], 0]);
  await store.close();
});

test("a part of a restored form that stays refused is not saved by another form of it", async () => {
  const all = await scripted([{ resource: "boxes", id: 1, record: { ...box(1), things: [{ id: 7, name: "a" }] } }]), { server, store, page } = all;
  await store.edit("boxes", 1, (record) => {
    record.box.count += 1;
    record.things[0].name = "b";
  });
  await refuse(all, "name");
  const pulled = store.sync();
  (await server.request()).answer(200, { ...page, revision: 2, changes: [{ revision: 2, resource: "boxes", id: 1, record: box(1), by: null }] });
  await pulled;
  const [entry] = await store.refusedEdits(), forms = [await entry.restore(), await entry.restore()];
  await forms[0].save();
  await assert.rejects(forms[1].save(), { code: "not-refused" });
  assert.deepEqual(await waiting(store), [{ box: { count: { old: 0, new: 1 } } }]);
  assert.deepEqual((await store.refusedEdits()).map(({ edits }) => Object.keys(edits[0].changeset)), [["things"]]);
  await store.close();
});

test("a form keeps its working copy when the rules are read again", async () => {
  const { gateway, store } = await started(), form = await store.draft("boxes", 1), { record } = form, { box: part } = record;
  gateway.rules = { ...gateway.rules, version: "v2" };
  await store.sync();
  const looks = store.observe("boxes", 1);
  await store.edit("boxes", 1, (one) => { one.box.count = 3; });
  for await (const one of looks) if (one.box.count === 3) break;
  part.label = "typed";
  await form.save();
  assert.equal(form.record, record);
  record.box.code = "more";
  await form.save();
  const [{ box: { label, code } }] = await waiting(store);
  assert.deepEqual([label.new, code.new], ["typed", "more"]);
  await store.close();
});

test("a form keeps its working copy when a field gets another name, and takes that name", async () => {
  const { gateway, store } = await started(), form = await store.draft("boxes", 1), { record } = form;
  record.box.label = "before";
  const [boxes, ...others] = gateway.rules.resources, [section, ...lists] = boxes.sections;
  gateway.rules = { ...gateway.rules, version: "v2", resources: [{ ...boxes, sections: [{
    ...section, groups: section.groups.map((one) => (one.group === "label" ? { ...one, group: "title", formerly: ["label"], fields: [{ ...one.fields[0], field: "title", formerly: ["label"] }] } : one)),
  }, ...lists] }, ...others] };
  gateway.records.get("boxes/1").box.title = "";
  await store.sync();
  await form.save();
  record.box.title += " and after";
  assert.throws(() => { record.box.label = "x"; }, { code: "unknown-field" });
  await form.save();
  assert.equal(form.record, record);
  assert.equal((await waiting(store))[0].box.title.new, "before and after");
  await store.close();
});

test("a restored creation leaves to the database what the app has left to it", async () => {
  const all = await scripted(), { store } = all;
  await store.create("boxes", (record) => { record.box.label = "x"; });
  await store.edit("boxes", 1, (record) => { record.things.push({}); });
  await refuse(all, "label");
  for (const entry of await store.refusedEdits()) {
    const form = await entry.restore();
    if (entry.id !== 1) Object.assign(form.record.box, { label: null, code: "c" });
    await form.save();
  }
  const [made, { things }] = await waiting(store);
  assert.deepEqual(made.box, { old: null, new: { code: "c", label: null } });
  assert.deepEqual(things[0].new, {});
  await store.close();
});

test("a form of a record that has no answer takes what the database fills in", async () => {
  const { gateway, store } = await started();
  const { id } = await store.create("tags", (record) => { record.tag.name = "a"; });
  const early = await store.draft("tags", id), late = await store.draft("tags", id), heard = [];
  store.addEventListener("overtaken", ({ group }) => { heard.push(group); });
  early.record.tag.rank = 6;
  await store.sync();
  await until(() => late.record.tag.rank === 5);
  assert.deepEqual([early.base.tag.rank, early.record.tag.rank, late.base.tag.rank], [5, 6, 5]);
  const ticket = await early.save();
  assert.deepEqual(await waiting(store), [{ tag: { rank: { old: 5, new: 6 } } }]);
  await store.sync();
  assert.equal((await ticket.outcome).status, "merged");
  assert.deepEqual([heard, [...gateway.records.values()].find(({ tag }) => tag).tag.rank], [[], 6]);
  await store.close();
});

test("null over a field that the base lacks is an edit", async () => {
  const { store } = await scripted([{ resource: "boxes", id: 1, record: box(1, { tag: 5 }) }]), base = await store.record("boxes", 1);
  delete base.box.tag;
  await store.edit("boxes", 1, (record) => { record.box.tag = null; }, { base });
  assert.deepEqual(await waiting(store), [{ box: { tag: { old: 5, new: null } } }]);
  await store.close();
});
