// The page Refused: pushes that were refused for good, grouped by reason.

import { canWrite, get, post } from "./api.js";
import { Page, append, button, dialog, field, filterBox, h, link, notice, problemNotice, put, select, table, time, unique } from "./dom.js";
import { parse, stringify } from "./json.js";
import { address, byReason, changesOf, count, editsOf, idPath, idText, search, sender, words } from "./model.js";
import { beforeAfter, resultView, show, valueText } from "./values.js";

const LIMIT = 200;
const TIMES = [["", "Any time"], ["1h", "Last hour"], ["1d", "Last day"], ["7d", "Last 7 days"], ["30d", "Last 30 days"]];
const isSettled = (entry) => Boolean(entry.refused?.replayed || entry.refused?.dropped);

class Refused extends Page {
  entries = [];
  chosen = new Map();

  get heading() { return this.parts?.length ? `Refused push ${this.parts[0]}` : "Refused"; }

  async start() {
    if (this.parts.length) return this.startOne(this.parts[0]);
    this.status = h("p", { class: "live muted", role: "status" });
    this.groups = h("div", { class: "reasons" });
    this.bar = h("div", { class: "bulk", role: "group", "aria-label": "Chosen pushes" });
    this.more = h("div", { class: "more" });
    this.filters = h("form", { class: "filters", role: "search", "aria-label": "Filters", onsubmit: (event) => { event.preventDefault(); this.apply(); }, onchange: () => this.apply() });
    put(this, this.head(this.status), filterBox(this.filters, false, this.signal), this.groups, this.more, this.bar);
    this.drawFilters();
    return this.read(true);
  }

  drawFilters() {
    const { query } = this;
    const input = (name, attributes) => h("input", { name, value: query[name] ?? "", autocomplete: "off", ...attributes });
    put(this.filters,
      field("Reason", input("code", { placeholder: "foreign-key" })), field("Resource", input("resource")), field("Record", input("id")),
      field("Sender", input("who")), field("Device", input("device")),
      field("Since", select(TIMES, query.since, { name: "since" })),
      h("label", { class: "check" }, h("input", { type: "checkbox", name: "settled", checked: query.settled === "true" }), "Also settled ones"),
      h("div", { class: "field buttons" }, Object.keys(query).length ? link("Clear", address("refused"), { class: "button quiet" }) : null, h("button", { class: "hidden" }, "Apply filters")));
  }

  apply() {
    const { elements } = this.filters;
    const query = Object.fromEntries(["code", "resource", "id", "who", "device", "since"].map((name) => [name, elements[name].value.trim()]));
    if (!query.resource) query.id = "";
    location.hash = address("refused", [], { ...query, settled: elements.settled.checked });
  }

  async read(isFirst) {
    put(this.status, "Reading…");
    const { settled, ...query } = this.query;
    const answer = await get(`/v1/journal${search({ refused: true, order: "newest", limit: LIMIT, ...query, settled: settled === "true" ? true : "", after: isFirst ? "" : this.next })}`, { signal: this.signal });
    const visible = settled === "true" ? answer.entries : answer.entries.filter((entry) => !isSettled(entry));
    this.entries = isFirst ? visible : [...this.entries, ...visible];
    this.next = answer.next;
    const numbers = new Set(this.entries.map((entry) => entry.number));
    for (const number of this.chosen.keys()) if (!numbers.has(number)) this.chosen.delete(number);
    this.draw();
  }

  draw() {
    const open = new Set([...this.groups.querySelectorAll("details[open]")].map((details) => details.dataset.reason));
    const groups = byReason(this.entries);
    put(this.status, this.entries.length ? `${count(this.entries.length, "push", "pushes")}${this.next ? ", and older ones" : ""}` : "");
    put(this.groups, groups.length
      ? groups.map((group, index) => this.groupView(group, open.size ? open.has(group.reason) : index === 0 || groups.length < 4))
      : notice("good", h("p", null, "No refused push waits for a decision with these filters.")));
    put(this.more, this.next ? button("Older pushes", () => this.run(() => this.read(false))) : null);
    this.drawBar();
  }

