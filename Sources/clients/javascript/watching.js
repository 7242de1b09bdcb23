/** Tells of an error in a function of the app that nobody awaits. */
export const report = (error) => (globalThis.reportError ?? console.error)(error);

/**
 * Watches something: the callback gets it now, and again after each change; so does who iterates, the latest counting.
 *
 * @param {() => Promise<any>} read
 * @param {{callback?: (value: any) => void, ended: () => void}} options
 * @returns {{look: () => Promise<void>, end: any}} `look` looks whether it has changed; `end` ends the watching when
 *   called, and is an async iterator
 */
export function watching(read, { callback, ended }) {
  let last, unread, isOver = false, isLooking = false, again, readers = [];
  const over = { value: undefined, done: true };
  const wake = () => { for (const reader of readers.splice(0)) reader(); };
  const look = async () => {
    again = true;
    if (isLooking) return;
    isLooking = true;
    try {
      while (again) {
        again = false;
        const value = await read(), text = JSON.stringify(value);
        if (isOver || text === last) continue;
        last = text;
        unread = { value, done: false };
        wake();
        try { callback?.(value); } catch (error) { report(error); }
      }
    } catch { /* the next change looks again */ } finally {
      isLooking = false;
    }
  };
  const end = () => {
    isOver = true;
    ended();
    wake();
  };
  const iterator = {
    next: async () => {
      while (!unread && !isOver) await new Promise((resolve) => readers.push(resolve));
      const seen = unread ?? over;
      unread = null;
      return seen;
    },
    return: async () => { end(); return over; },
    [Symbol.asyncIterator]: () => iterator,
  };
  return { look, end: Object.assign(() => end(), iterator) };
}
