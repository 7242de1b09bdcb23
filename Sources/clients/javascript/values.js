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

const date = /^\d{4}-\d\d-\d\d$/;
const time = /^-?\d{1,3}:\d\d:\d\d(\.\d+)?$/;
const moment = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?/;
const decimal = /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/;
const isText = (value) => typeof value === "string";
const isDecimal = (value) => (typeof value === "number" ? Number.isFinite(value) : isText(value) && decimal.test(value));

function isDate(value) {
  if (!isText(value) || !date.test(value)) return false;
  const [year, month, day] = value.split("-").map(Number);
  return value === "0000-00-00" || (month >= 1 && month <= 12 && day >= 1 && day <= new Date(Date.UTC(2000 + (year % 400), month, 0)).getUTCDate());
}

function hasTime(text) {
  const [, hour, minute, second] = /[T ](\d\d):(\d\d):(\d\d)/.exec(text);
  return hour < 24 && minute < 60 && second < 60;
}

function isInteger(value, field) {
  if (typeof value === "number" ? !Number.isInteger(value) : !(isText(value) && /^-?\d+(\.0+)?$/.test(value))) return false;
  const number = BigInt(isText(value) ? value.split(".")[0] : value);
  return !(field.minimum !== undefined && number < BigInt(field.minimum)) && !(field.maximum !== undefined && number > BigInt(field.maximum));
}

function fitsDecimal(value, { precision, scale }) {
  if (!isDecimal(value)) return false;
  if (precision === undefined || /e/i.test(String(value))) return true;
  const [whole, fraction = ""] = String(value).replace(/^-/, "").split(".");
  return whole.replace(/^0+/, "").length <= precision - scale && fraction.replace(/0+$/, "").length <= scale;
}

/** What a value has to be, by the name of its type; a type that is not here is left to the gateway. */
const kinds = {
  boolean: ["true or false", (value) => typeof value === "boolean" || value === 0 || value === 1],
  integer: ["an integer within its range", isInteger],
  year: ["a year", isInteger],
  bit: ["an integer that is not negative", (value, field) => isInteger(value, field) && BigInt(value) >= 0n],
  decimal: ["a number that the column holds", fitsDecimal],
  float: ["a number", isDecimal],
  double: ["a number", isDecimal],
  text: ["a text", isText],
  uuid: ["a UUID", isText],
  inet4: ["an address", isText],
  inet6: ["an address", isText],
  geometry: ["a text", isText],
  enum: ["one of its members", (value, field) => isText(value) && (!field.members || field.members.includes(value))],
  set: ["an array of texts", (value, field) => (isText(value) ? value.split(",").filter(Boolean) : Array.isArray(value) ? value : [0])
    .every((member) => isText(member) && (!field.members || field.members.includes(member)))],
  date: ["a date such as 2026-11-20", isDate],
  datetime: ["a moment such as 2026-11-20T10:00:00", (value) => isText(value) && moment.test(value) && isDate(value.slice(0, 10)) && hasTime(value)],
  timestamp: ["a moment such as 2026-11-20T10:00:00Z", (value) => isText(value) && moment.test(value) && isDate(value.slice(0, 10)) && hasTime(value)],
  time: ["a time such as 10:00:00", (value) => isText(value) && time.test(value)],
  binary: ["bytes in base64", (value) => isText(value) && /^[A-Za-z0-9+/]*={0,2}$/.test(value) && value.length % 4 === 0],
  json: ["a JSON value", () => true],
};

/**
 * Checks a value that the app assigned against its field's type and limits.
 *
 * @throws {FieldMergeError} `invalid-value`, with the path.
 */
export function checkValue(value, field, path) {
  const fail = (what) => {
    throw new FieldMergeError("invalid-value", `“${path}” must be ${what}.`, { path });
  };
  if (value === undefined || typeof value === "function" || typeof value === "bigint" || typeof value === "symbol") fail("a JSON value");
  if (value === null) return field.nullable === false ? fail("a value other than null") : undefined;
  if (field.references && isTemporary(value)) return;
  const [what, fits] = kinds[field.type] ?? kinds.json;
  if (!fits(value, field)) fail(what);
  if (field.type === "text") {
    if ([...value].length > field.maximumCharacters) fail(`a text of at most ${field.maximumCharacters} characters`);
    if (new TextEncoder().encode(value).length > field.maximumBytes) fail(`a text of at most ${field.maximumBytes} bytes`);
  }
}
