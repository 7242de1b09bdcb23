import { control, put, putAisles, take } from "./controls.js";
import { freshID, h, say } from "./dom.js";
import { shown } from "./fields.js";

const words = { draft: "Not sent yet", sending: "Sending…", unsure: "No answer yet", refused: "Refused", sent: "Saved", fresh: "Changed elsewhere" };
const shortly = 8000;

/**
 * The inputs of one group, bound to fields of the store's form, with the group's state.
 *
 * A group is saved when the focus leaves it, or with Enter. Escape drops what was typed.
 */
export class GroupField {
  #group; #section; #row; #form; #controls = new Map(); #badge; #error; #note; #isTyping = false; #state = "clean"; #timer;
  /** The text of the values that were shown last, and of those that this user saved last with their inputs. */
  #text; #own;
  /** A change of the value whose writer was not shown yet. */
  #change;

  /**
   * @param {object} group one of fields.js
   * @param {{section?: string, row?: {id: any}, names?: Record<string, string>}} options `row`: the item of a list; `names`:
   *   accessible names of inputs without visible labels
   */
  constructor(group, { section = "customer", row, names } = {}) {
    [this.#group, this.#section, this.#row] = [group, section, row];
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
    const id = freshID(field.name), hint = field.hint ? freshID("hint") : null, isChoice = ["check", "choice", "aisle"].includes(field.kind);
    const element = control(field, { id, "aria-describedby": hint ? `${hint} ${about}` : about, "aria-label": name ?? null, placeholder: name ? field.label : null });
    this.#controls.set(field.name, element);
    element.addEventListener("input", () => {
      this.#isTyping = true;
      this.#of(field).set(take(element, field));
    });
    if (isChoice) element.addEventListener("change", () => void this.commit());
    if (name) return element;
    const label = h("label", { for: id }, field.label);
    return h("div", { class: `field ${field.kind} ${field.name}` },
      field.kind === "check" ? [element, label, badge] : [h("div", { class: "line" }, label, badge), element],
      hint ? h("p", { class: "hint", id: hint }, field.hint) : null);
  }

  #of({ name }) { return this.#form.field(`${this.#section}.${name}`, this.#row?.id); }

  get #fields() { return this.#group.fields.map((field) => this.#of(field)); }

  get #path() { return [`${this.#section}.${this.#group.name}`, this.#row?.id]; }

  get #isThere() { return !this.#row || this.#form.record[this.#section].includes(this.#row); }

  /** Whether the form has another value than the store. */
  get isDirty() { return this.#isThere && this.#fields.some(({ isDirty }) => isDirty); }

  #key(event) {
    if (event.key === "Escape" && this.isDirty) {
      event.preventDefault();
      this.#isTyping = false;
      this.#fault("");
      this.#note.replaceChildren();
      void this.#form.revert(...this.#path);
    } else if (event.key === "Enter" && !["TEXTAREA", "BUTTON"].includes(event.target.tagName)) {
      event.preventDefault();
      void this.commit();
    }
  }

  #textOf(value, aisles) {
    const { fields } = this.#group;
    return fields.map(({ name, kind }) => shown(kind, fields.length === 1 ? value : value?.[name], aisles)).join(", ");
  }

  get #value() { return this.#group.fields.length === 1 ? this.#fields[0].value : Object.fromEntries(this.#group.fields.map(({ name }, index) => [name, this.#fields[index].value])); }

  /**
   * Shows the fields of a form.
   *
   * @param {string} [writer] who changed the record last, if another person did
   */
  show(form, aisles, writer) {
    this.#form = form;
    for (const field of this.#group.fields) {
      const element = this.#controls.get(field.name);
      if (field.kind === "aisle") putAisles(element, aisles);
      if (!this.#isTyping) put(element, field, this.#of(field).input);
    }
    const [{ conflict }] = this.#fields, text = this.#textOf(this.#value, aisles), before = this.#text;
    if (conflict && this.#isTyping) return this.#meets(conflict, aisles, writer);
    if (this.#isTyping || text === before) return;
    this.#text = text;
    this.#note.replaceChildren();
    if (before === undefined || this.isDirty) return;
    this.#change = { before, writer };
    if (this.#state === "clean") this.#changed();
  }

  /** Marks a value that this user has not written. */
  #changed() {
    const { before, writer } = this.#change;
    this.#change = undefined;
    this.#flash("fresh", writer ? `Changed by ${writer}` : words.fresh);
    if (writer && this.#own?.text === before && !this.#fields[0].rules.merge) this.#replaced(writer);
  }

  #remark(sentence, label, press) {
    if (this.#note.firstChild?.data === sentence) return;
    this.#note.replaceChildren(sentence, " ", h("button", { type: "button", class: "small", onclick: press }, label));
    say(sentence);
  }

  #meets(conflict, aisles, writer = "someone") {
    this.#remark(`While you are typing, ${writer} changed this to “${this.#textOf(conflict.current, aisles)}”. Your text replaces it when you leave the field.`, "Use theirs", () => {
      this.#isTyping = false;
      void conflict.takeTheirs().then(() => this.focus());
    });
  }

  #replaced(writer) {
    const { inputs, text } = this.#own;
    this.#own = undefined;
    this.#remark(`${writer} has replaced your text “${text}”.`, "Put mine back", () => {
      for (const [index, field] of this.#fields.entries()) field.set(inputs[index]);
      void this.commit();
    });
  }

  /** Saves the group. A group that the user has read with another person's value is saved over that value. */
  async commit() {
    if (!this.#isThere || (!this.#isTyping && !this.isDirty)) return;
    const wrong = [...this.#controls.values()].find((element) => !element.checkValidity()), message = wrong?.validationMessage ?? this.#fields.find((field) => field.message)?.message;
    if (message) return this.#fault(message);
    this.#isTyping = false;
    this.#fault("");
    this.#note.replaceChildren();
    if (this.isDirty) {
      this.#change = undefined;
      this.#text = this.#textOf(this.#value);
      this.#own = { text: this.#text, inputs: this.#fields.map(({ input }) => input) };
      try {
        const [{ conflict }] = this.#fields;
        if (conflict) await conflict.keepMine();
        await this.#form.save(...this.#path);
      } catch (error) {
        return this.#fault(error.message);
      }
    }
    for (const field of this.#group.fields) put(this.#controls.get(field.name), field, this.#of(field).input);
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
    if (state === "clean" && this.#change?.writer) this.#changed();
    else if (state === "clean" && wasUnder) this.#flash("sent");
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
