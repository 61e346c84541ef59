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
import { byCodeUnits } from '../model/json.js';
import { isSpecPath, type EntryType, type SpecTree, type TreeEntry } from '../model/spec-tree.js';
import { gitError } from './git.js';

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
    if (entry.isDirectory()) {
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

/** Folders that are probably misspelt names of ours. */
const NEAR_FOLDER = /^(?:flags?|segments?|identit(?:y|ies)|kills?|tests?)$/i;
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
      if (!entry.isDirectory() || isSpecPath(entry.name) || !NEAR_FOLDER.test(entry.name)) continue;
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
