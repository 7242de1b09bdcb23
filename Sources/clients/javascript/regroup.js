import { isChange, rowIn } from "./layers.js";
import { Rules, pick } from "./rules.js";

/** Loaded where the rules are read: stores those that the gateway tells. */
export function setRules(local, told) {
  return local.write(async (work) => {
    const isOther = work.meta.rules !== told.version;
    await work.tx.put("meta", "rules", told);
    work.meta.rules = told.version;
    local.rules = new Rules(told);
    if (isOther) await regroup(work);
  });
}

/** What is not frozen gets every field of the groups of new rules. */
async function regroup(work) {
  for (const push of await work.pushes()) {
    if ((push.body && !push.change) || push.settled) continue;
    for (const edit of push.edits) {
      const sections = work.rules.resources.get(edit.resource)?.sections, seen = await work.read(edit);
      for (const row of edit.rows.filter(isChange)) {
        const section = sections?.get(row.section), now = rowIn(seen, row) ?? {};
        for (const name of Object.keys(row.new)) {
          const others = section?.groups.get(section.fields.get(name)?.group) ?? [], missing = pick(now, others.filter((other) => !(other in row.new)));
          Object.assign(row.old, missing);
          Object.assign(row.new, missing);
        }
      }
    }
    await work.save(push);
  }
}
