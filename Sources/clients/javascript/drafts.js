import { missing, rulesOf } from "./editing.js";
import { FieldMergeError, fail } from "./errors.js";
import { parse, stringify } from "./json.js";
import { revive } from "./keep.js";
import { groupsOf, isChange, named, rowIn, view } from "./layers.js";
import { bareEdit, putBack, take, versionOf } from "./refused.js";
import { rename } from "./renaming.js";
import { blankRecord, difference, guarded, newId, pick } from "./rules.js";
import { bare } from "./sending.js";
import { StoreEvent } from "./store.js";
import { idKey, isObject, isTemporary, same, temporaryId } from "./values.js";

/*
 * Forms: edits whose base is a record that the app has read earlier. Loaded with the first of them.
 */

const plain = (record) => parse(stringify(record));

/** Opens a form of a record. */
export async function draft(desk, local, resource, id) {
  await desk.store.reach(resource, id);
  const base = await desk.store.record(resource, id);
  if (!base) throw missing(resource, id);
  return new Draft(desk, local, { resource, id }, base).watch();
}

/** Opens a form of a new record. */
export function newDraft(desk, local, resource) {
  const rules = rulesOf(local, resource), blank = blankRecord(rules, rules.root.generated ? temporaryId() : null);
  return new Draft(desk, local, { resource, id: blank.id }, null, blank);
}

/** Edits a record from a base that the app has read earlier. */
export async function editFrom(desk, local, resource, id, change, base) {
  const own = await local.read((work) => Promise.all([id, base.id].map((one) => work.resolve(one))));
  if (idKey(own[0]) !== idKey(own[1])) throw new FieldMergeError("other-record", `The base is record ${idKey(base.id)}, the edit is of record ${idKey(id)}.`);
  const form = new Draft(desk, local, { resource, id }, base);
  await change(form.record);
  return form.save();
}

const notRefused = () => new FieldMergeError("not-refused", "This edit is not in the list of refused edits any more. Open another form.");

/** Opens a form of a refused edit. A save of the form removes the entry from the list. */
export async function restored(desk, local, number) {
  const { edit, base, record, ...kept } = await local.read(async (work) => {
    const entry = await work.tx.get("x", number), [edit, ...others] = entry?.edits.map(bareEdit) ?? [], { sections, root } = edit ? rulesOf(work, edit.resource) : {};
    if (!edit) throw notRefused();
    if (others.length) throw new FieldMergeError("several-records", "This edit has several records. Use resend() or discard().");
    for (const { section, new: value } of edit.rows) {
      if (section === root.name && !value) throw new FieldMergeError("deletion", "A deletion has no form. Use resend() or discard().");
      if (Object.keys(value ?? {}).some((name) => !sections.get(section)?.fields.has(name))) throw new FieldMergeError("field-removed", "A field of this edit exists no longer. Copy its value, then use discard().");
    }
    const base = edit.creates ? null : await work.read(edit), record = (base || edit.creates) && view(base, [{ edits: [edit] }], edit, work.rules);
    if (!record) throw missing(edit.resource, edit.id);
    // Values of a deleted row are kept in the list.
    const left = edit.rows.map((row) => isChange(row) && !rowIn(record, row));
    return { edit, base, record, left, version: versionOf(entry) };
  });
  return new Draft(desk, local, edit, base, record, { number, ...kept }).watch();
}

class Draft {
  #desk; #local; #resource; #id; #entry; #end;
  /** The sections of the active rules, by which the working copy reports misspelled fields. */
  #known;
  /** The base of a running save. A record that the store then reads is not a change by another client. */
  #saving = null;
  /** The record as the store had it last. */
  #seen = null;
  #last = Promise.resolve();
  #isClosed = false;
  /** The record that the user saw; null for a new record. */
  base;
  /** The working copy. */
  record;
  /** Runs if the record in the store has changed. */
  changed;
  /** The record as a form without a base begins. */
  blank;

