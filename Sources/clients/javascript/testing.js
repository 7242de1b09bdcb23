/**
 * For the tests of apps: a store in memory, a server with scripted answers, a clock that the test moves, and the real gateway
 * in one call (in Node).
 *
 * @example
 * const server = new ScriptedServer({ rules });
 * const store = await open({ server: server.url, fetch: server.fetch, path: ":memory:", clock: new TestClock() });
 */
import { parse, stringify } from "./json.js";

export { MemoryStorage } from "./memory.js";

/** A clock that only the test moves; its random numbers are a half, or those of the initializer. */
export class TestClock {
  #now; #timers = new Map(); #last = 0; #random;

  /** @param {{now?: number, random?: () => number}} [options] */
  constructor({ now = Date.UTC(2026, 0, 1), random = () => 0.5 } = {}) {
    this.#now = now;
    this.#random = random;
  }

  now = () => this.#now;
  random = () => this.#random();
  setTimeout = (body, milliseconds) => {
    this.#timers.set(++this.#last, { at: this.#now + milliseconds, body });
    return this.#last;
  };
  clearTimeout = (timer) => void this.#timers.delete(timer);

  /** Moves the clock, and calls due functions in order. Their asynchronous work may continue afterwards. */
  async advance(milliseconds) {
    const end = this.#now + milliseconds;
    for (;;) {
      const due = [...this.#timers].filter(([, timer]) => timer.at <= end).sort(([, one], [, other]) => one.at - other.at)[0];
      if (!due) break;
      this.#timers.delete(due[0]);
      this.#now = Math.max(this.#now, due[1].at);
      due[1].body();
      await new Promise((resolve) => setTimeout(resolve, 0));
    }
    this.#now = end;
  }

  /** Sets the clock without calling anything, as a user does who changes the date. */
  set(moment) { this.#now = moment; }
}

/** The text of the body of a request, packed with gzip or not. */
export async function bodyText({ body = "", headers }) {
  if (new Headers(headers).get("content-encoding") !== "gzip") return body;
  return new Response(new Blob([body]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
}

/** A request that waits for its answer. */
export class HeldRequest {
  #resolve; #reject;
  isAnswered = false;

  constructor(url, init, resolve, reject) {
    this.url = new URL(url);
    this.method = init.method ?? "GET";
    this.headers = new Headers(init.headers);
    this.text = init.body ?? "";
    this.#resolve = resolve;
    this.#reject = reject;
    init.signal?.addEventListener("abort", () => this.fail(init.signal.reason));
    if (init.signal?.aborted) this.fail(init.signal.reason);
  }

  get json() { return parse(this.text); }

  /**
   * Answers it.
   *
   * @param {number} status
   * @param {any} body a text, or any other value as JSON; an async iterator of texts is sent in parts
   * @param {{headers?: Record<string, string>, breakAt?: number}} [options] `breakAt`: the connection breaks after this number of
   *   bytes
   */
  answer(status, body = "", { headers = {}, breakAt } = {}) {
    if (this.isAnswered) return;
    this.isAnswered = true;
    const isStream = typeof body?.[Symbol.asyncIterator] === "function";
    const bytes = isStream ? null : new TextEncoder().encode(typeof body === "string" ? body : stringify(body));
    const content = isStream ? streamed(body) : breakAt === undefined ? bytes : broken(bytes.slice(0, breakAt));
    const isEmpty = status === 204 || status === 304;
    this.#resolve(new Response(isEmpty ? null : content, { status, headers: { "Content-Type": "application/json", ...headers } }));
  }

  /** Breaks the connection before there is an answer. */
  fail(error = new TypeError("fetch failed")) {
    this.isAnswered = true;
    this.#reject(error);
  }
}

const broken = (bytes) => new ReadableStream({
  pull(controller) {
    if (bytes) controller.enqueue(bytes);
    else controller.error(new TypeError("terminated"));
    bytes = null;
  },
});

function streamed(texts) {
  const iterator = texts[Symbol.asyncIterator](), encoder = new TextEncoder();
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await iterator.next();
      if (done) controller.close();
      else controller.enqueue(encoder.encode(value));
    },
    cancel: () => void iterator.return?.(),
  });
}

/**
 * A server with scripted answers: `handle` for requests with a fixed answer, `request` for the next request without an
 * answer.
 */
export class ScriptedServer {
  url = "http://scripted.test";
  /** Every request so far. */
  requests = [];
  #handlers = []; #held = []; #waiting = [];

