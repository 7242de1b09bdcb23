import { LostAnswer } from "./errors.js";
import { Gateway } from "./network.js";
import { Told } from "./told.js";
import { idKey } from "./values.js";

const batch = 500;
/** Problems that say nothing of the pushes in a request. */
const ofTheRequest = ["strange-host", "strange-origin", "unknown-query", "duplicate-query", "malformed-request", "not-utf8", "http"];

const query = (values) => new URLSearchParams(Object.entries(values).filter(([, value]) => value !== null));

/**
 * What goes over the wire, and how answers are stored; loaded with the first request. Each method that answers a request
 * returns the scheduler's event with what the engine is to know of it, and throws `LostAnswer` where there is no answer.
 */
export class Exchange {
  /** Whether the rules are to be read anew, everything is to be, and pushes are to be sent one by one. */
  needsRules = false;
  isAnew = false;
  isSingle = false;
  #local; #clock; #gateway; #resources; #progressed;

  /**
   * @param local {import("./local.js").Local}
   * @param clock
   * @param options those of `open`
   * @param {(progress: {done: number, total: number | null} | null) => void} progressed
   */
  constructor(local, clock, options, progressed) {
    this.#gateway = new Gateway({ ...options, clock, device: local.meta.device });
    this.#local = local;
    this.#clock = clock;
    this.#resources = options.resources;
    this.#progressed = progressed;
  }

  /** Reads the rules where they are not known or not good any more. */
  async #readRules(signal) {
    if (!this.needsRules && this.#local.rules) return;
    await this.#local.setRules(await this.#gateway.get("/v1/rules", (json) => Array.isArray(json.resources) && json.version, signal));
    this.needsRules = false;
  }

  /** The resources to ask for: those that the app wants and the rules have; null for all. */
  get #asked() { return this.#resources && this.#resources.filter((name) => this.#local.rules.resources.has(name)); }

  /** Tells whether an answer speaks of other rules than those that are known. */
  #isOther(version) { return typeof version === "string" && version !== this.#local.rules.version; }

