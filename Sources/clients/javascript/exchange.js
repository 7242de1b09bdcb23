import { loaded, lost } from "./errors.js";
import { gatewayOf, given } from "./network.js";
import { freeze, nothingWritten } from "./sending.js";
import { answered, putPage } from "./told.js";

/**
 * What goes over the wire, and how answers are stored; loaded with the first request. What answers a request returns the
 * scheduler's event with what the engine is to know of it, and throws an error with the answer where that is none.
 *
 * @param {import("./local.js").Local} local
 * @param options those of `open`
 * @param {{single?: boolean, readRules?: boolean, resnapshot?: boolean}} wants whether pushes are to be sent one by one, the
 *   rules to be read anew, and everything
 * @param {(progress: {done: number, total: number | null} | null) => void} progressed
 */
export function exchangeOf(local, options, wants, progressed) {
  const gateway = gatewayOf({ ...options, local });
  /**
   * Reads the rules where they are not known or not good any more, and the records of resources that have another shape by
   * them. Returns the error of these where they cannot be had now: all other resources go on. Undefined where all is done.
   */
  async function readRules(signal) {
    // What is read anew as a whole needs no records of single resources.
    if (wants.resnapshot) await local.beginAnew();
    wants.resnapshot = false;
    const { stale } = await local.place();
    if (wants.readRules || !local.rules || stale?.length) return (await loaded(import("./regroup.js"))).readRules({ local, gateway, options, wants, signal, progressed });
  }

  /** The resources to ask for: those that the app wants and the rules have; undefined for all. */
  const asked = () => options.resources?.filter((name) => local.rules.resources.has(name) || local.rules.stale.includes(name));

  /** Tells whether an answer speaks of other rules than those that are known. */
  const isOther = (version) => typeof version === "string" && version !== local.rules.version;

  /** Asks for a fresh token. */
  async function askToken() {
    try {
      await gateway.renew();
      return { event: "token" }; // also where the app has none: the gateway may want none any more
    } catch (error) {
      throw lost({ code: "token", error });
    }
  }

  /** Sends what is unsent. */
  async function push(signal, report) {
    const delay = await readRules(signal);
    const isSingle = wants.single, { pushes, place } = await local.write(async (work) => {
      return { pushes: await freeze(work, isSingle, options.clock.now() + work.meta.offset), place: isSingle ? {} : placeIn(work.meta) };
    });
    if (!pushes.length && delay) throw delay;
    if (!pushes.length) return { event: "answer.settled" };
    // The bytes of a push are those that were stored.
    const body = JSON.stringify({ ...place, pushes: [] }).replace(/]}$/, () => `${pushes.map((push) => push.body).join()}]}`);
    report.sent += pushes.length;
    const answer = await gateway.ask("/v1/sync?by=true", { method: "POST", body, signal }), { json: told, problem } = answer;
    const store = async (results, page) => {
      const { outcomes, events, isDue } = await local.write(async (work) => {
        const outcomes = [];
        for (const [index, result] of results.entries()) outcomes.push(await answered(work, pushes[index], result));
        const events = work.events.map(({ event }) => event);
        // The page holds what the pushes of its request did.
        const isPast = page && (await putPage(work, page, place, options.clock.now()));
        return { outcomes, events, isDue: work.isBehind && !isPast };
      });
      report.merged += outcomes.filter((one) => one === "merged").length;
      for (const event of events) report[event === "conflict" ? "conflicts" : event] += 1; // the others are refusals
      return { outcomes, isDue };
    };
    // The gateway ran nothing.
    if (problem && ![500, 504].includes(answer.status)) await local.write((work) => nothingWritten(work, pushes));
    if (answer.kind === "refused" && (await local.load()).refusesPushes(answer)) {
      if (!isSingle) return { ...answer, event: "answer.tooLarge" };
      await store(pushes.map(() => ({ results: [], problem: { ...problem, retry: false } })));
      return { event: "answer.settled" };
    }
    if (answer.kind !== "ok" || !isAnswer(told, pushes)) throw lost(answer);
    wants.single = false;
    const { outcomes, isDue } = await store(told.results, told);
    report.changes += told.changes?.length ?? 0;
    const kind = outcomes.includes("history") ? "history" : told.problem?.code === "resync" ? "resync"
      : outcomes.includes("rules") || isOther(told.rules) ? "rules"
        : outcomes.includes("retry") ? "retry" : "settled";
    const problems = told.results.flatMap((result) => result.problem ?? []);
    return {
      event: `answer.${kind}`, isDue, more: told.more, problem: kind === "settled" ? null : (problems.find((one) => one.retry) ?? told.problem),
      retryAfter: Math.max(answer.retryAfter ?? 0, ...problems.map((one) => one.retryAfter ?? 0)),
    };
  }

  /** What a request says of the place from which changes are asked for; nothing where there is none. */
  const placeIn = ({ feed, revision: since }) => (feed && since !== null && asked()?.length !== 0 ? { feed, since, resources: asked() } : {});

  /** The address of the changes behind a place. */
  const changesAt = (place) => `/v1/changes?${new URLSearchParams(given(place))}`;

  /** Gets what has changed, or everything where there is no place to go on from. */
  async function pull(signal, report) {
    const delay = await readRules(signal);
    const place = placeIn(await local.place());
    if (place.feed) {
      const answer = await gateway.ask(changesAt(place), { signal }), page = answer.json;
      if (answer.kind === "ok" && isPage(page)) {
        await local.write((work) => putPage(work, page, place, options.clock.now()));
        report.changes += page.changes.length;
        if (delay && !page.more && !isOther(page.rules)) throw delay;
        return { event: isOther(page.rules) ? "answer.rules" : "answer.page", more: page.more };
      }
      if (answer.problem?.code !== "no-feed") throw lost(answer);
    }
    const { download } = await loaded(import("./download.js"));
    const rules = await download({ local, gateway, options, signal, resources: asked(), progressed });
    return { event: isOther(rules) ? "answer.rules" : "answer.page", isDue: !!rules }; // what changed while it was read
  }

  /**
   * Hears of changes as they happen.
   *
   * @param {(isNews: boolean) => void} heard whether there is anything to get
   */
  async function news(signal, heard) {
    const place = placeIn(await local.place());
    if (place.feed) await (await loaded(import("./lines.js"))).lines(gateway, changesAt(place), signal, ({ code, changes }) => heard(code === "resync" || !!changes?.length), "data:");
  }

  return { local, gateway, askToken, push, pull, news };
}

const isPage = ({ feed, revision, changes }) => feed && revision >= 0 && changes?.every?.(({ record }) => record !== undefined);

/** Tells whether an answer to a sync is one: a result for each push, and changes or the reason for none. */
const isAnswer = (json, pushes) => json.results?.map?.(({ key }) => key).join() === pushes.map(({ key }) => key).join()
  && (isPage(json) || (json.changes === null && json.problem));
