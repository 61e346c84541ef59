import type { Store } from './store/store.js';

/** Of what was read, in characters: beyond it everything is forgotten, and read again. */
const MAX_SIZE = 32 * 1024 * 1024;

/**
 * What was read since the last change, so that who asks again need not wait for the store. Remembers nothing where
 * other processes change the store too. It keeps what reads gave, never what writes would make of it: any change
 * forgets all.
 */
export class ReadMemory<T> {
  readonly #store: Pick<Store, 'version'>;
  readonly #sizeOf: (value: T) => number;
  readonly #values = new Map<string, T>();
  #version: number | null = null;
  #size = 0;

  constructor(store: Pick<Store, 'version'>, sizeOf: (value: T) => number) {
    this.#store = store;
    this.#sizeOf = sizeOf;
  }

  async recall(key: string, read: () => Promise<T>): Promise<T> {
    const version = this.#store.version();
    if (version === null) return read();
    if (version !== this.#version) this.#forget(version);
    const known = this.#values.get(key);
    if (known !== undefined) return known;
    const value = await read();
    // A change came in between: nobody knows on which side of it this was read.
    if (this.#store.version() === version) this.#keep(key, value, version);
    return value;
  }

  #keep(key: string, value: T, version: number): void {
    this.#size += key.length + this.#sizeOf(value);
    if (this.#size > MAX_SIZE) this.#forget(version);
    else this.#values.set(key, value);
  }

  #forget(version: number): void {
    this.#values.clear();
    this.#size = 0;
    this.#version = version;
  }
}
