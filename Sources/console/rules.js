// The page Rules: the policy in force for each group, and trials of other rules.

import { get, post, readRules } from "./api.js";
import { Page, append, button, field, h, link, notice, put, select, table, time } from "./dom.js";
import { explainPanel, findingList, trialProblem } from "./explain.js";
import { stringify } from "./json.js";
import { address, count, outcomeWord } from "./model.js";
import { optional } from "./overview.js";
import { outcomeBadge, sides, valueText } from "./values.js";

const POLICIES = {
  "client-wins": "The edit wins", "server-wins": "The current value stays", reject: "The push is refused",
  drop: "The edit is dropped", restore: "The row is restored", delete: "The row is deleted", keep: "The row is kept",
};
/** A policy with its line: `{ value, rule }`, or only the value from an older gateway. */
const policy = (value) => (value && typeof value === "object" && "value" in value ? value : { value });
const line = (rule) => h("span", { class: "muted rule" }, !rule ? "" : rule === "default" ? "default" : rule);
const policyText = (found) => [POLICIES[found.value] ?? valueText(found.value ?? ""), " ", h("code", { class: "muted" }, found.value ?? "")];

class Rules extends Page {
  heading = "Rules";

  async start() {
    this.version = h("p", { class: "live muted" });
    this.findings = h("section", { "aria-labelledby": "findings" });
    this.tree = h("section", { "aria-labelledby": "tree" });
    this.trial = h("section", { class: "panel", "aria-labelledby": "rehearse" });
    this.explanation = h("section", { class: "panel", "aria-labelledby": "explain" });
    put(this, this.head(this.version), this.findings, this.tree, this.trial, this.explanation);
    const { signal } = this;
    const [plain, full] = await Promise.all([readRules(), optional(get("/v1/operations/rules", { signal }))]);
    this.plain = plain;
    const tree = full ?? plain;
    put(this.version, `Version ${tree.version.slice(0, 8)}`);
    this.drawFindings(full?.findings);
    put(this.tree, h("h2", { id: "tree" }, "Resources"), tree.resources.map((resource) => this.resourceView(resource)));
    this.drawTrial();
    put(this.explanation, explainPanel(plain.resources, this.query.resource, () => this.readFiles(), signal));
  }

  refilter(query) {
    this.query = query;
    return true;
  }

  drawFindings(findings) {
    put(this.findings, findings?.length ? [h("h2", { id: "findings" }, count(findings.length, "finding")), findingList([...findings].sort((one, other) => severity(one) - severity(other)))] : null);
    this.findings.hidden = !findings?.length;
  }

  resourceView(resource) {
    const groups = resource.sections.reduce((sum, section) => sum + section.groups.length, 0);
    const details = h("details", {
      class: "reason", open: this.query.resource === resource.resource,
      ontoggle: () => {
        const open = [...this.querySelectorAll("details.reason[open]")].map((one) => one.dataset.reason);
        history.replaceState(null, "", address("rules", [], { resource: open.at(-1) }));
      },
      "data-reason": resource.resource,
    }, h("summary", null, h("h3", null, resource.resource), h("span", { class: "muted" }, resource.description),
      resource.isInService === false ? h("span", { class: "badge bad" }, h("span", { "aria-hidden": "true" }, "✕"), "Out of service") : h("span", { class: "badge plain" }, count(groups, "group"))),
    h("div", { class: "sections" }, resource.sections.map((section) => this.sectionView(resource, section))));
    return details;
  }

