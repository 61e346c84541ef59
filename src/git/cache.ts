import { BoundedMap } from '../platform/bounded-map.js';
import type { TreeEntry } from '../model/spec-tree.js';

/** Commits whose listings are kept: HEAD, the one before it, and what runs compare with. */
const TREES_KEPT = 4;

/** The files of one folder of a commit. */
export interface ListedTree {
  readonly commit: string;
  /** The folder, see `Repository`. */
  readonly prefix: string;
  readonly entries: readonly TreeEntry[];
}

/** What is read of the config of a repository, as data: nothing in it is obeyed. */
export interface ConfigData {
  /** Of `origin`, as it stands there; null: there is none. */
  readonly originUrl: string | null;
  /** How objects and refs are written, by lower-case names under `extensions`. */
  readonly extensions: Readonly<Record<string, string>>;
}

/**
 * What runs over one config directory need not ask git again, because it cannot have changed: it goes by git's own
 * names of contents and commits, and files on disk by all that their file system says of them.
 *
 * Owned by whoever runs again; one for each directory.
 */
export class GitCache {
  /** Path on disk → git's name of what lay there when the file system said `stamp` of it. */
  readonly disk = new Map<string, { readonly stamp: string; readonly blobId: string }>();
  /** Top of a working tree → where its repository lay when the file system said `stamp` of its `.git`. */
  readonly gitDirs = new Map<string, { readonly stamp: string; readonly gitDir: string }>();
  /** Git directory → what its config says when the file system said `stamp` of that file. */
  readonly configs = new Map<string, { readonly stamp: string; readonly data: ConfigData }>();
  readonly #trees = new BoundedMap<string, ListedTree>(TREES_KEPT);
  readonly #lineage = new Lineage();

  /** @param prefix of the config directory, see `Repository`: a link to it may lead elsewhere than last time. */
  treeAt(commit: string, prefix: string): readonly TreeEntry[] | undefined {
    return this.#trees.get(`${commit} ${prefix}`)?.entries;
  }

  /** The commit of the listing that was kept last: the likeliest to be like the next one. */
  lastTree(prefix: string): ListedTree | undefined {
    return this.#trees.values().findLast((tree) => tree.prefix === prefix);
  }

  keepTree(tree: ListedTree): void {
    this.#trees.set(`${tree.commit} ${tree.prefix}`, tree);
  }

  /** Whether it was seen that `a` comes before `b`: a yes stays one, a no may come of a history that is not whole. */
  isKnownAncestor(a: string, b: string): boolean {
    return this.#lineage.has(a, b);
  }

  keepAncestor(a: string, b: string): void {
    this.#lineage.keep(a, b);
  }
}

/** Heads, and commits before them, that are remembered. */
const KEPT = 10_000;

/**
 * Which commits were seen to come before which, along the one line in which a branch grows: what comes before a head
 * comes before all later ones. Of another line nothing is known before it is the one that grows.
 */
export class Lineage {
  /** Head → its place on the line. */
  #heads = new BoundedMap<string, number>(KEPT);
  /** Commit → place of the first head that it is, or was seen to come before. */
  #since = new BoundedMap<string, number>(KEPT);
  #last: { readonly commit: string; readonly place: number } | null = null;

  has(a: string, b: string): boolean {
    const place = this.#heads.get(b);
    const since = this.#since.get(a);
    return place !== undefined && since !== undefined && since <= place;
  }

  /** Remembers that `a` comes before `b`. */
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
