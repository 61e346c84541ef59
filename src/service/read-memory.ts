import type { ChangedObject } from './change-news.js';

/** Of what was read, in characters: beyond it everything is forgotten, and read again. */
const MAX_SIZE = 32 * 1024 * 1024;

/** What was read, and what must not have changed for it to be still true. */
export interface Known<T> {
  readonly value: T;
  /** `KIND/NAME` of the one object that it tells of. Null: of more, so that any change may make it untrue. */
  readonly subject: string | null;
}

/** A change of these touches what tells of this one object, and what tells of several; nothing else. */
const APART: ReadonlySet<string> = new Set(['flag', 'segment', 'identity']);

/**
 * What was read, so that who asks again need not wait for the store. It is told of every change, and forgets what the
 * change touched; whoever asks makes sure before that it was told.
 */
export class ReadMemory<T> {
  readonly #sizeOf: (value: T) => number;
  readonly #known = new Map<string, T>();
  /** Questions by subject. */
  readonly #questions = new Map<string | null, string[]>();
  #size = 0;
  #forgotten = 0;

  constructor(sizeOf: (value: T) => number) {
    this.#sizeOf = sizeOf;
  }

  async recall(question: string, read: () => Promise<Known<T>>): Promise<T> {
    const known = this.#known.get(question);
    if (known !== undefined) return known;
    const forgotten = this.#forgotten;
    const { value, subject } = await read();
    // Something was forgotten meanwhile: nobody knows on which side of the change this was read.
    if (this.#forgotten === forgotten) this.#keep(question, value, subject);
    return value;
  }

  forget(changes: readonly ChangedObject[]): void {
    if (changes.length === 0) return;
    this.#forgotten += 1;
    if (changes.some(({ kind }) => !APART.has(kind))) {
      this.#forgetAll();
      return;
    }
    this.#forgetSubject(null);
    for (const { kind, name } of changes) this.#forgetSubject(`${kind}/${name}`);
  }

  #keep(question: string, value: T, subject: string | null): void {
    if (this.#known.has(question)) return;
    this.#size += question.length + this.#sizeOf(value);
    if (this.#size > MAX_SIZE) {
      this.#forgetAll();
      return;
    }
    this.#known.set(question, value);
    const others = this.#questions.get(subject);
    if (others === undefined) this.#questions.set(subject, [question]);
    else others.push(question);
  }

  #forgetSubject(subject: string | null): void {
    for (const question of this.#questions.get(subject) ?? []) {
      const value = this.#known.get(question);
      if (value === undefined) continue;
      this.#size -= question.length + this.#sizeOf(value);
      this.#known.delete(question);
    }
    this.#questions.delete(subject);
  }

  #forgetAll(): void {
    this.#known.clear();
    this.#questions.clear();
    this.#size = 0;
  }
}
