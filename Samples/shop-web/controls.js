import { h } from "./dom.js";

const types = { tel: "tel", email: "email", date: "date", check: "checkbox" };

/**
 * Makes what a field is edited with.
 *
 * @param {{name: string, kind: string, choices?: string[], required?: boolean}} field
 * @param {Record<string, string | null>} members attributes
 */
export function control(field, members) {
  const { name, kind, choices, required } = field, all = { name, required, autocomplete: "off", ...members };
  if (kind === "choice") return h("select", all, choices.map((choice) => h("option", { value: choice }, choice)));
  if (kind === "aisle") return h("select", all, h("option", { value: "" }, "No aisle"));
  if (kind === "lines") return h("textarea", { ...all, rows: 3 });
  return h("input", { ...all, type: types[kind] ?? "text", inputmode: kind === "money" ? "decimal" : null, spellcheck: kind === "text" ? "false" : null });
}

/** Chooses a value, also one that is not among the choices, such as an aisle that has not arrived yet. */
function choose(select, text) {
  if (![...select.options].some((option) => option.value === text)) select.append(h("option", { value: text }, text));
  select.value = text;
}

/** Shows the input of a form's field. */
export function put(element, { kind }, input) {
  const text = Array.isArray(input) ? input.join(", ") : input;
  if (kind === "check") element.checked = input;
  else if (element.tagName === "SELECT") choose(element, text);
  else if (element.value !== text) element.value = text;
}

/** What a control contains, as the form's field takes it. */
export function take(element, { kind }) {
  if (kind === "check") return element.checked;
  const text = kind === "lines" ? element.value : element.value.trim();
  return kind === "money" ? text.replace(",", ".").replace("−", "-").replace("£", "") || "0" : text;
}

/** Fills the choice of aisles. */
export function putAisles(select, aisles) {
  const wanted = [["", "No aisle"], ...[...aisles].map(([id, name]) => [String(id), name])], { value } = select;
  if (wanted.every(([id, name], index) => select.options[index]?.value === id && select.options[index].textContent === name)) return;
  select.replaceChildren(...wanted.map(([id, name]) => h("option", { value: id }, name)));
  choose(select, value);
}
