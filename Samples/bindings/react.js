/**
 * FieldMerge in React. The file needs no package: give it React.
 *
 * @example
 * import * as React from "react";
 * import { hooks } from "./react.js";
 * const { useLive, useRecord } = hooks(React);
 *
 * function Open({ store }) {
 *   const orders = useLive(store, "orders", { where: { "order.status": "open" }, sort: ["order.due"], limit: 50 });
 *   return <ul>{orders?.map(({ id, order }) => <li key={id}>{order.title}</li>)}</ul>;
 * }
 */
export function hooks({ useCallback, useMemo, useRef, useSyncExternalStore }) {
  /** The result of a query; undefined until the first answer. The query may be a new object each time. */
  function useLive(store, resource, query = {}) {
    const text = JSON.stringify(query), live = useRef(null);
    const subscribe = useCallback((callback) => {
      live.current = store.live(resource, JSON.parse(text));
      const end = live.current.subscribe(callback);
      return () => {
        end();
        live.current.close();
      };
    }, [store, resource, text]);
    return useSyncExternalStore(subscribe, () => live.current?.value, () => undefined);
  }

  /** A record; undefined until it is read, null if there is none. */
  function useRecord(store, resource, id) {
    const seen = useMemo(() => ({ value: undefined }), [store, resource, String(id)]);
    const subscribe = useCallback((callback) => store.observe(resource, id, (record) => {
      seen.value = record;
      callback();
    }), [seen]);
    return useSyncExternalStore(subscribe, () => seen.value, () => undefined);
  }

  return { useLive, useRecord };
}
