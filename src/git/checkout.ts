import { lstat, realpath } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import { FlaghoistError } from '../errors.js';
import type { RemoteAccess } from './environment.js';
import { GitMemory } from './git-memory.js';
import { exitCodeOf, gitError, openGit, type Git } from './git.js';
import { runWithInput } from './git-stream.js';
import { ObjectReader } from './objects.js';

/** A config directory, and the repository that it lies in. */
export interface Checkout {
  /** Absolute, symbolic links resolved. */
  readonly directory: string;
  /** Null where there is no git to ask: the directory is read as it is. */
  readonly repository: Repository | null;
  /** The commit that is checked out; null without a repository or before its first commit. */
  readonly head: string | null;
  /** Whether older commits are missing here. */
  readonly shallow: boolean;
  /** Ends the processes that read from the repository. */
  close(): Promise<void>;
}

export interface Repository {
  /** Top of the working tree. */
  readonly root: string;
  /** The directory that all linked working trees share. */
  readonly gitDir: string;
  /** The config directory seen from `root`: forward slashes, ends with one; empty where they are the same. */
  readonly prefix: string;
  readonly git: Git;
  readonly objects: ObjectReader;
  readonly memory: GitMemory;
  /** How its origin is spoken to, where that is not what its own config and the operator's environment say. */
  readonly remote?: RemoteAccess;
}

/**
 * Looks at a directory: the nearest `.git` in it or above it is its repository.
 *
 * Git refuses a repository that belongs to somebody else. One such is opened all the same: that of whoever owns the
 * directory which was given, because naming the directory is trust in its owner (a container, a mounted volume).
 *
 * @param memory of earlier runs over the same directory.
 * @throws FlaghoistError `GIT` the directory cannot be read, or it has a `.git` that git cannot open.
 */
export async function openCheckout(
  directory: string,
  memory: GitMemory = new GitMemory(),
): Promise<Checkout> {
  const real = await realDirectory(directory);
  const root = await findRoot(real);
  if (root === null || !(await gitRuns(root))) return withoutRepository(real);

  const git = openGit(root, (await sameOwner(real, root)) ? root : null);
  const answer = await git.run(
    ['rev-parse', '--path-format=absolute', '--git-common-dir', '--is-shallow-repository'],
    `open the repository "${root}"`,
  );
  const [gitDir = '', shallow] = answer.trimEnd().split('\n');
  const objects = new ObjectReader(git);
  const inside = relative(root, real).split(sep).join('/');
  const prefix = inside === '' ? '' : `${inside}/`;
  const repository = { root, gitDir, prefix, git, objects, memory };
  return {
    directory: real,
    repository,
    head: await revisionIn(repository, 'HEAD'),
    shallow: shallow === 'true',
    close: async () => objects.close(),
  };
}

/**
 * The commit that a name stands for: a hash or its beginning, a branch, a tag, `HEAD~2`.
 *
 * @throws FlaghoistError `GIT` there is no such commit here.
 */
export async function resolveRevision(checkout: Checkout, revision: string): Promise<string> {
  const commit = checkout.repository && (await revisionIn(checkout.repository, revision));
  if (commit !== null) return commit;
  const why = checkout.repository === null ? 'this is no git repository' : 'no such commit here';
  const wayOut = checkout.shallow ? ' (the clone is shallow: fetch more of the history)' : '';
  throw new FlaghoistError('GIT', `cannot find revision "${revision}": ${why}${wayOut}`);
}

/**
 * Whether commit `a` is `b` or comes before it. Unknown where history does not reach far enough to say no, or where
 * either commit is not here.
 */
export async function isAncestor(
  checkout: Checkout,
  a: string,
  b: string,
): Promise<boolean | 'unknown'> {
  const { repository } = checkout;
  if (a === b) return true;
  if (repository === null) return 'unknown';
  const { memory } = repository;
  if (memory.isKnownAncestor(a, b)) return true;
  try {
    const args = [
      'merge-base',
      '--is-ancestor',
      '--end-of-options',
      `${a}^{commit}`,
      `${b}^{commit}`,
    ];
    await runWithInput(repository.git, args, '', `compare commits ${a} and ${b}`);
    memory.keepAncestor(a, b);
    return true;
  } catch (error) {
    const exitCode = exitCodeOf(error);
    if (exitCode === null) throw error;
    return exitCode === 1 && !checkout.shallow ? false : 'unknown';
  }
}

/**
 * Whether commit `a` comes before `b`, as far as history tells. Asked the other way round first: that `b` comes before
 * `a` is what is usual, and remembered.
 */
export async function isOlder(checkout: Checkout, a: string, b: string): Promise<boolean> {
  if (a === b || (await isAncestor(checkout, b, a)) === true) return false;
  return (await isAncestor(checkout, a, b)) === true;
}

/** The newest commit that both have among their ancestors; null where none is seen, or either is not here. */
export async function mergeBase(git: Git, a: string, b: string): Promise<string | null> {
  try {
    const found = await git.run(
      ['merge-base', '--end-of-options', a, b],
      `compare commits ${a} and ${b}`,
    );
    return found.trim();
  } catch (error) {
    if (exitCodeOf(error) === null) throw error;
    return null;
  }
}

async function revisionIn(repository: Repository, revision: string): Promise<string | null> {
  try {
    const commit = await repository.git.run(
      ['rev-parse', '--verify', '--quiet', '--end-of-options', `${revision}^{commit}`],
      `find revision "${revision}"`,
    );
    return commit.trim();
  } catch (error) {
    if (exitCodeOf(error) === null) throw error;
    return null;
  }
}

function withoutRepository(directory: string): Checkout {
  return {
    directory,
    repository: null,
    head: null,
    shallow: false,
    close: async () => Promise.resolve(),
  };
}

async function realDirectory(directory: string): Promise<string> {
  try {
    const real = await realpath(directory);
    if (!(await lstat(real)).isDirectory()) throw new Error('not a directory');
    return real;
  } catch (error) {
    throw gitError(`read directory "${directory}"`, error);
  }
}

async function findRoot(directory: string): Promise<string | null> {
  for (let candidate = directory; ; candidate = dirname(candidate)) {
    if (await exists(join(candidate, '.git'))) return candidate;
    if (dirname(candidate) === candidate) return null;
  }
}

async function exists(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch {
    return false;
  }
}

async function sameOwner(directory: string, root: string): Promise<boolean> {
  const paths = [directory, root, join(root, '.git')];
  const owners = await Promise.all(paths.map(async (path) => (await lstat(path)).uid));
  return new Set(owners).size === 1;
}

async function gitRuns(directory: string): Promise<boolean> {
  try {
    await runWithInput(openGit(directory, null), ['--version'], '', 'run git');
    return true;
  } catch (error) {
    if (isMissingProgram(error)) return false;
    throw error;
  }
}

function isMissingProgram(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error && 'code' in cause && cause.code === 'ENOENT';
}
