import type { Time } from '../../platform/clock.js';
import { retryAfterMs, secondsIn } from '../../platform/http-client.js';

/**
 * - `read`: GET.
 * - `write`: has the same effect if made twice (kill; upload and removal of keys, which are sets).
 * - `delete`: likewise; a 404 after a try of unknown fate counts as done.
 * - `create`: POST. Never repeated blindly: a look-up first finds out whether a lost try created the object.
 * - `patch`: likewise; a patch that cannot be looked up is repeated only if it surely had no effect.
 */
export type RequestKind = 'read' | 'write' | 'delete' | 'create' | 'patch';

/**
 * `look-up` means: find out whether the try took effect; if it did, return that, otherwise repeat. If there is no way
 * to find out, fail.
 */
export type RetryDecision = 'repeat' | 'look-up' | 'fail';

/** How one try went wrong, and what follows where repeating is safe. */
const SAFE = {
  /** No connection was made. */
  'not-sent': 'repeat',
  /** Perhaps sent, but no complete answer came. */
  lost: 'repeat',
  /** 429. */
  throttled: 'repeat',
  /** 503, 408 and 425: refused before any effect. */
  unavailable: 'repeat',
  /** 202, which no endpoint returns: a firewall in front of the service demands a browser. */
  challenged: 'repeat',
  /** Every other 5xx. */
  'server-error': 'repeat',
  /** A status of success with a page, nothing, or a truncated text instead of JSON. */
  unreadable: 'repeat',
  /** 4xx. */
  refused: 'fail',
  /** Repeating cannot help: a redirect, the certificate, an answer too large. */
  permanent: 'fail',
} as const satisfies Record<string, RetryDecision>;

export type Failure = keyof typeof SAFE;

const LOOKED_UP: Readonly<Record<Failure, RetryDecision>> = {
  ...SAFE,
  lost: 'look-up',
  unavailable: 'look-up',
  challenged: 'look-up',
  'server-error': 'look-up',
  unreadable: 'look-up',
};

export const RETRY_TABLE: Readonly<Record<RequestKind, Readonly<Record<Failure, RetryDecision>>>> =
  {
    read: SAFE,
    write: SAFE,
    delete: SAFE,
    create: LOOKED_UP,
    // A 503 is a refusal by the service itself: it changed nothing.
    patch: { ...LOOKED_UP, unavailable: 'repeat' },
  };

/** Number of tries after which a repeated failure is final. Other failures are bounded by time alone. */
const MAX_TRIES: Partial<Record<Failure, number>> = { 'server-error': 4, unreadable: 3 };

/** Failures after which the try certainly had no effect. */
const WITHOUT_EFFECT: ReadonlySet<Failure> = new Set(['not-sent', 'throttled', 'refused']);

const FIRST_DELAY_MS = 500;
const MAX_DELAY_MS = 8_000;
/** Bounds of the delay of an urgent request that was refused: a tenth of the time since its first try. */
const URGENT_DELAY_MS = { least: 100, most: 1_000 };
/** Longest wait that a service may ask for. Without such a request, `timeoutMs` is the limit. */
export const MAX_ASKED_MS = 300_000;

export interface FailedTry {
  readonly ok: false;
  readonly failure: Failure;
  readonly status: number | null;
  /** A clause: `the service answered 503`. */
  readonly why: string;
  readonly askedWaitMs?: number | undefined;
  readonly serviceMessage?: string | undefined;
  readonly transactionId?: string | null | undefined;
  readonly cause?: unknown;
}

export type Try<T> = { readonly ok: true; readonly answer: T } | FailedTry;

export interface GaveUp {
  readonly last: FailedTry;
  readonly tries: number;
  readonly uncertain: boolean;
  /** Time without an answer, or of failing answers. */
  readonly elapsedMs: number;
}

export interface Attempt {
  /** Whether an earlier try may have taken effect. */
  readonly uncertain: boolean;
  /** Time after which this try proves the network dead. */
  readonly limitMs: number;
  /** Number of earlier tries. */
  readonly triesBefore: number;
}

export interface RetryOptions<T> {
  readonly kind: RequestKind;
  readonly time: Time;
  readonly silence: OutageClock;
  readonly signal?: AbortSignal | undefined;
  readonly once: (attempt: Attempt) => Promise<Try<T>>;
  readonly confirm?: (() => Promise<T | undefined>) | undefined;
  readonly giveUp: (gaveUp: GaveUp) => Error;
  /** The error of a request that ended for another reason than its answers, mostly an interruption. */
  readonly ended: (cause: unknown, uncertain: boolean) => unknown;
  /** Repeats a refused request soon, even if the service asks for a longer wait: it is one small request. */
  readonly isUrgent?: boolean | undefined;
  readonly onWait?: ((waitMs: number, why: string) => void) | undefined;
}

