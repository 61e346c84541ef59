import { createHash } from 'node:crypto';
import { lstat, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { FlagkeelError } from '../errors.js';
import { openCheckout, resolveRevision, type Checkout, type Repository } from './checkout.js';
import { commitTree, directoryTree } from './trees.js';
import type { GitCache } from './cache.js';
import { runGit } from './git.js';
import { shellWord } from '../platform/shell.js';
import { byCodeUnits } from '../model/json.js';
import type { Revision } from '../model/outcome.js';
import { overlaid, type SpecTree, type TreeEntry } from '../model/spec-tree.js';

export interface Source extends AsyncDisposable {
  readonly tree: SpecTree;
  readonly checkout: Checkout;
  readonly revision: Revision;
  /** For people: information that is missing or ignored. */
  readonly warnings: readonly string[];
}

/**
 * The files of the commit of a config directory or, if `workingTree` allows it and files differ from HEAD, those on
 * disk. Without git, the files on disk.
 *
 * @param at a revision to read as if it were HEAD.
 * @param sameAsHead whether to read files that equal HEAD from the commit, which costs nothing if those are cached.
 * @throws FlagkeelError `SPECS_INVALID`: the directory is in a repository, but no commit has it yet.
 */
export async function openSource(
  directory: string,
  {
    workingTree,
    at,
    sameAsHead = false,
    memory,
  }: { workingTree: boolean; at?: string | undefined; sameAsHead?: boolean; memory?: GitCache },
): Promise<Source> {
  const checkout = await openCheckout(directory, memory);
  if (at !== undefined) {
    const head = await resolveRevision(checkout, at);
    return fromCommit({ ...checkout, head }, head);
  }
  if (!checkout.repository) {
    const tree = await directoryTree(checkout.directory);
    return sourceOf(tree, checkout, { commit: null, dirty: false }, [NO_HISTORY]);
  }
  const changes = await localChanges(checkout, { hold: true });
  const { head } = checkout;
  if (head !== null && changes.length === 0) return fromCommit(checkout, head);
  if (workingTree) {
    const disk = await directoryTree(checkout.directory);
    const commit = head === null ? null : await commitTree(checkout, head);
    const tree = commit ? changedOn(commit, disk, { changes, sameAsHead }) : disk;
    const revision = { commit: head, dirty: true };
    return sourceOf(tree, checkout, revision, [dirtyWarning(changes, head)]);
  }
  if (head === null) {
    const why = 'the repository has no commit yet (commit them, or use --allow-dirty)';
    throw new FlagkeelError('SPECS_INVALID', `cannot read specs in "${directory}": ${why}`);
  }
  const ignored = `local changes are not applied, only what is committed: ${filesText(changes)} (commit them, or use --allow-dirty)`;
  return fromCommit(checkout, head, [ignored]);
}

/** Regardless of the files on disk. Disposing closes the checkout. */
export async function openCommit(checkout: Checkout, commit: string): Promise<Source> {
  try {
    return await fromCommit({ ...checkout, head: commit }, commit);
  } catch (error) {
    await checkout.close();
    throw error;
  }
}

const NO_HISTORY =
  'there is no git history here: titles and comments of writes are generic, and nothing is remembered between runs';

function dirtyWarning(changes: readonly string[], head: string | null): string {
  if (head === null) return 'nothing is committed yet: reading the files as they are on disk';
  return `reading the working tree: it differs from commit ${head.slice(0, 8)} in ${filesText(changes)}`;
}

function filesText(files: readonly string[]): string {
  const shown = files.slice(0, 3).join(', ');
  return files.length > 3 ? `${shown} and ${files.length - 3} more` : shown;
}

async function fromCommit(
  checkout: Checkout,
  head: string,
  warnings: readonly string[] = [],
): Promise<Source> {
  const tree = await commitTree(checkout, head);
  if (tree.list().length === 0) await requireFetched(checkout, head);
  return sourceOf(tree, checkout, { commit: head, dirty: false }, warnings);
}

/** @throws FlagkeelError `SPECS_INVALID`: the directory is a submodule, of which the repository around it has no files. */
async function requireFetched({ repository }: Checkout, head: string): Promise<void> {
  if (!repository || repository.prefix === '') return;
  const { git, root, prefix } = repository;
  const path = prefix.slice(0, -1);
  const args = ['ls-tree', '--full-tree', '--end-of-options', head, path];
  const entry = await runGit(git, { args, purpose: `find "${path}" in commit ${head}` });
  if (!entry.startsWith('160000 ')) return;
  const fetch = `git -C ${shellWord(root)} submodule update --init ${shellWord(path)}`;
  const why = `it is a submodule that was not fetched (${fetch})`;
  throw new FlagkeelError('SPECS_INVALID', `cannot read specs in "${path}": ${why}`);
}

function sourceOf(
  tree: SpecTree,
  checkout: Checkout,
  revision: Revision,
  warnings: readonly string[],
): Source {
  const close = async (): Promise<void> => checkout.close();
  return { tree, checkout, revision, warnings, [Symbol.asyncDispose]: close };
}

/**
 * The files on disk, and those unchanged ones of the commit that are missing there, which would look removed: a sparse
 * checkout leaves files out, and a submodule that was not fetched is an empty folder.
 */
function changedOn(
  commit: SpecTree,
  disk: SpecTree,
  { changes, sameAsHead }: { changes: readonly string[]; sameAsHead: boolean },
): SpecTree {
  const changed = new Set(changes);
  const onDisk = new Set(disk.list().map(({ path }) => path));
  const unchanged = commit
    .list()
    .filter(({ path }) => !changed.has(path) && (sameAsHead || !onDisk.has(path)));
  const known = new Set(unchanged.map(({ path }) => path));
  return overlaid(disk, commit, (path) => known.has(path));
}

/**
 * Paths that flagkeel reads and that differ between HEAD and the disk, sorted. New files count unless git ignores them.
 * Empty without a repository; all files before the first commit.
 *
 * The bytes are compared here, not by `git status`: that would run the clean filters that the repository's own config
 * names. A file that differs only in its line ends, or in its hash at `$Id$`, counts as equal: git may convert both.
 *
 * @param onDisk a fresh listing of the directory, to save another one.
 * @param hold keeps the contents of equal files in memory, because the caller reads them next.
 */
export async function localChanges(
  checkout: Checkout,
  { onDisk, hold = false }: { onDisk?: SpecTree; hold?: boolean } = {},
): Promise<string[]> {
  const { repository, head, directory } = checkout;
  if (repository === null) return [];
  const disk = onDisk ?? (await directoryTree(directory));
  const byPath = new Map(disk.list().map((entry) => [entry.path, entry]));
  const committed = head === null ? [] : (await commitTree(checkout, head)).list();
  const known = new Set(committed.map(({ path }) => path));

  const submodules = committed.filter(({ type }) => type === 'submodule').map(({ path }) => path);
  const changed: string[] = [];
  const missing: string[] = [];
  for (const entry of committed) {
    const now = byPath.get(entry.path);
    if (entry.type === 'submodule') {
      if (!(await isSubmodule(entry.path, disk, directory))) changed.push(entry.path);
    } else if (now === undefined) missing.push(entry.path);
    // One file after the other: ten thousand open at once are too many.
    else if (!(await sameContent(entry, now, { disk, checkout, hold }))) changed.push(entry.path);
  }
  const added = [...byPath.keys()].filter(
    // Git refuses questions about paths inside a submodule; the submodule itself counts as changed.
    (path) => !known.has(path) && !isBelow(path, submodules),
  );
  const all = [
    ...changed,
    ...(await withoutSkipped(repository, missing)),
    ...(await withoutIgnored(repository, added)),
  ];
  return all.sort(byCodeUnits);
}

function isBelow(path: string, folders: readonly string[]): boolean {
  return folders.some((folder) => path.startsWith(`${folder}/`));
}

/** Whether a submodule of HEAD is still present: as a repository, or as an empty folder if it was not fetched. */
async function isSubmodule(path: string, disk: SpecTree, directory: string): Promise<boolean> {
  const now = disk.list().find((each) => each.path === path || isBelow(each.path, [path]));
  if (now !== undefined) return now.type === 'submodule' && now.path === path;
  try {
    return (await lstat(join(directory, path))).isDirectory();
  } catch {
    return false;
  }
}

async function sameContent(
  committed: TreeEntry,
  now: TreeEntry,
  { disk, checkout, hold }: { disk: SpecTree; checkout: Checkout; hold: boolean },
): Promise<boolean> {
  const { directory, repository } = checkout;
  if (committed.type !== now.type) return false;
  const known = repository?.memory.disk.get(now.path);
  if (known !== undefined && known.stamp === now.stamp && known.blobId === committed.blobId)
    return true;
  const startedMs = Date.now();
  const content =
    now.type === 'symlink'
      ? Buffer.from(await readlink(join(directory, now.path)))
      : await disk.read(now.path);
  if (blobId(content, committed.blobId) === committed.blobId) {
    keep(repository, now, committed.blobId, startedMs);
    if (hold) repository?.objects.hold(committed.blobId, content);
    return true;
  }
  const text = content.toString('latin1').replaceAll('\r\n', '\n');
  const converted = text.replaceAll(`$Id: ${String(committed.blobId)} $`, () => '$Id$');
  return blobId(Buffer.from(converted, 'latin1'), committed.blobId) === committed.blobId;
}

/** A file younger than this may change again without a new stamp, because clocks of file systems are coarse. */
const SETTLED_MS = 2_000;

function keep(
  repository: Repository | null,
  { path, stamp }: TreeEntry,
  blobId: string | undefined,
  readAtMs: number,
): void {
  if (repository === null || stamp === undefined || blobId === undefined) return;
  const changedMs = Number(BigInt(stamp.slice(stamp.lastIndexOf(' ') + 1)) / 1_000_000n);
  if (readAtMs - changedMs > SETTLED_MS) repository.memory.disk.set(path, { stamp, blobId });
}

/** Git's hash of a content. @param other a hash of the same repository, whose length shows the hash function. */
function blobId(content: Buffer, other: string | undefined): string {
  const algorithm = other?.length === 64 ? 'sha256' : 'sha1';
  const header = `blob ${String(content.length)}\0`;
  return createHash(algorithm).update(header).update(content).digest('hex');
}

/** A sparse checkout leaves files out on purpose. */
async function withoutSkipped(repository: Repository, paths: string[]): Promise<string[]> {
  if (paths.length === 0) return [];
  const listing = await runGit(repository.git, {
    args: ['ls-files', '-z', '-t', '--full-name'],
    purpose: 'list the files of the index',
  });
  const skipped = new Set(
    listing.split('\0').flatMap((line) => (line.startsWith('S ') ? [line.slice(2)] : [])),
  );
  return paths.filter((path) => !skipped.has(repository.prefix + path));
}

async function withoutIgnored(repository: Repository, paths: string[]): Promise<string[]> {
  if (paths.length === 0) return [];
  const ignored = await runGit(repository.git, {
    args: ['check-ignore', '-z', '--stdin'],
    purpose: 'ask git which files it ignores',
    input: paths.map((path) => `${repository.prefix}${path}\0`).join(''),
    // 1: git ignores none of them.
    allowedExitCodes: [0, 1],
  });
  const names = new Set(ignored.split('\0'));
  return paths.filter((path) => !names.has(repository.prefix + path));
}
