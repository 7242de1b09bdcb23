/**
 * An error of this library: a mistake of the app, or a request that cannot be served now.
 */
export class FieldMergeError extends Error {
  /**
   * @param {string} code a word for programs
   * @param {string} message a sentence for people
   * @param {{path?: string, near?: string, unsent?: number, isSignedOut?: boolean, cause?: unknown, answer?: import("./network.js").Answer}} [more]
   *   `path`: the place in the record, such as `groceries[0].quantity`; `near`: the probable name; `unsent`,
   *   of `signOut`: the number of unsent edits; `answer`: the answer without the requested content
   */
  constructor(code, message, more) {
    super(message);
    Object.assign(this, { name: "FieldMergeError", code, ...more });
  }
}

/** The error of an answer without the requested content. An answer of kind `ok`, or of no kind, counts as lost. */
export const lost = (answer, kind = !answer.kind || answer.kind === "ok" ? "lost" : answer.kind) =>
  new FieldMergeError("offline", "The server cannot be reached.", { cause: answer.problem ?? answer.error, answer: { ...answer, kind } });

/** The modules that `fieldmerge-worker.js` loads at once, since service workers have no `import()`. */
export const bundled = {};

/** Loads a module. Without a network that is an answer lost, and the next caller tries again. */
export const loaded = (loading) => loading.catch((error) => { if (bundled.open) return bundled; throw lost({ error }); });

/** Throws an error about a place in a record. */
export function fail(code, path, text) {
  throw new FieldMergeError(code, `“${path}” ${text}.`, { path });
}
