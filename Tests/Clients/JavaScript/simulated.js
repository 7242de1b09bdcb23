import { HeldRequest, bodyText } from "../../../Sources/clients/javascript/testing.js";

/** A number between 0 and 1 from a seed (mulberry32). */
export function random(seed) {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let value = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    value = (value + Math.imul(value ^ (value >>> 7), 61 | value)) ^ value;
    return ((value ^ (value >>> 14)) >>> 0) / 4294967296;
  };
}

const field = (name, type = "text", more = {}) => ({ field: name, type, nullable: true, ...more });
const group = (name, fields, more = {}) => ({ group: name, onConflict: "client-wins", ...more, fields });
const key = [{ column: "id", type: "integer", generated: true }];

/**
 * The rules of the simulated gateway: boxes with a counter, a constant code, and a list, and tags to which boxes refer.
 */
export const rules = {
  version: "v1", limits: { body: 1000000, edits: 100, items: 1000, page: 500 }, resources: [
    { resource: "boxes", sections: [
      { section: "box", kind: "root", key, groups: [group("count", [field("count", "integer")], { merge: "add" }), group("code", [field("code")]), group("label", [field("label")]), group("tag", [field("tag", "integer", { references: "tags" })])], readOnly: [] },
      { section: "things", kind: "list", key, groups: [group("name", [field("name")])], readOnly: [] }] },
    { resource: "tags", sections: [{ section: "tag", kind: "root", key, groups: [group("name", [field("name")]), group("rank", [field("rank", "integer", { nullable: false })])], readOnly: [] }] },
  ],
};

/** True if an edit names a row that the client has read, which a push of another history may not do. */
const hasBase = ({ id, changeset }) => !String(id).startsWith("tmp:") || Object.values(changeset).flat().some(({ old }) => old !== null);

const pick = (row, names) => Object.fromEntries(names.map((name) => [name, row[name]]));

/**
 * A small gateway as an oracle: keys, temporary ids, `add`, last write wins, a feed, refusals, histories that change.
 * It records each write, so that a test finds lost and repeated ones.
 */
export class SimulatedGateway {
  url = "http://simulated.test";
  rules = rules;
  records = new Map();
  feed = "f1";
  revision = 1;
  /** Texts that were refused, with their edits. */
  refused = new Set();
  /** How often another program has added to each box. */
  foreignAdditions = { 1: 0, 2: 0, 3: 0 };
  /** Names that were stored and removed by a restore, and how often the history has changed. */
  rolledBack = new Set();
  histories = 0;
  /** The time in milliseconds since 1970. It advances with each history. */
  now = Date.UTC(2026, 0, 1);
  #kept = new Map(); #changes = new Map(); #last = 100; #historyOf = new Map([["f1", 0]]); #began = 0; #backup;

  /** @param {() => number} draw a source of random numbers; null for no faults */
  constructor(draw) {
    this.draw = draw;
    for (let id = 1; id <= 3; id++) this.records.set(`boxes/${id}`, { id, box: { count: 0, code: `box ${id}`, label: "", tag: null }, things: [] });
    this.#backup = this.#copy();
  }

  /** Nothing goes wrong from now on. */
  calm() { this.draw = null; }

  #mishap(share) { return this.draw !== null && this.draw() < share; }

