// Explains an edit: three versions of a record, whose values the operator may change.

import { get, post } from "./api.js";
import { append, button, field, h, notice, problemNotice, put, select, table } from "./dom.js";
import { parse, stringify } from "./json.js";
import { groupName, idPath, idText, words } from "./model.js";
import { outcomeBadge, sides, valueText } from "./values.js";

const VERSIONS = ["Base", "Current", "Edited"];
const HEADS = ["Field", "Base: last read by the sender", "Current: in the database", "Edited: sent"];
const JSON_TYPES = ["integer", "float", "double", "real", "boolean", "json", "set", "bits"];

/** The form for a record. `readFiles` returns the chosen rule files by name. */
export function explainPanel(resources, chosen, readFiles, signal) {
  const resource = select(resources.map((one) => [one.resource, one.resource]), chosen ?? "", { required: true });
  const id = h("input", { required: true, autocomplete: "off", size: 10 });
  const body = h("div", { class: "results" });
  return [h("h2", { id: "explain" }, "Explain an edit"),
    h("p", null, "Read a record, change its values, and see what the rules decide. Nothing is written."),
    h("form", {
      class: "filters", onsubmit: async (event) => {
        event.preventDefault();
        try {
          const record = await get(`/v1/records/${encodeURIComponent(resource.value)}/${idPath(id.value.trim())}`, { signal });
          versions(body, resources.find((one) => one.resource === resource.value), record, readFiles, signal);
        } catch (problem) {
          if (problem.name !== "AbortError") put(body, problemNotice(problem));
        }
      },
    }, field("Resource", resource), field("Record", id), h("div", { class: "field buttons" }, h("button", null, "Read the record"))), body];
}

function versions(body, resource, record, readFiles, signal) {
  const parts = resource.sections.map((section) => sectionPart(section, record[section.section]));
  const withFiles = h("input", { type: "checkbox" });
  const result = h("div", { role: "status", class: "results" });
  const version = (side) => ({ id: record.id, ...Object.fromEntries(parts.map((part) => [part.name, part.read(side)])) });
  put(body, parts.map((part) => part.element),
    h("label", { class: "check" }, withFiles, "Use the rule files chosen above"),
    h("div", { class: "buttons" }, button("Explain", async () => {
      try {
        const request = { resource: resource.resource, base: version(0), current: version(1), edited: version(2) };
        if (withFiles.checked) request.files = await readFiles();
        put(result, explanation(await post("/v1/operations/explain", request, { signal })));
      } catch (problem) {
        if (problem.name !== "AbortError") put(result, problem.status === undefined ? notice("bad", h("p", null, problem.message)) : trialProblem(problem));
      }
    }, { class: "primary" })), result);
  body.querySelector("td input, td textarea")?.focus();
}

/** The inputs of a section. `read(side)` returns the section in a version. */
function sectionPart(section, value) {
  const name = section.section;
  if (section.kind === "root") {
    const { element, read } = rowInputs(section, value, "", [true, true, true]);
    return { name, element, read };
  }
  if (section.kind !== "list") {
    const isThere = VERSIONS.map(() => Boolean(value));
    const { element, read } = rowInputs(section, value ?? {}, name, isThere);
    return { name, element: h("details", { class: "reason" }, h("summary", null, h("h3", null, name)), element), read: (side) => read(side) ?? null };
  }
  const rows = [];
  const list = h("div", { class: "rows" });
  const add = (row, isThere, isOpen) => {
    const title = `${name} ${idText(row.id)}`;
    const { element, read } = rowInputs(section, row, title, isThere);
    rows.push((side) => read(side) && { id: row.id, ...read(side) });
    append(list, h("details", { open: isOpen, class: "row" }, h("summary", null, title), element));
  };
  for (const row of value ?? []) add(row, [true, true, true], false);
  let added = 0;
  const more = button("Add a row", () => {
    add({ id: `tmp:${added += 1}` }, [false, false, true], true);
    list.lastChild.querySelector("summary").focus();
  });
  return {
    name,
    element: h("details", { class: "reason" }, h("summary", null, h("h3", null, name)), list, h("div", { class: "rows" }, h("div", { class: "buttons" }, more))),
    read: (side) => rows.map((read) => read(side)).filter(Boolean),
  };
}

