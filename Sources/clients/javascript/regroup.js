import { loaded, lost } from "./errors.js";
import { isChange, rowIn } from "./layers.js";
import { renamedConflict, renamedEdit, renamedRow } from "./renaming.js";
import { Rules, pick } from "./rules.js";
import { onTheWire } from "./sending.js";
import { settle } from "./told.js";
import { same } from "./values.js";

/*
 * New rules of a store, and edits that were made under earlier rules. Loaded when the rules are read.
 *
 * A resource is stale while its bases have another shape than the rules: then its rules before count (`Rules`), its edits
 * wait, and its records are fetched again (`download.js`).
 */

/** Returns whether the store keeps the records of a resource: all tabs of a store use the resources of the last opened tab. */
export const isKept = ({ meta: { kept } }, resource) => kept?.includes(resource) ?? true;

/**
 * Reads the rules if they are missing or outdated, and then the records of stale resources.
 *
 * @returns {Promise<Error | void>} why these records cannot be had now
 */
export async function readRules({ local, gateway, options, wants, signal, progressed }) {
  if (wants.readRules || !local.rules) {
    const told = await gateway.get("/v1/rules", (json) => Array.isArray(json.resources) && json.version, signal);
    await setRules(local, told);
    wants.readRules = false;
  }
  const { stale, revision, isDue } = await local.place();
  // Without a revision a snapshot of everything is due.
  if (!stale.length || revision === null) return;
  const { refresh } = await loaded(import("./download.js"));
  try {
    await refresh({ local, gateway, options, signal, progressed });
  } catch (error) {
    const { kind } = error.answer ?? {};
    if (!["lost", "retry", "refused"].includes(kind)) throw error;
    // If the rules lack a field of the earlier filter, all records of the next filter are read.
    if (kind === "refused" && isDue) throw lost(error.answer, "resync");
    wants.readRules = kind === "refused";
    return error;
  }
}

/**
 * Stores the rules from the gateway.
 *
 * @param {import("./local.js").Local} local
 * @param told the answer to `GET /v1/rules`
 */
function setRules(local, told) {
  return local.write(async (work) => {
    const { meta, rules } = work, before = await work.tx.get("meta", "rules"), known = new Map(before?.resources.map((one) => [one.resource, one]));
    const stale = new Map(before?.stale?.filter(([name]) => told.resources.some(({ resource }) => resource === name)));
    // The shape of records under rules in between is unknown.
    const isMixed = meta.seen?.some((version) => version !== told.version);
    meta.seen = undefined;
    for (const one of told.resources) {
      const { resource: name, shape = "" } = one, old = known.get(name);
      // The app's first snapshot has the shape of the rules in it.
      const isNew = () => isKept(local, name) && (before ? !old : meta.revision !== null && meta.filled !== told.version);
      if (!stale.has(name) && (old ? isMixed || (old.shape ?? "") !== shape : isNew())) stale.set(name, old ?? (before ? null : one));
    }
    // Records of other rules than these are of no use.
    if (stale.size && meta.rules !== told.version) meta.snapshot = null;
    await adopt(local, work, { ...told, stale: [...stale] });
    // The doubles of a snapshot that the app began with have their digits still.
    for (const [name, { sections }] of before ? [] : work.rules.resources) {
      if ([...sections.values()].some(({ doubles }) => doubles.length)) for (const [, { r }] of await work.tx.all(`r:${name}`)) await work.putBase({ resource: name, id: r.id }, r);
    }
    for (const name of known.keys()) if (!told.resources.some(({ resource }) => resource === name)) await forget(work, name);
    await reshape(work, rules);
  });
}

/** Puts the new rules of stale resources into force, in the transaction that stores the last of their records. */
export async function activate(local, work, names) {
  const { rules, meta } = work, told = await work.tx.get("meta", "rules");
  meta.refreshes = (meta.refreshes ?? 0) + 1;
  await adopt(local, work, { ...told, stale: told.stale.filter(([name]) => !names.includes(name)) });
  await reshape(work, rules);
}

async function adopt(local, work, told) {
  await work.tx.put("meta", "rules", told);
  local.rules = new Rules(told);
  Object.assign(work.meta, { rules: told.version, stale: local.rules.stale });
}

/** Drops the records of a resource that is in the rules no longer. */
async function forget(work, resource) { for (const [, { r }] of await work.tx.all(`r:${resource}`)) await work.putBase({ resource, id: r.id }, null); }

/** Builds every edit that is not frozen again, by the rules that count now. */
async function reshape(work, before) {
  for (const { seq } of await work.pushes()) {
    const push = await work.push(seq); // or it was refused with an earlier push
    if (push) await reshapePush(work, push, before);
  }
  const sectionsOf = ({ resource }, rules = work.rules) => rules?.resources.get(resource)?.sections;
  for (const entry of work.meta.refused ? await work.values("x") : []) await work.tx.put("x", entry.seq, { ...entry, edits: entry.edits.map((edit) => renamedEdit(edit, sectionsOf(edit))) });
  for (const entry of work.meta.listed ? await work.values("c") : []) await work.tx.put("c", entry.seq, renamedConflict(entry, sectionsOf(entry), before && sectionsOf(entry, before)));
}

/**
 * Builds a push again. Refuses edits of groups, sections and resources that the rules no longer have.
 *
 * @param {Rules | null} before the rules under which it was made
 */
export async function reshapePush(work, push, before = work.rules) {
  if ((push.body && !push.change) || push.settled) return;
  const unfit = [];
  await work.touch(...push.edits);
  for (const edit of push.edits) {
    if (work.isStale(edit)) continue;
    const { sections } = work.rules.resources.get(edit.resource) ?? {}, below = await work.below(push, edit);
    const rows = edit.rows.map((row) => reshaped(row, sections?.get(row.section), below));
    if (rows.includes(null)) unfit.push(edit);
    else edit.rows = rows.flat();
  }
  if (!unfit.length) return work.shrink(push);
  // The names are those under which the app made the edit.
  for (const edit of unfit) edit.wire = onTheWire(edit, before ?? work.rules);
  const problem = work.decisions.localProblem("field-removed", 409, "A field of this edit exists no longer.");
  if (push.atomic === "edit") return work.decisions.refusePart(work, push, unfit, problem);
  for (const edit of push.edits) edit.wire ??= onTheWire(edit, before ?? work.rules);
  return settle(work, push, [], problem);
}

/** The row by the rules of its section; none if nothing of it is left, null if a part of it was removed. */
function reshaped(row, section, below) {
  if (!section || section.isList !== (row.item !== undefined)) return null;
  row = renamedRow(row, section);
  const { old, new: value } = row;
  const now = rowIn(below, row) ?? {}, all = [...section.fields.keys()];
  if (!value) return { ...row, old: { ...pick(now, all), ...pick(old, all) } };
  const changed = Object.keys(value).filter((name) => !old || !same(old[name], value[name]));
  if (!changed.every((name) => section.fields.has(name))) return null;
  if (!isChange(row)) return row;
  const names = [...new Set(changed.flatMap((name) => section.groups.get(section.fields.get(name).group)))], rest = pick(now, names);
  return names.length ? { ...row, old: { ...rest, ...pick(old, names) }, new: { ...rest, ...pick(value, names) } } : [];
}
