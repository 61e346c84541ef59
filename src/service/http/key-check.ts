import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { findAdminKey, noteUseOfAdminKey } from '../store/admin-keys.js';
import type { Store } from '../store/store.js';
import type { AdminKeyRow } from '../store/tables.js';
import type { Caller, Scope } from './endpoint.js';
import { unauthorised } from './problem.js';
import type { ResponseCache } from './response-cache.js';

/** Every key starts with this, so that people and scanners of secrets recognise it. */
const PREFIX = 'fka_';
/** Base 62: digits and letters need no escaping in URLs and shells. */
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const ID_LENGTH = 12;
const SECRET_LENGTH = 30;
const CHECKSUM_LENGTH = 6;
const SHAPE = new RegExp(`^${PREFIX}[0-9A-Za-z]{${ID_LENGTH + SECRET_LENGTH + CHECKSUM_LENGTH}}$`);

/** The key is shown once to its creator; the store keeps only its hash. */
export function createAdminKey(): { id: string; key: string; hash: string } {
  const id = randomText(ID_LENGTH);
  const payload = id + randomText(SECRET_LENGTH);
  // The checksum protects no secret: it lets scanners tell a key from text that happens to look like one.
  const digest = hash('sha256', payload, 'buffer').subarray(0, CHECKSUM_LENGTH);
  const checksum = [...digest].map((byte) => ALPHABET.charAt(byte % ALPHABET.length)).join('');
  const key = PREFIX + payload + checksum;
  // The secret is long and random, so a slower hash would add nothing.
  return { id, key, hash: hash('sha256', key, 'hex') };
}

function randomText(length: number): string {
  // 248 is the largest multiple of 62 in a byte: bytes above it would make some characters likelier than others.
  const fair = 248;
  let text = '';
  while (text.length < length) {
    for (const byte of randomBytes(length * 2)) {
      if (byte < fair && text.length < length) text += ALPHABET.charAt(byte % ALPHABET.length);
    }
  }
  return text;
}

/** Undefined if the text does not look like a key. Its hash tells whether it is one. */
export function adminKeyId(text: string): string | undefined {
  return SHAPE.test(text) ? text.slice(PREFIX.length, PREFIX.length + ID_LENGTH) : undefined;
}

/** Always takes the same time, so that its duration reveals nothing about the hash. */
export function isSameKey(text: string, keptHash: string): boolean {
  const given = hash('sha256', text, 'buffer');
  const kept = Buffer.from(keptHash, 'hex');
  return given.length === kept.length && timingSafeEqual(given, kept);
}

/**
 * `Authorization: Bearer …` as in the contract, or `x-api-key` as some clients send it. With both, the contract's
 * header counts. @param strict accepts the contract's header only.
 */
export function keyFromHeaders(headers: IncomingHttpHeaders, strict = false): string | undefined {
  const bearer = /^Bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1];
  if (bearer !== undefined || strict) return bearer;
  const other = headers['x-api-key'];
  return typeof other === 'string' ? other : undefined;
}

type LogLine = (fields: Readonly<Record<string, unknown>>, message: string) => void;

/** The log of the service. It never contains a key. */
export type ServiceLog = Readonly<Record<'info' | 'warn' | 'error', LogLine>>;

export interface KeyCheckParts {
  readonly store: Store;
  readonly cache: ResponseCache;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  readonly log?: ServiceLog | undefined;
}

/** The service records the use of a key at most once in this time, so that requests do not wait for a write. */
const NOTED_EVERY_MS = 3_600_000;

/** The cache looks for changes before each check, so that a revoked key is refused from the next request on. */
export class KeyCheck {
  readonly #parts: KeyCheckParts;
  /** By id. */
  readonly #lent = new Map<string, AdminKeyRow>();
  /** Id of a key → when its use was last recorded. */
  readonly #noted = new Map<string, number>();
  readonly #notes = new Set<Promise<void>>();

  constructor(parts: KeyCheckParts) {
    this.#parts = parts;
  }

  /** Makes an Admin API key that may do everything, ends with the service, and leaves no trace in the store. */
  lend(name: string): string {
    const { key, ...made } = createAdminKey();
    this.#lent.set(made.id, { ...newKeyRow(name, this.#parts.clock()), ...made });
    return key;
  }

  /**
   * @throws Problem (401) the key is missing, wrong, revoked or an application's (the answer does not say which), or
   * it has ended.
   */
  async byText(
    text = '',
    use: 'administration' | 'application' = 'administration',
  ): Promise<AdminKeyRow> {
    const id = adminKeyId(text);
    if (id === undefined) throw unauthorised();
    return this.#valid(
      id,
      ({ key_type, hash: kept }) =>
        (key_type === 'admin') === (use === 'administration') && isSameKey(text, kept),
    );
  }

  /** For a session whose user has proved before that they have the key. @throws Problem (401) as `byText`. */
  async byId(id: string): Promise<AdminKeyRow> {
    return this.#valid(id, () => true);
  }

  /** Resolves once all noted uses are written. */
  async settled(): Promise<void> {
    await Promise.all(this.#notes);
  }

  async #valid(id: string, isTheirs: (key: AdminKeyRow) => boolean): Promise<AdminKeyRow> {
    const { cache, store, clock } = this.#parts;
    // Cached keys and answers must be at least as new as this request.
    await cache.catchUp();
    const lent = this.#lent.get(id);
    const read = async (): Promise<AdminKeyRow | undefined> => findAdminKey(store.lookUp, id);
    const key = lent ?? (await cache.recall(`key ${id}`, read));
    if (key?.revocation_time !== null || !isTheirs(key)) throw unauthorised();
    const now = clock();
    const { expiration_time: end } = key;
    // Only a caller with the right key may learn that it has ended.
    if (end !== null && end <= now) {
      throw unauthorised(`The API key ended at ${new Date(end).toISOString()}`);
    }
    if (lent === undefined) this.#noteUse(id, now);
    return key;
  }

  /** The request does not wait for this write. If it fails, the service only logs that. */
  #noteUse(id: string, now: number): void {
    if (now - (this.#noted.get(id) ?? -Infinity) < NOTED_EVERY_MS) return;
    this.#noted.set(id, now);
    const { store, log } = this.#parts;
    const note = store
      .write(async (db) => {
        await noteUseOfAdminKey(db, now, id);
      })
      .catch((error: unknown) => {
        log?.error({ error: String(error), key: id }, 'the use of a key was not noted');
      })
      .finally(() => this.#notes.delete(note));
    this.#notes.add(note);
  }
}

/** A key without restrictions that does not end by itself. */
export function newKeyRow(name: string, now: number): Omit<AdminKeyRow, 'id' | 'hash'> {
  return {
    name,
    key_type: 'admin',
    creation_time: now,
    revocation_time: null,
    expiration_time: null,
    last_use_time: null,
    workspaces_json: null,
    environments_json: null,
    is_exact: 1,
  };
}

export function scopeOf(key: Pick<AdminKeyRow, 'workspaces_json' | 'environments_json'>): Scope {
  const ids = (text: string | null): string[] | null =>
    text === null ? null : (JSON.parse(text) as string[]);
  return { workspaces: ids(key.workspaces_json), environments: ids(key.environments_json) };
}

export function callerWith(
  key: AdminKeyRow,
  request: Pick<Caller, 'note' | 'transactionId' | 'now'>,
): Caller {
  return { keyId: key.id, keyName: key.name, scope: scopeOf(key), ...request };
}
