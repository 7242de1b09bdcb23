import { rowIn } from "./layers.js";

/** Loaded where the rules are read: sorts what is not frozen into the groups of new rules. */
export async function regroup(work) {
  for (const push of await work.pushes()) {
    if (push.body || push.settled) continue;
    for (const edit of push.edits) {
      const sections = work.rules.resources.get(edit.resource)?.sections, seen = await work.read(edit.resource, edit.id);
      for (const row of Object.values(edit.rows)) {
        const section = sections?.get(row.section);
        if (section && row.kind === "edit") row.groups = regrouped(row.groups, section, rowIn(seen, row) ?? {});
      }
    }
    await work.save(push);
  }
}

/** Puts the fields of an edited row into the groups of its section; a field that has none there keeps its group. */
function regrouped(groups, { groupOf }, seen) {
  const sorted = {};
  for (const [name, { old, new: value }] of Object.entries(groups)) {
    for (const field of Object.keys(value)) {
      const group = groupOf.get(field), target = (sorted[group?.group ?? name] ??= { old: {}, new: {} });
      for (const each of group?.fields ?? []) {
        const other = seen[each.field] ?? null;
        if (!(each.field in target.old)) [target.old[each.field], target.new[each.field]] = [other, other];
      }
      [target.old[field], target.new[field]] = [old[field], value[field]];
    }
  }
  return sorted;
}
