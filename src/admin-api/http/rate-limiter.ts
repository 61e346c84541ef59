import { DEFAULT_CONCURRENCY } from '../../model/run.js';
import type { Time } from '../../platform/clock.js';
import { MAX_ASKED_MS } from './retry.js';

/** `kill` goes before everything, has places of its own, and is held back by no pause. */
export type Lane = 'normal' | 'kill';

export interface LimiterOptions {
  readonly time: Time;
  /** Requests under way at once, at most. */
  readonly maxConcurrent?: number;
  /** Called once for each pause that makes requests wait. */
  readonly onPause?: (pause: { waitMs: number; waiting: number }) => void;
}

/** What an answer says about the pace. */
export interface Pace {
  /** Turned away: 429, or one of its disguises (503, a challenge). */
  readonly throttled: boolean;
  readonly askedWaitMs?: number | undefined;
  /** Requests left before the next reset: the smaller of what the headers say. */
  readonly remaining?: number | undefined;
}

interface Turn {
  readonly signal?: AbortSignal | undefined;
  readonly isAgain?: boolean;
}

interface Waiting {
  readonly start: () => void;
  readonly refuse: (error: PauseTooLong) => void;
}

/** The service asked for a longer pause than a request is tried for. Nothing was sent. */
export class PauseTooLong extends Error {
  /** What is left of the pause. */
  readonly waitMs: number;

  constructor(waitMs: number) {
    super(`the service asked for a pause, of which ${Math.ceil(waitMs / 1_000)} s are left`);
    this.name = 'PauseTooLong';
    this.waitMs = waitMs;
  }
}

const KILL_PLACES = 4;
/** Requests of each window that are left to the kills, of this process and of others. */
const RESERVE = 1;
/** While the service turns a kill away, nothing else is sent: the kill comes again within this time. */
const KILL_HOLD_MS = 1_000;
const FIRST_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 30_000;

/**
 * Holds the pace of one credential: reads and writes of all its clients share it, because the service counts them
 * together. First come, first served, and what was turned away goes first when it comes again. Concurrency is halved
 * by each throttle and grows by one per full round of answers. A refusal that names no time is waited out in longer and longer
 * pauses; the first one that ends tells the limit, and from then on requests are spread evenly, one of each window left to the
 * kills, see `Spacing`.
 */
export class RequestLimiter {
  readonly #time: Time;
  readonly #max: number;
  readonly #onPause: LimiterOptions['onPause'];
  readonly #queues: Record<Lane, Waiting[]> = { normal: [], kill: [] };
  readonly #running: Record<Lane, number> = { normal: 0, kill: 0 };
  #allowed: number;
  #pausedUntil = 0;
  #throttles = 0;
  readonly #spacing = new Spacing();
  #sleeping: AbortController | undefined;

  constructor(options: LimiterOptions) {
    this.#time = options.time;
    this.#max = Math.max(1, options.maxConcurrent ?? DEFAULT_CONCURRENCY);
    this.#onPause = options.onPause;
    this.#allowed = this.#max;
  }

  /**
   * Runs the task as soon as it is its turn.
   *
   * @throws PauseTooLong: its turn would come after more than five minutes. To wait for that would be to hang.
   * @param signal ends the waiting, never the task; rejects with its reason.
   * @param isAgain it was sent before: at the end of a long queue it would wait longer than it is tried for.
   */
  async run<T>(
    lane: Lane,
    task: () => Promise<T>,
    { signal, isAgain = false }: Turn = {},
  ): Promise<T> {
    await this.#acquire(lane, isAgain, signal);
    try {
      return await task();
    } finally {
      this.#running[lane] -= 1;
      this.#pump();
    }
  }

  /** Learns from an answer; to be called with each one. */
  note(pace: Pace, lane: Lane = 'normal'): void {
    if (lane === 'kill') {
      if (pace.throttled) this.#pauseFor(KILL_HOLD_MS);
    } else if (pace.throttled) this.#slowDown(pace.askedWaitMs);
    else this.#goOn(pace);
  }

