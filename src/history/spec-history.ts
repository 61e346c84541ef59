import { isAncestor, mergeBase, resolveRevision, type Checkout } from '../git/checkout.js';
import { parentsIn } from '../git/commit-text.js';
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

/** The specs of a commit, or what is wrong with them. */
export type PastSpecs =
  | { readonly ok: true; readonly desired: BoundDesired }
  | { readonly ok: false; readonly diagnostics: readonly Diagnostic[] };

/**
 * What the specs said at earlier commits. Every question to the past goes through here, so that "cannot be known" means
 * the same everywhere:
 *
 * - `atAncestor` and `configAtAncestor` answer undefined where the commit is neither HEAD nor known to come before it
 *   (it is on another branch, not in this clone, or there is no HEAD), and where it has no specs or invalid ones. Whoever
 *   asks takes that for "nobody can tell", never for "there was nothing".
 * - `at` is for a commit that a person named: it tells a commit without specs (`missing`) from one with invalid specs,
 *   whose diagnostics it gives, and a commit that is not here is an error.
 *
 * Answers do not depend on the cache, and asking again costs what changed.
 */
export class SpecHistory {
  readonly #checkout: Checkout;
  readonly #head: string | null;
  readonly #cache: SpecCache;
  readonly #names: EnvironmentNames;

  /**
   * @param head full hash of the commit that is taken for HEAD; null: the specs come from no commit.
   * @param names by which environments go in all answers; without them they keep the words of their config.
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

  /** Whether there is a past that could be asked. */
  get isKnown(): boolean {
    return this.#head !== null && this.#checkout.repository !== null;
  }

  /**
   * @param commit full hash.
   * @returns `missing`: the commit has no file of specs.
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
   * @returns undefined: they cannot be known.
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
   * @returns undefined: it cannot be known.
   */
  async configAtAncestor(commit: string): Promise<Config | undefined> {
    const tree = await this.#treeOfAncestor(commit);
    const read = tree && (await readConfig(tree));
    return read?.ok === true ? bindConfig(read.config, this.#names) : undefined;
  }

  /**
   * Paths of the files that a commit has and an earlier one has not, or with another content.
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
   * What these files and the config say by themselves. As the other files are missing, most of such specs are invalid.
   *
   * @throws FlagkeelError `GIT` the commit is not here.
   */
  async partAt(commit: string, paths: ReadonlySet<string>): Promise<SpecsResult> {
    const tree = await commitTree(this.#checkout, commit);
    const entries = tree.list().filter(({ path }) => path === CONFIG_PATH || paths.has(path));
    // The cache holds the last whole reading for the next one to go on from, which a part must not replace.
    return readSpecs({ list: () => entries, read: async (path) => tree.read(path) });
  }

  /**
   * The commit where HEAD and a revision parted; the revision itself where no such commit is seen.
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
   * The commit that HEAD follows, of a merge the one that it was merged into; null: there is none, or it is not named.
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
