import { byKey, compareIDs, idKey, same } from "./values.js";

/** Reports an error in a function of the app that is not awaited. */
export const report = (error) => (globalThis.reportError ?? console.error)(error);

/**
 * A watched value: `show` changes it. `shown` is a store of Svelte and a source of React's `useSyncExternalStore`. An
 * iterator gets the latest value.
 */
export function showing(ended) {
  const listeners = new Set();
  let unread, readers = [];
  const wake = () => { for (const reader of readers.splice(0)) reader(); };
  const shown = {
    value: undefined, isClosed: false,
    getSnapshot: () => shown.value,
    subscribe(callback) {
      const listener = () => { try { callback(shown.value); } catch (error) { report(error); } };
      listeners.add(listener);
      listener();
      return () => void listeners.delete(listener);
    },
    close() {
      shown.isClosed = true;
      ended?.();
      wake();
    },
    next: async () => {
      while (unread === undefined && !shown.isClosed) await new Promise((resolve) => readers.push(resolve));
      const value = unread;
      unread = undefined;
      return { value, done: value === undefined };
    },
    return: () => { shown.close(); unread = undefined; return shown.next(); },
    [Symbol.asyncIterator]: () => shown,
  };
  const show = (value) => {
    if (shown.isClosed) return;
    shown.value = unread = value;
    wake();
    for (const listener of listeners) listener();
  };
  return { show, shown };
}

/**
 * Watches a record, or all records of a resource: the callback gets the value now, and again after each change. An iterator
 * gets the latest value.
 *
 * @param {(changed: {resource: string, id: any}[] | null) => Promise<any[]>} read reads the changed records, or all
 * @param {{isList: boolean, callback?: (value: any) => void, ended: () => void}} options
 * @returns {{look: (changed?: {resource: string, id: any}[]) => Promise<void>, end: any}} `look` reads the changes; `end` ends
 *   the subscription when called, and is an async iterator
 */
export function watching(read, { isList, callback, ended }) {
  let seen = null, isLooking = false, pending = [];
  const { show, shown } = showing(ended);
  if (callback) shown.subscribe((value) => value !== undefined && callback(value));
  const look = async (changed = []) => {
    pending.push(...changed);
    if (isLooking) return;
    isLooking = true;
    try {
      while (!seen || pending.length) {
        let isOther = !seen;
        const places = pending.splice(0), found = byKey((await read(seen && places)).filter(Boolean));
        seen ??= new Map();
        // A record with a real id is removed under its temporary id.
        for (const { id } of places) if (!found.has(idKey(id))) isOther = seen.delete(idKey(id)) || isOther;
        let isMoved = isOther;
        for (const [key, record] of found) {
          if (same(seen.get(key), record)) continue;
          isOther = true;
          isMoved ||= !seen.has(key);
          seen.set(key, record);
        }
        if (!isOther) continue;
        // Records that only changed keep their places.
        if (isMoved) seen = byKey([...seen.values()].sort((one, other) => compareIDs(one.id, other.id)));
        const records = [...seen.values()];
        show(isList ? records : (records[0] ?? null));
      }
    } catch {
      seen = null; // the next change reads everything
    } finally {
      isLooking = false;
    }
  };
  return { look, end: Object.assign(() => shown.close(), shown) };
}
