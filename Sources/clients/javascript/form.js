import { draft, newDraft, restored } from "./drafts.js";
import { missing, rulesOf } from "./editing.js";
import { FieldMergeError, fail } from "./errors.js";
import { following, meetings, settle } from "./following.js";
import { inputOf, readInput } from "./inputs.js";
import { parse, stringify } from "./json.js";
import { rowIn } from "./layers.js";
import { pick, unknown } from "./rules.js";
import { copy, idKey, same } from "./values.js";
import { report } from "./watching.js";

/*
 * Forms with the values, messages and states of their fields, and the rules of a resource. Loaded with the first of them.
 */

/**
 * The rules of a resource for this client: types, members, lengths, policies and rights.
 *
 * @param {string} resource
 */
export const rules = (desk, local, resource) => local.read(async (work) => {
  rulesOf(work, resource);
  const { resources, stale = [] } = await work.tx.get("meta", "rules"), before = new Map(stale);
  const { sections, description, create = true, delete: remove = true } = before.get(resource) ?? resources.find((one) => one.resource === resource);
  return { resource, description, mayCreate: create, mayDelete: remove, sections: Object.fromEntries(sections.map((section) => [section.section, sectionRules(section)])) };
});

function sectionRules({ kind, key, groups, readOnly = [] }) {
  const fields = groups.flatMap(({ group, onConflict, merge, transitions, write = true, create, fields }) => fields.map(({ field, formerly, ...type }) => [field, {
    ...type, group, policy: onConflict, ...(merge && { merge }), ...(transitions && { transitions }), mayWrite: write, mayCreate: write || create === true,
  }]));
  return { kind, key, fields: Object.fromEntries([...fields, ...readOnly.map(({ field, formerly, ...type }) => [field, { ...type, mayWrite: false, mayCreate: false }])]) };
}

/** Opens a form of a record, or without an id of a new record. */
export async function form(desk, local, resource, id) {
  const isNew = id === undefined || id === null, own = isNew ? newDraft(desk, local, resource) : await draft(desk, local, resource, id);
  return new Form(local, resource, own, isNew);
}

/** Opens a form of a refused edit. */
export async function refusedForm(desk, local, number, resource) { return new Form(local, resource, await restored(desk, local, number), false); }

/** A field of a form. */
class Field {
  #form; #row; #section; #name; #settings;

