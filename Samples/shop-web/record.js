import { meetingCard, refusedCard } from "./cards.js";
import { ask, freshID, h, say } from "./dom.js";
import { fullName, groupOf, parts } from "./fields.js";
import { Groceries } from "./groceries.js";
import { GroupField } from "./group.js";
import { stateOf, whileOpen } from "./states.js";

/** A customer: the form, what met another edit, what was refused. */
export class CustomerForm {
  #store; #user; #meetings; #aisles; #id; #end; #groups = []; #groceries; #record; #cards; #title; #about; #known = ""; #writers; #isOver = false;
  /** The form of the store, whose base is what is shown, and the last edit that it saves. A form of a refused edit stays until it is saved. */
  #draft = null; #saved = Promise.resolve(); #isRestored = false; #opened = 0;

  /**
   * @param {any} id
   * @param {{store: any, user: string, meetings: import("./meetings.js").Meetings, aisles: Map<number, string>, writers: Map<string, string>, renamed: (id: any) => void}} options
   */
  constructor(id, { store, user, meetings, aisles, writers, renamed }) {
    this.renamed = renamed;
    this.#writers = writers;
    this.#id = id;
    this.#store = store;
    this.#user = user;
    this.#meetings = meetings;
    this.#aisles = aisles;
    const heading = freshID("customer");
    this.#title = h("h2", { id: heading, tabindex: "-1" });
    this.#about = h("p", { class: "about" });
    this.#cards = h("div", { class: "cards" });
    this.element = h("article", { class: "customer", "aria-labelledby": heading },
      h("header", {}, h("a", { class: "back", href: "#/" }, "All customers"), this.#title, this.#about), this.#cards);
    this.#end = store.observe("shoppers", id, (record) => void whileOpen(() => this.#changed(record)));
  }

  #form() {
    this.#groceries = new Groceries(({ groceries: change }) => this.#edit(({ groceries }) => change(groceries)), (place, id) => stateOf(this.#store, "shoppers", this.#id, place, id));
    const sections = parts.map(({ title, groups }) => {
      const heading = freshID("part"), fields = groups.map((group) => {
        const field = new GroupField(group, { save: (values) => this.#edit(({ customer }) => Object.assign(customer, values)) });
        this.#groups.push({ group, field });
        return field.element;
      });
      return h("section", { class: "part", "aria-labelledby": heading }, h("h3", { id: heading }, title), h("div", { class: "fields" }, fields));
    });
    const [first, ...rest] = sections;
    return [first, this.#groceries.element, ...rest, h("footer", {}, h("button", { type: "button", class: "small danger", onclick: () => void this.#remove() }, "Remove this customer"))];
  }

  /** Shows a record that has changed, as the base of another form of the store. */
  async #changed(record) {
    const number = ++this.#opened, draft = record && !this.#isRestored ? await this.#store.draft("shoppers", this.#id).catch((error) => { if (error.code !== "no-such-record") throw error; }) : null;
    if (this.#isOver || number !== this.#opened) return draft?.close();
    if (draft) this.#begin(draft);
    this.#show(draft?.base ?? record);
  }

  /** Goes on with another form of the store; the last one closes when it has saved. */
  #begin(draft) {
    const last = this.#draft;
    this.#draft = draft;
    void this.#saved.catch(() => {}).then(() => last?.close());
  }

  /** Edits what is shown. */
  async #edit(change) {
    const draft = this.#draft, { base, record } = draft;
    if (this.#isRestored) for (const { group, field } of this.#groups) if (!field.isDirty) for (const { name } of group.fields) record.customer[name] = base.customer[name];
    change(record);
    this.#saved = draft.save();
    try {
      await this.#saved;
      this.#isRestored = false;
    } catch (error) {
      // A value that does not fit is not saved with the next edit.
      if (error.code === "not-refused") this.#isRestored = false;
      await this.#changed(this.#record);
      throw error;
    }
  }

  /** Takes a refused edit back into the form. */
  async #restore(entry) {
    const draft = await entry.restore();
    this.#opened += 1;
    this.#isRestored = true;
    this.#begin(draft);
    for (const { field } of this.#groups) field.restore(draft.record.customer);
    this.#groceries.show(draft.record.groceries, this.#aisles);
    this.#groups.find(({ field }) => field.isDirty)?.field.focus();
  }

  #show(record) {
    if (this.#isOver) return;
    if (record && record.id !== this.#id && String(this.#id).startsWith("tmp:")) this.renamed((this.#id = record.id));
    const wasThere = this.#record;
    this.#record = record;
    if (!record) {
      this.#title.textContent = wasThere ? fullName(wasThere) : "No such customer";
      this.#about.textContent = wasThere ? "was removed, here or on another device." : "There is nobody under this address on this device.";
      while (this.#cards.nextSibling) this.#cards.nextSibling.remove();
      if (wasThere) say(`${this.#title.textContent} was removed.`);
    } else {
      if (!wasThere) {
        [this.#groups, this.#groceries] = [[], null];
        this.element.append(...this.#form());
      }
      this.#title.textContent = fullName(record);
      this.#about.textContent = record.customer.modified ? `Changed in the shop on ${new Date(record.customer.modified).toLocaleDateString("en-GB", { day: "numeric", month: "long", year: "numeric" })}` : "New, and not in the shop yet";
      for (const { field } of this.#groups) field.show(record.customer, this.#aisles, this.#writers.get(String(record.id)));
      this.#groceries.show(record.groceries, this.#aisles, this.#writers.get(String(record.id)));
    }
    void this.showStates();
  }

  /** Takes the names of the aisles. */
  set aisles(aisles) {
    this.#aisles = aisles;
    if (this.#record) this.#groceries.show(this.#record.groceries, aisles);
  }

  /** Shows what becomes of each group, and the cards. */
  async showStates() {
    await whileOpen(async () => {
      await this.#showCards();
      if (!this.#record) return;
      for (const { group, field } of this.#groups) field.setState(await stateOf(this.#store, "shoppers", this.#id, `customer.${group.name}`));
      await this.#groceries.showStates();
    });
  }

  async #showCards() {
    const meetings = await this.#meetings.looked(groupOf, this.#id);
    const entries = (await this.#store.refusedEdits()).filter(({ edits, id }) => [id, ...(edits ?? []).map((edit) => edit.id)].some((one) => String(one) === String(this.#id)));
    const known = JSON.stringify([meetings, entries, fullName(this.#record)]);
    if (known === this.#known || this.#isOver) return;
    this.#known = known;
    const hadFocus = this.#cards.contains(document.activeElement);
    this.#cards.replaceChildren(
      ...meetings.map(({ meeting, now }) => meetingCard(meeting, {
        user: this.#user, record: this.#record, aisles: this.#aisles, now, decide: (decision) => this.#meetings.decide(meeting, decision),
      })),
      ...entries.map((entry) => refusedCard(entry, { aisles: this.#aisles, restore: () => this.#restore(entry) })));
    if (hadFocus) this.#title.focus();
  }

  async #remove() {
    const answer = await ask({
      title: `Remove ${fullName(this.#record)}?`, text: ["The customer goes from every device, and stays in the shop's books."],
      buttons: [{ label: "Remove", value: "yes", kind: "danger" }, { label: "Cancel", value: "no" }],
    });
    if (answer !== "yes") return;
    await this.#store.delete("shoppers", this.#id);
    location.hash = "#/";
  }

  focus() { this.#title.focus({ preventScroll: true }); }

  end() {
    this.#isOver = true;
    this.#end();
    // A field that loses the focus as the form goes is still saved.
    void Promise.resolve().then(() => this.#begin(null));
  }
}
