/**
 * The table that every client library shares (`Tests/ClientCases/scheduler.json`), and the machine that asks it.
 *
 * A row is `[state, actions, conditions]`; where the table says nothing, nothing happens.
 */
const due = (...actions) => [["pushing", [...actions, "push"], ["unsent"]], ["pulling", [...actions, "pull"]]];
const rest = [["pushing", ["resetBackoff", "push"], ["unsent"]], ["pulling", ["resetBackoff", "pull"], ["more"]], ["idle", ["resetBackoff", "keepUp"]]];
const renew = (...actions) => [["pushing", [...actions, "askToken"], ["unsent"]], ["pulling", [...actions, "askToken"]]];
const stay = (state, ...actions) => [[state, actions]];

function active(state, go, own) {
  return {
    sync: stay(state, "note"), news: stay(state, "note"), online: stay(state, "resetBackoff"), offline: stay("offline", "abort"),
    token: stay(state, go), close: stay("closed", "abort"), kill: stay("idle"),
    "answer.lost": stay("waiting", "schedule"), "answer.retry": stay("waiting", "schedule"),
    "answer.unauthorized": [["needsAuth", ["scheduleLong"], ["fresh"]], [state, ["askToken"]]],
    "answer.upgrade": stay("needsUpgrade", "scheduleLong"),
    "answer.resync": [["waiting", ["resnapshot", "schedule"], ["again"]], ["pulling", ["resetBackoff", "resnapshot", "pull"]]],
    ...own,
  };
}

const ended = { close: stay("closed", "cancelTimer"), kill: stay("idle") };
const again = ["waiting", ["readRules", "schedule"], ["again"]];

export const table = {
  idle: { edit: stay("pushing", "push"), sync: due(), news: due(), online: due("resetBackoff"), offline: stay("offline"), close: stay("closed"), kill: stay("idle") },
  pulling: active("pulling", "pull", { "answer.page": rest, "answer.rules": [again, ["pulling", ["resetBackoff", "readRules", "pull"]]] }),
  pushing: active("pushing", "push", {
    "answer.settled": rest, "answer.tooLarge": stay("pushing", "single", "push"),
    "answer.rules": [again, ...due("resetBackoff", "readRules")],
  }),
  waiting: {
    ...ended, edit: due("cancelTimer"), sync: due("cancelTimer"), timer: due(), online: due("cancelTimer", "resetBackoff"),
    news: stay("waiting", "note"), offline: stay("offline", "cancelTimer"),
  },
  offline: { online: due("resetBackoff"), sync: due(), news: stay("offline", "note"), close: stay("closed"), kill: stay("idle") },
  needsAuth: { ...ended, sync: renew("cancelTimer"), online: renew("cancelTimer"), timer: renew(), token: due("cancelTimer"), news: stay("needsAuth", "note") },
  needsUpgrade: { ...ended, sync: due("cancelTimer"), online: due("cancelTimer"), timer: due(), news: stay("needsUpgrade", "note") },
  closed: { kill: stay("idle") },
};

/**
 * Returns what follows from an event.
 *
 * @param {string} state
 * @param {string} event
 * @param {Record<string, boolean>} holds the conditions that hold
 * @returns {{state: string, actions: string[]}}
 */
export function next(state, event, holds) {
  const rows = table[state][event] ?? [[state, []]];
  const [to, actions] = rows.find(([, , when = []]) => when.every((condition) => holds[condition]));
  return { state: to, actions };
}
