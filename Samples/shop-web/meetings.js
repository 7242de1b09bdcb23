/**
 * The conflicts that wait for a look of their user. The store keeps the list. It delivers an event in one window, so windows of
 * a user tell each other that the list has changed.
 */
export class Meetings extends EventTarget {
  #store; #channel; #kept = [];

  constructor(store, user) {
    super();
    this.#store = store;
    this.#channel = new BroadcastChannel(`shop-web:${user}:meetings`);
    this.#channel.onmessage = () => void this.#read();
    store.addEventListener("conflict", async ({ detail }) => {
      await this.#changed();
      this.dispatchEvent(new CustomEvent("met", { detail }));
    });
    void this.#read();
  }

  async #read() {
    try {
      this.#kept = (await this.#store.conflicts()).filter(({ kind }) => kind === "conflict").reverse();
    } catch (error) {
      if (error.code !== "closed") throw error;
    }
    this.dispatchEvent(new Event("change"));
  }

  async #changed() {
    await this.#read();
    this.#channel.postMessage("changed");
  }

  /** The newest first. */
  get all() { return this.#kept; }

  of(id) { return this.#kept.filter((meeting) => String(meeting.id) === String(id)); }

  /**
   * Decides about a meeting: it leaves the list.
   *
   * @param {"takeMine" | "takeTheirs" | "dismiss"} decision
   */
  async decide(meeting, decision) {
    await meeting[decision]();
    await this.#changed();
  }

  /**
   * The value of a meeting's place as the store has it now, and its state: `clean` is the value of the shop, anything else holds
   * an edit that the shop has not answered. Undefined without a group or a row.
   */
  async now({ resource, id, section, item, group }, fields) {
    const record = group === undefined ? null : await this.#store.record(resource, id);
    const row = item === undefined ? record?.[section] : record?.[section]?.find((one) => String(one.id) === String(item));
    if (!row || !fields) return undefined;
    const value = fields.length === 1 ? (row[fields[0].name] ?? null) : Object.fromEntries(fields.map(({ name }) => [name, row[name] ?? null]));
    return { value, isClean: (await this.#store.state(resource, id, `${section}.${group}`, item)) === "clean" };
  }

  /** The meetings of a customer, or of all, each with its value now. */
  async looked(groupOf, id) {
    const meetings = id === undefined ? this.#kept : this.of(id);
    return Promise.all(meetings.map(async (meeting) => ({ meeting, now: await this.now(meeting, groupOf(meeting.section, meeting.group)?.fields) })));
  }
}
