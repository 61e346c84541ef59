import type { Time } from './time.js';
import { WindowGuess } from './window-guess.js';

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
}

const DEFAULT_CONCURRENT = 8;
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
    this.#max = Math.max(1, options.maxConcurrent ?? DEFAULT_CONCURRENT);
    this.#onPause = options.onPause;
    this.#allowed = this.#max;
  }

  /**
   * Runs the task as soon as it is its turn.
   *
   * @param signal ends the waiting, never the task; rejects with its reason.
   * @param isAgain it was sent before: at the end of a long queue it would wait longer than it is tried for.
   */
  async run<T>(
    lane: Lane,
    task: () => Promise<T>,
    { signal, isAgain = false }: { signal?: AbortSignal | undefined; isAgain?: boolean } = {},
  ): Promise<T> {
    await this.#turn(lane, isAgain, signal);
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

  async #turn(lane: Lane, isAgain: boolean, signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted();
    await new Promise<void>((resolve, reject) => {
      const waiting: Waiting = {
        start: () => {
          signal?.removeEventListener('abort', leave);
          this.#running[lane] += 1;
          resolve();
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
