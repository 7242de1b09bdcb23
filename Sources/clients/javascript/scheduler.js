/**
 * Returns the actions for an event by the table of all client libraries (`Tests/Clients/Cases/scheduler.json`). Without an
 * entry, nothing happens.
 *
 * @param {string} state
 * @param {string} event
 * @param {Record<string, any>} holds the true conditions
 * @returns {{state: string, actions: string[]}}
 */
export function next(state, event, { unsent, more, again, fresh }) {
  const isPulling = state === "pulling", isIdle = state === "idle", isWaiting = state === "waiting", needs = state.startsWith("needs");
  const cancel = isWaiting || needs ? ["cancelTimer"] : [], reset = "resetBackoff";
  const go = (to, ...actions) => ({ state: to, actions }), stay = (...actions) => go(state, ...actions);
  const begin = (isPush, ...actions) => {
    const [to, request] = isPush ? ["pushing", "push"] : ["pulling", "pull"];
    return go(to, ...actions, state === "needsAuth" && event !== "token" ? "askToken" : request);
  };
  const due = (...actions) => begin(unsent, ...actions);
  const rows = state === "closed" ? {} : isPulling || state === "pushing" ? {
    sync: stay("note"), news: stay("note"), online: stay(reset), offline: go("offline", "abort"), close: go("closed", "abort"),
    token: begin(!isPulling),
    lost: go("waiting", "schedule"), retry: go("waiting", "schedule"),
    unauthorized: fresh ? go("needsAuth", "scheduleLong") : stay("askToken"),
    upgrade: go("needsUpgrade", "scheduleLong"),
    [isPulling ? "resync" : event === "answer.history" ? "history" : "resync"]: again ? go("waiting", "resnapshot", "schedule") : begin(false, reset, "resnapshot"),
    rules: again ? go("waiting", "readRules", "schedule") : begin(!isPulling && unsent, reset, "readRules"),
    [isPulling ? "page" : "settled"]: unsent || more ? due(reset) : go("idle", reset, "keepUp"),
    ...(!isPulling && { tooLarge: stay("single", "push") }),
  } : {
    sync: due(...cancel), news: isIdle ? due() : stay("note"), online: due(...cancel, ...(needs ? [] : [reset])), close: go("closed", ...cancel),
    offline: needs ? stay() : go("offline", ...cancel),
    ...(cancel.length && { timer: due() }),
    ...((isIdle || isWaiting) && { edit: due(...cancel) }),
    ...(state === "needsAuth" && { token: due(...cancel) }),
  };
  return event === "kill" ? go("idle") : (rows[event.replace("answer.", "")] ?? stay());
}
