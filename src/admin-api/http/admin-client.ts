import { setMaxListeners } from 'node:events';
import { FlagkeelError, messageOf, RejectedError } from '../../errors.js';
import { NoAnswerError, type Answer, type Fault, type Method } from '../../platform/http-client.js';
import {
  isThrottle,
  classify,
  wantsRequest,
  type ServiceAnswer,
  type ReadRequest,
  type Request,
  type Traffic,
  type WriteRequest,
} from './request.js';
import { PauseTooLong, remainingRequests, RequestLimiter, type Lane } from './rate-limiter.js';
import {
  askedWaitMs,
  OutageClock,
  withRetry,
  type Attempt,
  type FailedTry,
  type Failure,
  type GaveUp,
  type Try,
} from './retry.js';
import { REQUEST_WANTED } from '../../model/change-request.js';
import { DEFAULT_CONCURRENCY } from '../../model/run.js';
import { realTime, steadyTime, type Time } from '../../platform/clock.js';
import { tracedRequest } from '../../platform/telemetry.js';
import { HttpTransport, type TransportOptions } from './transport.js';

export interface AdminClientOptions extends TransportOptions {
  /** Time after which a dead network is given up. Default: 30 s. */
  readonly timeoutMs?: number | undefined;
  /** Shared by all clients of one credential. Default: its own, with `concurrency` places (8). */
  readonly limiter?: RequestLimiter | undefined;
  readonly concurrency?: number | undefined;
  /** Ends waits and reads; a write under way is finished. */
  readonly signal?: AbortSignal | undefined;
  readonly time?: Time | undefined;
  /** Called for every wait before a repeated request, and for every pause of the client's own limiter. */
  readonly onWait?: ((wait: { waitMs: number; why: string; what: string }) => void) | undefined;
  readonly traffic?: Traffic | undefined;
  /** Awaited right before each try of each write, after all other waits; if it rejects, nothing is sent. */
  readonly beforeWrite?: ((write: { readonly isUrgent: boolean }) => Promise<void>) | undefined;
}

export interface GetOnly {
  readonly origin: string;
  get<T>(request: ReadRequest<T>): Promise<ServiceAnswer<T>>;
}

/** Sends the requests of reader and writer, with retries, rate limit and typed errors. */
export class AdminClient implements GetOnly {
  readonly origin: string;
  readonly #transport: HttpTransport;
  readonly #limiter: RequestLimiter;
  readonly #silence: OutageClock;
  /** Clock for waits and deadlines. Times from the service are compared with the wall clock. */
  readonly #steady: Time;
  readonly #time: Time;
  readonly #options: AdminClientOptions;
  /** Writes in a row that ended with 503, and when the last one did. */
  #unavailable = { inARow: 0, at: 0 };
  #isClosed = false;

  constructor(options: AdminClientOptions) {
    this.#transport = new HttpTransport(options);
    this.origin = this.#transport.origin;
    this.#time = options.time ?? realTime;
    this.#steady = options.time ?? steadyTime;
    this.#limiter =
      options.limiter ??
      new RequestLimiter({
        time: this.#steady,
        maxConcurrent: options.concurrency ?? DEFAULT_CONCURRENCY,
        onPause: ({ waitMs, waiting }) =>
          options.onWait?.({ waitMs, why: PACE, what: `send what is waiting (${waiting})` }),
      });
    this.#silence = new OutageClock(options.timeoutMs ?? 30_000, this.#steady);
    this.#options = options;
    // Every waiting or running request listens to the signal, without a limit to their number.
    if (options.signal) setMaxListeners(0, options.signal);
  }

  reads(): GetOnly {
    return Object.freeze({
      origin: this.origin,
      get: async <T>(request: ReadRequest<T>) => this.get(request),
    });
  }

  async get<T>(request: ReadRequest<T>): Promise<ServiceAnswer<T>> {
    return this.#request({ ...request, kind: 'read', method: 'GET' });
  }

  /**
   * Refuses further writes, but no urgent ones, while the service answers each with 503: to try every write of a large
   * run until its time-out would take hours.
   */
  async write<T>(request: WriteRequest<T>): Promise<ServiceAnswer<T>> {
    const { inARow, at } = this.#unavailable;
    const isRecent = this.#steady.now() - at <= this.#silence.timeoutMs;
    if (inARow >= MOST_UNAVAILABLE && isRecent && laneOf(request) === 'normal') {
      const why = `not sent, because the service was unavailable for the last ${inARow} writes`;
      const message = `${this.#cannot(request)}: ${why}`;
      throw new FlagkeelError('UNREACHABLE', message, { fateUnknown: false });
    }
    try {
      const answer = await this.#request(request);
      this.#unavailable = { inARow: 0, at: 0 };
      return answer;
    } catch (error) {
      if (error instanceof RejectedError) {
        const count = error.status === 503 ? this.#unavailable.inARow + 1 : 0;
        this.#unavailable = { inARow: count, at: this.#steady.now() };
      }
      throw error;
    }
  }

