import { FlagkeelError } from '../errors.js';
import type { Repository } from '../git/checkout.js';
import type { RemoteAccess } from '../git/environment.js';
import { exitCodeOf, type Git, outputOf, runGit } from '../git/git.js';
import { configData } from '../git/own-repository.js';
import { type GitCredentials, originAccess } from '../git/remote-access.js';
import { ALL_STATES, type StateRepository } from './repository.js';

/** One move of a ref of origin, conditional on its present commit. */
export interface RefMove {
  readonly ref: string;
  /** null removes the ref. */
  readonly commit: string | null;
  /** null if there must be no such ref. */
  readonly expected: string | null;
}

export interface Pushed {
  readonly done: ReadonlySet<string>;
  readonly error: FlagkeelError | null;
}

/**
 * `origin` of the checkout, for the refs that runs on other machines share. Only the URL comes from the config of the
 * checkout. Commands run in a repository of our own, so that no other setting of that config has an effect: it could
 * name programs to run at either end, or other servers.
 */
export class StateOrigin {
  readonly git: Git;
  readonly #access: RemoteAccess;

  constructor(git: Git, access: RemoteAccess) {
    this.git = git;
    this.#access = access;
  }

  /**
   * Fetches a ref of origin into a local ref, which is removed if origin lacks the ref.
   *
   * @throws FlagkeelError `GIT` origin cannot be reached.
   */
  async fetch(ref: string, into: string): Promise<void> {
    // Git fails on a single ref that origin lacks, whereas a pattern may match nothing.
    await this.#fetch(
      ['--prune', this.#access.url, `+${ref}*:${into}*`],
      `fetch ${ref} from origin`,
    );
  }

  /** @throws FlagkeelError `GIT` origin cannot be reached. */
  async fetchAll(): Promise<void> {
    await this.#fetch([this.#access.url, ALL_STATES], 'fetch the states from origin');
  }

  async #fetch(args: readonly string[], purpose: string): Promise<void> {
    const quiet = ['--quiet', '--no-tags', '--no-write-fetch-head', '--no-recurse-submodules'];
    await this.#run(['fetch', ...quiet, ...args], purpose);
  }

  /**
   * Moves refs of origin in one push, each only if it still holds the expected commit.
   *
   * @param atomic all of them or none; a server that cannot do that moves none.
   * @returns names of the refs that hold their new commit now, and the error of the others, if any.
   *
   * @throws FlagkeelError `GIT` git could not be run.
   */
  async push(moves: readonly RefMove[], { atomic }: { readonly atomic: boolean }): Promise<Pushed> {
    const refspecs = moves.map(({ ref, commit }) => `${commit ?? ''}:${ref}`);
    const args = [
      ...['push', '--porcelain', '--no-verify', '--no-recurse-submodules'],
      ...(atomic ? ['--atomic'] : []),
      ...moves.map(({ ref, expected }) => `--force-with-lease=${ref}:${expected ?? ''}`),
      ...[this.#access.url, ...refspecs],
    ];
    const purpose = `push ${moves.map(({ ref }) => ref).join(', ')} to origin`;
    try {
      return { done: doneIn(await this.#run(args, purpose)), error: null };
    } catch (error) {
      if (!(error instanceof FlagkeelError) || exitCodeOf(error) === null) throw error;
      return { done: doneIn(outputOf(error)), error };
    }
  }

  /**
   * Moves a ref of origin, if it still holds the expected commit. @returns false if another run moved it first.
   *
   * @throws FlagkeelError `GIT` origin cannot be reached, or refuses.
   */
  async move({ ref, commit, expected }: RefMove): Promise<boolean> {
    const { done, error } = await this.push([{ ref, commit, expected }], { atomic: false });
    if (error === null || done.has(ref)) return true;
    // The answer may have been lost, and only the ref on origin tells a refusal from a lost race.
    const listed = await this.#run(
      ['ls-remote', '--refs', this.#access.url, ref],
      `ask origin for ${ref}`,
    );
    const found = listed.split('\t')[0]?.trim();
    const now = found === undefined || found === '' ? null : found;
    if (now === commit) return true;
    if (now !== expected) return false;
    throw error;
  }

  async #run(args: readonly string[], purpose: string): Promise<string> {
    const { remedy } = this.#access;
    try {
      return await runGit(this.git, { args, purpose, network: this.#access });
    } catch (error) {
      // 128: the server gave git no answer about refs.
      if (remedy === undefined || exitCodeOf(error) !== 128) throw error;
      const { message, cause } = error as FlagkeelError;
      throw new FlagkeelError('GIT', `${message} (${remedy})`, { cause });
    }
  }
}

/**
 * @param home the repository that holds the state; `origin` is always that of the checkout.
 * @param given credentials; default: those of the operator's own git.
 *
 * @throws FlagkeelError `GIT` there is no origin, or it is not a URL that one can push to.
 */
export async function openStateOrigin(
  checkout: Repository | null,
  home: StateRepository,
  given?: GitCredentials,
): Promise<StateOrigin> {
  if (checkout?.remote) return new StateOrigin(await home.ours(), checkout.remote);
  const url = checkout && (await originUrl(checkout));
  if (!checkout || url === null) {
    throw new FlagkeelError(
      'GIT',
      'cannot share the state: this checkout has no remote "origin" (set `state: { push: false }`, or add one)',
    );
  }
  const access = await originAccess(url, checkout.root, given);
  return new StateOrigin(await home.ours(), access);
}

export async function hasOrigin(repository: Repository | null): Promise<boolean> {
  if (repository?.remote) return true;
  return repository !== null && (await originUrl(repository)) !== null;
}

async function originUrl({ gitDir, memory }: Repository): Promise<string | null> {
  return (await configData(gitDir, memory)).originUrl;
}

/**
 * Names of the refs that a push moved, or found in place. Each line has a sign, `from:to` and a text, with tabs
 * between.
 */
function doneIn(output: string): ReadonlySet<string> {
  const lines = output.split('\n').map((line) => /^([ +\-*=!])\t[^:\t]*:([^\t]+)\t/.exec(line));
  return new Set(
    lines.flatMap((line) => (line?.[2] === undefined || line[1] === '!' ? [] : line[2])),
  );
}
