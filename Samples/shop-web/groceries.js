import { putAisles } from "./controls.js";
import { freshID, h, say } from "./dom.js";
import { groupOf } from "./fields.js";
import { GroupField } from "./group.js";

const groups = ["item", "aisle"].map((name) => groupOf("groceries", name)), names = [{ name: "What", quantity: "How much" }, { aisle: "Aisle" }];
const order = new Intl.Collator("en", { sensitivity: "base", numeric: true }).compare;

/** The shopping list of a customer by aisles. */
export class Groceries {
  #form; #state; #list; #name; #quantity; #aisle; #error;
  /** The rows of the page by the items of the form, which are the same objects as long as the form is open. */
  #rows = new Map();

  /** @param {(place: string, id: any) => Promise<string>} state */
  constructor(state) {
    this.#state = state;
    const heading = freshID("groceries"), error = freshID("error");
    this.#list = h("ul", { class: "groceries", "aria-labelledby": heading });
    this.#name = h("input", { name: "newName", "aria-label": "What to add", placeholder: "Add an item", autocomplete: "off", "aria-describedby": error });
    this.#quantity = h("input", { name: "newQuantity", "aria-label": "How much of it", placeholder: "How much", autocomplete: "off" });
    this.#aisle = h("select", { name: "newAisle", "aria-label": "Aisle of it" });
    this.#error = h("p", { class: "error", id: error, role: "alert" });
    this.element = h("section", { class: "part", "aria-labelledby": heading },
      h("h3", { id: heading }, "Groceries"), this.#list,
      h("form", { class: "add", onsubmit: (event) => { event.preventDefault(); void this.#add(); } },
        this.#name, this.#quantity, this.#aisle, h("button", { type: "submit" }, "Add"), this.#error));
  }

  /** Shows the items of a form. */
  show(form, aisles, writer) {
    this.#form = form;
    putAisles(this.#aisle, aisles);
    const items = form.record.groceries.filter(({ id }) => id !== undefined);
    for (const [item, row] of this.#rows) {
      if (items.includes(item)) continue;
      row.element.remove();
      this.#rows.delete(item);
    }
    for (const item of items) {
      const row = this.#rows.get(item) ?? this.#row(item);
      row.remove.setAttribute("aria-label", `Remove ${item.name}`);
      for (const field of row.fields) field.show(form, aisles, writer);
    }
    this.#sort(aisles);
  }

  #row(item) {
    const fields = groups.map((group, index) => new GroupField(group, { section: "groceries", row: item, names: names[index] }));
    const remove = h("button", { type: "button", class: "remove", onclick: () => void this.#remove(item) }, "×");
    const row = { fields, remove, element: h("li", {}, fields.map(({ element }) => element), remove) };
    this.#rows.set(item, row);
    this.#list.append(row.element);
    return row;
  }

  /** Sorts the rows as they read, aisle by aisle; while the focus is in the list, no row moves. */
  #sort(aisles) {
    if (this.#list.contains(document.activeElement)) return;
    const key = ({ aisle, name }) => `${aisle === null ? "\uffff" : (aisles.get(aisle) ?? aisle)}\n${name}`;
    const sorted = [...this.#rows].sort(([one], [other]) => order(key(one), key(other)));
    for (const [index, [, { element }]] of sorted.entries()) if (this.#list.children[index] !== element) this.#list.insertBefore(element, this.#list.children[index] ?? null);
  }

  async #remove(item) {
    const { groceries } = this.#form.record, { element } = this.#rows.get(item), next = element.nextElementSibling ?? element.previousElementSibling;
    groceries.splice(groceries.indexOf(item), 1);
    await this.#form.save("groceries", item.id);
    say(`${item.name} was removed.`);
    (next?.querySelector(".remove") ?? this.#name).focus();
  }

  async #add() {
    const name = this.#name.value.trim(), item = { name, quantity: this.#quantity.value.trim() || "1", ...(this.#aisle.value && { aisle: Number(this.#aisle.value) }) };
    if (!name) return this.#name.focus();
    const { groceries } = this.#form.record;
    groceries.push(item);
    try {
      await this.#form.save("groceries");
      this.#error.textContent = "";
      for (const element of [this.#name, this.#quantity, this.#aisle]) element.value = "";
      say(`${name} was added.`);
      this.#name.focus();
    } catch (error) {
      groceries.splice(groceries.indexOf(item), 1);
      this.#error.textContent = error.message;
    }
  }

  /** Shows the state of each item. */
  async showStates() {
    for (const [item, { fields }] of [...this.#rows]) {
      for (const [index, field] of fields.entries()) field.setState(await this.#state(`groceries.${groups[index].name}`, item.id));
    }
  }
}
