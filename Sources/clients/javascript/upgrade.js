import { FieldMergeError } from "./errors.js";
import { form } from "./local.js";

/** Loaded for a store of an earlier format: adds keys of its pushes, and an index of the temporary ids in them. */
export const upgrade = (local) => local.write(async (work) => {
  // The format has had a number since the second one; the rows of edits identify the first.
  const edits = [...(await work.pushes()), ...(await work.values("x"))].flatMap((one) => one.edits);
  if (edits.some(({ rows }) => !rows.at)) throw new FieldMergeError("other-form", "This store belongs to another version.");
  for (const push of await work.pushes()) await work.save(push);
  work.meta.form = form;
});
