import { lost } from "./errors.js";
import { parse } from "./json.js";
import { sorted, texts } from "./network.js";

/**
 * Reads lines of JSON as they arrive, or the data of events; before these, an empty object reports the connection.
 *
 * @param {(value: any) => any} each gets one value for each line
 * @throws {FieldMergeError} with the answer, if it is an error or incomplete
 */
export const lines = (gateway, path, signal, each, prefix = "") => gateway.request(path, { signal, accept: prefix && "text/event-stream" }, async (response, heard) => {
  if (response.status !== 200 || (prefix && !/event-stream/.test(response.headers.get("content-type")))) throw lost(await sorted(response, heard));
  if (prefix) each({});
  let rest = "";
  for await (const text of texts(response, heard)) {
    const lines = (rest + text).split("\n");
    rest = lines.pop();
    for (const line of lines) if (line.trim() && line.startsWith(prefix)) await each(parse(line.slice(prefix.length)));
  }
  if (rest) throw new Error("The answer broke off.");
});

/** Hears of changes: whether there is anything to get. */
export const news = (gateway, path, signal, heard) => lines(gateway, path, signal, ({ code, changes }) => heard(code === "resync" || !!changes?.length), "data:");