  #goOn({ remaining, askedWaitMs }: Pace): void {
    const now = this.#time.now();
    this.#throttles = 0;
    this.#spacing.admitted(now, now < this.#pausedUntil);
    this.#allowed = Math.min(this.#max, this.#allowed + 1 / this.#allowed);
    // Requests that are spread leave the reserve by themselves, until others take it.
    const isSpent = remaining !== undefined && remaining < (this.#spacing.isOn ? 1 : 1 + RESERVE);
    if (!isSpent || askedWaitMs === undefined) return;
    if (!this.#spacing.isOn) this.#spacing.refused(now, remaining);
    this.#pauseFor(askedWaitMs);
  }

  #slowDown(askedWaitMs: number | undefined): void {
    const now = this.#time.now();
    // Answers to requests that were under way together are one throttle, not many.
    if (!this.#spacing.isOn && now >= this.#pausedUntil) {
      this.#throttles += 1;
      this.#allowed = Math.max(1, this.#allowed / 2);
    }
    const ownMs = this.#spacing.refused(now);
    const blindMs = Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (this.#throttles - 1));
    this.#pauseFor(askedWaitMs ?? ownMs ?? blindMs);
  }

  #pauseFor(waitMs: number): void {
    this.#pausedUntil = Math.max(this.#pausedUntil, this.#time.now() + waitMs);
  }

  async #acquire(lane: Lane, isAgain: boolean, signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted();
    await new Promise<void>((resolve, reject) => {
      const waiting: Waiting = {
        start: () => {
          signal?.removeEventListener('abort', leave);
          this.#running[lane] += 1;
          resolve();
        },
        refuse: (error) => {
          signal?.removeEventListener('abort', leave);
          reject(error);
        },
      };
      const leave = (): void => {
        this.#queues[lane] = this.#queues[lane].filter((each) => each !== waiting);
        // Nobody waits any more: the timer would only keep the process alive.
        if (this.#queues.normal.length === 0) this.#sleeping?.abort();
        reject(signal?.reason as Error);
      };
      signal?.addEventListener('abort', leave, { once: true });
      if (isAgain) this.#queues[lane].unshift(waiting);
      else this.#queues[lane].push(waiting);
      this.#pump();
    });
  }

  #pump(): void {
    while (this.#running.kill < KILL_PLACES && this.#queues.kill.length > 0) {
      this.#queues.kill.shift()?.start();
    }
    const pauseMs = this.#pausedUntil - this.#time.now();
    if (pauseMs > MAX_ASKED_MS) {
      for (const { refuse } of this.#queues.normal.splice(0)) refuse(new PauseTooLong(pauseMs));
      return;
    }
    if (pauseMs > 0) {
      this.#sleep(pauseMs, this.#onPause);
      return;
    }
    while (this.#running.normal < Math.floor(this.#allowed) && this.#queues.normal.length > 0) {
      const waitMs = this.#spacing.waitMs(this.#time.now());
      if (waitMs > 0) {
        this.#sleep(waitMs);
        return;
      }
      this.#spacing.started(this.#time.now());
      this.#queues.normal.shift()?.start();
    }
  }

