/**
 * A map that keeps no more than `limit` entries: the one that was set longest ago goes first. Setting a key again makes
 * it the youngest; reading it does not.
 */
export class BoundedMap<K, V> {
  readonly #entries = new Map<K, V>();
  readonly #limit: number;

  /** @param limit number of entries, at least 1. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: K): V | undefined {
    return this.#entries.get(key);
  }

  set(key: K, value: V): void {
    this.#entries.delete(key);
    this.#entries.set(key, value);
    const oldest = this.#entries.size > this.#limit ? this.#entries.keys().next() : undefined;
    if (oldest?.done === false) this.#entries.delete(oldest.value);
  }

  delete(key: K): void {
    this.#entries.delete(key);
  }

  clear(): void {
    this.#entries.clear();
  }

  /** All entries, the one that was set last at the end; a change of the map while they are walked is seen. */
  entries(): IterableIterator<[K, V]> {
    return this.#entries.entries();
  }

  /** All values at this moment, the one that was set last at the end. */
  values(): V[] {
    return [...this.#entries.values()];
  }
}
