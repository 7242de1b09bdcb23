import { nameOf } from "./layers.js";
import { compiled, prepare, run } from "./query.js";
import { copy, idKey, same } from "./values.js";
import { report } from "./watching.js";

/*
 * Live queries, loaded with the first live query. Each has a window: the rows of its result and some following rows, as
 * successors of rows that leave. A change is tested against the window. The query reads the store again if the window has too
 * few rows, if the rules have changed, or if a temporary id in the query has a real id now.
 *
 * All live queries of a store share a transaction for each frame. It reads each changed record once.
 */

/** Milliseconds between two updates while all records are being fetched or reads fail. */
const load = 1500;

/** Rows of a window after its result. */
const spare = 20;

/** Adds a live query to a store. */
export async function live(desk, local, { show, shown }, resource, options = {}) {
  if (typeof resource === "object") ({ resource, ...options } = resource);
  await prepare(desk, resource, options);
  (desk.live ??= hub(desk, local)).add({ resource, options, show, shown, runs: 0, tests: 0, rows: null });
}

function hub(desk, local) {
  const all = new Set(), pending = new Map(), { clock } = desk.options;
  /** The time of the next update: 0 for never, 1 for later, 2 for the next frame. */
  let due = 0, timer, isBusy = false, isBroken = false;

  /** Updates in the next frame, or at once, if there is a change. */
  function schedule(isFirst) {
    const next = local.meta.snapshot || isBroken ? 1 : 2;
    if (isBusy || due >= next || !(isFirst || isBroken || pending.size || [...all].some(({ rules }) => rules !== local.rules))) return;
    clock.clearTimeout(timer);
    due = next;
    if (isFirst) queueMicrotask(look);
    else if (next > 1 && globalThis.requestAnimationFrame) requestAnimationFrame(look);
    else timer = clock.setTimeout(look, next > 1 ? 16 : load);
  }

  async function look() {
    [due, isBusy, isBroken] = [0, true, false];
    const places = [...pending.values()], others = [];
    pending.clear();
    await local.read(async (work) => {
      const changes = await Promise.all(places.map(async (place) => ({ ...place, record: (!work.meta.unsent && place.record) || (await work.read(place)) })));
      for (const one of all) if (await refresh(work, one, changes).catch((error) => fail(one, error))) others.push(one);
    }).catch(() => {
      for (const one of all) one.rows = null;
      isBroken = true;
    });
    isBusy = false;
    for (const { show, value } of others) show(value);
    if (!local.isClosed) schedule();
  }

  /** After an error a live query runs again with the next change, and soon if the store could not be read. */
  function fail(one, error) {
    one.rows = null;
    isBroken ||= typeof error.code !== "string";
    if (one.fault !== (one.fault = error.message)) report(error);
  }

  /** Brings a live query up to date. Returns whether the value is another. */
  async function refresh(work, one, changes) {
    const own = changes.filter(({ resource }) => resource === one.resource), before = one.rows ?? [];
    if (one.rules !== work.rules || !one.rows || (await isMapped(work, one.query))) {
      [one.rules, one.rows] = [work.rules, null];
      one.query = await compiled(work, desk, one.resource, one.options);
    } else if (own.length || one.told?.isOf(changes)) apply(one, own);
    else return;
    const { query } = one, { limit } = query ?? {};
    if (!query) one.rows = [];
    else if (!one.rows || (one.edge && one.rows.length <= limit)) {
      const { rows } = await run(work, query, local.indexes, limit && limit + 1 + spare);
      one.runs += 1;
      one.edge = rows.length > limit + spare ? rows.at(-1).order : null;
      const known = new Map(before.map(({ record }) => [idKey(record.id), record]));
      one.rows = rows.map(({ record, order }) => ({ order, record: kept(known.get(idKey(record.id)), work.tx.store ? record : copy(record)) }));
    }
    return another(work, one);
  }

  /** Tests changed records. The window gets matching records that sort before its edge. */
  function apply(one, changes) {
    const { query, edge } = one, left = new Map(changes.flatMap(({ id, record }) => [[idKey(id)], [record && idKey(record.id)]])), found = new Map();
    one.tests += changes.length;
    one.rows = one.rows.filter((row) => !left.has((row.key ??= idKey(row.record.id))) || !left.set(row.key, row.record));
    for (const { record } of changes) {
      if (!record || !query.matches(record)) continue;
      const order = query.orderOf(record);
      if (query.isBehind(order) && !(edge && query.compare(order, edge) > 0)) found.set(idKey(record.id), { order, record: kept(left.get(idKey(record.id)), record) });
    }
    if (!found.size) return;
    one.rows = [...one.rows, ...found.values()].sort((left, right) => query.compare(left.order, right.order));
    if (one.rows.length > 2 * (query.limit + spare)) {
      one.rows.length = query.limit + 1 + spare;
      one.edge = one.rows.at(-1).order;
    }
  }

  desk.observers.add((changed) => {
    for (const one of all) {
      if (local.isClosed) one.shown.close();
      if (one.shown.isClosed) all.delete(one);
    }
    const watched = new Set([...all].flatMap(({ resource, told }) => [resource, ...(told?.resources ?? [])]));
    const isOpen = [...all].some(({ query }) => query?.unmapped.length); // each change may map an id
    for (const place of changed) if (isOpen || watched.has(place.resource)) pending.set(nameOf(place), place);
    schedule();
  });

  // A download passes its records, so that they are not read again. A later change has another position.
  local.stored = (told) => told.map((one) => Object.assign(pending.get(nameOf(one)) ?? {}, one));

  return {
    add(one) {
      all.add(one);
      schedule(true);
    },
    /** For support. */
    all,
  };
}

/** Whether a temporary id in a query has got a real id since the query was compiled. */
async function isMapped(work, query) {
  for (const id of query?.unmapped ?? []) if ((await work.resolve(id)) !== id) return true;
}

/** The earlier object of a record if the record has not changed. */
const kept = (before, now) => (before && same(before, now) ? before : now);

/** Reads the value of a window, with the referred records; returns whether it has changed. */
async function another(work, one) {
  const { rows, query, value } = one, { limit } = query ?? {}, now = rows.slice(0, limit).map(({ record }) => record);
  const next = rows.length > limit ? query.nextOf(rows[limit - 1].order) : null, told = (one.told = await query?.beside?.(work, now, one.told));
  if (!told?.isOther && value?.next === next && value.length === now.length && now.every((record, index) => record === value[index])) return;
  one.value = Object.assign(now, { next, ...told });
  return true;
}
