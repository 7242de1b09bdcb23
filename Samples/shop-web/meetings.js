import { groupOf, same } from "./fields.js";

/**
 * The places where two edits met, until their user has looked at them. The store tells of each once; what it told is kept here,
 * so that it is there after the page was closed too.
 */
export class Meetings extends EventTarget {
  #key; #store; #kept;

  constructor(store, user) {
    super();
    this.#store = store;
    this.#key = `shop-web:${user}:meetings`;
    this.#read();
    store.addEventListener("conflict", ({ detail }) => this.#add(detail));
    // What another window of this user dismissed.
    addEventListener("storage", ({ key }) => { if (key === this.#key) this.#read(); });
  }

  #read() {
    this.#kept = JSON.parse(localStorage.getItem(this.#key) ?? "[]");
    this.dispatchEvent(new Event("change"));
  }

  #write(kept) {
    localStorage.setItem(this.#key, JSON.stringify(kept));
    this.#read();
  }

  #add({ resource, id, section, item, group, outcome, old, current, new: mine, written, by }) {
    const place = JSON.stringify([resource, id, section, item ?? null, group ?? null]);
    const told = { place, resource, id, section, item, group, outcome, old, current, new: mine, written, by, at: by?.at ?? new Date().toISOString() };
    // Of one place the last meeting counts. Every window of a user is told, and one is enough.
    const others = this.#kept.filter((meeting) => meeting.place !== place);
    if (this.#kept.some((meeting) => meeting.place === place && same(JSON.parse(JSON.stringify({ ...told, at: 0 })), { ...meeting, at: 0 }))) return;
    this.#write([told, ...others].slice(0, 50));
    this.dispatchEvent(new CustomEvent("met", { detail: told }));
  }

  get all() { return this.#kept; }

  of(id) { return this.#kept.filter((meeting) => String(meeting.id) === String(id)); }

  dismiss(meeting) { this.#write(this.#kept.filter((other) => other.place !== meeting.place || !same(other, meeting))); }

  /**
   * Makes a value of a meeting the one that stands: an edit like any other, from what stands now.
   *
   * `takeMine()` of the event does the same, but is gone once the page was closed.
   */
  async take(meeting, value) {
    const { resource, id, section, item, group } = meeting, fields = groupOf(section, group)?.fields;
    await this.#store.edit(resource, id, (record) => {
      const list = record[section], index = item === undefined ? -1 : list.findIndex((one) => String(one.id) === String(item));
      const row = item === undefined ? list : list[index];
      if (group === undefined) {
        if (item === undefined) throw new Error("A whole customer is not taken back here.");
        if (!value) { if (row) list.splice(index, 1); } else if (row) Object.assign(row, value);
        else list.push({ ...value });
      } else if (!row) throw new Error("It is not there any more.");
      else if (fields?.length > 1) Object.assign(row, value);
      else row[fields?.[0].name ?? group] = value;
    });
    this.dismiss(meeting);
  }
}
