import { changesOf, commitAt, listing, type Asked, type Commit } from './memory-git.js';
import { rememberedText, type Remembered } from './memory-home.js';
import { COMMIT_ID, namedIn, renamed, type Places } from './places.js';
import { untold } from './small-laws.js';
import type { Durable, Ran } from './small-run.js';
import { numberOf, valuesAt } from './small-world.js';
import { Interned } from './tables.js';

/** What is kept of a run: all but its end are moments at which it may be cut off. */
export interface Result extends Pick<Ran, 'end' | 'error' | 'guards' | 'planHash' | 'withheld'> {
  readonly moments: readonly Durable[];
  /** Ids of what was written, in order. */
  readonly writes: readonly string[];
  readonly breaches: readonly string[];
}

/** How one of the program's commands is called, and whether it reads the files of HEAD one by one. */
export interface Call {
  readonly name: string;
  readonly run: () => Promise<Ran>;
  /** Only those files count as read that it asked for. Otherwise all of them do. */
  readonly isByFile?: boolean;
}

/** A result with `@NAME@` for commits, see `Names`, and all that was asked of commits for it. */
interface Kept extends Omit<Result, 'moments' | 'end'> {
  readonly ends: readonly Pick<Durable, 'world' | 'remembered'>[];
  readonly asked: readonly (readonly [commit: string, what: string, answer: string])[];
}

/** Results at hand for the very same place; the others are made again from what is kept. */
const MOST_AT_HAND = 100_000;

/**
 * Runs of the program, each made once for all that it read: the service, the state, which commits the state names, in which
 * order, and of these and other commits what it asked for. Where all of that is the same, whatever
 * else is in the history, the result is the same but for the names of commits.
 */
export class RunMemo {
  /** Runs of the program that were made. */
  made = 0;
  /** Results that were asked for, of these among others. */
  asked = 0;
  readonly #places: Places;
  readonly #isExact: boolean;
  readonly #atHand = new Map<string, Result>();
  readonly #kept = new Map<string, Kept[]>();
  readonly #nameless = new Interned(rememberedText);
  readonly #memoryOf = new WeakMap<Remembered, number>();
  readonly #withheld = new Map<string, ReadonlySet<string>>();

  /** @param isExact only what begins in the very same place is not made again; to see that this makes no difference. */
  constructor(places: Places, isExact: boolean) {
    this.#places = places;
    this.#isExact = isExact;
  }

  async of(from: Durable, call: Call): Promise<Result> {
    this.asked += 1;
    const key = `${this.#places.idOf(from)} ${call.name}`;
    const known = this.#atHand.get(key);
    if (known) return known;
    const result = await this.#find(from, call);
    if (this.#atHand.size >= MOST_AT_HAND) this.#atHand.clear();
    this.#atHand.set(key, result);
    return result;
  }

  async #find(from: Durable, call: Call): Promise<Result> {
    const names = new Names(from);
    const key = this.#keyOf(from, names, call);
    const alike = this.#kept.get(key) ?? [];
    const found = this.#isExact ? undefined : alike.find(({ asked }) => names.agree(asked));
    if (found) return this.#resultOf(found, from, names);
    const { done, asked } = await listing(call.run);
    this.made += 1;
    if (!this.#isExact) this.#kept.set(key, [...alike, this.#keptOf(done, asked, names)]);
    return this.#told(done, { ...done, moments: done.moments.slice(0, -1) });
  }

  #keyOf(from: Durable, names: Names, { name, isByFile = false }: Call): string {
    const { remembered } = from;
    const memory = this.#memoryOf.get(remembered) ?? this.#nameless.idOf(names.without(remembered));
    this.#memoryOf.set(remembered, memory);
    const files = isByFile ? '' : numberOf(valuesAt(from.commit));
    const world = this.#places.worlds.idOf(from.world);
    return `${name} ${world} ${memory} ${names.of(from.commit)} ${files}`;
  }

