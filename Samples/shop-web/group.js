import { control, put, putAisles, take } from "./controls.js";
import { freshID, h } from "./dom.js";
import { same, shown, valueOf } from "./fields.js";

const words = { draft: "Not sent yet", sending: "Sending…", refused: "Refused", sent: "Sent", fresh: "Just changed elsewhere" };
const shortly = 5000;

/**
 * The fields of one group, with what becomes of them.
 *
 * A group is saved as a whole when it is left, or with Enter; Escape takes back what was typed. Where its value changes while
 * somebody types, what was typed stays, and the new value is shown beside it.
 */
export class GroupField {
  #group; #save; #controls = new Map(); #badge; #error; #note;
  /** The value that is shown, or that was there when typing began. */
  #seen;
  #own; #state = "clean"; #timer; #isSaving = false;

  /**
   * @param {object} group one of fields.js
   * @param {{save: (values: Record<string, unknown>) => Promise<unknown>, names?: Record<string, string>}} options `names`:
   *   what to call the fields where their labels are not seen
   */
  constructor(group, { save, names }) {
    this.#group = group;
    this.#save = save;
    const badge = freshID("state"), error = freshID("error"), about = `${badge} ${error}`;
    this.#badge = h("span", { class: "state", id: badge });
    this.#error = h("p", { class: "error", id: error, role: "alert" });
    this.#note = h("p", { class: "meanwhile", role: "status" });
    const isMany = group.fields.length > 1;
    const rows = group.fields.map((field) => this.#field(field, about, names?.[field.name], isMany ? null : this.#badge));
    this.element = h("div", { class: `group ${isMany ? "many" : "one"} ${group.name}`, role: isMany ? "group" : null, "aria-label": isMany ? group.label : null },
      isMany && !names ? h("div", { class: "badges" }, this.#badge) : null, rows, names ? this.#badge : null, this.#note, this.#error);
    this.element.addEventListener("focusout", ({ relatedTarget }) => { if (!this.element.contains(relatedTarget)) void this.commit(); });
    this.element.addEventListener("keydown", (event) => this.#key(event));
  }

  #field(field, about, name, badge) {
    const id = freshID(field.name), hint = field.hint ? freshID("hint") : null, isChoice = ["check", "choice", "aisle", "date"].includes(field.kind);
    const element = control(field, { id, "aria-describedby": hint ? `${hint} ${about}` : about, "aria-label": name ?? null, placeholder: name ? field.label : null });
    this.#controls.set(field.name, element);
    if (isChoice && field.kind !== "date") element.addEventListener("change", () => { if (this.#group.fields.length === 1) void this.commit(); });
    if (name) return element;
    const label = h("label", { for: id }, field.label);
    return h("div", { class: `field ${field.kind} ${field.name}` },
      field.kind === "check" ? [element, label, badge] : [h("div", { class: "line" }, label, badge), element],
      hint ? h("p", { class: "hint", id: hint }, field.hint) : null);
  }

  #key(event) {
    if (event.key === "Escape" && this.#isDirty) {
      this.#put(this.#seen);
      event.preventDefault();
    } else if (event.key === "Enter" && !["TEXTAREA", "BUTTON"].includes(event.target.tagName)) {
      event.preventDefault();
      void this.commit();
    }
  }

  #values() {
    return Object.fromEntries(this.#group.fields.map((field) => [field.name, take(this.#controls.get(field.name), field)]));
  }

  /** The value of the group that the controls hold. */
  get #typed() { return valueOf(this.#group, this.#values()); }

  get #isDirty() {
    if (this.#seen === undefined) return false;
    const values = this.#values(), isBare = this.#group.fields.length === 1;
    return this.#group.fields.some((field) => {
      const before = isBare ? this.#seen : this.#seen?.[field.name], now = values[field.name];
      if (field.kind === "money") return Number(now) !== Number(before ?? 0);
      if (field.kind === "date" && now === null) return !!before && !before.startsWith("0000");
      return !same(now ?? (field.isNullable ? null : ""), before ?? (field.isNullable ? null : (field.kind === "labels" ? [] : field.kind === "check" ? false : "")));
    });
  }

  #put(value) {
    this.#seen = value;
    for (const field of this.#group.fields) put(this.#controls.get(field.name), field, this.#group.fields.length === 1 ? value : value?.[field.name]);
    this.#note.replaceChildren();
    this.#fault("");
  }

  /** Shows the group as a record has it. */
  show(row, aisles) {
    for (const field of this.#group.fields) if (field.kind === "aisle") putAisles(this.#controls.get(field.name), aisles);
    const value = valueOf(this.#group, row), isFirst = this.#seen === undefined;
    if (!isFirst && same(value, this.#seen)) return;
    if (!isFirst && !this.#isSaving && this.#isDirty && !same(value, this.#typed)) return this.#overtaken(value, aisles);
    const isElsewhere = !isFirst && !this.#isSaving && !same(value, this.#typed) && !same(value, this.#own);
    this.#put(value);
    if (isElsewhere && this.#state === "clean") this.#flash("fresh");
  }

  #overtaken(value, aisles) {
    const text = this.#group.fields.map(({ name, kind }) => shown(kind, this.#group.fields.length === 1 ? value : value?.[name], aisles)).join(", ");
    this.#note.replaceChildren(
      `While you are typing, somebody else made it “${text}”. Yours replaces it when you leave the field. `,
      h("button", { type: "button", class: "small", onclick: () => { this.#put(value); this.#controls.values().next().value.focus(); } }, "Take theirs"));
  }

  /** Saves what was typed. */
  async commit() {
    if (this.#isSaving || !this.#isDirty) return;
    const wrong = [...this.#controls.values()].find((element) => !element.checkValidity());
    if (wrong) return this.#fault(wrong.validationMessage);
    const values = this.#values();
    this.#own = this.#typed;
    this.#isSaving = true;
    try {
      await this.#save(values);
      this.#seen = this.#own;
      this.#note.replaceChildren();
      this.#fault("");
    } catch (error) {
      this.#fault(error.message);
    } finally {
      this.#isSaving = false;
    }
  }

  #fault(sentence) {
    this.#error.textContent = sentence;
    for (const element of this.#controls.values()) {
      if (sentence) element.setAttribute("aria-invalid", "true");
      else element.removeAttribute("aria-invalid");
    }
  }

  /** @param {"clean" | "draft" | "sending" | "refused"} state */
  setState(state) {
    if (state === this.#state) return;
    const wasUnder = this.#state === "draft" || this.#state === "sending";
    this.#state = state;
    if (state === "clean" && wasUnder) this.#flash("sent");
    else this.#badgeOf(state);
  }

  #badgeOf(state) {
    clearTimeout(this.#timer);
    this.#badge.dataset.state = this.element.dataset.state = state;
    this.#badge.textContent = words[state] ?? "";
  }

  #flash(state) {
    this.#badgeOf(state);
    this.#timer = setTimeout(() => this.#badgeOf(this.#state), shortly);
  }

  focus() { this.#controls.values().next().value.focus(); }
}
