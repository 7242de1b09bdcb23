import assert from "node:assert/strict";
import { test } from "node:test";
import { inputOf, readInput } from "../../../Sources/clients/javascript/inputs.js";
import { rules } from "./simulated.js";
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

test("a part of a restored form that remains refused is not saved by another form of it", async () => {
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

test("a form keeps its working copy when a field gets another name, and uses that name", async () => {
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

test("a restored creation omits the fields that the app omitted", async () => {
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

test("a form of a record without an answer gets the values that the database fills in", async () => {
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

const typed = [
  [{ type: "integer", minimum: 0, maximum: 255 }, "12", 12], [{ type: "integer", minimum: 0, maximum: 255 }, "1.5", "not-a-number"], [{ type: "integer", minimum: 0, maximum: 255 }, "256", "not-a-number"],
  [{ type: "integer" }, "9007199254740993", "9007199254740993"], [{ type: "integer", nullable: false }, "", "required"], [{ type: "integer" }, "", null],
  [{ type: "decimal", precision: 6, scale: 2 }, " 12.50 ", "12.50"], [{ type: "decimal", precision: 6, scale: 2 }, "1.234", "not-a-number"], [{ type: "decimal", precision: 6, scale: 2 }, "1,000", "not-a-number"],
  [{ type: "double" }, "1.5e3", 1500], [{ type: "double" }, "x", "not-a-number"], [{ type: "boolean" }, true, true], [{ type: "boolean" }, "false", false],
  [{ type: "text", maximumCharacters: 3 }, " ab", " ab"], [{ type: "text", maximumCharacters: 3 }, "abcd", "too-long"], [{ type: "text", nullable: false }, "", ""], [{ type: "text" }, "", null],
  [{ type: "enum", members: ["a", "b"] }, "b", "b"], [{ type: "enum", members: ["a", "b"] }, "c", "not-a-member"], [{ type: "set", members: ["a", "b"] }, ["b", "a"], ["b", "a"]], [{ type: "set" }, "x, y,, x", ["x", "y"]],
  [{ type: "date" }, "2026-11-24", "2026-11-24"], [{ type: "date" }, "2026-02-30", "not-a-date"], [{ type: "time" }, "09:30", "09:30:00"], [{ type: "time" }, "9h", "not-a-time"],
  [{ type: "datetime" }, "2026-11-24T09:30", "2026-11-24T09:30:00"], [{ type: "datetime" }, "2026-11-24T09:30:05.5", "2026-11-24T09:30:05.5"], [{ type: "datetime" }, "2026-11-24", "not-a-date"],
  [{ type: "json" }, '{"a": 9007199254740993}', { a: 9007199254740993n }], [{ type: "json" }, "{", "not-json"], [{ type: "json" }, { a: 1 }, { a: 1 }],
];

test("an input becomes a value of its field's type, or gets a message", () => {
  for (const [field, input, expected] of typed) {
    const { value, problem } = readInput(input, { nullable: true, ...field }, undefined, "a.b");
    assert.deepEqual(problem ? problem.code : value, expected, `${field.type} ${JSON.stringify(input)}`);
    if (problem) assert.match(problem.message, /^[A-Z].*\.$/);
  }
});

test("a value that an input shows in another form is unchanged", () => {
  const cases = [["time", "09:30:00", "09:30"], ["time", "-1:30:05.250000", "-1:30:05.25"], ["datetime", "2026-11-24T09:30:00.000000", "2026-11-24T09:30"], ["datetime", "2026-11-24 09:30:00", "2026-11-24T09:30"],
    ["date", "0000-00-00", ""], ["text", null, ""], ["text", "", ""], ["decimal", "1.50", "1.50"], ["set", null, []], ["set", "a,b", ["a", "b"]], ["json", { a: 1 }, '{"a":1}'], ["integer", "18446744073709551615", "18446744073709551615"]];
  for (const [type, value, input] of cases) {
    assert.deepEqual(inputOf(value, { type }), input);
    assert.deepEqual(readInput(input, { type, nullable: true }, value, "a.b"), { value, problem: null });
  }
});

test("an instant is read and shown in the time zone of the device", () => {
  const zone = process.env.TZ;
  process.env.TZ = "Europe/Berlin";
  try {
    const field = { type: "timestamp", nullable: true }, read = (input) => readInput(input, field, undefined, "a.b");
    assert.equal(inputOf("2026-11-24T08:30:00Z", field), "2026-11-24T09:30");
    assert.equal(read("2026-11-24T09:30").value, "2026-11-24T08:30:00Z");
    assert.equal(read("2026-07-24T09:30:05.25").value, "2026-07-24T07:30:05.25Z");
    assert.equal(read("2026-03-29T02:30").problem.code, "not-a-date", "clocks are put forward then");
  } finally {
    if (zone === undefined) delete process.env.TZ;
    else process.env.TZ = zone;
  }
});

/** A store of one box with two things. */
const boxed = () => scripted([{ resource: "boxes", id: 1, record: { ...box(1), things: [{ id: 7, name: "a" }, { id: 8, name: "b" }] } }]);

/** Has the server report a record. */
async function pull({ server, store, page }, record, revision = 2) {
  const pulled = store.sync();
  (await server.request()).answer(200, { ...page, revision, changes: [{ revision, resource: "boxes", id: 1, record, by: null }] });
  await pulled;
}

test("a form has values, messages and dirty fields, and is saved as one edit", async () => {
  const { store } = await boxed(), form = await store.form("boxes", 1), count = form.field("box.count"), name = form.field("things.name", 8), seen = [];
  const end = form.subscribe(({ isDirty, isValid }) => seen.push([isDirty, isValid]));
  assert.deepEqual([count.value, count.input, name.input, form.isDirty, form.isValid], [0, "0", "b", false, true]);
  count.set("x");
  assert.deepEqual([count.value, count.input, count.code, count.isDirty, form.messages], [0, "x", "not-a-number", true, { "box.count": "Enter a whole number." }]);
  await assert.rejects(form.save(), { code: "invalid-form", path: "box.count" });
  count.set("3");
  name.set("c");
  assert.deepEqual([count.value, count.message, form.isValid, form.field("box.label").isDirty], [3, null, true, false]);
  await form.save();
  assert.deepEqual(await waiting(store), [{ box: { count: { old: 0, new: 3 } }, things: [{ id: 8, name: { old: "b", new: "c" } }] }]);
  assert.equal(form.isDirty, false);
  assert.deepEqual(seen.slice(0, 4), [[false, true], [true, false], [true, true], [true, true]]);
  assert.throws(() => form.field("box.cuont"), { code: "unknown-field", near: "count" });
  assert.throws(() => form.field("things.name", 99), { code: "no-such-record" });
  end();
  form.close();
  await assert.rejects(form.save(), { code: "closed" });
  await store.close();
});

test("unedited groups follow the store, and edited groups conflict", async () => {
  const all = await boxed(), { store } = all, form = await store.form("boxes", 1), label = form.field("box.label"), code = form.field("box.code"), first = form.field("things.name", 7);
  label.set("mine");
  form.record.things.push({ name: "new" });
  await pull(all, { ...box(1, { label: "theirs", code: "c2" }), things: [{ id: 7, name: "a2" }, { id: 9, name: "other" }] });
  await until(() => code.value === "c2");
  assert.deepEqual(form.record.things.map(({ name }) => name), ["a2", "other", "new"]);
  assert.deepEqual([first.value, code.isDirty, label.value, label.conflict.current, form.conflicts.length], ["a2", false, "mine", "theirs", 1]);
  await label.conflict.takeTheirs();
  assert.deepEqual([label.value, label.isDirty, label.conflict], ["theirs", false, null]);
  label.set("mine");
  await pull(all, { ...box(1, { label: "again", code: "c2" }), things: [{ id: 7, name: "a2" }, { id: 9, name: "other" }] }, 3);
  await until(() => label.conflict?.current === "again");
  await label.conflict.keepMine();
  assert.deepEqual([label.value, label.conflict], ["mine", null]);
  await form.save();
  const [{ box: { label: sent }, things }] = await waiting(store);
  assert.deepEqual([sent, things.length, things[0].new], [{ old: "again", new: "mine" }, 1, { name: "new" }]);
  form.close();
  await store.close();
});

test("a missing row conflicts with its edit, and is removed from the form without an edit", async () => {
  const all = await boxed(), { store } = all, form = await store.form("boxes", 1), name = form.field("things.name", 7);
  name.set("edited");
  await pull(all, { ...box(1), things: [] });
  await until(() => form.record.things.length === 1);
  assert.deepEqual([form.conflicts.map(({ item, current }) => [item, current]), name.conflict.current], [[[7, null]], null]);
  await form.conflicts[0].takeTheirs();
  assert.deepEqual([form.record.things, form.isDirty, name.isThere], [[], false, false]);
  await pull(all, null, 3);
  await until(() => form.isGone);
  form.close();
  await store.close();
});

test("revert discards the input and shows the value of the store", async () => {
  const { store } = await boxed(), form = await store.form("boxes", 1);
  form.field("box.label").set("typed");
  form.field("box.count").set("x");
  form.record.things.splice(0, 1);
  await form.revert();
  assert.deepEqual([form.field("box.label").value, form.field("box.count").input, form.record.things.length, form.isDirty, form.isValid], ["", "0", 2, false, true]);
  form.close();
  await store.close();
});

test("a part of a form is saved alone, whatever the other inputs contain", async () => {
  const { store } = await boxed(), form = await store.form("boxes", 1), name = form.field("things.name", 7), label = form.field("box.label");
  form.field("box.count").set("x");
  label.set("typed");
  name.set("a2");
  form.field("things.name", 8).set("b2");
  await form.save("things.name", 7);
  assert.deepEqual(await waiting(store), [{ things: [{ id: 7, name: { old: "a", new: "a2" } }] }]);
  assert.deepEqual([name.isDirty, label.isDirty, form.field("things.name", 8).isDirty, form.isValid], [false, true, true, false]);
  form.record.things.push({ name: "new" });
  await form.revert("things.name", 8);
  form.record.things.splice(form.record.things.findIndex(({ id }) => id === 8), 1);
  await form.save("things");
  const [{ things }] = await waiting(store);
  assert.deepEqual(things.map(({ id, old, new: next }) => [typeof id, old, next]), [["number", undefined, undefined], ["string", null, { name: "new" }], ["number", { name: "b" }, null]]);
  assert.deepEqual([label.isDirty, form.record.things.map((one) => one.name)], [true, ["a2", "new"]]);
  await assert.rejects(form.save("box.count"), { code: "invalid-form", path: "box.count" });
  await form.revert("box.count");
  await form.revert("box");
  assert.deepEqual([form.field("box.count").input, label.value, form.isDirty], ["0", "", false]);
  await assert.rejects(form.save("box.cuont"), { code: "unknown-field", near: "count" });
  form.close();
  await store.close();
});

test("a part of a form that conflicts with another edit is reverted to the value of the store", async () => {
  const all = await boxed(), { store } = all, form = await store.form("boxes", 1), label = form.field("box.label");
  label.set("mine");
  form.field("box.code").set("c");
  await pull(all, { ...box(1, { label: "theirs" }), things: [] });
  await until(() => label.conflict);
  await form.revert("box.label");
  assert.deepEqual([label.value, label.conflict, form.field("box.code").value], ["theirs", null, "c"]);
  form.close();
  await store.close();
});

test("a form of a refused edit is saved as a whole, and leaves the list", async () => {
  const all = await boxed(), { store } = all;
  await store.edit("boxes", 1, (record) => Object.assign(record.box, { label: "bad", count: 3 }));
  await refuse(all, "label");
  const [entry] = await store.refusedEdits(), form = await entry.form();
  assert.deepEqual([form.field("box.label").value, form.field("box.label").isDirty, form.field("box.code").isDirty], ["bad", true, false]);
  form.field("box.label").set("good");
  await form.save("box.label");
  assert.deepEqual([await waiting(store), await store.refusedEdits()], [[{ box: { label: { old: "", new: "good" }, count: { old: 0, new: 3 } } }], []]);
  form.field("box.code").set("c");
  form.field("box.label").set("later");
  await form.save("box.code");
  assert.equal((await waiting(store))[0].box.label.new, "good");
  form.close();
  await store.close();
});

test("a form of a new record is a creation, and then a form of this record", async () => {
  const { gateway, store } = await started(), form = await store.form("tags");
  assert.deepEqual([form.isDirty, form.field("tag.name").input, form.base], [false, "", null]);
  form.field("tag.rank").set("");
  assert.equal(form.field("tag.rank").code, "required");
  await form.revert();
  form.field("tag.name").set("x");
  await form.save();
  assert.deepEqual((await waiting(store))[0], { tag: { old: null, new: { name: "x" } } });
  await store.sync();
  await until(() => form.field("tag.rank").value === 5);
  form.field("tag.rank").set("6");
  await form.save();
  await store.sync();
  assert.deepEqual([...gateway.records.values()].find(({ tag }) => tag).tag, { name: "x", rank: 6 });
  assert.equal(typeof form.id, "number");
  form.close();
  await store.close();
});

test("changes by other edits of this device are followed while a form is saved", async () => {
  const { store } = await boxed(), form = await store.form("boxes", 1);
  form.field("box.label").set("a");
  const saved = form.save(), other = store.edit("boxes", 1, (record) => { record.box.code = "c"; });
  await saved;
  form.field("box.count").set("2");
  await other;
  await until(() => form.field("box.code").value === "c");
  assert.deepEqual([form.field("box.code").isDirty, form.field("box.count").isDirty, form.field("box.label").isDirty, form.conflicts], [false, true, false, []]);
  await form.save();
  assert.equal(form.isDirty, false);
  form.close();
  await store.close();
});

test("the rules of a resource name types, policies and what this client may write", async () => {
  const [boxes, tags] = rules.resources, [section, things] = boxes.sections, readOnly = [{ field: "made", type: "date", nullable: true }];
  const groups = section.groups.map((one) => (one.group === "code" ? { ...one, write: false, create: true } : one.group === "label" ? { ...one, write: false } : { ...one, write: true }));
  const { store } = await scripted([{ resource: "boxes", id: 1, record: box(1, { made: "2026-01-01" }) }], { rules: { ...rules, resources: [{ ...boxes, create: true, delete: false, sections: [{ ...section, groups, readOnly }, things] }, tags] } });
  const { mayCreate, mayDelete, sections } = await store.rules("boxes"), { fields } = sections.box;
  assert.deepEqual([mayCreate, mayDelete, sections.box.kind, sections.things.kind], [true, false, "root", "list"]);
  assert.deepEqual(fields.count, { type: "integer", nullable: true, group: "count", policy: "client-wins", merge: "add", mayWrite: true, mayCreate: true });
  assert.deepEqual(["code", "label", "made"].map((name) => [fields[name].mayWrite, fields[name].mayCreate]), [[false, true], [false, false], [false, false]]);
  await assert.rejects(store.rules("boxs"), { code: "unknown-resource", near: "boxes" });
  const form = await store.form("boxes", 1), made = await store.form("boxes");
  assert.deepEqual([form.field("box.code").mayWrite, made.field("box.code").mayWrite, made.field("box.label").mayWrite, form.field("box.made").input], [false, true, false, "2026-01-01"]);
  assert.throws(() => form.field("box.code").set("x"), { code: "read-only" });
  for (const one of [form, made]) one.close();
  await store.close();
});
