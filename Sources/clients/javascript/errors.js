/**
 * An error of this library: what the app did, or what it asked for cannot be had now.
 */
export class FieldMergeError extends Error {
  /**
   * @param {string} code a word by which programs know it
   * @param {string} message a sentence for people
   * @param {{path?: string, near?: string, unsent?: number, cause?: unknown}} [more]
   */
  constructor(code, message, more = {}) {
    super(message, more.cause === undefined ? undefined : { cause: more.cause });
    this.name = "FieldMergeError";
    this.code = code;
    /** The place in the record, such as `groceries[0].quantity`. */
    this.path = more.path;
    /** The name that was probably meant. */
    this.near = more.near;
    /** Of `signOut`: how many edits were not sent yet. */
    this.unsent = more.unsent;
  }
}