  #told(ran: Ran, { moments, end }: Pick<Ran, 'moments' | 'end'>): Result {
    const { writes, error, guards, planHash, withheld } = ran;
    return {
      moments: moments.map((each) => this.#places.canonical(each)),
      end: this.#places.canonical(end),
      writes: writes.map(({ id }) => id),
      breaches: untold(ran),
      withheld: this.#shared(withheld),
      ...{ error, guards, planHash },
    };
  }

  #keptOf(ran: Ran, asked: Asked, names: Names): Kept {
    const { moments, end } = ran;
    const ends = [...moments.slice(0, -1), end].map(({ world, remembered }) => ({
      world: this.#places.worlds.canonical(world),
      remembered: this.#nameless.canonical(names.without(remembered)),
    }));
    const { moments: _, end: __, ...rest } = this.#told(ran, { moments: [], end });
    const list = [...asked].flatMap(([commit, questions]) =>
      [...questions].map((what) => [names.of(commit), what, names.answer(commit, what)] as const),
    );
    return { ...rest, ends, asked: list };
  }

  #resultOf({ ends, asked: _, ...rest }: Kept, { commit }: Durable, names: Names): Result {
    const all = ends.map(({ world, remembered }) =>
      this.#places.canonical({ world, commit, remembered: names.within(remembered) }),
    );
    const [end] = all.slice(-1);
    if (!end) throw new Error('a run has an end');
    return { ...rest, moments: all.slice(0, -1), end };
  }

  #shared(withheld: ReadonlySet<string>): ReadonlySet<string> {
    const text = [...withheld].sort().join(';');
    const found = this.#withheld.get(text) ?? withheld;
    this.#withheld.set(text, found);
    return found;
  }
}

const NAME = /@[^@]+@/g;

/** Names of commits by what they are in one place: those of the state by their order, HEAD, and others by how far before HEAD they are. */
class Names {
  readonly #head: Commit;
  readonly #byId = new Map<string, string>();
  readonly #byName = new Map<string, Commit>();

  constructor({ commit: head, remembered }: Durable) {
    this.#head = head;
    const named = namedIn(remembered).map(commitAt);
    for (const [at, commit] of named.sort((a, b) => a.number - b.number).entries()) {
      this.#add(commit, `@${at}@`);
    }
    let distance = 0;
    for (let commit: Commit | null = head; commit; commit = commit.parent, distance += 1) {
      if (!this.#byId.has(commit.id)) this.#add(commit, `@-${distance}@`);
    }
  }

  of({ id }: Commit): string {
    const found = this.#byId.get(id);
    if (found === undefined) throw new Error(`commit ${id} is not before ${this.#head.id}`);
    return found;
  }

  without(remembered: Remembered): Remembered {
    return renamed(remembered, COMMIT_ID, (id) => this.of(commitAt(id)));
  }

  within(remembered: Remembered): Remembered {
    return renamed(remembered, NAME, (name) => this.#at(name)?.id ?? '');
  }

  /** What a run that asks hears. */
  answer(commit: Commit, what: string): string {
    const { files, parent, subject } = commit;
    const before = parent ? this.of(parent) : '';
    if (what === 'text') return `${subject} ${before}`;
    if (what === 'changes') return `${changesOf(commit).join(' ')} ${before}`;
    if (what === 'files') return String(numberOf(valuesAt(commit)));
    return what === 'paths' ? Object.keys(files).join(' ') : (files[what] ?? '');
  }

  agree(asked: Kept['asked']): boolean {
    return asked.every(([name, what, answer]) => {
      const commit = this.#at(name);
      return commit !== undefined && this.answer(commit, what) === answer;
    });
  }

  #at(name: string): Commit | undefined {
    return this.#byName.get(name);
  }

  #add(commit: Commit, name: string): void {
    this.#byId.set(commit.id, name);
    this.#byName.set(name, commit);
  }
}
