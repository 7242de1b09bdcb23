/**
 * An error of this library: what the app did, or what it asked for cannot be had now.
 */
export class FieldMergeError extends Error {
  /**
   * @param {string} code a word by which programs know it
   * @param {string} message a sentence for people
   * @param {{path?: string, near?: string, unsent?: number, cause?: unknown}} [more] `path`: the place in the record, such
   *   as `groceries[0].quantity`; `near`: the name that was probably meant; `unsent`, of `signOut`: how many edits were not
   *   sent yet
   */
  constructor(code, message, more) {
    super(message);
    Object.assign(this, { name: "FieldMergeError", code, ...more });
  }
}

/** An answer that does not hold what was asked for. */
export class LostAnswer extends Error {
  /** @param {import("./network.js").Answer} answer one that is `ok` does not hold what was asked for, and is none */
  constructor(answer) {
    super(answer.kind);
    this.answer = answer.kind === "ok" ? { ...answer, kind: "lost" } : answer;
  }
}

/** Throws an error about a place in a record. */
export function fail(code, path, text, more) {
  throw new FieldMergeError(code, `“${path}” ${text}.`, { path, ...more });
}
