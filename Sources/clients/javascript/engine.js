import { LostAnswer } from "./network.js";
import { next } from "./scheduler.js";
import { idKey, uuid } from "./values.js";

const batch = 500, longWait = 300;
/** Problems that say nothing of the pushes in a request. */
const ofTheRequest = ["strange-host", "strange-origin", "unknown-query", "duplicate-query", "malformed-request", "not-utf8", "http"];

/** What a sync has done when it begins. */
export const emptyReport = { sent: 0, merged: 0, refused: 0, conflicts: 0, changes: 0 };

/** A problem of this client's own, of something that was thrown. */
const thrown = (code, error) => ({ code, title: String(error?.message ?? error), detail: String(error?.message ?? error) });

const query = (values) => new URLSearchParams(Object.entries(values).filter(([, value]) => value !== null && value !== undefined));

/** Does what the scheduler's table says: pushes, pulls, waits. One runs for each store that is open. */
export class Engine {
  state = "idle";
  isStarted = false;
  /** When the wait ends, in milliseconds since 1970; null where there is none. */
  nextTry = null;
  /** What the last answer that was none said, for `status`. */
  problem = null;
  progress = null;
  #store; #gateway; #clock;
  #events = [];
  #rests = [];
  #attempts = 0;
  #isRunning; #request; #timer; #retryAfter;
  #isSingle; #isDue; #rulesDue; #isAnew; #lastAnswer; #isFresh; #stream; #report;

  /**
   * @param store what the engine needs of a store: `work`, `read`, `meta`, `page`, `resources`, `rules`, `setRules`, `changedStatus`
   * @param gateway {import("./network.js").Gateway}
   */
  constructor(store, gateway, clock) {
    this.#store = store;
    this.#gateway = gateway;
    this.#clock = clock;
  }

  /** Hands in an event; events follow one another. */
  post(event, detail = {}) {
    if (!this.isStarted && ["edit", "news", "timer", "online", "offline"].includes(event)) return;
    this.#events.push([event, detail]);
    void this.#run();
  }

