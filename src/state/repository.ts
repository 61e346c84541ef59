import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { isRepository, openBare } from '../git/bare-repository.js';
import type { Checkout } from '../git/checkout.js';
import type { Git } from '../git/git.js';
import type { ObjectReader } from '../git/objects.js';

/** The repository that holds states: that of the checkout, or a bare one of its own. */
export interface StateRepository {
  readonly gitDir: string;
  /** A reader that other parts of the run have open already. */
  readonly objects?: ObjectReader;
  /** Makes it where it is absent. */
  open(): Promise<Git>;
  /** The same objects and refs without the config of a checkout, for commands that use a network. */
  ours(): Promise<Git>;
  /** Whether there is anything to read: a repository of its own is made with the first write. */
  exists(): Promise<boolean>;
}

/**
 * The first that can be written: the directory for states, then the repository of the checkout. Null: there is none.
 * Nothing is created here.
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

/** Whether the directory, or the nearest one above it that exists, can be written. */
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
