import { parse, stringify } from "./json.js";
import { rowIn } from "./layers.js";
import { pick } from "./rules.js";
import { bare } from "./sending.js";
import { byKey, idKey, same } from "./values.js";

/*
 * A form and the store: unedited groups follow the store, edited groups may conflict.
 */

const plain = (value) => (value === null || value === undefined ? value : parse(stringify(value)));

/** The names of fields that change together: the fields of each group, and each read-only field. */
const together = ({ fields, groups, names }) => [...groups, ...names.filter((name) => !fields.has(name)).map((name) => [null, [name]])];

/** Has each group that the working copy has as its base take the values of the record in the store. */
export function following({ sections }, base, record, now) {
  for (const section of sections.values()) {
    const { name, isList } = section;
    if (!Object.hasOwn(now, name)) continue;
    if (isList) followList(section, base, record, now[name] ?? []);
    else if (base[name] && record[name] && now[name]) followRow(section, base[name], record[name], now[name]);
    else if (same(plain(record[name]), base[name])) [base[name], record[name]] = [structuredClone(now[name]), structuredClone(now[name])];
  }
}

function followRow(section, base, record, now) {
  for (const [, names] of together(section)) {
    const seen = pick(base, names);
    if (!same(pick(record, names), seen) || same(pick(now, names), seen)) continue;
    Object.assign(base, pick(now, names));
    Object.assign(record, pick(now, names));
  }
}

function followList(section, base, record, now) {
  const { name } = section, list = record[name] ?? [], seen = byKey(base[name] ?? []), own = byKey(list.filter(({ id }) => id !== undefined)), there = byKey(now), added = [];
  for (const [key, row] of there) {
    if (seen.has(key) && own.has(key)) followRow(section, seen.get(key), own.get(key), row);
    else if (!seen.has(key) && !own.has(key)) added.push(row);
  }
  const isGone = (row) => !there.has(idKey(row.id));
  const left = list.filter((row) => row.id === undefined || !isGone(row) || !seen.has(idKey(row.id)) || !same(plain(row), seen.get(idKey(row.id))));
  record[name] = placed([...left, ...structuredClone(added)], there);
  base[name] = placed([...(base[name] ?? []).filter((row) => !isGone(row) || left.some(({ id }) => id !== undefined && idKey(id) === idKey(row.id))), ...structuredClone(added)], there);
}

/** Items in the order of the store, then new items. */
function placed(rows, there) {
  const order = [...there.keys()], place = ({ id }) => { const found = id === undefined ? -1 : order.indexOf(idKey(id)); return found < 0 ? order.length : found; };
  return rows.sort((one, other) => place(one) - place(other));
}

/** The groups with different values in base, working copy and store; the complete row if it was deleted. */
export function meetings({ sections }, base, record, now) {
  if (!base || !now) return [];
  return [...sections.values()].flatMap((section) => (section.isList ? (base[section.name] ?? []).map(({ id }) => id) : [undefined]).flatMap((item) => {
    const place = { section: section.name, ...(item !== undefined && { item }) }, [seen, own, current] = [base, record, now].map((one) => rowIn(one, place));
    if (!seen || !own) return [];
    if (!current) return same(plain(own), seen) ? [] : [{ ...place, old: plain(seen), current: null, new: plain(own) }];
    return [...section.groups].flatMap(([group, names]) => {
      const [old, mine, theirs] = [seen, own, current].map((row) => pick(row, names));
      if ([old, mine, theirs].some((one) => Object.keys(one).length < names.length) || same(mine, old) || same(theirs, old) || same(mine, theirs)) return [];
      return [{ ...place, group, values: theirs, old: bare(old, names), current: bare(theirs, names), new: bare(mine, names) }];
    });
  }));
}

/** Accepts the value in the store as the base, and also as the value of the form if the user chose it. */
export function settle(base, record, { section, item, values }, isTheirs) {
  const place = { section, ...(item !== undefined && { item }) }, rows = [base, ...(isTheirs ? [record] : [])];
  for (const one of rows) {
    if (values) Object.assign(rowIn(one, place) ?? {}, structuredClone(values));
    else if (isTheirs) one[section] = item === undefined ? null : one[section].filter(({ id }) => id === undefined || idKey(id) !== idKey(item));
  }
}
