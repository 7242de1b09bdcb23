const longestWait = 300;

/**
 * Loaded with the first large push: sends one large push at a time, in parallel with the scheduler. A failed request is
 * repeated after a separate wait, which the network's return and `sync()` end.
 *
 * @param {{random: () => number, now: () => number, setTimeout: any, clearTimeout: any}} clock
 * @param {(answer: {event?: string, isDone?: boolean, isTimer?: boolean}) => boolean} ended called at the end of a request and of
 *   a wait; returns whether a timer may run
 */
export function laneOf(clock, ended) {
  let request = null, timer, attempts = 0, until = null, isAgain = false;

  /** Ends the wait. */
  function wake() {
    clock.clearTimeout(timer);
    until = null;
    attempts = 0;
  }

  /** Begins the wait for the next try; returns the event for the engine. */
  function wait(retryAfter = 0, answer = {}) {
    const seconds = Math.max(retryAfter, clock.random() * Math.min(longestWait, 2 ** attempts++));
    until = clock.now() + seconds * 1000;
    if (ended(answer)) timer = clock.setTimeout(() => {
      until = null;
      ended({ isDone: true });
    }, seconds * 1000);
  }

  return {
    wake,
    /** The answer that waits for a page whose request began after it: any other page may be older. */
    late: null,

    /** Keeps an answer in `late`, if anything was merged. Until it is stored, the edits stay visible. */
    keeps(pushes, results) {
      const isMerged = results.every(({ status }) => ["merged", "partial"].includes(status));
      if (isMerged) this.late = { pushes, results };
      return isMerged;
    },

    get isBusy() { return !!request; },
    /** Whether a large push can be sent now. */
    get isFree() { return !request && !until && !this.late; },
    /** The end of the wait, in milliseconds since 1970; null without a wait. */
    get until() { return until; },

    /** Sends frozen pushes; `send` stores the answer. */
    async start(send) {
      const own = (request = new AbortController()), answer = await send(own.signal).catch((error) => error?.answer ?? {});
      if (request !== own) return;
      request = null;
      if (!["answer.settled", "answer.rules", "answer.history"].includes(answer.event)) return wait(answer.retryAfter);
      // Rules and histories that change with each answer are waited for as well.
      const isChange = answer.event !== "answer.settled", isOften = isChange && isAgain, told = { ...answer, isDone: true };
      isAgain = isChange;
      if (isOften) return wait(answer.retryAfter, told);
      if (!isChange) attempts = 0;
      ended(told);
    },

    /** Aborts the request in progress, as after a failure. */
    stop() {
      if (!request) return;
      request.abort();
      request = null;
      wait();
    },
  };
}
