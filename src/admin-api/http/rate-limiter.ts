import { DEFAULT_CONCURRENCY } from '../../model/run.js';
import { sha256 } from '../../model/json.js';
import { BoundedMap } from '../../platform/bounded-map.js';
import { steadyTime, type Time } from '../../platform/clock.js';
import { MAX_ASKED_MS } from './retry.js';

/** `urgent`, for kills, goes before all others, has its own places, and ignores pauses. */
export type Lane = 'normal' | 'urgent';

export interface LimiterOptions {
  readonly time: Time;
  readonly maxConcurrent?: number;
  /** Called once for each pause that makes requests wait. */
  readonly onPause?: (pause: { waitMs: number; waiting: number }) => void;
}

export interface Pace {
  /** Whether it is a refusal by the rate limit: 429, or one of its disguises (503, a challenge). */
  readonly throttled: boolean;
  readonly askedWaitMs?: number | undefined;
  /** Requests left before the next reset: the smaller number in the headers. */
  readonly remaining?: number | undefined;
}

interface Waiting {
  readonly start: () => void;
  readonly refuse: (error: PauseTooLong) => void;
}

/** The service asked for a pause that is longer than the tries of a request last. Nothing was sent. */
export class PauseTooLong extends Error {
  /** Rest of the pause. */
  readonly waitMs: number;

  constructor(waitMs: number) {
    super(`the service asked for a pause, of which ${Math.ceil(waitMs / 1_000)} s are left`);
    this.name = 'PauseTooLong';
    this.waitMs = waitMs;
  }
}

const URGENT_PLACES = 4;
/** Requests of each window that are reserved for urgent ones, of this process and of others. */
const RESERVE = 1;
/** Pause of other requests after the service refused an urgent one, which is repeated within this time. */
const URGENT_HOLD_MS = 1_000;
const FIRST_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 30_000;

/**
 * Limits the requests of one credential, because the service counts reads and writes of all its clients together. They
 * go in order of arrival, except that repeated ones go first. Each throttle halves the concurrency, and each full round of answers
 * raises it by one. After a refusal without a wait time, pauses get longer; the first that ends shows the limit. From
 * then on requests are spread evenly, and one of each window is reserved for urgent ones, see `Spacing`.
 */
export class RequestLimiter {
  readonly #time: Time;
  readonly #max: number;
  readonly #onPause: LimiterOptions['onPause'];
  readonly #queues: Record<Lane, Waiting[]> = { normal: [], urgent: [] };
  readonly #running: Record<Lane, number> = { normal: 0, urgent: 0 };
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
   * @param signal ends the wait, never the task; rejects with its reason.
   * @param isAgain whether the request is repeated: at the end of a long queue its tries would run out of time.
   * @throws PauseTooLong: the turn would come after more than five minutes, which would look like a hang.
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

  /** Call it with each answer. */
  note(pace: Pace, lane: Lane = 'normal'): void {
    if (lane === 'urgent') {
      if (pace.throttled) this.#pauseFor(URGENT_HOLD_MS);
    } else if (pace.throttled) this.#slowDown(pace.askedWaitMs);
    else this.#goOn(pace);
  }

