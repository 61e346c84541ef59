import { createHash } from 'node:crypto';
import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { directoryTree } from './directory-tree.js';

/**
 * What lies on disk, in one word: another one where a file that flaghoist reads was written, replaced, added or taken
 * away. Contents are not read, so it may change where they did not.
 *
 * @throws FlaghoistError `GIT` the directory cannot be read.
 */
export async function filesPrint(directory: string): Promise<string> {
  const hash = createHash('sha256');
  for (const { path } of (await directoryTree(directory)).list()) {
    // One after the other: what vanishes meanwhile is seen the next time.
    hash.update(`${path}\0${await statPrint(join(directory, path))}\n`);
  }
  return hash.digest('hex');
}

async function statPrint(path: string): Promise<string> {
  try {
    const { ino, size, mtimeMs, ctimeMs } = await lstat(path);
    return [ino, size, mtimeMs, ctimeMs].join(' ');
  } catch {
    return 'gone';
  }
}
