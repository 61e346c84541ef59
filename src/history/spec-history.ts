import { isAncestor, mergeBase, resolveRevision, type Checkout } from '../git/checkout.js';
import { parentsIn } from '../git/commits.js';
import { commitTree } from '../git/commit-tree.js';
import {
  bindConfig,
  bindEnvironments,
  type BoundDesired,
  type EnvironmentNames,
} from '../model/bound-desired.js';
import type { Config, Desired } from '../model/desired.js';
import type { Diagnostic } from '../model/diagnostic.js';
import type { SpecTree } from '../model/spec-tree.js';
import { SpecCache } from '../specs/cache.js';
import { CONFIG_PATH } from '../specs/parse/load-files.js';
import { readConfig } from '../specs/read-config.js';
import { readSpecs, type SpecsResult } from '../specs/read-specs.js';

/** The specs of a commit, or their errors. */
export type PastSpecs =
  | { readonly ok: true; readonly desired: BoundDesired }
  | { readonly ok: false; readonly diagnostics: readonly Diagnostic[] };

/**
 * The specs at earlier commits. All reads of the past go through this class, so that "unknown" has one meaning:
 *
 * - `atAncestor` and `configAtAncestor` return undefined if the commit is neither HEAD nor a known ancestor of it (it
 *   is on another branch, not in this clone, or there is no HEAD), or if it has no specs or invalid ones. Callers must
 *   take that for "unknown", never for "there was nothing".
 * - `at` is for a commit that a person named: it distinguishes a commit without specs (`missing`) from one with invalid
 *   specs, whose diagnostics it returns, and throws if the commit is not here.
 *
 * Answers do not depend on the cache. Another commit costs only its differences.
 */
export class SpecHistory {
  readonly #checkout: Checkout;
  readonly #head: string | null;
  readonly #cache: SpecCache;
  readonly #names: EnvironmentNames;

  /**
   * @param head full hash of the commit that counts as HEAD; null if the specs come from no commit.
   * @param names of the environments for all answers. Default: the words of each config.
   */
  constructor(
    checkout: Checkout,
    head: string | null,
    cache = new SpecCache(),
    names: EnvironmentNames = new Map(),
  ) {
    this.#checkout = checkout;
    this.#head = head;
    this.#cache = cache;
    this.#names = names;
  }

  /** Whether there is a history to read. */
  get isKnown(): boolean {
    return this.#head !== null && this.#checkout.repository !== null;
  }

  /**
   * @param commit full hash.
   * @returns `missing` if the commit has no file of specs.
   * @throws FlagkeelError `GIT` the commit is not here.
   */
  async at(commit: string): Promise<PastSpecs | 'missing'> {
    const tree = await commitTree(this.#checkout, commit);
    if (tree.list().length === 0) return 'missing';
    const specs = await readSpecs(tree, this.#cache);
    return specs.ok ? { ok: true, desired: this.#bound(specs.desired) } : specs;
  }

  /**
   * The specs of HEAD or of a commit before it.
   *
   * @param commit full hash.
   * @returns undefined if they are unknown.
   */
  async atAncestor(commit: string): Promise<BoundDesired | undefined> {
    const tree = await this.#treeOfAncestor(commit);
    const specs = tree && (await readSpecs(tree, this.#cache));
    return specs?.ok === true ? this.#bound(specs.desired) : undefined;
  }

  /**
   * The config alone of HEAD or of a commit before it; the other specs may be invalid.
   *
   * @param commit full hash.
   * @returns undefined if it is unknown.
   */
  async configAtAncestor(commit: string): Promise<Config | undefined> {
    const tree = await this.#treeOfAncestor(commit);
    const read = tree && (await readConfig(tree));
    return read?.ok === true ? bindConfig(read.config, this.#names) : undefined;
  }

  /**
   * Paths of the files of a commit that an earlier one lacks, or has with another content.
   *
   * @throws FlagkeelError `GIT` a commit is not here.
   */
  async pathsChanged(before: string, after: string): Promise<string[]> {
    const [then, now] = await Promise.all([
      commitTree(this.#checkout, before),
      commitTree(this.#checkout, after),
    ]);
    const known = new Map(then.list().map(({ path, blobId }) => [path, blobId]));
    const differing = now.list().filter(({ path, blobId }) => known.get(path) !== blobId);
    return differing.map(({ path }) => path);
  }

  /**
   * The specs in these files and the config alone. They are mostly invalid, because the other files are missing.
   *
   * @throws FlagkeelError `GIT` the commit is not here.
   */
  async partAt(commit: string, paths: ReadonlySet<string>): Promise<SpecsResult> {
    const tree = await commitTree(this.#checkout, commit);
    const entries = tree.list().filter(({ path }) => path === CONFIG_PATH || paths.has(path));
    // No cache: it holds the last complete reading for the next one, which a part must not replace.
    return readSpecs({ list: () => entries, read: async (path) => tree.read(path) });
  }

  /**
   * The merge base of HEAD and a revision; the revision itself if none is found.
   *
   * @throws FlagkeelError `GIT` there is no such revision.
   */
  async mergeBaseWith(revision: string): Promise<string> {
    const commit = await resolveRevision(this.#checkout, revision);
    const { head, repository } = this.#checkout;
    const base = repository && head !== null ? await mergeBase(repository.git, commit, head) : null;
    return base ?? commit;
  }

  /**
   * The first parent of HEAD, for a merge the commit that it was merged into; null if there is none, or it is unknown.
   */
  async firstParent(): Promise<string | null> {
    const { repository } = this.#checkout;
    const head = this.#head === null ? null : await repository?.objects.read(this.#head);
    return head ? (parentsIn(head)[0] ?? null) : null;
  }

  #bound(desired: Desired): BoundDesired {
    return bindEnvironments(desired, this.#names);
  }

  async #treeOfAncestor(commit: string): Promise<SpecTree | undefined> {
    const head = this.#head;
    if (head === null) return undefined;
    const isBefore = await isAncestor(this.#checkout, commit, head);
    return isBefore === true ? commitTree(this.#checkout, commit) : undefined;
  }
}
