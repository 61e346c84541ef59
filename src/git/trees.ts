import { createHash } from 'node:crypto';
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readFileSync,
  realpathSync,
  type BigIntStats,
  type Dirent,
} from 'node:fs';
import { readdir, realpath } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { findSorted } from '../model/collections.js';
import { byCodeUnits } from '../model/json.js';
import {
  isNearSpecFolder,
  isSpecPath,
  type EntryType,
  type SpecTree,
  type TreeEntry,
} from '../model/spec-tree.js';
import type { Checkout, Repository } from './checkout.js';
import { gitError, MISSING_HERE, runGit } from './git.js';

/** All files are listed at once; each is read on demand. @throws FlagkeelError `GIT` */
export async function commitTree(checkout: Checkout, commit: string): Promise<SpecTree> {
  const { repository } = checkout;
  if (repository === null) {
    throw new Error(`bug: commit ${commit} asked of a directory without a repository`);
  }
  const { objects, memory, prefix } = repository;
  const entries =
    memory.treeAt(commit, prefix) ??
    // The repository may have dropped the last listed commit, and a partial clone lacks the sizes of files.
    (await changedTree(repository, commit).catch(() => null)) ??
    (await listTree(repository, commit));
  memory.keepTree({ commit, prefix, entries });
  return {
    list: () => entries,
    read: async (path) => {
      const entry = findSorted(entries, path, (each) => each.path);
      if (entry?.type !== 'file') throw new Error(`bug: "${path}" is no file of this tree`);
      const purpose = `read "${path}" of commit ${commit.slice(0, 8)}`;
      const content = await objects.read(entry.blobId ?? '', purpose);
      if (content === null) throw gitError(purpose, new Error(MISSING_HERE));
      return content;
    },
  };
}

const LIST_FILES = ['ls-tree', '-r', '-z', '-l', '--full-tree'];

async function listTree({ git, ours, prefix }: Repository, commit: string): Promise<TreeEntry[]> {
  const args = [...LIST_FILES, '--end-of-options', commit, ...(prefix === '' ? [] : [prefix])];
  const command = { args, purpose: `list the files of commit ${commit}` };
  // For sizes that a partial clone lacks, git asks its server and ends, but not in a repository of ours.
  const listing = await runGit(git, command).catch(async () => runGit(await ours(), command));
  const entries = listing.split('\0').flatMap((line) => parseEntry(line, prefix));
  return entries.sort((a, b) => byCodeUnits(a.path, b.path));
}

/** `<mode> <type> <id> <padded size or ->\t<path>` */
function parseEntry(line: string, prefix: string): TreeEntry[] {
  const tab = line.indexOf('\t');
  const fullPath = line.slice(tab + 1);
  const path = fullPath.slice(prefix.length);
  if (tab === -1 || !fullPath.startsWith(prefix) || !isSpecPath(path)) return [];
  const [mode = '', , blobId = '', size = ''] = line.slice(0, tab).split(/ +/);
  // `-` for a submodule, `BAD` for a file whose content is missing: reading that fails.
  return [{ path, type: typeOfMode(mode), sizeBytes: Number(size) || 0, blobId }];
}

/** From this number of changes on, one listing of all files is faster. */
const FEW = 500;

/**
 * The files of a commit, from its differences to the last listed commit of the same folder; null if there is no such
 * commit, or too many differences. Unchanged files are the identical objects.
 */
async function changedTree(repository: Repository, commit: string): Promise<TreeEntry[] | null> {
  const { git, prefix, memory, objects } = repository;
  const last = memory.lastTree(prefix);
  if (last === undefined) return null;
  const options = ['-r', '-z', '--raw', '--no-abbrev', '--no-renames', '--no-ext-diff'];
  const below = prefix === '' ? [] : ['--', prefix];
  const differing = await runGit(git, {
    args: ['diff-tree', ...options, '--end-of-options', last.commit, commit, ...below],
    purpose: `compare the files of commits ${last.commit} and ${commit}`,
  });
  const changes = parseChanges(differing, prefix);
  if (changes === null || changes.size > FEW) return null;
  const changed = await Promise.all(
    [...changes].map(async ([path, change]): Promise<TreeEntry[]> => {
      if (change === null) return [];
      const { type, blobId } = change;
      const header = type === 'submodule' ? null : await objects.header(blobId);
      return [{ path, type, sizeBytes: header?.sizeBytes ?? 0, blobId }];
    }),
  );
  const kept = last.entries.filter(({ path }) => !changes.has(path));
  return [...kept, ...changed.flat()].sort((a, b) => byCodeUnits(a.path, b.path));
}

/** null if the file is gone. */
type FileChange = { readonly type: TreeEntry['type']; readonly blobId: string } | null;

/** Path → its new file, from `:<mode> <mode> <id> <id> <status>\0<path>\0`; null if the output has another form. */
function parseChanges(output: string, prefix: string): Map<string, FileChange> | null {
  const tokens = output.split('\0');
  const changes = new Map<string, FileChange>();
  for (let at = 0; at + 1 < tokens.length; at += 2) {
    const [, mode = '', , blobId = '', status = ''] = (tokens[at] ?? '').split(' ');
    const fullPath = tokens[at + 1] ?? '';
    if (!/^[AMDT]$/.test(status) || !fullPath.startsWith(prefix)) return null;
    const path = fullPath.slice(prefix.length);
    if (!isSpecPath(path)) continue;
    changes.set(path, status === 'D' ? null : { type: typeOfMode(mode), blobId });
  }
  return changes;
}