  groupView(group, isOpen) {
    const boxes = [];
    const choosable = group.entries.filter((entry) => !isSettled(entry));
    const all = h("input", {
      type: "checkbox", "aria-label": `Choose all of ${group.title}`,
      onchange: () => { for (const [box, entry] of boxes) { box.checked = all.checked; this.choose(entry, all.checked); } this.drawBar(); },
    });
    const sync = () => {
      const number = choosable.filter((entry) => this.chosen.has(entry.number)).length;
      all.checked = number > 0 && number === choosable.length;
      all.indeterminate = number > 0 && number < choosable.length;
    };
    const rows = group.entries.map((entry) => {
      const box = isSettled(entry) ? null : h("input", {
        type: "checkbox", checked: this.chosen.has(entry.number), "aria-label": `Choose push ${entry.number}`,
        onchange: () => { this.choose(entry, box.checked); sync(); this.drawBar(); },
      });
      if (box) boxes.push([box, entry]);
      return h("tr", null, h("td", { class: "tick" }, box),
        h("td", null, link(`Push ${entry.number}`, address("refused", [entry.number]))),
        h("td", null, time(entry.at, "short")), h("td", null, sender(entry)),
        h("td", null, entry.resource && entry.id !== undefined ? link(`${entry.resource} ${idText(entry.id ?? "new")}`, address("record", [entry.resource, idText(entry.id ?? "")])) : h("span", { class: "muted" }, entry.refused.address)),
        h("td", null, entry.refused.replayed ? "resent" : entry.refused.dropped ? "dropped" : entry.problem?.detail ?? ""));
    });
    sync();
    return h("details", { class: "reason", "data-reason": group.reason, open: isOpen },
      h("summary", null, h("h2", null, group.title), h("code", { class: "muted" }, group.reason), h("span", { class: "badge bad" }, count(group.entries.length, "push", "pushes"))),
      table(`Pushes refused: ${group.title}`, [choosable.length ? all : h("span", { class: "hidden" }, "Chosen"), "Push", "Time", "Sender", "Record", "Why"], rows, { quiet: true }));
  }

  choose(entry, isChosen) {
    if (isChosen) this.chosen.set(entry.number, entry);
    else this.chosen.delete(entry.number);
  }

  drawBar() {
    const number = this.chosen.size;
    this.bar.hidden = !number;
    put(this.bar, number ? [h("strong", null, `${count(number, "push", "pushes")} chosen`),
      button("Preview", () => this.bulk("preview")), button("Resend…", () => this.bulk("resend"), { disabled: !canWrite() }),
      button("Drop…", () => this.bulk("drop"), { class: "danger", disabled: !canWrite() }),
      canWrite() ? null : h("span", { class: "muted" }, "This console is read-only.")] : null);
  }

  /** Previews, resends or drops the chosen pushes, oldest first, one after the other. */
  bulk(action) {
    const entries = [...this.chosen.values()].sort((one, other) => one.number - other.number);
    const names = { preview: "Preview", resend: "Resend", drop: "Drop" };
    dialog(`${names[action]} ${count(entries.length, "push", "pushes")}`, (body, close) => {
      const list = h("ol", { class: "outcomes" });
      const state = h("p", { role: "status" });
      let isStopped = false;
      const work = async () => {
        let good = 0;
        put(go);
        for (const [index, entry] of entries.entries()) {
          if (isStopped) break;
          put(state, `${index + 1} of ${entries.length}`);
          const item = h("li", null, h("span", { class: "name" }, `Push ${entry.number}`));
          list.append(item);
          try {
            const answer = action === "drop" ? await post(`/v1/journal/${entry.number}/drop`, {}) : await post(`/v1/journal/${entry.number}/resend${action === "preview" ? "?preview=true" : ""}`, {}, { isPush: true });
            const isGood = action === "drop" || answer.status === "merged";
            good += isGood;
            append(item, [h("span", { class: `badge ${isGood ? "good" : "bad"}` }, h("span", { "aria-hidden": "true" }, isGood ? "✓" : "✕"), action === "drop" ? "Dropped" : isGood ? (action === "preview" ? "Would be merged" : "Merged") : "Refused"),
              answer.problem ? h("span", { class: "muted" }, answer.problem.detail) : null]);
          } catch (problem) {
            append(item, [h("span", { class: "badge bad" }, h("span", { "aria-hidden": "true" }, "✕"), "Refused"), h("span", { class: "muted" }, problem.message)]);
          }
        }
        put(state, `${good} of ${entries.length} ${{ preview: "would be merged", resend: "merged", drop: "dropped" }[action]}.`);
        put(go, button("Close", close, { class: "primary" }));
      };
      const go = h("div", { class: "buttons" });
      append(body, [
        action === "resend" ? h("p", null, "Each push merges its old base with the current values. Read the preview first.") : null,
        action === "drop" ? h("p", null, "A dropped push is settled. It leaves this list, and the values that it wanted are not written.") : null,
        state, list, go]);
      if (action === "preview") work();
      else put(go, button(`${names[action]} ${count(entries.length, "push", "pushes")}`, work, { class: action === "drop" ? "danger" : "primary" }), button("Cancel", close));
    }, () => { this.isConnected && this.run(() => this.read(true)); });
  }

