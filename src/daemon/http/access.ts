import type { FastifyRequest } from 'fastify';
import { createHash, timingSafeEqual } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import type { Log } from '../../platform/log.js';
import type { Metrics } from '../metrics/metrics.js';
import type { DaemonControls, DaemonView } from '../view.js';

export interface Surface {
  readonly daemon: DaemonView & DaemonControls;
  readonly access: Access;
  readonly metrics: Metrics;
  readonly log: Log;
  readonly now: () => number;
}

/** What a token allows. Every scope includes reading. */
const SCOPES = ['read', 'operate', 'approve'] as const;

type Scope = (typeof SCOPES)[number];

interface Token {
  readonly secret: string;
  readonly name: string;
  readonly scopes: readonly Scope[];
}

/** Supervisors and forges call these paths without one of our tokens. */
const OPEN: ReadonlySet<string | undefined> = new Set(['/healthz', '/readyz', '/webhook']);

/** Checks tokens against a file that is read again on each request, so that edits take effect at once. */
export class Access {
  readonly #tokenFile: string | undefined;
  readonly #names = new WeakMap<FastifyRequest, string>();

  /** @param tokenFile without it, all write endpoints are off. */
  constructor(tokenFile: string | undefined) {
    this.#tokenFile = tokenFile;
  }

  /** Admits a request to a write endpoint. @throws Refusal 401, 403 without scope or token file, 503 for a wrong file. */
  async require(request: FastifyRequest): Promise<void> {
    const scope = scopeOf(request);
    // Only the bearer header counts: browsers add a remembered password to requests that other sites trigger.
    const token = await this.#tokenOf(request, bearerOf(request));
    if (!token.scopes.includes(scope)) {
      throw new Refusal(403, `cannot do what was asked: the token has no scope "${scope}"`);
    }
    this.#names.set(request, token.name);
  }

  /** Admits a request to a read endpoint with any valid token. @throws Refusal as `require`. */
  async look(request: FastifyRequest): Promise<void> {
    // The routes that handle POST check the token themselves.
    if (request.method === 'POST' || OPEN.has(request.routeOptions.url)) return;
    await this.#tokenOf(request, bearerOf(request) ?? passwordOf(request.headers));
  }

  nameOf(request: FastifyRequest): string {
    return this.#names.get(request) ?? 'nobody';
  }

  async #tokenOf({ method }: FastifyRequest, given: string | undefined): Promise<Token> {
    if (this.#tokenFile === undefined) {
      const why = 'write endpoints are off (start with --token-file FILE)';
      throw new Refusal(403, `cannot do what was asked: ${why}`);
    }
    const lines = await readSecrets(this.#tokenFile);
    if (typeof lines === 'string') {
      throw new Refusal(503, `cannot check the token: the file of tokens is ${lines}`);
    }
    const token = lines
      .map(parseToken)
      .find(({ secret }) => given !== undefined && isSameSecret(given, secret));
    if (token !== undefined) return token;
    const what = method === 'POST' ? 'do what was asked' : 'show this';
    const why =
      given === undefined
        ? 'it needs "Authorization: Bearer" and a token'
        : 'the file of tokens does not have this token';
    throw new Refusal(401, `cannot ${what}: ${why}`);
  }
}

/** Parses `TOKEN [NAME [SCOPE,SCOPE…]]`. A token alone may do everything. @throws Refusal 503 for any other form. */
function parseToken(line: string, index: number): Token {
  const [secret = '', name = `token ${String(index + 1)}`, listed, ...rest] = line.split(/\s+/);
  if (listed === undefined) return { secret, name, scopes: SCOPES };
  const scopes = listed.split(',').flatMap((word) => SCOPES.find((scope) => scope === word) ?? []);
  if (rest.length === 0 && scopes.length === listed.split(',').length)
    return { secret, name, scopes };
  const wanted = `TOKEN NAME SCOPES, the scopes of ${SCOPES.join(', ')}`;
  const place = `line ${String(index + 1)} of the file of tokens`;
  throw new Refusal(503, `cannot check the token: ${place} is not ${wanted}`);
}

function bearerOf({ headers }: FastifyRequest): string | undefined {
  return /^Bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1];
}

/** Of a `Basic` header: the token that a user typed into a browser, or the secret of a forge without signatures. */
export function passwordOf(
  headers: Pick<FastifyRequest['headers'], 'authorization'>,
): string | undefined {
  const [, encoded = ''] = /^Basic +([A-Za-z0-9+/=]+) *$/i.exec(headers.authorization ?? '') ?? [];
  return /^[^:]*:(.+)$/.exec(Buffer.from(encoded, 'base64').toString('utf8'))?.[1];
}

/** An endpoint named after a scope requires that scope, because fewer people may approve than may ask for a run. */
function scopeOf({ routeOptions }: FastifyRequest): Scope {
  return SCOPES.find((scope) => routeOptions.url?.endsWith(`/${scope}`)) ?? 'operate';
}

export function challengeOf({ method }: FastifyRequest): string {
  return method !== 'POST' ? 'Basic realm="flagkeel", charset="UTF-8"' : 'Bearer';
}

/** Room for many secrets, and far less than a file named by mistake. */
const MAX_BYTES = 64 * 1024;

/** The secrets of a file, one a line, so that an operator can add a new one before removing the old one. */
export async function readSecrets(
  file: string,
): Promise<readonly string[] | 'unreadable' | 'empty' | 'too-large'> {
  try {
    if ((await stat(file)).size > MAX_BYTES) return 'too-large';
    const lines = (await readFile(file, 'utf8')).split('\n').map((line) => line.trim());
    const secrets = lines.filter((line) => line !== '');
    return secrets.length === 0 ? 'empty' : secrets;
  } catch {
    return 'unreadable';
  }
}

export function isSameSecret(given: string | Uint8Array, known: string | Uint8Array): boolean {
  const digest = (text: string | Uint8Array): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(known));
}

/** A request that the server answers with an error; the client sees the message. */
export class Refusal extends Error {
  readonly statusCode: number;

  /** @param message `cannot <do what>: <why>`, as everywhere, without anything that the client must not learn. */
  constructor(statusCode: number, message: string) {
    super(message);
    this.name = 'Refusal';
    this.statusCode = statusCode;
  }
}
