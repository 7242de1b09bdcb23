// The page Overview: what needs a person now, and the figures of the last hour.

import { get, readText, readiness } from "./api.js";
import { chart } from "./chart.js";
import { Page, h, link, put, select, time } from "./dom.js";
import { address, ago, byReason, count, duration, fillMinutes, pushTimes, readMetrics } from "./model.js";

const SOURCES = { binlog: "the binary log of MariaDB", scan: "the scan of all rows", triggers: "triggers", off: "no source" };
export const sourceWords = (source) => SOURCES[source] ?? source;

/** Returns null instead of an address that this gateway does not have. */
export const optional = (request) => request.catch((problem) => {
  if (problem.isMissingAddress || problem.status === 503) return null;
  throw problem;
});

/** Reads the duration of pushes of each minute since the page was opened. Kept while the console is open. */
const latencies = [];
let before = null;
async function readLatency(signal) {
  const now = pushTimes(readMetrics(await readText("/metrics", { signal })));
  const minute = Math.floor(Date.now() / 60000);
  if (before && now.count >= before.count) {
    let last = latencies.at(-1);
    if (last?.minute !== minute) latencies.push(last = { minute, count: 0, seconds: 0 });
    last.count += now.count - before.count;
    last.seconds += now.seconds - before.seconds;
  }
  before = now;
  while (latencies.length > 1440) latencies.shift();
}

class Overview extends Page {
  heading = "Overview";

  async start() {
    this.minutes = Number(this.query.minutes) || 60;
    this.state = h("div", { class: "state" });
    this.tasks = h("section", { "aria-labelledby": "tasks" });
    this.facts = h("dl", { class: "facts" });
    this.charts = h("div", { class: "charts" });
    this.updated = h("p", { class: "live muted" });
    const range = select([["60", "Last hour"], ["180", "Last 3 hours"], ["720", "Last 12 hours"], ["1440", "Last day"]], String(this.minutes), {
      name: "minutes", "aria-label": "Time of the charts", onchange: (event) => { location.hash = address("overview", [], { minutes: event.target.value === "60" ? "" : event.target.value }); },
    });
    put(this, this.head(this.updated, range), this.state, this.tasks,
      h("section", { "aria-label": "Figures" }, this.facts), h("section", { "aria-labelledby": "activity" }, h("h2", { id: "activity" }, "Activity"), this.charts));
    await this.repeat(10, () => this.read());
  }

  /** Reads one part after the other, so that the page does not delay clients. */
  async read() {
    const { signal } = this;
    const ready = await readiness({ signal });
    this.drawState(ready);
    const refused = await optional(get("/v1/journal?refused=true&order=newest&limit=200", { signal }));
    const clients = await optional(get("/v1/operations/clients?limit=200", { signal }));
    this.drawTasks(ready, refused, clients);
    const activity = await optional(get(`/v1/operations/activity?minutes=${this.minutes}`, { signal }));
    await readLatency(signal);
    this.drawFacts(ready, activity, clients);
    this.drawCharts(activity);
    put(this.updated, "Updated ", time(new Date().toISOString(), "short"));
  }

  drawState(ready) {
    const isReady = ready.status === "ready";
    const problems = (ready.problems ?? []).map(problemText);
    put(this.state, h("div", { class: `banner ${isReady ? (problems.length ? "warn" : "good") : "bad"}` },
      h("span", { class: "sign", "aria-hidden": "true" }, isReady ? (problems.length ? "!" : "✓") : "✕"),
      h("div", null,
        h("p", { class: "large" }, isReady ? (problems.length ? "The gateway serves requests, with problems." : "The gateway serves requests.") : readyWords(ready)),
        problems.length ? h("ul", null, problems.map((problem) => h("li", null, problem))) : null,
        ready.maintenance ? h("p", null, "Maintenance is on: reads are served, pushes are not.") : null)));
  }

  drawTasks(ready, refused, clients) {
    const tasks = [];
    for (const group of byReason((refused?.entries ?? []).filter((entry) => !entry.refused?.replayed && !entry.refused?.dropped))) {
      tasks.push([count(group.entries.length, "refused push", "refused pushes"), group.title, address("refused", [], { code: group.reason }), group.entries.at(0).at]);
    }
    const late = (clients?.clients ?? []).filter((client) => client.lag > 1000);
    if (late.length) tasks.push([count(late.length, "device"), "More than 1,000 revisions behind", address("devices")]);
    const unreadable = (ready.problems ?? []).length;
    if (unreadable) tasks.push([count(unreadable, "problem"), "Reported by the gateway", address("health")]);
    if (ready.feed?.lagSeconds > 60) tasks.push([duration(ready.feed.lagSeconds), "Feed lag", address("health")]);
    put(this.tasks, h("h2", { id: "tasks" }, "What needs a person now"), tasks.length
      ? h("ul", { class: "tasks" }, tasks.map(([number, words, target, at]) => h("li", null, h("a", { href: target },
        h("strong", null, number), h("span", null, words), h("span", { class: "muted" }, at ? ["newest ", ago(at)] : ""), h("span", { "aria-hidden": "true", class: "arrow" }, "→")))))
      : h("p", { class: "muted" }, refused ? "Nothing. No refused push waits for a decision." : "This gateway has no journal, so it lists no refused pushes."));
  }

