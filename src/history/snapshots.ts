import type { SpecTree } from '../model/spec-tree.js';
import { objectId, type ObjectId, type ObjectRef } from '../model/ref.js';

/** What the specs say of an object, field by field: JSON Pointer, or the empty text for all of it → canonical text. */
export type Forms = ReadonlyMap<string, string>;

/**
 * Canonical forms of objects in the specs of a tree; undefined: it is not there. An object that is left out
 * of the answer is unknown there, for example because the specs of that commit are invalid.
 */
export type SnapshotsAt = (
  tree: SpecTree,
  refs: readonly ObjectRef[],
) => Promise<ReadonlyMap<ObjectId, Forms | undefined>>;

export const UNKNOWN = Symbol('unknown');
export type Snapshot = Forms | undefined | typeof UNKNOWN;

type Snapshots = ReadonlyMap<ObjectId, Forms | undefined>;

/** Commits whose specs are looked into during one attribution, at most; further ones are judged by file. */
const MAX_COMMITS = 500;

const NOTHING_KNOWN: Snapshots = new Map();

/** Forms of objects at commits, each commit looked into once for all the objects that may be asked of it. */
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

  /** Says beforehand that an object may be asked of a commit. */
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
 * @param paths the fields that count; null: all of the object.
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
