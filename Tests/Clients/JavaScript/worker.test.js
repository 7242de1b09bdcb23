import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { withoutComments } from "./size.js";

const folder = new URL("../../../Sources/clients/javascript/", import.meta.url);
const read = (name) => readFileSync(new URL(name, folder), "utf8");

/** Modules that a service worker does not need: files, tests, and snapshots to begin with. */
const others = ["file.js", "lock.js", "memory.js", "snapshot.js", "testing.js"];

test("the entry for service workers contains every module that would be loaded later", () => {
  const known = new Set(), follow = (name) => {
    if (known.has(name)) return;
    known.add(name);
    for (const [, next] of read(name).matchAll(/^(?:import|export) .*from "\.\/([^"]+)";$/gm)) follow(next);
  };
  follow("fieldmerge-worker.js");
  for (const name of readdirSync(folder).filter((one) => one.endsWith(".js") && !others.includes(one))) assert.ok(known.has(name), name);
  const own = [...read("fieldmerge-worker.js").matchAll(/^import \* as \w+ from "\.\/(.+)\.js";$/gm)].map(([, name]) => name);
  for (const name of known) for (const [, later] of withoutComments(read(name)).matchAll(/\bimport\("\.\/(\w+)\.js"\)/g)) {
    assert.ok(own.includes(later) || later === "drafts" || others.includes(`${later}.js`), `${name} loads ${later}`);
  }
});

test("the service worker of the sample shop finds the modules that each module imports, and nothing else", () => {
  const text = readFileSync(new URL("../../../Samples/shop-web/worker.js", import.meta.url), "utf8");
  const imports = new Function(`${/^function imports[^]*?^}/m.exec(text)[0]} return imports;`)();
  assert.deepEqual(imports('export function half(path) {\n  return path.split(".");\n}', "https://a.test/b.js").flat(), []);
  const names = readdirSync(folder);
  for (const name of names.filter((one) => one.endsWith(".js"))) {
    for (const address of imports(read(name), "https://a.test/client/module.js").flat()) assert.ok(names.includes(String(address).split("/").at(-1)), `${name}: ${address}`);
  }
});

test("names of these modules mean one thing", async () => {
  const found = new Map();
  for (const [, name] of read("fieldmerge-worker.js").matchAll(/^import \* as \w+ from "\.\/(.+)";$/gm)) {
    for (const [word, value] of Object.entries(await import(new URL(name, folder)))) {
      assert.ok(!found.has(word) || found.get(word) === value, `${name}: ${word}`);
      found.set(word, value);
    }
  }
});

test("the entry exports the same as the library", async () => {
  const [worker, library] = await Promise.all(["fieldmerge-worker.js", "fieldmerge.js"].map((name) => import(new URL(name, folder))));
  assert.deepEqual({ ...worker }, { ...library });
});

test("the package names an entry for each platform, and nothing of Node for a browser", () => {
  const { exports, browser } = JSON.parse(read("package.json"));
  assert.deepEqual(Object.keys(exports["."]), ["types", "browser", "node", "default"]);
  for (const one of Object.values(exports).flatMap((conditions) => Object.values(conditions))) assert.ok(read(one.slice(2)).length);
  for (const name of readdirSync(folder).filter((one) => one.endsWith(".js") && one !== "testing.js")) {
    for (const [, from] of read(name).matchAll(/(?:from|import\() ?"(node:[^"]+)"/g)) assert.ok(browser[`./${name}`] === false || browser[from] === false, `${name}: ${from}`);
  }
});
