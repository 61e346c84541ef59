import type { StateEntry } from '../model/state.js';
import type { TreeEntry } from '../model/tree.js';
import type { StateContent } from './state-file.js';

/** Commits whose listings are kept: HEAD, the one before it, and what runs compare with. */
const TREES_KEPT = 4;
/** Commits of the state: the one that was read, and the one that was written on it. */
const STATES_KEPT = 2;
/** Pairs of commits; each is two hashes. */
const ANCESTRIES_KEPT = 10_000;

/**
 * What runs over one config directory need not ask git again, because it cannot have changed: it goes by git's own
 * names of contents and commits, and files on disk by all that their file system says of them.
 *
 * Owned by whoever runs again; one for each directory.
 */
export class GitMemory {
  /** Path on disk → git's name of what lay there when the file system said `stamp` of it. */
  readonly disk = new Map<string, { readonly stamp: string; readonly blobId: string }>();
  /** Path in the tree of the state → the entry that was read there, and of which blob; null: it was written here. */
  readonly stateEntries = new Map<
    string,
    { readonly blobId: string | null; readonly entry: StateEntry }
  >();
  /** Of an entry that was just parsed: one that says the same of what the run has in hand already. */
  alike: (entry: StateEntry) => StateEntry = (entry) => entry;
  readonly #states = new Map<string, ReadonlyMap<string, StateContent>>();
  readonly #trees = new Map<string, readonly TreeEntry[]>();
  readonly #ancestries = new Set<string>();

  treeAt(commit: string): readonly TreeEntry[] | undefined {
    return this.#trees.get(commit);
  }

  keepTree(commit: string, entries: readonly TreeEntry[]): void {
    this.#trees.delete(commit);
    this.#trees.set(commit, entries);
    dropOldest(this.#trees, TREES_KEPT);
  }

  /** Path → content, of a commit of the state. */
  stateAt(commit: string): ReadonlyMap<string, StateContent> | undefined {
    return this.#states.get(commit);
  }

  keepState(commit: string, files: ReadonlyMap<string, StateContent>): void {
    this.#states.delete(commit);
    this.#states.set(commit, files);
    dropOldest(this.#states, STATES_KEPT);
  }

  /** Whether it was seen that `a` comes before `b`: a yes stays one, a no may come of a history that is not whole. */
  isKnownAncestor(a: string, b: string): boolean {
    return this.#ancestries.has(`${a} ${b}`);
  }

  keepAncestor(a: string, b: string): void {
    this.#ancestries.add(`${a} ${b}`);
    dropOldest(this.#ancestries, ANCESTRIES_KEPT);
  }
}

function dropOldest(
  kept: { readonly size: number; keys(): Iterator<string>; delete(key: string): boolean },
  most: number,
): void {
  const oldest = kept.size > most ? kept.keys().next() : undefined;
  if (oldest?.done === false) kept.delete(oldest.value);
}
