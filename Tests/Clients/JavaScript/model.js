import assert from "node:assert/strict";
import { open } from "../../../Sources/clients/javascript/fieldmerge.js";
import { MemoryStorage, ScriptedServer, TestClock } from "../../../Sources/clients/javascript/testing.js";

/** The values of `$names`. */
class Names {
  #values = new Map();

  /** Puts values in the place of names. */
  filled(value) {
    if (typeof value === "string") return this.#values.has(value) ? this.#values.get(value) : value;
    if (Array.isArray(value)) return value.map((one) => this.filled(one));
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [this.filled(name), this.filled(one)]));
  }

  bind(name, value) {
    if (!this.#values.has(name)) this.#values.set(name, value);
    assert.deepEqual(value, this.#values.get(name), `${name} stands for something else`);
  }

  /** Compares two values. With `part`, more members are allowed. */
  match(expected, actual, path, part = false) {
    if (typeof expected === "string" && expected.startsWith("$")) return this.bind(expected, actual);
    if (Array.isArray(expected)) {
      assert.ok(Array.isArray(actual), `${path}: ${JSON.stringify(actual)} is no array`);
      assert.equal(actual.length, expected.length, `${path}: ${JSON.stringify(actual)}`);
      return expected.forEach((one, index) => this.match(one, actual[index], `${path}[${index}]`, part));
    }
    if (typeof expected !== "object" || expected === null) return assert.deepEqual(actual, expected, path);
    assert.ok(typeof actual === "object" && actual !== null && !Array.isArray(actual), `${path}: ${JSON.stringify(actual)} instead of ${JSON.stringify(expected)}`);
    if (!part) assert.deepEqual(Object.keys(actual).sort(), Object.keys(this.filled(expected)).sort(), path);
    for (const [name, value] of Object.entries(expected)) this.match(value, actual[this.filled(name)], `${path}.${name}`, part);
  }

  value(name) { return this.#values.get(name); }
}

/** Items of a changeset may have any order. Those with an id of the server come first. */
const ordered = (edits) => edits.map((edit) => ({
  ...edit, changeset: Object.fromEntries(Object.entries(edit.changeset).map(([name, section]) => [name, Array.isArray(section)
    ? [...section].sort((one, other) => (typeof one.id === "number" ? one.id : 1e9) - (typeof other.id === "number" ? other.id : 1e9)) : section])),
}));

/** The filter of a subset; null for all records. */
const filterOf = (keep) => {
  const parts = Object.entries(keep ?? {}).filter(([, { where }]) => Object.keys(where ?? {}).length);
  return parts.length ? Object.fromEntries(parts.map(([resource, { where }]) => [resource, where])) : null;
};

const filterIn = (query) => (query.has("filter") ? JSON.parse(query.get("filter")) : null);

/** Runs a case of a shared file against a store and a scripted server (`Tests/Clients/Cases/README.md`). */
export class Run {
  names = new Names();
  tickets = new Map();
  heard = [];
  lastEvents = [];
  texts = new Map();
  kept = new Map();
  drafts = new Map();
  sync = null;
  request = null;
  remembered = null;
  revision = 1;
  feed = "f1";

  /** @param file the file, with `rules` and `base` */
  constructor(file, theCase) {
    this.case = theCase;
    this.rules = structuredClone(file.rules);
    this.server = new ScriptedServer({ rules: this.rules, records: theCase.base ?? file.base, feed: "f1", revision: 1 });
    this.server.handle("/v1/snapshot", (request) => {
      const query = request.url.searchParams;
      if (this.expected) assert.equal(query.get("resources"), this.expected);
      if (this.isOffline) request.fail();
      else if (query.has("unless")) this.answerDifference(request, query);
      else {
        assert.deepEqual(filterIn(query), filterOf(this.keepNow));
        this.filter = filterOf(this.keepNow);
      }
    });
    this.keepNow = theCase.keep;
    this.storage = new MemoryStorage();
    this.token = 0;
  }

  listener = (event) => { this.heard.push({ event: event.type, ...event.detail }); };

  async begin() {
    this.storeNow = await open({ server: this.server.url, user: "ann", storage: this.storage, fetch: this.server.fetch, clock: (this.clock = new TestClock()), ...(this.keepNow && { keep: this.keepNow }), ...this.options, token: () => `token-${++this.token}` });
    for (const type of ["conflict", "overtaken", "refused", "gone"]) this.storeNow.addEventListener(type, this.listener);
  }

  async run() {
    await this.begin();
    const first = this.storeNow.sync();
    (await this.server.request()).answer(200, this.page([]));
    await first;
    for (const [index, step] of this.case.steps.entries()) {
      try {
        await this[step.do](step);
      } catch (error) {
        error.message = `step ${index} ${JSON.stringify(step)}: ${error.message}`;
        throw error;
      }
    }
    await this.storeNow.close();
  }

  page(changes, more = {}) {
    this.revision += 1;
    this.feed = more.feed ?? this.feed;
    return { feed: this.feed, revision: this.revision, more: false, rules: this.rules.version, changes: this.names.filled(changes), ...more };
  }

  /** Waits until the client has processed an answer: its sync has ended, or it sends a request. */
  async dealtWith() {
    this.next ??= this.server.request();
    await Promise.race([this.sync, this.next]);
    await new Promise((resolve) => setTimeout(resolve, 0));
  }

  async nextRequest() {
    for (;;) {
      const request = await (this.next ?? this.server.request());
      this.next = null;
      if (!request.isAnswered) return request;
    }
  }

  /** Answers a request for the difference of two filters by the last step. Without a step the connection breaks. */
  answerDifference(request, query) {
    const answer = this.gatewayDifference;
    this.gatewayDifference = answer?.then ?? null;
    if (!answer) return request.fail();
    const filter = filterOf("keep" in answer ? answer.keep : this.keepNow);
    assert.equal(query.get("unless"), `${this.feed}:${this.revision}`);
    assert.deepEqual(filterIn(query), filter);
    assert.equal(query.get("after"), answer.after ?? null);
    if (answer.status) {
      if (answer.snapshot) Object.assign(this.server, { records: answer.snapshot, feed: (this.feed = answer.feed), revision: this.revision });
      return request.answer(answer.status, { type: `urn:fieldmerge:problem:${answer.code}`, title: answer.code, status: answer.status, code: answer.code, detail: answer.code, retry: false });
    }
    const head = { feed: answer.feed, revision: this.revision, rules: this.rules.version, resources: this.rules.resources.map(({ resource }) => resource), records: null };
    const lines = [{ snapshot: head }, ...answer.lines, answer.cursor ? { cursor: answer.cursor } : { end: { records: answer.lines.length } }];
    request.answer(200, lines.map((line) => `${JSON.stringify(line)}\n`).join(""), { headers: { "Content-Type": "application/x-ndjson" } });
    if (!answer.cursor) Object.assign(this, { filter, feed: answer.feed });
  }

  /** Compares the filter of a request for changes with that of the feed. */
  checkFilter(request) {
    const { since, filter = null } = request.method === "POST" ? request.json : { since: 0, filter: filterIn(request.url.searchParams) };
    if (since !== undefined) assert.deepEqual(filter, this.filter ?? null);
  }

  begins() {
    if (!this.sync) this.sync = this.storeNow.sync().then((report) => { this.sync = null; return report; });
  }

  // MARK: Steps

  change(step) {
    return (record) => {
      for (const [path, value] of Object.entries(this.names.filled(step.set ?? {}))) {
        const [section, ...rest] = path.split(".");
        if (rest.length === 0) record[section] = value;
        else if (rest.length === 2) record[section][rest[0]][rest[1]] = value;
        else if (record[section] === null) record[section] = { [rest[0]]: value };
        else record[section][rest[0]] = value;
      }
      for (const [list, items] of Object.entries(this.names.filled(step.append ?? {}))) record[list].push(...structuredClone(items));
      for (const [list, places] of Object.entries(step.remove ?? {})) for (const place of [...places].reverse()) record[list].splice(place, 1);
    };
  }

  async ticketOf(step, body) {
    if (step.error) {
      await assert.rejects(body, (error) => {
        this.names.match(step.error, { path: error.path, near: error.near, code: error.code }, "error", true);
        return true;
      });
      return;
    }
    const ticket = await body();
    if (step.ticket) this.tickets.set(step.ticket, ticket.name);
    return ticket;
  }

  edit(step) {
    const base = step.base && this.kept.get(step.base);
    return this.ticketOf(step, () => this.storeNow.edit(step.resource, this.names.filled(step.id), this.change(step), { base }));
  }

  async keep({ resource, id, as }) { this.kept.set(as, await this.storeNow.record(resource, this.names.filled(id))); }
  async draft({ resource, id, as }) { this.drafts.set(as, await this.storeNow.draft(resource, this.names.filled(id))); }
  async type(step) { this.change(step)(this.drafts.get(step.draft).record); }
  save(step) { return this.ticketOf(step, () => this.drafts.get(step.draft).save()); }
  async close({ draft }) { this.drafts.get(draft).close(); }

  async create(step) {
    const ticket = await this.ticketOf(step, () => this.storeNow.create(step.resource, this.created(step)));
    if (step.id.startsWith("$")) this.names.bind(step.id, ticket.id);
  }

  created(step) {
    return (record) => {
      if (!step.id.startsWith("$")) record.id = step.id;
      this.change(step)(record);
    };
  }

  delete(step) { return this.ticketOf(step, () => this.storeNow.delete(step.resource, this.names.filled(step.id))); }

  transaction(step) {
    return this.ticketOf(step, () => this.storeNow.transaction(async (t) => {
      for (const one of step.steps) {
        if (one.do === "edit") await t.edit(one.resource, this.names.filled(one.id), this.change(one));
        else if (one.do === "delete") await t.delete(one.resource, this.names.filled(one.id));
        else this.names.bind(one.id, (await t.create(one.resource, this.created(one))).id);
      }
    }, { atomic: step.atomic }));
  }

  async send(step) {
    this.begins();
    this.request = await this.nextRequest();
    assert.equal(`${this.request.method} ${this.request.url.pathname}`, "POST /v1/sync");
    this.checkFilter(this.request);
    const { pushes } = this.request.json;
    assert.equal(pushes.length, step.pushes.length, `${JSON.stringify(pushes)}`);
    for (const [index, push] of step.pushes.entries()) {
      this.names.match({ key: push.key, edits: ordered(push.edits) }, { key: pushes[index].key, edits: ordered(pushes[index].edits) }, `pushes[${index}]`);
      if ("feed" in push) assert.equal(pushes[index].feed, push.feed);
      if (push.sent === false) assert.equal(pushes[index].sent, undefined);
      else assert.match(pushes[index].sent, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/);
      if (this.atomic) assert.equal(pushes[index].atomic, this.atomic);
    }
    this.bytes = this.request.text;
  }

  /** The gateway has other rules, and perhaps other records. */
  adopt({ newRules, regroup = [], resources = [], offline = false }) {
    this.isOffline = offline;
    if (newRules) {
      this.rules = structuredClone(this.rules);
      this.rules.version = newRules;
      for (const one of resources) this.rules.resources = this.rules.resources.map((old) => (old.resource === one.resource ? structuredClone(one) : old));
      if (resources.length) this.expected = resources.map(({ resource }) => resource).join();
      for (const { resource, section, group, fields } of regroup) {
        const found = this.rules.resources.find((one) => one.resource === resource).sections.find((one) => one.section === section);
        const parts = found.groups.filter((one) => one.fields.some((field) => fields.includes(field.field)));
        found.groups = [{ group, onConflict: "client-wins", fields: parts.flatMap((one) => one.fields) }, ...found.groups.filter((one) => !parts.includes(one))];
      }
      this.server.rules = this.rules;
    }
  }

  /** Has the client sync and read the difference of two filters. */
  async difference(step) {
    this.gatewayDifference = step;
    this.begins();
    await this.dealtWith();
    await this.settle();
    assert.equal(this.gatewayDifference, null, "the difference was not requested");
  }

  async answer({ results, changes = [], difference, snapshot, newRules, regroup, resources, offline, ...more }) {
    this.adopt({ newRules, regroup, resources, offline });
    delete more.do;
    const filled = this.names.filled(results);
    const body = { results: filled, ...this.page(changes, more) };
    if (changes === null) body.changes = null;
    if (difference) this.gatewayDifference = difference;
    if (snapshot) Object.assign(this.server, { records: snapshot, feed: this.feed, revision: this.revision });
    // Without a stored position the client does not store changes of the answer.
    if (this.case.keep !== undefined && !("since" in this.request.json)) this.revision -= 1;
    this.request.answer(filled.every((result) => result.code === 200) && changes !== null ? 200 : 207, body);
    await this.dealtWith();
    if (snapshot || difference) await this.settle();
  }

  /** Answers with no changes until the client sends a push, or is done. */
  async settle() {
    while (this.sync) {
      const request = await Promise.race([this.next, this.sync.then(() => null)]);
      if (!request || request.url.pathname !== "/v1/changes") break;
      this.next = null;
      request.answer(200, this.page([]));
      await this.dealtWith();
    }
  }

  async raw({ status, body, again }) {
    if (status === null) this.request.fail();
    else this.request.answer(status, body);
    if (again) {
      this.request = await this.server.request();
      this.bytes = this.request.text;
      // The next step is about this request.
      const request = this.request;
      this.next = Promise.resolve(request);
    } else await this.dealtWith();
  }

  async pulling() {
    this.begins();
    this.held = await this.nextRequest();
    if (this.held.method === "POST") assert.deepEqual(this.held.json.pushes ?? [], []);
    else assert.equal(this.held.url.pathname, "/v1/changes");
    this.checkFilter(this.held);
  }

  async pull({ changes, resync, feed, snapshot, rules, newRules, resources, offline }) {
    if (!this.held) await this.pulling();
    this.adopt({ newRules, resources, offline });
    if (resync) {
      const { revision } = this.page([], { feed });
      Object.assign(this.server, { records: snapshot, feed, revision });
      this.held.answer(410, { type: "urn:fieldmerge:problem:resync", title: "resync", status: 410, code: "resync", feed });
    } else {
      this.held.answer(200, this.page(changes, rules && { rules }));
      if (snapshot) Object.assign(this.server, { records: snapshot, revision: this.revision });
    }
    this.held = null;
    await this.dealtWith();
    if (newRules) await this.settle();
  }

  async decide({ event: type, call, edit }) {
    this.storeNow.addEventListener(type, (event) => { void (call ? event[call]() : this.edit(edit)); });
  }

  async read({ resource, id, record }) {
    this.names.match(record, await this.storeNow.record(resource, this.names.filled(id)), "record");
  }

  async state({ resource, id, section, group, item, state }) {
    assert.equal(await this.storeNow.state(resource, this.names.filled(id), group === undefined ? section : `${section}.${group}`, item), state);
  }

  async status({ do: _, ...expected }) { this.names.match(expected, this.storeNow.status, "status", true); }

  async ticket({ ticket, outcome, open }) {
    const found = await (await this.storeNow.ticket(this.tickets.get(ticket))).peek();
    if (open) assert.equal(found, null);
    else this.names.match(outcome, found, "outcome", true);
  }

  async events({ events }) {
    this.names.match(events, this.heard, "events", true);
    this.lastEvents = this.heard;
    this.heard = [];
  }

  async takeMine({ event }) { await this.lastEvents[event].takeMine(); }
  async keepMine({ event }) { await this.lastEvents[event].keepMine(); }
  async takeTheirs({ event }) { await this.lastEvents[event].takeTheirs(); }
  async refused({ entries }) { this.names.match(entries, await this.storeNow.refusedEdits(), "refused", true); }
  async resend({ entry }) { await (await this.storeNow.refusedEdits())[entry].resend(); }
  async discard({ entry }) { await (await this.storeNow.refusedEdits())[entry].discard(); }

  async conflicts({ entries }) { this.names.match(entries, await this.storeNow.conflicts(), "conflicts", true); }
  async unsent({ entries }) { this.names.match(entries, await this.storeNow.unsent(), "unsent", true); }

  async listed({ of, entry, call, without, as, error }) {
    const list = await (of === "refused" ? this.storeNow.refusedEdits() : this.storeNow[of]());
    await this.ticketOf({ error }, async () => {
      const result = await list[entry][call](without && { without: this.names.filled(without) });
      if (as) this.drafts.set(as, result);
    });
  }

  async deaf() {
    for (const type of ["conflict", "overtaken", "refused", "gone"]) this.storeNow.removeEventListener(type, this.listener);
  }

  /** The text of a push in the last request, as it was sent. */
  push(index) {
    const { pushes } = JSON.parse(this.bytes), text = JSON.stringify(pushes[index]);
    assert.ok(this.bytes.includes(text));
    return text;
  }

  async remember({ push, name }) { this.texts.set(name, this.push(push)); }
  async same({ push, name }) { assert.equal(this.push(push), this.texts.get(name)); }
  async distinct({ names }) { assert.equal(new Set(names.map((name) => this.names.value(name))).size, names.length); }

  async restart({ keep } = {}) {
    if (keep !== undefined) this.keepNow = keep;
    this.isOffline = false;
    this.request?.fail();
    this.storage.dead = true;
    // A request of the client after the last answer is lost.
    let isOver = false;
    void this.next?.then((request) => { if (!isOver) request.fail(); });
    await this.sync?.catch(() => {});
    isOver = true;
    await this.storeNow.close();
    this.sync = null;
    await this.begin();
    await new Promise((resolve) => setTimeout(resolve, 0)); // events of before are delivered
  }
}
