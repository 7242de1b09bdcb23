import { lost } from "./errors.js";
import { sorted } from "./network.js";

/**
 * Reads lines of JSON as they come, or the data of events; before these, an empty object says that they are heard.
 *
 * @param {(value: any) => any} each gets one value for each line
 * @throws {FieldMergeError} with the answer, where it is none or breaks off
 */
export const lines = (gateway, path, signal, each, prefix = "") => gateway.request(path, { signal, accept: prefix && "text/event-stream" }, async (response, heard) => {
  if (response.status !== 200 || (prefix && !/event-stream/.test(response.headers.get("content-type")))) throw lost(await sorted(response));
  if (prefix) each({});
  const reader = response.body.getReader(), decoder = new TextDecoder();
  for (let rest = "", isDone = false; !isDone;) {
    const { done, value } = await reader.read();
    heard();
    const texts = (rest + decoder.decode(value, { stream: !done })).split("\n");
    rest = texts.pop();
    for (const text of texts) if (text.trim() && text.startsWith(prefix)) await each(JSON.parse(text.slice(prefix.length)));
    if (done && rest) throw new Error("The answer broke off.");
    isDone = done;
  }
});
