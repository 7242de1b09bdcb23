import { loaded, lost } from "./errors.js";
import { nowhere } from "./local.js";
import { gatewayOf, given } from "./network.js";
import { freeze } from "./sending.js";
import { answered, putPage } from "./told.js";

/** Answers that are stored in a transaction. */
const some = 25;

/**
 * Sends requests and stores their answers; loaded with the first request. Each function returns the scheduler's event with
 * data for the engine, and throws an error with an unusable answer.
 *
 * @param {import("./local.js").Local} local
 * @param options those of `open`
 * @param {{single?: boolean, readRules?: boolean, resnapshot?: boolean}} wants whether to send pushes one by one, to read the
 *   rules again, and to read everything again
 * @param {(progress: {done: number, total: number | null} | null) => void} progressed
void} laneEnded hears of the end of a large request (`large.js`) =>  * @param {(answer: any) => void} laneEnded called at the end of a large request (`large.js`)
 */
export function exchangeOf(local, options, wants, progressed, laneEnded) {
  const gateway = gatewayOf({ ...options, local }), task = { local, gateway, options, wants, progressed };
  /** Bytes of a request with pushes: doubled after each answer, halved if there was none. */
  let batch = 65536, lane = null;
  /**
   * Reads the rules if they are missing or outdated, and the records of resources whose shape has changed. Returns the error
   * if these records cannot be read now, while other resources continue; else undefined.
   */
  async function readRules(signal) {
    // A resync needs no records of single resources.
    if (wants.resnapshot) await local.note(nowhere);
    wants.resnapshot = false;
    const { stale } = await local.place();
    if (wants.readRules || !local.rules || stale?.length) return (await loaded(import("./regroup.js"))).readRules({ ...task, signal });
  }

  /** The resources to request: those of the app that are in the rules; undefined for all. */
  const asked = (kept) => kept?.filter((name) => local.rules.resources.has(name) || local.rules.stale.includes(name));

  /** Returns whether an answer has another version of the rules. */
  const isOther = (version) => typeof version === "string" && version !== local.rules.version;

  /** Requests a new token; also if the app has none, since the gateway may not need a token any more. */
  const askToken = () => gateway.renew().then(() => ({ event: "token" }), (error) => { throw lost({ code: "token", error }); });

  /** Freezes the pushes of the next request; in memory if the storage cannot be written. */
  async function frozen() {
    const body = async (work) => {
      const limit = Math.min(batch, work.rules.limits.body), now = options.clock.now() + work.meta.offset;
      return { ...(await freeze(work, { limit, isSingle: wants.single, takesLarge: lane?.isFree ?? true, now })), place: placeIn(work.meta) };
    };
    try {
      return await local.write(body);
    } catch (error) {
      if (error.answer || local.isClosed) throw error;
      await local.load();
      return local.read(body);
    }
  }

  /** Sends unsent pushes. */
  async function push(signal, report) {
    const delay = await readRules(signal);
    // A later edit is not in the next request, and makes this null.
    wants.isHeld = false;
    const { pushes, isLarge, isHeld, place } = await frozen();
    if (isLarge) {
      lane ??= (await loaded(import("./large.js"))).laneOf(options.clock, laneEnded);
      void lane.start((own) => send(pushes, {}, true, own, report, true));
    }
    if (wants.isHeld === false) wants.isHeld = isHeld && (isLarge || !pushes.length);
    if (!isLarge && pushes.length) return send(pushes, wants.single ? {} : place, wants.single, signal, report);
    if (delay) throw delay;
    return { event: "answer.settled", isDue: isHeld };
  }

  /** Sends frozen pushes, and stores the answer; for the lane it stores it later, if anything was merged. */
  async function send(pushes, place, isSingle, signal, report, isLane) {
    const due = lane?.late;
    // The request contains the stored bytes of a push.
    const { filter, ...from } = place, body = `${JSON.stringify({ ...from, pushes: [] }).slice(0, -2)}${pushes.map((one) => one.body)}]${filter ? `,"filter":${filter}` : ""}}`;
    report.sent += pushes.length;
    const answer = await gateway.ask("/v1/sync?by=true", { method: "POST", body, signal }), { json: told, problem } = answer;
    // The gateway ran nothing.
    if (problem && ![500, 504].includes(answer.status)) await local.write((work) => work.decisions.nothingWritten(work, pushes)).catch(() => {}); // on a failure it counts as written
    if (answer.kind === "refused" && (await local.load()).refusesPushes(answer)) {
      if (!isSingle) return { ...answer, event: "answer.tooLarge" };
      await store(pushes, pushes.map(() => ({ results: [], problem: { ...problem, retry: false } })), report);
      return { event: "answer.settled" };
    }
    if (answer.kind !== "ok" || !isAnswer(told, pushes)) {
      if (!isSingle && (answer.kind === "lost" || answer.status === 408)) batch = Math.max(batch / 2, 1024);
      throw lost(answer);
    }
    if (!isSingle) batch = Math.min(batch * 2, local.rules.limits.body);
    if (isLane && lane.keeps(pushes, told.results)) return ended(told, []);
    const { outcomes, isDue } = await store(pushes, told.results, report, told, place, due);
    return { ...ended(told, outcomes), isDue, more: told.more || local.meta.isDue, retryAfter: Math.max(answer.retryAfter ?? 0, ...told.results.map(({ problem: own }) => own?.retryAfter ?? 0)) };
  }

  /** The event of an answer whose pushes ended so. */
  function ended({ problem, results, rules }, outcomes) {
    const kind = outcomes.includes("history") ? "history" : problem?.code === "resync" ? "resync"
      : outcomes.includes("rules") || isOther(rules) ? "rules"
        : outcomes.includes("retry") ? "retry" : "settled";
    return { event: `answer.${kind}`, problem: kind === "settled" ? null : results.find((one) => one.problem?.retry)?.problem ?? problem };
  }

  /**
   * Stores the results of pushes, some in a transaction, and the page of their answer with the last results. The last page,
   * or a call without a page, also stores `due`: the answer to a large push that preceded the request of this page.
   */
  async function store(pushes, results, report, page, place, due) {
    const outcomes = [];
    let isDue = false;
    do {
      const first = outcomes.length, isLast = first + some >= results.length;
      const done = await local.write(async (work) => {
        const own = [];
        for (const [index, result] of results.slice(first, first + some).entries()) own.push(await answered(work, pushes[first + index], result));
        // The page contains the changes by the pushes of its request.
        const isPast = isLast && page && (await putPage(work, page, place, options.clock.now()));
        const late = (!page || (isPast && !page.more)) && due;
        for (const [index, result] of late ? late.results.entries() : []) own.push(await answered(work, late.pushes[index], result));
        return { own, isPast, late, events: work.events.map(({ event }) => event), isBehind: work.isBehind };
      });
      isDue = (isDue || done.isBehind) && !done.isPast;
      if (done.late) lane.late = wants.isHeld = null;
      outcomes.push(...done.own);
      for (const event of done.events) report[event === "conflict" ? "conflicts" : event] += 1; // all other events are refusals
    } while (outcomes.length < results.length);
    report.changes += page?.changes?.length ?? 0;
    report.merged += outcomes.filter((one) => one === "merged").length;
    return { outcomes, isDue };
  }

  /** The feed and revision in a request for changes; empty without them. */
  const placeIn = ({ feed, revision: since, filter, isDue, kept }, resources = asked(kept)) => (feed && since !== null && resources?.length !== 0 && !isDue ? { feed, since, resources, filter } : {});

  /** The address of the changes after a revision. */
  const changesAt = (place) => `/v1/changes?${new URLSearchParams(given(place))}`;

  /** Reads changes, or everything without a revision. */
  async function pull(signal, report) {
    const delay = await readRules(signal);
    const place = placeIn(await local.place()), due = lane?.late;
    if (place.feed) {
      const answer = await gateway.ask(changesAt(place), { signal }), page = answer.json;
      if (answer.kind === "ok" && isPage(page)) {
        await store([], [], report, page, place, due);
        if (delay && !page.more && !isOther(page.rules)) throw delay;
        return { event: isOther(page.rules) ? "answer.rules" : "answer.page", more: page.more };
      }
      if (answer.problem?.code !== "no-feed") throw lost(answer);
    }
    const { download } = await loaded(import("./download.js"));
    const rules = await download({ ...task, signal, asked });
    if (due) await store([], [], report, null, place, due);
    return { event: isOther(rules) ? "answer.rules" : "answer.page", isDue: !!rules }; // changes during the read
  }

  /**
   * Hears of changes as they happen.
   *
   * @param {(isNews: boolean) => void} heard whether there is anything to get
   */
  async function news(signal, heard) {
    const place = placeIn(await local.place());
    if (place.feed) await (await loaded(import("./lines.js"))).news(gateway, changesAt(place), signal, heard);
  }

  return { local, gateway, askToken, push, pull, news, get lane() { return lane; } };
}

const isPage = ({ feed, revision, changes }) => feed && revision >= 0 && changes?.every?.(({ record }) => record !== undefined);

/** Returns whether an answer to a sync is complete: a result for each push, and changes or a reason without changes. */
const isAnswer = (json, pushes) => json.results?.map?.(({ key }) => key).join() === pushes.map(({ key }) => key).join()
  && (isPage(json) || (json.changes === null && json.problem));
