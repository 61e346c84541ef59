import { setMaxListeners } from 'node:events';
import { FlagkeelError, messageOf, RejectedError } from '../../errors.js';
import { NoAnswerError, type Answer, type Fault, type Method } from '../../platform/http-client.js';
import { isThrottle, classify, wantsRequest, type ServiceAnswer } from './response.js';
import { PauseTooLong, remainingRequests, RequestLimiter, type Lane } from './rate-limiter.js';
import {
  askedWaitMs,
  OutageClock,
  withRetry,
  type FailedTry,
  type Failure,
  type GaveUp,
  type RequestKind,
  type Try,
} from './retry.js';
import { UNASKED } from '../../model/change-request.js';
import { DEFAULT_CONCURRENCY } from '../../model/run.js';
import { realTime, steadyTime, type Time } from '../../platform/clock.js';
import { tracedRequest } from '../../platform/telemetry.js';
import { routeOf, type Traffic } from './request-metrics.js';
import { encodePath, HttpTransport, type TransportOptions } from './transport.js';
import { API_PREFIX } from '../wire.js';

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

/** One GET. It cannot express a write. */
export interface ReadRequest {
  /** Segments of a path of the service, not encoded: `['splits', 'ws', id]`. */
  readonly path: readonly string[];
  readonly query?: Readonly<Record<string, string>>;
  /** Purpose for error messages: `read flags`. */
  readonly what: string;
  /** Whether an error status counts as an answer. `isOwn`: the body is from the service itself, not from a proxy. */
  readonly accepts?: (status: number, isOwn: boolean) => boolean;
}

export interface WriteRequest extends ReadRequest {
  readonly kind: Exclude<RequestKind, 'read'>;
  readonly method: Exclude<Method, 'GET'>;
  readonly body?: unknown;
  readonly lane?: Lane;
  /** For `create`: looks up the effect of an earlier try, in the form of an answer. */
  readonly confirm?: () => Promise<unknown>;
}

/** The client for readers, which cannot write. */
export interface GetOnly {
  readonly origin: string;
  get(request: ReadRequest): Promise<ServiceAnswer>;
}

type Request = (ReadRequest & { kind: 'read'; method: 'GET' }) | WriteRequest;

/**
 * Sends the requests of reader and writer, with retries, rate limit and typed errors.
 *
 * @throws FlagkeelError UNREACHABLE, UNREADABLE, UNAUTHORISED, NO_KEY, INTERRUPTED.
 * @throws RejectedError the service refused the request.
 */
export class AdminClient implements GetOnly {
  readonly origin: string;
  readonly #transport: HttpTransport;
  readonly #limiter: RequestLimiter;
  readonly #silence: OutageClock;
  /** Clock for waits and deadlines. Times from the service are compared with the wall clock. */
  readonly #steady: Time;
  readonly #time: Time;
  readonly #options: AdminClientOptions;
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

  /** The half that cannot write. */
  reads(): GetOnly {
    return Object.freeze({
      origin: this.origin,
      get: async (request: ReadRequest) => this.get(request),
    });
  }

  async get(request: ReadRequest): Promise<ServiceAnswer> {
    return this.#request({ ...request, kind: 'read', method: 'GET' });
  }

  async write(request: WriteRequest): Promise<ServiceAnswer> {
    return this.#request(request);
  }

  /** Number of requests by method; each try counts. */
  counts(): Readonly<Record<Method, number>> {
    return this.#transport.counts();
  }

  /** Requests under way fail, and are not repeated. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#transport.close();
  }

  async #request(request: Request): Promise<ServiceAnswer> {
    const { signal, onWait } = this.#options;
    return withRetry<ServiceAnswer>({
      kind: request.kind,
      time: this.#steady,
      silence: this.#silence,
      signal,
      once: async (uncertain, limitMs, triesBefore) =>
        this.#once(request, { uncertain, limitMs, triesBefore }),
      confirm: this.#confirmOf(request),
      isUrgent: laneOf(request) === 'urgent',
      giveUp: (gaveUp) => this.#error(request, gaveUp),
      ended: (cause, uncertain) => this.#ended(request, cause, uncertain),
      onWait: (waitMs, why) => {
        this.#options.traffic?.onRetry();
        onWait?.({ waitMs, why, what: request.what });
      },
    });
  }

  /** The error of a request that was interrupted, or that `beforeWrite` refused. */
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

