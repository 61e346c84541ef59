import { randomBytes } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { sha256 } from '../model/json.js';
import type { AppOptions } from '../service/http/app.js';
import { isSameKey } from '../service/http/key-check.js';
import { forbidden, Problem } from '../service/http/problem.js';
import { requestCounter } from '../service/rules/rate-limit.js';
import { endSession, findSession, startSession } from '../service/store/admin-keys.js';
import type { AdminKeyRow } from '../service/store/tables.js';

/** The key that a browser acts for. */
export interface Session {
  readonly key: AdminKeyRow;
  /** A secret in every form of a page. Only this browser can read it. */
  readonly formToken: string;
}

export type SignInParts = Pick<AppOptions, 'store' | 'keys' | 'clock'>;

const COOKIE = 'flagkeel_console';
const LASTS_MS = 8 * 3_600_000;
/**
 * The most tries of one address, and of all together. Keys are too long to guess; the limits protect the store from the
 * load of trying.
 */
const TRIES = { requests: 10, perSeconds: 60 };
const ALL_TRIES = { requests: 100, perSeconds: 60 };
const TOKEN_BYTES = 32;

/**
 * Signs browsers in with an Admin API key. The store keeps a hash of the browser's token and the id of the key. Each
 * request looks up the key again, so that revoking a key ends its sessions.
 */
export class SignIn {
  readonly #parts: SignInParts;
  readonly #tries = requestCounter(TRIES);
  readonly #allTries = requestCounter(ALL_TRIES);

  constructor(parts: SignInParts) {
    this.#parts = parts;
  }

  /** @throws Problem (401) the key is not valid; (403) the form comes from another site; (429) too many tries. */
  async begin(request: FastifyRequest, reply: FastifyReply, keyText: string): Promise<void> {
    const { keys, clock, store } = this.#parts;
    const now = clock();
    checkOwnOrigin(request);
    const all = this.#allTries('', now);
    if (!this.#tries(request.ip, now).allowed || !all.allowed) {
      throw new Problem(429, 'Too many tries: wait for a minute');
    }
    const key = await keys.byText(keyText.trim());
    const token = randomBytes(TOKEN_BYTES).toString('base64url');
    const expiration_time = Math.min(now + LASTS_MS, key.expiration_time ?? Infinity);
    const session = { hash: sha256(token), key_id: key.id, expiration_time };
    await store.write(async (db) => startSession(db, session, now));
    void reply.header('set-cookie', cookieOf(request, token, (expiration_time - now) / 1_000));
  }

  async find(request: FastifyRequest): Promise<Session | undefined> {
    const { store, keys, clock } = this.#parts;
    const token = tokenOf(request);
    if (token === undefined) return undefined;
    const session = await findSession(store.lookUp, sha256(token), clock());
    if (session === undefined) return undefined;
    const key = await keys.byId(session.key_id).catch((error: unknown) => {
      if (error instanceof Problem && error.status === 401) return undefined;
      throw error;
    });
    if (key === undefined) return undefined;
    // The log of requests shows this key.
    request.adminKey = key;
    return { key, formToken: sha256(`form of ${token}`) };
  }

  /** @throws Problem (403) the request has no session, or the form is not from one of its pages. */
  async require(request: FastifyRequest, formToken: string | null): Promise<Session> {
    checkOwnOrigin(request);
    const session = await this.find(request);
    if (session === undefined) throw forbidden('Nobody is signed in');
    if (!isSameKey(formToken ?? '', sha256(session.formToken))) {
      throw forbidden('The form is not from a page of this session: load the page again');
    }
    return session;
  }

  /** Ends the session, so that copies of its cookie stop working too. */
  async end(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const token = tokenOf(request);
    if (token !== undefined) {
      await this.#parts.store.write(async (db) => endSession(db, sha256(token)));
    }
    void reply.header('set-cookie', cookieOf(request, '', 0));
  }
}

/** Browsers always send the origin of a form. */
function checkOwnOrigin({ headers }: FastifyRequest): void {
  const { origin = '', host } = headers;
  if (URL.canParse(origin) && new URL(origin).host === host) return;
  throw forbidden('The form is not from a page of this service');
}

/** The cookie is `Secure` if the browser used HTTPS. TLS ends at a proxy, which says so in a header. */
function cookieOf({ headers }: FastifyRequest, token: string, seconds: number): string {
  const secure = headers['x-forwarded-proto'] === 'https' ? '; Secure' : '';
  const age = Math.floor(seconds);
  return `${COOKIE}=${token}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${age}${secure}`;
}

function tokenOf({ headers }: FastifyRequest): string | undefined {
  return /(?:^|;\s*)flagkeel_console=([\w-]{1,100})(?:;|$)/.exec(headers.cookie ?? '')?.[1];
}
