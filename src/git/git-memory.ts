import type { StateEntry } from '../model/state.js';
import type { TreeEntry } from '../model/tree.js';
import { Lineage } from './lineage.js';
import type { StateTree } from './state-file.js';

/** Commits whose listings are kept: HEAD, the one before it, and what runs compare with. */
const TREES_KEPT = 4;
/** Commits of a state ref whose files are kept: what was read, and what was written since. */
const STATES_KEPT = 2;

/**
 * What runs over one config directory need not ask git again, because it cannot have changed: it goes by git's own
 * names of contents and commits, and files on disk by all that their file system says of them.
 *
 * Owned by whoever runs again; one for each directory.
 */
export class GitMemory {
  /** Path on disk → git's name of what lay there when the file system said `stamp` of it. */
  readonly disk = new Map<string, { readonly stamp: string; readonly blobId: string }>();
  /** Path in the tree of the state → the entry that the blob holds. */
  readonly stateEntries = new Map<
    string,
    { readonly blobId: string; readonly entry: StateEntry }
  >();
  /** Top of a working tree → where its repository lay when the file system said `stamp` of its `.git`. */
  readonly gitDirs = new Map<string, { readonly stamp: string; readonly gitDir: string }>();
  /** Of an entry that was just parsed: one that says the same of what the run has in hand already. */
  alike: (entry: StateEntry) => StateEntry = (entry) => entry;
  readonly #trees = new Map<string, readonly TreeEntry[]>();
  readonly #states = new Map<string, StateTree>();
  readonly #lineage = new Lineage();

  treeAt(commit: string): readonly TreeEntry[] | undefined {
    return this.#trees.get(commit);
  }

  /** The commit of the listing that was kept last: the likeliest to be like the next one. */
  lastTree(): { readonly commit: string; readonly entries: readonly TreeEntry[] } | undefined {
    const last = [...this.#trees].at(-1);
    return last && { commit: last[0], entries: last[1] };
  }

  keepTree(commit: string, entries: readonly TreeEntry[]): void {
    keepYoungest(this.#trees, commit, entries, TREES_KEPT);
  }

  /** What stands at a commit of a state ref. */
  stateAt(commit: string): StateTree | undefined {
    return this.#states.get(commit);
  }

  lastState(): StateTree | undefined {
    return [...this.#states.values()].at(-1);
  }

  keepState(commit: string, tree: StateTree): void {
    keepYoungest(this.#states, commit, tree, STATES_KEPT);
  }

  /** Whether it was seen that `a` comes before `b`: a yes stays one, a no may come of a history that is not whole. */
  isKnownAncestor(a: string, b: string): boolean {
    return this.#lineage.has(a, b);
  }

  keepAncestor(a: string, b: string): void {
    this.#lineage.keep(a, b);
  }
}

function keepYoungest<V>(kept: Map<string, V>, key: string, value: V, most: number): void {
  kept.delete(key);
  kept.set(key, value);
  const oldest = kept.size > most ? kept.keys().next() : undefined;
  if (oldest?.done === false) kept.delete(oldest.value);
}
