import type { Time } from '../../platform/clock.js';

/**
 * What a request bears.
 *
 * - `read`: GET.
 * - `write`: may be made twice with the same effect (kill, upload and removal of keys: sets).
 * - `delete`: likewise; a 404 after a try whose fate is unknown counts as done.
 * - `create`: POST. Never repeated blindly: what a lost try may have made is looked up first.
 * - `patch`: likewise; one that cannot be looked up is not repeated unless it surely had no effect.
 */
export type RequestKind = 'read' | 'write' | 'delete' | 'create' | 'patch';

/**
 * How one try went wrong.
 *
 * - `not-sent`: no connection was made.
 * - `lost`: sent, perhaps, and no whole answer came.
 * - `throttled`: 429.
 * - `unavailable`: 503, 408 and 425: turned away at the door.
 * - `challenged`: 202, which no endpoint answers: a firewall in front of the service wants a browser.
 * - `server-error`: every other 5xx.
 * - `unreadable`: a status of success with a page, nothing, or half a text in place of JSON.
 * - `refused`: 4xx.
 * - `permanent`: repeating cannot help (redirect, certificate, answer too large).
 */
export type Failure =
  | 'not-sent'
  | 'lost'
  | 'throttled'
  | 'unavailable'
  | 'challenged'
  | 'server-error'
  | 'unreadable'
  | 'refused'
  | 'permanent';

/**
 * `look-up`: find out whether the try was made; if it was, that is the answer, otherwise repeat. Where there is no way
 * to find out, it fails.
 */
export type RetryDecision = 'repeat' | 'look-up' | 'fail';

const SAFE: Readonly<Record<Failure, RetryDecision>> = {
  'not-sent': 'repeat',
  lost: 'repeat',
  throttled: 'repeat',
  unavailable: 'repeat',
  challenged: 'repeat',
  'server-error': 'repeat',
  unreadable: 'repeat',
  refused: 'fail',
  permanent: 'fail',
};

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
    // A 503 is the service's own way to turn a request away: it changed nothing.
    patch: { ...LOOKED_UP, unavailable: 'repeat' },
  };

const MAY_LOOK_UP = new Set(
  (Object.keys(RETRY_TABLE) as RequestKind[]).filter((kind) =>
    Object.values(RETRY_TABLE[kind]).includes('look-up'),
  ),
);

/** Tries after which a failure that repeats is believed. The others are bounded by time alone. */
const MAX_TRIES: Partial<Record<Failure, number>> = { 'server-error': 4, unreadable: 3 };

/** After these it is certain that the try had no effect. */
const WITHOUT_EFFECT: ReadonlySet<Failure> = new Set(['not-sent', 'throttled', 'refused']);

const FIRST_DELAY_MS = 500;
const MAX_DELAY_MS = 8_000;
/** An urgent request that is turned away comes again after a tenth of the time that it has been tried for, within these. */
const URGENT_DELAY_MS = { least: 100, most: 1_000 };
/** A service that says how long to wait may be waited for this long; one that says nothing, `timeoutMs`. */
export const MAX_ASKED_MS = 300_000;

export interface FailedTry {
  readonly ok: false;
  readonly failure: Failure;
  /** Null where no answer came. */
  readonly status: number | null;
  /** Clause for the reader: `the service answered 503`. */
  readonly why: string;
  /** How long the service asked to wait. */
  readonly askedWaitMs?: number | undefined;
  /** The service's own words, if there were any. */
  readonly serviceMessage?: string | undefined;
  readonly transactionId?: string | null | undefined;
  readonly cause?: unknown;
}

export type Try<T> = { readonly ok: true; readonly answer: T } | FailedTry;

export interface GaveUp {
  readonly last: FailedTry;
  readonly tries: number;
  /** Whether one of the tries may have been made. */
  readonly uncertain: boolean;
  /** How long no answer had come, or how long the service had been failing. */
  readonly elapsedMs: number;
}

export interface RetryOptions<T> {
  readonly kind: RequestKind;
  readonly time: Time;
  readonly silence: OutageClock;
  readonly signal?: AbortSignal | undefined;
  /**
   * @param uncertain whether an earlier try may have been made.
   * @param limitMs how long this try may take before the network counts as dead.
   * @param triesBefore how many earlier tries there were.
   */
  readonly once: (uncertain: boolean, limitMs: number, triesBefore: number) => Promise<Try<T>>;
  /** What an earlier try made, or `undefined`: it made nothing. */
  readonly confirm?: (() => Promise<T | undefined>) | undefined;
  readonly giveUp: (gaveUp: GaveUp) => Error;
  /**
   * The error of a request that something else ended than its answers: an interruption, mostly.
   *
   * @param uncertain whether an earlier try may have been made.
   */
  readonly ended: (cause: unknown, uncertain: boolean) => unknown;
  /** Turned away, it comes again soon, whatever the service asks for: one small request that takes the next free place. */
  readonly isUrgent?: boolean | undefined;
  readonly onWait?: ((waitMs: number, why: string) => void) | undefined;
}

