/**
 * FieldMerge's client: records without a network, edits that survive a restart, and the outcome of each edit.
 *
 * @example
 * import { open } from "/client/fieldmerge.js";
 * const store = await open({ server: "https://sync.example.com", user: "ann", token: () => session.token() });
 * store.start();
 * await store.edit("shoppers", 123, (shopper) => { shopper.customer.street = "2 High St"; });
 */
import { FieldMergeError, loaded } from "./errors.js";
import { FieldMergeStore, StoreEvent, Ticket } from "./store.js";
import { bareAddress } from "./values.js";

export { FieldMergeError, FieldMergeStore, StoreEvent, Ticket };

/** The time and the timers of the machine; tests replace it. */
const machine = {
  now: Date.now, random: Math.random,
  setTimeout: (body, milliseconds) => setTimeout(body, Math.min(milliseconds, 2 ** 31 - 1)),
  clearTimeout: (timer) => clearTimeout(timer),
};

/**
 * Opens a user's store; needs no network.
 *
 * @param {object} options
 * @param {string | URL} options.server address of the gateway
 * @param {string} options.user the user of the records: each user of a server has a store
 * @param {string | (() => string | Promise<string>)} [options.token] or a function that returns a new token; called again
 *   when the gateway refuses the last token
 * @param {string[]} [options.resources] the resources to keep; by default all that the user may read
 * @param {Record<string, {where: object}>} [options.keep] conditions on fields of root sections: of these resources only
 *   records that match are kept
 * @param {string} [options.client] name and version of the app, `shop-web/3.2`
 * @param {string} [options.path] a file in Node, or `:memory:`; by default the browser's database
 * @param {string | URL} [options.snapshot] a first snapshot for an empty store
 * @param {(conflict: any) => any} [options.onConflict]
 * @param {(change: any, t: any) => any} [options.beforeStore]
 * @param {typeof fetch} [options.fetch] for tests
 * @param {typeof machine} [options.clock] for tests
 * @param {any} [options.storage] for tests
 * @returns {Promise<FieldMergeStore>}
 */
export const open = (options) => opened(options);

async function opened(options, isAgain = false) {
  if (!options?.server || options.user === undefined) throw new FieldMergeError("invalid-option", "“server” and “user” are required.");
  const storage = options.storage ?? (await storageFor(options));
  try {
    return await new FieldMergeStore({ ...options, clock: options.clock ?? machine }, storage).prepare();
  } catch (error) {
    // A sign-out that was broken off is finished first.
    if (error.isSignedOut && !isAgain) {
      await storage.destroy();
      return opened(options, true);
    }
    await storage.close();
    if (error.code === "newer-store") error.export = async () => (await import("./support.js")).everything(options.storage ?? (await storageFor(options)));
    throw error;
  }
}

async function storageFor({ server, user, path }) {
  if (path === ":memory:") return new (await import("./memory.js")).MemoryStorage();
  if (globalThis.process?.versions?.node) return (await import("./file.js")).FileStorage.open(path);
  const { indexedDBStorage } = await loaded(import("./indexeddb.js"));
  return indexedDBStorage(path ?? `fieldmerge:${bareAddress(server)}:${user ?? ""}`);
}
