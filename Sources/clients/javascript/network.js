import { FieldMergeError } from "./errors.js";

/** Seconds after which an answer, or the next piece of one, is given up. */
const patience = 60, silence = 45;

/**
 * An answer, sorted by what it means for a client.
 *
 * @typedef {{kind: "ok" | "same" | "lost" | "retry" | "unauthorized" | "upgrade" | "resync" | "refused", status?: number,
 *   json?: any, etag?: string, problem?: any, retryAfter?: number, error?: unknown}} Answer
 */

/** The requests of one client to one gateway. */
export class Gateway {
  #server; #fetch; #client; #source; #clock;
  #token = null;
  #asking = null;
  device = null;

  constructor({ server, fetch, client, token, clock }) {
    this.#server = String(server).replace(/\/+$/, "");
    this.#fetch = fetch ?? globalThis.fetch.bind(globalThis);
    this.#client = client;
    this.#source = token;
    this.#clock = clock;
  }

  /** Asks the app for a token; whoever asks meanwhile gets the same one. Null where the app has none. */
  renew() {
    return (this.#asking ??= (async () => {
      try {
        return (this.#token = (typeof this.#source === "function" ? await this.#source() : this.#source) || null);
      } finally {
        this.#asking = null;
      }
    })());
  }

  async #open(path, { method = "GET", body, headers = {}, signal }) {
    // An app without tokens is asked for none.
    const token = this.#asking ? await this.#asking : (this.#token ?? (this.#source === undefined ? null : await this.renew()));
    return this.#fetch(this.#server + path, {
      method, body, signal, cache: "no-store", credentials: "omit",
      headers: {
        Accept: "application/json", ...(body !== undefined && { "Content-Type": "application/json" }), ...headers,
        ...(token && { Authorization: `Bearer ${token}` }), ...(this.#client && { "X-Client": this.#client }), ...(this.device && { "X-Device-ID": this.device }),
      },
    });
  }

  /** Breaks off a request that says nothing for so many seconds; `heard` begins them anew. */
  #watch(signal, seconds) {
    const controller = new AbortController(), abort = () => controller.abort();
    let timer;
    const heard = () => {
      this.#clock.clearTimeout(timer);
      timer = this.#clock.setTimeout(abort, seconds * 1000);
    };
    signal?.addEventListener("abort", abort);
    if (signal?.aborted) abort();
    heard();
    const end = () => { this.#clock.clearTimeout(timer); signal?.removeEventListener("abort", abort); };
    return { signal: controller.signal, heard, end, abort };
  }

  /**
   * Asks for JSON. Never throws: what is no answer of the gateway's is `lost`.
   *
   * @returns {Promise<Answer>}
   */
  async ask(path, { method, body, etag, signal } = {}) {
    const watch = this.#watch(signal, patience);
    try {
      const response = await this.#open(path, { method, body, signal: watch.signal, headers: etag ? { "If-None-Match": etag } : {} });
      if (response.status === 304) return { kind: "same", status: 304 };
      const text = await response.text();
      let json;
      try { json = JSON.parse(text); } catch { /* no answer of the gateway's */ }
      return sorted(response, json);
    } catch (error) {
      return { kind: "lost", error };
    } finally {
      watch.end();
    }
  }

  /**
   * Reads lines of JSON as they come.
   *
   * @yields {any} one value for each line
   * @throws {LostAnswer} with the answer, where it is none or breaks off
   */
  async *lines(path, { signal } = {}) {
    const watch = this.#watch(signal, silence);
    try {
      const response = await this.#open(path, { signal: watch.signal, headers: { Accept: "application/x-ndjson, application/problem+json" } });
      if (response.status !== 200) {
        const text = await response.text();
        let json;
        try { json = JSON.parse(text); } catch { /* as above */ }
        throw new LostAnswer(sorted(response, json));
      }
      for await (const line of textLines(response, watch)) if (line) yield JSON.parse(line);
    } catch (error) {
      throw error instanceof LostAnswer ? error : new LostAnswer({ kind: "lost", error });
    } finally {
      watch.abort();
      watch.end();
    }
  }

  /**
   * Listens to the events of an address until they end.
   *
   * @yields {{event: string, data: any}} the first is `open`
   */
  async *events(path, { signal } = {}) {
    const watch = this.#watch(signal, silence);
    try {
      const response = await this.#open(path, { signal: watch.signal, headers: { Accept: "text/event-stream" } });
      if (response.status === 401) this.#token = null;
      if (response.status !== 200 || !/event-stream/.test(response.headers.get("content-type") ?? "")) throw new LostAnswer({ kind: "lost", status: response.status });
      yield { event: "open", data: null };
      let event = "message", data = "";
      for await (const line of textLines(response, watch)) {
        if (line === "") {
          if (data) yield { event, data: JSON.parse(data) };
          [event, data] = ["message", ""];
        } else if (line.startsWith("event:")) event = line.slice(6).trim();
        else if (line.startsWith("data:")) data += line.slice(5).trim();
      }
    } catch (error) {
      throw error instanceof LostAnswer ? error : new LostAnswer({ kind: "lost", error });
    } finally {
      watch.abort();
      watch.end();
    }
  }
}

/** An answer that could not be read as it should have come. */
export class LostAnswer extends FieldMergeError {
  constructor(answer) {
    super("lost", "The gateway gave no answer.", { cause: answer.error });
    this.answer = answer;
  }
}

async function* textLines(response, watch) {
  if (!response.body) throw new Error("The answer has no body.");
  const reader = response.body.getReader(), decoder = new TextDecoder();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    watch.heard();
    rest += done ? decoder.decode() : decoder.decode(value, { stream: true });
    const lines = rest.split("\n");
    rest = lines.pop();
    for (const line of lines) yield line.endsWith("\r") ? line.slice(0, -1) : line;
    if (done) break;
  }
  if (rest) throw new Error("The answer broke off.");
}

/** @returns {Answer} */
function sorted(response, json) {
  const { status } = response, seconds = response.headers.get("retry-after");
  const isObject = typeof json === "object" && json !== null && !Array.isArray(json);
  const problem = isObject && typeof json.code === "string" && typeof json.type === "string" ? json : undefined;
  const retryAfter = seconds === null ? problem?.retryAfter : /^\d+$/.test(seconds) ? Number(seconds) : Math.max(0, (Date.parse(seconds) - Date.now()) / 1000) || undefined;
  const answer = { status, json, problem, retryAfter, etag: response.headers.get("etag") ?? undefined };
  const kind = (status === 200 || status === 207) && isObject ? "ok"
    : status === 401 ? "unauthorized"
      : status === 426 && problem ? "upgrade"
        : status === 410 && problem ? "resync"
          : [429, 503, 504].includes(status) || problem?.retry === true ? "retry"
            : [400, 403, 404, 409, 413, 415, 422].includes(status) && problem ? "refused" : "lost";
  return { kind, ...answer };
}
