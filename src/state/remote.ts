import { FlagkeelError } from '../errors.js';
import type { Repository } from '../git/checkout.js';
import type { RemoteAccess } from '../git/environment.js';
import { exitCodeOf, type Git, outputOf, runGit } from '../git/git.js';
import { configData } from '../git/ours.js';
import { type GitCredentials, originAccess } from '../git/remote-access.js';
import { ORIGIN_REFS, STATE_REFS } from './ref-store.js';
import type { StateRepository } from './repository.js';

/** A ref of origin, and where it stands here. */
export interface FetchedRef {
  readonly ref: string;
  readonly into: string;
}

/** A ref of origin that is to be moved. */
export interface RefMove {
  readonly ref: string;
  /** Where the ref is to lead; null removes it. */
  readonly commit: string | null;
  /** Where the ref has to lead before the move; null where there must be no such ref. */
  readonly expected: string | null;
}

export interface Pushed {
  readonly done: ReadonlySet<string>;
  readonly error: FlagkeelError | null;
}

/**
 * `origin` of the checkout, for the refs that runs on other machines share.
 *
 * Only its URL is taken from the checkout's config. Commands run in a repository of our own, so that what that config
 * says of programs to be run at either end, or of other places, counts for nothing.
 */
export class StateOrigin {
  /** The repository that refs are fetched into and pushed from. */
  readonly git: Git;
  readonly #access: RemoteAccess;

  constructor(git: Git, access: RemoteAccess) {
    this.git = git;
    this.#access = access;
  }

  /**
   * Fetches refs of origin to where they stand here; what origin does not have is not here either, then.
   *
   * @throws FlagkeelError `GIT` origin cannot be reached.
   */
  async fetch(refs: readonly FetchedRef[]): Promise<void> {
    // Patterns, because git takes it for an error when a single ref is missing on origin, and a
    // pattern may match nothing.
    const patterns = refs.map(({ ref, into }) => `+${ref}*:${into}*`);
    await this.#fetch(
      ['--prune'],
      patterns,
      `fetch ${refs.map(({ ref }) => ref).join(', ')} from origin`,
    );
  }

  /**
   * Fetches every state of origin to where they stand here.
   *
   * @throws FlagkeelError `GIT` origin cannot be reached.
   */
  async fetchAll(): Promise<void> {
    await this.#fetch([], [`+${STATE_REFS}*:${ORIGIN_REFS}*`], 'fetch the states from origin');
  }

  async #fetch(
    options: readonly string[],
    refspecs: readonly string[],
    purpose: string,
  ): Promise<void> {
    const quiet = ['--quiet', '--no-tags', '--no-write-fetch-head', '--no-recurse-submodules'];
    await this.#run(['fetch', ...quiet, ...options, this.#access.url, ...refspecs], purpose);
  }

  /**
   * Moves refs of origin, each if it still holds what is expected, in one go.
   *
   * @param atomic all of them or none, where the server can do that; where it cannot, none.
   * @returns those that hold now what they should, by name; and why others do not, if any.
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
   * Moves a ref of origin, if it still holds what is expected.
   *
   * @returns false: somebody else moved it.
   * @throws FlagkeelError `GIT` origin cannot be reached, or refuses.
   */
  async move({ ref, commit, expected }: RefMove): Promise<boolean> {
    const { done, error } = await this.push([{ ref, commit, expected }], { atomic: false });
    if (error === null || done.has(ref)) return true;
    // The answer may have been lost; and only origin knows whether it refused, or somebody else was faster.
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
      // 128: git did not come to an answer of the server about refs.
      if (remedy === undefined || exitCodeOf(error) !== 128) throw error;
      const { message, cause } = error as FlagkeelError;
      throw new FlagkeelError('GIT', `${message} (${remedy})`, { cause });
    }
  }
}

/**
 * @param home the repository that holds the state; `origin` is always that of the checkout.
 * @param given absent: what the operator's own git has.
 * @throws FlagkeelError `GIT` there is no origin, or it is no place that is pushed to.
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

/** Whether the checkout has an origin at all, whatever that is. */
export async function hasOrigin(repository: Repository | null): Promise<boolean> {
  if (repository?.remote) return true;
  return repository !== null && (await originUrl(repository)) !== null;
}

async function originUrl({ gitDir, memory }: Repository): Promise<string | null> {
  return (await configData(gitDir, memory)).originUrl;
}

/**
 * Names of the refs that a push left as they should be, in the form that git has for programs: a sign, `from:to` and a
 * text for people, with tabs between them.
 */
function doneIn(output: string): ReadonlySet<string> {
  const lines = output.split('\n').map((line) => /^([ +\-*=!])\t[^:\t]*:([^\t]+)\t/.exec(line));
  return new Set(
    lines.flatMap((line) => (line?.[2] === undefined || line[1] === '!' ? [] : line[2])),
  );
}
