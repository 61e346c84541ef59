import { FlagkeelError } from '../errors.js';
import { byCodeUnits } from '../model/json.js';
import { findSorted } from '../model/collections.js';
import { isSpecPath, type SpecTree, type TreeEntry } from '../model/spec-tree.js';
import type { Checkout, Repository } from './checkout.js';
import { runGit } from './git.js';

/** All files are listed at once; each is read on demand. @throws FlagkeelError `GIT` */
export async function commitTree(checkout: Checkout, commit: string): Promise<SpecTree> {
  const { repository } = checkout;
  if (repository === null) {
    throw new Error(`bug: commit ${commit} asked of a directory without a repository`);
  }
  const { objects, memory, prefix } = repository;
  const entries =
    memory.treeAt(commit, prefix) ??
    (await changedTree(repository, commit)) ??
    (await listTree(repository, commit));
  memory.keepTree({ commit, prefix, entries });
  return {
    list: () => entries,
    read: async (path) => {
      const entry = findSorted(entries, path, (each) => each.path);
      if (entry?.type !== 'file') throw new Error(`bug: "${path}" is no file of this tree`);
      const content = await objects.read(entry.blobId ?? '');
      if (content !== null) return content;
      throw new FlagkeelError(
        'GIT',
        `cannot read "${path}": its content is not in this clone (clone without --filter)`,
      );
    },
  };
}

const LIST_FILES = ['ls-tree', '-r', '-z', '-l', '--full-tree'];

async function listTree({ git, prefix }: Repository, commit: string): Promise<TreeEntry[]> {
  const listing = await runGit(git, {
    args: [...LIST_FILES, '--end-of-options', commit, ...(prefix === '' ? [] : [prefix])],
    purpose: `list the files of commit ${commit}`,
  });
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
  const sizeBytes = size === '-' ? 0 : Number(size);
  return [{ path, type: typeOfMode(mode), sizeBytes, blobId }];
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
  })
    // The repository may have dropped the older commit meanwhile.
    .catch(() => null);
  const changes = differing === null ? null : parseChanges(differing, prefix);
  if (changes === null || changes.size > FEW) return null;
  const entries = await Promise.all(
    [...changes].map(async ([path, change]): Promise<[string, TreeEntry | null]> => {
      if (change === null) return [path, null];
      const { type, blobId } = change;
      const header = type === 'submodule' ? null : await objects.header(blobId);
      return [path, { path, type, sizeBytes: header?.sizeBytes ?? 0, blobId }];
    }),
  );
  return withChanges(last.entries, new Map(entries));
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

function withChanges(
  entries: readonly TreeEntry[],
  changes: ReadonlyMap<string, TreeEntry | null>,
): TreeEntry[] {
  const added = new Map(changes);
  const kept: TreeEntry[] = [];
  for (const entry of entries) {
    const now = changes.get(entry.path);
    if (now !== undefined) added.delete(entry.path);
    if (now !== null) kept.push(now ?? entry);
  }
  const more = [...added.values()].filter((entry) => entry !== null);
  return more.length === 0 ? kept : [...kept, ...more].sort((a, b) => byCodeUnits(a.path, b.path));
}

function typeOfMode(mode: string): TreeEntry['type'] {
  if (mode === '120000') return 'symlink';
  return mode === '160000' ? 'submodule' : 'file';
}
