import { readFileSync } from "node:fs";
import { test } from "node:test";
import { Run } from "./model.js";

const read = (name) => JSON.parse(readFileSync(new URL(`../ClientCases/${name}`, import.meta.url), "utf8"));
const { rules } = read("model.json"), told = { ...read("keep.json"), rules };

for (const one of told.cases) test(`${one.rule}: ${one.name}`, () => new Run(told, one).run());