  counts(): Readonly<Record<Method, number>> {
    return this.#transport.counts();
  }

  /** Requests under way fail, and are not repeated. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#transport.close();
  }

  async #request<T>(request: Request<T>): Promise<ServiceAnswer<T>> {
    const { signal, onWait } = this.#options;
    const { kind, check, what } = request;
    const answer = await withRetry<ServiceAnswer>({
      kind,
      signal,
      time: this.#steady,
      silence: this.#silence,
      once: async (attempt) => this.#once(request, attempt),
      confirm: this.#confirmOf(request),
      isUrgent: laneOf(request) === 'urgent',
      giveUp: (gaveUp) => this.#error(request, gaveUp),
      ended: (cause, uncertain) => this.#ended(request, cause, uncertain),
      onWait: (waitMs, why) => {
        this.#options.traffic?.onRetry();
        onWait?.({ waitMs, why, what });
      },
    });
    if (answer.status >= 400) return { ...answer, json: undefined };
    try {
      return { ...answer, json: check ? check(answer.json) : (answer.json as T) };
    } catch (cause) {
      const why = `${messageOf(cause)}${kind === 'read' ? '' : DOUBT}`;
      throw new FlagkeelError('UNREADABLE', `${this.#cannot(request)}: ${why}`, { cause });
    }
  }

  #cannot({ what, kind }: Request): string {
    return `cannot ${what} ${kind === 'read' ? 'from' : 'on'} ${this.origin}`;
  }

  /** For a request that was interrupted, or that `beforeWrite` refused. */
  #ended({ what, kind }: Request, cause: unknown, uncertain: boolean): unknown {
    const isOurs = cause instanceof FlagkeelError;
    const fateUnknown = uncertain && kind !== 'read';
    if (isOurs ? !fateUnknown : this.#options.signal?.aborted !== true) return cause;
    const [code, why] = isOurs
      ? [cause.code, cause.message]
      : (['INTERRUPTED', `cannot ${what}: interrupted`] as const);
    const doubt = fateUnknown ? DOUBT : '';
    return new FlagkeelError(code, why + doubt, { cause, fateUnknown });
  }

