import { lstat, realpath } from 'node:fs/promises';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { FlagkeelError } from '../errors.js';
import type { RemoteAccess } from './environment.js';
import { exitCodeOf, type Git, gitError, isGitMissing, openGit, runGit } from './git.js';
import { GitCache } from './cache.js';
import { mergeBase } from './lineage.js';
import { ObjectReader } from './objects.js';
import { ownRepository } from './own-repository.js';

export interface Checkout {
  /** Absolute, symbolic links resolved. */
  readonly directory: string;
  /** null without git: the directory is then read from disk. */
  readonly repository: Repository | null;
  /** The commit that is checked out; null without a repository or before its first commit. */
  readonly head: string | null;
  readonly shallow: boolean;
  close(): Promise<void>;
}

export interface Repository {
  readonly root: string;
  /** The git directory that all linked working trees share. */
  readonly gitDir: string;
  /** Path of the config directory from `root`: forward slashes, one at the end; empty if they are the same. */
  readonly prefix: string;
  readonly git: Git;
  readonly objects: ObjectReader;
  readonly memory: GitCache;
  /** Opens its objects and refs in a bare repository of our own, in which its config has no effect. */
  readonly ours: () => Promise<Git>;
  /** Access to its origin. Default: `origin` of its config. */
  readonly remote?: RemoteAccess;
}

/**
 * Opens a directory. The nearest `.git` in it or above it is its repository.
 *
 * Git refuses the repositories of other users. One exception is made: a repository of the owner of the given directory,
 * because naming the directory means trust in its owner (a container, a mounted volume).
 *
 * @throws FlagkeelError `SPECS_INVALID` there is no such directory; `GIT` git cannot open its `.git`.
 */
export async function openCheckout(
  directory: string,
  memory: GitCache = new GitCache(),
): Promise<Checkout> {
  const real = await realDirectory(directory);
  const root = await nearestWith('.git', real);
  if (root === null) return withoutRepository(real);

  // The config of the repository could send git to files elsewhere.
  const place = { GIT_WORK_TREE: root };
  const git = openGit(root, (await sameOwner(real, root)) ? root : null, place);
  const objects = new ObjectReader(git);
  const found = await locate(root, git, objects, memory);
  if (found === null) return withoutRepository(real);
  const { gitDir, shallow, head } = found;
  if (head === null) await requireUnborn(git, root);
  const inside = relative(root, real).split(sep).join('/');
  const prefix = inside === '' ? '' : `${inside}/`;
  const own = ownRepository(gitDir, memory);
  const repository = { root, gitDir, prefix, git, objects, memory, ours: own.open };
  return {
    directory: real,
    repository,
    head,
    shallow,
    close: async () => {
      await objects.close();
      await own.close();
    },
  };
}

/** Of a hash or its beginning, a branch, a tag, `HEAD~2`. @throws FlagkeelError `GIT` there is no such commit here. */
export async function resolveRevision(
  { repository, shallow }: Checkout,
  revision: string,
): Promise<string> {
  const wayOut = shallow ? ' (the clone is shallow: fetch more of the history)' : '';
  const refused = (why: string): FlagkeelError =>
    new FlagkeelError('GIT', `cannot find revision "${revision}": ${why}${wayOut}`);
  if (repository === null) throw refused('this is no git repository');
  try {
    const commit = await runGit(repository.git, {
      args: ['rev-parse', '--verify', '--quiet', '--end-of-options', `${revision}^{commit}`],
      purpose: `find revision "${revision}"`,
    });
    // `^main` names what to leave out.
    if (!commit.startsWith('^')) return commit.trim();
  } catch (error) {
    if (exitCodeOf(error) === null) throw error;
  }
  throw refused('no such commit here');
}

/** The revision itself if no merge base with HEAD is found. @throws FlagkeelError `GIT` there is no such revision. */
export async function mergeBaseWith(checkout: Checkout, revision: string): Promise<string> {
  const commit = await resolveRevision(checkout, revision);
  const { head, repository } = checkout;
  const base = repository && head !== null ? await mergeBase(repository.git, commit, head) : null;
  return base ?? commit;
}

