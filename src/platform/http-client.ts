import { fetch, Pool, ProxyAgent, type Dispatcher, type RequestInit } from 'undici';
import { messageOf } from '../errors.js';
import { proxyFor } from './proxy.js';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

interface HttpClientOptions {
  /** Only scheme, host and port count. */
  readonly url: string;
  readonly connections: number;
  readonly connectTimeoutMs: number;
  readonly headersTimeoutMs: number;
  readonly bodyTimeoutMs: number;
  readonly maxAnswerBytes: number;
}

interface HttpRequest {
  readonly method: Method;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  readonly signal: AbortSignal;
}

export interface Answer {
  readonly status: number;
  /** Names in lower case; repeated headers are joined by a comma. */
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

/**
 * - `not-sent`: no connection was made, so the server has not seen the request.
 * - `lost`: the server may or may not have seen the request.
 * - `untrusted`: the certificate is not accepted, so a retry cannot help.
 * - `too-large`: the answer exceeds `maxAnswerBytes`, or its headers the library's limit (16 KiB).
 * - `garbled`: the answer is not HTTP, not UTF-8, or compressed.
 */
export type Fault = 'not-sent' | 'lost' | 'untrusted' | 'too-large' | 'garbled';

export class NoAnswerError extends Error {
  readonly fault: Fault;

  constructor(fault: Fault, message: string, options: { cause?: unknown } = {}) {
    super(message, options);
    this.name = 'NoAnswerError';
    this.fault = fault;
  }
}

/**
 * Requests to one origin, with limits on time and size, without retries or redirects, through the proxy of the
 * environment.
 */
export class HttpClient {
  readonly origin: string;
  readonly #proxy: URL | null;
  readonly #connections: Dispatcher;
  readonly #maxAnswerBytes: number;

