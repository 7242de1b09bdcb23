/**
 * FieldMerge in Vue 3. The file needs no package: give it Vue.
 *
 * @example
 * import * as Vue from "vue";
 * import { composables } from "./vue.js";
 * const { useLive } = composables(Vue);
 *
 * const status = Vue.ref("open");
 * const orders = useLive(store, "orders", () => ({ where: { "order.status": status.value }, limit: 50 }));
 */
export function composables({ shallowRef, watchEffect, onScopeDispose }) {
  /** A ref of the result of a query, or of a function that returns one; undefined until the first answer. */
  function useLive(store, resource, query = {}) {
    const found = shallowRef(undefined);
    watchEffect((onCleanup) => {
      const live = store.live(resource, typeof query === "function" ? query() : query);
      live.subscribe((value) => { if (value) found.value = value; });
      onCleanup(() => live.close());
    });
    return found;
  }

  /** A ref of a record; undefined until it is read, null if there is none. */
  function useRecord(store, resource, id) {
    const found = shallowRef(undefined);
    onScopeDispose(store.observe(resource, id, (record) => { found.value = record; }));
    return found;
  }

  return { useLive, useRecord };
}
