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

/** Whole numbers from 0 to 2 ** 53, in the order in which they were first added: 16 to 32 bytes for each, where a `Set` takes a hundred. */
export class NumberSet {
  size = 0;
  #slots = new Float64Array(1 << 12).fill(-1);

  /** @returns whether it was not there. */
  add(number: number): boolean {
    if (!this.#put(number)) return false;
    this.size += 1;
    if (this.size * 2 > this.#slots.length) this.#grow();
    return true;
  }

  #put(number: number): boolean {
    const mask = this.#slots.length - 1;
    let at = hash(number) & mask;
    for (let found = this.#slots[at]; found !== -1; found = this.#slots[at]) {
      if (found === number) return false;
      at = (at + 1) & mask;
    }
    this.#slots[at] = number;
    return true;
  }

  #grow(): void {
    const before = this.#slots;
    this.#slots = new Float64Array(before.length * 2).fill(-1);
    for (const each of before) if (each !== -1) this.#put(each);
  }
}

function hash(number: number): number {
  const high = Math.floor(number / 2 ** 32);
  const mixed = Math.imul(number >>> 0, 0x9e3779b1) ^ Math.imul(high, 0x85ebca6b);
  return Math.imul(mixed ^ (mixed >>> 15), 0x2c1b3c6d) >>> 4;
}
