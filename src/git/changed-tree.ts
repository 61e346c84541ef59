import { byCodeUnits } from '../kinds/json.js';
import { isSpecPath, type TreeEntry } from '../model/tree.js';
import type { Repository } from './checkout.js';

/** More files than these are listed faster all together. */
const FEW = 500;

/**
 * The files of a commit by what differs from the one that was listed last; null where there is none, or very much does.
 * Files that are the same are the same objects.
 */
export async function changedTree(
  repository: Repository,
  commit: string,
): Promise<TreeEntry[] | null> {
  const { git, prefix, memory, objects } = repository;
  const last = memory.lastTree();
  if (last === undefined) return null;
  const options = ['-r', '-z', '--raw', '--no-abbrev', '--no-renames', '--no-ext-diff'];
  const differing = await git
    .run(
      ['diff-tree', ...options, '--end-of-options', last.commit, commit, ...below(prefix)],
      `compare the files of commits ${last.commit} and ${commit}`,
    )
    // The older one may have been dropped from the repository meanwhile.
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

/** Null: the file is gone. */
type FileChange = { readonly type: TreeEntry['type']; readonly blobId: string } | null;

/** Path → what is there now, from `:<mode> <mode> <id> <id> <status>\0<path>\0`; null: it is not of that form. */
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

export function typeOfMode(mode: string): TreeEntry['type'] {
  if (mode === '120000') return 'symlink';
  return mode === '160000' ? 'submodule' : 'file';
}

function below(prefix: string): string[] {
  return prefix === '' ? [] : ['--', prefix];
}
