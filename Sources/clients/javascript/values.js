import { fail } from "./errors.js";

export const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

/** The address of a gateway without a slash at its end. */
export const bareAddress = (server) => String(server).replace(/\/+$/, "");

/** Tells whether two JSON values are the same, whatever the order of their members. */
export function same(one, other) {
  if (typeof one !== "object" || typeof other !== "object" || !one || !other) return one === other || (isNumber(one) && isNumber(other) && String(one) === String(other));
  const names = Object.keys(one);
  return Array.isArray(one) === Array.isArray(other) && names.length === Object.keys(other).length
    && names.every((name) => Object.hasOwn(other, name) && same(one[name], other[name]));
}

/** Whether a value is a number, which may be a BigInt. */
const isNumber = (value) => ["number", "bigint"].includes(typeof value);

/** A deep copy of a JSON value, or undefined. */
export const copy = (value) => structuredClone(value);

/** The text of an id: its form in a URL, equal for a number and its decimal string. */
export const idKey = (id) => [id].flat().map(encodeURIComponent).join();

/** Records by their ids. */
export const byKey = (records) => new Map(records.map((record) => [idKey(record.id), record]));

/** Orders ids: numbers by value before texts by characters. */
export function compareIDs(one, other) {
  const others = [other].flat();
  for (const [index, a] of [one].flat().entries()) {
    const b = others[index];
    if (a !== b) return (typeof a === typeof b ? a < b : typeof a === "number") ? -1 : 1;
  }
  return 0;
}

/** A random UUID, also where a page has no secure context: a random digit for each 0, one of 8, 9, a and b for the 8. */
export const uuid = () => "00000000-0000-4000-8000-000000000000".replace(/[08]/g, (digit) => (
  digit | crypto.getRandomValues(new Uint8Array(1))[0] % (+digit ? 4 : 16)
).toString(16));

export const temporaryId = () => `tmp:${uuid()}`;
export const isTemporary = (id) => typeof id === "string" && id.startsWith("tmp:");

/** Returns the name with the most letters of a misspelled name; undefined if none has enough. */
export function nearest(name, names) {
  let best, most = 0.6;
  for (const candidate of names) {
    let left = candidate.toLowerCase();
    for (const letter of name.toLowerCase()) left = left.replace(letter, "");
    const share = (candidate.length - left.length) / Math.max(candidate.length, name.length);
    if (share > most) [best, most] = [candidate, share];
  }
  return best;
}

const isText = (value) => typeof value === "string";
const matches = (pattern) => (value) => isText(value) && pattern.test(value);
const isDecimal = (value) => Number.isFinite(value) || matches(/^-?(0|[1-9]\d*)(\.\d+)?(e[+-]?\d+)?$/i)(value);

/** Whether a text begins with an existing date, or with none, and continues like a pattern. */
const dated = (rest) => {
  const isDated = matches(new RegExp(`^\\d{4}-\\d\\d-\\d\\d${rest}$`));
  return (value) => {
    if (!isDated(value)) return false;
    const day = value.slice(0, 10);
    return day === "0000-00-00" || !!new Date(day).toJSON()?.startsWith(day);
  };
};
const moment = "[T ]([01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(\\.\\d+)?";

function isInteger(value, { minimum, maximum }) {
  if (!Number.isInteger(value) && !matches(/^-?(0|[1-9]\d*)(\.0+)?$/)(value)) return false;
  const number = BigInt(String(value).split(".")[0]);
  return !(number < minimum || number > maximum);
}

const fitsDecimal = (value, { precision, scale }) => isDecimal(value)
  && (precision === undefined || /e/i.test(value) || new RegExp(`^-?0*\\d{0,${precision - scale}}(\\.\\d{0,${scale}}0*)?$`).test(value));

const isMember = (value, { members }) => isText(value) && (!members || members.includes(value));

/** Whether JSON preserves a value: half surrogates, NaN and undefined change. */
const isExact = (value) => value === null || (value instanceof String ? isDecimal(`${value}`)
  : typeof value === "object" ? Object.entries(value).flat().every(isExact)
  : typeof value === "string" ? !/\p{Cs}/u.test(value) : ["boolean", "bigint"].includes(typeof value) || Number.isFinite(value));

/** Whether no number was rounded, by the app or an earlier version: an integer beyond ±2^53 is a BigInt, or has an exponent. */
const isUnrounded = (value) => (value && typeof value === "object" ? Object.values(value).every(isUnrounded)
  : !Number.isInteger(value) || Number.isSafeInteger(value) || /e/.test(value));

/** Whether a value fits, by the name of its type; the gateway checks all other types. */
const kinds = {
  boolean: (value) => [true, false, 0, 1].includes(value), json: isUnrounded,
  integer: isInteger, year: isInteger, bit: isInteger,
  decimal: fitsDecimal, float: isDecimal, double: isDecimal,
  text: (value, { maximumCharacters, maximumBytes }) => isText(value) && !([...value].length > maximumCharacters || new Blob([value]).size > maximumBytes),
  uuid: isText, inet4: isText, inet6: isText, geometry: isText,
  enum: isMember,
  set: (value, field) => (isText(value) ? value.split(",").filter(Boolean) : [value].flat()).every((member) => isMember(member, field)),
  date: dated(""), datetime: dated(moment), timestamp: dated(`${moment}(Z|[+-]\\d\\d:?\\d\\d)`),
  time: matches(/^-?\d{1,3}:[0-5]\d:[0-5]\d(\.\d+)?$/),
  binary: (value) => matches(/^[A-Za-z0-9+/]*={0,2}$/)(value) && value.length % 4 === 0,
};

/**
 * Checks a value that the app assigned against its field's type and limits.
 *
 * @throws {FieldMergeError} `invalid-value`, with the path.
 */
export function checkValue(value, field, path) {
  const { type, nullable, references } = field;
  const isFit = value === null ? nullable !== false
    : isExact(value) && ((references && isTemporary(value)) || (kinds[type]?.(value, field) ?? true));
  if (!isFit) fail("invalid-value", path, `does not fit its column of type ${type}`);
}
