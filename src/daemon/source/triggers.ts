import { createTask, type ScheduledTask } from 'node-cron';
import { messageOf } from '../../errors.js';
import { afterEachPause, type Time } from '../../platform/clock.js';
import type { Seen, Upstream } from '../upstream/upstream.js';
import type { Trigger } from '../view.js';

interface FollowerOptions {
  readonly time: Time;
  readonly intervalMs: number;
  /** Upper bound of the random time added to each interval. */
  readonly jitterMs: number;
  readonly addsKill: (before: string, after: string) => Promise<boolean>;
  readonly onChange: (trigger: Extract<Trigger, 'commit' | 'files' | 'kill'>) => void;
  readonly onPoll: (trouble: string | null) => void;
}

/** Polls one upstream at intervals and on request, and reports changes. */
export class Follower {
  readonly #upstream: Upstream;
  readonly #options: FollowerOptions;
  readonly #ending = new AbortController();
  /** Start of the last poll that succeeded, by this process's monotonic clock. */
  seenAtMs = -Infinity;
  seen: Seen | null = null;
  #polling: Promise<void> | null = null;
  #again: Promise<void> | null = null;
  #unfollow: (() => Promise<void>) | null = null;

  constructor(upstream: Upstream, options: FollowerOptions) {
    this.#upstream = upstream;
    this.#options = options;
  }

  start(): void {
    this.#unfollow = this.#upstream.follow(() => void this.poll());
    const { time, intervalMs, jitterMs } = this.#options;
    const until = { time, signal: this.#ending.signal };
    void afterEachPause(
      () => intervalMs + time.random() * jitterMs,
      until,
      async () => this.poll(),
    );
  }

  /** Resolves after a poll that began after this call. Never rejects. Simultaneous calls share at most two polls. */
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

  end(): void {
    this.#ending.abort();
  }

  async close(): Promise<void> {
    this.end();
    await this.#unfollow?.();
    await this.#polling;
  }

  async #once(): Promise<void> {
    const { onPoll, onChange } = this.#options;
    try {
      const before = this.seen;
      const beganAtMs = performance.now();
      const seen = await this.#upstream.poll(this.#ending.signal);
      this.seen = seen;
      this.seenAtMs = beganAtMs;
      onPoll(null);
      // The daemon's start causes a run anyway, so the first poll reports no change.
      const news = before && (await this.#change(before, seen));
      if (news) onChange(news);
    } catch (error) {
      if (!this.#ending.signal.aborted) onPoll(messageOf(error));
    }
  }

  async #change(before: Seen, now: Seen): Promise<'commit' | 'files' | 'kill' | null> {
    const [old, young] = [before.commit?.commit, now.commit?.commit];
    if (old !== undefined && young !== undefined && old !== young) {
      // Commits that cannot be compared are ordinary ones: their run still sends kills first.
      const isKill = await this.#options.addsKill(old, young).catch(() => false);
      return isKill ? 'kill' : 'commit';
    }
    if (old !== young) return 'commit';
    return before.localFiles === now.localFiles ? null : 'files';
  }
}

/** Whether a text is a schedule: the five fields of cron, or six with seconds first. */
export { validate as isSchedule } from 'node-cron';

/** Longest sleep before another look at the wall clock. */
const MAX_WAIT_MS = 600_000;

/** Strikes at the times of a schedule by the wall clock, even if that clock is set meanwhile; late, and once. */
export class Schedule {
  /** For its times alone: its own timer waits for the time that it once computed, by whatever clock. */
  readonly #task: ScheduledTask;
  #at: number;

  constructor(fields: string, until: Parameters<typeof afterEachPause>[1], strike: () => void) {
    this.#task = createTask(fields, () => undefined);
    this.#at = this.#following();
    const pauseMs = (): number => Math.min(Math.max(0, this.#at - Date.now()), MAX_WAIT_MS);
    void afterEachPause(pauseMs, until, () => {
      const isDue = this.#at <= Date.now();
      // Computed anew also where nothing is due: a clock that was set back has earlier times ahead of it.
      this.#at = this.#following();
      if (isDue) strike();
    });
  }

  /** By the clock of now, which may have been set since the last look at it. */
  get next(): string {
    return new Date(this.#following()).toISOString();
  }

  #following(): number {
    return this.#task.getNextRuns(1)[0]?.getTime() ?? Infinity;
  }
}

/** Calls `onTime` once at a time of the wall clock, even if that clock is set meanwhile. */
export class Alarm {
  readonly #time: Time;
  readonly #ending: AbortSignal;
  readonly #onTime: () => void;
  #at: number | null = null;
  #waiting = new AbortController();

  constructor(time: Time, ending: AbortSignal, onTime: () => void) {
    this.#time = time;
    this.#ending = ending;
    this.#onTime = onTime;
  }

  get at(): number | null {
    return this.#at;
  }

  set at(moment: number | null) {
    this.#at = moment;
    this.#waiting.abort();
    this.#waiting = new AbortController();
    const time = this.#time;
    const signal = AbortSignal.any([this.#waiting.signal, this.#ending]);
    const pauseMs = (): number | null =>
      this.#at === null ? null : Math.min(Math.max(0, this.#at - time.now()), MAX_WAIT_MS);
    void afterEachPause(pauseMs, { time, signal }, () => {
      this.check();
    });
  }

  check(): void {
    if (this.#at === null || this.#at > this.#time.now()) return;
    this.#at = null;
    this.#onTime();
  }
}
