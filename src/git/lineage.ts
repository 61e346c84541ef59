import { BoundedMap } from '../platform/bounded-map.js';
import { exitCodeOf, type Git, runGit } from './git.js';
import type { ObjectReader } from './objects.js';

interface CommitSource {
  readonly git: Git;
  readonly objects: ObjectReader;
  readonly memory: { readonly lineage: Lineage };
}

/** A checkout, as far as it knows the order of its commits. */
export interface History {
  readonly repository: CommitSource | null;
  readonly shallow: boolean;
}

/**
 * Whether commit `a` is `b` or an ancestor of it, both as full hashes. Unknown if the history is too shallow for a no,
 * or either is missing here.
 */
export async function isAncestor(
  checkout: History,
  a: string,
  b: string,
): Promise<boolean | 'unknown'> {
  const { repository } = checkout;
  if (a === b) return true;
  if (repository === null) return 'unknown';
  const { lineage } = repository.memory;
  if (lineage.has(a, b)) return true;
  // `b` is a known ancestor of `a`, so that `a` is none of `b`.
  if (lineage.has(b, a)) return false;
  if (await isJustBefore(repository, a, b)) {
    lineage.keep(a, b);
    return true;
  }
  try {
    const isBefore = (await firstCommon(repository.git, a, b)) === a;
    if (isBefore) lineage.keep(a, b);
    return isBefore || (checkout.shallow ? 'unknown' : false);
  } catch (error) {
    const exitCode = exitCodeOf(error);
    if (exitCode === null) throw error;
    // 1: they have no common ancestor. With any other code one of them is missing here.
    return exitCode === 1 && !checkout.shallow ? false : 'unknown';
  }
}

/**
 * Whether commit `a` comes before `b`; false if history does not show it. The reverse comes first: it is usual, and
 * cached.
 */
export async function isOlder(checkout: History, a: string, b: string): Promise<boolean> {
  if (a === b || (await isAncestor(checkout, b, a)) === true) return false;
  return (await isAncestor(checkout, a, b)) === true;
}

const NEAR = 16;

/** Most pairs of commits are a few steps apart, and reading those few needs no extra process. */
async function isJustBefore({ objects }: CommitSource, a: string, b: string): Promise<boolean> {
  const seen = new Set([b]);
  // The set grows during the loop, which also visits the new members.
  for (const commit of seen) {
    if (seen.size > NEAR || !OBJECT_NAME.test(commit)) return false;
    const content = await objects.read(commit);
    for (const parent of content ? parentsIn(content) : []) {
      // At the end of a shallow clone a parent is named but missing.
      if (parent === a) return (await objects.header(a)) !== null;
      seen.add(parent);
    }
  }
  return false;
}

const OBJECT_NAME = /^[0-9a-f]{40,64}$/;

/** The newest common ancestor; null if none is found, or if either commit is missing here. */
export async function mergeBase(git: Git, a: string, b: string): Promise<string | null> {
  try {
    return await firstCommon(git, a, b);
  } catch (error) {
    if (exitCodeOf(error) === null) throw error;
    return null;
  }
}

async function firstCommon(git: Git, a: string, b: string): Promise<string> {
  const args = ['merge-base', '--end-of-options', `${a}^{commit}`, `${b}^{commit}`];
  const found = await runGit(git, { args, purpose: `compare commits ${a} and ${b}` });
  return found.trim();
}

export function headerOf(object: Buffer): string {
  const end = object.indexOf('\n\n');
  return object.toString('utf8', 0, end === -1 ? object.length : end);
}

/** The name without the address; undefined if it is empty. */
export function personIn(header: string, role: 'author' | 'committer'): string | undefined {
  const name = new RegExp(`^${role} (.*) <[^\\n]*$`, 'm').exec(header)?.[1]?.trim();
  return name === '' ? undefined : name;
}

/** In the order of the commit. */
export function parentsIn(object: Buffer): string[] {
  return [...headerOf(object).matchAll(/^parent ([0-9a-f]{40,64})$/gm)].map(([, id = '']) => id);
}

/** The parents of a commit that are not in this clone: a shallow one ends with such commits. */
export async function missingParents(
  objects: ObjectReader,
  commit: string,
): Promise<readonly string[]> {
  const content = await objects.read(commit);
  const parents = content ? parentsIn(content) : [];
  const here = await Promise.all(parents.map(async (each) => objects.header(each)));
  return parents.filter((_, index) => here[index] === null);
}

/** Heads, and commits before them, to remember. */
const KEPT = 10_000;

/** On the line in which a branch grows, an ancestor of a head is an ancestor of all later heads. */
export class Lineage {
  /** Head → its place on the line. */
  #heads = new BoundedMap<string, number>(KEPT);
  /** Commit → place of the first head that equals it or was seen to follow it. */
  #since = new BoundedMap<string, number>(KEPT);
  #last: { readonly commit: string; readonly place: number } | null = null;

  /** Whether `a` was seen to come before `b`. A yes is final, whereas an incomplete history may cause a no. */
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
