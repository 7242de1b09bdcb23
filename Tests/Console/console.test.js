// The parts of the console without a page: node --test Tests/Console/console.test.js

import assert from "node:assert/strict";
import { test } from "node:test";

import { memberRows, wordDiff } from "../../Sources/console/diff.js";
import { equal, Exact, parse, stringify } from "../../Sources/console/json.js";
import * as model from "../../Sources/console/model.js";

test("JSON keeps numbers that JavaScript would round", () => {
  for (const text of ["9007199254740993", "1.10", "1e3", "-0", "0.1000000000000000055", "12345678901234567890.5"]) {
    assert.ok(parse(text) instanceof Exact, text);
    assert.equal(stringify(parse(`{"a":[${text}]}`)), `{"a":[${text}]}`);
  }
  assert.equal(parse("42"), 42);
});

test("JSON is read like JSON.parse reads it", () => {
  for (const text of ['{"a":{"b":[1,true,false,null,"x\\u00e9\\n"]}}', "[]", "{}", ' [ 1 , 2 ] ', '"é"', '{"__proto__":1,"constructor":2}']) {
    assert.equal(stringify(parse(text)), JSON.stringify(JSON.parse(text)));
    assert.equal(stringify(parse(text), 2), JSON.stringify(JSON.parse(text), null, 2));
  }
  for (const text of ["", "{", "[1,]", '{"a":1,}', "01", "1.", "+1", "'a'", "nul", '"a\nb"', "[1] 2", '{"a" 1}', "{a:1}", "-"]) {
    assert.throws(() => parse(text), SyntaxError, text);
  }
});

test("Equality ignores the order of members, and no difference of numbers", () => {
  assert.ok(equal(parse('{"a":1,"b":[2]}'), parse('{"b":[2],"a":1}')));
  assert.ok(!equal(parse("9007199254740993"), parse("9007199254740992")));
  assert.ok(equal(parse("9007199254740993"), parse("9007199254740993")));
  assert.ok(!equal(parse("9007199254740993"), "9007199254740993"));
  assert.ok(!equal(parse('{"a":null}'), parse('{"b":null}')));
  assert.ok(!equal([1], { 0: 1 }));
});

const sides = (parts) => [
  parts.filter(({ kind }) => kind !== "added").map(({ text }) => text).join(""),
  parts.filter(({ kind }) => kind !== "removed").map(({ text }) => text).join(""),
];

test("A difference of texts contains both texts", () => {
  const texts = ["", "a", "Ring twice.\nThe bell is weak.", "Ring twice, then wait.\nThe bell is broken.", "über Straße 12", "  a  b ", "a b a b", "b a b a"];
  for (const before of texts) for (const after of texts) assert.deepEqual(sides(wordDiff(before, after)), [before, after]);
});

test("A difference of texts marks whole words", () => {
  assert.deepEqual(wordDiff("Ring the bell.", "Ring a bell."), [
    { kind: "same", text: "Ring " }, { kind: "removed", text: "the" }, { kind: "added", text: "a" }, { kind: "same", text: " bell." }]);
  assert.deepEqual(wordDiff("same", "same"), [{ kind: "same", text: "same" }]);
});

test("Long texts without common words are compared quickly", () => {
  const one = Array.from({ length: 3000 }, (_, index) => `a${index}`).join(" "), other = one.replaceAll("a", "b");
  assert.deepEqual(sides(wordDiff(one, other)), [one, other]);
});

test("Documents are compared by member", () => {
  const rows = memberRows({ a: { x: 1, y: 2 }, b: [1], c: 1 }, { a: { x: 1, y: 3 }, b: [1, 2], d: null });
  assert.deepEqual(rows.map(({ path, values }) => [path.join("."), ...values]), [["a.y", 2, 3], ["b", [1], [1, 2]], ["c", 1, undefined], ["d", undefined, null]]);
  assert.deepEqual(memberRows("a", "a", "a"), []);
  assert.deepEqual(memberRows({ a: 1 }, "text").map(({ path }) => path), [[]]);
});

test("An address keeps page, parts and filters", () => {
  for (const [page, parts, query] of [["conflicts", [], { resource: "orders", outcome: "client-won" }], ["record", ["orders", "A/1,ü?#%"], {}], ["refused", ["12"], { who: "a b&c=d" }]]) {
    assert.deepEqual(model.readAddress(model.address(page, parts, query)), { page, parts, query });
  }
  assert.deepEqual(model.readAddress(""), { page: "overview", parts: [], query: {} });
  assert.deepEqual(model.readAddress("#/record/%E0%A4%A").parts, ["%E0%A4%A"]);
  assert.equal(model.search({ a: "", b: null, c: false, d: undefined, e: 0 }), "?e=0");
  assert.equal(model.idPath("A-1001,2"), "A-1001,2");
  assert.equal(model.idText(parse("[9007199254740993,2]")), "9007199254740993,2");
});

const entry = (number, who, outcomes, more = {}) => ({ number, who, device: null, status: "merged", outcomes, ...more });
const outcome = (more) => ({ section: "customer", group: "name", outcome: "applied", ...more });

