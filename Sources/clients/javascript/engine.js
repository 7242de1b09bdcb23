import { LostAnswer } from "./network.js";
import { next } from "./scheduler.js";
import { within } from "./waits.js";

const batch = 500, longWait = 300;
/** Problems that say nothing of the pushes in a request. */
const ofTheRequest = ["strange-host", "strange-origin", "unknown-query", "duplicate-query", "malformed-request", "not-utf8", "http"];
/** The place in the changes of a store that begins anew. */
export const nowhere = { feed: null, revision: null, snapshot: null };

/** What a sync has done when it begins. */
export const emptyReport = { sent: 0, merged: 0, refused: 0, conflicts: 0, changes: 0 };

/** A problem of this client's own, of something that was thrown. */
function thrown(code, error) {
  const detail = String(error?.message ?? error);
  return { code, title: detail, detail };
}

const query = (values) => new URLSearchParams(Object.entries(values).filter(([, value]) => value !== null));

/** Does what the scheduler's table says: pushes, pulls, waits. One runs for each store that is open. */
export class Engine {
  state = "idle";
  isStarted = false;
  /** When the wait ends, in milliseconds since 1970; null where there is none. */
  nextTry = null;
  /** What the last answer that was none said, for `status`. */
  problem = null;
  progress = null;
  #local; #gateway; #clock; #resources; #changed;
  #events = [];
  #rests = [];
  #attempts = 0;
  #isRunning; #request; #timer; #retryAfter;
  #isSingle; #isDue; #rulesDue; #isAnew; #lastAnswer; #isFresh; #stream; #report;

  /**
   * @param local {import("./local.js").Local}
   * @param gateway {import("./network.js").Gateway}
   * @param clock
   * @param {string[] | null} resources those that the app wants to keep; null for all
   * @param {() => void} changed called where the status may be another
   */
  constructor(local, gateway, clock, resources, changed) {
    this.#local = local;
    this.#gateway = gateway;
    this.#clock = clock;
    this.#resources = resources;
    this.#changed = changed;
  }

  /** Hands in an event; events follow one another. */
  post(event, detail = {}) {
    if (!this.isStarted && ["edit", "news", "timer", "online", "offline"].includes(event)) return;
    this.#events.push([event, detail]);
    void this.#run();
  }