  /** @param {{rules?: any, records?: {resource: string, id: any, record: any}[], feed?: string, revision?: number}} [options] */
  constructor({ rules, records, feed = "feed-1", revision = 1 } = {}) {
    Object.assign(this, { rules, records, feed, revision });
    this.handle("/v1/rules", (request) => this.rules && request.answer(200, this.rules));
    this.handle("/v1/snapshot", (request) => this.records && request.answer(200, snapshotText(this), { headers: { "Content-Type": "application/x-ndjson" } }));
  }

  /** Answers requests to a path. If a handler returns nothing, the one added before it runs. */
  handle(path, handler) {
    this.#handlers.unshift([path, handler]);
  }

  /** For `open`. */
  fetch = async (url, init = {}) => {
    const body = await bodyText(init);
    return new Promise((resolve, reject) => this.#received(new HeldRequest(url, { ...init, body }, resolve, reject)));
  };

  #received(request) {
    this.requests.push(request);
    if (request.isAnswered) return;
    for (const [path, handler] of this.#handlers) {
      if (request.url.pathname === path) handler(request);
      if (request.isAnswered) return;
    }
    const reader = this.#waiting.shift();
    if (reader) reader(request);
    else this.#held.push(request);
  }

  /** The next request that nothing has answered. */
  request() {
    this.#held = this.#held.filter((request) => !request.isAnswered);
    const held = this.#held.shift();
    return held ? Promise.resolve(held) : new Promise((resolve) => this.#waiting.push(resolve));
  }
}

function snapshotText({ rules, records, feed, revision }) {
  const resources = rules?.resources.map((resource) => resource.resource) ?? [];
  const lines = [{ snapshot: { feed, revision, rules: rules?.version, resources, records: records.length } }, ...records.map(({ resource, id, record }) => ({ resource, id, record })), { end: { records: records.length } }];
  return lines.map((line) => `${stringify(line)}\n`).join("");
}

/**
 * Starts the real gateway on a SQLite file. In Node.
 *
 * @param {object} options
 * @param {string} options.program path of `fieldmerge`
 * @param {string} options.rules folder of rule files
 * @param {string} options.database path of the SQLite file
 * @param {string} [options.sql] statements that create a missing file; they need `sqlite3`
 * @param {string[]} [options.options] further options of `fieldmerge serve`
 * @param {number} [options.port]
 * @returns {Promise<{url: string, stop: () => Promise<void>, kill: () => Promise<void>, restart: () => Promise<void>}>}
 */
export async function startGateway({ program, rules, database, sql, options = [], port }) {
  const { spawn, spawnSync } = await import("node:child_process"), { existsSync } = await import("node:fs"), { createServer } = await import("node:net");
  if (sql !== undefined && !existsSync(database)) {
    const made = spawnSync("sqlite3", ["-bail", database], { input: sql });
    if (made.status !== 0) throw new Error(`The database could not be made: ${made.error ?? made.stderr}`);
  }
  port ??= await new Promise((resolve, reject) => {
    const probe = createServer().on("error", reject).listen(0, "127.0.0.1", () => {
      const { port: free } = probe.address();
      probe.close(() => resolve(free));
    });
  });
  let child, log = "";
  const url = `http://127.0.0.1:${port}`;
  const begin = async () => {
    child = spawn(program, ["serve", "--database", `sqlite:${database}`, "--rules", rules, "--listen", `127.0.0.1:${port}`, ...options], { stdio: ["ignore", "pipe", "pipe"] });
    const ended = new Promise((_, reject) => child.once("exit", (code) => reject(new Error(`The gateway ended with ${code}:\n${log}`))).once("error", reject));
    ended.catch(() => {});
    for (const pipe of [child.stdout, child.stderr]) pipe.on("data", (data) => { log = (log + data).slice(-10000); });
    const ready = (async () => {
      for (let attempt = 0; attempt < 300; attempt++) {
        if (await fetch(`${url}/readyz`).then((answer) => answer.ok, () => false)) return;
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
      throw new Error(`The gateway is not ready:\n${log}`);
    })();
    await Promise.race([ready, ended]);
  };
  const end = (signal) => new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) return resolve();
    child.once("exit", () => resolve());
    child.kill(signal);
  });
  await begin();
  return { url, get log() { return log; }, stop: () => end("SIGTERM"), kill: () => end("SIGKILL"), restart: async () => { await end("SIGKILL"); await begin(); } };
}
