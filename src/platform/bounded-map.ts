/** A map of at most `limit` entries that drops the entry set longest ago. Reading an entry makes it no younger. */
export class BoundedMap<K, V> {
  readonly #entries = new Map<K, V>();
  readonly #limit: number;

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

  /** A live iterator over all entries, the youngest last: it sees changes made meanwhile. */
  entries(): IterableIterator<[K, V]> {
    return this.#entries.entries();
  }

  values(): V[] {
    return [...this.#entries.values()];
  }
}
