import { randomUUID } from "node:crypto";
import { readFileSync, readlinkSync, rmSync, unlinkSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { FieldMergeError } from "./errors.js";

/** Milliseconds between two beats of a lock, and how many may fail before it counts as abandoned. */
const beat = 1000, patience = 8;

const opened = new Set();

/** The machine and the process namespace, within which a process id is unique. */
const place = (() => {
  try { return `${hostname()}/${readlinkSync("/proc/self/ns/pid")}`; } catch { return `${hostname()}/${process.platform}`; }
})();

/**
 * Acquires the lock of a file: a second file, in which a random owner counts beats. A lock is taken over if its process has
 * ended or its beats have stopped.
 *
 * @param {string} file
 * @returns {Promise<{check: () => void, release: () => void}>} `check` throws if the lock was taken over meanwhile
 * @throws {FieldMergeError} `in-use`
 */
export async function lock(file) {
  const path = `${file}.lock`, owner = randomUUID(), inUse = new FieldMergeError("in-use", `${file} is open elsewhere.`);
  let count = 0, timer;
  if (opened.has(file)) throw inUse;
  opened.add(file);
  const text = () => `${owner} ${process.pid} ${count++} ${place}`;
  try {
    await acquire(path, text, inUse);
  } catch (error) {
    opened.delete(file);
    throw error;
  }
  const check = () => {
    const found = read(path);
    if (found !== null && !found.startsWith(owner)) throw inUse;
  };
  timer = setInterval(() => { try { check(); writeFileSync(path, text()); } catch { /* the next transaction finds out */ } }, beat);
  timer.unref();
  return {
    check,
    release() {
      clearInterval(timer);
      if (opened.delete(file) && read(path)?.startsWith(owner)) rmSync(path, { force: true });
    },
  };
}

/** Creates the lock, after removing the lock of a dead owner. */
async function acquire(path, text, inUse) {
  for (let seen = null, same = 0; ;) {
    try { return writeFileSync(path, text(), { flag: "wx" }); } catch (error) { if (error.code !== "EEXIST") throw error; }
    const found = read(path);
    if (found === null) continue;
    if (seen !== null && found !== seen) throw inUse;
    same = found === seen ? same + 1 : 0;
    seen = found;
    if (isGone(found, inUse) || same >= patience) {
      if (read(path) === found) try { unlinkSync(path); } catch { /* another process was faster */ }
      seen = null;
    } else await new Promise((resolve) => setTimeout(resolve, beat * 1.2));
  }
}

/** Returns whether the process of a lock has certainly ended. A lock of an earlier version has a process id and no beats. */
function isGone(text, inUse) {
  const [first, id, , ...at] = text.split(" "), isOld = /^\d+$/.test(text);
  if (!isOld && at.join(" ") !== place) return false;
  const isRunning = isAlive(Number(isOld ? first : id));
  if (isOld && isRunning && Number(first) !== process.pid) throw inUse;
  return !isRunning || isOld;
}

function read(path) {
  try { return readFileSync(path, "utf8"); } catch { return null; }
}

function isAlive(id) {
  try {
    return id > 0 && process.kill(id, 0);
  } catch (error) {
    return error.code === "EPERM";
  }
}