  async #once(
    request: Request,
    known: { uncertain: boolean; limitMs: number; triesBefore: number },
  ): Promise<Try<ServiceAnswer>> {
    const { signal } = this.#options;
    const { uncertain, triesBefore } = known;
    const lane = laneOf(request);
    const askedAt = performance.now();
    try {
      const answer = await this.#limiter.run(
        lane,
        async () => {
          this.#options.traffic?.onTurn(performance.now() - askedAt);
          if (request.kind !== 'read')
            await this.#options.beforeWrite?.({ isUrgent: lane === 'urgent' });
          return this.#send(request, known);
        },
        { signal, isAgain: triesBefore > 0 },
      );
      this.#notePace(answer, lane);
      return classify(answer, {
        kind: request.kind,
        accepts: (status, isOwn) =>
          (request.accepts?.(status, isOwn) ?? false) ||
          (request.kind === 'delete' && uncertain && status === 404 && isOwn),
        now: this.#time.now(),
        clean: (text) => this.clean(text),
      });
    } catch (error) {
      if (error instanceof PauseTooLong) return pausedTry(error);
      // A read may simply end, whereas a sent write may have taken effect although its answer is lost.
      const isOver = signal?.aborted === true && request.kind === 'read';
      if (!(error instanceof NoAnswerError) || isOver) throw error;
      // After `close` there is no further try, because it would come after the end of the run.
      return { ...noAnswer(error), ...(this.#isClosed && { failure: 'permanent' }) };
    }
  }

  async #send(
    request: Request,
    { limitMs, triesBefore }: { limitMs: number; triesBefore: number },
  ): Promise<Answer> {
    const { signal, traffic } = this.#options;
    const { method } = request;
    const route = routeOf(request.path);
    const sentAt = performance.now();
    let status: number | null = null;
    const send = async (): Promise<Answer> =>
      this.#transport.send({
        method,
        path: API_PREFIX + encodePath(request.path),
        query: request.query,
        body: request.kind === 'read' ? undefined : request.body,
        limitMs,
        // A write under way is finished: cutting it off would leave its fate unknown.
        signal: request.kind === 'read' ? signal : undefined,
      });
    try {
      const answer = await tracedRequest({ method, route, origin: this.origin, triesBefore }, send);
      ({ status } = answer);
      return answer;
    } finally {
      const durationMs = performance.now() - sentAt;
      traffic?.onRequest({ method, route, status, durationMs });
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
    const confirm = request.kind === 'read' ? undefined : request.confirm;
    return (
      confirm &&
      (async () => {
        try {
          const json = await confirm();
          return json === undefined ? undefined : { status: 200, json, length: 0 };
        } catch (cause) {
          throw new FlagkeelError(
            'UNREACHABLE',
            `cannot ${request.what}: it is unknown whether it was done, and looking failed: ${messageOf(cause)}`,
            { cause },
          );
        }
      })
    );
  }

  #error(request: Request, gaveUp: GaveUp): FlagkeelError {
    const { last } = gaveUp;
    const isRead = request.kind === 'read';
    const fateUnknown = isRead ? undefined : gaveUp.uncertain;
    const cannot = `cannot ${request.what} ${isRead ? 'from' : 'on'} ${this.origin}`;
    const why = !isRead && wantsRequest(last) ? UNASKED.byHand : whyGivenUp(gaveUp, isRead);
    const message = `${cannot}: ${why}`;
    const isRefusal = last.failure === 'refused' || (!isRead && (last.status ?? 0) >= 400);
    if (!isRefusal || last.status === null) {
      return new FlagkeelError(codeOf(last.failure), message, { cause: last.cause, fateUnknown });
    }
    const isKeyRefused = last.status === 401 || (isRead && last.status === 403);
    const code = isKeyRefused ? 'UNAUTHORISED' : isRead ? 'UNREADABLE' : 'REJECTED';
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
  const said = last.serviceMessage ? ` ${JSON.stringify(last.serviceMessage)}` : '';
  const spent = tries === 1 ? '' : `, ${tries} tries within ${Math.round(elapsedMs / 1_000)} s`;
  const doubt = uncertain && !isRead ? DOUBT : '';
  const isSilent = last.failure === 'not-sent' || last.failure === 'lost';
  if (isSilent && tries > 1) {
    const after = `no answer within ${Math.round(elapsedMs / 1_000)} s, ${tries} tries`;
    return `${after} (${last.why})${doubt}`;
  }
  return last.why + said + spent + doubt;
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
