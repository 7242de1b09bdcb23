import assert from "node:assert/strict";
import { test } from "node:test";
import { open } from "../../../Sources/clients/javascript/fieldmerge.js";
import { ScriptedServer, TestClock } from "../../../Sources/clients/javascript/testing.js";
import { rules } from "./simulated.js";

const box = (id) => ({ id, box: { count: 0, code: "", label: "", tag: null }, things: [] });

const field = (name, type = "text") => ({ field: name, type, nullable: true });
const withGroups = (version, groups, extra = {}) => ({
  ...rules, version, resources: rules.resources.map((one) => (one.resource !== "tags" ? { ...one, shape: "s1" } : {
    ...one, shape: version, sections: [{ ...one.sections[0], groups: [...one.sections[0].groups, ...groups] }],
  })).filter(({ resource }) => !extra.without?.includes(resource)),
});

/** A server whose rules can be changed while a client has edits that are not sent. */
function changing() {
  const gateway = { rules: withGroups("r1", [{ group: "color", fields: [field("color")] }]), asked: [], tags: Array.from({ length: 3 }, (_, index) => ({ id: index + 1, tag: { name: `t${index + 1}`, rank: 5, color: "red" } })) };
  const server = new ScriptedServer({ rules: gateway.rules });
  server.handle("/v1/rules", (request) => request.answer(200, gateway.rules));
  server.handle("/v1/snapshot", (request) => {
    const resources = request.url.searchParams.get("resources"), after = request.url.searchParams.get("after");
    gateway.asked.push([resources, after]);
    if (gateway.answer?.(request, resources, after)) return;
    const known = (resources?.split(",") ?? ["boxes", "tags"]).filter((name) => gateway.rules.resources.some(({ resource }) => resource === name));
    const records = known.flatMap((resource) => (resource === "tags" ? gateway.tags : [box(1)]).map((record) => ({ resource, id: record.id, record })));
    request.answer(200, [{ snapshot: { feed: "f", revision: 5, rules: gateway.rules.version, resources: known, records: records.length } }, ...records, { end: { records: records.length } }].map((line) => `${JSON.stringify(line)}\n`).join(""));
  });
  server.handle("/v1/changes", (request) => request.answer(200, { feed: "f", revision: 5, more: false, rules: gateway.rules.version, changes: [] }));
  gateway.pushed = [];
  server.handle("/v1/sync", (request) => {
    const { pushes } = request.json, isOther = ({ rules: version }) => version !== gateway.rules.version;
    gateway.pushed.push(...pushes.filter((push) => !isOther(push)));
    request.answer(pushes.some(isOther) ? 207 : 200, {
      feed: "f", revision: 5, more: false, rules: gateway.rules.version, changes: [],
      results: pushes.map(({ key, edits, rules: version }) => (isOther({ rules: version }) ? { key, status: "failed", code: 409, results: [], problem: { type: "t", code: "rules-changed", status: 409, retry: false } } : { key, status: "merged", code: 200, results: edits.map(({ resource, id }) => ({ resource, id, status: "merged", record: (resource === "tags" ? gateway.tags : [box(1)]).find((one) => one.id === id) ?? null, ids: {}, outcomes: [] })) })),
    });
  });
  return { gateway, server, begin: (options) => open({ server: server.url, user: "u", path: ":memory:", fetch: server.fetch, clock: new TestClock(), ...options }) };
}

test("a resource that is no longer in the rules: its edits are refused, its records are removed, and other edits are sent", async () => {
  const { gateway, begin } = changing(), store = await begin();
  await store.sync();
  const ticket = await store.edit("tags", 1, (tag) => { tag.tag.color = "blue"; });
  await store.edit("boxes", 1, (one) => { one.box.label = "x"; });
  gateway.rules = withGroups("r2", [], { without: ["tags"] });
  await store.sync();
  await store.sync();
  assert.equal((await ticket.outcome).problem.code, "field-removed");
  const [entry] = await store.refusedEdits();
  assert.deepEqual(entry.edits[0].changeset, { tag: { color: { old: "red", new: "blue" } } });
  await assert.rejects(store.records("tags"), { code: "unknown-resource" });
  assert.ok(gateway.pushed.some(({ edits }) => edits[0].resource === "boxes"));
  assert.equal(store.status.unsent, 0);
  await store.close();
});

