/*
 * Texts with the order of values: of two values of a type, the lesser value has the lesser text, and equal values have equal
 * texts. Conditions, orders and indexes compare only these texts.
 *
 * The first character is `0` for null and `1` for a value. A field that the record does not contain has the empty text.
 */

/** Ends the text of a value in an entry of an index. It sorts before every continuation of a longer value. */
const end = "\0\0";
/** Separates the columns of an id, and ends the range of one value and its entries. */
export const behind = "\0\x01";

/** Moves surrogates to the end, so that UTF-16 sorts by code points, and marks null characters. */
const moved = (letter) => (letter === "\0" ? "\0\x02" : String.fromCharCode(letter.charCodeAt() + (letter < "\ue000" ? 0x2000 : -0x800)));
const text = (value) => (/[\0\ud800-\uffff]/.test(value) ? value.replace(/[\0\ud800-\uffff]/g, moved) : value);

/** The text of a number or of decimal digits; undefined for anything else. */
export function number(value) {
  const [, sign, whole, fraction, power = 0] = (typeof value !== "boolean" && !Array.isArray(value) && /^(-?)0*(\d*)\.?(\d*)(?:e([+-]?\d+))?$/i.exec(value)) || [];
  if (whole === undefined || !/^-?\.?\d/.test(value)) return;
  const digits = (whole + fraction).replace(/^0+|0+$/g, "");
  if (!digits) return "1";
  const point = +power + (whole.length || -/^0*/.exec(fraction)[0].length), key = String(point + 5e5).padStart(7, 0) + digits;
  // Negative numbers with greater digits, or with more digits, sort first.
  return sign ? `0${key.replace(/\d/g, (digit) => 9 - digit)}~` : `2${key}`;
}

const json = (value) => (typeof value === "boolean" ? `1${+value}` : typeof value === "string" ? `3${text(value)}` : (number(value)?.replace(/^/, "2") ?? "4"));

/** Other values, such as temporary ids, sort after all numbers. */
const numeric = (value) => number(value) ?? json(value);

/** Zeros at the end of a fraction do not count, and a date is its midnight. */
const datetime = (value) => (value.length === 10 ? `${value}T00:00:00` : String(value).replace(" ", "T").replace(/\.(\d*?)0*$/, (_, digits) => digits && `.${digits}`));

function timestamp(value) {
  const [, second, fraction = "", offset] = /^(.{19})(\.\d+)?([+-]\d\d:?\d\d)$/.exec(value) ?? [];
  const moment = new Date(`${second?.replace(" ", "T")}${offset?.replace(/:?(\d\d)$/, ":$1")}`);
  return datetime(+moment === +moment ? moment.toJSON().slice(0, 19) + fraction : String(value).replace("Z", ""));
}

function time(value) {
  const [, sign, hours, minutes, seconds, fraction = ""] = /^(-?)(\d+):(\d\d):(\d\d)(\.\d+)?$/.exec(value) ?? [];
  return numeric(hours ? `${sign}${hours * 3600 + minutes * 60 + +seconds}${fraction}` : value);
}

/** The texts of values by their type. All other types are compared as texts. */
export const kinds = {
  integer: numeric, year: numeric, bit: numeric, decimal: numeric, float: numeric, double: numeric,
  boolean: (value) => String(+value), datetime, timestamp, time, json,
};

/** The text of a value of a type. */
export const keyOf = (value, type) => (value === undefined ? "" : value === null ? "0"
  : `1${kinds[type] ? kinds[type](value) : typeof value === "string" ? text(value) : json(value)}`);

/** The text of an id, by the types of its columns. */
export const idOrder = (id, types) => [id].flat().map((part, index) => keyOf(part, types[index])).join(behind);

/** Reads a field that a row may not contain. */
const valueIn = (row, field) => (!row ? row : Object.hasOwn(row, field) ? row[field] : undefined);

/** The members of a set. */
const members = (value) => (typeof value === "string" ? value.split(",").filter(Boolean) : [value].flat());

/**
 * The texts of the values of a record at a place: one, except for a list or a set.
 *
 * A place is `{section, field, isList, type}`. Without a `field` it is an id, and `type` has the types of its columns.
 */
export function keysOf(record, { section, field, isList, type }) {
  const rows = isList ? (record[section] ?? [undefined]) : [section ? record[section] : record];
  return rows.flatMap((row) => (!field ? `1${row ? idOrder(row.id, type) : ""}`
    : type === "set" ? members(valueIn(row, field)).map((one) => keyOf(one)) : keyOf(valueIn(row, field), type)));
}

/** The words of a text: letters and digits, without case and accents. */
export const wordsOf = (value) => value.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase().replace(/ß/g, "ss").replace(/ς/g, "σ").match(/[\p{L}\p{N}]+/gu)?.map(text) ?? [];

/** The words of a record at some places. */
export const wordsIn = (record, places) => places.flatMap(({ section, field, isList }) => (isList ? (record[section] ?? []) : [record[section]])
  .flatMap((row) => members(valueIn(row, field))).flatMap((value) => (typeof value === "string" ? wordsOf(value) : [])));

/** The entries of a record in an index of a place, or of the words of some: each value, and the id, which decides ties. */
export function entriesOf(record, { places, isSearch, ids }) {
  const id = idOrder(record.id, ids);
  return new Set((isSearch ? wordsIn(record, places) : keysOf(record, places[0])).map((key) => key + end + id));
}

/** The text of the value that an entry begins with. */
export const valueOf = (entry) => entry.slice(0, entry.indexOf(end));
