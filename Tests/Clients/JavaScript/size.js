import { readdirSync, readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";

const folder = new URL("../../../Sources/clients/javascript/", import.meta.url);
const read = (name) => readFileSync(new URL(name, folder), "utf8");

/** Characters before a regular expression, where a division is not possible. */
const beforePattern = /(^|[=(,:[!&|?{};+]|\breturn|=>)\s*$/;

/** A module without its comments. All other characters are unchanged. */
export function withoutComments(text) {
  let bare = "", at = 0;
  /** For each template that is open, how many braces are. */
  const templates = [];
  const take = (end) => { bare += text.slice(at, end); at = end; };
  const quoted = (quote) => {
    let end = at + 1;
    while (text[end] !== quote) end += text[end] === "\\" ? 2 : 1;
    take(end + 1);
  };
  const template = () => {
    let end = at + 1;
    while (text[end] !== "`" && text.slice(end, end + 2) !== "${") end += text[end] === "\\" ? 2 : 1;
    if (text[end] === "$") templates.push(0);
    take(text[end] === "$" ? end + 2 : end + 1);
  };
  const pattern = () => {
    let end = at + 1, isSet = false;
    for (; text[end] !== "/" || isSet; end++) {
      if (text[end] === "\\") end++;
      else if (text[end] === "[") isSet = true;
      else if (text[end] === "]") isSet = false;
    }
    take(end + 1);
  };
  while (at < text.length) {
    const letter = text[at], two = text.slice(at, at + 2);
    if (two === "//") at = text.indexOf("\n", at);
    else if (two === "/*") at = text.indexOf("*/", at) + 2;
    else if (letter === '"' || letter === "'") quoted(letter);
    else if (letter === "`") template();
    else if (letter === "}" && templates.at(-1) === 0) {
      templates.pop();
      template();
    } else if (letter === "/" && beforePattern.test(bare)) pattern();
    else {
      if (templates.length && letter === "{") templates[templates.length - 1] += 1;
      if (templates.length && letter === "}") templates[templates.length - 1] -= 1;
      take(at + 1);
    }
  }
  return bare;
}

/** The modules that a module imports before it runs, and itself. */
function closure(name, known = new Set()) {
  if (known.has(name)) return known;
  known.add(name);
  for (const [, next] of read(name).matchAll(/^(?:import|export) .*from "\.\/([^"]+)";$/gm)) closure(next, known);
  return known;
}

/** A module without its comments, and without lines that become empty. */
const code = (name) => withoutComments(read(name)).replace(/^ +\n/gm, "");

const packed = (text) => gzipSync(text, { level: 9 }).length;

/**
 * The sizes of the modules that a browser loads, compressed, without comments.
 *
 * `open` contains all modules for work without a network: the imports of `open`, with the storage that it loads. `sync`
 * contains these and the modules of the first request, `query` and `live` those of the first query and live query.
 * `later` are modules that most pages never need, or once.
 *
 * @returns {{open: number, sync: number, query: number, live: number, each: Record<string, number>, later: Record<string, number>}} bytes: of modules in
 *   one piece, and of each by itself
 */
export function size() {
  const open = closure("indexeddb.js", closure("fieldmerge.js")), sync = closure("exchange.js", new Set(open));
  const later = readdirSync(folder).filter((name) => name.endsWith(".js") && !sync.has(name) && !["fieldmerge-worker.js", "file.js", "lock.js", "testing.js"].includes(name));
  const query = closure("query.js"), live = closure("live.js");
  const without = (names, others) => [...names].filter((name) => !others.has(name));
  const together = (names) => packed([...names].map(code).join(""));
  const each = (names) => Object.fromEntries([...names].map((name) => [name, packed(code(name))]));
  return { open: together(open), sync: together(sync), query: together(without(query, open)), live: together(without(without(live, query), open)), each: each(sync), later: each(later) };
}
