import { Pool, type Dispatcher } from 'undici';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export interface HttpClientOptions {
  /** Only scheme, host and port count. */
  readonly url: string;
  readonly connections: number;
  readonly connectTimeoutMs: number;
  readonly headersTimeoutMs: number;
  /** Limit between two chunks of the body. */
  readonly bodyTimeoutMs: number;
  readonly maxAnswerBytes: number;
}

export interface HttpRequest {
  readonly method: Method;
  /** Encoded, with the query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Encoded request body. */
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

/** No complete answer arrived. */
export class NoAnswerError extends Error {
  readonly fault: Fault;

  constructor(fault: Fault, message: string, options: { cause?: unknown } = {}) {
    super(message, options);
    this.name = 'NoAnswerError';
    this.fault = fault;
  }
}

/** Requests to one origin, with limits on time and size, and without retries or redirects. */
export class HttpClient {
  /** Scheme, host and port, without a slash at the end. */
  readonly origin: string;
  readonly #pool: Pool;
  readonly #maxAnswerBytes: number;

  constructor({ url, maxAnswerBytes, connectTimeoutMs, ...options }: HttpClientOptions) {
    this.origin = new URL(url).origin;
    this.#maxAnswerBytes = maxAnswerBytes;
    this.#pool = new Pool(this.origin, {
      connections: options.connections,
      pipelining: 1,
      connect: { timeout: connectTimeoutMs },
      headersTimeout: options.headersTimeoutMs,
      bodyTimeout: options.bodyTimeoutMs,
      maxResponseSize: maxAnswerBytes,
    });
  }

  /** @throws NoAnswerError if no complete answer arrived. */
  async send(request: HttpRequest): Promise<Answer> {
    try {
      const answer = await this.#pool.request({ ...request, headers: { ...request.headers } });
      refuseUnread(answer, this.#maxAnswerBytes);
      const bytes = await answer.body.arrayBuffer();
      return { status: answer.statusCode, headers: flat(answer.headers), text: decode(bytes) };
    } catch (error) {
      throw error instanceof NoAnswerError ? error : noAnswer(error, this.#maxAnswerBytes);
    }
  }

  async close(): Promise<void> {
    await this.#pool.destroy();
  }
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

/** OpenSSL's and Node's error codes for a certificate that is not accepted. */
const UNTRUSTED = /^(CERT_|ERR_TLS_CERT|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_|INVALID_CA|HOSTNAME_)/;

function noAnswer(cause: unknown, maxAnswerBytes: number): NoAnswerError {
  const code = codeOf(cause);
  const options = { cause };
  if (UNTRUSTED.test(code)) {
    return new NoAnswerError('untrusted', `its certificate is not accepted (${code})`, options);
  }
  if (NOT_SENT.has(code)) {
    return new NoAnswerError('not-sent', `no connection (${code})`, options);
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