  sectionView(resource, section) {
    const facts = [["An edit meets a missing row", section.onMissing], ["A deletion meets a changed row", section.onDeleteConflict],
      ["Visible rows", section.where, "a condition"], ["Frozen rows", section.frozenWhen, "a condition"], ["Deletion", section.softDelete, "writes columns instead"], ["New rows are recognised", section.identity, Array.isArray(section.identity) ? section.identity.join(", ") : "by an identity"]]
      .filter(([, value]) => value !== undefined && value !== null && value !== false);
    const checks = section.checks ?? [];
    return h("section", null, h("h4", null, section.section, h("span", { class: "muted small" }, ` ${{ root: "the row of the record", list: "a list of rows", singleton: "at most one row" }[section.kind] ?? section.kind}${section.table ? `, table ${section.table}` : ""}`)),
      table(`Groups of ${resource.resource}, ${section.section}`, ["Group", "Fields", "If both sides changed it", "Set by"], section.groups.map((group) => {
        const conflict = policy(group.onConflict), merge = group.merge === undefined ? null : policy(isMerge(group.merge) ? group.merge : { value: group.merge });
        return h("tr", null, h("th", { scope: "row" }, group.group, group.private ? h("span", { class: "badge plain" }, "private") : null),
          h("td", { class: "muted" }, (group.fields ?? []).map((one) => one.field ?? one).join(", ")),
          h("td", null, merge ? [h("div", null, "Combined by ", h("code", null, typeof merge.value === "string" ? merge.value : stringify(merge.value).replace(/[{}"]/g, ""))), h("div", { class: "muted small" }, "else: ", POLICIES[conflict.value] ?? conflict.value)] : policyText(conflict)),
          h("td", null, merge?.rule ? h("div", null, line(merge.rule)) : null, h("div", null, line(conflict.rule)),
            group.transitions?.rule ? h("div", { class: "muted small" }, "transitions ", group.transitions.rule) : null));
      }), { quiet: true, class: "policies" }),
      h("dl", { class: "members" },
        facts.map(([name, value, text]) => h("div", null, h("dt", null, name), h("dd", null, text ?? policyText(policy(value)), " ", line(value.rule)))),
        checks.map((check) => h("div", null, h("dt", null, `Check ${check.check}`), h("dd", null, policyText(policy(check.onFailure)), " ", line(check.onFailure?.rule)))),
        section.readOnly?.length ? h("div", null, h("dt", null, "Only for reading"), h("dd", null, section.readOnly.map((one) => one.field ?? one).join(", "))) : null));
  }

  /** Rehearses uploaded rule files. */
  drawTrial() {
    this.files = h("input", { type: "file", multiple: true, accept: ".yaml,.yml" });
    const since = select([["", "All entries"], ["1d", "Last day"], ["7d", "Last 7 days"], ["30d", "Last 30 days"]], "30d");
    const resource = select([["", "All"], ...this.plain.resources.map((one) => [one.resource, one.resource])], "");
    const result = h("div", { role: "status", class: "results" });
    const go = h("button", { class: "primary" }, "Rehearse");
    put(this.trial, h("h2", { id: "rehearse" }, "Rehearse new rules"),
      h("p", null, "The gateway decides the entries of the journal again under your rule files, and lists what would differ. It writes nothing."),
      h("form", {
        class: "filters", onsubmit: async (event) => {
          event.preventDefault();
          if (!this.files.files.length) return put(result, notice("warn", h("p", null, "Choose all rule files of the new rules.")));
          go.disabled = true;
          put(result, h("p", { class: "muted" }, "The gateway decides the entries again…"));
          try {
            const answer = await post("/v1/operations/rehearse", { files: await this.readFiles(), since: since.value || undefined, resource: resource.value || undefined }, { signal: this.signal });
            put(result, rehearsalView(answer));
          } catch (problem) {
            if (problem.name !== "AbortError") put(result, trialProblem(problem));
          }
          go.disabled = false;
          return undefined;
        },
      }, field("Rule files", this.files), field("Entries", since), field("Resource", resource), h("div", { class: "field buttons" }, go)), result);
  }

  async readFiles() {
    return Object.fromEntries(await Promise.all([...this.files.files].map(async (file) => [file.name, await file.text()])));
  }
}

const severity = (finding) => ({ error: 0, warning: 1 })[finding.severity] ?? 2;

const isMerge = (merge) => merge && typeof merge === "object" && "value" in merge;

const kinds = (list) => list.map((one) => outcomeWord(one.outcome ?? one)).join(", ") || "nothing";

function rehearsalView(answer) {
  const number = (value) => Number(value).toLocaleString("en");
  const unjudged = (answer.unjudged ?? []).reduce((sum, one) => sum + Number(one.count), 0);
  const differs = Number(answer.different) > 0;
  return [
    notice(differs ? "warn" : "good", h("p", { class: "large" }, differs ? `${count(Number(answer.different), "outcome differs", "outcomes differ")}.` : "No outcome differs."),
      h("p", null, `${number(answer.entries)} entries with ${number(answer.outcomes)} outcomes: ${number(answer.same)} the same, ${number(answer.different)} different, ${number(unjudged)} not judged.`),
      answer.isComplete === false ? h("p", null, "The time was too short: the newest entries are missing. Choose fewer entries, or use the command line.") : null),
    answer.differences?.length ? table("What differs", ["Resource", "Group", "Rules in force", "New rules", "Outcomes"], answer.differences.map((one) => h("tr", null,
      h("td", null, one.resource), h("th", { scope: "row" }, one.group ? `${one.section}.${one.group}` : one.section), h("td", null, kinds(one.underActive)), h("td", null, kinds(one.underNew)), h("td", { class: "digits" }, number(one.count))))) : null,
    answer.examples?.length ? h("section", null, h("h3", null, "Examples"), examples(answer.examples)) : null,
    answer.unjudged?.length ? table("Not judged", ["Resource", "Reason", "Outcomes"], answer.unjudged.map((one) => h("tr", null, h("td", null, one.resource), h("td", null, one.reason), h("td", { class: "digits" }, number(one.count))))) : null,
  ];
}

/** The first examples, and the others on request. */
function examples(list, number = 10) {
  const cards = h("div", { class: "cards" }, list.slice(0, number).map((one) => exampleView(one)));
  const more = list.length > number ? button(`Show all ${list.length} examples`, () => {
    const added = list.slice(number).map((one) => exampleView(one));
    append(cards, added);
    more.remove();
    added[0].querySelector("a").focus();
  }) : null;
  return [cards, more ? h("div", { class: "more" }, more) : null];
}

function exampleView(one) {
  const name = one.item === undefined ? `${one.section}${one.group ? `.${one.group}` : ""}` : `${one.section} [${one.item}]${one.group ? `.${one.group}` : ""}`;
  const body = h("div", { class: "values" });
  const side = (title, decisions) => h("div", null, h("h4", null, title), decisions.map((decision) => h("div", null, outcomeBadge(decision.outcome), " ", line(decision.rule), h("p", null, decision.why))));
  const written = (decisions) => decisions.find((decision) => decision.written !== undefined)?.written;
  const details = h("details", {
    ontoggle: () => {
      if (!details.open || body.hasChildNodes()) return;
      append(body, [h("div", { class: "pair" }, side("Rules in force", one.underActive), side("New rules", one.underNew)),
        sides({ old: one.old, current: one.current, new: one.new, written: written(one.underNew) }, `Values of ${name} under the new rules`)]);
    },
  }, h("summary", null, h("span", { class: "name" }, name), outcomeBadge(one.underNew[0]?.outcome ?? "already"), h("span", null, `${kinds(one.underActive)} → ${kinds(one.underNew)}`), h("span", { class: "muted rule" }, time(one.at, "short"))), body);
  return h("article", { class: "card" }, h("div", { class: "title" }, link(`${one.resource} ${one.record}`, address("record", [one.resource, one.record])), h("span", { class: "muted number" }, `entry ${one.entry}`)), details);
}

customElements.define("fm-rules", Rules);