  constructor(form, { row, section, name, path, item }, settings) {
    [this.#form, this.#row, this.#section, this.#name, this.#settings] = [form, row, section, name, settings];
    Object.assign(this, { path, item });
  }

  /** Whether the record has the row of the field. */
  get isThere() { return !!this.#row(); }

  get #seen() { return this.#settings.base(this.#section, this.#row())?.[this.#name]; }

  /** The type, the limits, the group and its policy. */
  get rules() { return this.#settings.rules(this.#section, this.#name); }

  /** The value in the working copy. */
  get value() { return this.#row()?.[this.#name]; }

  /** The text of an HTML input: the value, or the user's text if it is invalid. */
  get input() { return this.#settings.typed(this)?.input ?? inputOf(this.value, this.rules); }

  /** The problem of an invalid input: a sentence, and a code; null if it is valid. */
  get message() { return this.#settings.typed(this)?.problem.message ?? null; }
  get code() { return this.#settings.typed(this)?.problem.code ?? null; }
  get isValid() { return this.message === null; }
  get isDirty() { return !this.isValid || !same(this.value, this.#seen); }

  /** Another client's change to a group that this form has changed too; null if there is none. */
  get conflict() {
    const { group } = this.rules, item = this.item === undefined ? undefined : this.#row()?.id;
    return this.#form.conflicts.find((one) => one.section === this.#section && same(one.item, item) && (one.group ?? group) === group) ?? null;
  }

  /** Whether this client may write the field; in a new row also if it may set it in new rows only. */
  get mayWrite() {
    const { write = true, create, group } = this.rules;
    return group !== undefined && (write || (create === true && !this.#settings.base(this.#section, this.#row())));
  }

  /** Whether the field is in a part of the record. */
  isIn({ section, item, names }) { return this.#section === section && (item === undefined || idKey(this.#row()?.id) === idKey(item)) && (!names || names.includes(this.#name)); }

  /** Sets the content of an HTML input: its `value`, or `checked` of a checkbox. */
  set(input) {
    if (!this.mayWrite) fail("read-only", this.path, "may not be written by this client");
    const row = this.#row();
    if (!row) fail("no-such-record", this.path, "has no row in this form");
    const { value, problem } = readInput(input, this.rules, this.#seen, this.path);
    if (!problem && !(value === null && this.value === undefined)) row[this.#name] = copy(value);
    this.#settings.type(this, problem && { input, problem });
  }
}

const messagesOf = (wrong) => Object.fromEntries(wrong.map(([{ path }, { problem }]) => [path, problem.message]));

/** A form: a working copy of a record whose unedited groups follow the store. */
class Form {
  #local; #resource; #draft; #isUnsaved; #now; #listeners = new Set();
  /** The fields of sections and of each item, by path. */
  #fields = new Map();
  #items = new WeakMap();
  /** Inputs that are no values, by their fields. */
  #typed = new Map();

  isClosed = false;

  constructor(local, resource, draft, isUnsaved) {
    [this.#local, this.#resource, this.#draft, this.#isUnsaved, this.#now] = [local, resource, draft, isUnsaved, draft.base];
    draft.changed = () => void this.#follow().catch((error) => { if (error.code !== "closed") report(error); });
  }

  get id() { return this.#draft.record.id; }
  get base() { return this.#draft.base; }
  get record() { return this.#draft.record; }
  get isDirty() { return !this.isValid || !same(parse(stringify(this.record)), this.base ?? this.#draft.blank); }
  get isValid() { return this.#wrong.length === 0; }
  /** Whether the record was deleted, or is no longer this client's. */
  get isGone() { return this.#now === null && !this.#isUnsaved; }

  /** The messages of inputs that are no values, by path. */
  get messages() { return messagesOf(this.#wrong); }

  get #wrong() { return [...this.#typed].filter(([field]) => field.isThere); }

  /** Groups that the form and another client have changed since the form was opened. */
  get conflicts() {
    return meetings(this.#rules, this.base, this.record, this.#now).map((one) => ({
      ...one,
      keepMine: () => this.#decide(one, false),
      takeTheirs: () => this.#decide(one, true),
    }));
  }

  get #rules() { return rulesOf(this.#local, this.#resource); }

  /**
   * A field by its path: `section.field`, or `list.field` with the id of the item.
   *
   * @throws {FieldMergeError} `unknown-section`, `unknown-field`, `no-such-record`
   */
  field(path, item) {
    const [name, field = ""] = path.split("."), { sections } = this.#rules, section = sections.get(name) ?? unknown("section", name, path, sections.keys());
    if (!section.names.includes(field)) unknown("field", field, path, section.names);
    const found = section.isList ? rowIn(this.record, { section: name, item }) : null;
    if (section.isList && !found) throw missing(`${this.#resource}.${name}`, item ?? "");
    if (found && !this.#items.has(found)) this.#items.set(found, new Map());
    const fields = found ? this.#items.get(found) : this.#fields, row = () => (found ? this.record[name]?.find((one) => one === found) : this.record[name]);
    if (!fields.has(path)) fields.set(path, new Field(this, { row, section: name, name: field, path, item }, {
      base: (of, own) => rowIn(this.base, { section: of, ...(found && { item: own?.id ?? null }) }),
      rules: (of, one) => { const known = this.#rules.sections.get(of); return known.fields.get(one) ?? { type: known.types.get(one) }; },
      typed: (one) => this.#typed.get(one),
      type: (one, told) => {
        if (told) this.#typed.set(one, told);
        else this.#typed.delete(one);
        this.#tell();
      },
    }));
    return fields.get(path);
  }

  /** Calls back now, and after each change of the form or the record. Returns a function that ends this. */
  subscribe(callback) {
    const own = (form) => callback(form);
    this.#listeners.add(own);
    own(this);
    return () => void this.#listeners.delete(own);
  }

  #tell() { for (const listener of this.#listeners) try { listener(this); } catch (error) { report(error); } }

  /** Has groups without an edit follow the store. */
  async #follow() {
    if (this.#isUnsaved) return;
    await this.#draft.refresh((rules, now) => {
      this.#now = now;
      if (now) following(rules, this.base, this.record, now);
    });
    if (!this.isClosed) this.#tell();
  }

  async #decide(meeting, isTheirs) {
    settle(this.base, this.record, meeting, isTheirs);
    if (isTheirs) for (const field of this.#typed.keys()) if (field.conflict === null && field.path.startsWith(`${meeting.section}.`) && field.rules.group === meeting.group) this.#typed.delete(field);
    this.#tell();
  }

  /** The place that a path names: a section, an item, or a group of either, by its name or that of a field. */
  #placeOf(path, item) {
    const [section, name] = path.split("."), { sections } = this.#rules, known = sections.get(section) ?? unknown("section", section, path, sections.keys());
    const names = name === undefined ? undefined : known.groups.get(known.fields.get(name)?.group ?? name) ?? unknown("field", name, path, known.names);
    return { section, ...(item !== undefined && { item }), ...(names && { names }) };
  }

  /**
   * Makes one edit of the changes, or of the part that a path names: `section`, or `section.group`, with the id of an item.
   * A form of a new record or of a refused edit is saved completely.
   *
   * @throws {FieldMergeError} `invalid-form` while an input of it is no value, with `path` and `messages`
   */
  async save(path, item) {
    const place = path !== undefined && !this.#draft.isWhole ? this.#placeOf(path, item) : undefined;
    const wrong = this.#wrong.filter(([field]) => !place || field.isIn(place)), [first] = wrong;
    if (first) throw new FieldMergeError("invalid-form", `“${first[0].path}”: ${first[1].problem.message}`, { path: first[0].path, messages: messagesOf(wrong) });
    const ticket = await this.#draft.save(place);
    if (this.#isUnsaved) this.#draft.watch();
    this.#isUnsaved = false;
    await this.#follow();
    return ticket;
  }

  /** Drops the changes, or the part that a path names: the form shows the record of the store. */
  async revert(path, item) {
    if (path !== undefined) return this.#revertPart(this.#placeOf(path, item));
    this.#typed.clear();
    if (this.#isUnsaved) this.#draft.begin(null);
    else await this.#draft.refresh((_, now) => {
      this.#now = now;
      this.#draft.begin(now ?? this.base);
    });
    this.#tell();
  }

  #revertPart(place) {
    const { section, item, names } = place, seen = this.base ?? this.#draft.blank, [old, own] = [seen, this.record].map((one) => rowIn(one, place));
    for (const field of this.#typed.keys()) if (field.isIn(place)) this.#typed.delete(field);
    if (names && old && own) Object.assign(own, copy(pick(old, names)));
    else if (item === undefined) this.record[section] = copy(seen[section]);
    else if (old) own ? Object.assign(own, copy(old)) : this.record[section].push(copy(old));
    else this.record[section] = this.record[section].filter((one) => one !== own);
    return this.#follow();
  }

  /** Ends the form without an edit. */
  close() {
    this.isClosed = true;
    this.#draft.close();
    this.#listeners.clear();
  }
}
