import { readdirSync, readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";

const folder = new URL("../../Sources/clients/javascript/", import.meta.url);

/** A module without its comments and the blanks before its lines. */
export function bareModule(text) {
  return text.replace(/\/\*\*[\s\S]*?\*\//g, "").replace(/^\s*\/\/.*$/gm, "").replace(/ \/\/ [^"`]*$/gm, "").replace(/^\s+/gm, "");
}

/** Bytes, packed, of all that a browser loads; without comments. */
export function size() {
  const names = readdirSync(folder).filter((name) => name.endsWith(".js") && !["file.js", "testing.js"].includes(name));
  return { together: gzipSync(names.map((name) => bareModule(readFileSync(new URL(name, folder), "utf8"))).join(""), { level: 9 }).length,
    each: Object.fromEntries(names.map((name) => [name, gzipSync(bareModule(readFileSync(new URL(name, folder), "utf8")), { level: 9 }).length])) };
}
