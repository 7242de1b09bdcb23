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
  if (kind === "aisle") return h("select", all, h("option", { value: "" }, "–"));
  if (kind === "lines") return h("textarea", { ...all, rows: 3 });
  return h("input", { ...all, type: types[kind] ?? "text", inputmode: kind === "money" ? "decimal" : null, spellcheck: kind === "text" ? "false" : null });
}

/** Chooses a value, also one that is not among the choices, such as an aisle that is not known yet. */
function choose(select, value) {
  const text = String(value ?? "");
  if (![...select.options].some((option) => option.value === text)) select.append(h("option", { value: text }, text));
  select.value = text;
}

/** Shows a value in a control. */
export function put(element, { kind }, value) {
  if (kind === "check") element.checked = value === true;
  else if (kind === "choice" || kind === "aisle") choose(element, value);
  else if (kind === "labels") element.value = (value ?? []).join(", ");
  // A day that the old forms left open is none to a browser.
  else if (kind === "date") element.value = /^0000/.test(value ?? "") ? "" : (value ?? "");
  else element.value = value ?? "";
}

/** The value that a control holds. */
export function take(element, { kind, isNullable }) {
  if (kind === "check") return element.checked;
  const text = kind === "lines" ? element.value : element.value.trim();
  if (kind === "labels") return [...new Set(text.split(",").map((label) => label.trim()).filter(Boolean))];
  if (kind === "aisle") return text === "" ? null : (/^\d+$/.test(text) ? Number(text) : text);
  if (kind === "money") return text.replace(",", ".").replace("−", "-").replace(/^£/, "") || "0";
  return text === "" && (isNullable || kind === "date") ? null : text;
}

/** Fills the choice of aisles, where they have changed. */
export function putAisles(select, aisles) {
  const wanted = ["", ...[...aisles.keys()].map(String)], { value } = select;
  if (wanted.every((option, index) => select.options[index]?.value === option)) {
    for (const option of select.options) if (option.value) option.textContent = aisles.get(Number(option.value)) ?? option.textContent;
    return;
  }
  select.replaceChildren(h("option", { value: "" }, "–"), ...[...aisles].map(([id, name]) => h("option", { value: String(id) }, name)));
  choose(select, value);
}
