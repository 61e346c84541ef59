import { randomBytes } from 'node:crypto';
import type { Caller, Scope } from './endpoint.js';
import { adminKeyId, createAdminKey, isSameKey } from '../rules/admin-key.js';
import { lookUpAdminKey, noteUseOfAdminKey } from '../store/admin-keys.js';
import type { Store } from '../store/store.js';
import type { AdminKeyRow } from '../store/tables.js';
import { unauthorised } from './problem.js';
import type { ResponseCache } from './response-cache.js';

/** The log of the service. It never contains a key. */
export interface ServiceLog {
  info(fields: Readonly<Record<string, unknown>>, message: string): void;
  warn(fields: Readonly<Record<string, unknown>>, message: string): void;
  error(fields: Readonly<Record<string, unknown>>, message: string): void;
}

/**
 * Admin API keys that live in memory as long as the service runs. The store does not know them, so that they leave
 * neither rows nor entries in the audit log behind. They may do everything.
 */
export class EphemeralKeys {
  readonly #rows = new Map<string, AdminKeyRow>();

  /** @param name the audit log shows it as the author of changes that are made with the key. */
  lend(name: string, now: number): string {
    const { id, key, hash } = createAdminKey(randomBytes);
    this.#rows.set(id, {
      id,
      name,
      key_type: 'admin',
      hash,
      creation_time: now,
      revocation_time: null,
      expiration_time: null,
      last_use_time: null,
      workspaces_json: null,
      environments_json: null,
      is_exact: 1,
    });
    return key;
  }

  find(id: string): AdminKeyRow | undefined {
    return this.#rows.get(id);
  }
}

interface KeyCheckParts {
  readonly store: Store;
  readonly lentKeys: EphemeralKeys;
  readonly clock: () => number;
  readonly log?: ServiceLog | undefined;
}

/** The service records the use of a key at most once in this time, so that requests do not wait for a write. */
const NOTED_EVERY_MS = 3_600_000;

/**
 * Finds out which key a request has. Before each check the cache looks for changes, so that the service refuses a
 * revoked key from the next request on.
 */
export class KeyCheck {
  readonly #parts: KeyCheckParts;
  readonly #cache: ResponseCache;
  /** Id of a key → when its use was last recorded. */
  readonly #noted = new Map<string, number>();
  readonly #notes = new Set<Promise<void>>();

  constructor(parts: KeyCheckParts, cache: ResponseCache) {
    this.#parts = parts;
    this.#cache = cache;
  }

  /**
   * Finds the key with a text, for the administration or for applications.
   *
   * @throws Problem (401) the key is missing, wrong, revoked or an application's (the answer does not say which), or it
   * has ended.
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

  /** Resolves once all uses that were recorded so far are written. */
  async settled(): Promise<void> {
    await Promise.all(this.#notes);
  }

  async #valid(id: string, isTheirs: (key: AdminKeyRow) => boolean): Promise<AdminKeyRow> {
    const { lentKeys, clock } = this.#parts;
    // Cached keys and answers must be at least as new as this request.
    await this.#cache.catchUp();
    const lent = lentKeys.find(id);
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
    return this.#cache.recall(`key ${id}`, async () =>
      lookUpAdminKey(this.#parts.store.lookUp, id),
    );
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

/** Ids of the workspaces and environments that a key may touch. */
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
