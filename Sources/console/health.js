// The page Health: the state of this gateway.

import { get, readText, readiness, session } from "./api.js";
import { Page, h, notice, put, time } from "./dom.js";
import { ago, bytes, count, duration, readMetrics, words } from "./model.js";
import { optional, problemText, readyWords, sourceWords } from "./overview.js";

class Health extends Page {
  heading = "Health";

  async start() {
    this.updated = h("p", { class: "live muted" });
    this.state = h("div", null);
    this.parts = h("div", { class: "health" });
    put(this, this.head(this.updated), this.state, this.parts);
    await this.repeat(10, () => this.read());
  }

  async read() {
    const { signal } = this;
    const [ready, health, metrics] = await Promise.all([
      readiness({ signal }), optional(get("/v1/operations/health", { signal })), readText("/metrics", { signal }).then(readMetrics),
    ]);
    const isReady = ready.status === "ready";
    const problems = (health?.problems ?? ready.problems ?? []).map(problemText);
    put(this.state, notice(isReady ? (problems.length ? "warn" : "good") : "bad", h("p", { class: "large" }, isReady ? (problems.length ? "The gateway serves requests, with problems." : "The gateway serves requests.") : readyWords(ready)),
      problems.length ? h("ul", { class: "bullets" }, problems.map((problem) => h("li", null, problem))) : null));
    put(this.parts, this.sections(ready, health, metrics));
    put(this.updated, "Updated ", time(new Date().toISOString(), "short"));
  }

  sections(ready, health, metrics) {
    const metric = (name, labels = {}) => metrics.find((one) => one.name === `fieldmerge_${name}` && Object.entries(labels).every(([label, value]) => one.labels[label] === value))?.value;
    const number = (value) => (value === undefined || value === null ? null : Number(value).toLocaleString("en"));
    const yes = (value, good, bad) => (value === undefined ? null : value ? good : h("span", { class: "badge bad" }, h("span", { "aria-hidden": "true" }, "✕"), bad));
    const journal = { ...ready.journal, ...health?.journal };
    const feed = { ...ready.feed, ...health?.feed };
    const pool = health?.connections;
    const certificate = health?.certificateEnd ?? (metric("certificate_end_timestamp_seconds") ? new Date(metric("certificate_end_timestamp_seconds") * 1000).toISOString() : null);
    const days = certificate && (Date.parse(certificate) - Date.now()) / 86400e3;
    const info = metrics.find((one) => one.name === "fieldmerge_info")?.labels ?? {};
    const memory = metrics.find((one) => one.name === "process_resident_memory_bytes")?.value;
    return [
      ["Gateway", [
        ["Version", health?.version ?? info.version ?? session.version], ["Started", health?.startedAt && [time(health.startedAt), ` (${ago(health.startedAt)})`]],
        ["Rules", (health?.rules?.version ?? ready.rules ?? info.rules ?? "").slice(0, 8)], ["Resources", number(health?.rules?.resources)],
        ["Maintenance", health?.maintenance ?? (metric("maintenance") ? "on" : "off")], ["Memory", memory && bytes(memory)],
        ["Certificate", certificate ? [time(certificate), days < 21 ? h("span", { class: "badge warn" }, h("span", { "aria-hidden": "true" }, "!"), days < 0 ? "ended" : `${count(Math.floor(days), "day")} left`) : ""] : "no TLS at this gateway"]]],
      ["Database", [
        ["Connection", yes(metric("database_up"), "works", "does not answer")], ["Writes", yes(metric("writable"), "possible", "not possible")],
        ["Connections", pool ? `${pool.used} in use, ${pool.open} open, at most ${pool.limit}` : null], ["Waiting for one", number(pool?.waiting ?? metric("database_waiting"))],
        ["History changes", number(health?.historyChanges ?? metric("history_changes_total"))],
        ["Unreadable records", number(metric("unreadable_records"))]]],
      ["Queue", health?.queues?.length ? health.queues.map(({ queue, waiting }) => [words(queue), `${number(waiting)} waiting`])
        : [["Waiting pushes", number(metric("queue_waiting"))], ["Requests in flight", number(metric("requests_in_flight"))]]],
      ["Journal", [
        ["Guarantee", journal.promise], ["Rows", number(journal.rows)], ["Size", journal.bytes === undefined ? null : bytes(Number(journal.bytes))],
        ["Growth", journal.rowsOfLastDay === undefined ? null : `${number(journal.rowsOfLastDay)} rows in the last day${journal.bytesOfLastDay === undefined ? "" : `, about ${bytes(Number(journal.bytesOfLastDay))}`}`],
        ["Oldest entry", journal.oldestSeconds === undefined ? null : `${duration(Number(journal.oldestSeconds))} ago`],
        ["Refused in the last day", number(journal.refusedOfLastDay ?? metric("refused_pushes"))]]],
      ["Feed and other programs", ready.feed || health?.feed ? [
        ["Revision", number(feed.revision)], ["Pending", number(feed.pending)], ["Source of foreign changes", feed.source ? sourceWords(feed.source) : null],
        ["Lag", feed.lagSeconds === undefined || feed.lagSeconds === null ? null : duration(Number(feed.lagSeconds))],
        ["Complete since", feed.since && time(feed.since)], ["Duration of a cycle", feed.cycleMilliseconds === undefined || feed.cycleMilliseconds === null ? null : `${number(feed.cycleMilliseconds)} ms`],
        ["Rows per second", number(feed.rowsPerSecond)], ["Scans here", feed.scansHere === undefined ? null : feed.scansHere ? "yes" : "no, another gateway scans"], ["Takeovers", number(feed.takeovers)]]
        : [["Feed", "off"]]],
    ].map(([name, facts]) => h("section", { class: "panel" }, h("h2", null, name),
      h("dl", { class: "members" }, facts.filter(([, value]) => value !== null && value !== undefined && value !== "").map(([name, value]) => h("div", null, h("dt", null, name), h("dd", null, value))))));
  }
}

customElements.define("fm-health", Health);
