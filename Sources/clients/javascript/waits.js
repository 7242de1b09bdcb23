/**
 * Waits for a promise until a signal or a deadline; undefined if either was first.
 *
 * @param {Promise<any>} promise
 * @param {{signal?: AbortSignal, deadline?: number | Date}} options the deadline is a moment, or milliseconds from now
 * @param clock
 * @param {() => void} [late] called at the deadline
 */
export function within(promise, { signal, deadline }, clock, late) {
  const over = new AbortController();
  let timer;
  return new Promise((resolve, reject) => {
    if (deadline !== undefined) timer = clock.setTimeout(() => resolve(late?.()), deadline instanceof Date ? deadline - clock.now() : deadline);
    signal?.addEventListener("abort", () => resolve(), { signal: over.signal });
    if (signal?.aborted) resolve();
    promise.then(resolve, reject);
  }).finally(() => {
    clock.clearTimeout(timer);
    over.abort();
  });
}
