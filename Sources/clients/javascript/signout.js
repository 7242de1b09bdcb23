import { FieldMergeError } from "./errors.js";
import { report } from "./watching.js";

/** Milliseconds after which a deletion without an answer is left to the browser. */
const patience = 2000;

/** Loaded for a sign-out: decides on unsent edits, and deletes the store. */
export async function signOut(desk, local, { unsent = "refuse", signal } = {}) {
  if (unsent === "send") await desk.store.sync({ signal });
  // One transaction decides: an edit before it counts, and a later edit fails, in any tab.
  await local.write(async (work) => {
    // The gateway's journal contains refused pushes, but no unsent pushes.
    const left = work.meta.unsent + (await work.values("x")).filter((one) => one.isLocal).length;
    if (left && unsent !== "discard") throw new FieldMergeError("unsent", `${left} edits were not sent.`, { unsent: left });
    desk.left = await work.values("t");
    work.meta.isSignedOut = true;
  }).catch((error) => { if (!error.isSignedOut) throw error; }); // an earlier call was aborted after its decision
  await desk.leave();
}

/** Deletes the database of a browser. If another tab keeps it open, only the deletion of the empty database is delayed. */
export async function deleteDatabase({ name, begin, close, beside }) {
  const transaction = await begin(true), emptied = new Promise((resolve, reject) => {
    transaction.oncomplete = resolve;
    transaction.onabort = () => reject(transaction.error);
  });
  for (const store of ["records", "queue"]) transaction.objectStore(store).clear();
  await beside(name, null);
  await emptied;
  await close();
  const request = indexedDB.deleteDatabase(name);
  await new Promise((resolve, reject) => {
    request.onsuccess = resolve;
    request.onerror = () => reject(request.error);
    request.onblocked = () => {
      report(new FieldMergeError("blocked", `Another tab keeps “${name}” open. It is empty, and is deleted when that tab closes it.`));
      resolve();
    };
    setTimeout(resolve, patience);
  });
}
