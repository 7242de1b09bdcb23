import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import * as library from "../../../Sources/clients/javascript/fieldmerge.js";
import { size, withoutComments } from "./size.js";

const folder = new URL("../../../Sources/clients/javascript/", import.meta.url);
const modules = readdirSync(folder).filter((name) => name.endsWith(".js"));

/**
 * Compressed bytes without comments: the modules of `open`, with those of the first request, and those of the first
 * query and live query.
 */
const ceilings = { open: 20000, sync: 25500, query: 5000, live: 2000 };

test("the library is small", (context) => {
  const { each, later, ...loaded } = size();
  const sum = Object.values(each).reduce((all, one) => all + one, 0);
  context.diagnostic(`${loaded.open} bytes packed, without comments, for work without a network; ${loaded.sync} once there was one`);
  context.diagnostic(`${sum} of these where each module is packed by itself: ${JSON.stringify(each)}`);
  context.diagnostic(`loaded only where they are needed: ${JSON.stringify(later)}`);
  for (const [name, ceiling] of Object.entries(ceilings)) assert.ok(loaded[name] <= ceiling, `${name}: ${loaded[name]} bytes`);
});

test("comments are all that is not counted", () => {
  const text = 'const a = "/* no */"; // one\n/** two */ const b = /[/"]\\/\\*/g, c = `//${{ d: "}" }.d}//`; /* three */ const e = 6 / 2 / 1; // "four"\n';
  assert.equal(withoutComments(text), 'const a = "/* no */"; \n const b = /[/"]\\/\\*/g, c = `//${{ d: "}" }.d}//`;  const e = 6 / 2 / 1; \n');
});

test("the library has no dependencies except Node for files", () => {
  for (const name of modules) {
    const text = readFileSync(new URL(name, folder), "utf8");
    for (const [, from] of text.matchAll(/(?:from|import\() ?"([^"]+)"/g)) {
      assert.ok(from.startsWith("./") || (from.startsWith("node:") && (!["snapshot.js", "support.js"].includes(name) || from === "node:fs/promises")) || from.startsWith("/client/"), `${name}: ${from}`);
    }
    if (!["file.js", "lock.js", "testing.js"].includes(name)) assert.doesNotMatch(text, /^import .* from "node:/m, name);
  }
});

test("the types name the exports", () => {
  const types = readFileSync(new URL("fieldmerge.d.ts", folder), "utf8");
  for (const name of Object.keys(library)) assert.match(types, new RegExp(`export (class|function|const) ${name}\\b`));
  const body = types.slice(types.indexOf("class FieldMergeStore"));
  const own = ["prepare", "awaitOutcome", "outcomeOf", "reach", "constructor"];
  for (const name of Object.getOwnPropertyNames(library.FieldMergeStore.prototype)) if (!own.includes(name)) assert.match(body, new RegExp(`\\b${name}\\b`), name);
});

test("the gateway embeds every module, and the package names it", () => {
  const swift = readFileSync(new URL("ClientFiles.swift", folder), "utf8"), manifest = readFileSync(new URL("../../../Package.swift", import.meta.url), "utf8");
  for (const name of modules.filter((one) => !["file.js", "lock.js", "testing.js"].includes(one))) {
    assert.ok(swift.includes(`"${name}"`), name);
    assert.ok(manifest.includes(`.embedInCode("${name}")`), name);
  }
});