  /** Asks for a fresh token. */
  async askToken() {
    try {
      return (await this.#gateway.renew()) ? { event: "token" } : { event: "answer.unauthorized", isFresh: true };
    } catch (error) {
      throw new LostAnswer({ kind: "lost", code: "token", error });
    }
  }

  /** Sends what is unsent. */
  async push(signal, report) {
    await this.#readRules(signal);
    const local = this.#local, resources = this.#asked, isBare = this.isSingle;
    const { pushes, place } = await local.write(async (work) => {
      const pushes = await work.freeze(isBare), { feed, revision: since } = await work.meta();
      return { pushes, place: isBare || !feed ? {} : { feed, since } };
    });
    if (!pushes.length) return { event: "answer.settled" };
    const envelope = JSON.stringify({ ...place, ...(place.feed && { ...(resources && { resources }), limit: batch }), pushes: [] });
    // The bytes of a push are those that were stored.
    const body = envelope.replace(/]}$/, () => `${pushes.map((push) => push.body).join()}]}`);
    report.sent += pushes.length;
    const answer = await this.#gateway.ask("/v1/sync?by=true", { method: "POST", body, signal }), told = answer.json, { problem } = answer;
    const store = (results, page) => local.write(async (work) => {
      const told = new Told(work), outcomes = [];
      for (const { push, result } of results) outcomes.push(await told.answered(push, result));
      report.conflicts += work.events.filter(({ event }) => event === "conflict").length;
      for (const outcome of outcomes) if (outcome in report) report[outcome] += 1;
      // The page holds what the pushes of its request did.
      const isPast = page && (await told.page(page, place, this.#clock.now()));
      return { outcomes, isDue: told.isBehind && !isPast };
    });
    if (answer.kind === "refused" && [400, 403, 413].includes(answer.status) && !ofTheRequest.includes(problem.code)) {
      const [push, ...others] = pushes.filter((one) => !one.settled);
      if (!isBare || others.length) return { ...answer, event: "answer.tooLarge" };
      await store([{ push, result: { results: [], problem: { ...problem, retry: false } } }]);
      return { event: "answer.settled" };
    }
    if (answer.kind !== "ok" || !isAnswer(told, pushes)) throw new LostAnswer(answer);
    this.isSingle = false;
    const { outcomes, isDue } = await store(pushes.map((push, index) => ({ push, result: told.results[index] })), told);
    report.changes += told.changes?.length ?? 0;
    const kind = told.problem?.code === "resync" ? "resync"
      : outcomes.includes("rules") || this.#isOther(told.rules) ? "rules"
        : outcomes.includes("retry") ? "retry" : "settled";
    const problems = told.results.flatMap((result) => result.problem ?? []);
    return {
      event: `answer.${kind}`, isDue, more: told.more, problem: kind === "settled" ? null : (problems.find((one) => one.retry) ?? told.problem),
      retryAfter: Math.max(answer.retryAfter ?? 0, ...problems.map((one) => one.retryAfter ?? 0)),
    };
  }

  /** Gets what has changed, or everything where there is no place to go on from. */
  async pull(signal, report) {
    await this.#readRules(signal);
    const resources = this.#asked, local = this.#local;
    if (this.isAnew) await local.beginAnew();
    this.isAnew = false;
    const { revision: since, feed } = await local.place();
    if (resources?.length === 0) {
      await local.note({ feed: "", revision: 0 });
      return { event: "answer.page" };
    }
    if (feed) {
      const answer = await this.#gateway.ask(`/v1/changes?${query({ since, feed, limit: batch, resources })}`, { signal }), page = answer.json;
      if (answer.kind === "ok" && isPage(page)) {
        await local.write((work) => new Told(work).page(page, { feed, since }, this.#clock.now()));
        report.changes += page.changes.length;
        return { event: this.#isOther(page.rules) ? "answer.rules" : "answer.page", more: page.more };
      }
      if (answer.problem?.code !== "no-feed") throw new LostAnswer(answer);
    }
    const { download } = await import("./download.js");
    const rules = await download({ local, gateway: this.#gateway, clock: this.#clock, signal, resources, kept: this.#resources, batch, progressed: this.#progressed });
    return { event: this.#isOther(rules) ? "answer.rules" : "answer.page", isDue: !!rules }; // what changed while it was read
  }

  /** Gets a record of a resource that is not kept. */
  async record(resource, id, signal) {
    const local = this.#local, real = await local.read((work) => work.resolve(id));
    const answer = await this.#gateway.ask(`/v1/records/${encodeURIComponent(resource)}/${idKey(real)}`, { signal });
    const record = answer.status === 404 && answer.problem ? null : answer.json;
    if (answer.kind !== "ok" && record !== null) throw new LostAnswer(answer);
    await local.write((work) => new Told(work).record({ resource, id: real, record }));
  }

  /** Gets all records of one. */
  async records(resource, signal) {
    for await (const records of this.#gateway.pages(resource, signal)) {
      await this.#local.write((work) => new Told(work).records(records.map((record) => ({ resource, id: record.id, record }))));
    }
  }

  /**
   * Hears of changes as they happen.
   *
   * @yields {boolean} whether there is anything to get
   */
  async *news(signal) {
    const { feed, revision: since } = await this.#local.place();
    if (!feed) return;
    const path = `/v1/changes?${query({ since, feed, resources: this.#asked })}`;
    for await (const { code, changes } of this.#gateway.lines(path, signal, "data:")) yield code === "resync" || !!changes?.length;
  }
}

const isPage = (json) => typeof json.feed === "string" && Number.isSafeInteger(json.revision) && Array.isArray(json.changes)
  && json.changes.every((change) => typeof change?.resource === "string" && change.id !== undefined && change.record !== undefined);

/** Tells whether an answer to a sync is one: a result for each push, and changes or the reason for none. */
const isAnswer = (json, pushes) => Array.isArray(json.results) && json.results.length === pushes.length && (isPage(json) || (json.changes === null && !!json.problem))
  && json.results.every((result, index) => result?.key === pushes[index].key && typeof result.status === "string" && Array.isArray(result.results));
