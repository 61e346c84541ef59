/** One value for all that have the same text, and a number for it, counted from 0. */
export class Interned<T extends object> {
  readonly #textOf: (value: T) => string;
  readonly #byText = new Map<string, number>();
  readonly #values: T[] = [];
  readonly #known = new WeakMap<T, number>();

  constructor(text: (value: T) => string) {
    this.#textOf = text;
  }

  canonical(value: T): T {
    return this.at(this.idOf(value));
  }

  at(id: number): T {
    const found = this.#values[id];
    if (!found) throw new Error(`nothing has the number ${id}`);
    return found;
  }

  idOf(value: T): number {
    const known = this.#known.get(value);
    if (known !== undefined) return known;
    const text = this.#textOf(value);
    const found = this.#byText.get(text) ?? this.#values.length;
    if (found === this.#values.length) {
      this.#values.push(value);
      this.#byText.set(text, found);
    }
    this.#known.set(value, found);
    return found;
  }
}