  /** Syncs once; the report says what happened. Resolves when nothing is under way any more, or the signal says so. */
  async sync({ signal, deadline } = {}) {
    const report = (this.#report ??= { ...emptyReport });
    let timer;
    await new Promise((resolve) => {
      if (signal?.aborted) resolve();
      signal?.addEventListener("abort", resolve, { once: true });
      if (deadline !== undefined) timer = this.#clock.setTimeout(() => { this.#breakOff(); resolve(); }, Math.max(0, deadline instanceof Date ? deadline - this.#clock.now() : deadline));
      this.#rests.push(resolve);
      this.post("sync");
    });
    this.#clock.clearTimeout(timer);
    if (this.#report === report && this.isResting) this.#report = null;
    return { phase: this.state, ...report, ...(this.problem && { problem: this.problem }) };
  }

  get isResting() { return this.state !== "pushing" && this.state !== "pulling"; }

  #breakOff() {
    if (this.isResting) return;
    this.#abort();
    this.post("answer.lost");
  }

  async #run() {
    if (this.#isRunning) return;
    this.#isRunning = true;
    try {
      while (this.#events.length) await this.#handle(...this.#events.shift());
    } finally {
      this.#isRunning = false;
    }
    if (this.isResting) for (const resolve of this.#rests.splice(0)) resolve();
  }

  async #handle(event, { request, problem = null, retryAfter, more }) {
    if (request && request !== this.#request) return;
    const isAnswer = event.startsWith("answer.");
    if (isAnswer) {
      this.#request = null;
      this.problem = problem;
      this.#retryAfter = retryAfter;
    }
    let meta;
    try {
      meta = await this.#store.meta();
    } catch (error) {
      // The store itself cannot be read now, as after the browser took it away: that is waited for like a network.
      this.problem = thrown("storage", error);
      if (event !== "close" && !this.isResting) event = "answer.lost";
      meta = { unsent: 1, revision: null };
    }
    const { state, actions } = next(this.state, event, {
      unsent: meta.unsent > 0, more: this.#isDue || meta.revision === null || more, fresh: this.#isFresh, again: this.#lastAnswer === event,
    });
    if (event === "token") this.#isFresh = true;
    else if (isAnswer && event !== "answer.unauthorized") this.#isFresh = false;
    if (isAnswer) this.#lastAnswer = event;
    this.state = state;
    for (const action of actions) this.#actions[action]();
    this.#store.changedStatus();
  }

  #actions = {
    push: () => this.#begin((request) => this.#push(request)),
    pull: () => this.#begin((request) => this.#pull(request)),
    askToken: () => this.#begin(async (request) => {
      const token = await this.#gateway.renew().catch((error) => { throw new LostAnswer({ kind: "lost", problem: thrown("token", error) }); });
      if (!token) this.#isFresh = true;
      this.#answer(request, token ? "token" : "answer.unauthorized");
    }),
    readRules: () => { this.#rulesDue = true; },
    resnapshot: () => { this.#isAnew = true; },
    single: () => { this.#isSingle = true; },
    note: () => { this.#isDue = true; },
    schedule: () => this.#wait(Math.max(this.#retryAfter ?? 0, this.#clock.random() * Math.min(longWait, 2 ** this.#attempts++))),
    scheduleLong: () => this.#wait(longWait),
    cancelTimer: () => this.#stopTimer(),
    resetBackoff: () => { this.#attempts = 0; },
    abort: () => this.#abort(),
    keepUp: () => this.#keepUp(),
  };

  #begin(body) {
    const request = (this.#request = new AbortController());
    body(request).catch((thrownError) => {
      // What else fails here is the store: nothing was stored, so the request counts as lost.
      const { kind, status, error, retryAfter, problem } = thrownError instanceof LostAnswer ? thrownError.answer : { kind: "lost", problem: thrown("storage", thrownError) };
      const event = kind !== "refused" ? kind : this.state === "pushing" ? "lost" : "rules";
      this.#answer(request, `answer.${event}`, { problem: problem ?? (event === "lost" ? { status, ...thrown("lost", error ?? `The answer ${status} is none of the gateway's.`) } : undefined), retryAfter });
    });
  }

  #answer(request, event, detail) {
    if (this.#request === request) this.post(event, { ...detail, request });
  }

  #abort() {
    this.#request?.abort();
    this.#request = null;
  }

  #wait(seconds) {
    this.#stopTimer();
    this.nextTry = this.#clock.now() + seconds * 1000;
    if (this.isStarted) this.#timer = this.#clock.setTimeout(() => { this.nextTry = null; this.post("timer"); }, seconds * 1000);
  }

  #stopTimer() {
    this.#clock.clearTimeout(this.#timer);
    this.nextTry = null;
  }

  // MARK: Requests

  /** Reads the rules where they are not known or not good any more. */
  async #readRules({ signal }) {
    if (!this.#rulesDue && this.#store.rules) return;
    await this.#store.setRules(await this.#gateway.get("/v1/rules", (json) => Array.isArray(json.resources) && json.version, signal));
    this.#rulesDue = false;
  }

  /** The resources whose changes are asked for: those of the app that the rules still have; null for all. */
  get #resources() {
    const { resources, rules } = this.#store;
    return resources && resources.filter((name) => rules.resources.has(name));
  }

  /** Tells whether an answer speaks of other rules than those that are known. */
  #isOther(version) { return typeof version === "string" && version !== this.#store.rules.version; }

  /** Changes what is kept once. */
  #note(values) { return this.#store.work(async (work) => { Object.assign(await work.meta(), values); }); }

  async #push(request) {
    await this.#readRules(request);
    const isBare = this.#isSingle;
    const { pushes, place } = await this.#store.work(async (work) => {
      const pushes = await work.freeze(isBare), { feed, revision } = await work.meta();
      return { pushes, place: isBare || revision === null || !feed ? {} : { feed, since: revision } };
    });
    if (!pushes.length) return this.#answer(request, "answer.settled");
    const resources = this.#resources, report = this.#report ?? { ...emptyReport };
    const envelope = JSON.stringify({ ...place, ...(place.feed && { ...(resources?.length && { resources }), limit: batch }), pushes: [] });
    // The bytes of a push are those that were stored.
    const body = envelope.replace(/]}$/, () => `${pushes.map((push) => push.body).join()}]}`);
    report.sent += pushes.length;
    const answer = await this.#gateway.ask("/v1/sync?by=true", { method: "POST", body, signal: request.signal }), told = answer.json, { problem } = answer;
    if (answer.kind === "refused" && [400, 403, 413].includes(answer.status) && !ofTheRequest.includes(problem.code)) {
      const open = pushes.filter((push) => !push.settled);
      if (!isBare || open.length > 1) return this.#answer(request, "answer.tooLarge", answer);
      await this.#store.work(async (work) => {
        const push = await work.push(open[0].seq);
        if (push?.key === open[0].key && !push.settled) await work.refuse(push, { retry: false, ...problem });
      });
      return this.#answer(request, "answer.settled");
    }
    if (answer.kind !== "ok" || !isAnswer(told, pushes)) throw new LostAnswer(answer);
    this.#isSingle = false;
    const outcomes = await this.#store.work(async (work) => {
      const found = [];
      for (const [index, push] of pushes.entries()) found.push(await work.answered(push, told.results[index]));
      const isPast = await this.#store.page(work, told, place);
      // The page holds what the pushes of its request did.
      if (work.isBehind && !isPast) this.#isDue = true;
      return found;
    });
    let { retryAfter } = answer, waiting;
    for (const { status, problem: own, results } of told.results) {
      if (status === "merged") report.merged += 1;
      else if (own?.retry !== true && own?.code !== "rules-changed") report.refused += 1;
      report.conflicts += results.flatMap((one) => one.outcomes ?? []).filter((outcome) => outcome.conflict).length;
      if (own?.retry === true) waiting ??= own;
      if (own?.retryAfter > (retryAfter ?? 0)) retryAfter = own.retryAfter;
    }
    report.changes += told.changes?.length ?? 0;
    const event = told.problem?.code === "resync" ? "resync"
      : outcomes.includes("rules") || this.#isOther(told.rules) ? "rules"
        : outcomes.includes("retry") ? "retry" : "settled";
    this.#answer(request, `answer.${event}`, { more: told.more === true, retryAfter, problem: event === "settled" ? undefined : (waiting ?? told.problem) });
  }

  async #pull(request) {
    await this.#readRules(request);
    this.#isDue = false;
    if (this.#isAnew) await this.#note({ feed: null, revision: null, snapshot: null });
    this.#isAnew = false;
    try {
      await this.#changes(request);
    } catch (error) {
      if (error.answer?.problem?.code !== "no-feed") throw error;
      await this.#records(request);
    }
  }

  async #changes(request) {
    const { revision: since, feed } = await this.#store.meta(), resources = this.#resources;
    if (since === null || !feed) return this.#snapshot(request);
    if (resources?.length === 0) return this.#answer(request, "answer.page");
    const page = await this.#gateway.get(`/v1/changes?${query({ since, feed, limit: batch, resources })}`, isPage, request.signal);
    await this.#store.work((work) => this.#store.page(work, page, { feed, since }));
    if (this.#report) this.#report.changes += page.changes.length;
    this.#answer(request, this.#isOther(page.rules) ? "answer.rules" : "answer.page", { more: page.more === true });
  }

  /** Reads every record, some hundred in a transaction, and then drops those that were not told. */
  async #snapshot(request) {
    const resources = this.#resources;
    let lines = [], { snapshot } = await this.#store.meta(), isFirst = true;
    /** Runs a transaction, where no other tab has begun anew. */
    const continued = (body) => this.#store.work(async (work) => {
      const meta = await work.meta();
      if (meta.snapshot?.generation !== snapshot.generation) throw new LostAnswer({ kind: "lost", error: "Another tab began anew." });
      return body(work, meta);
    });
    const store = async (cursor) => {
      const told = lines.splice(0);
      await continued(async (work, { snapshot: kept }) => {
        await work.storeAll(told);
        kept.done += told.length;
        if (cursor) kept.cursor = cursor;
        this.progress = { done: kept.done, total: kept.total };
      });
      this.#store.changedStatus();
    };
    if (resources?.length === 0) {
      await this.#note({ feed: "", revision: 0 });
      return this.#answer(request, "answer.page");
    }
    try {
      let isWhole = snapshot?.isWhole;
      for await (const line of isWhole ? [] : this.#gateway.lines(`/v1/snapshot?${query({ resources, after: snapshot?.cursor })}`, request.signal)) {
        if (isFirst) {
          const { feed, revision, records: total, rules } = line.snapshot ?? {};
          if (typeof revision !== "number") throw new LostAnswer({ kind: "lost" });
          isFirst = false;
          if (!snapshot) await this.#note({ snapshot: (snapshot = { generation: uuid(), feed, revision, done: 0, total, cursor: null }) });
          else if (feed !== snapshot.feed || revision !== snapshot.revision) throw new LostAnswer({ kind: "resync" });
          if (this.#isOther(rules)) this.#rulesDue = true;
        } else if (line.record !== undefined) {
          if (lines.push(line) >= batch) await store();
        } else if (line.cursor) await store(line.cursor);
        else if (line.end) isWhole = true;
      }
      if (!isWhole) throw new LostAnswer({ kind: "lost" });
    } catch (error) {
      if (snapshot?.cursor && error.answer?.status === 400) throw new LostAnswer({ ...error.answer, kind: "resync" });
      throw error;
    }
    await store();
    await continued((_, { snapshot: kept }) => { kept.isWhole = true; });
    for (const resource of this.#store.rules.resources.keys()) {
      const stale = await this.#store.read(async (work) => (await work.bases(resource)).filter((row) => row.generation !== snapshot.generation));
      while (stale.length) await continued(async (work) => { for (const { record } of stale.splice(0, batch)) await work.deleteBase(resource, record); });
    }
    const { feed, revision } = snapshot;
    await continued((_, meta) => { Object.assign(meta, { feed, revision, snapshot: null, lastSynced: this.#clock.now(), kept: this.#store.resources }); });
    this.progress = null;
    this.#isDue = true; // what changed while it was read
    this.#answer(request, this.#rulesDue ? "answer.rules" : "answer.page");
  }

  /** Where the gateway keeps no journal: every record, page by page, each time. */
  async #records(request) {
    for (const resource of this.#resources ?? this.#store.rules.resources.keys()) {
      const told = new Set();
      for await (const records of this.#gateway.pages(resource, request.signal)) {
        for (const { id } of records) told.add(idKey(id));
        await this.#store.work((work) => work.storeAll(records.map((record) => ({ resource, id: record.id, record }))));
      }
      await this.#store.work(async (work) => {
        for (const { key, record } of await work.bases(resource)) if (!told.has(key)) await work.deleteBase(resource, record);
      });
    }
    await this.#note({ feed: "", revision: 0, lastSynced: this.#clock.now() });
    this.#answer(request, "answer.page");
  }

  // MARK: Events

  /** Keeps the event stream open while there is nothing to do; its events say that there is. */
  #keepUp() {
    if (this.isStarted && !this.#stream) void this.#listen((this.#stream = new AbortController()));
  }

  async #listen(stream) {
    for (let failures = 0; this.#stream === stream; failures++) {
      try {
        const { feed, revision: since } = await this.#store.meta();
        for await (const data of since !== null && feed ? this.#gateway.lines(`/v1/changes?${query({ since, feed, resources: this.#resources })}`, stream.signal, "data:") : []) {
          failures = 0;
          if (data.code === "resync" || data.changes?.length) this.post("news");
        }
      } catch { /* it is opened again, and then whatever was missed is asked for */ }
      if (this.#stream !== stream) return;
      const seconds = this.#clock.random() * Math.min(longWait, 2 ** failures) + 0.2;
      await new Promise((resolve) => {
        const timer = this.#clock.setTimeout(resolve, seconds * 1000);
        stream.signal.addEventListener("abort", () => { this.#clock.clearTimeout(timer); resolve(); });
      });
      if (this.#stream === stream) this.post("news");
    }
  }

  /** Begins to do by itself what is due. */
  start() {
    if (this.isStarted) return;
    this.isStarted = true;
    this.post("sync");
  }

  /** Ends what it does by itself; a request under way ends as well. */
  stop() {
    this.isStarted = false;
    this.#stopTimer();
    const stream = this.#stream;
    this.#stream = null;
    stream?.abort();
    this.#breakOff();
  }

  /** Ends for good. */
  close() {
    this.stop();
    this.post("close");
    for (const resolve of this.#rests.splice(0)) resolve();
  }
}

const isPage = (json) => typeof json.feed === "string" && Number.isSafeInteger(json.revision) && Array.isArray(json.changes)
  && json.changes.every((change) => typeof change?.resource === "string" && change.id !== undefined && change.record !== undefined);

/** Tells whether an answer to a sync is one: a result for each push, and changes or the reason for none. */
const isAnswer = (json, pushes) => Array.isArray(json.results) && json.results.length === pushes.length && (isPage(json) || (json.changes === null && !!json.problem))
  && json.results.every((result, index) => result?.key === pushes[index].key && typeof result.status === "string" && Array.isArray(result.results));
