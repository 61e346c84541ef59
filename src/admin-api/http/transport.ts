import type { AuthHeader } from '../origin.js';
import { FlagkeelError } from '../../errors.js';
import { HttpClient, type Answer, type Method } from '../../platform/http-client.js';
import { API_PREFIX } from '../wire.js';
import type { Request } from './request.js';

export interface TransportOptions {
  readonly url: string;
  /** Called for every request, so that a rotated key takes effect. */
  readonly key: () => string;
  /** Header of the key. Default: `authorization`, as a Bearer token. */
  readonly authHeader?: AuthHeader | undefined;
  readonly version: string;
  readonly headersTimeoutMs?: number;
  /** Limit of the whole request, including the wait for a connection, so that slow trickles end as well. */
  readonly totalTimeoutMs?: number;
  readonly maxAnswerBytes?: number;
}

const CONNECTIONS = 10;
const MiB = 1024 * 1024;

/** Follows no redirects, because those could send the key to a host that the operator has not allowed. */
export class HttpTransport {
  readonly origin: string;
  readonly #client: HttpClient;
  readonly #prefix: string;
  readonly #options: TransportOptions;
  readonly #counts: Record<Method, number> = { GET: 0, POST: 0, PUT: 0, PATCH: 0, DELETE: 0 };

  constructor(options: TransportOptions) {
    this.#client = new HttpClient({
      url: options.url,
      connections: CONNECTIONS,
      connectTimeoutMs: 5_000,
      headersTimeoutMs: options.headersTimeoutMs ?? 30_000,
      bodyTimeoutMs: 30_000,
      maxAnswerBytes: options.maxAnswerBytes ?? 64 * MiB,
    });
    this.origin = this.#client.origin;
    this.#prefix = new URL(options.url).pathname.replace(/(?<!\/)\/+$/, '');
    this.#options = options;
  }

  /**
   * @param limitMs shortens `totalTimeoutMs`.
   * @throws NoAnswerError, or FlagkeelError NO_KEY: the key cannot be sent.
   */
  async send(request: Request, limitMs: number, signal: AbortSignal | undefined): Promise<Answer> {
    const { method } = request;
    const body = request.kind === 'read' ? undefined : request.body;
    const path = this.#prefix + API_PREFIX + pathOf(request) + queryText(request.query);
    // Without a body, there is no content type either.
    const headers = this.#headers(body !== undefined);
    const total = this.#options.totalTimeoutMs ?? 120_000;
    this.#counts[method] += 1;
    const text = body === undefined ? null : JSON.stringify(body);
    return within(Math.ceil(Math.min(total, limitMs)), signal, async (ended) =>
      this.#client.send({ method, path, headers, body: text, signal: ended }),
    );
  }

  counts(): Readonly<Record<Method, number>> {
    return { ...this.#counts };
  }

  async close(): Promise<void> {
    await this.#client.close();
  }

  #headers(hasBody: boolean): Record<string, string> {
    const { authHeader = 'authorization' } = this.#options;
    const key = this.#options.key();
    // Checked here, because the error of the library would quote the key.
    if (!/^[\x21-\x7e]+$/.test(key)) {
      const why = 'it is empty or holds characters that a header cannot carry';
      throw new FlagkeelError('NO_KEY', `cannot use the Admin API key: ${why}`);
    }
    return {
      [authHeader]: authHeader === 'authorization' ? `Bearer ${key}` : key,
      accept: 'application/json',
      'user-agent': `flagkeel/${this.#options.version}`,
      ...(hasBody ? { 'content-type': 'application/json' } : {}),
    };
  }
}

/** `AbortSignal.timeout` would leave one timer per request until its time is over. */
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
 * @throws FlagkeelError UNREADABLE a segment is empty, `.` or `..`, and would change the path. Names in specs never do,
 *   but ids and names from the service could.
 */
export function pathOf({ route, at = {} }: Pick<Request, 'route' | 'at'>): string {
  const words = route.split('/').map((word) => {
    return word.startsWith(':') ? encodeSegment(at[word.slice(1)] ?? '') : word;
  });
  return `/${words.join('/')}`;
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
  const what = `cannot ask the service for ${JSON.stringify(segment)}`;
  return new FlagkeelError('UNREADABLE', `${what}: it cannot stand in a path`);
}

function queryText(query: Request['query']): string {
  // Half a surrogate pair cannot be encoded, and texts that were cut from a commit may end in one.
  const encode = (text: string) => encodeURIComponent(text.replace(/\p{Surrogate}/gu, '\uFFFD'));
  const pairs = Object.entries(query ?? {}).map(
    ([name, value]) => `${encode(name)}=${encode(value)}`,
  );
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`;
}
