import { setImmediate as afterWhatHasCome } from 'node:timers/promises';
import type { Lookup, PreparedRead } from '../store/lookup.js';
import type { Store } from '../store/store.js';

/** The object of a change. */
interface ChangedObject {
  readonly kind: string;
  readonly name: string;
}

type Listener = (changes: readonly ChangedObject[]) => void;

/** The id of the last change. Ids of the audit log grow with every change. */
const LAST: Lookup = { name: 'last-change', text: 'select coalesce(max(id), 0) as id from audit' };

/** Changes to read at once; one request may make ten thousand. */
const PAGE = 500;
const SINCE: Lookup = {
  name: 'changes-since',
  text: `select id, kind, name from audit where id > $1 order by id limit ${PAGE}`,
};

/**
 * Notifies listeners of every change, whichever process made it. The changes come from the audit log, which grows in
 * the order in which writers commit. If no other process writes, the log is read only after this process wrote.
 */
export class Invalidation {
  readonly #store: Pick<Store, 'version' | 'lookUp'>;
  readonly #listeners: Listener[] = [];
  #version: number | null = null;
  /** Id of the last change that listeners got; null before the first look at the log. */
  #last: number | null = null;
  #running: Promise<void> = Promise.resolve();
  #waiting: Promise<void> | null = null;

  constructor(store: Pick<Store, 'version' | 'lookUp'>) {
    this.#store = store;
  }

  /** Registers a listener that gets every change from now on. */
  listen(listener: Listener): void {
    this.#listeners.push(listener);
  }

  /**
   * Resolves once listeners got every change that was answered before the call. If no other process writes, and this
   * one has not written since the last call, it does not read the log.
   */
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
    const version = this.#store.version();
    if (version !== null && version === this.#version) return;
    if (this.#last === null) this.#last = await this.#end();
    else await this.#tellAfter(this.#last);
    this.#version = version;
  }

  async #end(): Promise<number> {
    const [row] = await this.#store.lookUp<{ readonly id: number }>(LAST, []);
    return row?.id ?? 0;
  }

  async #tellAfter(last: number): Promise<void> {
    const rows = await this.#store.lookUp<ChangedObject & { readonly id: number }>(SINCE, [last]);
    for (const tell of this.#listeners) tell(rows);
    this.#last = rows.at(-1)?.id ?? last;
    if (rows.length < PAGE) return;
    await afterWhatHasCome();
    await this.#tellAfter(this.#last);
  }
}

/** The most characters that one cache holds. Beyond it the cache drops everything. */
const MAX_SIZE = 32 * 1024 * 1024;

/** A value from the store, with the object whose changes make it out of date. */
export interface CachedResponse<T> {
  readonly value: T;
  /**
   * `KIND/NAME` of the one object that the value depends on; null if it depends on several, so that any change may make
   * it out of date.
   */
  readonly subject: string | null;
}

/**
 * Changes of these kinds touch only values that depend on the one object or on several objects. A change of any other
 * kind, such as a renamed workspace, may touch everything.
 */
const APART: ReadonlySet<string> = new Set(['flag', 'segment', 'identity']);

/**
 * Keeps values that were read, so that repeated questions need not wait for the store. It drops a value as soon as it
 * gets a change of it; callers therefore let `Invalidation` catch up first.
 */
export class ResponseCache<T> {
  readonly #sizeOf: (value: T) => number;
  readonly #known = new Map<string, T>();
  /** Questions by subject. */
  readonly #questions = new Map<string | null, string[]>();
  #size = 0;
  #forgotten = 0;

  constructor(sizeOf: (value: T) => number) {
    this.#sizeOf = sizeOf;
  }

  /**
   * @param question equal for requests that must get the same answer.
   * @param read reads the value. The cache keeps it unless a change arrived meanwhile.
   */
  async recall(question: string, read: () => Promise<CachedResponse<T>>): Promise<T> {
    const known = this.#known.get(question);
    if (known !== undefined) return known;
    const forgotten = this.#forgotten;
    const { value, subject } = await read();
    // If a change arrived during the read, the value may be from before or after it.
    if (this.#forgotten === forgotten) this.#keep(question, value, subject);
    return value;
  }

  /** Drops the values that one of the changes may have touched. */
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

/** Approximate size of a cached row, in characters. */
const ROW_SIZE = 500;

/** Runs lookups, and keeps the results of those with `isKept` until a change touches them. */
export function keptLookups(lookUp: PreparedRead, invalidation: Invalidation): PreparedRead {
  const found = new ResponseCache<readonly unknown[]>((rows) => rows.length * ROW_SIZE);
  invalidation.listen((changes) => {
    found.forget(changes);
  });
  return async <Row>(lookup: Lookup, values: readonly unknown[]) => {
    if (lookup.isKept !== true) return lookUp<Row>(lookup, values);
    const question = `${lookup.name} ${JSON.stringify(values)}`;
    const rows = await found.recall(question, async () => ({
      value: await lookUp(lookup, values),
      subject: null,
    }));
    return rows as Row[];
  };
}
