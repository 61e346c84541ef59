import type { FastifyRequest } from 'fastify';
import { Refusal } from './http-error.js';
import { isSameSecret, readSecrets } from './secret-file.js';

/** What a token lets its holder do. Each of them includes looking. */
const SCOPES = ['read', 'operate', 'approve'] as const;

type Scope = (typeof SCOPES)[number];

/** A line of the file of tokens. */
interface Token {
  readonly secret: string;
  /** For the log; no secret. */
  readonly name: string;
  readonly scopes: readonly Scope[];
}

/** Paths that a supervisor and a forge ask without a token of ours. */
const OPEN: ReadonlySet<string | undefined> = new Set(['/healthz', '/readyz', '/webhook']);

/** Who may look and who may ask, by a file of tokens that is read again for each request. */
export class Access {
  readonly #tokenFile: string | undefined;
  /** Names of those who were let in. */
  readonly #names = new WeakMap<FastifyRequest, string>();

  /** @param tokenFile absent: nobody may ask for anything. */
  constructor(tokenFile: string | undefined) {
    this.#tokenFile = tokenFile;
  }

  /** @throws Refusal 401 no token, 403 it may not do that, or asking is off, 503 the file is no use. */
  async require(request: FastifyRequest): Promise<void> {
    const scope = scopeOf(request);
    // A password that a browser remembers would go with what a page of another site asks.
    const token = await this.#tokenOf(request, bearerOf(request));
    if (!token.scopes.includes(scope)) {
      throw new Refusal(403, `cannot do what was asked: the token has no scope "${scope}"`);
    }
    this.#names.set(request, token.name);
  }

  /** Lets whoever has a token look; what only says whether the daemon lives is open. @throws Refusal as `require`. */
  async look(request: FastifyRequest): Promise<void> {
    // What is posted is asked about where it is taken.
    if (request.method === 'POST' || OPEN.has(request.routeOptions.url)) return;
    await this.#tokenOf(request, bearerOf(request) ?? passwordOf(request));
  }

  /** Of the token that the request bore. */
  nameOf(request: FastifyRequest): string {
    return this.#names.get(request) ?? 'nobody';
  }

  async #tokenOf({ method }: FastifyRequest, given: string | undefined): Promise<Token> {
    if (this.#tokenFile === undefined) {
      throw new Refusal(
        403,
        'cannot do what was asked: write endpoints are off (start with --token-file FILE)',
      );
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
    throw new Refusal(401, `cannot ${what}: it needs "Authorization: Bearer" and a token`);
  }
}

/** `TOKEN [NAME [SCOPE,SCOPE…]]`; a token alone may do everything. @throws Refusal 503 the line is something else. */
function parseToken(line: string, index: number): Token {
  const [secret = '', name = `token ${String(index + 1)}`, listed, ...rest] = line.split(/\s+/);
  if (listed === undefined) return { secret, name, scopes: SCOPES };
  const scopes = listed.split(',').flatMap((word) => SCOPES.find((scope) => scope === word) ?? []);
  if (rest.length === 0 && scopes.length === listed.split(',').length)
    return { secret, name, scopes };
  const wanted = `TOKEN NAME SCOPES, the scopes of ${SCOPES.join(', ')}`;
  throw new Refusal(
    503,
    `cannot check the token: line ${String(index + 1)} of the file of tokens is not ${wanted}`,
  );
}

function bearerOf({ headers }: FastifyRequest): string | undefined {
  return /^Bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1];
}

/** As browsers send what their user typed: `Basic` and base64 of `NAME:TOKEN`; the name is not looked at. */
function passwordOf({ headers }: FastifyRequest): string | undefined {
  const [, encoded = ''] = /^Basic +([A-Za-z0-9+/=]+) *$/i.exec(headers.authorization ?? '') ?? [];
  return /^[^:]*:(\S+)$/.exec(Buffer.from(encoded, 'base64').toString('utf8'))?.[1];
}

/** An endpoint that ends with the name of a scope wants that one: who may approve is seldom everybody who may ask for a run. */
function scopeOf({ routeOptions }: FastifyRequest): Scope {
  return SCOPES.find((scope) => routeOptions.url?.endsWith(`/${scope}`)) ?? 'operate';
}

/** How whoever was not let in may try again. */
export function challengeOf({ method }: FastifyRequest): string {
  return method !== 'POST' ? 'Basic realm="flagkeel", charset="UTF-8"' : 'Bearer';
}
