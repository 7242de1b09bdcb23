import { editedOf, run, timed } from "./query.js";

/** The number of records that match; loaded with the first count. */
export const count = async (desk, local, resource, { where, search, signal } = {}) => (await timed(desk, local, resource, { where, search, signal }, async (work, query, told) => {
  const known = work.meta.indexes && (await local.indexes?.count(work, query, await editedOf(work, resource)));
  if (Number.isInteger(known)) return known;
  const { rows, read, index } = await run(work, query, local.indexes);
  Object.assign(told, { read, index });
  return rows.length;
})) ?? 0;
