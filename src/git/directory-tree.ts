import { constants, lstatSync, type BigIntStats } from 'node:fs';
import { open, readdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { byCodeUnits } from '../kinds/json.js';
import { isSpecPath, type SpecTree, type TreeEntry } from '../model/tree.js';
import { gitError } from './git.js';

/**
 * The files of a config directory as they lie on disk, ignored ones included.
 *
 * Symbolic links are listed as such and never followed, so nothing outside the directory is reached.
 *
 * @throws FlaghoistError `GIT` a folder or file cannot be read.
 */
export async function directoryTree(directory: string): Promise<SpecTree> {
  try {
    const root = await realpath(directory);
    const entries = await entriesBelow(root, '');
    return new DirectoryTree(
      root,
      entries.sort((a, b) => byCodeUnits(a.path, b.path)),
    );
  } catch (error) {
    throw gitError(`list the files of "${directory}"`, error);
  }
}

class DirectoryTree implements SpecTree {
  readonly #root: string;
  readonly #entries: readonly TreeEntry[];
  readonly #files: ReadonlySet<string>;

  constructor(root: string, entries: readonly TreeEntry[]) {
    this.#root = root;
    this.#entries = entries;
    this.#files = new Set(entries.filter(({ type }) => type === 'file').map(({ path }) => path));
  }

  list(): readonly TreeEntry[] {
    return this.#entries;
  }

  async read(path: string): Promise<Buffer> {
    if (!this.#files.has(path)) throw new Error(`bug: "${path}" is no file of this tree`);
    try {
      // Between listing and reading a file may have become a link, or a folder above it.
      const full = join(this.#root, path);
      if ((await realpath(full)) !== full) throw new Error('it has become a symbolic link');
      const file = await open(full, constants.O_RDONLY | constants.O_NOFOLLOW);
      try {
        return await file.readFile();
      } finally {
        await file.close();
      }
    } catch (error) {
      throw gitError(`read "${path}"`, error);
    }
  }
}

async function entriesBelow(root: string, folder: string): Promise<TreeEntry[]> {
  const found: TreeEntry[] = [];
  for (const entry of await readdir(join(root, folder), { withFileTypes: true })) {
    const path = `${folder}${entry.name}`;
    if (entry.name === '.git') continue;
    if (entry.isDirectory()) {
      // One folder after the other: a deep tree must not open them all at once.
      if (isSpecPath(`${path}/`)) found.push(...(await entriesBelow(root, `${path}/`)));
    } else if (isSpecPath(path) && (entry.isFile() || entry.isSymbolicLink())) {
      const type = entry.isFile() ? 'file' : 'symlink';
      // One call after the other takes a tenth of what as many promises do.
      const stats = lstatSync(join(root, path), { bigint: true });
      found.push({ path, type, sizeBytes: Number(stats.size), stamp: stampOf(stats) });
    }
  }
  return found;
}

/** Another one whenever the file is another, or was written or moved; but for changes within one tick of the clock. */
function stampOf({ dev, ino, mode, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return [dev, ino, mode, size, mtimeNs, ctimeNs].join(' ');
}
