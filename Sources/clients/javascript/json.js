import { uuid } from "./values.js";

/*
 * JSON whose numbers keep their values. An integer beyond ±2^53 is a BigInt, and any other number that JavaScript would round
 * is a String object of its digits. Both survive structured cloning.
 */

/** The beginning of the texts that contain exact digits while JavaScript parses or writes JSON. */
const mark = uuid(), marked = new RegExp(`"${mark}([^"]*)"`, "g");

const literal = /"[^"\\]*(?:\\.[^"\\]*)*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:e[+-]?\d+)?/gi;
const isInteger = (digits) => /^-?\d+$/.test(digits);
const isRounded = (digits) => !/^[-\d.]{1,15}(e[+-]?\d\d?)?$/i.test(digits) && (isInteger(digits) ? !Number.isSafeInteger(Number(digits)) : String(Number(digits)) !== digits);
const exact = (digits) => (isInteger(digits) ? BigInt(digits) : new String(digits));

/** Parses JSON. */
export function parse(text) {
  if (!/[\d.]{15}|\de[+-]?\d{3}/i.test(text)) return JSON.parse(text);
  return JSON.parse(text.replace(literal, (found) => (found[0] !== '"' && isRounded(found) ? `"${mark}${found}"` : found)),
    (_, value) => (typeof value === "string" && value.startsWith(mark) ? exact(value.slice(mark.length)) : value));
}

/** Writes JSON. */
export const stringify = (value, space) => JSON.stringify(value, function (name, member) {
  const own = this[name];
  return typeof own === "bigint" || own instanceof String ? mark + own : member;
}, space)?.replace(marked, "$1");
