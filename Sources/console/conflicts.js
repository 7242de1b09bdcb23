// The page Conflicts: the newest conflicts, live.

import { get, readRules } from "./api.js";
import { Page, button, field, filterBox, h, link, notice, put, select, time } from "./dom.js";
import { CONFLICTS, address, count, groupName, idText, outcomeWord, recordAddress, search, sender, story, writerOf } from "./model.js";
import { cascades, outcomeBadge, sides } from "./values.js";

const FILTERS = ["resource", "id", "who", "device", "group", "outcome", "since", "until"];
const LIMIT = 50;
/** Entries are not committed in the order of their numbers, so each poll reads some of the last ones again. */
const OVERLAP = 500;
const SETTLED_AFTER = 10_000;

const writers = new Map();
let last = Promise.resolve();

/** The entry that wrote the value which an outcome met; null if the journal has none. */
export async function findWriter(entry, outcome, signal) {
  const key = `${entry.number}/${groupName(outcome)}`;
  if (!writers.has(key)) {
    const query = search({ resource: entry.resource, id: idText(entry.id), group: outcome.group ? `${outcome.section}.${outcome.group}` : outcome.section, order: "newest", after: entry.number, limit: 5 });
    // One after the other, so that a page with many conflicts does not delay clients.
    const answer = await (last = last.catch(() => {}).then(() => {
      signal?.throwIfAborted();
      return get(`/v1/journal${query}`, { signal });
    }));
    if (writers.size > 2000) writers.clear();
    writers.set(key, writerOf(outcome, answer.entries));
  }
  return writers.get(key);
}

/** The conflicts of an entry that the filters select. */
const conflictsOf = (entry, query) => (entry.outcomes ?? []).filter((outcome) =>
  outcome.conflict && (!query.outcome || outcome.outcome === query.outcome) &&
  (!query.group || query.group === outcome.section || query.group === `${outcome.section}.${outcome.group}`));

class Conflicts extends Page {
  heading = "Conflicts";
  isPaused = false;
  entries = [];
  next = null;

  async start() {
    this.pause = button("Pause", () => this.toggle(), { "aria-pressed": "false" });
    this.live = h("p", { class: "live muted", role: "status" });
    this.list = h("ol", { class: "cards", "aria-label": "Conflicts, newest first" });
    this.more = h("div", { class: "more" });
    this.filters = h("form", { class: "filters", role: "search", "aria-label": "Filters", onsubmit: (event) => { event.preventDefault(); this.apply(); }, onchange: () => this.apply() });
    put(this, this.head(this.live, this.pause), filterBox(this.filters, false, this.signal), this.list, this.more);
    this.drawFilters([]);
    readRules().then((rules) => this.isConnected && this.drawFilters(rules.resources), () => {});
    put(this.list, h("li", { class: "muted" }, "Reading…"));
    await this.repeat(2, () => this.poll());
  }

  drawFilters(resources) {
    const focused = document.activeElement?.name;
    const { query } = this;
    const input = (name, attributes = {}) => h("input", { name, value: query[name] ?? "", autocomplete: "off", ...attributes });
    put(this.filters,
      field("Resource", select([["", "All"], ...resources.map(({ resource }) => [resource, resource])], query.resource, { name: "resource" })),
      field("Record", input("id", { placeholder: "id", size: 8 })),
      field("Group", input("group", { placeholder: "section.group", size: 14 })),
      field("Outcome", select([["", "All"], ...CONFLICTS.map((kind) => [kind, outcomeWord(kind)])], query.outcome, { name: "outcome" })),
      field("Sender", input("who", { size: 10 })), field("Device", input("device", { size: 10 })),
      field("Since", select([["", "Any time"], ["1h", "Last hour"], ["1d", "Last day"], ["7d", "Last 7 days"], ["30d", "Last 30 days"]], query.since, { name: "since" })),
      h("div", { class: "field buttons" }, Object.keys(query).length ? link("Clear", address("conflicts"), { class: "button quiet" }) : null, h("button", { class: "hidden" }, "Apply filters")));
    if (focused) this.filters.elements[focused]?.focus();
  }

  apply() {
    const query = Object.fromEntries(FILTERS.map((name) => [name, this.filters.elements[name]?.value.trim()]));
    if (query.id && !query.resource) query.id = "";
    location.hash = address("conflicts", [], query);
  }

  refilter(query) {
    this.query = query;
    this.entries = [];
    this.next = null;
    readRules().then((rules) => this.drawFilters(rules.resources), () => this.drawFilters([]));
    put(this.list, h("li", { class: "muted" }, "Reading…"));
    this.isDrawn = false;
    this.run(() => this.poll(true));
    return true;
  }

  toggle() {
    this.isPaused = !this.isPaused;
    this.pause.setAttribute("aria-pressed", this.isPaused);
    this.pause.textContent = this.isPaused ? "Continue" : "Pause";
    put(this.live, this.isPaused ? "Paused" : "Live");
    if (!this.isPaused) this.run(() => this.poll());
  }

  filter(more) {
    const filters = Object.fromEntries(FILTERS.map((name) => [name, this.query[name]]));
    return search({ conflicts: true, order: "newest", limit: LIMIT, ...filters, ...more });
  }

