/**
 * FieldMerge in Svelte. A live query is a Svelte store already: `const orders = store.live("orders", query)`, then `$orders`.
 * These open it with the first subscriber and close it with the last. The file needs no package.
 *
 * @example
 * import { live } from "./svelte.js";
 * const orders = live(store, "orders", { where: { "order.status": "open" }, sort: ["order.due"], limit: 50 });
 * // {#each $orders ?? [] as { id, order } (id)} <li>{order.title}</li> {/each}
 */
const shared = (begin) => {
  const subscribers = new Set();
  let value, end;
  return {
    subscribe(callback) {
      const own = (next) => callback(next);
      subscribers.add(own);
      if (subscribers.size === 1) end = begin((next) => { value = next; for (const one of subscribers) one(next); });
      own(value);
      return () => {
        if (!subscribers.delete(own) || subscribers.size) return;
        end();
        value = undefined;
      };
    },
  };
};

/** The result of a query; undefined until the first answer. */
export const live = (store, resource, query) => shared((set) => {
  const opened = store.live(resource, query);
  opened.subscribe((value) => { if (value) set(value); });
  return () => opened.close();
});

/** A record; undefined until it is read, null if there is none. */
export const record = (store, resource, id) => shared((set) => store.observe(resource, id, set));