test("The writer of a current value is the last entry that wrote it", () => {
  const met = outcome({ outcome: "client-won", current: "B", conflict: true });
  const older = [entry(5, "eve", [outcome({ group: "phone", written: "1" })]), entry(4, "dan", [outcome({ outcome: "server-won", written: "B" })]), entry(3, "ben", [outcome({ written: "B" })]), entry(2, "ann", [outcome({ written: "A" })])];
  assert.equal(model.writerOf(met, older).who, "ben");
  assert.equal(model.writerOf({ ...met, current: "other" }, older), null, "another program wrote since");
  assert.equal(model.writerOf(met, []), null);
  assert.equal(model.writerOf({ ...met, id: 7 }, older), null, "another row");
  assert.equal(model.writerOf(met, [entry(4, "eve", [outcome({ written: "B" })], { status: "failed" })]), null, "refused");
});

test("A sentence names both senders", () => {
  const met = outcome({ outcome: "client-won", old: "A", current: "B", new: "C", conflict: true });
  assert.equal(model.story(entry(3, "ben", [met], { device: "van" }), met, entry(2, "ann", [])), "ben (van) overwrote ann.");
  assert.equal(model.story(entry(3, "ben", [met]), met, entry(2, "foreign program", [])), "ben overwrote another program.");
  for (const kind of Object.keys(model.OUTCOMES)) assert.equal(typeof model.story(entry(1, "ben", []), outcome({ outcome: kind }), null), "string");
});

test("Refused pushes are grouped by reason, the largest group first", () => {
  const refused = (number, reason, title) => ({ number, refused: { reason }, problem: title && { title } });
  const groups = model.byReason([refused(1, "check", "One"), refused(2, "unique", "Two"), refused(3, "unique", "Two"), refused(4, "check", "Other"), refused(5, "unique", "Two"), refused(6, "unknown-group")]);
  assert.deepEqual(groups.map(({ reason, title, entries }) => [reason, title, entries.length]), [["unique", "Two", 3], ["check", "Check", 2], ["unknown-group", "Unknown group", 1]]);
});

test("The changes of a refused push are listed by field", () => {
  const edits = model.editsOf({ address: "/v1/merge/shoppers", body: { id: 1, changeset: {
    customer: { name: { old: "A", new: "B" } }, groceries: [{ id: 2, item: { old: { n: 1 }, new: { n: 2 } } }, { id: 3, old: { n: 1, m: 1 }, new: { n: 2, m: 1 } }, { id: "tmp:x", old: null, new: { n: 5 } }] } } });
  assert.equal(edits[0].resource, "shoppers");
  assert.deepEqual(model.changesOf(edits[0]).map(({ section, item, name, old, new: edited }) => [section, item, name, old, edited]), [
    ["customer", undefined, "name", "A", "B"], ["groceries", 2, "item", { n: 1 }, { n: 2 }], ["groceries", 3, "n", 1, 2], ["groceries", 3, "m", 1, 1], ["groceries", "tmp:x", "", null, { n: 5 }]]);
  assert.deepEqual(model.editsOf({ address: "/v1/push", body: { edits: [{ resource: "a" }, { resource: "b" }] } }).map(({ resource }) => resource), ["a", "b"]);
  assert.deepEqual(model.editsOf({ address: "/v1/push" }), []);
});

test("The changes of a record are listed by row and field", () => {
  const before = { id: 1, c: { a: "x", b: 1 }, l: [{ id: 1, n: 1 }, { id: 2, n: 2 }], d: null };
  const after = { id: 1, c: { a: "y", b: 1 }, l: [{ id: 2, n: 3 }, { id: 4, n: 4 }], d: { p: 1 } };
  assert.deepEqual(model.recordChanges(before, after).map(({ section, item, field }) => [section, item, field]), [
    ["c", undefined, "a"], ["l", 1, ""], ["l", 2, "n"], ["l", 4, ""], ["d", undefined, ""]]);
  assert.deepEqual(model.recordChanges(before, before), []);
  assert.equal(model.recordChanges(before, null).length, 1);
});

test("Minutes without entries are filled", () => {
  const minutes = model.fillMinutes({ now: "2026-11-27T12:21:42Z", minutes: [{ at: "2026-11-27T12:20:00Z", entries: 3, conflicts: 1, refused: 0 }] }, 3);
  assert.deepEqual(minutes.map(({ at, entries }) => [at.toISOString().slice(11, 16), entries]), [["12:19", 0], ["12:20", 3], ["12:21", 0]]);
});

test("Axes end at round numbers", () => {
  assert.deepEqual([0, 4, 5, 11, 50, 51, 999].map((value) => model.niceMaximum(value)), [4, 4, 5, 20, 50, 100, 1000]);
});

test("Figures are read from /metrics", () => {
  const metrics = model.readMetrics('# HELP a b\nfieldmerge_ready 1\nfieldmerge_request_seconds_sum{route="/v1/push"} 2.5\nfieldmerge_request_seconds_count{route="/v1/push"} 5\nfieldmerge_info{version="0.3.0",x="a\\"b"} 1\n');
  assert.deepEqual(model.pushTimes(metrics), { count: 5, seconds: 2.5 });
  assert.equal(metrics.find(({ name }) => name === "fieldmerge_info").labels.x, 'a"b');
});

test("Durations and sizes are words", () => {
  assert.deepEqual([0, 1, 61, 7200, 90000].map(model.duration), ["0 seconds", "1 second", "1 minute", "2 hours", "1 day"]);
  assert.deepEqual([0, 999, 1500, 143360, 2.5e9].map(model.bytes), ["0 bytes", "999 bytes", "1.5 kB", "143 kB", "2.5 GB"]);
  assert.equal(model.ago("2026-11-27T12:00:00Z", Date.parse("2026-11-27T12:03:00Z")), "3 minutes ago");
});
