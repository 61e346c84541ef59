import { mkdir, mkdtemp, realpath, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ConfigData, GitCache } from './cache.js';
import { type Git, gitError, openGit, runGit } from './git.js';

const turns = new Map<string, Promise<unknown>>();

/** Does what has one name one after the other: git refuses to create a repository, or to move a ref, twice at once. */
export async function inTurn<T>(name: string, work: () => Promise<T>): Promise<T> {
  const done = (turns.get(name) ?? Promise.resolve()).then(work);
  const ended = done.catch(() => undefined);
  turns.set(name, ended);
  return done;
}

/**
 * A bare repository of our own, created with its parent folders if it is missing.
 *
 * @param what for people: `clone`, `state repository`.
 * @param format asks for the format of its objects when it is created: git fetches from no repository of another one.
 * @throws FlagkeelError `GIT`
 */
export async function openBare(
  directory: string,
  what: string,
  format: () => Promise<string>,
): Promise<Git> {
  // All sources of a daemon open it at its start.
  await inTurn(`open ${directory}`, async () => {
    if (!(await isRepository(directory))) await makeBare(directory, what, await format());
  });
  return bareGit(await realpath(directory));
}

/** `sha1` or `sha256`. @throws FlagkeelError `GIT` */
export async function objectFormat(gitDir: string, memory: GitCache): Promise<string> {
  return (await configData(gitDir, memory)).extensions['objectformat'] ?? 'sha1';
}

/** `GIT_DIR` names the repository, because the operator's git may refuse to find bare ones by themselves. */
export function bareGit(directory: string): Git {
  return openGit(directory, directory, { GIT_DIR: directory });
}

/** False for a repository that was deleted in part: creating it again fills the gaps. */
export async function isRepository(directory: string): Promise<boolean> {
  try {
    await Promise.all(['HEAD', 'objects', 'refs'].map(async (part) => stat(join(directory, part))));
    return true;
  } catch {
    return false;
  }
}

async function makeBare(directory: string, what: string, format: string): Promise<void> {
  const purpose = `create the ${what} "${directory}"`;
  await mkdir(directory, { recursive: true }).catch((error: unknown) => {
    throw gitError(purpose, error);
  });
  const git = openGit(await realpath(directory));
  const form = ['--bare', '--initial-branch=state', `--object-format=${format}`];
  const command = { args: ['init', '--quiet', ...form, '.'], purpose, writes: true as const };
  // Git refuses a repository that another process creates at this moment.
  for (const pauseMs of [50, 200, 800]) {
    const made = await runGit(git, command).catch(() => null);
    if (made !== null) return;
    await sleep(pauseMs);
  }
  await runGit(git, command);
}

/** The parts of a repository that hold commits and refs, but no settings. */
const PARTS = ['objects', 'refs', 'packed-refs', 'shallow', 'reftable'];

const EXTENSIONS = ['objectformat', 'refstorage'];

/**
 * A bare repository in the temporary folder, readable by us alone, that links to the objects and refs of another one:
 * commands in it read and write those, but ignore the config of the other. It is created on first use.
 *
 * @throws FlagkeelError `GIT` it cannot be created.
 */
export function ownRepository(
  gitDir: string,
  memory: GitCache,
): { readonly open: () => Promise<Git>; readonly close: () => Promise<void> } {
  let made: Promise<Git> | null = null;
  return {
    open: async () => (made ??= makeOwn(gitDir, memory)),
    // Objects and refs stay, because the repository only links to them.
    close: async () => {
      const git = await made?.catch(() => null);
      made = null;
      if (git) await rm(git.directory, { recursive: true, force: true });
    },
  };
}

async function makeOwn(gitDir: string, memory: GitCache): Promise<Git> {
  const { extensions } = await configData(gitDir, memory);
  const lines = Object.entries(extensions).map(([name, value]) => `\t${name} = ${value}`);
  const version = lines.length === 0 ? 0 : 1;
  const core = ['[core]', `\trepositoryformatversion = ${String(version)}`, '\tbare = true'];
  try {
    const directory = await realpath(await mkdtemp(join(tmpdir(), 'flagkeel-git-')));
    await Promise.all([
      // Git recognises a repository only if this names a branch, which need not exist.
      writeFile(join(directory, 'HEAD'), 'ref: refs/heads/none\n'),
      writeFile(join(directory, 'config'), [...core, '[extensions]', ...lines, ''].join('\n')),
      ...PARTS.map(async (part) => symlink(join(gitDir, part), join(directory, part))),
    ]);
    return bareGit(directory);
  } catch (error) {
    throw gitError(`make a repository in "${tmpdir()}"`, error);
  }
}

/**
 * The config of a repository, without the files that it includes. Runs git once for each version of the file.
 *
 * @throws FlagkeelError `GIT`
 */
export async function configData(gitDir: string, { configs }: GitCache): Promise<ConfigData> {
  const stamp = await stampOf(join(gitDir, 'config'));
  const known = configs.get(gitDir);
  if (known?.stamp === stamp) return known.data;
  const data = dataIn(await entriesOf(gitDir));
  if (stamp !== null) configs.set(gitDir, { stamp, data });
  return data;
}

async function stampOf(file: string): Promise<string | null> {
  try {
    const { ino, size, mtimeNs, ctimeNs } = await stat(file, { bigint: true });
    return [ino, size, mtimeNs, ctimeNs].join(' ');
  } catch {
    return null;
  }
}

/** The settings as `NAME\nVALUE`, the name in lower case. */
async function entriesOf(gitDir: string): Promise<readonly string[]> {
  const wanted = `^(remote\\.origin\\.url|extensions\\.(${EXTENSIONS.join('|')}))$`;
  const file = ['--file', join(gitDir, 'config'), '--no-includes'];
  // Runs in the root folder, where git finds no repository whose config it would read as well.
  const answer = await runGit(openGit('/', null), {
    args: ['config', ...file, '-z', '--get-regexp', wanted],
    purpose: 'read the config of the repository',
    // 1: the file has none of them.
    allowedExitCodes: [0, 1],
  });
  return answer.split('\0').filter((entry) => entry !== '');
}

function dataIn(entries: readonly string[]): ConfigData {
  let originUrl: string | null = null;
  const extensions: Record<string, string> = {};
  for (const entry of entries) {
    const end = entry.indexOf('\n');
    const name = entry.slice(0, end);
    const value = entry.slice(end + 1);
    // Of several the last one counts, as it does for git. What follows goes into a config of ours.
    if (name === 'remote.origin.url') originUrl = value === '' ? null : value;
    else if (/^\w+$/.test(value)) extensions[name.slice('extensions.'.length)] = value;
  }
  return { originUrl, extensions };
}
