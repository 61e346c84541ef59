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
  readonly isWrite?: boolean;
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
/** Left to the kills when the service tells how many requests remain. */
const RESERVE = 1;
const FIRST_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 30_000;

/**
 * Holds the pace of one credential: reads and writes of all its clients share it, because the service counts them
 * together. First come, first served, and what was turned away goes first when it comes again. Concurrency is halved
 * by each throttle and grows by one per full round of answers; what no answer explains is paused for longer and longer
 * until the service's window is known. From then on a run that writes spreads its requests over the window, and leaves
 * one of each window to others: a kill that another process sends would otherwise wait for the end of a burst.
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
  readonly #window = new WindowGuess();
  readonly #spread = new Spread();
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
   * @param isWrite runs that write last long, and spread their requests; those that only read are sooner done without.
   */
  async run<T>(
    lane: Lane,
    task: () => Promise<T>,
    { signal, isAgain = false, isWrite = false }: Turn = {},
  ): Promise<T> {
    await this.#acquire(lane, isAgain, signal);
    if (isWrite) this.#spread.wrote(this.#time.now());
    try {
      return await task();
    } finally {
      this.#running[lane] -= 1;
      this.#pump();
    }
  }

  /** To be told of every answer. */
  note(pace: Pace): void {
    if (pace.throttled) this.#slowDown(pace.askedWaitMs);
    else {
      this.#throttles = 0;
      this.#admitted(this.#time.now());
      this.#allowed = Math.min(this.#max, this.#allowed + 1 / this.#allowed);
      const isSpent = pace.remaining !== undefined && pace.remaining <= RESERVE;
      if (isSpent && pace.askedWaitMs !== undefined) this.#pauseFor(pace.askedWaitMs);
    }
  }

  #admitted(now: number): void {
    if (this.#spread.admitted(now)) return;
    // Answers that come during a pause are to requests from before it.
    if (now < this.#pausedUntil) this.#window.admittedBefore();
    else if (this.#window.admitted(now)) this.#spread.begin(now, this.#window.quota());
  }

  #slowDown(askedWaitMs: number | undefined): void {
    const now = this.#time.now();
    const spreadMs = this.#spread.refused(now);
    if (spreadMs !== undefined) {
      this.#pauseFor(askedWaitMs ?? spreadMs);
      return;
    }
    const isNewPause = now >= this.#pausedUntil;
    // Answers to requests that were under way together are one throttle, not many.
    if (isNewPause) {
      this.#throttles += 1;
      this.#allowed = Math.max(1, this.#allowed / 2);
    }
    this.#window.refused(now);
    const blindMs = Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (this.#throttles - 1));
    this.#pauseFor(askedWaitMs ?? this.#window.waitMs(now) ?? blindMs);
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
      const waitMs = this.#spread.waitMs(this.#time.now());
      if (waitMs > 0) {
        this.#sleep(waitMs);
        return;
      }
      this.#spread.started(this.#time.now());
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

/** A window that is known to this part of itself, or to so many milliseconds, is known well enough. */
const PRECISION = 0.02;
const PRECISION_MS = 200;
const FIRST_PROBE_MS = 1_000;
/** What went on for longer without a refusal says nothing of a window. */
const LONGEST_WINDOW_MS = 60_000;
/** Fewer requests than these in a window are no quota, but a service that is not well. */
const LEAST_QUOTA = 5;

/** Windows that admit so much of the largest of them admit the same. */
const STEADY = 0.9;
const STRAY_MS = 250;
const MAX_STRAYS = 20;

/** So many requests are admitted in so many milliseconds. */
interface Quota {
  readonly requests: number;
  readonly windowMs: number;
}

/**
 * Finds out how long a service that turns requests away, and does not say for how long, goes on doing so.
 *
 * Such a service admits so many requests in a window. One that was refused some time after the first that was admitted
 * says that the window is longer than that; one that was admitted again, that it is no longer. Between the two it is
 * searched by quarters, because a try too early costs a request, and one too late all that could have been sent meanwhile. What
 * contradicts that (others use the credential, the service is just down) starts it anew.
 */
class WindowGuess {
  #startedAt: number | undefined;
  #isPaused = false;
  #longerThanMs = 0;
  #atMostMs = Infinity;
  #count = 0;
  #strays = 0;
  /** What this window and the one before it admitted until the first refusal. */
  #counts: readonly number[] = [];

  /**
   * @param now milliseconds, when a request that was sent after the pause was answered.
   * @returns whether it is the first after a refusal.
   */
  admitted(now: number): boolean {
    const ageMs = now - (this.#startedAt ?? -Infinity);
    const isFirst = this.#isPaused && this.#startedAt !== undefined;
    if (isFirst) this.#atMostMs = Math.min(this.#atMostMs, ageMs);
    if (isFirst || ageMs > Math.min(this.#atMostMs, LONGEST_WINDOW_MS)) {
      this.#startedAt = now;
      this.#count = 0;
      this.#strays = 0;
    }
    this.#isPaused = false;
    this.#count += 1;
    this.#startAnewIfAbsurd();
    return isFirst;
  }

  /** Told of an answer to a request that was sent before the refusal. */
  admittedBefore(): void {
    this.#count += 1;
    this.#counts = [this.#count, ...this.#counts.slice(1)];
  }

  refused(now: number): void {
    if (this.#isStray()) {
      this.#strays += 1;
      return;
    }
    if (!this.#isPaused) this.#counts = [this.#count, ...this.#counts.slice(0, 1)];
    this.#isPaused = true;
    if (this.#startedAt === undefined) return;
    this.#longerThanMs = Math.max(this.#longerThanMs, now - this.#startedAt);
    this.#startAnewIfAbsurd();
  }

  /** How long to wait from now on, in milliseconds; `undefined` while nothing is known. */
  waitMs(now: number): number | undefined {
    if (this.#startedAt === undefined) return undefined;
    const ageMs = now - this.#startedAt;
    if (!this.#isPaused) return STRAY_MS;
    if (this.#atMostMs === Infinity) return Math.max(FIRST_PROBE_MS, ageMs / 8);
    const widthMs = this.#atMostMs - this.#longerThanMs;
    const lengthMs = this.#isKnown() ? this.#atMostMs : this.#longerThanMs + widthMs / 4;
    const leftMs = Math.ceil(lengthMs - ageMs);
    return leftMs > 0 ? leftMs : undefined;
  }

  /** `undefined` while the window is not known, or two in a row did not admit as many. */
  quota(): Quota | undefined {
    const [last = 0, before = 0] = this.#counts;
    const requests = Math.max(last, before);
    const isSteady = Math.min(last, before) >= Math.max(LEAST_QUOTA, STEADY * requests);
    return isSteady && this.#isKnown() ? { requests, windowMs: this.#atMostMs } : undefined;
  }

  /**
   * Whether a refusal comes before the window is used up: the requests of the last one are forgotten one by one, in a window that slides,
   * and somebody else may have used a part of it.
   */
  #isStray(): boolean {
    const isUsedUp = this.#count >= STEADY * (this.#counts[0] ?? 0);
    return !this.#isPaused && this.#isKnown() && !isUsedUp && this.#strays < MAX_STRAYS;
  }

  #isKnown(): boolean {
    const precisionMs = Math.max(PRECISION_MS, PRECISION * this.#atMostMs);
    return this.#atMostMs - this.#longerThanMs <= precisionMs;
  }

  #startAnewIfAbsurd(): void {
    if (this.#longerThanMs < this.#atMostMs) return;
    this.#longerThanMs = 0;
    this.#atMostMs = Infinity;
    this.#counts = [];
  }
}

/**
 * Requests of each window that are left to other processes. A half is enough for a kill to find one of them free at once or soon, since it
 * tries more often than we do; a whole one makes a run twice as much slower.
 */
const LEFT_TO_OTHERS = 0.5;
/** So many refusals in a row, an interval apart each, say that the quota is another one by now. */
const MAX_REFUSALS = 12;

/** Spreads the requests of a run that writes over a window that is known, instead of sending them all at its start. */
class Spread {
  #windowMs = 0;
  #intervalMs = 0;
  #nextAt = 0;
  #refusals = 0;
  #wroteAt = -Infinity;

  wrote(now: number): void {
    this.#wroteAt = now;
  }

  /** Begins where something was written of late. At this moment a window begins, and all of it is free. */
  begin(now: number, quota: Quota | undefined): void {
    if (!quota || now - this.#wroteAt > 2 * quota.windowMs) return;
    this.#windowMs = quota.windowMs;
    this.#intervalMs = quota.windowMs / (quota.requests - LEFT_TO_OTHERS);
    this.#nextAt = now + this.#intervalMs;
    this.#refusals = 0;
    this.#wroteAt = now;
  }

  /** Until the next request may start; 0 where nothing is spread. */
  waitMs(now: number): number {
    return this.#isOn(now) ? Math.max(0, this.#nextAt - now) : 0;
  }

  started(now: number): void {
    this.#nextAt = Math.max(this.#nextAt + this.#intervalMs, now + this.#intervalMs / 2);
  }

  /** @returns whether requests are spread. */
  admitted(now: number): boolean {
    this.#refusals = 0;
    return this.#isOn(now);
  }

  /** @returns how long to wait; `undefined` where nothing is spread, or no longer. */
  refused(now: number): number | undefined {
    this.#refusals += 1;
    if (this.#refusals > MAX_REFUSALS) this.#windowMs = 0;
    return this.#isOn(now) ? this.#intervalMs : undefined;
  }

  #isOn(now: number): boolean {
    return now - this.#wroteAt < this.#windowMs;
  }
}
