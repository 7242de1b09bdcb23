import { uuid } from "./values.js";

const beat = 5000;

/**
 * Lets one of the tabs that share a store push and pull.
 *
 * The one that does holds a Web Lock and writes another text into the store every five seconds. Where the text stays the
 * same for three beats its tab is frozen, and another takes the lock from it. Beats are counted, not timed: a clock that
 * is set does not matter. Should two push at once all the same, nothing is doubled: the keys are the same.
 *
 * Loaded with the first `start` of a store that tabs share.
 *
 * @param {{isLeading: boolean, stop: () => void}} leader
 * @param {string} name of the store
 * @param {import("./local.js").Local} local
 * @param {(isLeading: boolean) => void} changed
 */
export function elect(leader, name, local, clock, changed) {
  const { locks } = globalThis.navigator ?? {};
  let unchanged = 0, isOver = false, timer, last, release, waiting;

  /** Writes the next beat. */
  async function strike() {
    const next = uuid();
    await local.write((work) => work.tx.put("meta", "beat", next));
    last = next;
  }

  /** Waits in line for the lock; one request is enough, also behind a lock that was taken. */
  function wait() {
    if (!locks || waiting || isOver) return;
    waiting = new AbortController();
    hold({ signal: waiting.signal }, () => { waiting = null; });
  }

  function hold(options, granted) {
    locks.request(`${name}:push`, options, () => {
      granted?.();
      if (!isOver) return new Promise((resolve) => {
        release = resolve;
        void lead();
      });
    }).catch(() => { if (!isOver) giveWay(); });
  }

  async function lead() {
    await strike().catch(() => {});
    if (leader.isLeading || isOver) return;
    leader.isLeading = true;
    changed(true);
  }

  /** Somebody took the lock: this tab was frozen. */
  function giveWay() {
    release = null;
    if (leader.isLeading) {
      leader.isLeading = false;
      changed(false);
    }
    unchanged = 0;
    wait();
  }

  async function look() {
    try {
      const found = await local.read((work) => work.tx.get("meta", "beat"));
      if (leader.isLeading) {
        if (found && found !== last) {
          release?.();
          giveWay();
        } else await strike();
      } else if (found && found !== last) {
        [last, unchanged] = [found, 0];
      } else if (++unchanged >= 3 || (!found && !locks)) {
        unchanged = 0;
        if (locks) hold({ steal: true });
        else await lead();
      }
    } catch { /* the store cannot be read now; the next beat tries again */ }
    if (!isOver) timer = clock.setTimeout(() => void look(), beat);
  }

  function stop() {
    isOver = true;
    clock.clearTimeout(timer);
    waiting?.abort();
    release?.();
    leader.isLeading = false;
  }

  leader.stop = stop;
  wait();
  void look();
}
