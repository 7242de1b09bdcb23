import { LostAnswer } from "./network.js";
import { next } from "./scheduler.js";
import { idKey, uuid } from "./values.js";

const batch = 500, longWait = 300;
/** Problems that say nothing of the pushes in a request. */
const ofTheRequest = ["strange-host", "strange-origin", "unknown-query", "duplicate-query", "malformed-request", "not-utf8", "http"];

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
  #isRunning = false;
  #rests = [];
  #request = null;
  #timer = null;
  #attempts = 0;
  #retryAfter;
  #isSingle = false;
  #isDue = false;
  #rulesDue = false;
  #isAnew = false;
  #lastAnswer = null;
  #isFresh = false;
  #stream = null;
  #report = null;

  /**
   * @param store what the engine needs of a store: `work`, `resources`, `rules`, `setRules`, `changedStatus`
   * @param gateway {import("./network.js").Gateway}
   */
  constructor(store, gateway, clock) {
    this.#store = store;
    this.#gateway = gateway;
    this.#clock = clock;
  }

  /** Hands in an event; events follow one another. */
  post(event, detail) {
    if (!this.isStarted && ["edit", "news", "timer", "online", "offline"].includes(event)) return;
    this.#events.push([event, detail]);
    void this.#run();
  }

  /** Syncs once; the report says what happened. Resolves when nothing is under way any more, or the signal says so. */
  async sync({ signal, deadline } = {}) {
    const report = (this.#report ??= { sent: 0, merged: 0, refused: 0, conflicts: 0, changes: 0 });
    let timer;
    const stopped = new Promise((resolve) => {
      if (signal?.aborted) resolve();
      signal?.addEventListener("abort", resolve, { once: true });
      if (deadline !== undefined) timer = this.#clock.setTimeout(() => { this.#breakOff(); resolve(); }, Math.max(0, deadline instanceof Date ? deadline - this.#clock.now() : deadline));
    });
    const rested = new Promise((resolve) => this.#rests.push(resolve));
    this.post("sync");
    await Promise.race([rested, stopped]);
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
      while (this.#events.length) {
        const [event, detail] = this.#events.shift();
        await this.#handle(event, detail);
      }
    } finally {
      this.#isRunning = false;
    }
    if (!this.isResting) return;
    for (const resolve of this.#rests.splice(0)) resolve();
  }

  async #handle(event, detail) {
    if (detail?.request && detail.request !== this.#request) return;
    const isAnswer = event.startsWith("answer.");
    if (isAnswer) {
      this.#request = null;
      this.problem = detail?.problem ?? null;
      this.#retryAfter = detail?.retryAfter;
    }
    let facts;
    try {
      facts = await this.#store.facts();
    } catch (error) {
      // The store itself cannot be read now, as after the browser took it away: that is waited for like a network.
      this.problem = { code: "storage", title: String(error?.message ?? error), detail: String(error?.message ?? error) };
      if (event !== "close") event = this.isResting ? event : "answer.lost";
      facts = { unsent: 1, revision: null };
    }
    const holds = {
      unsent: facts.unsent > 0, more: this.#isDue || facts.revision === null || detail?.more === true,
      fresh: this.#isFresh, again: this.#lastAnswer === event,
    };
    const { state, actions } = next(this.state, event, holds);
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
      let token;
      try {
        token = await this.#gateway.renew();
      } catch (error) {
        return this.#answer(request, "answer.lost", { problem: { code: "token", detail: String(error?.message ?? error) } });
      }
      if (token) return this.#answer(request, "token");
      this.#isFresh = true;
      this.#answer(request, "answer.unauthorized", {});
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
    const request = (this.#request = { controller: new AbortController() });
    // What fails here is the store: nothing was stored, so the request counts as lost.
    body(request).catch((error) => this.#answer(request, "answer.lost", { problem: { code: "storage", title: "The store failed.", detail: String(error?.message ?? error) } }));
  }

  #answer(request, event, detail = {}) {
    if (this.#request === request) this.post(event, { ...detail, request });
  }

  #abort() {
    this.#request?.controller.abort();
    this.#request = null;
  }

  #wait(seconds) {
    this.#stopTimer();
    this.nextTry = this.#clock.now() + seconds * 1000;
    if (this.isStarted) this.#timer = this.#clock.setTimeout(() => { this.nextTry = null; this.post("timer"); }, seconds * 1000);
  }

  #stopTimer() {
    this.#clock.clearTimeout(this.#timer);
    this.#timer = this.nextTry = null;
  }

  // MARK: Requests

  /** The event that an answer is which holds nothing to store. */
  #sorted(answer, isPush) {
    switch (answer.kind) {
      case "unauthorized": return "answer.unauthorized";
      case "upgrade": return "answer.upgrade";
      case "resync": return "answer.resync";
      case "retry": return "answer.retry";
      case "refused": return isPush ? "answer.lost" : "answer.rules";
      default: return "answer.lost";
    }
  }

  #tell(request, event, answer) {
    const problem = answer.problem ?? (event === "answer.lost" ? { code: "lost", title: "There was no answer.", detail: answer.error ? String(answer.error.message ?? answer.error) : `The answer ${answer.status} is none of the gateway's.`, status: answer.status } : undefined);
    this.#answer(request, event, { problem, retryAfter: answer.retryAfter });
  }

  /** Reads the rules where they are not known or not good any more; false where that failed. */
  async #readRules(request) {
    if (!this.#rulesDue && this.#store.rules) return true;
    const answer = await this.#gateway.ask("/v1/rules", { signal: request.controller.signal });
    if (answer.kind !== "ok" || !Array.isArray(answer.json.resources) || typeof answer.json.version !== "string") {
      this.#tell(request, answer.kind === "ok" || answer.kind === "refused" ? "answer.lost" : this.#sorted(answer), answer);
      return false;
    }
    await this.#store.setRules(answer.json);
    this.#rulesDue = false;
    return true;
  }

  /** The resources whose changes are asked for: those of the app that the rules still have; null for all. */
  #resources() {
    const { resources, rules } = this.#store;
    return resources ? resources.filter((name) => rules.resources.has(name)) : null;
  }

  async #push(request) {
    if (!(await this.#readRules(request))) return;
    const isBare = this.#isSingle;
    const { pushes, place } = await this.#store.work(async (work) => {
      const pushes = await work.freeze(isBare), { feed, revision } = await work.meta();
      return { pushes, place: isBare || revision === null || !feed ? {} : { feed, since: revision } };
    });
    if (!pushes.length) return this.#answer(request, "answer.settled");
    const resources = isBare ? null : this.#resources();
    const envelope = JSON.stringify({ ...place, ...(resources?.length && place.feed && { resources }), ...(place.feed && { limit: batch }) });
    const body = `${envelope.slice(0, -1)}${envelope.length > 2 ? "," : ""}"pushes":[${pushes.map((push) => push.body).join(",")}]}`;
    if (this.#report) this.#report.sent += pushes.length;
    const answer = await this.#gateway.ask("/v1/sync?by=true", { method: "POST", body, signal: request.controller.signal });
    if (answer.kind === "refused" && [400, 403, 413].includes(answer.status) && !ofTheRequest.includes(answer.problem.code)) {
      const open = pushes.filter((push) => !push.settled);
      if (!isBare || open.length > 1) return this.#tell(request, "answer.tooLarge", answer);
      await this.#store.work(async (work) => {
        const push = await work.push(open[0].seq);
        if (push?.key === open[0].key && !push.settled) await work.refuse(push, { retry: false, ...answer.problem });
      });
      return this.#answer(request, "answer.settled");
    }
    if (answer.kind !== "ok") return this.#tell(request, this.#sorted(answer, true), answer);
    if (!isAnswer(answer.json, pushes)) return this.#tell(request, "answer.lost", answer);
    this.#isSingle = false;
    const told = answer.json;
    let retryAfter = answer.retryAfter;
    const outcomes = await this.#store.work(async (work) => {
      const found = [];
      for (const [index, push] of pushes.entries()) found.push(await work.answered(push, told.results[index]));
      const isPast = await this.#store.page(work, told, place);
      // The page holds what the pushes of its request did.
      if (work.isBehind && !isPast) this.#isDue = true;
      return found;
    });
    if (this.#report) {
      for (const result of told.results) {
        if (result.status === "merged") this.#report.merged += 1;
        else if (result.problem?.retry !== true && result.problem?.code !== "rules-changed") this.#report.refused += 1;
        for (const one of result.results ?? []) this.#report.conflicts += (one.outcomes ?? []).filter((outcome) => outcome.conflict).length;
      }
      this.#report.changes += told.changes?.length ?? 0;
    }
    for (const result of told.results) if (result.problem?.retryAfter > (retryAfter ?? 0)) retryAfter = result.problem.retryAfter;
    const kind = told.problem?.code === "resync" ? "answer.resync"
      : outcomes.includes("rules") || this.#isOther(told.rules) ? "answer.rules"
        : outcomes.includes("retry") ? "answer.retry" : "answer.settled";
    const waiting = told.results.find((result) => result.problem?.retry === true)?.problem;
    this.#answer(request, kind, { more: told.more === true, retryAfter, problem: kind === "answer.settled" ? undefined : (waiting ?? told.problem) });
  }

  /** Tells whether an answer speaks of other rules than those that are known. */
  #isOther(version) {
    return typeof version === "string" && version !== this.#store.rules.version;
  }

  async #pull(request) {
    if (!(await this.#readRules(request))) return;
    this.#isDue = false;
    if (this.#isAnew) await this.#store.work(async (work) => { Object.assign(await work.meta(), { feed: null, revision: null, snapshot: null }); });
    this.#isAnew = false;
    const meta = await this.#store.meta();
    if (meta.revision === null || !meta.feed) return this.#snapshot(request);
    const resources = this.#resources();
    if (resources?.length === 0) return this.#answer(request, "answer.page");
    const query = new URLSearchParams({ since: meta.revision, feed: meta.feed, limit: batch });
    if (resources) query.set("resources", resources.join());
    const answer = await this.#gateway.ask(`/v1/changes?${query}`, { signal: request.controller.signal });
    if (answer.problem?.code === "no-feed") return this.#records(request);
    if (answer.kind !== "ok") return this.#tell(request, this.#sorted(answer), answer);
    if (!isPage(answer.json)) return this.#tell(request, "answer.lost", answer);
    await this.#store.work((work) => this.#store.page(work, answer.json, { feed: meta.feed, since: meta.revision }));
    if (this.#report) this.#report.changes += answer.json.changes.length;
    this.#answer(request, this.#isOther(answer.json.rules) ? "answer.rules" : "answer.page", { more: answer.json.more === true });
  }

  /** Reads every record, some hundred in a transaction, and then drops those that were not told. */
  async #snapshot(request) {
    const { signal } = request.controller;
    let meta = await this.#store.meta(), lines = [], snapshot = meta.snapshot;
    const isCurrent = async (work) => (await work.meta()).snapshot?.generation === snapshot.generation;
    const store = async (cursor) => {
      const told = lines;
      lines = [];
      return this.#store.work(async (work) => {
        if (!(await isCurrent(work))) throw new LostAnswer({ kind: "lost", error: new Error("Another tab began anew.") });
        await work.storeAll(told);
        const kept = (await work.meta()).snapshot;
        kept.done += told.length;
        if (cursor) kept.cursor = cursor;
        this.progress = { done: kept.done, total: kept.total };
      }).then(() => this.#store.changedStatus());
    };
    const resources = this.#resources();
    let isWhole = snapshot?.isWhole ?? false;
    try {
      if (!isWhole && resources?.length !== 0) {
        const query = new URLSearchParams({ ...(resources && { resources: resources.join() }), ...(snapshot?.cursor && { after: snapshot.cursor }) });
        let isFirst = true;
        for await (const line of this.#gateway.lines(`/v1/snapshot${query.size ?? [...query].length ? `?${query}` : ""}`, { signal })) {
          if (isFirst) {
            if (!line.snapshot || typeof line.snapshot.revision !== "number") throw new LostAnswer({ kind: "lost" });
            isFirst = false;
            if (!snapshot) {
              snapshot = { generation: uuid(), feed: line.snapshot.feed, revision: line.snapshot.revision, done: 0, total: line.snapshot.records, cursor: null, isWhole: false };
              await this.#store.work(async (work) => { (await work.meta()).snapshot = snapshot; });
            } else if (line.snapshot.feed !== snapshot.feed || line.snapshot.revision !== snapshot.revision) throw new LostAnswer({ kind: "resync" });
            if (this.#isOther(line.snapshot.rules)) this.#rulesDue = true;
          } else if (line.record !== undefined) {
            lines.push(line);
            if (lines.length >= batch) await store(null);
          } else if (line.cursor) await store(line.cursor);
          else if (line.end) isWhole = true;
        }
        if (!isWhole) throw new LostAnswer({ kind: "lost" });
        await store(null);
      } else snapshot ??= { generation: uuid(), feed: null, revision: null };
    } catch (error) {
      if (!(error instanceof LostAnswer)) throw error;
      const { answer } = error;
      if (answer.problem?.code === "no-feed") return this.#records(request);
      if (snapshot?.cursor && (answer.kind === "resync" || answer.status === 400)) {
        await this.#store.work(async (work) => { (await work.meta()).snapshot = null; });
        return this.#tell(request, "answer.resync", answer);
      }
      return this.#tell(request, this.#sorted(answer), answer);
    }
    if (resources?.length === 0) return this.#answer(request, "answer.page");
    await this.#sweep(snapshot);
    await this.#store.work(async (work) => {
      const meta = await work.meta();
      if (meta.snapshot?.generation !== snapshot.generation) return;
      Object.assign(meta, { feed: snapshot.feed, revision: snapshot.revision, snapshot: null, lastSynced: this.#clock.now(), kept: this.#store.resources });
    });
    this.progress = null;
    this.#isDue = true; // what changed while it was read
    this.#answer(request, this.#rulesDue ? "answer.rules" : "answer.page");
  }

  /** Drops the records that a whole snapshot did not tell. */
  async #sweep(snapshot) {
    await this.#store.work(async (work) => { const kept = (await work.meta()).snapshot; if (kept?.generation === snapshot.generation) kept.isWhole = true; });
    for (const resource of this.#store.rules.resources.keys()) {
      const stale = await this.#store.read(async (work) => (await work.bases(resource)).filter((row) => row.generation !== snapshot.generation).map((row) => row.record));
      for (let at = 0; at < stale.length; at += batch) {
        await this.#store.work(async (work) => {
          if ((await work.meta()).snapshot?.generation !== snapshot.generation) return;
          for (const record of stale.slice(at, at + batch)) await work.deleteBase(resource, idKey(record.id), record);
        });
      }
    }
  }

  /** Where the gateway keeps no journal: every record, page by page, each time. */
  async #records(request) {
    for (const resource of this.#resources() ?? this.#store.rules.resources.keys()) {
      const told = new Set();
      for (let after = ""; after !== null;) {
        const answer = await this.#gateway.ask(`/v1/records/${encodeURIComponent(resource)}?limit=${batch}${after && `&after=${after}`}`, { signal: request.controller.signal });
        if (answer.kind !== "ok" || !Array.isArray(answer.json.records)) return this.#tell(request, answer.kind === "ok" ? "answer.lost" : this.#sorted(answer), answer);
        await this.#store.work(async (work) => {
          for (const record of answer.json.records) {
            told.add(idKey(record.id));
            await work.store(resource, record.id, record);
          }
        });
        after = answer.json.next ?? null;
      }
      await this.#store.work(async (work) => {
        for (const { key, record } of await work.bases(resource)) if (!told.has(key)) await work.deleteBase(resource, key, record);
      });
    }
    await this.#store.work(async (work) => { Object.assign(await work.meta(), { feed: "", revision: 0, lastSynced: this.#clock.now() }); });
    this.#answer(request, "answer.page");
  }

  // MARK: Events

  /** Keeps the event stream open while there is nothing to do; its events say that there is. */
  #keepUp() {
    if (!this.isStarted || this.#stream) return;
    const stream = (this.#stream = { controller: new AbortController(), timer: null });
    void this.#listen(stream);
  }

  async #listen(stream) {
    for (let failures = 0; this.#stream === stream; failures++) {
      try {
        const { feed, revision } = await this.#store.meta();
        if (revision !== null && feed) {
          const resources = this.#resources();
          const query = new URLSearchParams({ since: revision, feed, ...(resources && { resources: resources.join() }) });
          for await (const { event, data } of this.#gateway.events(`/v1/changes?${query}`, { signal: stream.controller.signal })) {
            failures = 0;
            if (event === "open" || event === "end") continue;
            if (event === "resync" || data.changes?.length) this.post("news");
          }
        }
      } catch { /* it is opened again, and then whatever was missed is asked for */ }
      if (this.#stream !== stream) return;
      const seconds = this.#clock.random() * Math.min(longWait, 2 ** Math.min(failures, 10)) + 0.2;
      await new Promise((resolve) => { stream.wake = resolve; stream.timer = this.#clock.setTimeout(resolve, seconds * 1000); });
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
    this.#stream?.controller.abort();
    this.#clock.clearTimeout(this.#stream?.timer);
    const wake = this.#stream?.wake;
    this.#stream = null;
    wake?.();
    this.#breakOff();
  }

  /** Ends for good. */
  async close() {
    this.stop();
    this.post("close");
    for (const resolve of this.#rests.splice(0)) resolve();
  }
}

const isPage = (json) => typeof json?.feed === "string" && Number.isSafeInteger(json.revision) && Array.isArray(json.changes)
  && json.changes.every((change) => typeof change?.resource === "string" && change.id !== undefined && change.record !== undefined);

/** Tells whether an answer to a sync is one: a result for each push, and changes or the reason for none. */
function isAnswer(json, pushes) {
  const results = json?.results;
  return Array.isArray(results) && results.length === pushes.length && (isPage(json) || (json.changes === null && !!json.problem))
    && results.every((result, index) => result?.key === pushes[index].key && typeof result.status === "string" && Array.isArray(result.results));
}
