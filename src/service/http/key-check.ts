import { randomBytes } from 'node:crypto';
import { adminKeyId, createAdminKey, isSameKey } from '../rules/admin-key.js';
import { lookUpAdminKey, noteUseOfAdminKey } from '../store/admin-keys.js';
import type { Store } from '../store/store.js';
import type { AdminKeyRow } from '../store/tables.js';
import type { Caller, Scope } from './endpoint.js';
import { unauthorised } from './problem.js';
import type { ResponseCache } from './response-cache.js';

/** The log of the service. It never contains a key. */
export interface ServiceLog {
  info(fields: Readonly<Record<string, unknown>>, message: string): void;
  warn(fields: Readonly<Record<string, unknown>>, message: string): void;
  error(fields: Readonly<Record<string, unknown>>, message: string): void;
}

interface KeyCheckParts {
  readonly store: Store;
  readonly cache: ResponseCache;
  readonly clock: () => number;
  readonly log?: ServiceLog | undefined;
}

/** The service records the use of a key at most once in this time, so that requests do not wait for a write. */
const NOTED_EVERY_MS = 3_600_000;

/**
 * Before each check the cache looks for changes, so that the service refuses a revoked key from the next request on.
 */
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

  /**
   * Makes an Admin API key that may do everything and ends with the service. The store does not know it, so that it
   * leaves neither a row nor an entry in the audit log behind.
   */
  lend(name: string): string {
    const { id, key, hash } = createAdminKey(randomBytes);
    this.#lent.set(id, {
      id,
      name,
      key_type: 'admin',
      hash,
      creation_time: this.#parts.clock(),
      revocation_time: null,
      expiration_time: null,
      last_use_time: null,
      workspaces_json: null,
      environments_json: null,
      is_exact: 1,
    });
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
      ({ key_type, hash }) =>
        (key_type === 'admin') === (use === 'administration') && isSameKey(text, hash),
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
    const { cache, clock } = this.#parts;
    // Cached keys and answers must be at least as new as this request.
    await cache.catchUp();
    const lent = this.#lent.get(id);
    const key = lent ?? (await this.#find(id));
    if (key?.revocation_time !== null || !isTheirs(key)) throw unauthorised();
    const now = clock();
    const { expiration_time: end } = key;
    // Only a caller with the right key may learn that it has ended.
    if (end !== null && end <= now) {
      throw unauthorised(`The Admin API key ended at ${new Date(end).toISOString()}`);
    }
    if (lent === undefined) this.#noteUse(id, now);
    return key;
  }

  async #find(id: string): Promise<AdminKeyRow | null> {
    const { cache, store } = this.#parts;
    return cache.recall(`key ${id}`, async () => lookUpAdminKey(store.lookUp, id));
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
