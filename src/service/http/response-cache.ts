import { setImmediate as afterWhatHasCome } from 'node:timers/promises';
import type { Lookup, LookUp } from '../store/statement.js';
import type { Store } from '../store/store.js';

/** The most characters that the cache holds. Beyond it the cache drops everything. */
const MAX_SIZE = 32 * 1024 * 1024;

/** In characters, roughly. */
const ROW_SIZE = 500;

export type ResponseCache = ReturnType<typeof responseCache>;

/**
 * Keeps what was read until anything in the store changes, so that repeated questions need not wait for the store.
 * Callers let `catchUp` look for changes first, also for those of other processes.
 */
export function responseCache(store: Pick<Store, 'version'>) {
  let version: unknown;
  /** A change replaces the whole object, so that a read that began before it ends in the old one. */
  let kept = { values: new Map<string, unknown>(), size: 0 };
  let running: Promise<void> = Promise.resolve();
  let waiting: Promise<void> | null = null;
  const look = async (): Promise<void> => {
    const now = await store.version();
    if (now === version) return;
    version = now;
    kept = { values: new Map(), size: 0 };
  };
  /** @param question equal for requests that must get the same value. */
  const recall = async <T>(question: string, read: () => Promise<T>): Promise<T> => {
    const own = kept;
    if (own.values.has(question)) return own.values.get(question) as T;
    const value = await read();
    own.size += question.length + (typeof value === 'string' ? value.length : ROW_SIZE);
    if (own.size > MAX_SIZE) kept = { values: new Map(), size: 0 };
    else own.values.set(question, value);
    return value;
  };
  return {
    recall,
    /** Resolves once the cache holds nothing that is older than any change that was answered before the call. */
    catchUp: async (): Promise<void> => {
      // A look that is under way may have begun before the change, so the callers of one turn share the next look.
      waiting ??= Promise.allSettled([afterWhatHasCome(), running]).then(async () => {
        waiting = null;
        running = look();
        return running;
      });
      await waiting;
    },
    lookUpWith:
      (lookUp: LookUp): LookUp =>
      async <Row>(lookup: Lookup, values: readonly unknown[]) => {
        const read = async () => lookUp<Row>(lookup, values);
        return lookup.isKept ? recall(`${lookup.name} ${JSON.stringify(values)}`, read) : read();
      },
  };
}
