import { byKey, compareIDs, idKey, same } from "./values.js";

/** Tells of an error in a function of the app that nobody awaits. */
export const report = (error) => (globalThis.reportError ?? console.error)(error);

/**
 * Watches a record, or all of a resource: the callback gets it now, and again after each change; so does who iterates, the
 * latest counting.
 *
 * @param {(changed: {resource: string, id: any}[] | null) => Promise<any[]>} read reads what has changed, or
 *   everything
 * @param {{isList: boolean, callback?: (value: any) => void, ended: () => void}} options
 * @returns {{look: (changed?: {resource: string, id: any}[]) => Promise<void>, end: any}} `look` looks at what has changed;
 *   `end` ends the watching when called, and is an async iterator
 */
export function watching(read, { isList, callback, ended }) {
  let seen = null, unread, isOver = false, isLooking = false, pending = [], readers = [];
  const wake = () => { for (const reader of readers.splice(0)) reader(); };
  const look = async (changed = []) => {
    pending.push(...changed);
    if (isLooking) return;
    isLooking = true;
    try {
      while (!seen || pending.length) {
        let isOther = !seen;
        const places = pending.splice(0), found = byKey((await read(seen && places)).filter(Boolean));
        seen ??= new Map();
        // A record that has its id now stands no longer under its temporary one.
        for (const { id } of places) if (!found.has(idKey(id))) isOther = seen.delete(idKey(id)) || isOther;
        let isMoved = isOther;
        for (const [key, record] of found) {
          if (same(seen.get(key), record)) continue;
          isOther = true;
          isMoved ||= !seen.has(key);
          seen.set(key, record);
        }
        if (isOver || !isOther) continue;
        // Records that only changed keep their places.
        if (isMoved) seen = byKey([...seen.values()].sort((one, other) => compareIDs(one.id, other.id)));
        const records = [...seen.values()], value = isList ? records : (records[0] ?? null);
        unread = value;
        wake();
        try { callback?.(value); } catch (error) { report(error); }
      }
    } catch {
      seen = null; // the next change reads everything
    } finally {
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
      while (unread === undefined && !isOver) await new Promise((resolve) => readers.push(resolve));
      const value = unread;
      unread = undefined;
      return { value, done: value === undefined };
    },
    return: () => { end(); unread = undefined; return iterator.next(); },
    [Symbol.asyncIterator]: () => iterator,
  };
  return { look, end: Object.assign(() => end(), iterator) };
}
