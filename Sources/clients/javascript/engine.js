import { LostAnswer } from "./errors.js";
import { next } from "./scheduler.js";
import { within } from "./waits.js";

const longWait = 300;

/** What a sync has done when it begins. */
export const emptyReport = { sent: 0, merged: 0, refused: 0, conflicts: 0, changes: 0 };

/** A problem of this client's own, of something that was thrown. */
function thrown(code, error) {
  const detail = String(error?.message ?? error);
  return { code, title: detail, detail };
}

/** Does what the scheduler's table says, and when: pushes, pulls, waits. One runs for each store that is open. */
export class Engine {
  state = "idle";
  isStarted = false;
  /** When the wait ends, in milliseconds since 1970; null where there is none. */
  nextTry = null;
  /** What the last answer that was none said, for `status`. */
  problem = null;
  progress = null;
  #local; #clock; #options; #changed;;
  #events = [];
  #rests = [];
  #attempts = 0;
  #isRunning; #request; #timer; #retryAfter; #isDue; #lastAnswer; #isFresh; #stream; #report; #exchange;

  /**
   * @param local {import("./local.js").Local}
   * @param clock
   * @param options those of `open`
   * @param {() => void} changed called where the status may be another
   */
  constructor(local, clock, options, changed) {
    this.#local = local;
    this.#clock = clock;
    this.#options = options;
    this.#changed = changed;
  }

  /** Loads what speaks to the gateway. Where that fails the next request tries again. */
  async exchange() {
    const { Exchange } = await import("./exchange.js").catch((error) => { throw new LostAnswer({ kind: "lost", error }); });
    return (this.#exchange ??= new Exchange(this.#local, this.#clock, this.#options, (progress) => {
      this.progress = progress;
      this.#changed();
    }));
  }

  /** Hands in an event; events follow one another. */
  post(event, detail = {}) {
    if (!this.isStarted && ["edit", "news", "timer", "online", "offline"].includes(event)) return;
    this.#events.push([event, detail]);
    void this.#run();
  }

  /** Syncs once; the report says what happened. Resolves when nothing is under way any more, or the signal says so. */
  async sync(options = {}) {
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

  async #handle(event, { request, problem = null, retryAfter = 0, more, isDue, isFresh }) {
    if (request && request !== this.#request) return;
    this.#isDue ||= isDue;
    this.#isFresh ||= isFresh;
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
    push: () => this.#begin("push"),
    pull: () => {
      this.#isDue = false;
      this.#begin("pull");
    },
    askToken: () => this.#begin("askToken"),
    readRules: () => { this.#exchange.needsRules = true; },
    resnapshot: () => { this.#exchange.isAnew = true; },
    single: () => { this.#exchange.isSingle = true; },
    note: () => { this.#isDue = true; },
    schedule: () => this.#wait(Math.max(this.#retryAfter, this.#clock.random() * Math.min(longWait, 2 ** this.#attempts++))),
    scheduleLong: () => this.#wait(longWait),
    cancelTimer: () => this.#stopTimer(),
    resetBackoff: () => { this.#attempts = 0; },
    abort: () => this.#abort(),
    keepUp: () => { if (this.isStarted && !this.#stream) void this.#listen((this.#stream = new AbortController())); },
  };

  /** Begins a request; how it ends is an event, unless another was begun meanwhile. */
  async #begin(kind) {
    const request = (this.#request = new AbortController());
    let answer;
    try {
      answer = await (await this.exchange())[kind](request.signal, this.#report ?? { ...emptyReport });
    } catch (error) {
      // What else fails here is the store: nothing was stored, so the request counts as lost.
      const { kind: found, status, error: cause, code = "lost", retryAfter, problem } = error.answer ?? { kind: "lost", code: "storage", error };
      const event = found !== "refused" ? found : kind === "push" ? "lost" : "rules";
      const own = event === "lost" ? { status, ...thrown(code, cause ?? `The answer ${status} is none of the gateway's.`) } : null;
      answer = { event: `answer.${event}`, retryAfter, problem: problem ?? own };
    }
    if (this.#request === request) this.post(answer.event, { ...answer, request });
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

  /** Keeps the event stream open while there is nothing to do; its events say that there is. */
  async #listen(stream) {
    const { signal } = stream, clock = this.#clock;
    for (let failures = 0; this.#stream === stream; failures++) {
      try {
        for await (const isNews of (await this.exchange()).news(signal)) {
          failures = 0;
          if (isNews) this.post("news");
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
