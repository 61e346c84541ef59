/** A map of at most `limit` entries that drops the entry set longest ago. Reading an entry makes it no younger. */
export class BoundedMap<K, V> extends Map<K, V> {
  readonly #limit: number;

  constructor(limit: number) {
    super();
    this.#limit = limit;
  }

  override set(key: K, value: V): this {
    this.delete(key);
    super.set(key, value);
    const oldest = this.size > this.#limit ? this.keys().next() : undefined;
    if (oldest?.done === false) this.delete(oldest.value);
    return this;
  }
}
