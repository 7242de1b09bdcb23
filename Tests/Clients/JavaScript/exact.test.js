import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { open } from "../../../Sources/clients/javascript/fieldmerge.js";
import { withoutTime } from "../../../Sources/clients/javascript/decisions.js";
import { parse, stringify } from "../../../Sources/clients/javascript/json.js";
import { ScriptedServer, TestClock } from "../../../Sources/clients/javascript/testing.js";
import { copy, same } from "../../../Sources/clients/javascript/values.js";
import { folder } from "./gateway.js";

const rules = {
  version: "v1", limits: { body: 1000000, edits: 100, items: 1000, page: 500 }, resources: [{ resource: "notes", shape: "s", sections: [{
    section: "note", kind: "root", key: [{ column: "id", type: "integer", generated: true }], readOnly: [{ field: "seen", type: "double", nullable: true }],
    groups: [{ group: "settings", fields: [{ field: "settings", type: "json", nullable: true }] }, { group: "count", fields: [{ field: "count", type: "integer", nullable: true }] }, { group: "ratio", fields: [{ field: "ratio", type: "double", nullable: true }] }],
  }] }],
};

const settings = '{"owner":9007199254740993,"limits":[-18446744073709551616,1e400,0.1234567890123456789,9007199254740992,1e+300],"color":"blue 9007199254740993"}';
const red = settings.replace("blue 9007199254740993", "red");

/** A store with one record, whose numbers JavaScript would round. */
async function noted(options) {
  const record = (text, ratio = 1) => `{"id":1,"note":{"settings":${text},"count":1,"ratio":${ratio}}}`, server = new ScriptedServer({ rules });
  server.handle("/v1/snapshot", (request) => request.answer(200, `{"snapshot":{"feed":"f","revision":1,"rules":"v1","resources":["notes"],"records":1}}\n{"resource":"notes","id":1,"record":${record(settings)}}\n{"end":{"records":1}}\n`));
  server.handle("/v1/changes", (request) => request.answer(200, { feed: "f", revision: 1, more: false, rules: "v1", changes: [] }));
  const store = await open({ server: server.url, user: "u", path: ":memory:", fetch: server.fetch, clock: new TestClock(), ...options });
  if (store.status.revision === null) await store.sync();
  /** Answers the push that is sent with a merge, after which the record has these values. */
  const merge = async (...values) => {
    const synced = store.sync(), request = await server.request(), { key } = request.json.pushes[0];
    request.answer(200, `{"feed":"f","revision":2,"more":false,"rules":"v1","changes":[],"results":[{"key":"${key}","status":"merged","code":200,"results":[{"resource":"notes","id":1,"status":"merged","ids":{},"outcomes":[],"record":${record(...values)}}]}]}`);
    await synced;
    return request.text;
  };
  return { server, store, merge };
}

test("a number keeps its digits in JSON, and is a JavaScript number if that has the same value", () => {
  for (const text of ["0", "-1.5", "1.10", "1E2", "9007199254740991", "-9007199254740991", "1e+21", "1e+300", "5e-324"]) assert.equal(typeof parse(`[${text}]`)[0], "number", text);
  for (const text of ["9007199254740992", "9007199254740993", "-9007199254740993", "12345678901234567000", "18446744073709551616", "1152921504606846976"]) assert.equal(parse(`[${text}]`)[0], BigInt(text));
  for (const text of ["1e400", "-1e-400", "1.000000000000000005", "1234567890123456.75"]) assert.equal(String(parse(`[${text}]`)[0]), text);
  assert.equal(stringify(parse(settings)), settings);
  const strings = '{"9007199254740993":"9007199254740993","\\"1e400":["\\\\",12345678901234567890]}';
  assert.equal(stringify(parse(strings)), strings);
  assert.equal(stringify(copy(parse(settings))), settings);
  assert.equal(stringify({ a: undefined, b: 1n }), '{"b":1}');
  for (const wrong of ["[9007199254740993.]", "[1.2.3.4.5.6.7.8.9.10]", "[01234567890123456789]", "9007199254740993 9007199254740993", "[1e4000"]) assert.throws(() => parse(wrong), SyntaxError, wrong);
});

test("exact numbers are the same if their digits are", () => {
  assert.ok(same(parse(settings), parse(settings)));
  for (const [one, other] of [["9007199254740993", "9007199254740992"], ["1e400", "1e401"], ["1e400", '"1e400"'], ["0.1234567890123456789", "0.1234567890123456788"]]) assert.ok(!same(parse(`[${one}]`), parse(`[${other}]`)), one);
});

test("a column of doubles has JavaScript numbers", async () => {
  const { store, merge } = await noted();
  await store.edit("notes", 1, (record) => { record.note.ratio = 12345678901234567000; });
  await merge(settings, "12345678901234567000");
  assert.equal((await store.record("notes", 1)).note.ratio, 12345678901234567000);
  await store.edit("notes", 1, (record) => { record.note.ratio = 12345678901234567000; });
  assert.equal(store.status.unsent, 0);
  await store.close();
});

