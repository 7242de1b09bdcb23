import { meetingCard, refusedCard } from "./cards.js";
import { ask, freshID, h, say } from "./dom.js";
import { fullName, groupOf, parts } from "./fields.js";
import { Groceries } from "./groceries.js";
import { GroupField } from "./group.js";
import { stateOf, whileOpen } from "./states.js";

/** A customer: a form of the store with its groups, and the cards for conflicts and refused edits. */
export class CustomerForm {
  #store; #user; #meetings; #aisles; #writers; #id; #form = null; #groups = []; #groceries; #cards; #title; #about; #known = ""; #seen; #isOver = false;

  /**
   * @param {any} id
   * @param {{store: any, user: string, meetings: import("./meetings.js").Meetings, aisles: Map<number, string>, writers: Map<string, string>, renamed: (id: any) => void}} options
   */
  constructor(id, { store, user, meetings, aisles, writers, renamed }) {
    [this.#store, this.#user, this.#meetings, this.#aisles, this.#writers, this.#id, this.renamed] = [store, user, meetings, aisles, writers, id, renamed];
    const heading = freshID("customer");
    this.#title = h("h2", { id: heading, tabindex: "-1" });
    this.#about = h("p", { class: "about" });
    this.#cards = h("div", { class: "cards" });
    this.element = h("article", { class: "customer", "aria-labelledby": heading },
      h("header", {}, h("a", { class: "back", href: "#/" }, "All customers"), this.#title), this.#about, this.#cards);
    void whileOpen(() => this.#open());
  }

  async #open() {
    try {
      this.#begin(await this.#store.form("shoppers", this.#id));
    } catch (error) {
      if (error.code !== "no-such-record") throw error;
      this.#title.textContent = "Customer not found";
      this.#about.textContent = "This customer is not on this device.";
    }
  }

  /** Goes on with a form: the one of the customer, or one of a refused edit. */
  #begin(form) {
    if (this.#isOver) return form.close();
    this.#form?.close();
    if (!this.#form) this.element.append(...this.#parts());
    this.#form = form;
    form.subscribe(() => this.#show());
  }

  #parts() {
    this.#groceries = new Groceries((place, id) => stateOf(this.#store, "shoppers", this.#id, place, id));
    const [first, ...rest] = parts.map(({ title, groups }) => {
      const heading = freshID("part"), fields = groups.map((group) => new GroupField(group));
      this.#groups.push(...fields.map((field, index) => ({ group: groups[index], field })));
      return h("section", { class: "part", "aria-labelledby": heading }, h("h3", { id: heading }, title), h("div", { class: "fields" }, fields.map(({ element }) => element)));
    });
    return [first, this.#groceries.element, ...rest, h("footer", {}, h("button", { type: "button", class: "small danger", onclick: () => void this.#remove() }, "Remove this customer"))];
  }

  /** Puts the values of a refused edit into the form. */
  async #restore(entry) {
    this.#begin(await entry.form());
    this.#groups.find(({ field }) => field.isDirty)?.field.focus();
  }

  #show() {
    const { id, base, isGone } = this.#form, writer = this.#writers.get(String(id));
    if (id !== this.#id) this.renamed((this.#id = id));
    this.#title.textContent = fullName(base);
    if (isGone) {
      this.#about.textContent = "This customer was removed, here or on another device.";
      while (this.#cards.nextSibling) this.#cards.nextSibling.remove();
      this.#form.close();
      say(`${fullName(base)} was removed.`);
      return;
    }
    const { modified } = base.customer;
    this.#about.textContent = modified ? `Last change in the shop: ${new Date(modified).toLocaleDateString("en-GB", { day: "numeric", month: "long", year: "numeric" })}` : "New: not in the shop yet";
    for (const { field } of this.#groups) field.show(this.#form, this.#aisles, writer);
    this.#groceries.show(this.#form, this.#aisles, writer);
    const seen = JSON.stringify(base);
    if (seen !== this.#seen) void this.showStates();
    this.#seen = seen;
  }

  /** Takes the names of the aisles. */
  set aisles(aisles) {
    this.#aisles = aisles;
    if (this.#form && !this.#form.isClosed) this.#show();
  }

  /** Shows the state of each group, and the cards. */
  async showStates() {
    await whileOpen(async () => {
      await this.#showCards();
      if (!this.#form || this.#form.isClosed) return;
      for (const { group, field } of this.#groups) field.setState(await stateOf(this.#store, "shoppers", this.#id, `customer.${group.name}`));
      await this.#groceries.showStates();
    });
  }

  async #showCards() {
    const meetings = await this.#meetings.looked(groupOf, this.#id), record = this.#form?.base;
    const entries = (await this.#store.refusedEdits()).filter(({ edits, id }) => [id, ...edits.map((edit) => edit.id)].some((one) => String(one) === String(this.#id)));
    const known = JSON.stringify([meetings, entries, fullName(record)]);
    if (known === this.#known || this.#isOver) return;
    this.#known = known;
    const hadFocus = this.#cards.contains(document.activeElement);
    this.#cards.replaceChildren(
      ...meetings.map(({ meeting, now }) => meetingCard(meeting, { user: this.#user, record, aisles: this.#aisles, now, decide: (decision) => this.#meetings.decide(meeting, decision) })),
      ...entries.map((entry) => refusedCard(entry, { aisles: this.#aisles, restore: () => this.#restore(entry) })));
    if (hadFocus) this.#title.focus();
  }

  async #remove() {
    const answer = await ask({
      title: `Remove ${fullName(this.#form.base)}?`, text: ["The customer disappears from all devices. The shop keeps the data."],
      buttons: [{ label: "Remove", value: "yes", kind: "danger" }, { label: "Cancel", value: "no" }],
    });
    if (answer !== "yes") return;
    await this.#store.delete("shoppers", this.#id);
    location.hash = "#/";
  }

  focus() { this.#title.focus({ preventScroll: true }); }

  end() {
    this.#isOver = true;
    // A field that loses the focus with the page's form is still saved.
    const form = this.#form;
    setTimeout(() => form?.close());
  }
}