  async poll(isFirst = false) {
    if (this.isPaused && this.isDrawn && !isFirst) return;
    const { query, signal } = this;
    const newest = (await get("/v1/journal?order=newest&limit=1", { signal })).entries[0]?.number ?? 0;
    if (newest !== this.newest) this.changedAt = Date.now();
    else if (this.isDrawn && Date.now() - this.changedAt > SETTLED_AFTER) return;
    if (this.isDrawn) await this.readNew(query);
    else await this.readFirst(query);
    if (query === this.query) this.newest = newest;
  }

  async readFirst(query) {
    const answer = await get(`/v1/journal${this.filter({})}`, { signal: this.signal });
    if (query !== this.query) return;
    this.entries = answer.entries;
    this.next = answer.next;
    this.isDrawn = true;
    put(this.list, this.entries.map((entry) => this.card(entry)));
    put(this.live, this.isPaused ? "Paused" : "Live");
    this.drawEnd();
  }

  /** Reads the entries after the newest one of the last poll. */
  async readNew(query) {
    const known = new Set(this.entries.map((entry) => entry.number));
    const fresh = [];
    let after = Math.max(0, this.newest - OVERLAP) || undefined;
    do {
      const answer = await get(`/v1/journal${this.filter({ order: undefined, after })}`, { signal: this.signal });
      if (query !== this.query) return undefined;
      fresh.unshift(...answer.entries.filter((entry) => entry.number > this.oldest && !known.has(entry.number)).reverse());
      after = answer.next;
      // Too many to show one by one.
      if (fresh.length > 10 * LIMIT) return this.readFirst(query);
    } while (after);
    if (!fresh.length) return undefined;
    this.entries = [...fresh, ...this.entries].sort((one, other) => other.number - one.number);
    this.list.querySelector(":scope > .empty")?.remove();
    const cards = fresh.map((entry) => this.card(entry));
    for (const card of cards) card.classList.add("fresh");
    this.list.prepend(...cards);
    put(this.live, `Live · ${count(fresh.length, "new entry", "new entries")}`);
    return this.drawEnd();
  }

  /** The oldest number that the list covers. */
  get oldest() { return this.next ? this.entries.at(-1)?.number ?? 0 : 0; }

  drawEnd() {
    if (!this.entries.length) put(this.list, h("li", { class: "empty" }, notice("good", h("p", null, "No conflicts with these filters."))));
    this.drawMore();
  }

  drawMore() {
    put(this.more, this.next ? button("Older conflicts", (event) => {
      event.target.disabled = true;
      this.run(() => this.older());
    }) : this.entries.length ? h("p", { class: "muted" }, "No older conflicts.") : null);
  }

  async older() {
    const { query } = this;
    const answer = await get(`/v1/journal${this.filter({ after: this.next })}`, { signal: this.signal });
    if (query !== this.query) return;
    this.entries.push(...answer.entries);
    this.next = answer.next;
    const cards = answer.entries.map((entry) => this.card(entry));
    this.list.append(...cards);
    this.drawMore();
    cards[0]?.querySelector("a")?.focus();
  }

  card(entry) {
    return h("li", { class: "card" },
      h("div", { class: "title" },
        link(`${entry.resource} ${idText(entry.id)}`, recordAddress(entry)),
        h("span", { class: "muted" }, time(entry.at, "short")),
        h("span", { class: "muted number" }, `entry ${entry.number}`)),
      conflictsOf(entry, this.query).map((outcome) => conflictView(entry, outcome, this.signal)));
  }
}

/** One conflict: group, outcome, rule, who met whom; the four values on request. */
export function conflictView(entry, outcome, signal) {
  const sentence = h("span", { class: "story" }, story(entry, outcome, undefined));
  sentence.textContent = `${sender(entry)} …`;
  const values = h("div", { class: "values" });
  const details = h("details", {
    ontoggle: () => { if (details.open && !values.hasChildNodes()) put(values, sides(outcome, `Values of ${groupName(outcome)}`), cascades(outcome)); },
  }, h("summary", null,
    h("span", { class: "name" }, groupName(outcome)), outcomeBadge(outcome.outcome), sentence,
    h("span", { class: "muted rule" }, outcome.rule === "default" ? "default rule" : outcome.rule)), values);
  whenVisible(details, async () => {
    try {
      const writer = await findWriter(entry, outcome, signal);
      sentence.textContent = story(entry, outcome, writer);
      if (writer) values.dataset.writer = writer.number;
    } catch (problem) {
      if (problem.name !== "AbortError") put(sentence, sender(entry));
    }
  });
  return details;
}

let watcher = null;
const waiting = new WeakMap();
function whenVisible(element, body) {
  watcher ??= new IntersectionObserver((changes) => {
    for (const { target, isIntersecting } of changes) {
      if (!isIntersecting) continue;
      watcher.unobserve(target);
      waiting.get(target)?.();
    }
  }, { rootMargin: "300px" });
  waiting.set(element, body);
  watcher.observe(element);
}

customElements.define("fm-conflicts", Conflicts);
