// The page Record: the history of one record, and undo.

import { canWrite, get, post, readRules } from "./api.js";
import { findWriter } from "./conflicts.js";
import { Page, append, button, dialog, field, h, link, notice, problemNotice, put, select, time, unique } from "./dom.js";
import { address, count, groupName, idPath, idText, recordChanges, search, sender, story, words, writerOf } from "./model.js";
import { beforeAfter, cascades, change, outcomeBadge, resultView, show, sides } from "./values.js";

const LIMIT = 30;
const WRITES = new Set(["applied", "inserted", "deleted", "client-won", "combined", "restored"]);

class Record extends Page {
  entries = [];
  next = null;

  get heading() { return this.parts?.length === 2 ? `${this.parts[0]} ${this.parts[1]}` : "Record"; }

  async start() {
    const [resource, id] = this.parts;
    this.chooser = h("form", { class: "filters", role: "search", "aria-label": "Choose a record", onsubmit: (event) => { event.preventDefault(); this.choose(); } });
    this.status = h("p", { class: "live muted", role: "status" });
    this.current = h("div", { class: "current" });
    this.timeline = h("ol", { class: "timeline", "aria-label": "History, newest first" });
    this.more = h("div", { class: "more" });
    const isChosen = Boolean(resource && id);
    put(this, this.head(this.status), this.chooser,
      isChosen ? h("div", { class: "columns" },
        h("section", { "aria-labelledby": "history" }, h("h2", { id: "history" }, "History"), this.timeline, this.more),
        h("section", { "aria-labelledby": "now", class: "side", tabindex: "0" }, h("h2", { id: "now" }, "Now"), this.current)) : null);
    this.drawChooser([]);
    readRules().then((rules) => this.isConnected && this.drawChooser(rules.resources), () => {});
    if (!isChosen) {
      append(this, notice("info", h("p", null, "Choose a resource and the id of a record. The page then shows who changed it, and can undo a change.")));
      return;
    }
    await this.reload();
  }

  drawChooser(resources) {
    const [resource, id] = this.parts;
    const old = this.chooser.elements;
    put(this.chooser,
      field("Resource", select(resources.map(({ resource }) => [resource, resource]), old.resource?.value || resource || resources[0]?.resource, { name: "resource", required: true })),
      field("Record", h("input", { name: "id", value: old.id?.value || id || "", required: true, autocomplete: "off", size: 16 })),
      h("div", { class: "field buttons" }, h("button", { class: "primary" }, "Show")));
  }

  choose() {
    const { resource, id } = this.chooser.elements;
    location.hash = address("record", [resource.value, id.value.trim()]);
  }

  async reload() {
    const [resource, id] = this.parts;
    put(this.status, "Reading…");
    const [record] = await Promise.all([
      get(`/v1/records/${encodeURIComponent(resource)}/${idPath(id)}`, { signal: this.signal }).catch((problem) => {
        if (problem.name === "AbortError" || problem.status === 401) throw problem;
        return problem;
      }),
      this.read(true),
    ]);
    this.drawNow(record);
  }

  async read(isFirst) {
    const [resource, id] = this.parts;
    const answer = await get(`/v1/journal${search({ resource, id, order: "newest", limit: LIMIT, after: isFirst ? "" : this.next })}`, { signal: this.signal });
    this.entries = isFirst ? answer.entries : [...this.entries, ...answer.entries];
    this.next = answer.next;
    if (isFirst) put(this.timeline);
    const added = answer.entries.map((entry) => this.entryView(entry));
    append(this.timeline, added);
    if (!this.entries.length) put(this.timeline, h("li", null, notice("info", h("p", null, "The journal has no entry for this record."))));
    put(this.status, this.entries.length ? (this.next ? `The newest ${this.entries.length} entries` : count(this.entries.length, "entry", "entries")) : "");
    put(this.more, this.next ? button("Older entries", () => this.run(async () => {
      const added = await this.read(false);
      added[0]?.querySelector("button, summary, a")?.focus();
    })) : null);
    return added;
  }

