import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startGateway } from "../../Sources/clients/javascript/testing.js";

const root = new URL("../../", import.meta.url).pathname;
/** The program that tests run: that of the debug build, unless FIELDMERGE_PROGRAM names another. */
export const program = process.env.FIELDMERGE_PROGRAM ?? join(root, ".build/debug/fieldmerge");
export const shopSQL = readFileSync(join(root, "Samples/shop/sqlite.sql"), "utf8");

/** A folder that is the test's own. */
export const folder = () => mkdtempSync(join(tmpdir(), "fieldmerge-js-"));

/** Starts a gateway on a fresh sample shop. */
export function startShop({ options = [], sql = shopSQL, rules = join(root, "MergeRules") } = {}) {
  return startGateway({ program, rules, database: join(folder(), "shop.sqlite"), sql, options });
}
