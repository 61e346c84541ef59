import type { Commit } from './memory-git.js';
import { rememberedText, type Remembered } from './memory-home.js';
import type { Durable } from './small-run.js';
import { committed, textOf, valuesAt } from './small-world.js';
import { Interned } from './tables.js';

/** What git has and what is remembered of it. */
type Past = Pick<Durable, 'commit' | 'remembered'>;

/** Ids of commits that may be renamed. */
export const COMMIT_ID = /(?<![0-9a-f])[0-9a-f]{40}(?![0-9a-f])/g;

/**
 * Places of a small world, each one object for all that are equal. Of the history stay HEAD, the commit before it, and those
 * that the memory names, in their order: a run asks for no other.
 */
export class Places {
  readonly worlds = new Interned(textOf);
  readonly #memories = new Interned(rememberedText);
  /** By the number of the memory, then by HEAD: as it was given, and as it stands for others. */
  readonly #known: Map<Commit, NumberedPast>[] = [];
  readonly #pasts: NumberedPast[] = [];
  readonly #keepsHistory: boolean;

  constructor(keepsHistory: boolean) {
    this.#keepsHistory = keepsHistory;
  }

  canonical({ world, commit, remembered }: Durable): Durable {
    const past = this.#past(commit, remembered);
    return {
      world: this.worlds.canonical(world),
      commit: past.commit,
      remembered: past.remembered,
    };
  }

  /** The same number for what is equal. */
  idOf({ world, commit, remembered }: Durable): number {
    return this.worlds.idOf(world) * MOST_PASTS + this.#past(commit, remembered).id;
  }

  at(id: number): Durable {
    const past = this.#pasts[id % MOST_PASTS];
    if (!past) throw new Error(`no place has the number ${id}`);
    const { commit, remembered } = past;
    return { world: this.worlds.at(Math.floor(id / MOST_PASTS)), commit, remembered };
  }

  #past(commit: Commit, remembered: Remembered): NumberedPast {
    const id = this.#memories.idOf(remembered);
    const known = (this.#known[id] ??= new Map());
    const found = known.get(commit);
    if (found) return found;
    const given = { commit, remembered: this.#memories.at(id) };
    const past = this.#numbered(this.#keepsHistory ? given : shortened(commit, given.remembered));
    known.set(commit, past);
    return past;
  }

  #numbered({ commit, remembered }: Past): NumberedPast {
    const memory = this.#memories.idOf(remembered);
    const known = (this.#known[memory] ??= new Map());
    const found = known.get(commit);
    if (found) return found;
    const id = this.#pasts.length;
    if (id === MOST_PASTS) throw new Error('too many histories');
    const past = { commit, remembered: this.#memories.at(memory), id };
    this.#pasts.push(past);
    known.set(commit, past);
    return past;
  }
}

interface NumberedPast extends Past {
  readonly id: number;
}

const MOST_PASTS = 2 ** 24;

const naming = new WeakMap<Remembered, readonly string[]>();

/** The commits that a memory names. */
export function namedIn(remembered: Remembered): readonly string[] {
  const known = naming.get(remembered);
  if (known) return known;
  const { files, head } = remembered;
  const found = new Set(files.flatMap(([, text]) => text.match(COMMIT_ID) ?? []));
  if (head !== null) found.add(head);
  const named = [...found];
  naming.set(remembered, named);
  return named;
}

/** The same memory with other names of commits. */
export function renamed(remembered: Remembered, pattern: RegExp, nameOf: (name: string) => string) {
  const { files, head } = remembered;
  return {
    ...remembered,
    files: files.map(([path, text]) => [path, text.replace(pattern, nameOf)] as const),
    head: head === null ? null : head.replace(pattern, nameOf),
  };
}

function shortened(head: Commit, remembered: Remembered): Past {
  const named = namedIn(remembered);
  const line: Commit[] = [];
  for (let commit: Commit | null = head; commit; commit = commit.parent) {
    if (commit === head || commit === head.parent || named.includes(commit.id))
      line.unshift(commit);
  }
  const names = new Map<string, string>();
  let commit: Commit | null = null;
  for (const each of line) {
    commit = committed(commit, valuesAt(each));
    if (each !== commit) names.set(each.id, commit.id);
  }
  if (names.size === 0) return { commit: head, remembered };
  return {
    commit: commit ?? head,
    remembered: renamed(remembered, COMMIT_ID, (id) => names.get(id) ?? id),
  };
}
