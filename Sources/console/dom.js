// Builds elements. All text is set as text, never as markup.

const SVG = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (["value", "checked", "disabled", "indeterminate", "open", "htmlFor"].includes(name)) element[name] = value;
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  append(element, children);
  return element;
}

export function append(element, children) {
  for (const child of [children].flat(Infinity)) {
    if (child !== null && child !== undefined && child !== false) element.append(child instanceof Node ? child : String(child));
  }
  return element;
}

/** An element with attributes, listeners (`onclick`) and children. */
export const h = (name, attributes, ...children) => fill(document.createElement(name), attributes, children);
export const svg = (name, attributes, ...children) => fill(document.createElementNS(SVG, name), attributes, children);

/** Replaces the children of an element. */
export function put(element, ...children) {
  element.replaceChildren();
  return append(element, children);
}

export const button = (label, onclick, attributes = {}) => h("button", { type: "button", onclick, ...attributes }, label);
export const link = (label, href, attributes = {}) => h("a", { href, ...attributes }, label);

let numbers = 0;
export const unique = (name) => `${name}-${(numbers += 1)}`;

/** A labelled control. */
export function field(label, control, hint) {
  control.id ||= unique("field");
  const note = hint && h("small", { id: unique("hint") }, hint);
  if (note) control.setAttribute("aria-describedby", note.id);
  return h("div", { class: "field" }, h("label", { for: control.id }, label), control, note);
}

export function select(options, value, attributes = {}) {
  const element = h("select", attributes, options.map(([code, label]) => h("option", { value: code }, label)));
  if (value && !options.some(([code]) => code === value)) element.append(h("option", { value }, value));
  if (value || options.some(([code]) => code === "")) element.value = value ?? "";
  return element;
}

/** A table with a caption. Cells are arrays of contents. */
export function table(caption, heads, rows, { quiet, ...attributes } = {}) {
  return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
    h("table", attributes, h("caption", { class: quiet ? "hidden" : null }, caption),
      h("thead", null, h("tr", null, heads.map((head) => h("th", { scope: "col" }, head)))),
      h("tbody", null, rows)));
}

export const row = (...cells) => h("tr", null, cells.map((cell) => h("td", null, cell)));

/** A time, in the zone of the reader, with the exact time as its title. */
export function time(at, format = "full") {
  if (!at) return h("span", { class: "muted" }, "never");
  const date = new Date(at);
  const sameDay = date.toDateString() === new Date().toDateString();
  const clock = date.toLocaleTimeString("en-GB");
  const day = date.toLocaleDateString("en-GB", { day: "numeric", month: "short", year: date.getFullYear() === new Date().getFullYear() ? undefined : "numeric" });
  return h("time", { datetime: at, title: at }, format === "short" && sameDay ? clock : `${day}, ${clock}`);
}

/** A box with a message. */
export const notice = (kind, ...children) =>
  h("div", { class: `notice ${kind}` }, h("span", { class: "sign", "aria-hidden": "true" }, { bad: "✕", warn: "!", good: "✓" }[kind] ?? "i"), h("div", null, children));

export const problemNotice = (problem) =>
  problem.isMissingAddress
    ? notice("info", h("p", null, "This gateway does not offer this."))
    : notice("bad", h("p", null, problem.title && problem.title !== problem.message ? h("strong", null, `${problem.title}. `) : null, problem.message),
      problem.document?.instance ? h("p", { class: "muted" }, `Request ${problem.document.instance}`) : null);

/** A modal dialog with a heading. `fill` gets the body and a function that closes it. */
export function dialog(title, fill, onclosed) {
  const heading = h("h2", { id: unique("title"), tabindex: "-1" }, title);
  const body = h("div", { class: "body" });
  const opener = document.activeElement;
  const element = h("dialog", { "aria-labelledby": heading.id },
    h("header", null, heading, button("✕", () => element.close(), { class: "quiet", "aria-label": "Close" })), body);
  element.addEventListener("close", () => {
    element.remove();
    if (opener?.isConnected) opener.focus();
    onclosed?.();
  });
  document.body.append(element);
  element.showModal();
  heading.focus();
  fill(body, () => element.close());
  return element;
}

/** Filters, which a phone shows on request. */
export function filterBox(form, isOpen, signal) {
  const wide = matchMedia("(min-width: 40.01rem)");
  const box = h("details", { class: "filterbox", open: wide.matches || isOpen }, h("summary", null, "Filters"), form);
  wide.addEventListener("change", () => { box.open ||= wide.matches; }, { signal });
  return box;
}

/** The base of the pages: a custom element that stops its work when it leaves the document. */
export class Page extends HTMLElement {
  connectedCallback() {
    this.ending = new AbortController();
    this.run(() => this.start());
  }

  disconnectedCallback() {
    this.ending.abort();
    clearTimeout(this.timer);
  }

  get signal() { return this.ending.signal; }

  /** The head of the page. */
  head(...actions) {
    return h("div", { class: "head" }, h("h1", { tabindex: "-1" }, this.heading), h("div", { class: "actions" }, actions));
  }

  /** Runs work of this page, and shows its failure. */
  async run(body) {
    try {
      await body();
    } catch (problem) {
      if (problem.name === "AbortError" || !this.isConnected) return;
      if (problem.status === undefined) throw problem;
      this.failed(problem);
    }
  }

  failed(problem) {
    const old = this.querySelector(":scope > .failure");
    const box = h("div", { class: "failure", role: "alert" }, problemNotice(problem));
    if (old) old.replaceWith(box);
    else this.querySelector(":scope > .head")?.after(box) ?? this.append(box);
  }

  recovered() { this.querySelector(":scope > .failure")?.remove(); }

  /** Repeats work as long as the page is open. A failure is shown, and the work is tried again. */
  repeat(seconds, body) {
    const turn = async () => {
      if (!document.hidden) {
        try {
          await body();
          this.recovered();
        } catch (problem) {
          if (problem.name === "AbortError" || !this.isConnected) return;
          if (problem.status === undefined) throw problem;
          this.failed(problem);
        }
      }
      if (this.isConnected) this.timer = setTimeout(turn, seconds * 1000);
    };
    return turn();
  }
}
