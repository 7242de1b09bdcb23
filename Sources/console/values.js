// Shows values of records and their differences.

import { memberRows, wordDiff } from "./diff.js";
import { h, table } from "./dom.js";
import { Exact, equal, isObject, stringify } from "./json.js";
import { OUTCOMES, groupName, outcomeWord } from "./model.js";

const none = (text) => h("span", { class: "none" }, text);

/** A value as text. Numbers are shown by their source. */
export function valueText(value) {
  if (typeof value === "string") return value;
  if (value instanceof Exact) return value.text;
  return stringify(value, 2);
}

const isScalar = (value) => value === null || typeof value !== "object" || value instanceof Exact;

/** A value for people: a text, a list of fields, or a list. */
export function show(value) {
  if (value === undefined) return none("absent");
  if (value === null) return none("empty");
  if (value === "") return none("empty text");
  if (value === true || value === false) return h("span", { class: "value" }, value ? "yes" : "no");
  if (isScalar(value)) return h("span", { class: "value" }, valueText(value));
  if (Array.isArray(value)) {
    if (!value.length) return none("empty list");
    return value.every(isScalar)
      ? h("span", { class: "value" }, value.map((element) => (element === null ? "empty" : valueText(element))).join(", "))
      : h("ol", { class: "list" }, value.map((element) => h("li", null, show(element))));
  }
  const names = Object.keys(value);
  if (!names.length) return none("no members");
  return h("dl", { class: "members" }, names.map((name) => h("div", null, h("dt", null, name), h("dd", null, show(value[name])))));
}

/** A text with its differences to another one. */
export function showDiff(before, after) {
  return h("span", { class: "value" }, wordDiff(before, after).map(({ kind, text }) =>
    kind === "same" ? text : h(kind === "added" ? "ins" : "del", null, text)));
}

/** One side only: the words that differ from `base` are marked. */
function showMarked(base, value) {
  if (typeof value !== "string" || typeof base !== "string" || !value || !base || equal(base, value)) return show(value);
  if (!/\p{L}/u.test(base + value)) return h("mark", null, show(value));
  return h("span", { class: "value" }, wordDiff(base, value).filter(({ kind }) => kind !== "removed").map(({ kind, text }) =>
    kind === "same" ? text : h("mark", null, text)));
}

const path = (parts) => parts.map(String).join(" › ") || "value";

/** Before and after in words: one line for each member that differs. */
export function change(before, after) {
  const rows = memberRows(before, after);
  if (!rows.length) return h("p", { class: "muted" }, "No difference.");
  return h("dl", { class: "changes" }, rows.map(({ path: names, values: [one, other] }) =>
    h("div", null, names.length ? h("dt", null, path(names)) : null, h("dd", null, beforeAfter(one, other)))));
}

export function beforeAfter(before, after) {
  const isRow = (value) => isObject(value) && Object.keys(value).length;
  if ((before === null || before === undefined) && isRow(after)) return h("div", { class: "whole" }, h("strong", null, "New"), show(after));
  if ((after === null || after === undefined) && isRow(before)) return h("div", { class: "whole" }, h("strong", null, "Deleted"), show(before));
  if (typeof before === "string" && typeof after === "string" && before && after && (before + after).length > 24 && hasCommonWords(before, after)) {
    return showDiff(before, after);
  }
  return h("span", { class: "step" }, h("del", null, show(before)), h("span", { class: "arrow" }, h("span", { "aria-hidden": "true" }, "→"), h("span", { class: "hidden" }, " became ")), h("ins", null, show(after)));
}

const hasCommonWords = (before, after) => wordDiff(before, after).some(({ kind, text }) => kind === "same" && /\p{L}{2}/u.test(text));

const SIDES = [["old", "Base", "last read"], ["current", "Current", "before"], ["new", "New", "sent"], ["written", "Written", "after"]];

/** The four values of an outcome side by side, one row for each member that differs. */
export function sides(outcome, caption) {
  const values = SIDES.map(([name]) => outcome[name]);
  if (values.every((value) => value === undefined)) {
    return h("p", { class: "muted" }, outcome.oldHash || outcome.private ? "The journal has no values of this group." : "The whole row: the journal lists no single values here.");
  }
  let rows = memberRows(...values);
  if (!rows.length) rows = [{ path: [], values }];
  const isNamed = rows.some(({ path: names }) => names.length);
  return table(caption, [isNamed ? h("span", { class: "hidden" }, "Field") : null, ...SIDES.map(([, word, hint]) => [word, h("small", null, hint)])].filter(Boolean), rows.map(({ path: names, values }) =>
    h("tr", null, isNamed ? h("th", { scope: "row" }, path(names)) : null, values.map((value, index) =>
      h("td", { "data-side": SIDES[index][1], class: index === 3 ? "written" : null },
        index === 0 ? show(value) : showMarked(values[0], value),
        index > 0 && index < 3 && equal(value ?? null, values[0] ?? null) ? h("small", { class: "muted" }, "same as base") : null,
        index === 3 && equal(value ?? null, values[2] ?? null) && !equal(values[1] ?? null, values[2] ?? null) ? h("small", null, "the new value") : null,
        index === 3 && equal(value ?? null, values[1] ?? null) && !equal(values[1] ?? null, values[2] ?? null) ? h("small", null, "the current value stayed") : null)))),
  { class: isNamed ? "sides named" : "sides", quiet: true });
}

/** The outcome as a sign and a word. */
export function outcomeBadge(kind) {
  const [word, sign, look] = OUTCOMES[kind] ?? [kind, "·", "plain"];
  return h("span", { class: `badge ${look}`, title: kind }, h("span", { "aria-hidden": "true" }, sign), word);
}

/** Rows that the database changes with this row. */
export const cascades = (outcome) => (outcome.cascades?.length ? h("p", { class: "muted" }, "The database also changed: ",
  outcome.cascades.map((cascade) => Object.values(cascade).filter(isScalar).map(String).join(" ")).join("; ")) : null);

export const outcomeTitle = (outcome) => `${groupName(outcome)}: ${outcomeWord(outcome.outcome)}`;

/** The outcomes of an answer to a preview, an undo or a resend, and the changes of the record. */
export function resultView(result) {
  const results = result.results ?? [result];
  return h("div", { class: "results" }, results.map((one) => h("section", null,
    h("h3", null, `${one.resource ?? ""} ${one.id === undefined || one.id === null ? "" : valueText(one.id)}`.trim() || "Result", " ",
      h("span", { class: `badge ${one.status === "merged" ? "good" : "bad"}` }, h("span", { "aria-hidden": "true" }, one.status === "merged" ? "✓" : "✕"), one.status === "merged" ? "Merged" : "Refused")),
    one.problem ? h("p", null, h("strong", null, `${one.problem.title}. `), one.problem.detail) : null,
    (one.outcomes ?? []).length ? h("ul", { class: "outcomes" }, one.outcomes.map((outcome) => h("li", null,
      h("span", { class: "name" }, groupName(outcome)), outcomeBadge(outcome.outcome),
      outcome.fallback ? h("p", { class: "muted" }, outcome.fallback) : null,
      outcome.conflict && (outcome.written !== undefined || outcome.current !== undefined) ? sides(outcome, `Values of ${groupName(outcome)}`) : null))) : null)));
}

