import { putAisles, take } from "./controls.js";
import { freshID, h, say } from "./dom.js";
import { groupOf } from "./fields.js";
import { GroupField } from "./group.js";

const groups = ["item", "aisle"].map((name) => groupOf("groceries", name));

/** The shopping list of a customer: items are changed in their place, added below and removed. */
export class Groceries {
  #edit; #state; #rows = new Map(); #list; #aisles = new Map(); #name; #quantity; #aisle; #error;

  /**
   * @param {(change: {groceries: (items: any[]) => void}) => Promise<void>} edit changes the items of the record that is shown
   * @param {(place: string, id: any) => Promise<string>} state
   */
  constructor(edit, state) {
    this.#edit = (groceries) => edit({ groceries });
    this.#state = state;
    const heading = freshID("groceries"), error = freshID("error");
    this.#list = h("ul", { class: "groceries", "aria-labelledby": heading });
    this.#name = h("input", { name: "newName", "aria-label": "What to add", placeholder: "Add something", autocomplete: "off", "aria-describedby": error });
    this.#quantity = h("input", { name: "newQuantity", "aria-label": "How much of it", placeholder: "How much", autocomplete: "off" });
    this.#aisle = h("select", { name: "newAisle", "aria-label": "Aisle of it" });
    this.#error = h("p", { class: "error", id: error, role: "alert" });
    this.element = h("section", { class: "part", "aria-labelledby": heading },
      h("h3", { id: heading }, "Groceries"), this.#list,
      h("form", { class: "add", onsubmit: (event) => { event.preventDefault(); void this.#add(); } },
        this.#name, this.#quantity, this.#aisle, h("button", { type: "submit" }, "Add"), this.#error));
  }

  /** Shows the items of a record. */
  show(items, aisles, writer) {
    this.#aisles = aisles;
    putAisles(this.#aisle, aisles);
    const ids = items.map(({ id }) => String(id));
    // An item that got its real id is the same item: whoever types in it goes on typing.
    for (const [id, row] of [...this.#rows]) {
      if (!id.startsWith("tmp:") || ids.includes(id)) continue;
      const real = items.find((item) => !this.#rows.has(String(item.id)) && item.name === row.name && item.quantity === row.quantity);
      if (real) this.#rename(id, real.id);
    }
    for (const [id, row] of this.#rows) {
      if (ids.includes(id)) continue;
      row.element.remove();
      this.#rows.delete(id);
    }
    for (const [index, item] of items.entries()) {
      let row = this.#rows.get(ids[index]);
      if (!row) this.#rows.set(ids[index], (row = this.#row(item)));
      if (this.#list.children[index] !== row.element) this.#list.insertBefore(row.element, this.#list.children[index] ?? null);
      Object.assign(row, { name: item.name, quantity: item.quantity });
      row.remove.setAttribute("aria-label", `Remove ${item.name}`);
      for (const field of row.fields) field.show(item, aisles, writer);
    }
    this.#list.classList.toggle("empty", items.length === 0);
  }

  #rename(from, id) {
    const row = this.#rows.get(from);
    row.id = id;
    this.#rows.delete(from);
    this.#rows.set(String(id), row);
  }

  #row({ id }) {
    const row = { id };
    const names = [{ name: "What", quantity: "How much" }, { aisle: "Aisle" }];
    row.fields = groups.map((group, index) => new GroupField(group, {
      names: names[index],
      save: (values) => this.#edit((items) => Object.assign(items.find((item) => String(item.id) === String(row.id)) ?? {}, values)),
    }));
    row.remove = h("button", { type: "button", class: "remove", onclick: () => void this.#remove(row) }, "×");
    row.element = h("li", {}, row.fields.map((field) => field.element), row.remove);
    return row;
  }

  async #remove(row) {
    const next = row.element.nextElementSibling ?? row.element.previousElementSibling;
    await this.#edit((items) => {
      const index = items.findIndex((item) => String(item.id) === String(row.id));
      if (index >= 0) items.splice(index, 1);
    });
    say(`${row.name} was removed.`);
    (next?.querySelector(".remove") ?? this.#name).focus();
  }

  async #add() {
    const name = this.#name.value.trim(), quantity = this.#quantity.value.trim() || "1", aisle = take(this.#aisle, { kind: "aisle" });
    if (!name) return this.#name.focus();
    try {
      await this.#edit((items) => items.push({ name, quantity, ...(aisle !== null && { aisle }) }));
      this.#error.textContent = "";
      for (const element of [this.#name, this.#quantity, this.#aisle]) element.value = "";
      say(`${name} was added.`);
      this.#name.focus();
    } catch (error) {
      this.#error.textContent = error.message;
    }
  }

  /** Asks the store what becomes of each item. */
  async showStates() {
    for (const row of [...this.#rows.values()]) {
      for (const [index, field] of row.fields.entries()) {
        field.setState(await this.#state(`groceries.${groups[index].name}`, row.id));
      }
    }
  }
}
