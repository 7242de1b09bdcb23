import { FieldMergeError } from "./errors.js";
import { report } from "./watching.js";

/** Milliseconds after which a deletion that gets no answer is left to the browser. */
const patience = 2000;

/** Loaded for a sign-out: decides what becomes of unsent edits, and deletes the store. */
export async function signOut(desk, local, { unsent = "refuse", signal } = {}) {
  if (unsent === "send") await desk.store.sync({ signal });
  // One transaction decides: an edit is stored before it and counts, or it comes after it and fails, in any tab.
  await local.write(async (work) => {
    // A push that the gateway refused is in its journal; one that never got there is nowhere else.
    const left = work.meta.unsent + (await work.values("x")).filter((one) => one.isLocal).length;
    if (left && unsent !== "discard") throw new FieldMergeError("unsent", `${left} edits were not sent.`, { unsent: left });
    desk.left = await work.values("t");
    work.meta.isSignedOut = true;
  }).catch((error) => { if (!error.isSignedOut) throw error; }); // an earlier call was broken off behind its decision
  await desk.leave();
}

/** Deletes the database of a browser. Another tab that keeps it open delays only the deletion of what is empty then. */
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