function withoutRepository(directory: string): Checkout {
  const close = async (): Promise<void> => Promise.resolve();
  return { directory, repository: null, head: null, shallow: false, close };
}

async function realDirectory(directory: string): Promise<string> {
  try {
    const real = await realpath(directory);
    if ((await lstat(real)).isDirectory()) return real;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') {
      throw gitError(`read directory "${directory}"`, error);
    }
    throw noSpecs(directory, 'there is no such directory');
  }
  throw noSpecs(directory, 'it is no directory');
}

function noSpecs(directory: string, why: string): FlagkeelError {
  const wayOut = 'name a config repository; flagkeel init writes one';
  return new FlagkeelError('SPECS_INVALID', `cannot read "${directory}": ${why} (${wayOut})`);
}

/** The directory itself, or the nearest above it, that has an entry of this name; absolute. null if none has. */
export async function nearestWith(name: string, directory: string): Promise<string | null> {
  for (let candidate = resolve(directory); ; candidate = dirname(candidate)) {
    if (await exists(join(candidate, name))) return candidate;
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

type Location = Pick<Repository, 'gitDir'> & Pick<Checkout, 'shallow' | 'head'>;

/** Without a process, if an earlier run has found the repository; null if there is no git. */
async function locate(
  root: string,
  git: Git,
  objects: ObjectReader,
  { gitDirs }: GitCache,
): Promise<Location | null> {
  const stamp = await dotGitStamp(root);
  const known = gitDirs.get(root);
  if (known?.stamp === stamp) {
    // If this fails, the error of git below explains the problem better.
    const head = await objects.header('HEAD^{commit}').catch(() => undefined);
    // Git itself recognises a shallow clone by this file.
    const shallow = await exists(join(known.gitDir, 'shallow'));
    if (head !== undefined) return { gitDir: known.gitDir, shallow, head: head?.id ?? null };
  }
  try {
    // One process for all answers, because each costs several milliseconds.
    const asked = ['--path-format=absolute', '--git-common-dir', '--is-shallow-repository'];
    const answer = await runGit(git, {
      args: ['rev-parse', ...asked, '--revs-only', 'HEAD^{commit}'],
      purpose: `open the repository "${root}"`,
    });
    const [gitDir = '', shallow, head = null] = answer.trimEnd().split('\n');
    gitDirs.set(root, { stamp, gitDir });
    return { gitDir, shallow: shallow === 'true', head };
  } catch (error) {
    if (isGitMissing(error)) return null;
    throw error;
  }
}

/** Before the first commit, HEAD names a branch that is not there. @throws FlagkeelError `GIT` it is there, damaged. */
async function requireUnborn(git: Git, root: string): Promise<void> {
  const purpose = `read HEAD of "${root}"`;
  const args = ['rev-parse', '--verify', '--quiet', 'HEAD'];
  const commit = (await runGit(git, { args, purpose, allowedExitCodes: [0, 1] })).trim();
  if (commit !== '') {
    throw gitError(purpose, new Error(`commit ${commit} is missing here (git fsck)`));
  }
  // Fails if the file of the branch is broken.
  await runGit(git, { args: ['symbolic-ref', '--quiet', 'HEAD'], purpose });
}

/** Changes when the repository is created anew. */
async function dotGitStamp(root: string): Promise<string> {
  const { dev, ino, birthtimeMs } = await lstat(join(root, '.git'));
  return [dev, ino, birthtimeMs].join(' ');
}

/** Folders whose files change with a checkout, or with a new commit on the branch. Empty without git. */
export async function headFolders({ repository }: Checkout): Promise<string[]> {
  if (repository === null) return [];
  // A linked working tree has its own HEAD.
  const answer = await runGit(repository.git, {
    args: ['rev-parse', '--path-format=absolute', '--absolute-git-dir'],
    purpose: 'find HEAD',
  });
  const { gitDir } = repository;
  return [...new Set([answer.trimEnd(), gitDir, join(gitDir, 'refs', 'heads')])];
}
