import { FlaghoistError } from '../errors.js';
import { byCodeUnits } from '../kinds/json.js';
import { findSorted } from '../kinds/sorted.js';
import { isSpecPath, type SpecTree, type TreeEntry } from '../model/tree.js';
import type { Checkout, Repository } from './checkout.js';
import { changedTree, typeOfMode } from './changed-tree.js';

/**
 * The files of the config directory as a commit has them. They are listed at once and read when asked for, through
 * the one process that the checkout keeps for it.
 *
 * @param commit full hash, see `resolveRevision`.
 * @throws FlaghoistError `GIT`
 */
export async function commitTree(checkout: Checkout, commit: string): Promise<SpecTree> {
  const { repository } = checkout;
  if (repository === null) {
    throw new Error(`bug: commit ${commit} asked of a directory without a repository`);
  }
  const { objects, memory } = repository;
  const entries =
    memory.treeAt(commit) ??
    (await changedTree(repository, commit)) ??
    (await listTree(repository, commit));
  memory.keepTree(commit, entries);
  return new CommitTree(entries, async (blobId) => objects.read(blobId));
}

async function listTree({ git, prefix }: Repository, commit: string): Promise<TreeEntry[]> {
  const listing = await git.run(
    ['ls-tree', '-r', '-z', '-l', '--full-tree', '--end-of-options', commit, ...atPrefix(prefix)],
    `list the files of commit ${commit}`,
  );
  const entries = listing.split('\0').flatMap((line) => parseEntry(line, prefix));
  return entries.sort((a, b) => byCodeUnits(a.path, b.path));
}

class CommitTree implements SpecTree {
  readonly #entries: readonly TreeEntry[];
  readonly #readBlob: (blobId: string) => Promise<Buffer | null>;

  constructor(entries: readonly TreeEntry[], readBlob: (blobId: string) => Promise<Buffer | null>) {
    this.#entries = entries;
    this.#readBlob = readBlob;
  }

  list(): readonly TreeEntry[] {
    return this.#entries;
  }

  async read(path: string): Promise<Buffer> {
    const entry = findSorted(this.#entries, path, (each) => each.path);
    if (entry?.type !== 'file') throw new Error(`bug: "${path}" is no file of this tree`);
    const content = await this.#readBlob(entry.blobId ?? '');
    if (content !== null) return content;
    throw new FlaghoistError(
      'GIT',
      `cannot read "${path}": its content is not in this clone (clone without --filter)`,
    );
  }
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

function atPrefix(prefix: string): string[] {
  return prefix === '' ? [] : [prefix];
}
