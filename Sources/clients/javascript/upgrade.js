import { FieldMergeError } from "./errors.js";
import { form } from "./local.js";

/** Loaded for a store of an earlier form: gives its pushes keys, and an index of the temporary ids that they name. */
export const upgrade = (local) => local.write(async (work) => {
  // The form has had a number since the second one; before, the rows of edits tell.
  const edits = [...(await work.pushes()), ...(await work.values("x"))].flatMap((one) => one.edits);
  if (edits.some(({ rows }) => !rows.at)) throw new FieldMergeError("other-form", "This store belongs to another version.");
  for (const push of await work.pushes()) await work.save(push);
  work.meta.form = form;
});
