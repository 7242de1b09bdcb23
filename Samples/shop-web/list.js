import { freshID, h } from "./dom.js";
import { listName } from "./fields.js";
import { stateOf, whileOpen } from "./states.js";

const portion = 60;
const order = new Intl.Collator("en", { sensitivity: "base", numeric: true }).compare;
const plain = (text) => text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
const marks = { draft: "Not sent yet", sending: "Sending…", unsure: "No answer yet", refused: "Refused", met: "Changed twice" };

/** The customers by their last names, with a search. The list draws a portion at a time. */
export class CustomerList {
  #store; #rows = []; #found = []; #drawn = portion; #search; #list; #count; #more; #open = null; #meetings; #looking; #again;

  /** @param {import("./meetings.js").Meetings} meetings */
  constructor(store, meetings, { create }) {
    this.#store = store;
    this.#meetings = meetings;
    const search = freshID("search");
    this.#search = h("input", { type: "search", id: search, autocomplete: "off", placeholder: "Name, street, telephone…", oninput: () => { this.#drawn = portion; this.#find(); } });
    this.#count = h("p", { class: "count", role: "status" });
    this.#list = h("ul", { class: "customers" });
    this.#more = h("button", { type: "button", class: "more", onclick: () => this.#showMore() }, "Show more");
    this.element = h("nav", { class: "side", "aria-label": "Customers" },
      h("div", { class: "find" },
        h("label", { for: search, class: "unseen" }, "Search customers"), this.#search,
        h("button", { type: "button", class: "new", onclick: create }, "New"), this.#count),
      this.#list, this.#more);
  }

  /** Takes all customers, in any order. */
  show(records) {
    this.#rows = records.map((record) => {
      const { customer } = record;
      return {
        id: record.id, name: listName(record),
        place: [customer.street, customer.county].filter(Boolean).join(", "),
        text: plain([customer.firstName, customer.lastName, customer.street, customer.county, customer.postCode, customer.phone, customer.email, customer.tags?.join(" ")].join(" ")),
      };
    }).sort((one, other) => order(one.name, other.name));
    this.#find();
  }

  #find() {
    const words = plain(this.#search.value).split(/\s+/).filter(Boolean);
    this.#found = words.length ? this.#rows.filter(({ text }) => words.every((word) => text.includes(word))) : this.#rows;
    const all = this.#rows.length.toLocaleString("en-GB");
    const count = words.length ? `${this.#found.length.toLocaleString("en-GB")} of ${all} customers` : `${all} customers`;
    if (this.#count.textContent !== count) this.#count.textContent = count;
    this.#draw();
  }

  #showMore() {
    const first = this.#drawn;
    this.#drawn += portion;
    this.#draw();
    this.#list.children[first]?.firstElementChild.focus();
  }

  #draw() {
    const known = new Map([...this.#list.children].map((item) => [item.dataset.id, item]));
    const items = this.#found.slice(0, this.#drawn).map((row) => {
      const id = String(row.id), item = known.get(id) ?? this.#item(id), [name, place] = item.firstElementChild.children;
      if (name.textContent !== row.name) name.textContent = row.name;
      if (place.textContent !== row.place) place.textContent = row.place;
      return item;
    });
    const letter = (row) => plain(row.name)[0].toUpperCase();
    for (const [index, item] of items.entries()) {
      const own = letter(this.#found[index]);
      item.dataset.letter = index && letter(this.#found[index - 1]) === own ? "" : own;
    }
    // Only what moves is moved: a link that has the focus keeps it.
    for (const [index, item] of items.entries()) if (this.#list.children[index] !== item) this.#list.insertBefore(item, this.#list.children[index] ?? null);
    while (this.#list.children.length > items.length) this.#list.lastElementChild.remove();
    this.#more.hidden = this.#found.length <= this.#drawn;
    this.#more.textContent = `Show ${Math.min(portion, this.#found.length - this.#drawn)} more`;
    this.#markOpen();
    void this.showStates();
  }

  #item(id) {
    return h("li", { "data-id": id }, h("a", { href: `#/customers/${encodeURIComponent(id)}` },
      h("span", { class: "name" }), h("span", { class: "place" }), h("span", { class: "mark" })));
  }

  /** Marks the open customer. */
  set open(id) {
    this.#open = id === null ? null : String(id);
    this.#markOpen();
  }

  #markOpen() {
    for (const item of this.#list.children) {
      if (item.dataset.id === this.#open) item.firstElementChild.setAttribute("aria-current", "page");
      else item.firstElementChild.removeAttribute("aria-current");
    }
  }

  /** Marks the customers with unsent edits, refused edits or conflicts. */
  async showStates() {
    this.#again = true;
    if (this.#looking) return;
    this.#looking = true;
    try {
      while (this.#again) await whileOpen(async () => {
        this.#again = false;
        const { unsent, refused } = this.#store.status, isQuiet = !unsent && !refused;
        for (const item of [...this.#list.children]) {
          const id = /^\d+$/.test(item.dataset.id) ? Number(item.dataset.id) : item.dataset.id;
          const state = this.#meetings.of(id).length ? "met" : isQuiet ? "clean" : await stateOf(this.#store, "shoppers", id);
          const mark = item.firstElementChild.lastElementChild;
          mark.dataset.state = state;
          mark.textContent = marks[state] ?? "";
        }
      });
    } finally {
      this.#looking = false;
    }
  }

  focus() { this.#search.focus(); }
}
