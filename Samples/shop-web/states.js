/** Does what the end of the store, as another window signs out, may break off: then there is nothing left to show. */
export async function whileOpen(body) {
  try {
    await body();
  } catch (error) {
    if (error.code !== "closed") throw error;
  }
}

const apart = ["waiting", "offline", "needsAuth", "needsUpgrade"];

/**
 * What becomes of a part of a record, as `store.state` tells it; but “unsure” for what was sent, or was about to be, when the
 * network went away: whether the shop has it is known once there is an answer.
 */
export async function stateOf(store, ...place) {
  const state = await store.state(...place);
  return state === "sending" && apart.includes(store.status.phase) ? "unsure" : state;
}