/** The inputs of a row. A row other than the record's may be absent in a version: then `read(side)` is undefined. */
function rowInputs(section, row, title, isThere) {
  const fields = section.groups.flatMap((group) => group.fields);
  const label = (text, side) => `${title ? `${title}: ` : ""}${text}, ${VERSIONS[side]}`;
  const inputs = fields.map((one) => VERSIONS.map((_, side) => {
    const text = inputText(row?.[one.field]);
    const attributes = { "aria-label": label(one.field, side), value: text };
    return text.includes("\n") ? h("textarea", { ...attributes, rows: 2, class: "short" }) : h("input", { ...attributes, autocomplete: "off" });
  }));
  const boxes = title ? VERSIONS.map((_, side) => h("input", { type: "checkbox", checked: isThere[side], "aria-label": label("row exists", side) })) : [];
  const element = table(title || "The record in three versions", HEADS, [
    boxes.length ? h("tr", null, h("th", { scope: "row" }, "Row exists"), boxes.map((box) => h("td", null, box))) : null,
    fields.map((one, index) => h("tr", null, h("th", { scope: "row" }, one.field), inputs[index].map((input) => h("td", null, input)))),
  ].flat(), { quiet: true, class: "inputs" });
  const read = (side) => (boxes[side]?.checked === false ? undefined
    : Object.fromEntries(fields.map((one, index) => [one.field, readInput(inputs[index][side].value, one, row?.[one.field])])));
  return { element, read };
}

const inputText = (value) => (value === null || value === undefined ? "" : typeof value === "object" && value.text === undefined ? stringify(value) : valueText(value));

/** The value of an input, in the type of its field. */
function readInput(text, { field: name, type, nullable }, before) {
  if (before !== undefined && text === inputText(before)) return before;
  if (text === "" && nullable) return null;
  if (!JSON_TYPES.includes(type)) return text;
  try { return parse(text); } catch { throw new SyntaxError(`${name}: the value must be JSON, for example a number, true or [“a”].`); }
}

function explanation(answer) {
  const groups = (answer.groups ?? []).filter((group) => group.outcome !== "unchanged");
  return [h("h3", null, `The push would be ${answer.status === "merged" ? "merged" : "refused"}.`), groups.length ? null : h("p", { class: "muted" }, "No group differs."),
    groups.map((group) => h("div", { class: "group" },
      h("div", { class: "grouphead" }, h("h4", { class: "name" }, groupName(group)), outcomeBadge(group.outcome), h("span", { class: "muted rule" }, group.rule)),
      h("p", null, group.why), sides({ old: group.base, current: group.current, new: group.edited, written: group.result }, `Values of ${groupName(group)}`))),
    (answer.unevaluated ?? []).map((one) => h("p", { class: "muted" }, `${one.section}: ${one.condition} (${one.rule}) needs the database and was not evaluated.`))];
}

export const trialProblem = (problem) => h("div", null, problemNotice(problem), problem.document?.findings?.length ? findingList(problem.document.findings) : null);

export const findingList = (findings) => h("ul", { class: "findings" }, findings.map((finding) => h("li", null,
  h("span", { class: `badge ${({ error: "bad", warning: "warn" })[finding.severity] ?? "plain"}` }, h("span", { "aria-hidden": "true" }, ({ error: "✕", warning: "!" })[finding.severity] ?? "i"), words(finding.severity)),
  h("span", null, finding.sentence, " ", h("code", { class: "muted" }, `${finding.file}:${finding.line}:${finding.column}`)))));
