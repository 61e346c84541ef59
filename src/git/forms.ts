import { objectId, type ObjectId, type ObjectRef } from '../model/object-id.js';
import type { SpecTree } from '../model/tree.js';

/**
 * Canonical form of objects in the specs of a tree, as text; undefined: it is not there. An object that is left out
 * of the answer is unknown there, for example because the specs of that commit are invalid.
 */
export type FormsAt = (
  tree: SpecTree,
  refs: readonly ObjectRef[],
) => Promise<ReadonlyMap<ObjectId, string | undefined>>;

export const UNKNOWN = Symbol('unknown');
export type Form = string | undefined | typeof UNKNOWN;

type Forms = ReadonlyMap<ObjectId, string | undefined>;

/** Commits whose specs are looked into during one attribution, at most; further ones are judged by file. */
const MAX_COMMITS = 500;

const NOTHING_KNOWN: Forms = new Map();

/** Forms of objects at commits, each commit looked into once for all the objects that may be asked of it. */
export class FormCache {
  readonly #treeOf: (commit: string) => Promise<SpecTree>;
  readonly #formsAt: FormsAt;
  readonly #maxCommits: number;
  readonly #expected = new Map<string, Map<ObjectId, ObjectRef>>();
  readonly #found = new Map<string, Promise<Forms>>();

  constructor(
    treeOf: (commit: string) => Promise<SpecTree>,
    formsAt: FormsAt,
    maxCommits = MAX_COMMITS,
  ) {
    this.#treeOf = treeOf;
    this.#formsAt = formsAt;
    this.#maxCommits = maxCommits;
  }

  /** Says beforehand that an object may be asked of a commit. */
  expect(commit: string, ref: ObjectRef): void {
    const refs = this.#expected.get(commit) ?? new Map<ObjectId, ObjectRef>();
    refs.set(objectId(ref), ref);
    this.#expected.set(commit, refs);
  }

  async formOf(commit: string, id: ObjectId): Promise<Form> {
    const forms = await this.#at(commit);
    return forms.has(id) ? forms.get(id) : UNKNOWN;
  }

  async #at(commit: string): Promise<Forms> {
    const found = this.#found.get(commit);
    if (found !== undefined) return found;
    if (this.#found.size >= this.#maxCommits) return NOTHING_KNOWN;
    const refs = [...(this.#expected.get(commit)?.values() ?? [])];
    const forms = this.#treeOf(commit).then(async (tree) => this.#formsAt(tree, refs));
    this.#found.set(commit, forms);
    return forms;
  }
}
