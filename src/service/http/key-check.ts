import type { Scope } from './endpoint.js';
import type { EphemeralKeys } from '../lent-keys.js';
import { adminKeyId, isSameKey } from '../rules/admin-key.js';
import { lookUpAdminKey, noteUseOfAdminKey } from '../store/admin-keys.js';
import type { Store } from '../store/store.js';
import type { AdminKeyRow } from '../store/tables.js';
import { unauthorised } from './problem.js';
import { ResponseCache, type Invalidation } from './response-cache.js';

/** Where the service tells what it does. Never holds a key. */
export interface ServiceLog {
  info(fields: Readonly<Record<string, unknown>>, message: string): void;
  warn(fields: Readonly<Record<string, unknown>>, message: string): void;
  error(fields: Readonly<Record<string, unknown>>, message: string): void;
}

/** What keys are held against. */
interface KeyCheckParts {
  readonly store: Store;
  readonly lentKeys: EphemeralKeys;
  readonly clock: () => number;
  readonly log?: ServiceLog | undefined;
}

/** About what a row of a key takes in the cache, in characters. */
const KEY_SIZE = 500;

/** A use is written once in so many milliseconds for each key, so that no request has to wait for a write. */
const NOTED_EVERY_MS = 3_600_000;

/**
 * Tells who asks. What is remembered of keys is as new as the last change that was answered before the question, so
 * that a revoked key is refused from the next request on.
 */
export class KeyCheck {
  readonly #parts: KeyCheckParts;
  readonly #invalidation: Invalidation;
  readonly #known = new ResponseCache<AdminKeyRow | null>(() => KEY_SIZE);
  /** When the use of a key was last noted, by its id. */
  readonly #noted = new Map<string, number>();
  readonly #notes = new Set<Promise<void>>();

  /** @param invalidation whom to ask for the newest changes first. It tells `forget` of them. */
  constructor(parts: KeyCheckParts, invalidation: Invalidation) {
    this.#parts = parts;
    this.#invalidation = invalidation;
    invalidation.listen((changes) => {
      this.#known.forget(changes);
    });
  }

  /**
   * @param text a key; undefined: the request bears none.
   * @throws Problem (401) the key is missing, wrong or revoked, and the answer does not say which; or it has ended.
   */
  async byText(text: string | undefined): Promise<AdminKeyRow> {
    const id = text === undefined ? undefined : adminKeyId(text);
    if (text === undefined || id === undefined) throw unauthorised();
    return this.#valid(id, ({ hash }) => isSameKey(text, hash));
  }

  /**
   * For whoever has shown the key before.
   *
   * @throws Problem (401) as `byText`.
   */
  async byId(id: string): Promise<AdminKeyRow> {
    return this.#valid(id, () => true);
  }

  /** Resolves once every use is written that was noted before. */
  async settled(): Promise<void> {
    await Promise.all(this.#notes);
  }

  async #valid(id: string, isTheirs: (key: AdminKeyRow) => boolean): Promise<AdminKeyRow> {
    const { lentKeys, clock } = this.#parts;
    // What is remembered, of keys and of answers, is so at least since this request came.
    await this.#invalidation.catchUp();
    const lent = lentKeys.find(id);
    const key = lent ?? (await this.#find(id));
    if (key?.revocation_time !== null || !isTheirs(key)) throw unauthorised();
    const now = clock();
    const { expiration_time: end } = key;
    // Only whoever has the key learns why it lets nobody in.
    if (end !== null && end <= now) {
      throw unauthorised(`The Admin API key ended at ${new Date(end).toISOString()}`);
    }
    if (lent === undefined) this.#noteUse(id, now);
    return key;
  }

  async #find(id: string): Promise<AdminKeyRow | null> {
    return this.#known.recall(id, async () => ({
      value: await lookUpAdminKey(this.#parts.store.lookUp, id),
      subject: `admin-key/${id}`,
    }));
  }

  /** Nobody waits for it, and nothing hangs on it: a use that could not be written is told in the log. */
  #noteUse(id: string, now: number): void {
    if (now - (this.#noted.get(id) ?? -Infinity) < NOTED_EVERY_MS) return;
    this.#noted.set(id, now);
    const { store, log } = this.#parts;
    const note = store
      .write(async (db) => noteUseOfAdminKey(db, id, now))
      .catch((error: unknown) => {
        log?.error({ error: String(error), key: id }, 'the use of a key was not noted');
      })
      .finally(() => this.#notes.delete(note));
    this.#notes.add(note);
  }
}

/** The ids to which a key is restricted. */
export function scopeOf(key: AdminKeyRow): Scope {
  const ids = (text: string | null): string[] | null =>
    text === null ? null : (JSON.parse(text) as string[]);
  return { workspaces: ids(key.workspaces_json), environments: ids(key.environments_json) };
}