  drawNow(record) {
    if (record instanceof Error) {
      put(this.current, record.status === 404 ? notice("info", h("p", null, "This record does not exist now, or this token may not read it.")) : problemNotice(record));
      return;
    }
    put(this.current, Object.entries(record).filter(([name]) => name !== "id").map(([name, section]) =>
      h("section", null, h("h3", null, words(name)),
        Array.isArray(section)
          ? (section.length ? h("ul", { class: "items" }, section.map((item) => h("li", null, show(item)))) : h("p", { class: "muted" }, "No items."))
          : section === null ? h("p", { class: "muted" }, "None.") : show(section))));
  }

  entryView(entry) {
    const isForeign = entry.who === "foreign program";
    const isRefused = entry.status !== "merged";
    const outcomes = entry.outcomes ?? [];
    const conflicts = outcomes.filter((outcome) => outcome.conflict).length;
    const canUndo = !isRefused && outcomes.some((outcome) => WRITES.has(outcome.outcome));
    const heading = unique("entry");
    return h("li", { class: `entry${isForeign ? " foreign" : ""}${isRefused ? " refused" : ""}`, id: `entry-${entry.number}` },
      h("article", { "aria-labelledby": heading },
        h("header", null,
          h("h3", { id: heading }, isForeign ? "Another program" : sender(entry),
            isRefused ? h("span", { class: "badge bad" }, h("span", { "aria-hidden": "true" }, "✕"), "Refused") : null,
            entry.undoes || entry.key?.startsWith("undo:") ? h("span", { class: "badge plain" }, h("span", { "aria-hidden": "true" }, "↺"), `Undo of entry ${entry.key.slice(5)}`) : null,
            conflicts ? h("span", { class: "badge both" }, h("span", { "aria-hidden": "true" }, "◆"), count(conflicts, "conflict")) : null),
          h("p", { class: "muted" }, time(entry.at), ` · entry ${entry.number}`),
          canUndo ? button("Undo…", () => this.undo(entry), { "aria-label": `Undo entry ${entry.number}…` }) : null),
        entry.problem ? h("p", null, h("strong", null, `${entry.problem.title}. `), entry.problem.detail) : null,
        entry.refused ? h("p", null, link("Show the refused push", address("refused", [entry.number]))) : null,
        entry.erased ? h("p", { class: "muted" }, "The values of this entry were erased.") : null,
        outcomes.map((outcome) => this.outcomeView(entry, outcome))));
  }

  outcomeView(entry, outcome) {
    const head = h("div", { class: "grouphead" }, h("h4", { class: "name" }, groupName(outcome)), outcomeBadge(outcome.outcome),
      h("span", { class: "muted rule" }, outcome.rule === "default" ? "default rule" : outcome.rule));
    const before = outcome.current, after = outcome.written;
    const box = h("div", { class: "group" }, head);
    if (outcome.conflict) {
      const sentence = h("p", { class: "story" }, "…");
      append(box, [sentence, sides(outcome, `Values of ${groupName(outcome)}, entry ${entry.number}`)]);
      this.tellWriter(entry, outcome, sentence);
    } else if (outcome.outcome === "inserted") {
      append(box, outcome.new === undefined ? null : show(outcome.new ?? after));
    } else if (outcome.outcome === "deleted") {
      append(box, before === undefined ? null : h("div", { class: "was" }, h("span", { class: "muted" }, "The row was "), show(before)));
    } else if (before !== undefined || after !== undefined) {
      append(box, change(before, after));
    }
    append(box, [
      outcome.fallback ? h("p", { class: "muted" }, outcome.fallback) : null,
      outcome.private?.length ? h("p", { class: "muted" }, `Private: ${[outcome.private].flat().join(", ")}. The journal has a digest instead of the value.`) : null,
      cascades(outcome),
    ]);
    return box;
  }

  async tellWriter(entry, outcome, sentence) {
    const tell = (writer) => put(sentence, story(entry, outcome, writer),
      writer ? [" ", link(`Entry ${writer.number}`, address("record", this.parts), { onclick: (event) => { event.preventDefault(); this.jump(writer.number); } })] : null);
    const older = this.entries.filter((other) => other.number < entry.number);
    const writer = writerOf(outcome, older);
    if (writer || !this.next) return tell(writer);
    return this.run(async () => tell(await findWriter(entry, outcome, this.signal)));
  }

