import { control, put, putAisles, take } from "./controls.js";
import { freshID, h, say } from "./dom.js";
import { same, shown, valueOf } from "./fields.js";

const words = { draft: "Not sent yet", sending: "Sending…", unsure: "No answer yet", refused: "Refused", sent: "Sent", fresh: "Changed elsewhere" };
const shortly = 8000;

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
  /** What the controls held then. */
  #shown;
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
    this.#note = h("p", { class: "meanwhile" });
    const isMany = group.fields.length > 1;
    const rows = group.fields.map((field) => this.#field(field, about, names?.[field.name], isMany ? null : this.#badge));
    this.element = h("div", { class: `group ${isMany ? "many" : "one"} ${group.name}`, role: isMany ? "group" : null, "aria-label": isMany ? group.label : null },
      isMany && !names ? h("div", { class: "badges" }, this.#badge) : null,
      isMany ? h("div", { class: "inputs" }, rows) : rows, names ? this.#badge : null, this.#note, this.#error);
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
    if (event.key === "Escape" && this.isDirty) {
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

  /** The value of the group that the controls hold; of a field that nobody touched, the one that it has. */
  get #typed() {
    const values = this.#values(), isBare = this.#group.fields.length === 1;
    for (const name of Object.keys(values)) if (same(values[name], this.#shown[name])) values[name] = (isBare ? this.#seen : this.#seen?.[name]) ?? null;
    return valueOf(this.#group, values);
  }

  /** A control may show a value otherwise than it is, so it is what the controls held that counts. */
  get isDirty() { return this.#seen !== undefined && !same(this.#values(), this.#shown); }

  #fill(value) {
    for (const field of this.#group.fields) put(this.#controls.get(field.name), field, this.#group.fields.length === 1 ? value : value?.[field.name]);
  }

  /** Puts the value of a record into the controls, as if it was typed. */
  restore(row) {
    const value = valueOf(this.#group, row);
    if (!same(value, this.#seen)) this.#fill(value);
  }

  #put(value) {
    this.#seen = value;
    this.#fill(value);
    this.#shown = this.#values();
    this.#note.replaceChildren();
    this.#fault("");
  }

  /**
   * Shows the group as a record has it.
   *
   * @param {string} [writer] who wrote last what is shown, where it was not this user
   */
  show(row, aisles, writer = "Somebody") {
    for (const field of this.#group.fields) if (field.kind === "aisle") putAisles(this.#controls.get(field.name), aisles);
    const value = valueOf(this.#group, row), isFirst = this.#seen === undefined;
    if (!isFirst && same(value, this.#seen)) return;
    if (!isFirst && !this.#isSaving && this.isDirty && !same(value, this.#typed)) return this.#overtaken(value, aisles, writer);
    const isElsewhere = !isFirst && !this.#isSaving && !same(value, this.#typed) && !same(value, this.#own), mine = this.#own, wasMine = mine !== undefined && same(this.#seen, mine);
    this.#put(value);
    if (!isElsewhere || this.#state !== "clean") return;
    this.#flash("fresh", `Changed by ${writer}`);
    if (wasMine) this.#replaced(value, mine, aisles, writer);
  }

  #text(value, aisles) {
    return this.#group.fields.map(({ name, kind }) => shown(kind, this.#group.fields.length === 1 ? value : value?.[name], aisles)).join(", ");
  }

  #remark(sentence, label, press) {
    this.#note.replaceChildren(sentence, " ", h("button", { type: "button", class: "small", onclick: press }, label));
    say(sentence);
  }

  #overtaken(value, aisles, writer) {
    this.#remark(`While you are typing, ${writer} made it “${this.#text(value, aisles)}”. Yours replaces it when you leave the field.`, "Take theirs", () => {
      this.#put(value);
      this.focus();
    });
  }

  /** Somebody saw what this user wrote, and wrote something else. */
  #replaced(value, mine, aisles, writer) {
    this.#own = undefined;
    this.#remark(`${writer} has replaced what you wrote: “${this.#text(mine, aisles)}”.`, "Put mine back", () => {
      this.#put(value);
      this.#fill(mine);
      void this.commit();
    });
  }

  /** Saves what was typed. */
  async commit() {
    if (this.#isSaving || !this.isDirty) return;
    const wrong = [...this.#controls.values()].find((element) => !element.checkValidity());
    if (wrong) return this.#fault(wrong.validationMessage);
    const typed = (this.#own = this.#typed), isBare = this.#group.fields.length === 1;
    this.#isSaving = true;
    try {
      await this.#save(isBare ? { [this.#group.fields[0].name]: typed } : typed);
      this.#seen = typed;
      this.#shown = this.#values();
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

  /** @param {"clean" | "draft" | "sending" | "unsure" | "refused"} state */
  setState(state) {
    if (state === this.#state) return;
    const wasUnder = ["draft", "sending", "unsure"].includes(this.#state);
    this.#state = state;
    if (state === "clean" && wasUnder) this.#flash("sent");
    else this.#badgeOf(state);
  }

  #badgeOf(state) {
    clearTimeout(this.#timer);
    this.#badge.dataset.state = this.element.dataset.state = state;
    this.#badge.textContent = words[state] ?? "";
  }

  #flash(state, text) {
    this.#badgeOf(state);
    if (text) this.#badge.textContent = text;
    this.#timer = setTimeout(() => this.#badgeOf(this.#state), shortly);
  }

  focus() { this.#controls.values().next().value.focus(); }
}
