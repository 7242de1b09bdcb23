import assert from "node:assert/strict";
import { test } from "node:test";
import { open } from "../../../Sources/clients/javascript/fieldmerge.js";
import { ScriptedServer, TestClock } from "../../../Sources/clients/javascript/testing.js";

const field = (name, type = "text") => ({ field: name, type, nullable: true }), key = [{ column: "id", type: "integer", generated: true }];
const both = { group: "both", onConflict: "client-wins", fields: [field("name"), field("rank", "integer")] };
const rules = { version: "v1", limits: { body: 1e6, edits: 100, items: 1000, page: 500 }, resources: [
  { resource: "tags", sections: [{ section: "tag", kind: "root", key, groups: [both], readOnly: [] }, { section: "lines", kind: "list", key, groups: [both], readOnly: [] }] }] };
const page = { feed: "feed-1", revision: 1, more: false, rules: "v1", changes: [] };

async function begun() {
  const server = new ScriptedServer({ rules, records: [{ resource: "tags", id: 1, record: { id: 1, tag: { name: "one", rank: 1 }, lines: [] } }] });
  const store = await open({ server: server.url, user: "u", path: ":memory:", fetch: server.fetch, clock: new TestClock() }), first = store.sync();
  (await server.request()).answer(200, page);
  await first;
  /** Answers the pushes of a request with a record and the ids of its new rows. */
  const answer = (request, records, ids = {}) => request.answer(200, { ...page, results: request.json.pushes.map(({ key: name, edits }) => ({
    key: name, status: "merged", code: 200, results: edits.map(({ id }) => ({ resource: "tags", id: ids[id] ?? id, status: "merged", record: records[ids[id] ?? id], ids, outcomes: [] })) })) });
  return { server, store, answer };
}

const edits = async (store) => (await store.unsent()).map((push) => push.edits[0].changeset);

test("a null that the user set after a creation is not replaced by the value of the database", async () => {
  const { server, store, answer } = await begun(), { id } = await store.create("tags", (one) => { one.tag.name = "a"; });
  const syncing = store.sync(), request = await server.request();
  await store.edit("tags", id, (one) => { one.tag.rank = 7; });
  // With another record it is a separate push.
  await store.transaction(async (t) => {
    await t.edit("tags", id, (one) => { one.tag.rank = null; });
    await t.edit("tags", 1, (one) => { one.tag.name = "x"; });
  });
  const form = await store.draft("tags", id);
  answer(request, { 101: { id: 101, tag: { name: "a", rank: 5 }, lines: [] } }, { [id]: 101 });
  answer(await server.request(), { 1: { id: 1, tag: { name: "x", rank: 1 }, lines: [] }, 101: { id: 101, tag: { name: "a", rank: null }, lines: [] } });
  await syncing;
  form.record.tag.name = "b";
  await form.save();
  assert.deepEqual(await edits(store), [{ tag: { both: { old: { name: "a", rank: null }, new: { name: "b", rank: null } } } }]);
  await store.close();
});

test("a field that a base from before a creation lacks is unknown: it has the value of now", async () => {
  const { server, store, answer } = await begun();
  await store.edit("tags", 1, (one) => { one.lines.push({ name: "a" }); });
  const base = await store.record("tags", 1), [{ id }] = base.lines, line = (rank) => ({ id: 1, tag: { name: "one", rank: 1 }, lines: [{ id: 9, name: "a", rank }] });
  delete base.lines[0].rank; // it was read under rules that had no rank
  const syncing = store.sync();
  answer(await server.request(), { 1: line(5) }, { [id]: 9 });
  await syncing;
  const pulling = store.sync();
  (await server.request()).answer(200, { ...page, revision: 2, changes: [{ revision: 2, resource: "tags", id: 1, record: line(6), by: "other" }] });
  await pulling;
  await store.edit("tags", 1, (one) => { one.lines[0].name = "b"; }, { base });
  assert.deepEqual(await edits(store), [{ lines: [{ id: 9, both: { old: { name: "a", rank: 6 }, new: { name: "b", rank: 6 } } }] }]);
  await store.close();
});