  async jump(number) {
    while (!this.querySelector(`#entry-${number}`) && this.next) await this.read(false);
    const target = this.querySelector(`#entry-${number}`);
    if (!target) return;
    target.setAttribute("tabindex", "-1");
    target.focus({ preventScroll: true });
    target.scrollIntoView({ block: "start", behavior: matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth" });
  }

  /** Undo with the preview first. */
  undo(entry) {
    const groups = [...new Map((entry.outcomes ?? []).filter((outcome) => WRITES.has(outcome.outcome))
      .map((outcome) => [outcome.group ? `${outcome.section}.${outcome.group}` : outcome.section, outcome])).keys()];
    dialog(`Undo entry ${entry.number}`, (body, close) => {
      const chosen = new Set(groups);
      const force = h("input", { type: "checkbox", onchange: () => preview() });
      const result = h("div", { class: "preview", role: "status" });
      const commit = button("Undo", () => run(), { class: "primary", disabled: true });
      const inputs = groups.map((name) => h("label", { class: "check" }, h("input", {
        type: "checkbox", checked: true,
        onchange: (event) => { if (event.target.checked) chosen.add(name); else chosen.delete(name); preview(); },
      }), name));
      const request = () => ({ ...(chosen.size < groups.length ? { groups: [...chosen] } : {}), ...(force.checked ? { force: true } : {}) });
      let last = 0;
      const preview = async () => {
        const turn = (last += 1);
        commit.disabled = true;
        if (!chosen.size) return put(result, h("p", { class: "muted" }, "Choose a group."));
        put(result, h("p", { class: "muted" }, "Reading the preview…"));
        try {
          const [resource, id] = this.parts;
          const now = await get(`/v1/records/${encodeURIComponent(resource)}/${idPath(id)}`).catch((problem) => (problem.status === 404 ? null : Promise.reject(problem)));
          const answer = await post(`/v1/journal/${entry.number}/undo?preview=true`, request(), { isPush: true });
          if (turn !== last) return;
          const changes = answer.status === "merged" ? recordChanges(now, answer.record) : [];
          commit.disabled = answer.status !== "merged" || !changes.length || !canWrite();
          put(result, h("h3", null, changes.length ? "This will change" : "This will change nothing"), changesView(changes),
            h("h3", null, "Decisions"), resultView({ ...answer, resource: undefined, id: undefined }));
        } catch (problem) {
          if (turn === last) put(result, problemNotice(problem));
        }
        return undefined;
      };
      const run = async () => {
        commit.disabled = true;
        try {
          const answer = await post(`/v1/journal/${entry.number}/undo`, request(), { isPush: true });
          if (answer.status !== "merged") return put(result, resultView(answer));
          close();
          await this.run(() => this.reload());
          put(this.status, `Entry ${entry.number} is undone.`);
          this.querySelector("h1").focus();
        } catch (problem) {
          put(result, problemNotice(problem));
        }
        return undefined;
      };
      append(body, [
        h("fieldset", null, h("legend", null, "Groups"), inputs),
        h("label", { class: "check" }, force, "Also replace values that have changed since"),
        result,
        canWrite() ? null : notice("info", h("p", null, "This console is read-only. You can see the preview, but not undo.")),
        h("div", { class: "buttons" }, commit, button("Cancel", close)),
      ]);
      preview();
    });
  }
}

/** Changed fields of a record. */
export const changesView = (changes) => (changes.length ? h("dl", { class: "changes" }, changes.map(({ section, item, field, before, after }) =>
  h("div", null, h("dt", null, [section, item === undefined ? "" : `[${idText(item)}]`, field].filter(Boolean).join(" ") || "record"),
    h("dd", null, typeof before === "object" && typeof after === "object" && before && after ? change(before, after) : beforeAfter(before, after))))) : null);

customElements.define("fm-record", Record);
