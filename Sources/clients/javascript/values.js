import { fail } from "./errors.js";

export const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

/** The address of a gateway without the slash behind it. */
export const bareAddress = (server) => String(server).replace(/\/+$/, "");

/** Tells whether two JSON values are the same, whatever the order of their members. */
export function same(one, other) {
  if (one === other || typeof one !== "object" || typeof other !== "object" || !one || !other) return one === other;
  const names = Object.keys(one);
  return Array.isArray(one) === Array.isArray(other) && names.length === Object.keys(other).length
    && names.every((name) => Object.hasOwn(other, name) && same(one[name], other[name]));
}

/** A deep copy of a JSON value; undefined stays undefined. */
export const copy = (value) => structuredClone(value);

/** The text by which an id is known: its spelling in a URL, the same for a number and its decimal string. */
export const idKey = (id) => [id].flat().map(encodeURIComponent).join();

/** Orders ids: numbers by value before texts by characters. */
export function compareIDs(one, other) {
  const others = [other].flat();
  for (const [index, a] of [one].flat().entries()) {
    const b = others[index];
    if (a !== b) return (typeof a === typeof b ? a < b : typeof a === "number") ? -1 : 1;
  }
  return 0;
}

/** A random UUID, also where a page has no secure context. */
export function uuid() {
  const bytes = Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0"));
  return bytes.join("").replace(/(.{8})(.{4}).(.{3}).(.{3})/, "$1-$2-4$3-8$4-");
}

export const temporaryId = () => `tmp:${uuid()}`;
export const isTemporary = (id) => typeof id === "string" && id.startsWith("tmp:");

/** Returns the name that is nearest to a misspelled one; undefined where none is near. */
export function nearest(name, names) {
  let best, least = Math.max(2, name.length / 2) + 1;
  for (const candidate of names) {
    let row = Array.from(`${candidate} `, (_, index) => index);
    for (const [index, letter] of [...name].entries()) {
      const next = [index + 1];
      for (const [at, other] of [...candidate].entries()) {
        next.push(Math.min(next[at] + 1, row[at + 1] + 1, row[at] + (letter.toLowerCase() !== other.toLowerCase())));
      }
      row = next;
    }
    if (row.at(-1) < least) [best, least] = [candidate, row.at(-1)];
  }
  return best;
}

const isText = (value) => typeof value === "string";
const matches = (pattern) => (value) => isText(value) && pattern.test(value);
const isDecimal = (value) => Number.isFinite(value) || matches(/^-?\d+(\.\d+)?(e[+-]?\d+)?$/i)(value);

/** Whether a text begins with a day that there is, or with none at all. */
function isDay(text) {
  const day = text.slice(0, 10);
  return day === "0000-00-00" || new Date(day).toJSON()?.startsWith(day) === true;
}

const moment = (zone) => {
  const isMoment = matches(new RegExp(`^\\d{4}-\\d\\d-\\d\\d[T ]([01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(\\.\\d+)?${zone}$`));
  return (value) => isMoment(value) && isDay(value);
};

function isInteger(value, { minimum, maximum }) {
  if (!Number.isInteger(value) && !matches(/^-?\d+(\.0+)?$/)(value)) return false;
  const number = BigInt(String(value).split(".")[0]);
  return number >= BigInt(minimum ?? number) && number <= BigInt(maximum ?? number);
}

function fitsDecimal(value, { precision, scale }) {
  const [whole, fraction = ""] = String(value).replace(/^-?0*/, "").split(".");
  return isDecimal(value) && (precision === undefined || /e/i.test(value) || (whole.length <= precision - scale && fraction.replace(/0+$/, "").length <= scale));
}

const isMember = (value, { members }) => isText(value) && (!members || members.includes(value));

/** Whether a value fits, by the name of its type; a type that is not here is left to the gateway. */
const kinds = {
  boolean: (value) => [true, false, 0, 1].includes(value),
  integer: isInteger, year: isInteger, bit: isInteger,
  decimal: fitsDecimal, float: isDecimal, double: isDecimal,
  text: isText, uuid: isText, inet4: isText, inet6: isText, geometry: isText,
  enum: isMember,
  set: (value, field) => (isText(value) ? value.split(",").filter(Boolean) : [value].flat()).every((member) => isMember(member, field)),
  date: (value) => matches(/^\d{4}-\d\d-\d\d$/)(value) && isDay(value),
  datetime: moment(""), timestamp: moment("(Z|[+-]\\d\\d:?\\d\\d)"),
  time: matches(/^-?\d{1,3}:[0-5]\d:[0-5]\d(\.\d+)?$/),
  binary: (value) => matches(/^[A-Za-z0-9+/]*={0,2}$/)(value) && value.length % 4 === 0,
};

/**
 * Checks a value that the app assigned against its field's type and limits.
 *
 * @throws {FieldMergeError} `invalid-value`, with the path.
 */
export function checkValue(value, field, path) {
  const { type, nullable, maximumCharacters, maximumBytes, references } = field, isNull = value === null;
  const isFit = isNull ? nullable !== false
    : !/function|bigint|symbol/.test(typeof value) && ((references && isTemporary(value)) || (kinds[type]?.(value, field) ?? true));
  if (!isFit) fail("invalid-value", path, `is no ${isNull ? "null" : type} that its column holds`);
  if (!isNull && type === "text" && ([...value].length > maximumCharacters || new TextEncoder().encode(value).length > maximumBytes)) {
    fail("invalid-value", path, "is longer than its column");
  }
}
