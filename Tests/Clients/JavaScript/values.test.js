import assert from "node:assert/strict";
import { test } from "node:test";
import { FieldMergeError } from "../../../Sources/clients/javascript/fieldmerge.js";
import { checkValue, compareIDs, nearest, uuid } from "../../../Sources/clients/javascript/values.js";

/** Fields, with values that fit and values that do not. */
const fields = [
  [{ type: "text" }, ["", "é"], [5, true, {}]],
  [{ type: "text", maximumCharacters: 2 }, ["ab", "😀é"], ["abc"]],
  [{ type: "text", maximumBytes: 3 }, ["abc", "aé"], ["éé"]],
  [{ type: "integer", minimum: -128, maximum: "127" }, [0, -128, 127, "127", "5.0"], [128, "-129", 1.5, "5.5", "", "x", "+1", " 1"]],
  [{ type: "integer" }, ["9223372036854775807", "1.0", "0", "-0"], ["1e3", "007", "-01", NaN]],
  [{ type: "integer", references: "boxes" }, [5, "tmp:1"], ["x"]],
  [{ type: "decimal", precision: 5, scale: 2 }, ["123.45", 1.5, "-0.10", "123.4500", "0.5", "1e2"], ["1234.5", "007", "000123.45", ".5", "5.", "1.234", "1,5", "", Infinity]],
  [{ type: "double" }, [1.5, "1e-3"], ["one", NaN]],
  [{ type: "boolean" }, [true, false, 0, 1], [2, "true"]],
  [{ type: "enum", members: ["a", "b"] }, ["a"], ["c", "A", 1]],
  [{ type: "set", members: ["a", "b"] }, [[], ["b", "a"], "a,b", ""], [["c"], "a,c", [1]]],
  [{ type: "date" }, ["2024-02-29", "0000-00-00", "9999-12-31"], ["2023-02-29", "2024-13-01", "2024-00-10", "2024-4-1", "2024-04-31", 20240101]],
  [{ type: "datetime" }, ["2024-02-29T23:59:59", "2024-02-29 10:00:00.25", "0000-00-00T00:00:00"], ["2023-02-29T10:00:00", "2024-02-29T24:00:00", "2024-02-29", "2024-02-29T10:00:00Z"]],
  [{ type: "timestamp" }, ["2024-02-29T10:00:00Z", "2024-02-29T10:00:00+01:00"], ["2024-02-29T10:00:00", "2024-02-30T10:00:00Z"]],
  [{ type: "time" }, ["10:00:00", "-838:59:59", "1:00:00.5"], ["10:60:00", "10:00", "1000:00:00"]],
  [{ type: "binary" }, ["", "AAE="], ["AA", "*"]],
  [{ type: "json" }, [{ a: [1] }, "x", 1], [() => 1]],
  [{ type: "something new" }, ["x", 5], []],
];

test("values are checked against their columns", () => {
  for (const [field, good, bad] of fields) {
    for (const value of [...good, null]) assert.doesNotThrow(() => checkValue(value, field, "a.b"), `${JSON.stringify(field)} ${JSON.stringify(value)}`);
    for (const value of bad) {
      assert.throws(() => checkValue(value, field, "a.b"), (error) => error instanceof FieldMergeError && error.code === "invalid-value" && error.path === "a.b",
        `${JSON.stringify(field)} ${JSON.stringify(value)}`);
    }
    assert.throws(() => checkValue(null, { ...field, nullable: false }, "a.b"), { code: "invalid-value" });
  }
});

test("the most similar name is found, if there is one", () => {
  const names = ["firstName", "lastName", "street", "postCode"];
  assert.equal(nearest("fristName", names), "firstName");
  assert.equal(nearest("postcode", names), "postCode");
  assert.equal(nearest("stret", names), "street");
  assert.equal(nearest("telephone", names), undefined);
});

test("ids are in order: numbers by value before texts", () => {
  assert.deepEqual(["a", 10, 9, "10", "B"].sort(compareIDs), [9, 10, "10", "B", "a"]);
  assert.deepEqual([["b", 1], ["a", 10], ["a", 2]].sort(compareIDs), [["a", 2], ["a", 10], ["b", 1]]);
});

test("temporary ids are random UUIDs", () => {
  const made = Array.from({ length: 100 }, uuid);
  for (const one of made) assert.match(one, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  assert.equal(new Set(made).size, 100);
});