/** Tries until the answer is there or `RETRY_TABLE` and the bounds say that it will not come. */
export async function withRetry<T>(options: RetryOptions<T>): Promise<T> {
  const { kind, time, silence } = options;
  const confirm = MAY_LOOK_UP.has(kind) ? options.confirm : undefined;
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
    // One after the other by nature: each try depends on how the last one went.
    const startedAt = time.now();
    const result: Try<T> = await orEnded(options.once(uncertain, silence.remainingMs(), tries - 1));
    silence.note(result.ok || result.status !== null, startedAt);
    if (result.ok) return result.answer;
    firstFailureAt ??= time.now();

    const isConflict = uncertain && result.status === 409;
    uncertain ||= !WITHOUT_EFFECT.has(result.failure);
    const elapsedMs = elapsed(result, firstFailureAt, options);
    const delayMs = nextDelayMs(result, tries, elapsedMs, options);
    if (delayMs === undefined && !isConflict) {
      throw options.giveUp({ last: result, tries, uncertain, elapsedMs });
    }
    if (delayMs !== undefined) {
      if (options.signal?.aborted !== true) options.onWait?.(delayMs, result.why);
      await orEnded(time.sleep(delayMs, options.signal));
    }
    // 409 after a try of unknown fate: a look that came too early may have missed what that try made.
    if (confirm && (uncertain || isConflict)) {
      const found = await confirm();
      if (found !== undefined) return found;
    }
    if (delayMs === undefined) throw options.giveUp({ last: result, tries, uncertain, elapsedMs });
  }
}

function elapsed<T>(result: FailedTry, firstFailureAt: number, options: RetryOptions<T>): number {
  if (result.status === null) return options.silence.elapsedMs();
  return options.time.now() - firstFailureAt;
}

/** `undefined`: give up. The last try of a dead network falls on its deadline, not before it. */
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
  if (isUrgent === true && result.failure === 'throttled') return urgentDelayMs(elapsedMs);
  if (result.askedWaitMs === undefined) {
    return Math.min(backoffMs(tries, time.random()), remainingMs);
  }
  if (result.askedWaitMs > remainingMs) return undefined;
  // A little later than asked, and not all at the same moment; one that asks for 0 s is not believed.
  return Math.max(result.askedWaitMs + Math.ceil(time.random() * 250), FIRST_DELAY_MS);
}

function urgentDelayMs(elapsedMs: number): number {
  const { least, most } = URGENT_DELAY_MS;
  return Math.min(most, Math.max(least, Math.ceil(elapsedMs / 10)));
}

/** Full jitter: anything from 0 to a ceiling that doubles with each try. */
export function backoffMs(tries: number, random: number): number {
  return Math.ceil(random * Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** (tries - 1)));
}

/**
 * How long the network has been silent, over all requests of a client: a run that has many requests gives a dead
 * network up once, not once per request.
 */
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
   * Takes down how a try ended.
   *
   * @param startedAt when it began. A try may itself last as long as the time-out, and is no pause between tries.
   */
  note(answered: boolean, startedAt: number): void {
    const now = this.#time.now();
    // Nothing was tried for long: what was found out then says nothing about now.
    const isStale = startedAt - this.#lastNoteAt > this.timeoutMs;
    this.#lastNoteAt = now;
    if (answered) this.#since = undefined;
    else if (this.#since === undefined || isStale) this.#since = now;
  }

  elapsedMs(): number {
    return this.#since === undefined ? 0 : this.#time.now() - this.#since;
  }

  /** At least a second, so that every try has a chance. */
  remainingMs(): number {
    return Math.max(1_000, this.timeoutMs - this.elapsedMs());
  }
}

/**
 * How long an answer asks to wait: `Retry-After` (seconds, or an HTTP date, held against the service's own `Date`
 * where there is one), otherwise the larger of the two `X-RateLimit-Reset-Seconds-*`. Never negative.
 */
export function askedWaitMs(
  headers: Readonly<Record<string, string>>,
  now: number,
): number | undefined {
  const asked = retryAfterMs(headers, now);
  const resets = ['x-ratelimit-reset-seconds-org', 'x-ratelimit-reset-seconds-ip']
    .map((name) => seconds(headers[name]))
    .filter((value) => value !== undefined);
  if (resets.length === 0) return asked;
  return Math.max(asked ?? 0, ...resets);
}

function retryAfterMs(headers: Readonly<Record<string, string>>, now: number): number | undefined {
  const text = headers['retry-after'];
  if (text === undefined) return undefined;
  const plain = seconds(text);
  if (plain !== undefined) return plain;
  const until = Date.parse(text);
  if (Number.isNaN(until)) return undefined;
  const theirNow = Date.parse(headers['date'] ?? '');
  return Math.max(0, until - (Number.isNaN(theirNow) ? now : theirNow));
}

function seconds(text: string | undefined): number | undefined {
  if (text === undefined || !/^\d{1,9}(\.\d+)?$/.test(text.trim())) return undefined;
  return Number(text) * 1_000;
}
