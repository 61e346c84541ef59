import { setImmediate as afterWhatHasCome } from 'node:timers/promises';
import type { Lookup, PreparedRead } from '../store/lookup.js';
import type { Store } from '../store/store.js';

/** What a change was made to. */
interface ChangedObject {
  readonly kind: string;
  readonly name: string;
}

type Listener = (changes: readonly ChangedObject[]) => void;

/** The id of the last change. Ids of the audit log grow with every change. */
const LAST: Lookup = { name: 'last-change', text: 'select coalesce(max(id), 0) as id from audit' };

/** Changes that are read at once; one request may make ten thousand. */
const PAGE = 500;
const SINCE: Lookup = {
  name: 'changes-since',
  text: `select id, kind, name from audit where id > $1 order by id limit ${PAGE}`,
};

/**
 * Tells listeners of every change, whichever process made it. Changes are read from the audit log,
 * which grows in the order in which writers commit. Where this process alone writes, the log is
 * read after its own writes only.
 */
export class Invalidation {
  readonly #store: Pick<Store, 'version' | 'lookUp'>;
  readonly #listeners: Listener[] = [];
  #version: number | null = null;
  /** Id of the last change that was told; null before the first was asked for. */
  #last: number | null = null;
  #running: Promise<void> = Promise.resolve();
  #waiting: Promise<void> | null = null;

  constructor(store: Pick<Store, 'version' | 'lookUp'>) {
    this.#store = store;
  }

  /** From now on `listener` is told of every change. */
  listen(listener: Listener): void {
    this.#listeners.push(listener);
  }

  /**
   * Every change that was answered before the call is told before it returns. Where this process
   * alone writes and has not written since the last call, the log is not read.
   */
  async catchUp(): Promise<void> {
    // A look that runs already may have begun before the change. All who come in one turn, or while it runs, share the next one.
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

/**
 * The size of what one cache holds, in characters: beyond it everything is forgotten, and read
 * again.
 */
const MAX_SIZE = 32 * 1024 * 1024;

/** What was read, and what must not have changed for it to be still true. */
export interface CachedResponse<T> {
  /** What was read. */
  readonly value: T;
  /**
   * `KIND/NAME` of the one object that it tells of. Null where it tells of several, so that any
   * change may make it untrue.
   */
  readonly subject: string | null;
}

/**
 * Kinds of objects whose changes touch only what tells of the one object, and what tells of
 * several. A change of any other kind, such as a renamed workspace, may touch everything.
 */
const APART: ReadonlySet<string> = new Set(['flag', 'segment', 'identity']);

/**
 * Keeps what was read, so that whoever asks again need not wait for the store. It is told of every
 * change and forgets what the change touched; whoever asks makes sure before that it was told.
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
   * @param question the same for all who must get the same answer.
   * @param read gives what is kept, unless something was forgotten while it ran.
   */
  async recall(question: string, read: () => Promise<CachedResponse<T>>): Promise<T> {
    const known = this.#known.get(question);
    if (known !== undefined) return known;
    const forgotten = this.#forgotten;
    const { value, subject } = await read();
    // Something was forgotten meanwhile: nobody knows on which side of the change this was read.
    if (this.#forgotten === forgotten) this.#keep(question, value, subject);
    return value;
  }

  /** Forgets what one of the changes may have touched. */
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

/** About what a row that is kept takes in the cache, in characters. */
const ROW_SIZE = 500;

/** Runs lookups, and keeps what it may of what they find until a change touches it. */
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
