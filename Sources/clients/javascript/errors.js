/**
 * An error of this library: what the app did, or what it asked for cannot be had now.
 */
export class FieldMergeError extends Error {
  /**
   * @param {string} code a word by which programs know it
   * @param {string} message a sentence for people
   * @param {{path?: string, near?: string, unsent?: number, isSignedOut?: boolean, cause?: unknown, answer?: import("./network.js").Answer}} [more]
   *   `path`: the place in the record, such as `groceries[0].quantity`; `near`: the name that was probably meant; `unsent`,
   *   of `signOut`: how many edits were not sent yet; `answer`: the one that does not hold what was asked for
   */
  constructor(code, message, more) {
    super(message);
    Object.assign(this, { name: "FieldMergeError", code, ...more });
  }
}

/** The error of an answer that does not hold what was asked for; one that is `ok`, or of no kind, is lost. */
export const lost = (answer, kind = !answer.kind || answer.kind === "ok" ? "lost" : answer.kind) =>
  new FieldMergeError("offline", "The server cannot be reached.", { cause: answer.problem ?? answer.error, answer: { ...answer, kind } });

/** What `fieldmerge-worker.js` has loaded at once, since service workers have no `import()`. */
export const bundled = {};

/** Loads a module. Without a network that is an answer lost, and the next caller tries again. */
export const loaded = (loading) => loading.catch((error) => { if (bundled.open) return bundled; throw lost({ error }); });

/** Throws an error about a place in a record. */
export function fail(code, path, text) {
  throw new FieldMergeError(code, `“${path}” ${text}.`, { path });
}
