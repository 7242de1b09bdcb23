import { uuid } from "./values.js";

const beat = 5000;

/**
 * Selects one tab of a store that pushes and pulls.
 *
 * The leading tab has a Web Lock and writes another text into the store every five seconds, a beat. If the text does not
 * change for three beats, its tab is frozen, and another tab steals the lock. Beats are counted, not timed, so that changes
 * of the clock have no effect. If two tabs push at once nevertheless, equal keys prevent duplicates.
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

  /** Waits for the lock; one request is enough, also after a lock was stolen. */
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
