import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { isRepository, openBare } from '../git/bare-repository.js';
import type { Checkout } from '../git/checkout.js';
import type { Git } from '../git/git.js';
import type { ObjectReader } from '../git/objects.js';

/** The repository of states: that of the checkout, or a separate bare one. */
export interface StateRepository {
  readonly gitDir: string;
  /** A reader that other parts of the run have opened, to save a process. */
  readonly objects?: ObjectReader;
  /** Creates the repository if it is missing. */
  open(): Promise<Git>;
  /** The objects and refs of this repository without the config of the checkout, for commands that use a network. */
  ours(): Promise<Git>;
  /** Whether there is anything to read: only the first write creates a separate repository. */
  exists(): Promise<boolean>;
}

/**
 * The first writable of two places: the directory for states, then the repository of the checkout; null if neither is
 * writable. Creates nothing.
 */
export async function stateRepository(
  checkout: Checkout,
  stateDir: string | undefined,
): Promise<StateRepository | null> {
  if (stateDir !== undefined && (await canBecomeHome(stateDir))) return bare(resolve(stateDir));
  const { repository } = checkout;
  if (repository === null || !(await isWritable(repository.gitDir))) return null;
  const { git, gitDir, objects, ours } = repository;
  return {
    gitDir,
    objects,
    open: async () => Promise.resolve(git),
    ours,
    exists: async () => Promise.resolve(true),
  };
}

function bare(directory: string): StateRepository {
  let opened: Promise<Git> | null = null;
  const open = async (): Promise<Git> => (opened ??= openBare(directory, 'state repository'));
  return {
    gitDir: directory,
    open,
    ours: open,
    exists: async () => opened !== null || isRepository(directory),
  };
}

/** Whether the directory, or its nearest existing parent, is writable. */
async function canBecomeHome(directory: string): Promise<boolean> {
  for (let candidate = resolve(directory); ; candidate = dirname(candidate)) {
    try {
      await access(candidate);
      return (await stat(candidate)).isDirectory() && (await isWritable(candidate));
    } catch {
      if (dirname(candidate) === candidate) return false;
    }
  }
}

async function isWritable(gitDir: string): Promise<boolean> {
  const places = [gitDir];
  for (const each of ['objects', 'refs']) {
    const place = join(gitDir, each);
    if (await isThere(place)) places.push(place);
  }
  const answers = await Promise.all(places.map(isWritableDirectory));
  return answers.every(Boolean);
}

async function isThere(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch {
    return false;
  }
}

async function isWritableDirectory(path: string): Promise<boolean> {
  try {
    await access(path, constants.W_OK | constants.X_OK);
    return (await stat(path)).isDirectory();
  } catch {
    return false;
  }
}
