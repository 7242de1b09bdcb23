import { FieldMergeError } from "./errors.js";

/** Tells whether two JSON values are the same, whatever the order of their members. */
export function same(one, other) {
  if (one === other) return true;
  if (typeof one !== "object" || typeof other !== "object" || one === null || other === null) return false;
  if (Array.isArray(one) !== Array.isArray(other)) return false;
  const names = Object.keys(one);
  if (names.length !== Object.keys(other).length) return false;
  return names.every((name) => Object.hasOwn(other, name) && same(one[name], other[name]));
}

/** A deep copy of a JSON value; undefined stays undefined. */
export const copy = (value) => (value === undefined ? value : structuredClone(value));

/** The text by which an id is known: its spelling in a URL, the same for a number and its decimal string. */
export const idKey = (id) => (Array.isArray(id) ? id : [id]).map((part) => encodeURIComponent(String(part))).join(",");

/** Orders ids: numbers by value before texts by characters. */
export function compareIDs(one, other) {
  const left = Array.isArray(one) ? one : [one], right = Array.isArray(other) ? other : [other];
  for (let index = 0; index < Math.max(left.length, right.length); index++) {
    const a = left[index], b = right[index];
    if (String(a) === String(b)) continue;
    const numbers = typeof a === "number" && typeof b === "number";
    if (numbers) return a - b;
    if (typeof a !== typeof b) return typeof a === "number" ? -1 : 1;
    return a < b ? -1 : 1;
  }
  return 0;
}

/** A random UUID, also where a page has no secure context. */
export function uuid() {
  if (globalThis.crypto?.randomUUID) return crypto.randomUUID();
  const bytes = new Uint8Array(16);
  if (globalThis.crypto) crypto.getRandomValues(bytes);
  else throw new FieldMergeError("no-random", "There is no source of random numbers here.");
  bytes[6] = (bytes[6] & 15) | 64;
  bytes[8] = (bytes[8] & 63) | 128;
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

export const isTemporary = (id) => typeof id === "string" && id.startsWith("tmp:");

/** Returns the name that is nearest to a misspelled one; undefined where none is near. */
export function nearest(name, names) {
  let best, least = Math.max(2, name.length / 2) + 1;
  for (const candidate of names) {
    let row = Array.from({ length: candidate.length + 1 }, (_, index) => index);
    for (let i = 1; i <= name.length; i++) {
      const next = [i];
      for (let j = 1; j <= candidate.length; j++) {
        const differs = name[i - 1].toLowerCase() === candidate[j - 1].toLowerCase() ? 0 : 1;
        next[j] = Math.min(next[j - 1] + 1, row[j] + 1, row[j - 1] + differs);
      }
      row = next;
    }
    if (row[candidate.length] < least) [best, least] = [candidate, row[candidate.length]];
  }
  return best;
}

const isText = (value) => typeof value === "string";
const matches = (pattern) => (value) => isText(value) && pattern.test(value);
const isDecimal = (value) => Number.isFinite(value) || matches(/^-?\d+(\.\d+)?(e[+-]?\d+)?$/i)(value);

function isDay(text) {
  const [year, month, day] = text.slice(0, 10).split("-").map(Number);
  return text.startsWith("0000-00-00") || (month > 0 && month < 13 && day > 0 && day <= new Date(Date.UTC(2000 + (year % 400), month, 0)).getUTCDate());
}
const isMoment = (value) => matches(/^\d{4}-\d\d-\d\d[T ]([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d+)?(Z|[+-]\d\d:?\d\d)?$/)(value) && isDay(value);

function isInteger(value, { minimum, maximum }) {
  if (!(Number.isInteger(value) || matches(/^-?\d+(\.0+)?$/)(value))) return false;
  const number = BigInt(String(value).split(".")[0]);
  return !(minimum !== undefined && number < BigInt(minimum)) && !(maximum !== undefined && number > BigInt(maximum));
}

function fitsDecimal(value, { precision, scale }) {
  if (!isDecimal(value)) return false;
  if (precision === undefined || /e/i.test(value)) return true;
  const [whole, fraction = ""] = String(value).replace(/^-?0*/, "").split(".");
  return whole.length <= precision - scale && fraction.replace(/0+$/, "").length <= scale;
}

const isMember = (value, { members }) => isText(value) && (!members || members.includes(value));

/** Whether a value fits, by the name of its type; a type that is not here is left to the gateway. */
const kinds = {
  boolean: (value) => [true, false, 0, 1].includes(value),
  integer: isInteger, year: isInteger, bit: isInteger,
  decimal: fitsDecimal, float: isDecimal, double: isDecimal,
  text: isText, uuid: isText, inet4: isText, inet6: isText, geometry: isText,
  enum: isMember,
  set: (value, field) => (isText(value) ? value.split(",").filter(Boolean) : Array.isArray(value) ? value : [0]).every((member) => isMember(member, field)),
  date: (value) => matches(/^\d{4}-\d\d-\d\d$/)(value) && isDay(value),
  datetime: isMoment, timestamp: isMoment,
  time: matches(/^-?\d{1,3}:[0-5]\d:[0-5]\d(\.\d+)?$/),
  binary: (value) => matches(/^[A-Za-z0-9+/]*={0,2}$/)(value) && value.length % 4 === 0,
};

/**
 * Checks a value that the app assigned against its field's type and limits.
 *
 * @throws {FieldMergeError} `invalid-value`, with the path.
 */
export function checkValue(value, field, path) {
  const { type, nullable, maximumCharacters, maximumBytes, references } = field;
  const isFit = value === null ? nullable !== false : ["undefined", "function", "bigint", "symbol"].includes(typeof value) ? false
    : (references && isTemporary(value)) || (kinds[type]?.(value, field) ?? true);
  const isLong = isText(value) && type === "text" && ([...value].length > maximumCharacters || new TextEncoder().encode(value).length > maximumBytes);
  if (isFit && !isLong) return;
  throw new FieldMergeError("invalid-value", `“${path}” is ${isLong ? "longer than its column" : `no ${value === null ? "null" : type} that its column holds`}.`, { path });
}