  #sleep(ms: number, onPause?: LimiterOptions['onPause']): void {
    if (this.#sleeping !== undefined || this.#queues.normal.length === 0) return;
    const sleeping = new AbortController();
    this.#sleeping = sleeping;
    onPause?.({ waitMs: ms, waiting: this.#queues.normal.length });
    const wake = (): void => {
      this.#sleeping = undefined;
      this.#pump();
    };
    this.#time.sleep(ms, sleeping.signal).then(wake, wake);
  }
}

/** The smaller of the two counts of requests that the service says are left; `undefined` where it says nothing. */
export function remainingRequests(headers: Readonly<Record<string, string>>): number | undefined {
  const counts = ['x-ratelimit-remaining-org', 'x-ratelimit-remaining-ip']
    .map((name) => headers[name])
    .filter((text) => text !== undefined && /^\d+$/.test(text))
    .map(Number);
  return counts.length === 0 ? undefined : Math.min(...counts);
}

/** The first wait after a refusal that names no time, and the share of the time since the first request after that. */
const FIRST_PROBE = { ms: 1_000, share: 1 / 8 };
/** Admitted requests that are older say nothing about the limit. */
const LONGEST_WINDOW_MS = 60_000;
/** A refusal makes the requests rarer by this share: one request of 20 stays unspent. */
const BACK_OFF = 0.05;
/** Each period without a refusal makes the requests more frequent, at first by this share, then by twice as much each time. */
const GROWTH = 0.01;
const LEAST_PERIOD_MS = 5_000;
/** A service that seems to admit less is not well, and recovers. */
const MAX_INTERVAL_MS = 10_000;
/** After an idle period this share of a period's requests goes out at once. */
const AT_ONCE = 0.25;
/** After this many refusals in a row the limit is another one, and is measured anew. */
const MAX_REFUSALS = 12;

/**
 * The distance between requests to a service that limits them.
 *
 * Nothing is known before the first refusal, and nothing is held back. The number of requests admitted until then, and the time
 * until a request is admitted again, give a rate. From then on requests are spread evenly at a little less than that rate, so that
 * at every moment the service admits one more: a kill, of this process or another. The rate follows the service and
 * other processes: down with each refusal, up while there is none.
 */
class Spacing {
  /** When the first of the counted requests was admitted; undefined: none was. */
  #firstAt: number | undefined;
  #admitted = 0;
  #isRefused = false;
  /** Between two requests; 0: the limit is not known. */
  #intervalMs = 0;
  #periodMs = 0;
  #growth = GROWTH;
  #growAt = 0;
  #nextAt = 0;
  #refusals = 0;
  /** The last requests that went out at once after an idle period, and when they began. */
  #burst = { size: 0, left: 0, at: -Infinity };

  get isOn(): boolean {
    return this.#intervalMs > 0;
  }

  /** @param isLate the request was sent before the pause under way: its answer does not say that the pause may end. */
  admitted(now: number, isLate: boolean): void {
    this.#refusals = 0;
    if (this.isOn) {
      if (now < this.#growAt) return;
      this.#intervalMs /= 1 + this.#growth;
      this.#growth *= 2;
      this.#growAt = now + this.#periodMs;
      return;
    }
    const ageMs = now - (this.#firstAt ?? -Infinity);
    if (this.#isRefused && !isLate && this.#firstAt !== undefined) {
      this.#begin(now, ageMs);
      return;
    }
    if (ageMs > LONGEST_WINDOW_MS && !isLate) {
      this.#firstAt = now;
      this.#admitted = 0;
      this.#isRefused = false;
    }
    this.#admitted += 1;
  }

  /**
   * @param left requests that the service would still have admitted.
   * @returns how long to wait, in milliseconds; undefined: nothing was admitted yet that could tell.
   */
  refused(now: number, left = 0): number | undefined {
    if (this.isOn) return this.#slowDown(now);
    this.#isRefused = true;
    this.#admitted += left;
    if (this.#firstAt === undefined) return undefined;
    return Math.max(FIRST_PROBE.ms, (now - this.#firstAt) * FIRST_PROBE.share);
  }

  /** Until the next request may start, in milliseconds. */
  waitMs(now: number): number {
    return this.isOn ? Math.max(0, this.#nextAt - now) : 0;
  }

  started(now: number): void {
    if (!this.isOn) return;
    if (now - this.#nextAt > this.#periodMs) {
      const size = Math.floor((AT_ONCE * this.#periodMs) / this.#intervalMs);
      this.#burst = { size, left: size, at: now };
    }
    if (this.#burst.left > 0) {
      this.#burst.left -= 1;
      this.#nextAt = now;
      return;
    }
    const ms = this.#currentMs(now);
    // A request that started late is caught up with, but never by two at once.
    this.#nextAt = Math.max(this.#nextAt + ms, now + ms / 2);
  }

  /** The requests that went out at once are missing from the rest of their period. */
  #currentMs(now: number): number {
    if (now - this.#burst.at > this.#periodMs) return this.#intervalMs;
    return this.#periodMs / (this.#periodMs / this.#intervalMs - this.#burst.size);
  }

  #begin(now: number, ageMs: number): void {
    const spent = Math.max(this.#admitted - RESERVE, this.#admitted / 2);
    this.#intervalMs = Math.min(MAX_INTERVAL_MS, ageMs / spent);
    this.#periodMs = Math.max(LEAST_PERIOD_MS, ageMs);
    this.#nextAt = now + this.#intervalMs;
    this.#growth = GROWTH;
    this.#growAt = now + this.#periodMs;
  }

  #slowDown(now: number): number {
    const waitMs = this.#intervalMs;
    this.#intervalMs = Math.min(MAX_INTERVAL_MS, waitMs * (1 + BACK_OFF));
    this.#growth = GROWTH;
    this.#growAt = now + this.#periodMs;
    this.#refusals += 1;
    if (this.#refusals > MAX_REFUSALS) {
      this.#intervalMs = 0;
      this.#firstAt = undefined;
      this.#admitted = 0;
      this.#isRefused = false;
      this.#refusals = 0;
    }
    return waitMs;
  }
}