test("a field with the name of a property of all objects is edited, and sent under other rules", async () => {
  const names = ["constructor", "toString", "hasOwnProperty"], groups = names.map((name) => ({ group: name, fields: [field(name)] }));
  const { gateway, begin } = changing();
  gateway.rules = withGroups("r1", groups);
  gateway.tags = [{ id: 1, tag: { name: "t1", rank: 5, ...Object.fromEntries(names.map((name) => [name, "red"])) } }];
  const store = await begin();
  await store.sync();
  const ticket = await store.edit("tags", 1, (tag) => { for (const name of names) tag.tag[name] = "blue"; });
  gateway.rules = withGroups("r2", [...groups, { group: "more", fields: [field("more")] }]);
  await store.sync();
  await store.sync();
  assert.equal((await ticket.outcome).status, "merged");
  assert.deepEqual(gateway.pushed.at(-1).edits[0].changeset, { tag: Object.fromEntries(names.map((name) => [name, { old: "red", new: "blue" }])) });
  await store.close();
});

test("records of another shape that break off go on at their cursor, and edits wait for the last of them", async () => {
  const { gateway, begin } = changing(), store = await begin();
  await store.sync();
  gateway.rules = withGroups("r2", [{ group: "color", fields: [field("color"), field("tone")] }]);
  for (const one of gateway.tags) one.tag.tone = "dark";
  let isBroken = true;
  gateway.answer = (request, resources, after) => {
    if (resources !== "tags") return false;
    const head = { snapshot: { feed: "f", revision: 9, rules: "r2", resources: ["tags"], records: 3 } }, [one, ...rest] = gateway.tags.map((record) => ({ resource: "tags", id: record.id, record }));
    const lines = after ? [head, ...rest.slice(0, 1), { end: { records: 1 } }] : [head, one, { cursor: "c" }];
    if (after && isBroken) request.fail();
    else request.answer(200, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
    return true;
  };
  await store.sync();
  await store.edit("tags", 2, (tag) => { tag.tag.color = "blue"; });
  assert.deepEqual((await store.record("tags", 3)).tag, { name: "t3", rank: 5, color: "red" });
  await store.sync();
  assert.equal(gateway.pushed.length, 0);
  isBroken = false;
  await store.sync();
  assert.deepEqual(gateway.asked.filter(([resources]) => resources === "tags").map(([, after]) => after), [null, "c", "c"]);
  assert.deepEqual(gateway.pushed.at(-1).edits[0].changeset, { tag: { color: { old: { color: "red", tone: "dark" }, new: { color: "blue", tone: "dark" } } } });
  assert.equal(await store.record("tags", 3), null, "a record that the snapshot does not contain is gone");
  assert.equal(store.status.revision, 5, "the place in the changes stays");
  await store.close();
});

test("a field that a base lacks is unknown: it is neither read nor sent as null", async () => {
  const { gateway, begin } = changing(), store = await begin();
  delete gateway.tags[0].tag.color;
  await store.sync();
  assert.equal((await store.record("tags", 1)).tag.color, undefined);
  await store.edit("tags", 1, (tag) => { tag.tag.name = "x"; });
  await store.delete("tags", 1);
  await store.sync();
  assert.deepEqual(gateway.pushed.map(({ edits }) => edits[0].changeset), [{ tag: { old: { name: "t1", rank: 5 }, new: null } }]);
  await store.close();
});

test("of a resource that is not kept, records with edits are read again when its shape changes", async () => {
  const { gateway, server, begin } = changing(), store = await begin({ resources: ["boxes"] });
  server.handle("/v1/records/tags/1", (request) => request.answer(200, gateway.tags[0]));
  await store.sync();
  await store.record("tags", 1);
  gateway.rules = withGroups("r2", [{ group: "color", fields: [field("color"), field("tone")] }]);
  await store.edit("tags", 1, (tag) => { tag.tag.color = "blue"; });
  gateway.tags[0].tag.tone = "dark";
  await store.sync();
  assert.deepEqual(gateway.pushed.at(-1).edits[0].changeset, { tag: { color: { old: { color: "red", tone: "dark" }, new: { color: "blue", tone: "dark" } } } });
  assert.deepEqual(gateway.asked, [["boxes", null]]);
  await store.close();
});

test("records of rules that were past before they were read are read again", async () => {
  const { gateway, server, begin } = changing(), store = await begin();
  await store.sync();
  let isFirst = true;
  const again = withGroups("r3", [{ group: "color", fields: [field("color")] }]);
  gateway.rules = { ...again, resources: again.resources.map((one) => (one.resource === "tags" ? { ...one, shape: "r1" } : one)) };
  server.handle("/v1/changes", (request) => {
    if (isFirst) request.answer(200, { feed: "f", revision: 6, more: false, rules: "r2", changes: [{ revision: 6, resource: "tags", id: 1, record: { id: 1, tag: { name: "t1", rank: 5 } }, by: null }] });
    else request.answer(200, { feed: "f", revision: 6, more: false, rules: "r3", changes: [] });
    isFirst = false;
  });
  await store.sync();
  assert.equal((await store.record("tags", 1)).tag.color, "red");
  await store.close();
});