  async #once(request: Request, attempt: Attempt): Promise<Try<ServiceAnswer>> {
    const { signal, traffic, beforeWrite } = this.#options;
    const { uncertain, triesBefore } = attempt;
    const { kind } = request;
    const lane = laneOf(request);
    const askedAt = performance.now();
    try {
      const answer = await this.#limiter.run(
        lane,
        async () => {
          const waitMs = performance.now() - askedAt;
          if (kind !== 'read') await beforeWrite?.({ isUrgent: lane === 'urgent' });
          traffic?.onTurn(waitMs);
          return this.#send(request, attempt);
        },
        { signal, isAgain: triesBefore > 0 },
      );
      this.#notePace(answer, lane);
      return classify(answer, {
        kind,
        accepts: (status, isOwn) =>
          (request.accepts?.(status, isOwn) ?? false) ||
          (kind === 'delete' && uncertain && status === 404 && isOwn),
        now: this.#time.now(),
        clean: (text) => this.clean(text),
      });
    } catch (error) {
      if (error instanceof PauseTooLong) return pausedTry(error);
      // A read may simply end, whereas a sent write may have taken effect although its answer is lost.
      const isOver = signal?.aborted === true && kind === 'read';
      if (!(error instanceof NoAnswerError) || isOver) throw error;
      // After `close` there is no further try, because it would come after the end of the run.
      return { ...noAnswer(error), ...(this.#isClosed && { failure: 'permanent' }) };
    }
  }

  async #send(request: Request, { limitMs, triesBefore }: Attempt): Promise<Answer> {
    const { method } = request;
    const route = `/${request.route}`;
    const sentAt = performance.now();
    // A write under way is finished: cutting it off would leave its fate unknown.
    const signal = request.kind === 'read' ? this.#options.signal : undefined;
    let status: number | null = null;
    try {
      const answer = await tracedRequest(
        { method, route, origin: this.origin, triesBefore },
        async () => this.#transport.send(request, limitMs, signal),
      );
      ({ status } = answer);
      return answer;
    } finally {
      const durationMs = performance.now() - sentAt;
      this.#options.traffic?.onRequest({ method, route, status, durationMs });
    }
  }

  #notePace(answer: Answer, lane: Lane): void {
    const pace = {
      throttled: isThrottle(answer),
      askedWaitMs: askedWaitMs(answer.headers, this.#time.now()),
      remaining: remainingRequests(answer.headers),
    };
    this.#limiter.note(pace, lane);
  }

  #confirmOf(request: Request): (() => Promise<ServiceAnswer | undefined>) | undefined {
    if (request.kind === 'read' || !request.confirm) return undefined;
    const { confirm, what } = request;
    return async () => {
      try {
        const json = await confirm();
        return json === undefined ? undefined : { status: 200, json, length: 0 };
      } catch (cause) {
        const why = 'it is unknown whether it was done, and looking failed';
        const message = `cannot ${what}: ${why}: ${messageOf(cause)}`;
        throw new FlagkeelError('UNREACHABLE', message, { cause });
      }
    };
  }

  #error(request: Request, gaveUp: GaveUp): FlagkeelError {
    const { last } = gaveUp;
    const isRead = request.kind === 'read';
    const fateUnknown = isRead ? undefined : gaveUp.uncertain;
    const why = !isRead && wantsRequest(last) ? REQUEST_WANTED.byHand : whyGivenUp(gaveUp, isRead);
    const message = `${this.#cannot(request)}: ${why}`;
    const isRefusal = last.failure === 'refused' || (!isRead && (last.status ?? 0) >= 400);
    if (!isRefusal || last.status === null) {
      return new FlagkeelError(codeOf(last.failure), message, { cause: last.cause, fateUnknown });
    }
    const isKeyRefused = last.status === 401 || (isRead && last.status === 403);
    const otherwise = isRead ? 'UNREADABLE' : 'REJECTED';
    const code = isKeyRefused ? 'UNAUTHORISED' : otherwise;
    return new RejectedError(
      message + wayOutOf(last.status, isRead),
      {
        status: last.status,
        serviceMessage: last.serviceMessage ?? '',
        transactionId: last.transactionId ?? null,
      },
      { code, fateUnknown },
    );
  }

  /** Untrusted text, fit for one line of a report: without the key, control characters, or great length. */
  clean(text: string): string {
    const withoutKey = text.replaceAll(this.#options.key(), '[redacted]');
    return withoutKey
      .replace(/fka_[\w-]+/g, '[redacted]')
      .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ')
      .slice(0, 500);
  }
}

/** One or two writes may fail for a reason of their own. */
const MOST_UNAVAILABLE = 3;
const DOUBT = '; it is unknown whether it was done';
const PACE = 'the service limits the number of requests';

function laneOf(request: Request): Lane {
  return request.kind === 'read' ? 'normal' : (request.lane ?? 'normal');
}

const FAILURE_OF: Readonly<Record<Fault, Failure>> = {
  'not-sent': 'not-sent',
  lost: 'lost',
  garbled: 'lost',
  untrusted: 'permanent',
  'too-large': 'permanent',
};

/** The result as if the service had been asked, and had refused this request like the one before. */
function pausedTry({ waitMs, message }: PauseTooLong): FailedTry {
  return { ok: false, failure: 'throttled', status: 429, why: message, askedWaitMs: waitMs };
}

function noAnswer(error: NoAnswerError): FailedTry {
  return {
    ok: false,
    failure: FAILURE_OF[error.fault],
    status: null,
    why: error.message,
    cause: error,
  };
}

function codeOf(failure: Failure): 'UNREACHABLE' | 'UNREADABLE' {
  return failure === 'permanent' || failure === 'unreadable' ? 'UNREADABLE' : 'UNREACHABLE';
}

function whyGivenUp({ last, tries, uncertain, elapsedMs }: GaveUp, isRead: boolean): string {
  const quote = last.serviceMessage ? ` ${JSON.stringify(last.serviceMessage)}` : '';
  const spent = tries === 1 ? '' : `, ${tries} tries within ${Math.round(elapsedMs / 1_000)} s`;
  const doubt = uncertain && !isRead ? DOUBT : '';
  const isSilent = last.failure === 'not-sent' || last.failure === 'lost';
  if (isSilent && tries > 1) {
    const after = `no answer within ${Math.round(elapsedMs / 1_000)} s, ${tries} tries`;
    return `${after} (${last.why})${doubt}`;
  }
  return last.why + quote + spent + doubt;
}

function wayOutOf(status: number, isRead: boolean): string {
  if (status === 401) {
    return ' (check that FLAGKEEL_API_KEY, or the file that FLAGKEEL_API_KEY_FILE names, holds a current Admin API key of this service)';
  }
  if (status === 403 && isRead) {
    return ' (check the role of the key, and the workspaces and environments that it is restricted to)';
  }
  return '';
}