export async function withRetry<T>(options: RetryOptions<T>): Promise<T> {
  const { kind, time, silence } = options;
  const mayLookUp = Object.values(RETRY_TABLE[kind]).includes('look-up');
  const confirm = mayLookUp ? options.confirm : undefined;
  let uncertain = false;
  let firstFailureAt: number | undefined;
  const orEnded = async <R>(work: Promise<R>): Promise<R> => {
    try {
      return await work;
    } catch (cause) {
      throw options.ended(cause, uncertain);
    }
  };
  for (let tries = 1; ; tries += 1) {
    const startedAt = time.now();
    const attempt: Attempt = { uncertain, limitMs: silence.remainingMs(), triesBefore: tries - 1 };
    const result: Try<T> = await orEnded(options.once(attempt));
    silence.note(result.ok || result.status !== null, startedAt);
    if (result.ok) return result.answer;
    firstFailureAt ??= time.now();

    const isConflict = uncertain && result.status === 409;
    uncertain ||= !WITHOUT_EFFECT.has(result.failure);
    const elapsedMs = result.status === null ? silence.elapsedMs() : time.now() - firstFailureAt;
    const delayMs = nextDelayMs(result, tries, elapsedMs, options);
    if (delayMs !== undefined) {
      if (options.signal?.aborted !== true) options.onWait?.(delayMs, result.why);
      await orEnded(time.sleep(delayMs, options.signal));
    }
    // 409 after a try of unknown fate: an early look-up may have missed the object that the try created.
    if (confirm && uncertain && (delayMs !== undefined || isConflict)) {
      const found = await confirm();
      if (found !== undefined) return found;
    }
    if (delayMs === undefined) throw options.giveUp({ last: result, tries, uncertain, elapsedMs });
  }
}

/** Delay before the next try; `undefined` gives up. The last try on a dead network falls exactly on the deadline. */
function nextDelayMs<T>(
  result: FailedTry,
  tries: number,
  elapsedMs: number,
  { kind, time, silence, confirm, isUrgent }: RetryOptions<T>,
): number | undefined {
  const verdict = RETRY_TABLE[kind][result.failure];
  if (verdict === 'fail' || (verdict === 'look-up' && !confirm)) return undefined;
  if (tries >= (MAX_TRIES[result.failure] ?? Infinity)) return undefined;
  const isAsked = result.failure === 'throttled' || result.askedWaitMs !== undefined;
  const remainingMs = (isAsked ? MAX_ASKED_MS : silence.timeoutMs) - elapsedMs;
  if (remainingMs <= 0) return undefined;
  if (isUrgent === true && result.failure === 'throttled') {
    const { least, most } = URGENT_DELAY_MS;
    return Math.min(most, Math.max(least, Math.ceil(elapsedMs / 10)));
  }
  if (result.askedWaitMs === undefined) {
    return Math.min(backoffMs(tries, time.random()), remainingMs);
  }
  if (result.askedWaitMs > remainingMs) return undefined;
  // A little later than asked, and not all requests at the same moment; a wait of 0 s is not believed.
  return Math.max(result.askedWaitMs + Math.ceil(time.random() * 250), FIRST_DELAY_MS);
}

/** Full jitter: anything from 0 to a ceiling that doubles with each try. */
export function backoffMs(tries: number, random: number): number {
  return Math.ceil(random * Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** (tries - 1)));
}

/** Measures the silence of the network over all requests of a client, so that a run gives a dead network up once. */
export class OutageClock {
  readonly timeoutMs: number;
  readonly #time: Time;
  #since: number | undefined;
  #lastNoteAt = 0;

  constructor(timeoutMs: number, time: Time) {
    this.timeoutMs = timeoutMs;
    this.#time = time;
  }

  /**
   * @param startedAt start of a try that ended now. It may last as long as the time-out, and does not count as a pause.
   */
  note(answered: boolean, startedAt: number): void {
    const now = this.#time.now();
    // After a long time without tries, the old silence says nothing about the network now.
    const isStale = startedAt - this.#lastNoteAt > this.timeoutMs;
    this.#lastNoteAt = now;
    if (answered) this.#since = undefined;
    else if (this.#since === undefined || isStale) this.#since = now;
  }

  elapsedMs(): number {
    return this.#since === undefined ? 0 : this.#time.now() - this.#since;
  }

  /** Time left, in milliseconds; at least a second, so that every try has a chance. */
  remainingMs(): number {
    return Math.max(1_000, this.timeoutMs - this.elapsedMs());
  }
}

/**
 * The wait that an answer asks for, in milliseconds: `Retry-After` (seconds, or an HTTP date, compared with the `Date`
 * of the answer if there is one), otherwise the larger of the two `X-RateLimit-Reset-Seconds-*`. Never negative.
 */
export function askedWaitMs(
  headers: Readonly<Record<string, string>>,
  now: number,
): number | undefined {
  const asked = retryAfterMs(headers, now);
  const resets = ['x-ratelimit-reset-seconds-org', 'x-ratelimit-reset-seconds-ip']
    .map((name) => secondsIn(headers[name]))
    .filter((value) => value !== undefined);
  if (resets.length === 0) return asked;
  return Math.max(asked ?? 0, ...resets);
}
