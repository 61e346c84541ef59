import { FlagkeelError } from '../errors.js';
import { bareGit, openBare, isRepository } from './bare-repository.js';
import type { Checkout, Repository } from './checkout.js';
import { summaryOf, type CommitSummary } from './log.js';
import type { RemoteAccess } from './environment.js';
import { GitCache } from './cache.js';
import { type Git, runGit } from './git.js';
import { ObjectReader } from './objects.js';

export interface CloneOptions {
  /** Where the clone lives; made, with the folders above it, where it is absent. */
  readonly directory: string;
  readonly remote: RemoteAccess;
  /** Null: the one that the server calls HEAD. */
  readonly branch: string | null;
  /** The config directory in the repository: forward slashes, empty for its top. */
  readonly path: string;
}

/**
 * A bare clone of our own, with the whole history of one branch. Nothing is ever checked out, and nothing that was
 * fetched once is dropped: a history that was rewritten can still be compared with what was applied.
 */
export class Clone {
  readonly #options: CloneOptions;
  readonly #prefix: string;

  /** @throws FlagkeelError `USAGE` branch or path are no such thing. */
  constructor(options: CloneOptions) {
    if (options.branch !== null && !isBranch(options.branch)) {
      throw new FlagkeelError('USAGE', `cannot use "${options.branch}": it is no branch`);
    }
    this.#prefix = prefixOf(options.path);
    this.#options = options;
  }

  /**
   * Fetches the branch, wherever it was moved to.
   *
   * @param signal gives it up.
   * @returns its commit.
   * @throws FlagkeelError `GIT` the server cannot be reached, or has no such branch.
   */
  async fetch(signal?: AbortSignal): Promise<CommitSummary> {
    const { remote, branch } = this.#options;
    const git = await this.#open();
    const from = branch === null ? 'HEAD' : `refs/heads/${branch}`;
    const into = `refs/remotes/origin/${branch ?? 'HEAD'}`;
    await runGit(git, {
      args: [
        'fetch',
        '--quiet',
        '--no-tags',
        '--no-write-fetch-head',
        '--no-recurse-submodules',
        '--end-of-options',
        remote.url,
        `+${from}:${into}`,
      ],
      purpose: `fetch ${branch ?? 'HEAD'} of ${remote.url}`,
      network: remote,
      signal,
    });
    return summaryOf(git, into);
  }

  /**
   * The clone as a checkout of one of its commits. To be closed.
   *
   * @param head full hash.
   * @param memory of earlier runs over it.
   */
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

  /** Looked at each time: a clone that somebody deleted is made anew. */
  async #open(): Promise<Git> {
    return openBare(this.#options.directory, 'clone');
  }
}

/** A part of what git forbids; it says the rest itself. */
function isBranch(name: string): boolean {
  return /^[^\s~^:?*[\\\p{Cc}-][^\s~^:?*[\\\p{Cc}]*$/u.test(name) && !name.includes('..');
}

/** @throws FlagkeelError `USAGE` */
function prefixOf(path: string): string {
  const parts = path.split('/').filter((part) => part !== '' && part !== '.');
  if (parts.includes('..') || path.startsWith('/')) {
    throw new FlagkeelError(
      'USAGE',
      `cannot use path "${path}": it has to lie inside the repository`,
    );
  }
  return parts.map((part) => `${part}/`).join('');
}

/** Objects that lie about one by one, above which it is worth packing them. */
const MAX_LOOSE = 1_000;
/** As many packs as are searched one after the other without harm. */
const MAX_PACKS = 20;
/** The first time, over what an earlier process left, takes longest. */
const TIMEOUT_MS = 900_000;

/**
 * Packs a bare repository of our own if there is much to pack, so that its files do not grow in number with each fetch
 * and each apply. Small packs are joined and large ones left alone, so that a large repository is not written anew each
 * time. Nothing is dropped, not even what nothing leads to any more: a history that was rewritten can still be compared
 * with. Other commands may run at the same time.
 *
 * @param directory nothing happens where no repository is.
 * @throws FlagkeelError `GIT`
 */
export async function runMaintenance(directory: string, signal: AbortSignal): Promise<void> {
  if (!(await isRepository(directory))) return;
  const git = bareGit(directory);
  if (!(await isUntidy(git))) return;
  const args = ['repack', '--geometric=2', '-d', '-l', '-q', '--no-write-bitmap-index'];
  await runGit(git, {
    args,
    purpose: `pack "${directory}"`,
    writes: true,
    signal,
    timeoutMs: TIMEOUT_MS,
  });
}

async function isUntidy(git: Git): Promise<boolean> {
  const counts = await runGit(git, { args: ['count-objects', '-v'], purpose: 'count objects' });
  const countOf = (name: string): number =>
    Number(new RegExp(`^${name}: (\\d+)$`, 'm').exec(counts)?.[1] ?? 0);
  return countOf('count') > MAX_LOOSE || countOf('packs') > MAX_PACKS;
}
