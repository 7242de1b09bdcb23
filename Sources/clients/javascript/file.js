import { createHash } from "node:crypto";
import { open, rename, rm } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { FieldMergeError } from "./errors.js";
import { parse, stringify } from "./json.js";
import { lock } from "./lock.js";
import { MemoryStorage } from "./memory.js";

const head = '{"fieldmerge":1}\n';
const line = (changes) => {
  const text = stringify(changes.map(([table, key, value]) => (value === undefined ? [table, key] : [table, key, value])));
  return `${createHash("sha256").update(text).digest("hex").slice(0, 16)} ${text}\n`;
};

/**
 * A store in a file, for one process: a line for each transaction, on disk before it counts.
 *
 * An incomplete last line, after the process was killed, is dropped. If most of the file is outdated, a new file is written,
 * which then replaces the old file atomically.
 */
export class FileStorage extends MemoryStorage {
  #path;
  #lock;
  #file;
  #size = 0;
  #live = 0;
  #broken = null;
  /** Whether the file may end with a transaction that failed. */
  #isTorn = false;

  /**
   * Opens a file, or makes it.
   *
   * @param {string} path
   * @throws {FieldMergeError} `invalid-option` for a missing folder, `in-use` if another process has it, `damaged` if it cannot be read.
   */
  static async open(path) {
    if (path === undefined) throw new FieldMergeError("invalid-option", "In Node “path” is a file, or “:memory:”.");
    const storage = new FileStorage();
    storage.#path = resolve(path);
    storage.#lock = await lock(storage.#path);
    try {
      await storage.#read();
    } catch (error) {
      await storage.close();
      throw error;
    }
    return storage;
  }

  async #read() {
    this.#file = await open(this.#path, "a+");
    const bytes = await this.#file.readFile();
    if (bytes.length && !bytes.subarray(0, head.length).equals(Buffer.from(head).subarray(0, bytes.length))) {
      throw new FieldMergeError("damaged", `${this.#path} is no store of this library.`);
    }
    let good = Math.min(bytes.length, head.length);
    if (good === head.length) {
      for (let end; (end = bytes.indexOf(10, good)) >= 0; good = end + 1) {
        const text = bytes.toString("utf8", good, end);
        const changes = parsed(text);
        if (!changes) {
          if (bytes.indexOf(10, end + 1) >= 0) throw new FieldMergeError("damaged", `${this.#path} is damaged at byte ${good}.`);
          break;
        }
        this.apply(changes.map(([table, key, value]) => [table, key, value]));
      }
    } else {
      good = 0;
    }
    if (good < bytes.length) await this.#file.truncate(good);
    if (good === 0) await this.#file.appendFile(head);
    await this.#file.sync();
    if (bytes.length === 0) await syncFolder(this.#path);
    this.#size = Math.max(good, head.length);
    this.#live = this.#size;
  }

  async persist(changes) {
    if (this.#broken) throw this.#broken;
    this.#lock.check();
    if (this.#isTorn) await this.#mend();
    const text = Buffer.from(line(changes));
    try {
      await this.#file.appendFile(text);
      await this.#file.datasync();
    } catch (error) {
      this.#isTorn = true;
      await this.#mend().catch(() => {}); // or before the next transaction
      throw new FieldMergeError("storage", `${this.#path} cannot be written.`, { cause: error });
    }
    this.#size += text.length;
  }

  /** Truncates the bytes of a failed transaction: an incomplete line in the middle of the file would hide all later lines. */
  async #mend() {
    try {
      await this.#file.truncate(this.#size);
      await this.#file.datasync();
      this.#isTorn = false;
    } catch (error) {
      throw new FieldMergeError("storage", `${this.#path} cannot be written.`, { cause: error });
    }
  }

  apply(changes) {
    super.apply(changes);
    if (this.#size > 1 << 20 && this.#size > 4 * this.#live) this.#compaction ??= this.run(true, () => this.#compact()).catch(() => {}).finally(() => { this.#compaction = null; });
  }

  #compaction = null;

  /** Writes the current values into a new file, which replaces the old file; after a failure the old file is kept. */
  async #compact() {
    const path = `${this.#path}.new`, file = await open(path, "w");
    let size = head.length;
    try {
      await file.appendFile(head);
      let batch = [];
      const flush = async () => {
        const text = Buffer.from(line(batch));
        await file.appendFile(text);
        size += text.length;
        batch = [];
      };
      for (const entry of this.entries()) if (batch.push(entry) === 500) await flush();
      if (batch.length) await flush();
      await file.sync();
    } finally {
      await file.close();
    }
    const replacement = await open(path, "a+");
    await rename(path, this.#path);
    const old = this.#file;
    [this.#file, this.#size, this.#live] = [replacement, size, size];
    await old.close();
    await syncFolder(this.#path);
  }

  async close() {
    await this.#compaction;
    await this.#file?.close();
    this.#file = undefined;
    this.#broken = new FieldMergeError("closed", "The store is closed.");
    this.#lock.release();
  }

  async destroy() {
    await this.close();
    await rm(this.#path, { force: true });
    await rm(`${this.#path}.new`, { force: true });
  }
}

function parsed(text) {
  const json = text.slice(17);
  if (createHash("sha256").update(json).digest("hex").slice(0, 16) !== text.slice(0, 16)) return null;
  return parse(json);
}

/** Makes sure that the name of a new file is on disk as well. */
async function syncFolder(path) {
  const folder = await open(dirname(path), "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