  constructor(desk, local, { resource, id }, base, record = base, entry) {
    this.blank = plain(record);
    this.#known = { ...rulesOf(local, resource) };
    Object.assign(this, { base: base && plain(base), record: guarded(plain(record), this.#known) });
    [this.#desk, this.#local, this.#resource, this.#id, this.#entry] = [desk, local, resource, id, entry];
  }

  watch() {
    this.#end = this.#desk.store.observe(this.#resource, this.#id, (record) => void this.#changed(record).catch(() => {}));
    return this;
  }

  /** Ends the form, and drops unsaved changes. */
  close() {
    this.#isClosed = true;
    this.#end?.();
  }

  /**
   * Makes one edit of the changes since the form was opened or last saved.
   *
   * @param {{section: string, item?: any, names?: string[]}} [place] saves this part alone
   */
  async save(place) {
    if (this.#isClosed) throw new FieldMergeError("closed", "The form is closed.");
    return this.#queued(() => this.#save(place));
  }

  /** Whether only the complete form can be saved: for a new record, or a refused edit. */
  get isWhole() { return !this.base || !!this.#entry; }

  /** Saves and reads run one after another. */
  #queued(body) { return (this.#last = this.#last.catch(() => {}).then(body)); }

  /** Reads the rules and the record in the store, between two saves. */
  refresh(body) {
    return this.#queued(async () => {
      if (this.#isClosed) return;
      const { rules, now } = await this.#local.read(async (work) => {
        const known = rulesOf(work, this.#resource);
        await this.#renew(work, known);
        return { rules: known, now: await work.read({ resource: this.#resource, id: await work.resolve(this.#id) }) };
      });
      if (!this.#isClosed) body(rules, now && plain(now));
    });
  }

  /** Begins again with a record; null for a new record. */
  begin(base) { Object.assign(this, { base: base && plain(base), record: guarded(plain(base ?? this.blank), this.#known) }); }

  async #save(place) {
    let id;
    try {
      const ticket = await this.#desk.queued(async (work) => {
        const rules = rulesOf(work, this.#resource), resource = this.#resource;
        await this.#renew(work, rules);
        for (const { name, isList, generated } of rules.sections.values()) for (const row of (isList && generated && this.record[name]) || []) if (isObject(row)) row.id ??= temporaryId();
        this.#saving = plain(place && !this.isWhole ? withPart(this.base, this.record, place) : this.record);
        id = this.base ? await work.resolve(this.#id) : newId(this.#saving.id ?? null, rules.root, "id");
        const filled = plain(this.#saving), tickets = this.#entry ? await this.#takeEntry(work, filled) : [];
        if (this.base) await revive(work, { resource, id }, this.base);
        const now = await work.read({ resource, id });
        if (this.base ? !now : now) throw this.base ? missing(resource, id) : new FieldMergeError("exists", "“id” is that of another record.", { path: "id" });
        return appended(work, rules, { resource, id, ...(!this.base && { creates: true }), rows: difference(rules, this.base, filled) }, now, tickets);
      });
      Object.assign(this, { base: this.#saving });
      this.#id = id;
      this.#entry = undefined;
      return ticket;
    } finally {
      this.#saving = null;
    }
  }

  /** Removes the entry of a restored form, and returns its tickets. Values without a row in the form are kept in the list. */
  async #takeEntry(work, record) {
    const { number, version, left } = this.#entry, entry = await take(work, number, version);
    if (!entry) throw notRefused();
    const [edit] = entry.edits, unfit = edit.rows.filter((_, index) => left[index]);
    if (unfit.length) await putBack(work, entry, [{ ...edit, rows: unfit }]);
    // Fields that the refused edit left to the database are null in the form, and the database fills them in again.
    for (const given of edit.rows.filter((one) => !one.old && !rowIn(this.base, one))) {
      const row = rowIn(record, given) ?? {};
      for (const name of Object.keys(row)) if (row[name] === null && !Object.hasOwn(given.new, name)) delete row[name];
    }
    return work.tickets(entry);
  }

  /** Applies new names of fields, and replaces temporary ids by real ids. The objects keep their identity. */
  async #renew(work, rules) {
    Object.assign(this.#known, rules);
    for (const record of [this.base, this.record]) rename(record, rules.sections);
    const ids = {};
    for (const id of named([this.base, this.record])) ids[id] = await work.resolve(id);
    // Rows that were created meanwhile get the database's values for fields without a value in the form.
    for (const { name, isList } of rules.sections.values()) {
      for (const seen of [this.base?.[name] ?? []].flat()) {
        const id = isList ? seen.id : this.base.id, told = isTemporary(id) && (await work.tx.get("f", id));
        rename(told || {}, rules.sections);
        const own = told && rowIn(this.record, { section: name, ...(isList && { item: id }) });
        for (const [field, value] of Object.entries(told?.[name] ?? {})) for (const row of [seen, own]) if (row?.[field] === null) row[field] = value;
      }
    }
    const replace = (values) => {
      for (const [name, value] of Object.entries(values ?? {})) {
        if (typeof value === "object") replace(value);
        else if (Object.hasOwn(ids, value) && ids[value] !== value) values[name] = ids[value];
      }
    };
    replace(this.base);
    replace(this.record);
    for (const { name, isList } of this.base ? rules.sections.values() : []) if (isList) unite(this.base, this.record, name);
  }

  /** Looks for groups that the form and the store have both changed. */
  async #changed(now) {
    const before = this.#seen;
    this.#seen = now;
    if (!this.#isClosed) this.changed?.();
    if (!before || !now || this.#isClosed) return;
    const rules = await this.#local.read(async (work) => {
      const known = rulesOf(work, this.#resource);
      await this.#renew(work, known);
      return known;
    });
    const base = this.#saving ?? this.base, mine = plain(this.record);
    for (const { name: section, isList, groups } of rules.sections.values()) {
      for (const { id: item } of [mine[section] ?? []].flat()) {
        const place = { section, ...(isList && { item }) };
        const [old, is, was, own] = [base, now, before, mine].map((record) => rowIn(record, place));
        for (const [group, names] of old ? groups : []) {
          if (names.some((name) => [old, is, was].some((row) => row && !Object.hasOwn(row, name)))) continue;
          const of = (row) => (row ? pick(row, names) : null);
          if (same(of(own), of(old)) || same(of(is), of(was)) || same(of(is), of(old))) continue;
          this.#overtaken({ ...place, group, old: bare(old, names), current: bare(is, names), new: bare(own, names) }, place, of(is));
        }
      }
    }
  }

  #overtaken(event, place, current) {
    const { section, item } = place;
    const set = (record) => {
      const row = rowIn(record, place);
      if (row && current) Object.assign(row, current);
      else if (row && !current) record[section] = item === undefined ? null : record[section].filter((one) => one.id !== row.id);
    };
    const keepMine = async () => { if (current) set(this.base); }, takeTheirs = async () => { set(this.base); set(this.record); };
    const { resource } = { resource: this.#resource };
    this.#desk.store.dispatchEvent(new StoreEvent("overtaken", {
      kind: "overtaken", resource, id: this.#seen.id, by: null, ...event, draft: this, keepMine, takeMine: keepMine, takeTheirs, dismiss: async () => {},
    }));
  }
}

/**
 * Removes one of two rows with the same id. A record has both if it was read after the server had stored a new row, and
 * before the push that creates the row had an answer: the row of the server, and the row of the edit.
 */
function unite(base, record, name) {
  const rows = base[name] ?? [], keyOf = ({ id }) => idKey(id);
  for (const key of new Set(rows.map(keyOf))) {
    const seen = rows.filter((row) => keyOf(row) === key), own = (record[name] ?? []).filter((row) => row.id !== undefined && keyOf(row) === key);
    if (seen.length < 2) continue;
    // The edited item counts, not its copy.
    const left = own.find((row) => !seen.some((one) => same(one, plain(row)))) ?? own[0];
    const old = (own.length === seen.length && seen[own.indexOf(left)]) || seen[0];
    base[name] = base[name].filter((row) => row === old || !seen.includes(row));
    if (own.length) record[name] = record[name].filter((row) => row === left || !own.includes(row));
  }
}

/** A record with a part of another: a section, an item of a list, or some fields of either. */
function withPart(base, record, { section, item, names }) {
  const place = { section, ...(item !== undefined && { item }) }, [old, now] = [base, record].map((one) => rowIn(one, place));
  const row = names && old && now ? { ...old, ...pick(now, names) } : now;
  if (item === undefined) return { ...base, [section]: names && old && now ? row : record[section] };
  const list = base[section] ?? [];
  return { ...base, [section]: old ? list.flatMap((one) => (one !== old ? [one] : row ? [row] : [])) : [...list, ...(row ? [row] : [])] };
}

/** Adds an edit with a separate base to the queue: as a separate push if the store's values differ from the base. */
async function appended(work, { sections }, edit, now, tickets) {
  const { resource, id, rows } = edit, overtaken = [];
  let isApart = false;
  for (const row of rows) {
    const section = sections.get(row.section), found = rowIn(now, row);
    if (isChange(row)) complete(row, section, found);
    isApart ||= row.old ? !same(found && pick(found, Object.keys(row.old)), row.old) : !!found;
    for (const [group, names] of isChange(row) ? groupsOf(row, section) : []) {
      const [old, current] = [row.old, found].map((one) => bare(one, names));
      if ((found && !names.every((name) => Object.hasOwn(found, name))) || same(old, current)) continue;
      overtaken.push({ event: "overtaken", resource, id, section: row.section, ...(row.item !== undefined && { item: row.item }), group, old, current, new: bare(row.new, names), by: null });
    }
  }
  for (const ticket of tickets) await work.end(ticket);
  const told = await work.append([edit], [{ resource, id }], undefined, isApart), push = (await work.pushesOf({ resource, id })).find((one) => one.tickets.includes(told.seq));
  work.events.push(...(push ? overtaken.map((event) => ({ ...event, push: push.seq })) : []));
  for (const ticket of tickets) await work.end(ticket, told.outcome);
  if (push && tickets.length) await work.tx.put("p", push.seq, { ...push, tickets: [...push.tickets, ...tickets.map(({ seq }) => seq)] });
  return told;
}

/** Gives a group the values of fields that its base lacks. */
function complete({ old, new: value }, { fields, groups }, found) {
  const names = Object.keys(value).flatMap((name) => groups.get(fields.get(name).group)).filter((name) => found && !Object.hasOwn(old, name) && Object.hasOwn(found, name));
  const rest = pick(found ?? {}, names);
  Object.assign(old, rest);
  for (const name of names) if (!Object.hasOwn(value, name)) value[name] = rest[name];
}
