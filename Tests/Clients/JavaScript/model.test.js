import { readFileSync } from "node:fs";
import { test } from "node:test";
import { Run } from "./model.js";

const shared = JSON.parse(readFileSync(new URL("../Cases/model.json", import.meta.url)));

for (const one of shared.cases) test(`${one.name} (${one.rule})`, () => new Run(shared, one).run());
