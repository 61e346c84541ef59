import { constants, existsSync } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { isRepository, openBare } from '../git/own-repository.js';
import type { StateKey } from './known-state.js';
import { encodeName } from './codec.js';
import { sha256 } from '../model/json.js';
import type { Checkout } from '../git/checkout.js';
import type { Git } from '../git/git.js';
import { ObjectReader } from '../git/objects.js';

export const STATE_REFS = 'refs/flagkeel/';
export const FETCHED_REFS = 'refs/flagkeel-origin/';
export const ALL_STATES = `+${STATE_REFS}*:${FETCHED_REFS}*`;

type NamedState = Pick<StateKey, 'workspaceId' | 'origin' | 'directory'>;

export function stateRefName({ workspaceId, origin, directory }: NamedState): string {
  const workspace = encodeName(workspaceId).replaceAll('.', '%2E');
  return `${STATE_REFS}${workspace}/${stateHash(origin, directory)}`;
}

export function stateHash(origin: string, directory: string): string {
  return sha256(`${origin}\n${directory}`).slice(0, 8);
}

export function fetchedName(ref: string): string {
  return ref.replace(STATE_REFS, FETCHED_REFS);
}

/** The repository of states: that of the checkout, or a separate bare one. */
export interface StateRepository {
  readonly gitDir: string;
  open(): Promise<Git>;
  /** Its objects and refs without the config of the checkout, for commands that use a network. */
  ours(): Promise<Git>;
  /** Lends a reader of its objects: that of the checkout, which the run has opened anyway, or one for this use alone. */
  reading<T>(use: (git: Git, objects: ObjectReader) => Promise<T>): Promise<T>;
  /** Whether there is anything to read: only the first write creates a separate repository. */
  exists(): Promise<boolean>;
}

/** The directory for states, or else the repository of the checkout; null if neither is writable. Creates nothing. */
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
    open: async () => Promise.resolve(git),
    ours,
    reading: async (use) => use(git, objects),
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
    reading: async (use) => {
      const git = await open();
      const objects = new ObjectReader(git);
      try {
        return await use(git, objects);
      } finally {
        await objects.close();
      }
    },
    exists: async () => opened !== null || isRepository(directory),
  };
}

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
  const parts = ['objects', 'refs'].map((each) => join(gitDir, each));
  const places = [gitDir, ...parts.filter((place) => existsSync(place))];
  const answers = await Promise.all(places.map(isWritableDirectory));
  return answers.every(Boolean);
}

async function isWritableDirectory(path: string): Promise<boolean> {
  try {
    await access(path, constants.W_OK | constants.X_OK);
    return (await stat(path)).isDirectory();
  } catch {
    return false;
  }
}