  #goOn({ remaining, askedWaitMs }: Pace): void {
    const now = this.#time.now();
    this.#throttles = 0;
    this.#spacing.admitted(now, now < this.#pausedUntil);
    this.#allowed = Math.min(this.#max, this.#allowed + 1 / this.#allowed);
    // Spread requests spare the reserve by themselves, unless other processes use it.
    const isSpent = remaining !== undefined && remaining < (this.#spacing.isOn ? 1 : 1 + RESERVE);
    if (!isSpent || askedWaitMs === undefined) return;
    if (!this.#spacing.isOn) this.#spacing.refused(now, remaining);
    this.#pauseFor(askedWaitMs);
  }

  #slowDown(askedWaitMs: number | undefined): void {
    const now = this.#time.now();
    // Refusals of requests that were under way together count as one throttle.
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
        // Without waiting requests, the timer would only keep the process alive.
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
    while (this.#running.urgent < URGENT_PLACES && this.#queues.urgent.length > 0) {
      this.#queues.urgent.shift()?.start();
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

export function remainingRequests(headers: Readonly<Record<string, string>>): number | undefined {
  const counts = ['x-ratelimit-remaining-org', 'x-ratelimit-remaining-ip']
    .map((name) => headers[name])
    .filter((text) => text !== undefined && /^\d+$/.test(text))
    .map(Number);
  return counts.length === 0 ? undefined : Math.min(...counts);
}

/** Wait after a refusal without a wait time: this share of the time since the first request, and at least `ms`. */
const FIRST_PROBE = { ms: 1_000, share: 1 / 8 };
/** Age up to which admitted requests count for the limit. */
const LONGEST_WINDOW_MS = 60_000;
/**
 * Fewer requests before a refusal, or a refusal that ends sooner, show no limit that would make an urgent request wait: the
 * service is unwell for a moment, and a run that spaced its requests by that would take many times longer.
 */
const LEAST_ADMITTED = 5;
const LEAST_WINDOW_MS = 2_000;
/** A refusal lowers the rate by this share: one request of 20 stays unused. */
const BACK_OFF = 0.05;
/** A period without a refusal raises the rate by this share, and each further one by twice the last share. */
const GROWTH = 0.01;
const LEAST_PERIOD_MS = 5_000;
/** Longest distance between requests: a service that seems to admit less has a fault, and will recover. */
const MAX_INTERVAL_MS = 10_000;
/** Share of a period's requests that may go out at once after an idle period. */
const AT_ONCE = 0.25;
/** Refusals in a row that show a new limit, which is then measured again. */
const MAX_REFUSALS = 12;

/**
 * Before the first refusal the limit is unknown, and no request waits. The number of requests admitted until then, and
 * the time until a request is admitted again, give a rate. From then on requests are spread evenly at a little less
 * than that rate, so that the service always admits one more: an urgent one, of this process or another. The rate falls
 * with each refusal, and rises while there is none.
 */
class Spacing {
  /** When the first of the counted requests was admitted; undefined if none was. */
  #firstAt: number | undefined;
  #admitted = 0;
  #isRefused = false;
  /** Distance between two requests; 0 while the limit is unknown. */
  #intervalMs = 0;
  #periodMs = 0;
  #growth = GROWTH;
  #growAt = 0;
  #nextAt = 0;
  #refusals = 0;
  /** The last burst after an idle period, and its start. */
  #burst = { size: 0, left: 0, at: -Infinity };

  get isOn(): boolean {
    return this.#intervalMs > 0;
  }

  /** @param isLate whether the request was sent before the present pause, which its answer must not end. */
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
   * @returns the wait in milliseconds; undefined if no admitted request gives a measure.
   */
  refused(now: number, left = 0): number | undefined {
    if (this.isOn) return this.#slowDown(now);
    this.#isRefused = true;
    this.#admitted += left;
    if (this.#firstAt === undefined) return undefined;
    return Math.max(FIRST_PROBE.ms, (now - this.#firstAt) * FIRST_PROBE.share);
  }

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
    // Requests after a late one catch up, but never two at once.
    this.#nextAt = Math.max(this.#nextAt + ms, now + ms / 2);
  }

  /** The present distance: longer for the rest of a period that began with a burst. */
  #currentMs(now: number): number {
    if (now - this.#burst.at > this.#periodMs) return this.#intervalMs;
    return this.#periodMs / (this.#periodMs / this.#intervalMs - this.#burst.size);
  }

  #begin(now: number, ageMs: number): void {
    if (this.#admitted < LEAST_ADMITTED || ageMs < LEAST_WINDOW_MS) {
      this.#measureAnew();
      return;
    }
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
    if (this.#refusals > MAX_REFUSALS) this.#measureAnew();
    return waitMs;
  }

  #measureAnew(): void {
    this.#intervalMs = 0;
    this.#firstAt = undefined;
    this.#admitted = 0;
    this.#isRefused = false;
    this.#refusals = 0;
  }
}

/** Most limiters to keep, because rotated keys leave old ones behind. */
const MAX_LIMITERS = 64;

/** For repeated runs in a process: one limiter per service and credential, because services count by those. */
export class Limiters {
  readonly #limiters = new BoundedMap<string, RequestLimiter>(MAX_LIMITERS);

  /** @param concurrency most simultaneous requests; only the first call for a credential sets it. */
  of(
    { origin, key }: { readonly origin: string; readonly key: string },
    { concurrency, note }: { concurrency?: number | undefined; note: (text: string) => void },
  ): RequestLimiter {
    // A hash, so that the key itself is not kept.
    const id = `${origin} ${sha256(key)}`;
    const known = this.#limiters.get(id);
    if (known) return known;
    const limiter = new RequestLimiter({
      time: steadyTime,
      ...(concurrency !== undefined && { maxConcurrent: concurrency }),
      onPause: ({ waitMs, waiting }) => {
        note(`waiting ${Math.ceil(waitMs / 1_000)} s for the service: ${waiting} requests wait`);
      },
    });
    this.#limiters.set(id, limiter);
    return limiter;
  }
}
