import { FlagkeelError } from '../errors.js';
import { mergeBaseWith, type Checkout } from '../git/checkout.js';
import { isAncestor, parentsIn } from '../git/lineage.js';
import { commitTree } from '../git/trees.js';
import { readLog } from '../git/log.js';
import {
  bindConfig,
  bindEnvironments,
  type BoundDesired,
  type EnvironmentNames,
} from '../model/bound-desired.js';
import { keptIn } from '../model/collections.js';
import type { Config } from '../model/desired.js';
import { CONFIG_PATH, type SpecTree } from '../model/spec-tree.js';
import { SpecCache } from '../specs/cache.js';
import { readConfig } from '../specs/read-config.js';
import { firstFault, readSpecs, type SpecsResult } from '../specs/read-specs.js';
import { objectId, type ObjectId, type ObjectRef } from '../model/ref.js';

/**
 * The specs at earlier commits. All reads of the past go through this class, so that "unknown" has one meaning. Answers
 * do not depend on the cache. Another commit costs only its differences.
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

  get isKnown(): boolean {
    return this.#head !== null && this.#checkout.repository !== null;
  }

  /**
   * For a commit that a person named. @param commit full hash.
   *
   * @returns null if the commit has no file of specs.
   * @throws FlagkeelError `GIT` the commit is not here; `SPECS_INVALID` its specs are invalid.
   */
  async at(commit: string): Promise<BoundDesired | null> {
    const tree = await commitTree(this.#checkout, commit);
    if (tree.list().length === 0) return null;
    const specs = await readSpecs(tree, this.#cache);
    if (specs.ok) return bindEnvironments(specs.desired, this.#names);
    const why = `its specs are invalid (${firstFault(specs.diagnostics)})`;
    throw new FlagkeelError('SPECS_INVALID', `cannot compare with ${commit.slice(0, 8)}: ${why}`);
  }

  /**
   * Undefined if the commit is neither HEAD nor a known ancestor of it, or has no valid specs: callers must take that for
   * "unknown", never for "there was nothing". @param commit full hash.
   */
  async atAncestor(commit: string): Promise<BoundDesired | undefined> {
    const tree = await this.#treeOfAncestor(commit);
    const specs = tree && (await readSpecs(tree, this.#cache));
    return specs?.ok === true ? bindEnvironments(specs.desired, this.#names) : undefined;
  }

  /** The config of a commit before HEAD, even beside invalid specs; undefined if HEAD has the same, or if it is unknown. */
  async otherConfigAt(commit: string): Promise<Config | undefined> {
    const tree = await this.#treeOfAncestor(commit);
    const now = this.#head === null ? undefined : await this.#treeOfAncestor(this.#head);
    if (!tree || !now || configBlob(tree) === configBlob(now)) return undefined;
    const config = await readConfig(tree);
    return config && bindConfig(config, this.#names);
  }

  /** Files that the earlier commit lacks, or has with another content. @throws FlagkeelError `GIT` one is not here. */
  async pathsChanged(before: string, after: string): Promise<string[]> {
    const [then, now] = await Promise.all([
      commitTree(this.#checkout, before),
      commitTree(this.#checkout, after),
    ]);
    const known = new Map(then.list().map(({ path, blobId }) => [path, blobId]));
    const differing = now.list().filter(({ path, blobId }) => known.get(path) !== blobId);
    return differing.map(({ path }) => path);
  }

  /** As `readPart`; undefined if the commit is no known ancestor, as above, or has none of the files. */
  async partAtAncestor(
    commit: string,
    isRead: (path: string) => boolean,
  ): Promise<SpecsResult | undefined> {
    const tree = await this.#treeOfAncestor(commit);
    return tree?.list().some(({ path }) => isRead(path)) ? readPart(tree, isRead) : undefined;
  }

  /** As `readPart`. @throws FlagkeelError `GIT` */
  async partAt(commit: string, isRead: (path: string) => boolean): Promise<SpecsResult> {
    return readPart(await commitTree(this.#checkout, commit), isRead);
  }

  /**
   * The commits of the branch itself that came after `since` and touched one of the files, HEAD included; newest first,
   * and each merge as one commit. Of very long histories the newest only; none if `since` is no known ancestor of HEAD.
   */
  async commitsAfter(since: string, isOfInterest: (path: string) => boolean): Promise<string[]> {
    const { repository } = this.#checkout;
    const head = this.#head;
    if (repository === null || head === null || since === head) return [];
    if ((await isAncestor(this.#checkout, since, head)) !== true) return [];
    const log = await readLog(repository, since, head, 'first-parents');
    const touching = log.filter(({ paths }) => paths.some(isOfInterest)).map(({ id }) => id);
    // A branch that was merged later goes on beside `since`, and not after it.
    const isAfter = await Promise.all(
      touching.map(async (id) => (await isAncestor(this.#checkout, since, id)) === true),
    );
    return touching.filter((_, index) => isAfter[index]);
  }

  async mergeBaseWith(revision: string): Promise<string> {
    return mergeBaseWith(this.#checkout, revision);
  }

  /** For a merge, the commit that it was merged into; null if there is none, or it is unknown. */
  async firstParent(): Promise<string | null> {
    const { repository } = this.#checkout;
    const head = this.#head === null ? null : await repository?.objects.read(this.#head);
    return head ? (parentsIn(head)[0] ?? null) : null;
  }

  async #treeOfAncestor(commit: string): Promise<SpecTree | undefined> {
    if (this.#head === null) return undefined;
    const isBefore = await isAncestor(this.#checkout, commit, this.#head);
    return isBefore === true ? commitTree(this.#checkout, commit) : undefined;
  }
}

/** Of these files and the config alone: mostly invalid for lack of the others, beside which kills are known all the same. */
export async function readPart(
  tree: SpecTree,
  isRead: (path: string) => boolean,
): Promise<SpecsResult> {
  const part = tree.list().filter(({ path }) => path === CONFIG_PATH || isRead(path));
  // No memory: it holds the last complete reading for the next one, which a part must not replace.
  return readSpecs({ list: () => part, read: async (path) => tree.read(path) });
}

/** Undefined without the files of the commit, which a partial clone lacks: for what serves only words for people. */
export async function ifHere<T>(reading: Promise<T>): Promise<T | undefined> {
  return reading.catch((error: unknown) => {
    if (error instanceof FlagkeelError && error.code === 'GIT') return undefined;
    throw error;
  });
}

function configBlob(tree: SpecTree): string | undefined {
  return tree.list().find(({ path }) => path === CONFIG_PATH)?.blobId;
}

/** JSON Pointer of a field (empty for the whole object) → canonical text. */
export type Forms = ReadonlyMap<string, string>;

/**
 * Canonical forms of objects in the specs of a commit; undefined for an object that the specs lack. An object that is
 * missing in the answer is unknown, for example because the specs of that commit are invalid.
 */
export type SnapshotsAt = (
  tree: SpecTree,
  refs: readonly ObjectRef[],
) => Promise<ReadonlyMap<ObjectId, Forms | undefined>>;

export const UNKNOWN = Symbol('unknown');
export type Snapshot = Forms | undefined | typeof UNKNOWN;

/** Further ones are judged by file. */
const MAX_COMMITS = 500;

export type SnapshotCache = ReturnType<typeof snapshotCache>;

/** Reads each commit once, for all objects that were announced for it. */
export function snapshotCache(
  treeOf: (commit: string) => Promise<SpecTree>,
  snapshotsAt: SnapshotsAt,
  maxCommits = MAX_COMMITS,
) {
  const expected = new Map<string, Map<ObjectId, ObjectRef>>();
  const found = new Map<string, ReturnType<SnapshotsAt>>();
  const read = async (commit: string): ReturnType<SnapshotsAt> => {
    const refs = [...(expected.get(commit)?.values() ?? [])];
    const reading = treeOf(commit).then(async (tree) => snapshotsAt(tree, refs));
    return (await ifHere(reading)) ?? new Map();
  };
  return {
    expect: (commit: string, ref: ObjectRef): void => {
      keptIn(expected, commit, () => new Map<ObjectId, ObjectRef>()).set(objectId(ref), ref);
    },
    snapshotOf: async (commit: string, id: ObjectId): Promise<Snapshot> => {
      if (!found.has(commit) && found.size >= maxCommits) return UNKNOWN;
      const forms = await keptIn(found, commit, async () => read(commit));
      return forms.has(id) ? forms.get(id) : UNKNOWN;
    },
  };
}

/** Stands among the fields for whether there is an object. */
const EXISTENCE = '(existence)';

export function textIn(form: Forms | undefined, path: string): string | undefined {
  return path === EXISTENCE ? String(form !== undefined) : form?.get(path);
}

/** @param paths the fields that count; null means the whole object. */
export function differing(
  before: Forms | undefined,
  after: Forms | undefined,
  paths: ReadonlySet<string> | null,
): string[] {
  const all = [EXISTENCE, ...(before?.keys() ?? []), ...(after?.keys() ?? [])];
  return [...(paths ?? new Set(all))].filter(
    (path) => textIn(before, path) !== textIn(after, path),
  );
}
