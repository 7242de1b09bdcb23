import { follow } from "./deciding.js";
import { conflicts } from "./events.js";
import { FieldMergeError } from "./errors.js";
import { leave } from "./keep.js";
import { created, editOf, groupsOf, isChange, named, nameOf, referencesOf, withoutSame } from "./layers.js";
import { pick } from "./rules.js";
import { onTheWire } from "./sending.js";
import { idKey } from "./values.js";

/*
 * Lists for the app; loaded with the first request for a list.
 */

export { conflicts };
export { draft, editFrom, restored } from "./drafts.js";

/**
 * The pushes without an answer, in order.
 *
 * @param {import("./events.js").Desk} desk
 * @param {import("./local.js").Local} local
 */
export const unsent = (desk, local) => local.read(async (work) => (await work.pushes()).filter(({ edits }) => edits.length).map(({ seq, body, edits }) => ({
  name: String(seq), resource: edits[0].resource, id: edits[0].id, state: body ? "sending" : "draft", edits: edits.map((edit) => onTheWire(edit, work.rules)),
  discard: () => desk.queued((own) => discard(own, seq)),
})));

/** Removes a draft from the queue. Later edits of its groups get its `old`, and edits of its new rows are removed too. */
async function discard(work, number) {
  const push = await work.push(number);
  if (!push || push.settled) return;
  if (push.body) throw new FieldMergeError("sending", "The gateway may have it. Wait for the answer.");
  const { edits } = push, lost = new Set([...edits.flatMap(created), ...edits.filter(({ creates }) => creates).map(nameOf)]);
  await takeOut(work, { ...push, edits: [] }, edits);
  for (const edit of edits) for (const later of await work.pushesOf(edit)) if (later.seq > number && !later.body) await inherit(work, edit, later);
  // A push that loses a row may also lose rows that use its id.
  for (const { seq } of lost.size ? await work.pushes() : []) {
    const later = await work.push(seq);
    if (!later || later.body || !later.edits.some((edit) => lost.has(nameOf(edit)) || isUser(work, edit, lost))) continue;
    const before = later.edits, kept = withoutUses(work, before, lost);
    await takeOut(work, { ...later, edits: kept }, before);
  }
  await leave(work);
  for (const edit of edits) work.events.push(...(await work.decisions.overtakenBy(work, work.before.get(nameOf(edit)))));
}

/** Stores the rest of a push. If nothing is left, its tickets end as discarded. */
async function takeOut(work, push, before) {
  await work.touch(...before);
  await work.save(push);
  for (const ticket of push.edits.length ? [] : await work.tickets(push)) await work.end(ticket, { status: "discarded", conflicts: [] });
}

const isSameRow = (one, other) => one.section === other.section && idKey(one.item) === idKey(other.item);

/** The groups of a later push go on from the `old` of the groups that are taken out, each once. */
async function inherit(work, edit, later) {
  const own = editOf(later, edit), sections = work.rules.resources.get(edit.resource)?.sections;
  for (const row of edit.rows) {
    const next = own.rows.find((one) => isSameRow(one, row)), section = sections?.get(row.section);
    if (next && !row.old) own.rows = own.rows.filter((one) => one !== next);
    if (!next || !isChange(row) || !next.old) continue;
    for (const [, names] of groupsOf(row, section)) {
      if (!names.some((name) => Object.hasOwn(next.old, name))) continue;
      follow(next, names, row, section);
      for (const name of names) delete row.new[name];
    }
    own.rows = own.rows.flatMap((one) => (one === next ? withoutSame(next, section) : one));
  }
  await work.shrink(later);
}

/** Tells whether an edit names lost temporary ids, or refers to lost records. */
const isUser = (work, edit, lost) => named(edit).some((id) => lost.has(id)) || referencesOf(edit, work.rules).some((place) => lost.has(nameOf(place)));

/** Edits without the parts that use lost ids; adds the ids of rows that these parts create. */
function withoutUses(work, edits, lost) {
  for (let count = -1; count !== lost.size;) {
    count = lost.size;
    edits = edits.flatMap((edit) => {
      const sections = work.rules.resources.get(edit.resource)?.sections, uses = (row) => isUser(work, { resource: edit.resource, rows: [row] }, lost), rows = lost.has(nameOf(edit)) || lost.has(edit.id) ? [] : edit.rows.flatMap((row) => {
        if (!uses(row)) return [row];
        const names = !isChange(row) || lost.has(row.item) ? [] : groupsOf(row, sections?.get(row.section)).flatMap(([, fields]) => (uses({ ...row, old: pick(row.old, fields), new: pick(row.new, fields) }) ? [] : fields));
        return names.length ? [{ ...row, old: pick(row.old, names), new: pick(row.new, names) }] : [];
      }), isRootLost = edit.creates && !rows.some((row) => !row.old && row.section === sections?.keys().next().value), kept = isRootLost ? [] : rows;
      if (isRootLost) lost.add(nameOf(edit));
      if (kept.length < edit.rows.length) for (const id of created({ ...edit, rows: edit.rows.filter((row) => !kept.some((one) => isSameRow(one, row))) })) lost.add(id);
      return kept.length ? { ...edit, rows: kept } : [];
    });
  }
  return edits;
}
