import { parse, stringify } from "./json.js";
import { checkValue, same } from "./values.js";

/*
 * HTML inputs and values: conversion of a value to an input's content and back.
 */

/** A time of day as inputs spell it: without seconds if they are zero, with three digits of a fraction at most. */
const shortTime = (text) => text.replace(/^(-?\d+:\d\d):(\d\d)(?:\.(\d{1,3})\d*)?$/, (_, minute, second, fraction = "") => {
  const digits = fraction.replace(/0+$/, "");
  return minute + (digits ? `:${second}.${digits}` : second === "00" ? "" : `:${second}`);
});
const fullTime = (text) => text.replace(/^(\d{1,3}:\d\d)$/, "$1:00");
const atTime = (text, change) => text.replace(/^(\d{4}-\d\d-\d\d)[T ](.+)$/, (_, day, time) => `${day}T${change(time)}`);

const two = (number, digits = 2) => String(number).padStart(digits, "0");

/** An instant as an input of type `datetime-local` shows it, in the time zone of this device. */
function localTime(text) {
  const moment = new Date(text.replace(" ", "T")), fraction = /\.\d+/.exec(text)?.[0] ?? "";
  if (Number.isNaN(+moment)) return text;
  const day = `${two(moment.getFullYear(), 4)}-${two(moment.getMonth() + 1)}-${two(moment.getDate())}`;
  return atTime(`${day}T${two(moment.getHours())}:${two(moment.getMinutes())}:${two(moment.getSeconds())}${fraction}`, shortTime);
}

/** The instant of a local time; the text if the local time does not exist, for example when clocks are put forward. */
function instant(text) {
  const moment = new Date(text), fraction = /\.\d+/.exec(text)?.[0] ?? "";
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?$/.test(text) || Number.isNaN(+moment)) return text;
  const found = `${moment.toISOString().slice(0, 19)}${fraction}Z`;
  return localTime(found) === atTime(text, (time) => shortTime(fullTime(time))) ? found : text;
}

const split = (text) => text.split(",").map((one) => one.trim()).filter(Boolean);
const spelled = (value) => (typeof value === "string" ? value : stringify(value));
/** Whether a date has an unknown part, such as the day: such a date is none for a browser. */
const isOpen = (text) => /^0000|-00/.test(text.slice(0, 10));

const spellings = {
  datetime: (text) => (isOpen(text) ? "" : atTime(text, shortTime)), timestamp: localTime, time: shortTime,
  date: (text) => (isOpen(text) ? "" : text), json: stringify,
};

/** The content of an input for a value: a text, an array for a set, true or false for a boolean. */
export function inputOf(value, { type }) {
  if (type === "boolean") return value === true || value === 1;
  if (type === "set") return typeof value === "string" ? split(value) : [...(value ?? [])];
  if (value === null || value === undefined) return "";
  return typeof value === "string" || type === "json" ? (spellings[type] ?? spelled)(value) : String(value);
}

const whole = (text) => (/^[+-]?\d+$/.test(text) && Number.isSafeInteger(Number(text)) ? Number(text) : text.replace(/^\+/, ""));
const double = (text) => (text !== "" && Number.isFinite(Number(text)) ? Number(text) : text);
const words = { true: true, on: true, 1: true, false: false, off: false, 0: false };

const readings = {
  boolean: (text) => words[text] ?? text, integer: whole, year: whole, bit: whole, float: double, double,
  datetime: (text) => atTime(text, fullTime), timestamp: (text) => instant(text), time: fullTime,
  json: (text) => { try { return parse(text); } catch { return undefined; } },
};
/** Types of which blanks around the input are no part of the value. */
const exactTypes = ["text", "enum", "json"];

const number = ({ minimum, maximum }) => (minimum === undefined ? "Enter a whole number." : `Enter a whole number from ${minimum} to ${maximum}.`);
const moment = "Enter a date and a time, such as 2026-11-24T09:30.", decimal = ({ precision, scale }) => (precision === undefined ? "Enter a number."
  : `Enter a number with at most ${precision - scale} digits before the point and ${scale} after it.`);
const sentences = {
  integer: number, year: number, bit: number, decimal, float: decimal, double: decimal,
  text: ({ maximumCharacters, maximumBytes }) => `Enter at most ${maximumCharacters ? `${maximumCharacters} characters` : `${maximumBytes} bytes`}.`,
  enum: ({ members }) => `Choose one of: ${members?.join(", ")}.`, set: ({ members }) => `Choose from: ${members?.join(", ")}.`,
  date: () => "Enter a date, such as 2026-11-24.", time: () => "Enter a time, such as 09:30.", datetime: () => moment, timestamp: () => moment,
  boolean: () => "Enter true or false.", json: () => "Enter valid JSON.",
};
const codes = {
  text: "too-long", enum: "not-a-member", set: "not-a-member", integer: "not-a-number", year: "not-a-number", bit: "not-a-number",
  decimal: "not-a-number", float: "not-a-number", double: "not-a-number", date: "not-a-date", datetime: "not-a-date", timestamp: "not-a-date", time: "not-a-time", json: "not-json",
};

/** The reason why a value does not fit its field, as `{code, message}`; null if it fits. */
export function problemOf(value, field, path) {
  try {
    if (value !== undefined) checkValue(value, field, path);
    else if (field.type === "json") throw new TypeError();
    return null;
  } catch {
    if (value === null) return { code: "required", message: "Enter a value." };
    return { code: codes[field.type] ?? "invalid-value", message: sentences[field.type]?.(field) ?? "This value does not fit." };
  }
}

/** Reads a content that is not empty. */
function filled(input, field) {
  if (field.type === "set") return [...new Set(Array.isArray(input) ? input : split(String(input)))];
  if (typeof input === "boolean" || (typeof input === "object" && field.type === "json")) return input;
  const text = String(input), given = exactTypes.includes(field.type) ? text : text.trim();
  return (readings[field.type] ?? String)(given);
}

/**
 * Reads an input. If its content is the form of the earlier value, the result is exactly this value.
 *
 * An empty input is null if the field may be null, else an empty text or no value.
 *
 * @param {any} input its `value`, `checked` of a checkbox, an array of the members of a set
 * @param {any} field the rules of the field
 * @param {any} seen the earlier value
 * @returns {{value: any, problem: {code: string, message: string} | null}}
 */
export function readInput(input, field, seen, path) {
  const isEmpty = input === "" || input === null || input === undefined;
  const isSame = field.type !== "boolean" && seen !== undefined && same(isEmpty && field.type === "set" ? [] : (input ?? ""), inputOf(seen, field));
  const none = field.type === "set" ? [] : field.nullable === false && field.type === "text" ? "" : null;
  const value = isSame ? seen : isEmpty ? none : filled(input, field);
  return { value, problem: isSame ? null : problemOf(value, field, path) };
}
