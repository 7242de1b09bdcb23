import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach } from "node:test";
import { startGateway } from "../../../Sources/clients/javascript/testing.js";

const root = new URL("../../../", import.meta.url).pathname;
/** The program that tests run: that of the debug build, unless FIELDMERGE_PROGRAM names another. */
export const program = process.env.FIELDMERGE_PROGRAM ?? join(root, ".build/debug/fieldmerge");
export const shopSQL = readFileSync(join(root, "Samples/shop/sqlite.sql"), "utf8");

const folders = [];
const make = () => mkdtempSync(join(tmpdir(), "fieldmerge-js-"));
const remove = (folder) => rmSync(folder, { recursive: true, force: true });
afterEach(() => folders.splice(0).forEach(remove));

/** A new folder, which is deleted after the test. */
export function folder() {
  folders.push(make());
  return folders.at(-1);
}

/** Starts a gateway on a fresh sample shop, whose folder goes with it. */
export async function startShop({ options = [], sql = shopSQL, rules = join(root, "MergeRules") } = {}) {
  const own = make();
  try {
    const gateway = await startGateway({ program, rules, database: join(own, "shop.sqlite"), sql, options });
    const stop = async () => {
      await gateway.stop();
      remove(own);
    };
    return { ...gateway, stop };
  } catch (error) {
    remove(own);
    throw error;
  }
}

/** Starts a MariaDB server with the sample shop: `url` is for `--database`. */
export async function startMariaDB() {
  const server = spawn("python3", [join(root, "Tests/Clients/Cases/mariadb.py"), program, join(root, "MergeRules")], { stdio: ["pipe", "pipe", "inherit"] });
  const ended = new Promise((resolve) => server.once("exit", resolve));
  const url = await new Promise((resolve, reject) => {
    server.stdout.once("data", (text) => resolve(String(text).trim()));
    void ended.then((code) => reject(new Error(`The MariaDB server did not start: ${code}.`)));
  });
  return { url, stop: () => { server.stdin.end(); return ended; } };
}
