import type { AuthHeader } from '../origin.js';
import { FlagkeelError } from '../../errors.js';
import { HttpClient, type Answer, type Method } from '../../platform/http-client.js';

export interface TransportOptions {
  /** As `decideOrigin` answers it. */
  readonly url: string;
  /** Asked for every request, so that a rotated key is picked up. */
  readonly key: () => string;
  /** In which header the key goes; default: `authorization`, as a Bearer token. */
  readonly authHeader?: AuthHeader | undefined;
  /** Of flagkeel, for the User-Agent. */
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

const CONNECTIONS = 10;
const MiB = 1024 * 1024;

/**
 * One request, one try: HTTP with bounds on time and size, and without following redirects, because a redirect would
 * carry the key to a host that nobody allowed.
 */
export class HttpTransport {
  /** Scheme, host and port, without a slash at the end. */
  readonly origin: string;
  readonly #client: HttpClient;
  readonly #prefix: string;
  readonly #options: TransportOptions;
  readonly #counts: Record<Method, number> = { GET: 0, POST: 0, PUT: 0, PATCH: 0, DELETE: 0 };

  constructor(options: TransportOptions) {
    this.#client = new HttpClient({
      url: options.url,
      connections: CONNECTIONS,
      connectTimeoutMs: options.connectTimeoutMs ?? 5_000,
      headersTimeoutMs: options.headersTimeoutMs ?? 30_000,
      bodyTimeoutMs: options.bodyTimeoutMs ?? 30_000,
      maxAnswerBytes: options.maxAnswerBytes ?? 64 * MiB,
    });
    this.origin = this.#client.origin;
    this.#prefix = new URL(options.url).pathname.replace(/(?<!\/)\/+$/, '');
    this.#options = options;
  }

  /**
   * @throws NoAnswerError no whole answer came.
   * @throws FlagkeelError NO_KEY the key cannot be sent.
   */
  async send(request: TransportRequest): Promise<Answer> {
    const headers = this.#headers(request.body !== undefined);
    const total = this.#options.totalTimeoutMs ?? 120_000;
    const limitMs = Math.ceil(Math.min(total, request.limitMs ?? total));
    this.#counts[request.method] += 1;
    return within(limitMs, request.signal, async (signal) =>
      this.#client.send({
        method: request.method,
        path: this.#prefix + request.path + queryText(request.query),
        headers,
        body: request.body === undefined ? null : JSON.stringify(request.body),
        signal,
      }),
    );
  }

  /** Requests by method since the start, tries counted one by one. */
  counts(): Readonly<Record<Method, number>> {
    return { ...this.#counts };
  }

  async close(): Promise<void> {
    await this.#client.close();
  }

  #headers(hasBody: boolean): Record<string, string> {
    const key = this.#options.key();
    // Checked here, because the library would quote the key in its own complaint.
    if (!/^[\x21-\x7e]+$/.test(key)) {
      throw new FlagkeelError(
        'NO_KEY',
        'cannot use the Admin API key: it is empty or holds characters that a header cannot carry',
      );
    }
    return {
      ...authHeaders(key, this.#options.authHeader),
      accept: 'application/json',
      'user-agent': `flagkeel/${this.#options.version}`,
      ...(hasBody ? { 'content-type': 'application/json' } : {}),
    };
  }
}

function authHeaders(key: string, name: AuthHeader = 'authorization'): Record<string, string> {
  return { [name]: name === 'authorization' ? `Bearer ${key}` : key };
}

/**
 * Runs a task with a signal that is aborted after a time, or with another signal. Nothing of it is left when the task
 * is done: signals of their own time-out would be, one for each request, until their time is over.
 */
async function within<T>(
  limitMs: number,
  outer: AbortSignal | undefined,
  task: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  outer?.throwIfAborted();
  const limit = new AbortController();
  const follow = (): void => {
    limit.abort(outer?.reason);
  };
  const timer = setTimeout(() => {
    limit.abort(new DOMException('the request took too long', 'TimeoutError'));
  }, limitMs);
  outer?.addEventListener('abort', follow, { once: true });
  try {
    return await task(limit.signal);
  } finally {
    clearTimeout(timer);
    outer?.removeEventListener('abort', follow);
  }
}

/**
 * Encodes the segments of a path.
 *
 * @throws FlagkeelError UNREADABLE a segment would be read as a step in the path. Names of the specs never are; ids
 *   and names that the service answered could be.
 */
export function encodePath(segments: readonly string[]): string {
  return segments.map((segment) => `/${encodeSegment(segment)}`).join('');
}

function encodeSegment(segment: string): string {
  if (segment === '' || segment === '.' || segment === '..') throw unusable(segment);
  try {
    return encodeURIComponent(segment);
  } catch {
    throw unusable(segment);
  }
}

function unusable(segment: string): FlagkeelError {
  return new FlagkeelError(
    'UNREADABLE',
    `cannot ask the service for ${JSON.stringify(segment)}: it cannot stand in a path`,
  );
}

function queryText(query: TransportRequest['query']): string {
  // Half a surrogate pair cannot be encoded; words that were cut from a commit may end in one.
  const encode = (text: string) => encodeURIComponent(text.replace(/\p{Surrogate}/gu, '\uFFFD'));
  const pairs = Object.entries(query ?? {}).map(
    ([name, value]) => `${encode(name)}=${encode(value)}`,
  );
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`;
}
