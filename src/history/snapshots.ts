import type { SpecTree } from '../model/spec-tree.js';
import { objectId, type ObjectId, type ObjectRef } from '../model/ref.js';

/** The specs of an object, field by field: JSON Pointer (empty for the whole object) → canonical text. */
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

type Snapshots = ReadonlyMap<ObjectId, Forms | undefined>;

/** Most commits to read the specs of in one attribution; further ones are judged by file. */
const MAX_COMMITS = 500;

const NOTHING_KNOWN: Snapshots = new Map();

/** Forms of objects at commits. Reads each commit once, for all objects that were announced for it. */
export class SnapshotCache {
  readonly #treeOf: (commit: string) => Promise<SpecTree>;
  readonly #snapshotsAt: SnapshotsAt;
  readonly #maxCommits: number;
  readonly #expected = new Map<string, Map<ObjectId, ObjectRef>>();
  readonly #found = new Map<string, Promise<Snapshots>>();

  constructor(
    treeOf: (commit: string) => Promise<SpecTree>,
    snapshotsAt: SnapshotsAt,
    maxCommits = MAX_COMMITS,
  ) {
    this.#treeOf = treeOf;
    this.#snapshotsAt = snapshotsAt;
    this.#maxCommits = maxCommits;
  }

  /** Announces that the form of an object at a commit may be needed. */
  expect(commit: string, ref: ObjectRef): void {
    const refs = this.#expected.get(commit) ?? new Map<ObjectId, ObjectRef>();
    refs.set(objectId(ref), ref);
    this.#expected.set(commit, refs);
  }

  async snapshotOf(commit: string, id: ObjectId): Promise<Snapshot> {
    const forms = await this.#at(commit);
    return forms.has(id) ? forms.get(id) : UNKNOWN;
  }

  async #at(commit: string): Promise<Snapshots> {
    const found = this.#found.get(commit);
    if (found !== undefined) return found;
    if (this.#found.size >= this.#maxCommits) return NOTHING_KNOWN;
    const refs = [...(this.#expected.get(commit)?.values() ?? [])];
    const forms = this.#treeOf(commit).then(async (tree) => this.#snapshotsAt(tree, refs));
    this.#found.set(commit, forms);
    return forms;
  }
}

/**
 * Whether two forms of an object differ.
 *
 * @param paths the fields that count; null means the whole object.
 */
export function differs(
  before: Forms | undefined,
  after: Forms | undefined,
  paths: ReadonlySet<string> | null,
): boolean {
  if (paths === null && (before === undefined) !== (after === undefined)) return true;
  const counted = paths ?? new Set([...(before?.keys() ?? []), ...(after?.keys() ?? [])]);
  return [...counted].some((path) => before?.get(path) !== after?.get(path));
}