function typeOfMode(mode: string): TreeEntry['type'] {
  if (mode === '120000') return 'symlink';
  return mode === '160000' ? 'submodule' : 'file';
}

/**
 * The files of a config directory on disk, ignored ones included. Symbolic links are never followed, so that nothing
 * outside the directory is reached. A repository inside the directory is not entered, because its files belong to no
 * commit of the outer one.
 *
 * @throws FlagkeelError `GIT` a folder or file cannot be read.
 */
export async function directoryTree(directory: string): Promise<SpecTree> {
  const { root, entries } = await listed(directory);
  const files = new Set(entries.filter(({ type }) => type === 'file').map(({ path }) => path));
  return {
    list: () => entries,
    read: async (path) => {
      if (!files.has(path)) throw new Error(`bug: "${path}" is no file of this tree`);
      // Lets other tasks run between two files.
      await setImmediate();
      try {
        return contentOf(join(root, path));
      } catch (error) {
        throw gitError(`read "${path}"`, error);
      }
    },
  };
}

async function listed(directory: string): Promise<{ root: string; entries: TreeEntry[] }> {
  try {
    const root = await realpath(directory);
    const entries = await entriesBelow(root, '');
    return { root, entries: entries.sort((a, b) => byCodeUnits(a.path, b.path)) };
  } catch (error) {
    throw gitError(`list the files of "${directory}"`, error);
  }
}

/**
 * Synchronous, because as promises its five system calls would wait longer than they take. It checks again: since the
 * listing, the file or a folder above it may have become a link, or the file a pipe, which would block forever.
 */
export function contentOf(full: string): Buffer {
  if (realpathSync.native(full) !== full) throw new Error('it has become a symbolic link');
  const file = openSync(full, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    if (!fstatSync(file).isFile()) throw new Error('it has become something else than a file');
    return readFileSync(file);
  } finally {
    closeSync(file);
  }
}

async function entriesBelow(root: string, folder: string): Promise<TreeEntry[]> {
  const found: TreeEntry[] = [];
  const inside = await readdir(join(root, folder), { withFileTypes: true });
  if (folder !== '' && inside.some(({ name }) => name === '.git')) {
    return [{ path: folder.slice(0, -1), type: 'submodule', sizeBytes: 0 }];
  }
  for (const entry of inside) {
    const path = `${folder}${entry.name}`;
    if (!isSpecPath(path)) continue;
    if (path.includes('\uFFFD')) {
      // No path of ours leads to a name that is not UTF-8.
      found.push({ path, type: 'special', sizeBytes: 0 });
    } else if (entry.isDirectory()) {
      // One folder after the other, because a deep tree must not open them all at once.
      found.push(...(await entriesBelow(root, `${path}/`)));
    } else {
      // Synchronous calls take a tenth of the time of promises.
      const stats = lstatSync(join(root, path), { bigint: true });
      found.push({
        path,
        type: typeOf(entry),
        sizeBytes: Number(stats.size),
        stamp: stampOf(stats),
      });
    }
  }
  return found;
}

function typeOf(entry: Dirent): EntryType {
  if (entry.isFile()) return 'file';
  return entry.isSymbolicLink() ? 'symlink' : 'special';
}

const SPEC_ENDING = /\.(?:ya?ml|keys)$/i;
/** More than these are no slip, and larger ones are no specs. */
const MOST_BESIDE = 1_000;
const MAX_BESIDE_BYTES = 256 * 1024;

/**
 * Files of a config directory that are not read but may be meant as specs: at its top, and in folders with a misspelt
 * name. At most a thousand, sorted by path; links are not followed.
 *
 * @throws FlagkeelError `GIT` a folder or file cannot be read.
 */
export async function filesBeside(
  directory: string,
): Promise<readonly { readonly path: string; readonly text: string }[]> {
  try {
    const top = await readdir(directory, { withFileTypes: true });
    const paths = top.flatMap((entry) =>
      entry.isFile() && SPEC_ENDING.test(entry.name) && !isSpecPath(entry.name) ? [entry.name] : [],
    );
    for (const entry of top) {
      if (!entry.isDirectory() || !isNearSpecFolder(entry.name)) continue;
      const inside = await readdir(join(directory, entry.name), {
        recursive: true,
        withFileTypes: true,
      });
      for (const each of inside) {
        if (!each.isFile() || !SPEC_ENDING.test(each.name)) continue;
        paths.push(relative(directory, join(each.parentPath, each.name)).replaceAll(sep, '/'));
      }
    }
    const found = paths.sort(byCodeUnits).slice(0, MOST_BESIDE);
    return found.flatMap((path) => {
      const full = join(directory, path);
      if (lstatSync(full).size > MAX_BESIDE_BYTES) return [];
      return [{ path, text: readFileSync(full, 'utf8') }];
    });
  } catch (error) {
    throw gitError(`look for specs beside those of "${directory}"`, error);
  }
}

/** Changes whenever the file is replaced, written or moved, except within one tick of the clock. */
function stampOf({ dev, ino, mode, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return [dev, ino, mode, size, mtimeNs, ctimeNs].join(' ');
}

/** Changes when a file that flagkeel reads is written, replaced, added or removed; also if its content stays equal. */
export function directoryFingerprint(disk: SpecTree): string {
  const hash = createHash('sha256');
  for (const { path, stamp = '' } of disk.list()) hash.update(`${path}\0${stamp}\n`);
  return hash.digest('hex');
}