  fetch = async (url, init = {}) => {
    const body = await bodyText(init);
    return new Promise((resolve, reject) => this.#received(new HeldRequest(url, { ...init, body }, resolve, reject)));
  };

  #received(request) {
    if (request.isAnswered) return;
    setImmediate(() => {
      if (request.isAnswered) return;
      // The app requests single records itself, and would have to repeat that.
      if (request.url.pathname.startsWith("/v1/records/")) return request.answer(...this.#answered(request));
      if (this.#mishap(0.08)) return request.fail(); // it never got there
      if (this.#mishap(0.04)) return request.answer(200, "<html>Welcome to our hotel</html>");
      if (this.#mishap(0.03)) return request.answer(401, { type: "urn:x", code: "no-token" });
      if (this.#mishap(0.04)) return request.answer(503, { type: "urn:x", code: "busy", retry: true }, { headers: { "Retry-After": "3" } });
      const [status, body] = this.#answered(request);
      if (this.#mishap(0.1)) return request.fail(); // the gateway has processed the request, and the answer is lost
      const text = typeof body === "string" ? body : JSON.stringify(body);
      request.answer(status, text, this.#mishap(0.05) ? { breakAt: Math.floor(text.length * this.draw()) } : {});
    });
  }

  #answered({ url, method, text }) {
    if (url.pathname === "/v1/rules") return [200, this.rules];
    if (url.pathname === "/v1/snapshot") return [200, this.#snapshot(url.searchParams.get("resources")?.split(","))];
    if (url.pathname === "/v1/changes") {
      const since = Number(url.searchParams.get("since"));
      if (url.searchParams.get("feed") !== this.feed) return [410, this.#resync()];
      return [200, this.#page(since, url.searchParams.get("resources")?.split(","))];
    }
    const [, resource, id] = /^\/v1\/records\/(\w+)\/?(\d+)?$/.exec(url.pathname) ?? [];
    if (resource) return this.#read(resource, id);
    if (url.pathname === "/v1/sync" && method === "POST") return this.#sync(JSON.parse(text));
    return [404, { type: "urn:x", code: "no-such-address" }];
  }

  #resync() { return { type: "urn:x", code: "resync", status: 410, feed: this.feed, earliest: 1 }; }

  #snapshot(resources = ["boxes", "tags"]) {
    const lines = [{ snapshot: { feed: this.feed, revision: this.revision, rules: this.rules.version, resources, records: this.records.size } }];
    for (const [name, record] of this.records) if (resources.includes(name.split("/")[0])) lines.push({ resource: name.split("/")[0], id: record.id, record });
    return [...lines, { end: { records: this.records.size } }].map((line) => `${JSON.stringify(line)}\n`).join("");
  }

  #read(resource, id) {
    const record = this.records.get(`${resource}/${id}`);
    if (id) return record ? [200, record] : [404, { type: "urn:x", code: "no-such-record" }];
    return [200, { records: [...this.records].flatMap(([name, one]) => (name.startsWith(`${resource}/`) ? [one] : [])), next: null }];
  }

  #page(since, resources = ["boxes", "tags"]) {
    const isAsked = (name) => resources.includes(name.split("/")[0]);
    const changes = [...this.#changes.entries()].filter(([name, revision]) => revision > since && isAsked(name)).sort(([, one], [, other]) => one - other);
    const some = changes.slice(0, 3), more = some.length < changes.length;
    return {
      feed: this.feed, revision: more ? some.at(-1)[1] : this.revision, more, rules: this.rules.version,
      changes: some.map(([name, revision]) => ({ revision, resource: name.split("/")[0], id: Number(name.split("/")[1]), record: this.records.get(name) ?? null, by: null })),
    };
  }

  #sync({ feed, since, resources, pushes = [] }) {
    const results = [];
    let isHeldUp = false;
    const own = new Map();
    for (const push of pushes) {
      const kept = this.#kept.get(push.key);
      if (kept) {
        const isSame = kept.body === JSON.stringify(push);
        for (const [id, real] of Object.entries(isSame ? kept.ids : {})) own.set(id, real);
        results.push(isSame ? kept.answer : { key: push.key, status: "failed", code: 422, results: [], problem: { type: "urn:x", code: "key-reused", status: 422, retry: false } });
      } else if ((push.feed && this.#historyOf.get(push.feed) !== this.histories) || Date.parse(push.sent) < this.#began) {
        const code = push.feed && this.#historyOf.get(push.feed) !== this.histories && push.edits.some(hasBase) ? "history-changed" : "key-expired";
        results.push({ key: push.key, status: "failed", code: 409, results: [], problem: { type: "urn:x", code, status: 409, retry: false } });
      } else if (isHeldUp || this.#mishap(0.1)) {
        isHeldUp = true;
        results.push({ key: push.key, status: "failed", code: 503, results: [], problem: { type: "urn:x", code: isHeldUp ? "not-run" : "busy", status: 503, retry: true } });
      } else if (push.rules !== this.rules.version) {
        results.push({ key: push.key, status: "failed", code: 409, results: [], problem: { type: "urn:x", code: "rules-changed", status: 409, retry: false } });
      } else {
        const { answer, ids } = this.#run(push, own);
        this.#kept.set(push.key, { body: JSON.stringify(push), answer, ids });
        for (const [id, real] of Object.entries(ids)) own.set(id, real);
        results.push(answer);
      }
    }
    const resync = since !== undefined && feed !== this.feed;
    const page = resync ? { feed: this.feed, revision: this.revision, more: false, rules: this.rules.version, changes: null, problem: this.#resync() }
      : since === undefined ? { feed: this.feed, revision: this.revision, more: false, rules: this.rules.version, changes: [] } : this.#page(since, resources);
    return [resync || results.some((result) => result.code !== 200) ? 207 : 200, { results, ...page }];
  }

  #run(push, own) {
    const ids = {}, real = (id) => (typeof id === "string" && id.startsWith("tmp:") ? (own.get(id) ?? ids[id]) : id);
    const refuse = (code) => {
      this.refused.add(push.key);
      const problem = { type: "urn:x", code, status: 422, retry: false };
      return { ids: {}, answer: { key: push.key, status: "failed", code: 422, problem, results: push.edits.map((edit) => ({ resource: edit.resource, id: edit.id, status: "failed", record: this.records.get(`${edit.resource}/${edit.id}`) ?? null, outcomes: [], problem })) } };
    };
    // The database fills a rank in, so that none was ever null.
    for (const { changeset: { tag } } of push.edits) if (tag?.rank?.old === null) return refuse("invalid-value");
    // The check refuses a name of "no".
    if (JSON.stringify(push.edits).includes('"name":"no"')) return refuse("check");
    for (const edit of push.edits) if (edit.changeset.tag?.old === null && typeof edit.id === "string") ids[edit.id] = ++this.#last;
    const temporary = new Set(JSON.stringify(push.edits).match(/tmp:[0-9a-f-]+/g) ?? []);
    for (const edit of push.edits) for (const item of edit.changeset.things ?? []) if (item.old === null) ids[item.id] = ++this.#last;
    for (const id of temporary) if (real(id) === undefined) return refuse("depends-on-refused");
    const results = [];
    for (const edit of push.edits) {
      const id = real(edit.id), name = `${edit.resource}/${id}`, outcomes = [];
      let record = structuredClone(this.records.get(name) ?? null);
      const root = edit.resource === "boxes" ? "box" : "tag", rows = edit.changeset[root];
      if (rows?.old === null) record = edit.resource === "tags" ? { id, tag: { name: null, rank: 5, ...rows.new } } : record;
      else if (rows?.new === null) record = null;
      else if (record) {
        for (const [groupName, { old, new: value }] of Object.entries(rows ?? {})) {
          const isNoted = groupName === "label" && "note" in record.box, current = isNoted ? pick(record.box, ["label", "note"]) : record[root][groupName];
          if (groupName === "label" && isNoted !== (typeof value === "object" && "note" in value && "note" in old)) return refuse("invalid-value");
          const now = groupName === "tag" ? real(value) : value;
          const written = groupName === "count" ? current + (now - old) : now;
          const isConflict = JSON.stringify(current) !== JSON.stringify(real(old)) && JSON.stringify(current) !== JSON.stringify(now);
          if (isNoted) Object.assign(record.box, written);
          else record[root][groupName] = written;
          outcomes.push({ section: root, group: groupName, outcome: isConflict ? "client-won" : "applied", ...(isConflict && { conflict: true, old, current, new: now, written }) });
        }
        for (const item of edit.changeset.things ?? []) {
          if (item.old === null) record.things.push({ id: ids[item.id], ...item.new });
          else if (item.new === null) record.things = record.things.filter((one) => one.id !== real(item.id));
          else for (const thing of record.things) if (thing.id === real(item.id)) thing.name = item.name.new;
        }
      } else outcomes.push({ section: root, outcome: "missing", conflict: true, old: null, current: null, new: null, written: null });
      if (record) this.records.set(name, record);
      else this.records.delete(name);
      this.#changes.set(name, ++this.revision);
      const mine = Object.fromEntries(Object.entries(ids).filter(([one]) => JSON.stringify(edit).includes(one)));
      results.push({ resource: edit.resource, id, status: "merged", record: structuredClone(record), ids: mine, outcomes });
    }
    return { ids, answer: { key: push.key, status: "merged", code: 200, revision: null, results } };
  }

  /** The group of box labels gets a note or loses it, which changes the shape of records. */
  changeRules() {
    const isNoted = this.rules.resources[0].shape !== "noted", version = `v${Number(this.rules.version.slice(1)) + 1}`;
    const [boxes, tags] = rules.resources, [box, things] = boxes.sections;
    const groups = box.groups.map((one) => (one.group === "label" && isNoted ? group("label", [field("label"), field("note")]) : one));
    this.rules = { ...rules, version, resources: [{ ...boxes, shape: isNoted ? "noted" : undefined, sections: [{ ...box, groups }, things] }, tags] };
    this.#shape();
  }

  /** Changes each box to the fields of the rules. */
  #shape() {
    for (const [name, { box }] of this.records) {
      if (box && this.rules.resources[0].shape === "noted") box.note ??= `noted ${this.rules.version}`;
      else if (box && "note" in box) {
        delete box.note;
        this.#changes.set(name, ++this.revision);
      }
    }
  }

  /** Another program adds to a counter. */
  addElsewhere() {
    const id = 1 + Math.floor(this.draw() * 3), record = structuredClone(this.records.get(`boxes/${id}`));
    record.box.count += 1000;
    record.box.label = `s${Math.floor(this.draw() * 1000)}`;
    this.records.set(`boxes/${id}`, record);
    this.#changes.set(`boxes/${id}`, ++this.revision);
    this.foreignAdditions[id] += 1;
  }

  /** Starts a new feed with the same history. */
  begin() {
    this.feed = `f${Number(this.feed.slice(1)) + 1}`;
    this.#historyOf.set(this.feed, this.histories);
    this.#changes.clear();
    this.revision = 1;
  }

  /** The journal is lost, and with it every key. */
  loseJournal() {
    this.#kept.clear();
    this.#beginHistory();
  }

  #beginHistory() {
    this.histories += 1;
    this.#began = this.now += 1000;
    this.begin();
  }

  #copy() { return structuredClone({ records: this.records, foreignAdditions: this.foreignAdditions, kept: this.#kept, last: this.#last }); }

  backUp() { this.#backup = this.#copy(); }

  /**
   * Restores data and journal from the backup. Another program then creates tags, which get numbers that were used
   * before.
   */
  restore() {
    const before = this.names();
    const { records, foreignAdditions, kept, last } = structuredClone(this.#backup);
    Object.assign(this, { records, foreignAdditions });
    [this.#kept, this.#last] = [kept, last];
    this.#shape();
    const left = this.names();
    for (const name of before) if (!left.includes(name)) this.rolledBack.add(name);
    this.#beginHistory();
    for (let count = 0; count < 3; count++) {
      const id = ++this.#last, rank = 1000 * this.histories + count;
      this.records.set(`tags/${id}`, { id, tag: { name: `foreign ${rank}`, rank } });
    }
  }

  /** The names of things and tags that are stored. */
  names() { return [...this.records.values()].flatMap(({ tag, things = [] }) => [...things.map(({ name }) => name), ...(tag ? [tag.name] : [])]); }
}
