import { setImmediate as afterWhatHasCome } from 'node:timers/promises';
import type { Lookup, LookUp } from '../store/statement.js';
import type { Store } from '../store/store.js';

/** The most characters that the cache holds. Beyond it the cache drops everything. */
const MAX_SIZE = 32 * 1024 * 1024;

/** In characters, roughly. */
const ROW_SIZE = 500;

/**
 * Keeps what was read until anything in the store changes, so that repeated questions need not wait for the store.
 * Callers let `catchUp` look for changes first, also for those of other processes.
 */
export class ResponseCache {
  readonly #store: Pick<Store, 'version'>;
  #version: unknown;
  /** A change replaces the whole object, so that a read that began before it ends in the old one. */
  #kept = { values: new Map<string, unknown>(), size: 0 };
  #running: Promise<void> = Promise.resolve();
  #waiting: Promise<void> | null = null;

  constructor(store: Pick<Store, 'version'>) {
    this.#store = store;
  }

  /** Resolves once the cache holds nothing that is older than any change that was answered before the call. */
  async catchUp(): Promise<void> {
    // A look that is under way may have begun before the change, so the callers of one turn share the next look.
    this.#waiting ??= Promise.allSettled([afterWhatHasCome(), this.#running]).then(async () => {
      this.#waiting = null;
      this.#running = this.#look();
      return this.#running;
    });
    await this.#waiting;
  }

  async #look(): Promise<void> {
    const version = await this.#store.version();
    if (version === this.#version) return;
    this.#version = version;
    this.#kept = { values: new Map(), size: 0 };
  }

  /** @param question equal for requests that must get the same value. */
  async recall<T>(question: string, read: () => Promise<T>): Promise<T> {
    const kept = this.#kept;
    if (kept.values.has(question)) return kept.values.get(question) as T;
    const value = await read();
    kept.size += question.length + (typeof value === 'string' ? value.length : ROW_SIZE);
    if (kept.size > MAX_SIZE) this.#kept = { values: new Map(), size: 0 };
    else kept.values.set(question, value);
    return value;
  }

  lookUpWith(lookUp: LookUp): LookUp {
    return async <Row>(lookup: Lookup, values: readonly unknown[]) =>
      lookup.isKept
        ? this.recall(`${lookup.name} ${JSON.stringify(values)}`, async () =>
            lookUp<Row>(lookup, values),
          )
        : lookUp<Row>(lookup, values);
  }
}