  /** @throws FlagkeelError (USAGE) the environment names something else than a proxy. */
  constructor({ url, maxAnswerBytes, connectTimeoutMs, ...options }: HttpClientOptions) {
    this.origin = new URL(url).origin;
    this.#maxAnswerBytes = maxAnswerBytes;
    const limits = {
      connections: options.connections,
      pipelining: 1,
      headersTimeout: options.headersTimeoutMs,
      bodyTimeout: options.bodyTimeoutMs,
      maxResponseSize: maxAnswerBytes,
    };
    this.#proxy = proxyFor(url);
    this.#connections =
      this.#proxy === null
        ? new Pool(this.origin, { ...limits, connect: { timeout: connectTimeoutMs } })
        : throughProxy(this.#proxy, connectTimeoutMs, limits);
  }

  /** @throws NoAnswerError if no complete answer arrived. */
  async send(request: HttpRequest): Promise<Answer> {
    try {
      const answer = await this.#connections.request({
        ...request,
        origin: this.origin,
        headers: { ...request.headers },
      });
      refuseUnread(answer, this.#maxAnswerBytes);
      const bytes = await answer.body.arrayBuffer();
      return { status: answer.statusCode, headers: flat(answer.headers), text: decode(bytes) };
    } catch (error) {
      throw error instanceof NoAnswerError
        ? error
        : noAnswer(error, this.#maxAnswerBytes, this.#proxy);
    }
  }

  async close(): Promise<void> {
    await this.#connections.destroy();
  }
}

/** Connections through a tunnel of the proxy, so that the proxy sees the name of the host and nothing else. */
function throughProxy(proxy: URL, timeout: number, limits: Pool.Options = {}): ProxyAgent {
  return new ProxyAgent({
    ...limits,
    uri: proxy.href,
    proxyTls: { timeout },
    requestTls: { timeout },
    // The library's own limit for the proxy's answer is five minutes.
    clientFactory: (origin, options: object) =>
      new Pool(origin, { ...options, headersTimeout: timeout }),
  });
}

const CONNECT_MS = 5_000;

/**
 * For a library that calls `fetch` by itself: through the proxy of the environment. A redirect is an answer that is
 * not followed, because a token is for one origin. @throws FlagkeelError `USAGE`
 */
export function fetchFor(url: string): typeof fetch {
  const proxy = proxyFor(url);
  const dispatcher = proxy === null ? undefined : throughProxy(proxy, CONNECT_MS);
  return async (input, init?: RequestInit) =>
    fetch(input, { ...init, redirect: 'manual', ...(dispatcher && { dispatcher }) });
}

/** The cause of a failed `fetch`, with the remedy if there is one: the library's own message says only that it failed. */
export function fetchFault(error: unknown): string {
  // Libraries wrap the error of the connection, some more than once.
  if (error instanceof Error && error.cause instanceof Error) return fetchFault(error.cause);
  const code = codeOf(error);
  return UNTRUSTED.test(code) ? untrusted(code) : messageOf(error);
}

function flat(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  const entries = Object.entries(headers).map(([name, value]) => [
    name.toLowerCase(),
    Array.isArray(value) ? value.join(', ') : (value ?? ''),
  ]);
  return Object.fromEntries(entries) as Record<string, string>;
}

/** Refuses an oversized answer, or a compressed one (never requested, and of unlimited size), without reading it. */
function refuseUnread({ headers, body }: Dispatcher.ResponseData, maxAnswerBytes: number): void {
  const encodings = [headers['content-encoding'] ?? []].flat();
  const isPlain = encodings.every((each) => each === '' || each.toLowerCase() === 'identity');
  const isLarge = Number(headers['content-length']) > maxAnswerBytes;
  if (isPlain && !isLarge) return;
  body.on('error', () => undefined).destroy();
  if (isLarge) throw tooLarge(maxAnswerBytes);
  throw new NoAnswerError('garbled', 'the answer is compressed, which was not asked for');
}

function tooLarge(maxAnswerBytes: number, cause?: unknown): NoAnswerError {
  const most = `more than ${(maxAnswerBytes / 1024).toLocaleString('en-US')} KiB`;
  return new NoAnswerError('too-large', `the answer is too large (${most})`, { cause });
}

const UTF8 = new TextDecoder('utf-8', { fatal: true });

function decode(bytes: ArrayBuffer): string {
  try {
    return UTF8.decode(bytes);
  } catch (cause) {
    throw new NoAnswerError('garbled', 'the answer is not UTF-8', { cause });
  }
}

const NOT_SENT = new Set([
  'UND_ERR_CONNECT_TIMEOUT',
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EADDRNOTAVAIL',
]);

/** OpenSSL's, Node's and the library's error codes for a certificate that is not accepted. */
const UNTRUSTED =
  /^(CERT_|ERR_TLS_CERT|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_|INVALID_CA|HOSTNAME_|UND_ERR_PRX_TLS)/;

/** The codes of these that another list of authorities would mend. */
const UNKNOWN_AUTHORITY = /^(DEPTH_ZERO_SELF|SELF_SIGNED|UNABLE_TO_(GET_ISSUER|VERIFY))/;

function untrusted(code: string): string {
  const wayOut = UNKNOWN_AUTHORITY.test(code)
    ? '; if an authority of your own signed it: export NODE_EXTRA_CA_CERTS=/path/to/its-certificate.pem'
    : '';
  return `its certificate is not accepted (${code})${wayOut}`;
}

/** @param proxy the proxy that the request went to; null if it went to the server itself. */
function noAnswer(cause: unknown, maxAnswerBytes: number, proxy: URL | null): NoAnswerError {
  const code = codeOf(cause);
  const options = { cause };
  if (UNTRUSTED.test(code)) return new NoAnswerError('untrusted', untrusted(code), options);
  const name = proxy === null ? '' : `the proxy ${proxy.origin}`;
  const status = /^Proxy response \((\d+)\)/.exec(messageOf(cause))?.[1];
  if (status !== undefined) {
    return new NoAnswerError('not-sent', `${name} refuses the connection (${status})`, options);
  }
  if (NOT_SENT.has(code)) {
    const where = proxy === null ? '' : ` to ${name}`;
    return new NoAnswerError('not-sent', `no connection${where} (${code})`, options);
  }
  if (code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE') return tooLarge(maxAnswerBytes, cause);
  if (code === 'UND_ERR_HEADERS_OVERFLOW') {
    return new NoAnswerError('too-large', 'the headers of the answer are too large', options);
  }
  if (code.startsWith('HPE_')) {
    return new NoAnswerError('garbled', `the answer is not HTTP (${code})`, options);
  }
  return new NoAnswerError('lost', `the connection broke (${code})`, options);
}

function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  if ('code' in error && typeof error.code === 'string') return error.code;
  return error.name;
}

/** Seconds, or an HTTP date, which is compared with the `Date` of the answer if there is one. Never negative. */
export function retryAfterMs(
  headers: Readonly<Record<string, string | number | undefined>>,
  now: number,
): number | undefined {
  const text = headers['retry-after'];
  if (text === undefined) return undefined;
  const plain = secondsIn(String(text));
  if (plain !== undefined) return plain;
  const until = Date.parse(String(text));
  if (Number.isNaN(until)) return undefined;
  const theirNow = Date.parse(String(headers['date'] ?? ''));
  return Math.max(0, until - (Number.isNaN(theirNow) ? now : theirNow));
}

/** In milliseconds. */
export function secondsIn(text: string | undefined): number | undefined {
  if (text === undefined || !/^\d{1,9}(\.\d+)?$/.test(text.trim())) return undefined;
  return Number(text) * 1_000;
}
