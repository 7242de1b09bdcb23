// Names, sentences, addresses and groupings of the console. No DOM.

import { equal, isObject, stringify } from "./json.js";

/** The outcomes with a word for people and a sign, so that no colour is needed. */
export const OUTCOMES = {
  applied: ["Written", "✓", "good"],
  inserted: ["Created", "+", "good"],
  deleted: ["Deleted", "−", "plain"],
  "client-won": ["Edit won", "▲", "edit"],
  "server-won": ["Current value stayed", "■", "stay"],
  combined: ["Combined", "◆", "both"],
  rejected: ["Rejected", "✕", "bad"],
  kept: ["Row kept", "■", "stay"],
  missing: ["Row was gone", "○", "stay"],
  restored: ["Row restored", "↺", "edit"],
  already: ["Same already", "=", "plain"],
};

export const CONFLICTS = ["client-won", "server-won", "combined", "rejected", "kept", "missing", "restored", "deleted"];

export const outcomeWord = (kind) => OUTCOMES[kind]?.[0] ?? kind;

/** Reads `#/conflicts?resource=orders` into a page, the parts after it, and the query. */
export function readAddress(hash) {
  const [path, query = ""] = hash.replace(/^#?\/?/, "").split(/\?(.*)/s);
  const [page, ...parts] = path.split("/").map((part) => decode(part));
  return { page: page || "overview", parts: parts.filter(Boolean), query: Object.fromEntries(new URLSearchParams(query)) };
}

function decode(part) {
  try { return decodeURIComponent(part); } catch { return part; }
}

/** The address of a page. Empty filters are left out. */
export function address(page, parts = [], query = {}) {
  return ["#", page, ...parts.map(encodeURIComponent)].join("/") + search(query);
}

/** A query string without empty members. */
export function search(query) {
  const members = Object.entries(query).filter(([, value]) => value !== undefined && value !== null && value !== "" && value !== false);
  return members.length ? "?" + new URLSearchParams(members.map(([name, value]) => [name, String(value)])) : "";
}

/** The id of a record in a URL: the parts of a key have a comma between them. */
export const idText = (id) => (Array.isArray(id) ? id.map(String).join(",") : String(id));
/** A record's id in a path of the gateway. */
export const idPath = (text) => encodeURIComponent(text).replaceAll("%2C", ",");

export const recordAddress = (entry) => address("record", [entry.resource, idText(entry.id)]);

/** `customer.address`, `groceries [12] item`, or the section of a whole row. */
export function groupName(outcome) {
  const place = outcome.id === undefined ? outcome.section : `${outcome.section} [${idText(outcome.id)}]`;
  return outcome.group ? `${place}.${outcome.group}` : place;
}

/** True if both outcomes are about the same group of the same row, or one of them about the whole row. */
export const isSameGroup = (one, other) =>
  one.section === other.section && equal(one.id ?? null, other.id ?? null) &&
  (!one.group || !other.group || one.group === other.group);

/** The entry that wrote the value which an outcome met: the first of the older entries, newest first. */
export function writerOf(outcome, older) {
  for (const entry of older) {
    if (entry.refused || entry.status !== "merged") continue;
    const written = entry.outcomes?.find((other) => isSameGroup(outcome, other) && !["server-won", "kept", "missing", "rejected"].includes(other.outcome));
    if (!written) continue;
    const isWhole = !written.group || !outcome.group;
    return isWhole || equal(written.written, outcome.current) ? entry : null;
  }
  return null;
}

/** The sender of an entry. */
export function sender(entry) {
  const who = entry.who === "foreign program" ? "another program" : entry.who || "";
  if (who && entry.device) return `${who} (${entry.device})`;
  return who || entry.device || "a sender without a name";
}

/** A sentence about an outcome: who met whom, and the result. */
export function story(entry, outcome, writer) {
  const who = sender(entry);
  const whom = writer ? (sender(writer) === who ? "an earlier value of the same sender" : sender(writer)) : "a value that the journal does not contain";
  switch (outcome.outcome) {
    case "client-won": return `${who} overwrote ${whom}.`;
    case "server-won": return outcome.current !== undefined && equal(outcome.old, outcome.current) ? `A check of the rules kept the current value. The edit of ${who} was not written.` : `${writer ? `The value of ${whom}` : "The current value"} stayed. The edit of ${who} was not written.`;
    case "combined": return `Both values count: ${who} met ${whom}.`;
    case "rejected": return `The edit of ${who} met ${whom} and was refused.`;
    case "kept": return `${who} deleted a row that had changed. The row stayed.`;
    case "missing": return `${who} edited a row that was gone. Nothing was written.`;
    case "restored": return `${who} edited a row that was gone. The row is there again.`;
    case "deleted": return outcome.conflict ? `${who} deleted a row that had changed meanwhile.` : `${who} deleted the row.`;
    case "inserted": return `${who} created the row.`;
    case "applied": return `${who} changed the value.`;
    default: return "";
  }
}

/** Refused entries by their reason, the largest group first. */
export function byReason(entries) {
  const groups = new Map();
  for (const entry of entries) {
    const reason = entry.refused?.reason ?? "unknown";
    if (!groups.has(reason)) groups.set(reason, { reason, title: entry.problem?.title ?? words(reason), entries: [] });
    const group = groups.get(reason);
    if (entry.problem?.title && entry.problem.title !== group.title) group.title = words(reason);
    group.entries.push(entry);
  }
  return [...groups.values()].sort((one, other) => other.entries.length - one.entries.length || (one.reason < other.reason ? -1 : 1));
}

/** `foreign-key` as words. */
export const words = (code) => (code ? code[0].toUpperCase() + code.slice(1).replaceAll("-", " ") : "");

/** The edits of a refused push: of one record, of several, or of a sync. */
export function editsOf(refused) {
  const body = refused?.body;
  if (!isObject(body)) return [];
  if (Array.isArray(body.edits)) return body.edits.filter(isObject);
  return [{ ...body, resource: body.resource ?? refused.address?.split("/")[3] }];
}

/** The changes of an edit as rows: section, item, name, old and new. */
export function changesOf(edit) {
  const rows = [];
  const member = (value, name) => (isObject(value) ? value[name] : undefined);
  const add = (section, item, changes) => {
    if (!isObject(changes)) return;
    const isWhole = "old" in changes || "new" in changes || "oldHash" in changes;
    if (!isWhole) {
      for (const [name, change] of Object.entries(changes)) {
        if (name !== "id") rows.push({ section, item, name, old: member(change, "old"), new: member(change, "new") });
      }
      return;
    }
    const both = [changes.old, changes.new];
    const names = [...new Set(both.filter(isObject).flatMap((value) => Object.keys(value)))];
    if (!names.length || !both.every(isObject)) rows.push({ section, item, name: "", old: changes.old, new: changes.new });
    else for (const name of names) rows.push({ section, item, name, old: both[0][name], new: both[1][name] });
  };
  for (const [section, change] of Object.entries(edit.changeset ?? {})) {
    if (Array.isArray(change)) for (const item of change) add(section, isObject(item) ? item.id : undefined, item);
    else add(section, undefined, change);
  }
  return rows;
}

/** The differences of two records, field by field: `[{ section, item, field, before, after }]`. */
export function recordChanges(before, after) {
  const rows = [];
  const compare = (section, item, one, other) => {
    if (one === null && other === null) return;
    if (!isObject(one) || !isObject(other)) {
      if (!equal(one ?? null, other ?? null)) rows.push({ section, item, field: "", before: one ?? undefined, after: other ?? undefined });
      return;
    }
    for (const field of new Set([...Object.keys(one), ...Object.keys(other)])) {
      if (field !== "id" && !equal(one[field], other[field])) rows.push({ section, item, field, before: one[field], after: other[field] });
    }
  };
  if (!before || !after) return before || after ? [{ section: "", item: undefined, field: "", before: before ?? undefined, after: after ?? undefined }] : [];
  for (const section of new Set([...Object.keys(before), ...Object.keys(after)])) {
    if (section === "id") continue;
    const one = before[section] ?? null, other = after[section] ?? null;
    if (Array.isArray(one) || Array.isArray(other)) {
      const key = (row) => stringify(row.id ?? null);
      const rowsOf = (list) => new Map((list ?? []).map((row) => [key(row), row]));
      const left = rowsOf(one), right = rowsOf(other);
      for (const id of new Set([...left.keys(), ...right.keys()])) {
        compare(section, (left.get(id) ?? right.get(id)).id, left.get(id) ?? null, right.get(id) ?? null);
      }
    } else {
      compare(section, undefined, one, other);
    }
  }
  return rows;
}

/** Each of the last minutes with its counts, also those without entries. */
export function fillMinutes(activity, count) {
  const end = Math.floor(Date.parse(activity.now) / 60000);
  const counts = new Map(activity.minutes.map((minute) => [Math.floor(Date.parse(minute.at) / 60000), minute]));
  return Array.from({ length: count }, (_, index) => {
    const minute = end - count + 1 + index;
    return { at: new Date(minute * 60000), entries: 0, conflicts: 0, refused: 0, ...pick(counts.get(minute)) };
  });
}

const pick = (minute) => (minute ? { entries: minute.entries, conflicts: minute.conflicts, refused: minute.refused } : {});

/** The upper end of an axis: 1, 2 or 5 times a power of ten, at least `least`. */
export function niceMaximum(value, least = 4) {
  if (value <= least) return least;
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].map((step) => step * power).find((step) => step >= value);
}

