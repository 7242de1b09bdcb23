// Differences of texts by word, and of JSON by member. No DOM.

import { equal, isObject } from "./json.js";

const LARGEST = 1_000_000;

/** Splits a text into words, spaces and single other characters. */
export const words = (text) => text.match(/[\p{L}\p{N}_]+|\s+|[^\p{L}\p{N}_\s]/gu) ?? [];

/** Returns the parts of both texts in order: `same`, `removed` or `added`. */
export function wordDiff(before, after) {
  const one = words(before), other = words(after);
  let start = 0;
  while (start < one.length && start < other.length && one[start] === other[start]) start += 1;
  let end = 0;
  while (end < one.length - start && end < other.length - start && one[one.length - 1 - end] === other[other.length - 1 - end]) end += 1;
  const left = one.slice(start, one.length - end), right = other.slice(start, other.length - end);
  const parts = [];
  const add = (kind, text) => {
    if (!text) return;
    const last = parts.at(-1);
    if (last?.kind === kind) last.text += text;
    else parts.push({ kind, text });
  };
  add("same", one.slice(0, start).join(""));
  if (left.length * right.length > LARGEST) {
    add("removed", left.join(""));
    add("added", right.join(""));
  } else {
    for (const [kind, text] of common(left, right)) add(kind, text);
  }
  add("same", one.slice(one.length - end).join(""));
  return tidy(parts);
}

/** The longest common subsequence, walked from the start. */
function* common(left, right) {
  const width = right.length + 1;
  const lengths = new Uint32Array((left.length + 1) * width);
  for (let i = left.length - 1; i >= 0; i -= 1) {
    for (let j = right.length - 1; j >= 0; j -= 1) {
      lengths[i * width + j] = left[i] === right[j]
        ? lengths[(i + 1) * width + j + 1] + 1
        : Math.max(lengths[(i + 1) * width + j], lengths[i * width + j + 1]);
    }
  }
  let i = 0, j = 0;
  while (i < left.length || j < right.length) {
    if (i < left.length && j < right.length && left[i] === right[j]) {
      yield ["same", left[i]];
      i += 1;
      j += 1;
    } else if (j >= right.length || (i < left.length && lengths[(i + 1) * width + j] >= lengths[i * width + j + 1])) {
      yield ["removed", left[i]];
      i += 1;
    } else {
      yield ["added", right[j]];
      j += 1;
    }
  }
}

/** Joins changes that only a space separates, so that changed phrases stay whole. */
function tidy(parts) {
  const result = [];
  let removed = "", added = "";
  const flush = () => {
    if (removed) result.push({ kind: "removed", text: removed });
    if (added) result.push({ kind: "added", text: added });
    removed = added = "";
  };
  parts.forEach((part, index) => {
    const isBridge = part.kind === "same" && /^[^\S\n]+$/.test(part.text) && index > 0 && index < parts.length - 1 && (removed || added);
    if (part.kind === "removed") removed += part.text;
    else if (part.kind === "added") added += part.text;
    else if (isBridge) { removed += part.text; added += part.text; }
    else { flush(); result.push(part); }
  });
  flush();
  return result;
}

/** The value at a path of names and indexes; undefined if it has none. */
export const at = (value, path) =>
  path.reduce((value, name) => (isObject(value) || Array.isArray(value) ? value[name] : undefined), value);

/**
 * Returns a row for each member in which the values differ: its path, and its value in each document. A member that a
 * document lacks is `undefined`. Objects are compared by member, everything else as a whole.
 */
export function memberRows(...documents) {
  const rows = [];
  const walk = (path) => {
    const values = documents.map((document) => at(document, path));
    const present = values.filter((value) => value !== undefined);
    if (present.every((value) => equal(value, present[0])) && present.length === values.length) return;
    if (present.length && present.every((value) => isObject(value) && Object.keys(value).length)) {
      const names = [...new Set(present.flatMap((value) => Object.keys(value)))];
      for (const name of names) walk([...path, name]);
    } else {
      rows.push({ path, values });
    }
  };
  walk([]);
  return rows;
}
