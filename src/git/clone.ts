import { FlagkeelError, messageOf } from '../errors.js';
import { bareGit, inTurn, isRepository, openBare } from './own-repository.js';
import type { Checkout, Repository } from './checkout.js';
import { summaryOf, type CommitSummary } from './log.js';
import type { RemoteAccess } from './environment.js';
import { FETCH, gitError, openGit, runGit, type Git, type GitCommand } from './git.js';
import { GitCache } from './cache.js';
import { ObjectReader } from './objects.js';

export interface CloneOptions {
  readonly directory: string;
  readonly remote: RemoteAccess;
  /** null means the default branch of the server. */
  readonly branch: string | null;
  /** Path of the config directory in the repository: forward slashes, empty for its top. */
  readonly path: string;
}

/**
 * A bare clone of our own, with the whole history of one branch. It never checks files out, and never drops fetched
 * objects, so that a rewritten history can still be compared with the applied commit.
 */
export class Clone {
  readonly #options: CloneOptions;
  readonly #prefix: string;

  /** @throws FlagkeelError `USAGE` branch or path are malformed. */
  constructor(options: CloneOptions) {
    if (options.branch !== null && !isBranch(options.branch)) {
      throw new FlagkeelError('USAGE', `cannot use "${options.branch}": it is no branch`);
    }
    this.#prefix = prefixOf(options.path);
    this.#options = options;
  }

  /** The branch, even if its history was rewritten. @throws FlagkeelError `GIT` no answer, or no such branch. */
  async fetch(signal?: AbortSignal): Promise<CommitSummary> {
    return inTurn(`fetch ${this.#options.directory}`, async () => this.#fetch(signal));
  }

  async #fetch(signal?: AbortSignal): Promise<CommitSummary> {
    const { remote, branch } = this.#options;
    const git = await this.#open(signal);
    const from = branch === null ? 'HEAD' : `refs/heads/${branch}`;
    const into = `refs/remotes/origin/${branch ?? 'HEAD'}`;
    const command: GitCommand = {
      args: [...FETCH, '--end-of-options', remote.url, `+${from}:${into}`],
      purpose: `fetch ${branch ?? 'HEAD'} of ${remote.url}`,
      network: remote,
      signal,
    };
    await runGit(git, command).catch(async (error: unknown) => {
      // Another daemon with the same home of the state moved the ref meanwhile.
      if (!messageOf(error).includes('cannot lock ref')) throw error;
      await runGit(git, command);
    });
    return summaryOf(git, into);
  }

  /** The clone as a checkout of one of its commits. The caller closes it. */
  async checkout(head: string, memory: GitCache = new GitCache()): Promise<Checkout> {
    const git = await this.#open();
    const objects = new ObjectReader(git);
    const repository: Repository = {
      root: git.directory,
      gitDir: git.directory,
      prefix: this.#prefix,
      git,
      objects,
      remote: this.#options.remote,
      ours: async () => Promise.resolve(git),
      memory,
    };
    return {
      directory: git.directory,
      repository,
      head,
      shallow: false,
      close: async () => objects.close(),
    };
  }

  /** Checks for the clone every time, because it is created anew if it was deleted. */
  async #open(signal?: AbortSignal): Promise<Git> {
    return openBare(this.#options.directory, 'clone', async () => this.#objectFormat(signal));
  }

  async #objectFormat(signal?: AbortSignal): Promise<string> {
    const { remote } = this.#options;
    const purpose = `fetch the refs of ${remote.url}`;
    const args = ['ls-remote', '--quiet', remote.url, 'HEAD', 'refs/heads/*'];
    // Runs in the root folder, because the format of a repository would count for that of the server.
    const listed = await runGit(openGit('/', null), { args, purpose, network: remote, signal });
    const [id] = listed.split('\t');
    if (!id) throw gitError(purpose, new Error('it has no branch yet'));
    return id.length === 64 ? 'sha256' : 'sha1';
  }
}

/** Checks some rules of git for names; git itself refuses the rest. */
function isBranch(name: string): boolean {
  return /^[^\s~^:?*[\\\p{Cc}-][^\s~^:?*[\\\p{Cc}]*$/u.test(name) && !name.includes('..');
}

function prefixOf(path: string): string {
  const parts = path.split('/').filter((part) => part !== '' && part !== '.');
  if (parts.includes('..') || path.startsWith('/')) {
    const why = 'it has to lie inside the repository';
    throw new FlagkeelError('USAGE', `cannot use path "${path}": ${why}`);
  }
  return parts.map((part) => `${part}/`).join('');
}

const MAX_LOOSE = 1_000;
/** Git can search this many without a noticeable cost. */
const MAX_PACKS = 20;
/** Long, because the first packing, over the leftovers of an earlier process, takes longest. */
const TIMEOUT_MS = 900_000;

/**
 * Packs a bare repository of our own, if there is one and much to pack: each fetch and each apply adds files. It joins
 * small packs and leaves large ones alone. It drops nothing, so that a rewritten history can still be compared. Other
 * commands may run meanwhile.
 *
 * @throws FlagkeelError `GIT`
 */
export async function runMaintenance(directory: string, signal: AbortSignal): Promise<void> {
  if (!(await isRepository(directory))) return;
  const git = bareGit(directory);
  if (!(await isUntidy(git))) return;
  const args = ['repack', '--geometric=2', '-d', '-l', '-q', '--no-write-bitmap-index'];
  const purpose = `pack "${directory}"`;
  await runGit(git, { args, purpose, writes: true, signal, timeoutMs: TIMEOUT_MS });
}

async function isUntidy(git: Git): Promise<boolean> {
  const counts = await runGit(git, { args: ['count-objects', '-v'], purpose: 'count objects' });
  const countOf = (name: string): number =>
    Number(new RegExp(`^${name}: (\\d+)$`, 'm').exec(counts)?.[1] ?? 0);
  return countOf('count') > MAX_LOOSE || countOf('packs') > MAX_PACKS;
}
