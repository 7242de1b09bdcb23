import { editOf, isChange, nameOf } from "./layers.js";
import { Ticket } from "./store.js";
import { idKey } from "./values.js";

/*
 * The state of edits; loaded with the first request for it.
 */

/** Finds a ticket by its name, or the last ticket of a record by its id; null if there is none. */
export async function ticket({ store }, local, name, resource) {
  const told = await local.read(async (work) => {
    const find = async (id) => (await work.tx.get("k", resource === undefined ? idKey(id) : nameOf({ resource, id }))) ?? 0;
    return work.tx.get("t", Math.max(await find(name), await find(await work.resolve(name))));
  });
  return told ? new Ticket(store, told) : null;
}

/** `clean`, `draft`, `sending` or `refused`: the state of a record, or of a part of it. */
export const state = (desk, local, resource, id, part = "", item) => local.read(async (work) => {
  const [section, name] = part.split("."), { root, sections } = work.rules?.resource(resource) ?? {}, field = sections?.get(section)?.groups.get(name)?.[0] ?? name;
  const place = { resource, id: await work.resolve(id) }, key = item !== undefined && idKey(await work.resolve(item));
  const concerns = (push) => editOf(push, place)?.rows.some((row) => !section || (row.section === root?.name && !isChange(row))
    || (row.section === section && (!key || idKey(row.item) === key) && (field === undefined || !isChange(row) || Object.hasOwn(row.new, field))));
  const pushes = (await work.pushesOf(place)).filter(concerns);
  if (pushes.length) return pushes.every((push) => push.body) ? "sending" : "draft";
  return work.meta.refused && (await work.values("x")).some(concerns) ? "refused" : "clean";
});