  /** One push: as sent, the rows of now, edit, preview, resend, drop. */
  async startOne(number) {
    put(this, h("p", null, link("All refused pushes", address("refused"))), this.head());
    const entry = await get(`/v1/journal/${encodeURIComponent(number)}`, { signal: this.signal });
    const { refused } = entry;
    if (!refused) {
      append(this, notice("info", h("p", null, "This entry is no refused push.")));
      return;
    }
    const edits = editsOf(refused);
    const records = new Map();
    await Promise.all(edits.slice(0, 20).map(async (edit) => {
      if (!edit.resource || edit.id === null || edit.id === undefined || String(edit.id).startsWith("tmp:") || Number(edit.id) < 0) return;
      records.set(edit, await get(`/v1/records/${encodeURIComponent(edit.resource)}/${idPath(idText(edit.id))}`, { signal: this.signal }).catch((problem) => {
        if (problem.name === "AbortError") throw problem;
        return null;
      }));
    }));
    const result = h("div", { role: "status" });
    const text = h("textarea", { class: "code", spellcheck: "false", rows: 14 });
    text.value = refused.body === undefined ? "" : stringify(refused.body, 2);
    const original = text.value;
    const request = () => (text.value === original ? {} : { body: parse(text.value) });
    const act = async (action) => {
      put(result, h("p", { class: "muted" }, "Sending…"));
      let body;
      try { body = action === "drop" ? {} : request(); } catch (error) { return put(result, notice("bad", h("p", null, error.message))); }
      try {
        const answer = await post(`/v1/journal/${entry.number}/${action === "drop" ? "drop" : "resend"}${action === "preview" ? "?preview=true" : ""}`, body, { isPush: true });
        if (action === "preview" || (action === "resend" && answer.status !== "merged")) {
          return put(result, h("div", { class: "preview" }, action === "preview" ? h("p", { class: "muted" }, "A preview: nothing was written.") : null, resultView(answer)));
        }
        put(result, notice("good", h("p", null, action === "drop" ? "The push is dropped." : "The push is merged.")), action === "resend" ? resultView(answer) : null);
        for (const element of controls.querySelectorAll("button, textarea")) element.disabled = true;
      } catch (problem) {
        put(result, problemNotice(problem));
      }
      return undefined;
    };
    const settled = isSettled(entry);
    const isStored = refused.body !== undefined && refused.body !== null;
    const label = unique("body");
    text.id = label;
    const controls = h("section", { "aria-labelledby": "act" }, h("h2", { id: "act" }, "Decide"),
      isStored ? h("details", null, h("summary", null, "Edit the push"), h("div", { class: "field" }, h("label", { for: label }, "The push as JSON"), text,
        h("small", null, "An edited push belongs to you, not to its sender."))) : null,
      h("div", { class: "buttons" },
        isStored ? [button("Preview", () => act("preview")), button("Resend", () => act("resend"), { class: "primary", disabled: !canWrite() })] : null,
        button("Drop", () => confirmDrop(entry, () => act("drop")), { class: "danger", disabled: !canWrite() }),
        canWrite() ? null : h("span", { class: "muted" }, "This console is read-only.")), result);
    append(this, [
      notice("bad", h("p", null, h("strong", null, `${entry.problem?.title ?? words(refused.reason)}. `), entry.problem?.detail ?? ""),
        h("p", null, `From ${sender(entry)}, `, time(entry.at), `, to ${refused.address}`)),
      settled ? notice("good", h("p", null, refused.replayed ? ["This push was resent ", time(refused.replayed), "."] : ["This push was dropped", refused.dropped.by ? ` by ${refused.dropped.by}` : "", " ", time(refused.dropped.at), "."])) : null,
      isStored ? null : notice("info", h("p", null, "The journal does not contain this push, because it was not valid. It cannot be resent.")),
      edits.map((edit) => this.editView(edit, records)),
      settled ? null : controls,
    ]);
  }

  editView(edit, records) {
    const record = records.get(edit);
    const name = `${edit.resource ?? "record"} ${edit.id === undefined || edit.id === null ? "" : idText(edit.id)}`.trim();
    const rows = changesOf(edit);
    const now = (change) => {
      if (record === undefined) return h("span", { class: "none" }, "not read");
      if (record === null) return h("span", { class: "none" }, "no such record");
      const section = record[change.section];
      const row = Array.isArray(section) ? section.find((item) => String(valueText(item.id)) === String(valueText(change.item ?? null))) : section;
      if (!row) return h("span", { class: "none" }, "no such row");
      return change.name === "" ? show(row) : change.name in row ? show(row[change.name]) : show(Object.fromEntries(Object.keys(change.new ?? {}).filter((field) => field in row).map((field) => [field, row[field]])));
    };
    return h("section", { class: "panel" }, h("h2", null, "Edit of ", records.has(edit) ? link(name, address("record", [edit.resource, idText(edit.id)])) : name),
      rows.length ? table(`The edit of ${name}: as sent, and the row of now`, ["Field", "As sent", "Now"], rows.map((change) => h("tr", null,
        h("th", { scope: "row" }, [change.section, change.item === undefined ? "" : `[${idText(change.item)}]`, change.name].filter(Boolean).join(" ")),
        h("td", null, change.old === undefined ? show(change.new) : beforeAfter(change.old, change.new)), h("td", null, now(change)))), { class: "edit", quiet: true })
        : h("p", { class: "muted" }, "No changes."));
  }
}

function confirmDrop(entry, run) {
  dialog(`Drop push ${entry.number}?`, (body, close) => append(body, [
    h("p", null, "A dropped push is settled. The values that it wanted are not written."),
    h("div", { class: "buttons" }, button("Drop", () => { close(); run(); }, { class: "danger" }), button("Cancel", close)),
  ]));
}

customElements.define("fm-refused", Refused);
