import { Pool } from 'undici';
import { FlaghoistError } from '../errors.js';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export interface TransportOptions {
  /** As `decideOrigin` answers it. */
  readonly url: string;
  /** Asked for every request, so that a rotated key is picked up. */
  readonly key: () => string;
  /** Of flaghoist, for the User-Agent. */
  readonly version: string;
  readonly connectTimeoutMs?: number;
  readonly headersTimeoutMs?: number;
  /** Between two pieces of the body. */
  readonly bodyTimeoutMs?: number;
  /** The whole request, waiting for a connection included: what drips is given up as well. */
  readonly totalTimeoutMs?: number;
  readonly maxAnswerBytes?: number;
}

export interface TransportRequest {
  readonly method: Method;
  /** Below the prefix of the URL, encoded, see `encodePath`. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>> | undefined;
  /** Sent as JSON. Absent: no body and no content type. */
  readonly body?: unknown;
  /** Shortens `totalTimeoutMs` for this request. */
  readonly limitMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface Answer {
  readonly status: number;
  /** Names in lower case; several of one name joined by a comma. */
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

/**
 * - `not-sent`: no connection was made; the service has seen nothing.
 * - `lost`: whether the service has seen the request is unknown.
 * - `untrusted`: the certificate is not accepted; asking again cannot help.
 * - `too-large`: the answer passed `maxAnswerBytes`.
 * - `garbled`: what came is not HTTP, or not UTF-8.
 */
export type Fault = 'not-sent' | 'lost' | 'untrusted' | 'too-large' | 'garbled';

/** No whole answer came. */
export class NoAnswerError extends Error {
  readonly fault: Fault;

  constructor(fault: Fault, message: string, options: { cause?: unknown } = {}) {
    super(message, options);
    this.name = 'NoAnswerError';
    this.fault = fault;
  }
}

const CONNECTIONS = 10;
const MiB = 1024 * 1024;

/**
 * One request, one try: HTTP with bounds on time and size, and without following redirects, because a redirect would
 * carry the key to a host that nobody allowed.
 */
export class HttpTransport {
  /** Scheme, host and port, without a slash at the end. */
  readonly origin: string;
  readonly #pool: Pool;
  readonly #prefix: string;
  readonly #options: TransportOptions;
  readonly #counts: Record<Method, number> = { GET: 0, POST: 0, PUT: 0, PATCH: 0, DELETE: 0 };

  constructor(options: TransportOptions) {
    const url = new URL(options.url);
    this.origin = url.origin;
    this.#prefix = url.pathname.replace(/\/+$/, '');
    this.#options = options;
    this.#pool = new Pool(url.origin, {
      connections: CONNECTIONS,
      pipelining: 1,
      connect: { timeout: options.connectTimeoutMs ?? 5_000 },
      headersTimeout: options.headersTimeoutMs ?? 30_000,
      bodyTimeout: options.bodyTimeoutMs ?? 30_000,
      maxResponseSize: options.maxAnswerBytes ?? 64 * MiB,
    });
  }

  /**
   * @throws NoAnswerError no whole answer came.
   * @throws FlaghoistError NO_KEY the key cannot be sent.
   */
  async send(request: TransportRequest): Promise<Answer> {
    const headers = this.#headers(request.body !== undefined);
    const total = this.#options.totalTimeoutMs ?? 120_000;
    const limit = AbortSignal.timeout(Math.ceil(Math.min(total, request.limitMs ?? total)));
    const signal = request.signal === undefined ? limit : AbortSignal.any([limit, request.signal]);
    this.#counts[request.method] += 1;
    try {
      const answer = await this.#pool.request({
        method: request.method,
        path: this.#prefix + request.path + queryText(request.query),
        headers,
        body: request.body === undefined ? null : JSON.stringify(request.body),
        signal,
      });
      const bytes = await answer.body.arrayBuffer();
      return {
        status: answer.statusCode,
        headers: flat(answer.headers),
        text: decode(bytes),
      };
    } catch (error) {
      throw error instanceof NoAnswerError ? error : noAnswer(error);
    }
  }

  /** Requests by method since the start, tries counted one by one. */
  counts(): Readonly<Record<Method, number>> {
    return { ...this.#counts };
  }

  async close(): Promise<void> {
    await this.#pool.destroy();
  }

  #headers(hasBody: boolean): Record<string, string> {
    const key = this.#options.key();
    // Checked here, because the library would quote the key in its own complaint.
    if (!/^[\x21-\x7e]+$/.test(key)) {
      throw new FlaghoistError(
        'NO_KEY',
        'cannot use the Admin API key: it is empty or holds characters that a header cannot carry',
      );
    }
    return {
      authorization: `Bearer ${key}`,
      accept: 'application/json',
      'user-agent': `flaghoist/${this.#options.version}`,
      ...(hasBody ? { 'content-type': 'application/json' } : {}),
    };
  }
}

/**
 * Encodes the segments of a path.
 *
 * @throws FlaghoistError UNREADABLE a segment would be read as a step in the path. Names of the specs never are; ids
 *   and names that the service answered could be.
 */
export function encodePath(segments: readonly string[]): string {
  return segments.map((segment) => `/${encodeSegment(segment)}`).join('');
}

function encodeSegment(segment: string): string {
  const unusable = new FlaghoistError(
    'UNREADABLE',
    `cannot ask the service for ${JSON.stringify(segment)}: it cannot stand in a path`,
  );
  if (segment === '' || segment === '.' || segment === '..') throw unusable;
  try {
    return encodeURIComponent(segment);
  } catch {
    throw unusable;
  }
}

function queryText(query: TransportRequest['query']): string {
  // Half a surrogate pair cannot be encoded; words that were cut from a commit may end in one.
  const encode = (text: string) => encodeURIComponent(text.replace(/\p{Surrogate}/gu, '\uFFFD'));
  const pairs = Object.entries(query ?? {}).map(
    ([name, value]) => `${encode(name)}=${encode(value)}`,
  );
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`;
}

function flat(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  const entries = Object.entries(headers).map(([name, value]) => [
    name.toLowerCase(),
    Array.isArray(value) ? value.join(', ') : (value ?? ''),
  ]);
  return Object.fromEntries(entries) as Record<string, string>;
}

function decode(bytes: ArrayBuffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
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

/** Codes of OpenSSL and Node for a certificate that is not accepted. */
const UNTRUSTED = /^(CERT_|ERR_TLS_CERT|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_|INVALID_CA|HOSTNAME_)/;

function noAnswer(cause: unknown): NoAnswerError {
  const code = codeOf(cause);
  const options = { cause };
  if (UNTRUSTED.test(code)) {
    return new NoAnswerError('untrusted', `its certificate is not accepted (${code})`, options);
  }
  if (NOT_SENT.has(code)) {
    return new NoAnswerError('not-sent', `no connection (${code})`, options);
  }
  if (code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE') {
    return new NoAnswerError('too-large', 'the answer is too large', options);
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
