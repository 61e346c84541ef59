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
 * until the service's window is known.
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
    { signal, isAgain = false }: { signal?: AbortSignal | undefined; isAgain?: boolean } = {},
  ): Promise<T> {
    await this.#acquire(lane, isAgain, signal);
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
      // Answers that come during a pause are to requests from before it.
      if (this.#time.now() >= this.#pausedUntil) this.#window.admitted(this.#time.now());
      this.#allowed = Math.min(this.#max, this.#allowed + 1 / this.#allowed);
      const isSpent = pace.remaining !== undefined && pace.remaining <= RESERVE;
      if (isSpent && pace.askedWaitMs !== undefined) this.#pauseFor(pace.askedWaitMs);
    }
  }

  #slowDown(askedWaitMs: number | undefined): void {
    const now = this.#time.now();
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
      this.#sleep(pauseMs);
      return;
    }
    while (this.#running.normal < Math.floor(this.#allowed) && this.#queues.normal.length > 0) {
      this.#queues.normal.shift()?.start();
    }
  }

  #sleep(ms: number): void {
    if (this.#sleeping !== undefined || this.#queues.normal.length === 0) return;
    const sleeping = new AbortController();
    this.#sleeping = sleeping;
    this.#onPause?.({ waitMs: ms, waiting: this.#queues.normal.length });
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

/** The window is known well enough once it is known to this. */
const PRECISION_MS = 500;

/**
 * Finds out how long a service that turns requests away, and does not say for how long, goes on doing so.
 *
 * Such a service admits so many requests in a window. One that was refused some time after the first that was admitted
 * says that the window is longer than that; one that was admitted again, that it is no longer. Between the two it is
 * searched by halves. What contradicts that (others use the credential, the service is just down) starts it anew.
 *
 * It is worth its lines: of a service that admits 20 requests in 10 s and says nothing, 300 reads take 146 s and 428
 * requests by the simulated clock of the tests; with pauses that only double they take 210 s and 514 requests. 140 s is
 * the least that any client needs.
 */
class WindowGuess {
  #startedAt: number | undefined;
  #isPaused = false;
  #longerThanMs = 0;
  #atMostMs = Infinity;

  /** @param now milliseconds, when a request that was sent after the pause was answered. */
  admitted(now: number): void {
    if (this.#startedAt === undefined || this.#isPaused) {
      if (this.#startedAt !== undefined) {
        this.#atMostMs = Math.min(this.#atMostMs, now - this.#startedAt);
      }
      this.#startedAt = now;
      this.#isPaused = false;
    }
    this.#startAnewIfAbsurd();
  }

  refused(now: number): void {
    this.#isPaused = true;
    if (this.#startedAt === undefined) return;
    this.#longerThanMs = Math.max(this.#longerThanMs, now - this.#startedAt);
    this.#startAnewIfAbsurd();
  }

  /** How long to wait from now on, in milliseconds; `undefined` while nothing is known. */
  waitMs(now: number): number | undefined {
    if (this.#startedAt === undefined || this.#atMostMs === Infinity) return undefined;
    const isKnown = this.#atMostMs - this.#longerThanMs <= PRECISION_MS;
    const lengthMs = isKnown ? this.#atMostMs : (this.#longerThanMs + this.#atMostMs) / 2;
    const leftMs = Math.ceil(lengthMs - (now - this.#startedAt));
    return leftMs > 0 ? leftMs : undefined;
  }

  #startAnewIfAbsurd(): void {
    if (this.#longerThanMs < this.#atMostMs) return;
    this.#longerThanMs = 0;
    this.#atMostMs = Infinity;
  }
}
