import { FieldMergeError } from "./errors.js";
import { parse } from "./json.js";

/** Fills an empty store from the snapshot in the options of `open`. */
export async function fill(local, { snapshot, fetch = globalThis.fetch }) {
  const lines = await linesOf(String(snapshot), fetch), head = lines.find((line) => line.snapshot)?.snapshot;
  if (!head || !lines.some((line) => line.end)) throw new FieldMergeError("damaged", "The snapshot is not whole.");
  const records = lines.filter((line) => line.record !== undefined), { feed, revision, rules } = head;
  while (records.length) await local.write(async (work) => { for (const told of records.splice(0, 500)) await work.putBase(told, told.record); });
  await local.note({ feed, revision, filled: rules, filter: undefined, isDue: local.meta.keep !== undefined });
}

/** The lines of a snapshot at an address or, in Node, in a file; also compressed with gzip. */
async function linesOf(address, fetch) {
  let bytes;
  if (globalThis.process?.versions?.node && !/^https?:/.test(address)) bytes = await (await import("node:fs/promises")).readFile(address.startsWith("file:") ? new URL(address) : address);
  else {
    const response = await fetch(address);
    if (!response.ok) throw new FieldMergeError("no-snapshot", `The snapshot cannot be read: ${response.status}.`);
    bytes = new Uint8Array(await response.arrayBuffer());
  }
  let { body } = new Response(bytes);
  if (bytes[0] === 31 && bytes[1] === 139) body = body.pipeThrough(new DecompressionStream("gzip"));
  return (await new Response(body).text()).split("\n").filter(Boolean).map((line) => parse(line));
}
