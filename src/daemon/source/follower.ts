import type { Time } from '../../platform/clock.js';
import { messageOf } from '../../errors.js';
import type { Seen, Upstream } from '../upstream/upstream.js';
import type { Trigger } from '../view.js';

export interface FollowerOptions {
  readonly time: Time;
  /** Between two looks by the clock. */
  readonly intervalMs: number;
  /** Added to each interval, up to so much, by chance. */
  readonly jitterMs: number;
  readonly onChange: (trigger: Extract<Trigger, 'commit' | 'files' | 'kill'>) => void;
  /** After each look. `trouble`: why it failed; null: it did not. */
  readonly onPoll: (trouble: string | null) => void;
}

/** Keeps an eye on one upstream: by the clock, and when somebody says that it may be worth it. */
export class Follower {
  readonly #upstream: Upstream;
  readonly #options: FollowerOptions;
  readonly #ending = new AbortController();
  #seen: Seen | null = null;
  #seenAtMs = -Infinity;
  #polling: Promise<void> | null = null;
  #again: Promise<void> | null = null;
  #unfollow: (() => Promise<void>) | null = null;

  constructor(upstream: Upstream, options: FollowerOptions) {
    this.#upstream = upstream;
    this.#options = options;
  }

  /** What the last look that succeeded has seen. */
  get seen(): Seen | null {
    return this.#seen;
  }

  /** When that look began, by this process's steady clock. */
  get seenAtMs(): number {
    return this.#seenAtMs;
  }

  start(): void {
    this.#unfollow = this.#upstream.follow(() => void this.poll());
    void this.#pollByTheClock();
  }

  /** Resolves when a look that began after this call is over. Never rejects; many calls at once are two looks at most. */
  async poll(): Promise<void> {
    if (this.#ending.signal.aborted) return;
    if (this.#polling === null) {
      this.#polling = this.#once().finally(() => {
        this.#polling = null;
      });
      return this.#polling;
    }
    this.#again ??= this.#polling.then(async () => {
      this.#again = null;
      return this.poll();
    });
    return this.#again;
  }

  /** Gives up what may take long. Looks are over from now on, and nothing is told any more. */
  end(): void {
    this.#ending.abort();
  }

  /** Resolves when a look under way has ended. */
  async close(): Promise<void> {
    this.end();
    await this.#unfollow?.();
    await this.#polling;
  }

  async #pollByTheClock(): Promise<void> {
    const { time, intervalMs, jitterMs } = this.#options;
    const { signal } = this.#ending;
    for (;;) {
      try {
        await time.sleep(intervalMs + time.random() * jitterMs, signal);
      } catch {
        return;
      }
      await this.poll();
    }
  }

  async #once(): Promise<void> {
    const { onPoll, onChange } = this.#options;
    try {
      const before = this.#seen;
      const beganAtMs = performance.now();
      const seen = await this.#upstream.poll(this.#ending.signal);
      this.#seen = seen;
      this.#seenAtMs = beganAtMs;
      onPoll(null);
      // The first look is the start's own.
      const news = before && (await this.#change(before, seen));
      if (news) onChange(news);
    } catch (error) {
      if (!this.#ending.signal.aborted) onPoll(messageOf(error));
    }
  }

  async #change(before: Seen, now: Seen): Promise<'commit' | 'files' | 'kill' | null> {
    const [old, young] = [before.commit?.commit, now.commit?.commit];
    if (old !== undefined && young !== undefined && old !== young) {
      return (await this.#addsKill(old, young)) ? 'kill' : 'commit';
    }
    if (old !== young) return 'commit';
    return before.localFiles === now.localFiles ? null : 'files';
  }

  /** What cannot be compared is an ordinary commit: its kills come first in its run all the same. */
  async #addsKill(before: string, after: string): Promise<boolean> {
    try {
      return await this.#upstream.addsKill(before, after);
    } catch {
      return false;
    }
  }
}
