import { existsSync } from 'node:fs';
import { posix } from 'node:path';
import { GitCache } from '../git/cache.js';
import type { Checkout, Repository } from '../git/checkout.js';
import { runGit } from '../git/git.js';
import { commitTree, directoryTree } from '../git/trees.js';
import { bindEnvironments, type BoundDesired } from '../model/bound-desired.js';
import type { Config } from '../model/desired.js';
import { objectId, type ObjectId, type ObjectRef } from '../model/ref.js';
import { CONFIG_PATH, type SpecTree } from '../model/spec-tree.js';
import { fingerprintOf } from '../plan/bases/compare.js';
import { plannedKind } from '../plan/objects/kinds.js';
import type { HeldReason } from '../plan/policy.js';
import { readConfig } from '../specs/read-config.js';
import { readSpecs } from '../specs/read-specs.js';

/** What a run knows of itself that tells which directories are about the same workspace of the same service. */
export interface OwnPlace {
  readonly desired: BoundDesired;
  readonly workspace: { readonly id: string; readonly name: string };
  /** Whether runs of another directory write to the service of this run; undefined if nothing tells. */
  readonly isServedHere: (directory: string, config: Config) => Promise<boolean | undefined>;
}

interface Removals extends OwnPlace {
  readonly removed: readonly ObjectRef[];
  /** Set if the commit to read is the one that removed them: where the directories are now, null for the disk. */
  readonly now?: string | null;
}

/**
 * Why removed objects stay: another config directory of the repository declares them for the same workspace, because
 * they moved there, or may do so.
 *
 * @param commit to read; null for the files on disk.
 * @throws FlagkeelError `GIT` the files of the repository cannot be listed.
 */
export async function declaredElsewhere(
  checkout: Checkout,
  commit: string | null,
  about: Removals,
): Promise<ReadonlyMap<ObjectId, HeldReason>> {
  const held = new Map<ObjectId, HeldReason>();
  const { repository } = checkout;
  if (repository === null || about.removed.length === 0) return held;
  for (const { prefix, files } of await otherDirectories(repository, commit)) {
    const named = about.removed.filter((ref) =>
      files.some((path) => plannedKind(ref.kind).files.isOwn(path, ref)),
    );
    if (named.length === 0) continue;
    const at = async (each: string | null) => treeAt({ ...repository, prefix }, checkout, each);
    const tree = await at(commit);
    const present = about.now === undefined ? tree : await at(about.now);
    // The index still has a directory that was deleted on disk.
    if (tree === null || present === null) continue;
    const reasonOf = await reasonFor(prefix, repository.prefix, { tree, present }, about);
    for (const ref of named) {
      const reason = reasonOf(ref);
      if (reason) held.set(objectId(ref), reason);
    }
  }
  return held;
}

/**
 * The other config directories for the workspace of the run, also where nothing tells whether they mean its service:
 * the path to each, and its files.
 *
 * @param commit to read; null for the files on disk.
 */
export async function treesElsewhere(
  checkout: Checkout,
  commit: string | null,
  own: Omit<OwnPlace, 'desired'>,
): Promise<readonly { readonly path: string; readonly tree: SpecTree }[]> {
  const { repository } = checkout;
  if (repository === null) return [];
  const found: { path: string; tree: SpecTree }[] = [];
  for (const { prefix } of await otherDirectories(repository, commit)) {
    const tree = await treeAt({ ...repository, prefix }, checkout, commit);
    if (tree === null || (await isOfWorkspace(prefix, tree, own)).isHere === false) continue;
    found.push({ path: pathTo(prefix, repository.prefix), tree });
  }
  return found;
}

/** The path from one directory to another, as commands take it. */
function pathTo(prefix: string, from: string): string {
  return posix.relative(from, prefix) || '.';
}

/** All but that of the run, each with the paths of its files below it. */
async function otherDirectories(
  repository: Repository,
  commit: string | null,
): Promise<readonly { readonly prefix: string; readonly files: readonly string[] }[]> {
  const paths = await allPaths(repository, commit);
  const configs = paths.filter((path) => posix.basename(path) === CONFIG_PATH);
  // Each with a slash at its end; empty for the top of the repository.
  const prefixes = configs.map((path) => path.slice(0, -CONFIG_PATH.length));
  return prefixes.flatMap((prefix) => {
    if (prefix === repository.prefix) return [];
    const inside = paths.filter((path) => path.startsWith(prefix));
    return [{ prefix, files: inside.map((path) => path.slice(prefix.length)) }];
  });
}

async function allPaths({ git }: Repository, commit: string | null): Promise<readonly string[]> {
  const onDisk = ['ls-files', '-z', '--cached', '--others', '--exclude-per-directory=.gitignore'];
  const committed = ['ls-tree', '-r', '-z', '--name-only', '--full-tree', '--end-of-options'];
  const args = commit === null ? onDisk : [...committed, commit];
  const listing = await runGit(git, { args, purpose: 'list the files of the repository' });
  return listing.split('\0');
}

async function treeAt(
  repository: Repository,
  checkout: Checkout,
  commit: string | null,
): Promise<SpecTree | null> {
  if (commit === null) {
    const directory = posix.join(repository.root, repository.prefix);
    return existsSync(posix.join(directory, CONFIG_PATH)) ? directoryTree(directory) : null;
  }
  // With a memory of its own, which drops no listing of the directory of the run.
  const own = { ...repository, memory: new GitCache() };
  return commitTree({ ...checkout, repository: own }, commit);
}

/** @returns undefined for what the directory does not declare for this workspace and service, or removed and prunes. */
async function reasonFor(
  prefix: string,
  from: string,
  { tree, present }: { readonly tree: SpecTree; readonly present: SpecTree },
  { now, ...own }: Removals,
): Promise<(ref: ObjectRef) => HeldReason | undefined> {
  const directory = prefix.slice(0, -1);
  const name = directory === '' ? 'the top of the repository' : `"${directory}"`;
  // As the ways out, which are run in the directory of the object.
  const path = pathTo(prefix, from);
  const { config, isHere } = await isOfWorkspace(prefix, present, own);
  if (isHere === false) return () => undefined;
  const why = 'still-in-use' as const;
  const specs = await readSpecs(tree);
  const isPast = now !== undefined;
  if (isPast && !(isHere && specs.ok && config?.prune === false)) return () => undefined;
  if (!specs.ok) {
    const because = `${name} has a file of it too, and its specs are invalid (flagkeel validate ${path})`;
    return () => ({ why, because });
  }
  const theirs = bindEnvironments(specs.desired, own.desired.environmentNames);
  const declares = isPast ? 'declared it when it left this one,' : 'declares it';
  const because = isHere
    ? `${name} ${declares} for this workspace: a run leaves it to that directory`
    : `${name} declares it for a workspace of this name, and nothing tells whether on another service (flagkeel reconcile ${path}, once; or write service.url into both flagkeel.yaml)`;
  return (ref) => {
    if (fingerprintOf(theirs, ref) === undefined) return undefined;
    return { why, because, ...(isHere && { moved: ref }) };
  };
}

/** Whether a directory is about the workspace and the service of the run; undefined if nothing tells. */
async function isOfWorkspace(
  prefix: string,
  tree: SpecTree,
  { workspace, isServedHere }: Omit<OwnPlace, 'desired'>,
): Promise<{ readonly config: Config | undefined; readonly isHere: boolean | undefined }> {
  const config = await readConfig(tree, { readable: true });
  const isOther = config && ![workspace.id, workspace.name].includes(config.workspace);
  const isHere = isOther ? false : config && (await isServedHere(prefix.slice(0, -1), config));
  return { config, isHere };
}
