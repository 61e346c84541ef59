import { FlaghoistError, RejectedError } from '../errors.js';
import { remainingRequests, type Lane, type RequestLimiter } from './limiter.js';
import {
  askedWaitMs,
  withRetry,
  type FailedTry,
  type GaveUp,
  type RequestKind,
  type Silence,
  type Try,
} from './retry.js';
import type { Time } from './time.js';
import {
  encodePath,
  NoAnswerError,
  type Answer,
  type HttpTransport,
  type Method,
} from './transport.js';
import { API_PREFIX } from './wire.js';

/** What there is to say about one request, before it is known how many tries it takes. */
export interface ClientRequest {
  readonly kind: RequestKind;
  readonly method: Method;
  /** Segments of the path below the API's prefix, not yet encoded. */
  readonly path: readonly string[];
  readonly query?: Readonly<Record<string, string>> | undefined;
  readonly body?: unknown;
  /** `read the flags of workspace "Default"`: what a failure could not do. */
  readonly what: string;
  /** Statuses that are an answer and no failure. */
  readonly accept?: readonly number[];
  /** Whether an answer without a body is one. */
  readonly mayBeEmpty?: boolean;
  /** What a try whose fate is unknown has made, if it did. */
  readonly lookUp?: () => Promise<ClientAnswer | undefined>;
}

export interface ClientAnswer {
  readonly status: number;
  /** Parsed JSON; undefined where there was no body. */
  readonly body: unknown;
}

/** The facet that reads. There is nothing in it that could write. */
export interface GetOnly {
  readonly origin: string;
  get(request: Pick<ClientRequest, 'path' | 'query' | 'what' | 'accept'>): Promise<ClientAnswer>;
}

export interface ClientOptions {
  readonly transport: HttpTransport;
  readonly limiter: RequestLimiter;
  readonly silence: Silence;
  readonly time: Time;
  readonly lane?: Lane;
  readonly signal?: AbortSignal | undefined;
  readonly onWait?: ((waitMs: number, why: string) => void) | undefined;
}

/** One request as often as it bears: limiter around transport, and what an answer means. */
export class AdminClient implements GetOnly {
  readonly origin: string;
  readonly #options: ClientOptions;

  constructor(options: ClientOptions) {
    this.origin = options.transport.origin;
    this.#options = options;
  }

  async get(
    request: Pick<ClientRequest, 'path' | 'query' | 'what' | 'accept'>,
  ): Promise<ClientAnswer> {
    return this.send({ ...request, kind: 'read', method: 'GET' });
  }

  /** @throws FlaghoistError see `errorOf`. */
  async send(request: ClientRequest): Promise<ClientAnswer> {
    const { time, silence, signal, onWait } = this.#options;
    return withRetry<ClientAnswer>({
      kind: request.kind,
      time,
      silence,
      signal,
      onWait,
      lookUp: request.lookUp,
      once: async (uncertain, limitMs) => this.#try(request, uncertain, limitMs),
      giveUp: (gaveUp) => errorOf(request, gaveUp, this.origin),
    });
  }

  async #try(
    request: ClientRequest,
    uncertain: boolean,
    limitMs: number,
  ): Promise<Try<ClientAnswer>> {
    const { transport, limiter, lane = 'normal', time, signal } = this.#options;
    const { method, query, body } = request;
    const path = API_PREFIX + encodePath(request.path);
    return limiter.run(
      lane,
      async () => {
        try {
          const answer = await transport.send({ method, path, query, body, limitMs, signal });
          const wait = askedWaitMs(answer.headers, time.now());
          const result = resultOf(answer, request, uncertain, wait);
          limiter.note({
            throttled:
              !result.ok && ['throttled', 'unavailable', 'challenged'].includes(result.failure),
            askedWaitMs: wait,
            remaining: remainingRequests(answer.headers),
          });
          return result;
        } catch (error) {
          if (error instanceof NoAnswerError) return withoutAnswer(error);
          throw error;
        }
      },
      signal,
    );
  }
}

