import { join } from 'node:path';
import type { Checkout } from './checkout.js';

/** Folders whose files change when another commit is checked out, or the branch gets one. Empty without git. */
export async function headFolders({ repository }: Checkout): Promise<string[]> {
  if (repository === null) return [];
  // A linked working tree has a HEAD of its own.
  const answer = await repository.git.run(
    ['rev-parse', '--path-format=absolute', '--absolute-git-dir'],
    'find HEAD',
  );
  const { gitDir } = repository;
  return [...new Set([answer.trimEnd(), gitDir, join(gitDir, 'refs', 'heads')])];
}