  drawFacts(ready, activity, clients) {
    const sum = (name) => activity?.minutes.reduce((total, minute) => total + minute[name], 0);
    const { feed, journal } = ready;
    const fact = (name, value, detail) => h("div", null, h("dt", null, name), h("dd", null, h("span", { class: "large" }, value), detail ? h("span", { class: "muted" }, detail) : null));
    put(this.facts,
      activity ? fact("Entries", sum("entries").toLocaleString("en"), `in ${duration(this.minutes * 60)}${activity.isComplete ? "" : ", or more"}`) : null,
      activity ? fact("Conflicts", sum("conflicts").toLocaleString("en"), link("Show them", address("conflicts"))) : null,
      feed ? fact("Feed lag", feed.lagSeconds === undefined || feed.lagSeconds === null ? "none" : feed.lagSeconds < 1 ? "under 1 s" : feed.lagSeconds < 120 ? `${Math.round(feed.lagSeconds)} s` : duration(feed.lagSeconds), feed.pending ? `${feed.pending.toLocaleString("en")} pending` : `revision ${feed.revision?.toLocaleString("en") ?? ""}`) : null,
      feed ? fact("Foreign changes", feed.source ? words1(feed.source) : "none", feed.source ? `found by ${sourceWords(feed.source)}` : "no source") : null,
      clients ? fact("Devices", (clients.clients.length + (clients.next ? 1 : 0)).toLocaleString("en") + (clients.next ? " or more" : ""), `${clients.clients.filter((client) => Date.now() - Date.parse(client.seen) < 3600e3).length} in the last hour`) : null,
      journal?.rows !== undefined ? fact("Journal", journal.rows.toLocaleString("en"), `rows, ${journal.rowsOfLastDay?.toLocaleString("en") ?? "0"} in the last day`) : null);
  }

  drawCharts(activity) {
    const open = [...this.charts.querySelectorAll("details")].map((details) => details.open);
    const charts = [];
    if (activity) {
      const minutes = fillMinutes(activity, this.minutes);
      const size = Math.ceil(this.minutes / 120);
      const buckets = [];
      for (let index = 0; index < minutes.length; index += size) buckets.push(minutes.slice(index, index + size));
      const points = (name) => buckets.map((bucket) => ({ at: bucket[0].at, value: bucket.reduce((sum, minute) => sum + minute[name], 0) }));
      const per = size === 1 ? "per minute" : `per ${size} minutes`;
      for (const [name, title, look] of [["entries", "Entries", "plain"], ["conflicts", "Conflicts", "both"], ["refused", "Refused pushes", "bad"]]) {
        const all = points(name), total = all.reduce((sum, point) => sum + point.value, 0);
        charts.push(chart(`${title} ${per}`, all, { look, format: (value) => value.toLocaleString("en"), note: `${total.toLocaleString("en")} in ${duration(this.minutes * 60)}` }));
      }
    } else {
      charts.push(h("p", { class: "muted" }, "This gateway does not count entries by minute."));
    }
    const end = Math.floor(Date.now() / 60000);
    const byMinute = new Map(latencies.map((one) => [one.minute, one]));
    const minutes = Array.from({ length: 60 }, (_, index) => {
      const one = byMinute.get(end - 59 + index);
      return { at: new Date((end - 59 + index) * 60000), value: one?.count ? 1000 * one.seconds / one.count : 0 };
    });
    const all = latencies.reduce((sum, one) => ({ count: sum.count + one.count, seconds: sum.seconds + one.seconds }), { count: 0, seconds: 0 });
    charts.push(chart("Duration of a push", minutes, {
      look: "stay", least: 10, format: (value) => `${value < 10 ? Number(value.toFixed(1)) : Math.round(value)} ms`,
      note: all.count ? `${Math.round(1000 * all.seconds / all.count)} ms on average since you opened the console, at this gateway` : "no push at this gateway since you opened the console",
    }));
    put(this.charts, charts);
    this.charts.querySelectorAll("details").forEach((details, index) => { details.open = open[index] ?? false; });
  }
}

const words1 = (source) => ({ binlog: "Binary log", scan: "Scan" })[source] ?? source;
export const problemText = (problem) => (typeof problem === "string" ? problem : problem.sentence ?? problem.detail ?? problem.title ?? problem.reason ?? Object.values(problem).filter((value) => typeof value === "string").join(": "));
export const readyWords = (ready) => {
  if (ready.detail) return ready.detail;
  return { starting: "The gateway is starting.", stopping: "The gateway is stopping.", "not-ready": "The gateway does not serve requests now." }[ready.status] ?? `The gateway does not serve requests now (${ready.status ?? "unknown"}).`;
};

customElements.define("fm-overview", Overview);
