import type { Answer, Method } from '../../platform/http-client.js';
import { isRecord } from '../../model/json.js';
import type { Check } from '../decode.js';
import type { Lane } from './rate-limiter.js';
import { askedWaitMs, type RequestKind, type FailedTry, type Failure, type Try } from './retry.js';

/** One GET. It cannot express a write. */
export interface ReadRequest<T = unknown> {
  /** Labels metrics, without ids and names: `splits/ws/:workspace`. */
  readonly route: string;
  /** What stands in the path for each `:word` of the route; not encoded. */
  readonly at?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  /** Purpose for error messages: `read flags`. */
  readonly what: string;
  /** Whether an error status counts as an answer. `isOwn`: the body is from the service itself, not from a proxy. */
  readonly accepts?: (status: number, isOwn: boolean) => boolean;
  /** Checks the body of an answer that is no error; what it throws makes the answer unreadable. */
  readonly check?: Check<T>;
}

export interface WriteRequest<T = unknown> extends ReadRequest<T> {
  readonly kind: Exclude<RequestKind, 'read'>;
  readonly method: Exclude<Method, 'GET'>;
  readonly body?: unknown;
  readonly lane?: Lane;
  /** For `create` and `patch`: looks up the effect of an earlier try, in the form of an answer. */
  readonly confirm?: () => Promise<unknown>;
}

export type Request<T = unknown> =
  (ReadRequest<T> & { readonly kind: 'read'; readonly method: 'GET' }) | WriteRequest<T>;

/** A single try, of which a call may need several. */
export interface SentRequest {
  readonly method: Method;
  readonly route: string;
  /** null if no complete answer came. */
  readonly status: number | null;
  readonly durationMs: number;
}

/** Counts all requests to the service. Never throws. */
export interface Traffic {
  /** Called at the end of each request of which `onTurn` told the beginning. */
  readonly onRequest: (request: SentRequest) => void;
  /** Called right before a request is sent, with the time that it waited for the rate limiter. */
  readonly onTurn: (waitMs: number) => void;
  readonly onRetry: () => void;
}

export interface ServiceAnswer<T = unknown> {
  readonly status: number;
  /** `undefined` for an error status, and if the body was empty or, for patch, delete and write, plain text. */
  readonly json: T | undefined;
  /** Characters of the body; 0 if the answer was derived from others. */
  readonly length: number;
}

export interface Expected {
  readonly kind: RequestKind;
  readonly accepts: (status: number, isOwn: boolean) => boolean;
  readonly now: number;
  readonly clean: (text: string) => string;
}

/** Deeper answers are refused: no document of the service is nearly as deep. */
const MAX_DEPTH = 64;

export function classify(answer: Answer, expected: Expected): Try<ServiceAnswer> {
  const { status } = answer;
  if (status === 202) return failed('challenged', answer, expected, 'the service answered 202');
  if (status >= 200 && status < 300) return classifySuccess(answer, expected);
  if (status < 400) return failed('permanent', answer, expected, redirectText(answer, expected));

  const body = errorBody(answer);
  if (expected.accepts(status, body !== undefined)) {
    return { ok: true, answer: { status, json: undefined, length: answer.text.length } };
  }
  const why = `the service answered ${status}`;
  return {
    ...failed(failureOf(status, body !== undefined, expected.kind), answer, expected, why),
    serviceMessage: expected.clean(body?.message ?? ''),
    transactionId: body?.transactionId == null ? null : expected.clean(body.transactionId),
  };
}

/**
 * Whether a service refused a write because it wants a change request first. It documents only the status and first words.
 */
export function wantsRequest({
  status,
  serviceMessage = '',
}: Pick<FailedTry, 'status' | 'serviceMessage'>): boolean {
  return status === 403 && serviceMessage.startsWith('Approvals are required');
}

export function isThrottle(answer: Answer): boolean {
  return answer.status === 429 || answer.status === 503 || answer.status === 202;
}

function classifySuccess(answer: Answer, expected: Expected): Try<ServiceAnswer> {
  const unreadable = (what: string): FailedTry =>
    failed('unreadable', answer, expected, `the service answered ${what} in place of JSON`);
  const { status, text } = answer;
  if (isPage(answer)) return unreadable('a page');
  if (depthOf(text) > MAX_DEPTH) return unreadable('something nested too deep');
  const json = parse(text);
  const needsJson = expected.kind === 'read' || expected.kind === 'create';
  if (json !== undefined || !needsJson) {
    return { ok: true, answer: { status, json, length: text.length } };
  }
  return unreadable(text.trim() === '' ? 'nothing' : 'something');
}

function failureOf(status: number, isServiceBody: boolean, kind: RequestKind): Failure {
  if (status === 429) return 'throttled';
  if (status === 503 || status === 408 || status === 425) return 'unavailable';
  if (status >= 500) return 'server-error';
  // A proxy's page for an unknown path, which a read treats like any other page.
  if (status === 404 && !isServiceBody && kind === 'read') return 'unreadable';
  return 'refused';
}

function failed(failure: Failure, answer: Answer, expected: Expected, why: string): FailedTry {
  return {
    ok: false,
    failure,
    status: answer.status,
    why,
    askedWaitMs: askedWaitMs(answer.headers, expected.now),
  };
}

function redirectText(answer: Answer, expected: Expected): string {
  const location = answer.headers['location'] ?? '';
  const to = URL.canParse(location) ? ` to ${expected.clean(new URL(location).origin)}` : '';
  return `the service answered ${answer.status}, a redirect${to}, and none is followed with the key`;
}

function isPage(answer: Answer): boolean {
  const type = answer.headers['content-type'] ?? '';
  return type.includes('text/html') || answer.text.trimStart().startsWith('<');
}

/** The body of an error by the contract, in which `code` equals the status. */
function errorBody(answer: Answer) {
  if (isPage(answer) || depthOf(answer.text) > MAX_DEPTH) return undefined;
  const body = parse(answer.text);
  if (!isRecord(body) || body['code'] !== answer.status) return undefined;
  const text = (name: string): string | null => {
    const value = body[name];
    return typeof value === 'string' ? value : null;
  };
  return { message: text('message') ?? '', transactionId: text('transactionId') };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** Of nested brackets in JSON text. */
function depthOf(text: string): number {
  let depth = 0;
  let deepest = 0;
  let isString = false;
  for (let i = 0; i < text.length; i += 1) {
    const char = text[i];
    if (isString) {
      if (char === '\\') i += 1;
      else if (char === '"') isString = false;
    } else if (char === '"') isString = true;
    else if (char === '[' || char === '{') deepest = Math.max(deepest, (depth += 1));
    else if (char === ']' || char === '}') depth -= 1;
  }
  return deepest;
}

/** Any 404 or 405, even of a proxy: the caller checks whether the service knows the ids in the path. */
export const isNoEndpoint = (status: number): boolean => status === 404 || status === 405;
