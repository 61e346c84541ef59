import { createHash } from 'node:crypto';
import type { SpecTree } from '../model/tree.js';

/**
 * What lies on disk, in one word: another one where a file that flaghoist reads was written, replaced, added or taken
 * away. Contents are not read, so it may change where they did not.
 *
 * @param disk see `directoryTree`.
 */
export function filesPrint(disk: SpecTree): string {
  const hash = createHash('sha256');
  for (const { path, stamp = '' } of disk.list()) hash.update(`${path}\0${stamp}\n`);
  return hash.digest('hex');
}
