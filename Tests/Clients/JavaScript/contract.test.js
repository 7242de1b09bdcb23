import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { ofTheRequest, refusesPushes } from "../../../Sources/clients/javascript/decisions.js";

const { problems } = JSON.parse(readFileSync(new URL("../Cases/contract.json", import.meta.url)));
const codesOf = (action) => problems.filter(({ client }) => client === action).map(({ code }) => code);

test("problems of the request refuse no push", () => {
  assert.deepEqual([...ofTheRequest].sort(), codesOf("wait").sort());
  for (const code of codesOf("wait")) assert.equal(refusesPushes({ status: 400, problem: { code } }), false, code);
});

test("a whole request that is refused refuses its pushes", () => {
  for (const { code, status } of problems.filter(({ client, status }) => client === "refuse" && [400, 403, 413].includes(status))) {
    assert.equal(refusesPushes({ status, problem: { code } }), true, code);
  }
});