test("doubles of read-only fields, of a conflict and of a first snapshot are JavaScript numbers", async () => {
  const large = "12345678901234567000", line = `{"id":1,"note":{"settings":null,"count":1,"ratio":${large},"seen":${large}}}`, file = join(folder(), "notes.ndjson");
  writeFileSync(file, `{"snapshot":{"feed":"f","revision":1,"rules":"v1","resources":["notes"],"records":1}}\n{"resource":"notes","id":1,"record":${line}}\n{"end":{"records":1}}\n`);
  const { server, store } = await noted({ snapshot: file });
  await store.sync();
  const { note } = await store.record("notes", 1);
  assert.deepEqual([note.ratio, note.seen], [Number(large), Number(large)]);
  await store.edit("notes", 1, (record) => { record.note.ratio = 2; });
  const synced = store.sync(), request = await server.request(), [{ key }] = request.json.pushes, outcome = `{"section":"note","group":"ratio","outcome":"applied","conflict":true,"old":${large},"current":${large},"new":2,"written":2}`;
  request.answer(200, `{"feed":"f","revision":2,"more":false,"rules":"v1","changes":[],"results":[{"key":"${key}","status":"merged","code":200,"results":[{"resource":"notes","id":1,"status":"merged","ids":{},"outcomes":[${outcome}],"record":${line}}]}]}`);
  await synced;
  const [{ old, current, written }] = await store.conflicts();
  assert.deepEqual([old, current, written, (await store.record("notes", 1)).note.seen], [Number(large), Number(large), 2, Number(large)]);
  await store.close();
});

test("an edit of another member sends and stores the digits of a JSON column", async () => {
  const { store, merge } = await noted(), seen = [];
  assert.equal((await store.record("notes", 1)).note.settings.owner, 9007199254740993n);
  const end = store.observe("notes", 1, (record) => seen.push(record.note.settings.color));
  await store.edit("notes", 1, (record) => { record.note.settings.color = "red"; });
  await store.transaction(async (t) => {
    await t.edit("notes", 1, (record) => { record.note.count = 2; });
    assert.equal((await t.record("notes", 1)).note.settings.owner, 9007199254740993n);
  });
  const [{ edits }] = await store.unsent();
  assert.equal(stringify(edits[0].changeset), `{"note":{"settings":{"old":${settings},"new":${red}},"count":{"old":1,"new":2}}}`);
  const text = await merge(red);
  assert.ok(text.includes(`"settings":{"old":${settings},"new":${red}}`), text);
  assert.equal(stringify((await store.record("notes", 1)).note.settings), red);
  end();
  assert.equal(seen.at(-1), "red");
  await store.close();
});

test("a form keeps the digits of a JSON column", async () => {
  const { store } = await noted(), form = await store.draft("notes", 1);
  form.record.note.settings.color = "red";
  await form.save();
  assert.equal(stringify((await store.record("notes", 1)).note.settings), red);
  await store.close();
});

test("an integer of a JSON column that was changed in its last digit is another value", async () => {
  const { store, merge } = await noted();
  await store.edit("notes", 1, (record) => { record.note.settings.owner += 1n; });
  const text = await merge(settings.replace("9007199254740993", "9007199254740994"));
  assert.match(text, /"new":\{"owner":9007199254740994,/);
  await store.edit("notes", 1, (record) => { record.note.settings.owner = 9007199254740994n; });
  assert.equal(store.status.unsent, 0);
  await store.close();
});

test("a store in a file keeps the digits of a JSON column", async () => {
  const path = join(folder(), "store"), first = await noted({ path });
  await first.store.edit("notes", 1, (record) => { record.note.settings.color = "red"; });
  await first.store.close();
  const { store } = await noted({ path });
  assert.equal(stringify((await store.record("notes", 1)).note.settings), red);
  await store.close();
});

test("a JSON column refuses NaN and undefined, and other columns refuse BigInt", async () => {
  const { store } = await noted();
  for (const value of [NaN, Infinity, undefined]) await assert.rejects(store.edit("notes", 1, (record) => { record.note.settings.limits = [value]; }), { code: "invalid-value", path: "note.settings" });
  await assert.rejects(store.edit("notes", 1, (record) => { record.note.count = 2n; }), { code: "invalid-value", path: "note.count" });
  await store.close();
});

test("a rounded integer of an earlier version, and an object that is no number, are refused", async () => {
  const { store } = await noted();
  for (const value of [9007199254740992, { a: [-12345678901234567000] }, new String("abc"), [new String("1 2")]]) {
    await assert.rejects(store.edit("notes", 1, (note) => { note.note.settings = value; }), { code: "invalid-value" });
  }
  await store.edit("notes", 1, (note) => { note.note.settings = [9007199254740992n, 1e300, 1e21, new String("1e400")]; });
});

test("the bytes of a push lose the time of its first request, and no value of that name", () => {
  const body = '{"key":"k","feed":"f","sent":"2026-01-01T00:00:00Z","rules":"r","edits":[{"changeset":{"note":{"settings":{"old":{"sent":"a","b":1},"new":{"sent":"x","b":1}}}}}]}';
  assert.equal(withoutTime(body), body.replace('"sent":"2026-01-01T00:00:00Z",', ""));
  assert.equal(withoutTime(withoutTime(body)), withoutTime(body));
});
