// JSON without loss: a number that JavaScript would round or write in another way keeps its source text.

/** A number as its source text. */
export class Exact {
  constructor(text) { this.text = text; }
  toString() { return this.text; }
}

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;
const SPACE = /[ \t\n\r]*/y;

/** Parses JSON. Numbers that do not survive a round trip become `Exact`. */
export function parse(text) {
  let at = 0;
  const fail = () => { throw new SyntaxError(`Not JSON, at character ${at + 1}.`); };
  const space = () => { SPACE.lastIndex = at; SPACE.exec(text); at = SPACE.lastIndex; };
  const match = (pattern) => {
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    if (!found) fail();
    at = pattern.lastIndex;
    return found[0];
  };
  const word = (word, value) => {
    if (!text.startsWith(word, at)) fail();
    at += word.length;
    return value;
  };
  const series = (end, element) => {
    at += 1;
    space();
    if (text[at] === end) { at += 1; return; }
    for (;;) {
      element();
      space();
      if (text[at] === end) { at += 1; return; }
      if (text[at] !== ",") fail();
      at += 1;
      space();
    }
  };
  const value = () => {
    switch (text[at]) {
      case "{": {
        const object = Object.create(null);
        series("}", () => {
          const name = JSON.parse(match(STRING));
          space();
          if (text[at] !== ":") fail();
          at += 1;
          space();
          object[name] = value();
        });
        return object;
      }
      case "[": {
        const array = [];
        series("]", () => array.push(value()));
        return array;
      }
      case '"': return JSON.parse(match(STRING));
      case "t": return word("true", true);
      case "f": return word("false", false);
      case "n": return word("null", null);
      default: {
        const source = match(NUMBER);
        return String(Number(source)) === source ? Number(source) : new Exact(source);
      }
    }
  };
  space();
  const result = value();
  space();
  if (at < text.length) fail();
  return result;
}

/** Writes JSON. `Exact` numbers are written by their source text. With an indent each member has its own line. */
export function stringify(value, indent = 0, margin = "") {
  if (value instanceof Exact) return value.text;
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  const inner = margin + " ".repeat(indent);
  const parts = Array.isArray(value)
    ? value.map((element) => stringify(element, indent, inner))
    : Object.keys(value).filter((name) => value[name] !== undefined)
      .map((name) => JSON.stringify(name) + (indent ? ": " : ":") + stringify(value[name], indent, inner));
  const [open, close] = Array.isArray(value) ? "[]" : "{}";
  if (!parts.length) return open + close;
  return indent ? `${open}\n${inner}${parts.join(`,\n${inner}`)}\n${margin}${close}` : open + parts.join(",") + close;
}

export const isObject = (value) =>
  value !== null && typeof value === "object" && !Array.isArray(value) && !(value instanceof Exact);

/** True if two parsed values are equal. The order of members does not count. */
export function equal(one, other) {
  if (one === other) return true;
  if (one instanceof Exact || other instanceof Exact) return String(one) === String(other) && typeof one !== "string" && typeof other !== "string";
  if (Array.isArray(one)) {
    return Array.isArray(other) && one.length === other.length && one.every((element, index) => equal(element, other[index]));
  }
  if (!isObject(one) || !isObject(other)) return false;
  const names = Object.keys(one);
  return names.length === Object.keys(other).length && names.every((name) => name in other && equal(one[name], other[name]));
}