function withoutAnswer(error: NoAnswerError): FailedTry {
  const failure = error.fault === 'not-sent' || error.fault === 'lost' ? error.fault : 'permanent';
  return { ok: false, failure, status: null, why: error.message, cause: error };
}

function resultOf(
  answer: Answer,
  request: ClientRequest,
  uncertain: boolean,
  wait: number | undefined,
): Try<ClientAnswer> {
  const { status } = answer;
  const body = parsed(answer.text);
  const failed = (failure: FailedTry['failure'], why: string): FailedTry => ({
    ok: false,
    failure,
    status,
    why,
    askedWaitMs: wait,
    ...wordsOf(body),
  });
  if (request.accept?.includes(status)) return { ok: true, answer: { status, body } };
  // What a lost try deleted is not there any more; that was the wish.
  if (request.kind === 'delete' && uncertain && status === 404)
    return { ok: true, answer: { status, body: true } };
  if (status === 202) return failed('challenged', 'something in front of the service answered 202');
  if (status >= 200 && status < 300) {
    if (body !== undefined || (request.mayBeEmpty === true && answer.text.trim() === '')) {
      return { ok: true, answer: { status, body } };
    }
    return failed('unreadable', 'the service answered with something that is not JSON');
  }
  const why = `the service answered ${status}`;
  if (status >= 300 && status < 400) {
    return failed('permanent', `${why}, a redirect, which is not followed with the key`);
  }
  if (status === 429) return failed('throttled', why);
  if (status === 503 || status === 408 || status === 425) return failed('unavailable', why);
  return failed(status >= 500 ? 'server-error' : 'refused', why);
}

function parsed(text: string): unknown {
  try {
    return text.trim() === '' ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

function wordsOf(body: unknown): Pick<FailedTry, 'serviceMessage' | 'transactionId'> {
  if (typeof body !== 'object' || body === null) return {};
  const { message, transactionId } = body as { message?: unknown; transactionId?: unknown };
  return {
    ...(typeof message === 'string' && { serviceMessage: message }),
    ...(typeof transactionId === 'string' && { transactionId }),
  };
}

/** How many characters of the service's own words are quoted. */
const MAX_QUOTE = 300;

/**
 * - no answer: `UNREACHABLE`; for a write it is unknown whether it was made
 * - 401, and for a read 403: `UNAUTHORISED`
 * - another status: of a read `UNREADABLE`, of a write `REJECTED`
 */
function errorOf({ what, kind }: ClientRequest, gaveUp: GaveUp, origin: string): Error {
  const { last, tries, uncertain, elapsedMs } = gaveUp;
  const { status, cause, serviceMessage = '' } = last;
  const repeated = tries > 1 ? `, ${tries} tries` : '';
  if (status === null) {
    const within = elapsedMs >= 1_000 ? ` within ${Math.round(elapsedMs / 1_000)} s` : '';
    const fate = kind !== 'read' && uncertain ? '; whether it was made is unknown' : '';
    return new FlaghoistError(
      'UNREACHABLE',
      `cannot ${what}: no answer from ${origin}${within}${repeated}: ${last.why}${fate}`,
      { cause },
    );
  }
  const quoted = serviceMessage === '' ? '' : `: ${serviceMessage.slice(0, MAX_QUOTE)}`;
  const details = { status, serviceMessage, transactionId: last.transactionId ?? null };
  const refused = status === 401 || (status === 403 && kind === 'read');
  if (refused) {
    const message = `cannot ${what}: ${origin} refused the Admin API key with ${status}${quoted} (check FLAGHOIST_API_KEY, and what the key may see)`;
    return new RejectedError(message, details, { code: 'UNAUTHORISED' });
  }
  return new RejectedError(`cannot ${what}: ${last.why}${repeated}${quoted}`, details, {
    code: kind === 'read' ? 'UNREADABLE' : 'REJECTED',
  });
}
