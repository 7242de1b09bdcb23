/**
 * Waits for a promise until a signal or a deadline; undefined where either came first.
 *
 * @param {Promise<any>} promise
 * @param {{signal?: AbortSignal, deadline?: number | Date}} options the deadline is a moment, or milliseconds from now
 * @param clock
 * @param {() => void} [late] called at the deadline
 */
export function within(promise, { signal, deadline }, clock, late) {
  return new Promise((resolve, reject) => {
    const end = () => resolve(undefined), left = deadline instanceof Date ? deadline - clock.now() : deadline;
    const timer = left !== undefined && clock.setTimeout(() => { late?.(); end(); }, Math.max(0, left));
    signal?.addEventListener("abort", end, { once: true });
    if (signal?.aborted) end();
    promise.then(resolve, reject).finally(() => clock.clearTimeout(timer));
  });
}
