import { FieldMergeError } from "./errors.js";

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
