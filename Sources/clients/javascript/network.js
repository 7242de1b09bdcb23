import { lost } from "./errors.js";
import { parse } from "./json.js";
import { bareAddress } from "./values.js";
import { within } from "./waits.js";

/** The timeout in milliseconds for an answer, or for its next part. */
const patience = 60000;

/** Milliseconds that the app has to get a token. */
const tokenPatience = 30000;

/** Statuses that refuse a push, unless a problem has another meaning. */
export const refusals = [400, 403, 404, 409, 413, 415, 422];

/** The text of a body, with gzip if it is not short. */
async function packed(text) {
  if (!(text?.length > 1000) || !globalThis.CompressionStream) return text;
  return new Response(new Blob([text]).stream().pipeThrough(new CompressionStream("gzip"))).arrayBuffer();
}

/** Reads the text of an answer as it arrives. */
export async function* texts(response, heard) {
  const reader = response.body?.getReader(), decoder = new TextDecoder();
  for (let isDone = !reader; !isDone;) {
    const { done, value } = await reader.read();
    heard();
    yield decoder.decode(value, { stream: !done });
    isDone = done;
  }
}

/** The values that are not undefined. */
export const given = (values) => JSON.parse(JSON.stringify(values));

/**
 * An answer with its kind for a client.
 *
 * @typedef {{kind: "ok" | "lost" | "retry" | "unauthorized" | "upgrade" | "resync" | "refused", status?: number,
 *   json?: any, problem?: any, retryAfter?: number, error?: unknown}} Answer
 */

/** The requests of one client to one gateway. */
export function gatewayOf({ server, fetch = globalThis.fetch, token: source, client, local, clock }) {
  let token, asking;

  /** Requests a token from the app; concurrent calls get the same token. Undefined if the app has none. */
  const renew = () => (asking ??= renewed().finally(() => { asking = null; }));

  async function renewed() {
    const getting = Promise.resolve().then(() => (typeof source === "function" ? source() : source)).then((found) => ({ found }));
    const told = await within(getting, { deadline: tokenPatience }, clock);
    if (!told) throw new Error("No token in 30 s.");
    return (token = told.found || undefined);
  }

  /**
   * Makes a request and reads its answer. It is aborted after a minute without a byte; before the first byte, after a minute
   * and a second for each 1,000 sent bytes.
   */
  async function request(path, { method, body, accept, signal }, read) {
    const controller = new AbortController(), abort = () => controller.abort();
    let timer;
    const heard = (bytes = 0) => {
      clock.clearTimeout(timer);
      timer = clock.setTimeout(abort, patience + bytes);
    };
    signal?.addEventListener("abort", abort, { signal: controller.signal });
    if (signal?.aborted) abort();
    heard();
    try {
      // An app without tokens needs no new token.
      const known = asking ? await asking : (token ?? (source && (await renew())));
      const sent = await packed(body), { device, who, offset } = { ...local.meta, ...local.told };
      heard(sent?.byteLength ?? sent?.length);
      const response = await fetch(bareAddress(server) + path, {
        method, body: sent, signal: controller.signal, cache: "no-store", credentials: "omit",
        headers: given({
          Accept: accept || undefined, "Content-Type": body && "application/json", "Content-Encoding": sent === body ? undefined : "gzip",
          Authorization: known && `Bearer ${known}`, "X-Client": client, "X-Device-ID": device, "X-Who": who,
        }),
      });
      heard();
      // A `Date` is cut to seconds, so the gateway's time can be one second later. `sent` must not be too early.
      const latest = Date.parse(response.headers.get("date")) + 1000 - clock.now();
      if (/json/.test(response.headers.get("content-type")) && (latest > offset || latest < offset - 1000)) local.told = { ...local.told, offset: latest };
      // The user of the first answer; the gateway refuses a token of another user.
      const named = response.headers.get("x-who");
      if (named && who === undefined) local.told = { ...local.told, who: named };
      if (response.status === 401) token = null;
      return await read(response, heard);
    } catch (error) {
      throw error?.answer ? error : lost({ error });
    } finally {
      abort();
      clock.clearTimeout(timer);
    }
  }

  /**
   * Requests JSON. Never throws: an answer that is not the gateway's is `lost`.
   *
   * @returns {Promise<Answer>}
   */
  const ask = (path, options) => request(path, options, sorted).catch((error) => error.answer);

  /**
   * Asks for JSON of a certain form.
   *
   * @throws {FieldMergeError} with any other answer.
   */
  async function get(path, isGood, signal) {
    const answer = await ask(path, { signal });
    if (answer.kind !== "ok" || !isGood(answer.json)) throw lost(answer);
    return answer.json;
  }

  return { renew, request, ask, get };
}

/** @returns {Promise<Answer>} */
export async function sorted(response, heard) {
  const { status } = response, told = response.headers.get("retry-after");
  let json, text = "";
  for await (const part of texts(response, heard)) text += part;
  try { json = parse(text); } catch { /* no answer of the gateway's */ }
  const problem = json?.code && json.type ? json : undefined;
  const retryAfter = told === null ? problem?.retryAfter : Number(told) || (Date.parse(told) - Date.now()) / 1000 || undefined;
  const kind = [200, 207].includes(status) && json ? "ok"
    : { 401: "unauthorized", 410: problem && "resync", 426: problem && "upgrade" }[status]
      ?? ([429, 503, 504].includes(status) || problem?.retry === true ? "retry" : problem && refusals.includes(status) ? "refused" : "lost");
  return { kind, status, json, problem, retryAfter };
}
