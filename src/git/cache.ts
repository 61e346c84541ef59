import { BoundedMap } from '../platform/bounded-map.js';
import type { TreeEntry } from '../model/spec-tree.js';

/** Commits to keep the listings of: HEAD, the one before it, and those that runs compare with. */
const TREES_KEPT = 4;

export interface ListedTree {
  readonly commit: string;
  readonly prefix: string;
  readonly entries: readonly TreeEntry[];
}

/** Settings from the config of a repository, read as data; none of them takes effect. */
export interface ConfigData {
  /** URL of `origin`, unchanged; null if there is none. */
  readonly originUrl: string | null;
  /** How objects and refs are written, by lower-case names under `extensions`. */
  readonly extensions: Readonly<Record<string, string>>;
}

/**
 * Answers of git that later runs over one config directory reuse because they cannot have changed: the keys are git's
 * hashes of contents and commits, and for files on disk all metadata of the file system.
 *
 * Owned by the caller of repeated runs; one for each directory.
 */
export class GitCache {
  /** Path on disk → git's hash of the file that had this `stamp`. */
  readonly disk = new Map<string, { readonly stamp: string; readonly blobId: string }>();
  /** Top of a working tree → its repository while `.git` had this `stamp`. */
  readonly gitDirs = new Map<string, { readonly stamp: string; readonly gitDir: string }>();
  /** Git directory → content of its config while that file had this `stamp`. */
  readonly configs = new Map<string, { readonly stamp: string; readonly data: ConfigData }>();
  readonly #trees = new BoundedMap<string, ListedTree>(TREES_KEPT);
  readonly #lineage = new Lineage();

  /** @param prefix see `Repository`; given because a link to the config directory may lead elsewhere by now. */
  treeAt(commit: string, prefix: string): readonly TreeEntry[] | undefined {
    return this.#trees.get(`${commit} ${prefix}`)?.entries;
  }

  /** The newest listing, which is probably the most similar to the next one. */
  lastTree(prefix: string): ListedTree | undefined {
    return this.#trees.values().findLast((tree) => tree.prefix === prefix);
  }

  keepTree(tree: ListedTree): void {
    this.#trees.set(`${tree.commit} ${tree.prefix}`, tree);
  }

  /** Whether `a` was seen to come before `b`. A yes is final, whereas an incomplete history may cause a no. */
  isKnownAncestor(a: string, b: string): boolean {
    return this.#lineage.has(a, b);
  }

  keepAncestor(a: string, b: string): void {
    this.#lineage.keep(a, b);
  }
}

/** Heads, and commits before them, to remember. */
const KEPT = 10_000;

/**
 * Remembers which commits come before which on the line in which a branch grows: an ancestor of a head is an ancestor
 * of all later heads. Another line is unknown until the branch grows there.
 */
export class Lineage {
  /** Head → its place on the line. */
  #heads = new BoundedMap<string, number>(KEPT);
  /** Commit → place of the first head that equals it or was seen to follow it. */
  #since = new BoundedMap<string, number>(KEPT);
  #last: { readonly commit: string; readonly place: number } | null = null;

  has(a: string, b: string): boolean {
    const place = this.#heads.get(b);
    const since = this.#since.get(a);
    return place !== undefined && since !== undefined && since <= place;
  }

  keep(a: string, b: string): void {
    if (this.has(a, b)) return;
    if (this.#last?.commit === b) {
      this.#since.set(a, this.#last.place);
    } else if (this.#heads.get(b) === undefined) {
      if (this.#last?.commit !== a) this.#begin(a);
      this.#grow(b);
    }
  }

  #begin(commit: string): void {
    this.#heads = new BoundedMap(KEPT);
    this.#since = new BoundedMap(KEPT);
    this.#grow(commit);
  }

  #grow(commit: string): void {
    const place = (this.#last?.place ?? 0) + 1;
    this.#last = { commit, place };
    this.#heads.set(commit, place);
    this.#since.set(commit, place);
  }
}
