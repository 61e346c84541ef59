import { mkdir, realpath, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type Git, gitError, openGit, runGit } from './git.js';

/**
 * A bare repository of our own, made with the folders above it where it is absent.
 *
 * @param what it is, for the person who reads that it cannot be made: `clone`, `state repository`.
 * @throws FlagkeelError `GIT`
 */
export async function openBare(directory: string, what: string): Promise<Git> {
  if (!(await isRepository(directory))) await makeBare(directory, what);
  return bareGit(await realpath(directory));
}

/** A repository that git finds by its name, also where the operator has git refuse to find bare ones by themselves. */
export function bareGit(directory: string): Git {
  return openGit(directory, directory, { GIT_DIR: directory });
}

/** What was deleted in part is none: making it again fills the gaps. */
export async function isRepository(directory: string): Promise<boolean> {
  try {
    await Promise.all(['HEAD', 'objects', 'refs'].map(async (part) => stat(join(directory, part))));
    return true;
  } catch {
    return false;
  }
}

async function makeBare(directory: string, what: string): Promise<void> {
  const purpose = `create the ${what} "${directory}"`;
  try {
    await mkdir(directory, { recursive: true });
  } catch (error) {
    throw gitError(purpose, error);
  }
  await runGit(openGit(await realpath(directory)), {
    args: ['init', '--quiet', '--bare', '--initial-branch=state', '.'],
    purpose,
    writes: true,
  });
}