  /** Syncs once; the report says what happened. Resolves when nothing is under way any more, or the signal says so. */
  async sync(options) {
    const report = (this.#report ??= { ...emptyReport }), rest = new Promise((resolve) => this.#rests.push(resolve));
    this.post("sync");
    await within(rest, options, this.#clock, () => this.#breakOff());
    if (this.#report === report && this.isResting) this.#report = null;
    return { phase: this.state, ...report, ...(this.problem && { problem: this.problem }) };
  }

  /** What it does now, for `status`. */
  get standing() {
    const { state: phase, nextTry, progress, problem } = this, upgrade = phase === "needsUpgrade" ? problem : null;
    return { phase, nextTry, progress, problem, message: upgrade?.message ?? upgrade?.detail ?? null, link: upgrade?.link ?? null };
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
    if (this.isResting) this.#rest();
  }

  #rest() { for (const resolve of this.#rests.splice(0)) resolve(); }

  async #handle(event, { request, problem = null, retryAfter = 0, more }) {
    if (request && request !== this.#request) return;
    const isAnswer = event.startsWith("answer.");
    if (isAnswer) {
      this.#request = null;
      this.problem = problem;
      this.#retryAfter = retryAfter;
    }
    let meta;
    try {
      meta = await this.#local.place();
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
    this.#changed();
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
    schedule: () => this.#wait(Math.max(this.#retryAfter, this.#clock.random() * Math.min(longWait, 2 ** this.#attempts++))),
    scheduleLong: () => this.#wait(longWait),
    cancelTimer: () => this.#stopTimer(),
    resetBackoff: () => { this.#attempts = 0; },
    abort: () => this.#abort(),
    keepUp: () => { if (this.isStarted && !this.#stream) void this.#listen((this.#stream = new AbortController())); },
  };

  #begin(body) {
    const request = (this.#request = new AbortController());
    body(request).catch((error) => {
      // What else fails here is the store: nothing was stored, so the request counts as lost.
      const { kind, status, error: cause, retryAfter, problem } = error.answer ?? { kind: "lost", problem: thrown("storage", error) };
      const event = kind !== "refused" ? kind : this.state === "pushing" ? "lost" : "rules";
      this.#answer(request, `answer.${event}`, {
        retryAfter, problem: problem ?? (event === "lost" ? { status, ...thrown("lost", cause ?? `The answer ${status} is none of the gateway's.`) } : undefined),
      });
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
    if (!this.#rulesDue && this.#local.rules) return;
    await this.#local.setRules(await this.#gateway.get("/v1/rules", (json) => Array.isArray(json.resources) && json.version, signal));
    this.#rulesDue = false;
  }

  /** The resources to ask for: those that the app wants and the rules have; null for all. */
  get #asked() { return this.#resources && this.#resources.filter((name) => this.#local.rules.resources.has(name)); }

  /** Tells whether an answer speaks of other rules than those that are known. */
  #isOther(version) { return typeof version === "string" && version !== this.#local.rules.version; }

  async #push(request) {
    await this.#readRules(request);
    const resources = this.#asked, isBare = this.#isSingle, report = this.#report ?? { ...emptyReport };
    const { pushes, place } = await this.#local.write(async (work) => {
      const pushes = await work.freeze(isBare), { feed, revision: since } = await work.meta();
      return { pushes, place: isBare || !feed ? {} : { feed, since } };
    });
    if (!pushes.length) return this.#answer(request, "answer.settled");
    const envelope = JSON.stringify({ ...place, ...(place.feed && { ...(resources && { resources }), limit: batch }), pushes: [] });
    // The bytes of a push are those that were stored.
    const body = envelope.replace(/]}$/, () => `${pushes.map((push) => push.body).join()}]}`);
    report.sent += pushes.length;
    const answer = await this.#gateway.ask("/v1/sync?by=true", { method: "POST", body, signal: request.signal }), told = answer.json, { problem } = answer;
    if (answer.kind === "refused" && [400, 403, 413].includes(answer.status) && !ofTheRequest.includes(problem.code)) {
      const [open, ...others] = pushes.filter((push) => !push.settled);
      if (!isBare || others.length) return this.#answer(request, "answer.tooLarge", answer);
      if ((await this.#local.write((work) => work.answered(open, { results: [], problem: { ...problem, retry: false } }))) === "refused") report.refused += 1;
      return this.#answer(request, "answer.settled");
    }
    if (answer.kind !== "ok" || !isAnswer(told, pushes)) throw new LostAnswer(answer);
    this.#isSingle = false;
    const outcomes = await this.#local.write(async (work) => {
      const found = [];
      for (const [index, push] of pushes.entries()) found.push(await work.answered(push, told.results[index]));
      report.conflicts += work.events.filter(({ event }) => event === "conflict").length;
      // The page holds what the pushes of its request did.
      if (!(await work.storePage(told, place, this.#clock.now())) && work.isBehind) this.#isDue = true;
      return found;
    });
    for (const outcome of outcomes) if (outcome in report) report[outcome] += 1;
    report.changes += told.changes?.length ?? 0;
    const event = told.problem?.code === "resync" ? "resync"
      : outcomes.includes("rules") || this.#isOther(told.rules) ? "rules"
        : outcomes.includes("retry") ? "retry" : "settled";
    const problems = told.results.flatMap((result) => result.problem ?? []);
    this.#answer(request, `answer.${event}`, {
      more: told.more, problem: event === "settled" ? undefined : (problems.find((one) => one.retry) ?? told.problem),
      retryAfter: Math.max(answer.retryAfter ?? 0, ...problems.map((one) => one.retryAfter ?? 0)),
    });
  }

  async #pull(request) {
    await this.#readRules(request);
    const { signal } = request, resources = this.#asked, local = this.#local;
    this.#isDue = false;
    if (this.#isAnew) await local.note(nowhere);
    this.#isAnew = false;
    const { revision: since, feed } = await local.place();
    if (resources?.length === 0) {
      await local.note({ feed: "", revision: 0 });
      return this.#answer(request, "answer.page");
    }
    if (feed) {
      const answer = await this.#gateway.ask(`/v1/changes?${query({ since, feed, limit: batch, resources })}`, { signal }), page = answer.json;
      if (answer.kind === "ok" && isPage(page)) {
        await local.write((work) => work.storePage(page, { feed, since }, this.#clock.now()));
        if (this.#report) this.#report.changes += page.changes.length;
        return this.#answer(request, this.#isOther(page.rules) ? "answer.rules" : "answer.page", { more: page.more });
      }
      if (answer.problem?.code !== "no-feed") throw new LostAnswer(answer);
    }
    const { download } = await import("./download.js");
    const rules = await download({
      local, gateway: this.#gateway, clock: this.#clock, signal, resources, kept: this.#resources, batch,
      progressed: (progress) => {
        this.progress = progress;
        this.#changed();
      },
    });
    if (rules) this.#isDue = true; // what changed while it was read
    this.#answer(request, this.#isOther(rules) ? "answer.rules" : "answer.page");
  }

  // MARK: Events

  /** Keeps the event stream open while there is nothing to do; its events say that there is. */
  async #listen(stream) {
    const { signal } = stream, clock = this.#clock;
    for (let failures = 0; this.#stream === stream; failures++) {
      try {
        const { feed, revision: since } = await this.#local.place();
        for await (const data of feed ? this.#gateway.lines(`/v1/changes?${query({ since, feed, resources: this.#asked })}`, signal, "data:") : []) {
          failures = 0;
          if (data.code === "resync" || data.changes?.length) this.post("news");
        }
      } catch { /* it is opened again, and then whatever was missed is asked for */ }
      await within(new Promise(() => {}), { signal, deadline: (clock.random() * Math.min(longWait, 2 ** failures) + 0.2) * 1000 }, clock);
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
    this.#rest();
  }
}

const isPage = (json) => typeof json.feed === "string" && Number.isSafeInteger(json.revision) && Array.isArray(json.changes)
  && json.changes.every((change) => typeof change?.resource === "string" && change.id !== undefined && change.record !== undefined);

/** Tells whether an answer to a sync is one: a result for each push, and changes or the reason for none. */
const isAnswer = (json, pushes) => Array.isArray(json.results) && json.results.length === pushes.length && (isPage(json) || (json.changes === null && !!json.problem))
  && json.results.every((result, index) => result?.key === pushes[index].key && typeof result.status === "string" && Array.isArray(result.results));
