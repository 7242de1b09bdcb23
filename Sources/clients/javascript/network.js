import { LostAnswer } from "./errors.js";
import { bareAddress, isObject } from "./values.js";

/** Seconds after which an answer, or the next piece of one, is given up. */
const patience = 60, silence = 45;

/**
 * An answer, sorted by what it means for a client.
 *
 * @typedef {{kind: "ok" | "lost" | "retry" | "unauthorized" | "upgrade" | "resync" | "refused", status?: number,
 *   json?: any, problem?: any, retryAfter?: number, error?: unknown}} Answer
 */

/** The requests of one client to one gateway. */
export class Gateway {
  #options; #token; #asking;

  constructor(options) {
    this.#options = { fetch: globalThis.fetch?.bind(globalThis), ...options, server: bareAddress(options.server) };
  }

  /** Asks the app for a token; whoever asks meanwhile gets the same one. Null where the app has none. */
  renew() {
    const { token } = this.#options;
    return (this.#asking ??= (async () => {
      try {
        return (this.#token = (typeof token === "function" ? await token() : token) || null);
      } finally {
        this.#asking = null;
      }
    })());
  }

  /** Makes a request and hands its answer to a generator; one that says nothing for so many seconds is broken off. */
  async *#open(path, { method, body, accept = "application/json", signal, seconds }, read) {
    const { server, fetch, client, token: source, clock, device } = this.#options, controller = new AbortController(), abort = () => controller.abort();
    let timer;
    const heard = () => {
      clock.clearTimeout(timer);
      timer = clock.setTimeout(abort, seconds * 1000);
    };
    signal?.addEventListener("abort", abort);
    if (signal?.aborted) abort();
    heard();
    try {
      // An app without tokens is asked for none.
      const token = this.#asking ? await this.#asking : (this.#token ?? (source && (await this.renew())));
      const response = await fetch(server + path, {
        method, body, signal: controller.signal, cache: "no-store", credentials: "omit",
        headers: {
          Accept: accept, ...(body && { "Content-Type": "application/json" }), ...(token && { Authorization: `Bearer ${token}` }),
          ...(client && { "X-Client": client }), ...(device && { "X-Device-ID": device }),
        },
      });
      if (response.status === 401) this.#token = null;
      yield* read(response, heard);
    } catch (error) {
      throw error instanceof LostAnswer ? error : new LostAnswer({ kind: "lost", error });
    } finally {
      abort();
      clock.clearTimeout(timer);
      signal?.removeEventListener("abort", abort);
    }
  }

  /**
   * Asks for JSON. Never throws: what is no answer of the gateway's is `lost`.
   *
   * @returns {Promise<Answer>}
   */
  async ask(path, options) {
    try {
      for await (const answer of this.#open(path, { seconds: patience, ...options }, async function* (response) { yield sorted(response); })) return answer;
    } catch (error) {
      return error.answer;
    }
  }

  /**
   * Asks for JSON of a certain form.
   *
   * @throws {LostAnswer} where the answer is another.
   */
  async get(path, isGood, signal) {
    const answer = await this.ask(path, { signal });
    if (answer.kind !== "ok" || !isGood(answer.json)) throw new LostAnswer(answer);
    return answer.json;
  }

  /**
   * Reads all records of a resource.
   *
   * @yields {any[]} a page of them
   * @throws {LostAnswer} where there is none
   */
  async *pages(resource, signal) {
    for (let after = ""; after !== null;) {
      const { records, next = null } = await this.get(`/v1/records/${encodeURIComponent(resource)}?limit=500${after && `&after=${after}`}`, (json) => Array.isArray(json.records), signal);
      yield records;
      after = next;
    }
  }

  /**
   * Reads lines of JSON as they come, or the data of events; before these, an empty object says that they are heard.
   *
   * @yields {any} one value for each line
   * @throws {LostAnswer} with the answer, where it is none or breaks off
   */
  lines(path, signal, prefix = "") {
    return this.#open(path, { signal, seconds: silence, accept: prefix ? "text/event-stream" : "application/x-ndjson, application/problem+json" }, async function* (response, heard) {
      if (response.status !== 200 || (prefix && !/event-stream/.test(response.headers.get("content-type")))) throw new LostAnswer(await sorted(response));
      if (prefix) yield {};
      const reader = response.body.getReader(), decoder = new TextDecoder();
      for (let rest = "", isDone = false; !isDone;) {
        const { done, value } = await reader.read();
        heard();
        const lines = (rest + decoder.decode(value, { stream: !done })).split("\n");
        rest = lines.pop();
        for (const line of lines) if (line.trim() && line.startsWith(prefix)) yield JSON.parse(line.slice(prefix.length));
        if (done && rest) throw new Error("The answer broke off.");
        isDone = done;
      }
    });
  }
}

/** @returns {Promise<Answer>} */
async function sorted(response) {
  const { status } = response, text = await response.text(), told = response.headers.get("retry-after");
  let json;
  try { json = JSON.parse(text); } catch { /* no answer of the gateway's */ }
  const problem = isObject(json) && json.code && json.type ? json : undefined;
  const retryAfter = told === null ? problem?.retryAfter : /^\d+$/.test(told) ? Number(told) : Math.max(0, (Date.parse(told) - Date.now()) / 1000) || undefined;
  const kind = (status === 200 || status === 207) && isObject(json) ? "ok"
    : status === 401 ? "unauthorized"
      : { 426: "upgrade", 410: "resync" }[problem && status]
        ?? ([429, 503, 504].includes(status) || problem?.retry === true ? "retry"
          : problem && [400, 403, 404, 409, 413, 415, 422].includes(status) ? "refused" : "lost");
  return { kind, status, json, problem, retryAfter };
}
