import { loaded } from "./errors.js";
import { next } from "./scheduler.js";
import { within } from "./waits.js";
import { report as reportError } from "./watching.js";

const longWait = 300;

/** The report of a sync at its beginning. */
export const emptyReport = { sent: 0, merged: 0, refused: 0, conflicts: 0, changes: 0 };

/** A problem of this client's own, of something that was thrown. */
const thrown = (code, error, status) => ({ code, status, detail: String(error?.message ?? error) });

/**
 * Runs the scheduler's table: pushes, pulls, waits. Each open store has one engine.
 *
 * @param {import("./local.js").Local} local
 * @param options the options of `open`
 * @param {() => void} changed called if the status may have changed
 */
export function engineOf(local, options, changed) {
  const { clock } = options;
  /** `nextTry`: the end of the wait, in milliseconds since 1970; `problem`: the problem of the last failed request. */
  let state = "idle", isStarted = false, nextTry = null, problem = null, progress = null;
  let running = Promise.resolve(), pending = 0, attempts = 0, report, request, timer, retryAfter, last, lastPush, exchange, stream, reopen;
  const rests = [];
  /** Pending requests of the table: `note`, `single`, `readRules`, `resnapshot`. */
  const wants = {};
  // Neither pushing nor pulling.
  const isResting = () => !state.startsWith("pu");
  /** Whether nothing is under way, in the lane of large pushes neither. */
  const isQuiet = () => !pending && isResting() && !exchange?.lane?.isBusy;

  const actions = {
    push: () => begin("push"),
    pull: () => {
      wants.note = false;
      begin("pull");
    },
    askToken: () => begin("askToken"),
    schedule: () => wait(Math.max(retryAfter, clock.random() * Math.min(longWait, 2 ** attempts++))),
    scheduleLong: () => wait(longWait),
    cancelTimer: stopTimer,
    resetBackoff: () => {
      if (attempts) reopen?.();
      attempts = 0;
    },
    abort,
    keepUp: () => { if (isStarted && !stream) void listen((stream = new AbortController()).signal); },
  };

  /** Loads the module with the gateway's requests. */
  async function exchanging() {
    const { exchangeOf } = await loaded(import("./exchange.js"));
    return (exchange ??= exchangeOf(local, options, wants, (told) => {
      progress = told;
      changed();
    }, laneEnded));
  }

  /** A large request or its wait has ended: waiting pushes may be sent. */
  function laneEnded({ event, isDone }) {
    if (isDone) {
      wants.isHeld = null;
      wants.readRules ||= event === "answer.rules";
      post(rests.length ? "sync" : "news", { isOwn: true });
    } else if (isQuiet()) rest();
    changed();
    return isStarted;
  }

  /** Adds an event; events are handled in order. */
  function post(event, detail = {}) {
    if (!isStarted && ["edit", "news", "online", "offline"].includes(event)) return;
    pending += 1;
    running = running.then(() => handle(event, detail)).catch(recover).then(() => {
      pending -= 1;
      if (isQuiet()) rest();
    });
  }

  /** A failure before a request does not leave the engine waiting for an answer. */
  function recover(error) {
    reportError(error);
    if (isResting() || request) return;
    state = "waiting";
    actions.schedule();
  }

  /** Syncs once, and returns the report. Resolves when no request is in progress, or when the signal aborts. */
  async function sync(options = {}) {
    const own = (report ??= { ...emptyReport }), rest = new Promise((resolve) => rests.push(resolve));
    post("sync");
    await within(rest, options, clock, breakOff);
    if (report === own && isResting()) report = null;
    return { phase: standing().phase, ...own, ...(problem && { problem }) };
  }

  /** Aborts the request in progress. Resolves at its end, or after a second if the store does not answer. */
  function breakOff() {
    exchange?.lane?.stop();
    if (!isResting()) {
      abort();
      post("answer.lost");
    }
    return within(running, { deadline: 1000 }, clock);
  }

  function rest() { for (const resolve of rests.splice(0)) resolve(); }

  async function handle(event, told) {
    // The answer to an aborted request is ignored.
    if (told.request && told.request !== request) return;
    wants.note ||= told.isDue || exchange?.lane?.late;
    if (event === "offline") exchange?.lane?.stop();
    if (!told.isOwn && (event === "sync" || event === "online")) exchange?.lane?.wake();
    if (["edit", "sync", "online"].includes(event)) wants.isHeld = null;
    const isAnswer = event.startsWith("answer.");
    if (isAnswer) {
      request = null;
      ({ problem = null, retryAfter = 0 } = told);
    }
    let meta;
    try {
      meta = await local.place();
    } catch (error) {
      // The store itself cannot be read now, as after the browser took it away: that is waited for like a network.
      problem = thrown("storage", error);
      if (event !== "close" && !isResting()) event = "answer.lost";
      meta = { unsent: 1, revision: null };
    }
    const { state: to, actions: steps } = next(state, event, { unsent: meta.unsent && !wants.isHeld && !meta.isRebuilding && !(meta.stale?.length && meta.revision === null), more: wants.note || meta.revision === null || told.more, fresh: last === "token" || told.isFresh, again: last === event || lastPush === event });
    if (isAnswer || event === "token") last = event;
    if (event === "answer.history" || event === "answer.settled") lastPush = event === "answer.history" && event;
    if (event === "sync" || event === "online") reopen?.();
    state = to;
    for (const step of steps) {
      if (actions[step]) actions[step]();
      else wants[step] = true;
    }
    // Without a network, no request is sent.
    if (event === "answer.lost" && globalThis.navigator?.onLine === false) post("offline");
    changed();
  }

  /** Begins a request; its end is an event. */
  async function begin(kind) {
    const own = (request = new AbortController());
    let answer;
    try {
      answer = await (await exchanging())[kind](own.signal, report ?? { ...emptyReport });
    } catch (error) {
      // Any other failure is the store's: nothing was stored, so the request counts as lost.
      const { kind: found = "lost", status, error: cause = `Unknown status ${status}.`, code = "lost", retryAfter, problem } = error?.answer ?? { code: "storage", error };
      const event = found !== "refused" ? found : kind === "push" ? "lost" : "rules";
      answer = { event: `answer.${event}`, retryAfter, problem: problem ?? thrown(code, cause, status) };
    }
    post(answer.event, { ...answer, request: own });
  }

  function abort() {
    request?.abort();
    request = null;
  }

  function wait(seconds) {
    stopTimer();
    nextTry = clock.now() + seconds * 1000;
    if (isStarted) timer = clock.setTimeout(() => { nextTry = null; post("timer"); }, seconds * 1000);
  }

  function stopTimer() {
    clock.clearTimeout(timer);
    nextTry = null;
  }

  /** Keeps the event stream open while the engine is idle; an event starts a sync. */
  async function listen(signal) {
    for (let failures = 0; !signal.aborted; failures++) {
      try {
        await (await exchanging()).news(signal, (isNews) => {
          failures = 0;
          if (isNews) post("news");
        });
      } catch { /* it is opened again, and then whatever was missed is asked for */ }
      const wanted = new Promise((resolve) => { reopen = () => { failures = -1; resolve(); }; });
      await within(wanted, { signal, deadline: (clock.random() * Math.min(longWait, 2 ** failures) + 0.2) * 1000 }, clock);
      if (!signal.aborted) post("news");
    }
  }

  /** Ends automatic syncs and the request in progress. */
  function stop() {
    isStarted = false;
    stopTimer();
    stream?.abort();
    stream = null;
    breakOff();
    exchange?.lane?.wake();
  }

  /** The current activity, for `status`. */
  function standing() {
    const { detail = null, message = detail, link = null } = (state === "needsUpgrade" && problem) || {}, { isBusy, until = null } = exchange?.lane ?? {};
    const own = { phase: state, nextTry, progress, problem, message, link };
    return state !== "idle" ? own : isBusy ? { ...own, phase: "pushing" } : until ? { ...own, phase: "waiting", nextTry: until } : own;
  }

  return {
    exchanging, post, sync, stop, standing,

    /** Begins automatic syncs. */
    start() {
      if (isStarted) return;
      isStarted = true;
      post("sync");
    },

    /** Ends for good. */
    close() {
      stop();
      post("close");
      rest();
    },
  };
}
