import { BoundedMap } from '../platform/bounded-map.js';
import type { TreeEntry } from '../model/spec-tree.js';
import { Lineage } from './lineage.js';

/** Commits to keep the listings of: HEAD, the one before it, and those that runs compare with. */
const TREES_KEPT = 4;

export interface ListedTree {
  readonly commit: string;
  readonly prefix: string;
  readonly entries: readonly TreeEntry[];
}

/** Settings from the config of a repository, read as data; none of them takes effect. */
export interface ConfigData {
  readonly originUrl: string | null;
  /** By lower-case names under `extensions`. */
  readonly extensions: Readonly<Record<string, string>>;
}

/**
 * Answers of git that later runs over one config directory reuse because they cannot have changed: the keys are git's
 * hashes of contents and commits, and for files on disk all metadata of the file system.
 */
export class GitCache {
  /** Path on disk → git's hash of the file that had this `stamp`. */
  readonly disk = new Map<string, { readonly stamp: string; readonly blobId: string }>();
  /** Top of a working tree → its repository while `.git` had this `stamp`. */
  readonly gitDirs = new Map<string, { readonly stamp: string; readonly gitDir: string }>();
  /** Git directory → content of its config while that file had this `stamp`. */
  readonly configs = new Map<string, { readonly stamp: string; readonly data: ConfigData }>();
  readonly lineage = new Lineage();
  readonly #trees = new BoundedMap<string, ListedTree>(TREES_KEPT);

  /** @param prefix see `Repository`; given because a link to the config directory may lead elsewhere by now. */
  treeAt(commit: string, prefix: string): readonly TreeEntry[] | undefined {
    return this.#trees.get(`${commit} ${prefix}`)?.entries;
  }

  /** The newest listing, probably the most similar to the next one. */
  lastTree(prefix: string): ListedTree | undefined {
    return [...this.#trees.values()].findLast((tree) => tree.prefix === prefix);
  }

  keepTree(tree: ListedTree): void {
    this.#trees.set(`${tree.commit} ${tree.prefix}`, tree);
  }
}
