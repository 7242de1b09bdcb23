import { uuid } from "./values.js";

const beat = 5000, missed = 3;
const locks = () => globalThis.navigator?.locks;

/**
 * Lets one of the tabs that share a store push and pull.
 *
 * The one that does holds a Web Lock and counts up a number in the store every five seconds. Where the number stands
 * still for three beats its tab is frozen, and another takes the lock from it. Beats are counted, not timed: a clock that
 * is set does not matter. Should two push at once all the same, nothing is doubled: the keys are the same.
 */
export class Leader {
  isLeading = false;
  #name; #beats; #clock; #changed;
  #tab = uuid();
  #unchanged = 0;
  #timer; #last; #release; #isOver; #waiting;

  /**
   * @param {string} name of the store
   * @param {{read: () => Promise<any>, write: (beat: any) => Promise<void>}} beats where they are kept
   * @param {(isLeading: boolean) => void} changed
   */
  constructor(name, beats, clock, changed) {
    this.#name = `${name}:push`;
    this.#beats = beats;
    this.#clock = clock;
    this.#changed = changed;
  }

  start() {
    if (locks()) this.#wait();
    void this.#look();
  }

  /** Waits in line for the lock; one request is enough, also behind a lock that was taken. */
  #wait() {
    if (this.#waiting || this.#isOver) return;
    const waiting = (this.#waiting = new AbortController());
    this.#hold({ signal: waiting.signal }, () => { this.#waiting = null; });
  }

  #hold(options, granted) {
    locks().request(this.#name, options, () => {
      granted?.();
      if (this.#isOver) return;
      return new Promise((resolve) => {
        this.#release = resolve;
        void this.#lead();
      });
    }).catch(() => { if (!this.#isOver) this.#yield(); });
  }

  async #lead() {
    this.#last = { tab: this.#tab, count: 0 };
    await this.#beats.write(this.#last).catch(() => {});
    if (this.isLeading || this.#isOver) return;
    this.isLeading = true;
    this.#changed(true);
  }

  /** Somebody took the lock: this tab was frozen. */
  #yield() {
    this.#release = null;
    if (this.isLeading) {
      this.isLeading = false;
      this.#changed(false);
    }
    this.#unchanged = 0;
    if (locks()) this.#wait();
  }

  async #look() {
    if (this.#isOver) return;
    try {
      const found = await this.#beats.read();
      if (this.isLeading) {
        if (found && found.tab !== this.#tab) {
          this.#release?.();
          this.#yield();
        } else await this.#beats.write((this.#last = { tab: this.#tab, count: this.#last.count + 1 }));
      } else if (found && (found.tab !== this.#last?.tab || found.count !== this.#last?.count)) {
        [this.#last, this.#unchanged] = [found, 0];
      } else if (++this.#unchanged >= missed || (!found && !locks())) {
        this.#unchanged = 0;
        if (locks()) this.#hold({ steal: true });
        else await this.#lead();
      }
    } catch { /* the store cannot be read now; the next beat tries again */ }
    if (!this.#isOver) this.#timer = this.#clock.setTimeout(() => void this.#look(), beat);
  }

  stop() {
    this.#isOver = true;
    this.#clock.clearTimeout(this.#timer);
    this.#waiting?.abort();
    this.#release?.();
    this.isLeading = false;
  }
}