/** Reads the text of /metrics: `[{ name, labels, value }]`. */
export function readMetrics(text) {
  const found = [];
  for (const line of text.split("\n")) {
    const match = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/.exec(line);
    if (!match) continue;
    const labels = {};
    for (const [, name, value] of (match[2] ?? "").matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)) labels[name] = value.replace(/\\(.)/g, (_, c) => (c === "n" ? "\n" : c));
    found.push({ name: match[1], labels, value: Number(match[3]) });
  }
  return found;
}

/** The count and the total seconds of the pushes. */
export function pushTimes(metrics) {
  const routes = ["/v1/merge/{resource}", "/v1/push", "/v1/sync"];
  const total = (name) => metrics.filter((metric) => metric.name === name && routes.includes(metric.labels.route)).reduce((sum, metric) => sum + metric.value, 0);
  return { count: total("fieldmerge_request_seconds_count"), seconds: total("fieldmerge_request_seconds_sum") };
}

const UNITS = [[86400, "day"], [3600, "hour"], [60, "minute"], [1, "second"]];

/** A number of seconds in words: `3 minutes`. */
export function duration(seconds) {
  const [size, unit] = UNITS.find(([size]) => seconds >= size) ?? UNITS.at(-1);
  const count = Math.floor(seconds / size);
  return `${count} ${unit}${count === 1 ? "" : "s"}`;
}

/** How long ago a time was. */
export function ago(at, now = Date.now()) {
  const seconds = Math.max(0, (now - Date.parse(at)) / 1000);
  return seconds < 5 ? "just now" : `${duration(seconds)} ago`;
}

/** A number of bytes in words. */
export function bytes(count) {
  const units = ["bytes", "kB", "MB", "GB", "TB"];
  let index = 0, value = count;
  while (value >= 1000 && index < units.length - 1) { value /= 1000; index += 1; }
  return `${index && value < 10 ? value.toFixed(1) : Math.round(value)} ${units[index]}`;
}

export const count = (number, one, many = one + "s") => `${number.toLocaleString("en")} ${number === 1 ? one : many}`;
