import { resolve } from 'node:path';
import { FlaghoistError } from '../errors.js';
import type { Repository } from './checkout.js';
import type { Reach } from './environment.js';
import { exitCodeOf, type Git } from './git.js';
import { runWithInput } from './git-stream.js';
import { ORIGIN_REFS, STATE_REFS } from './state-ref.js';

/**
 * `origin` of the checkout, for the refs that runs on other machines share.
 *
 * Only its URL is taken from the repository's config: what that may say of programs to be run at either end, or of
 * other places, counts for nothing.
 */
export class StateOrigin {
  /** The repository that refs are fetched into and pushed from. */
  readonly git: Git;
  readonly #url: string;
  readonly #reach: Reach;

  constructor(git: Git, url: string, reach: Reach) {
    this.git = git;
    this.#url = url;
    this.#reach = reach;
  }

  /**
   * The commit that a ref of origin holds, fetched under the name `into`; null: origin has no such ref.
   *
   * @throws FlaghoistError `GIT` origin cannot be reached.
   */
  async fetch(ref: string, into: string): Promise<string | null> {
    const listed = await this.#run(
      ['ls-remote', '--refs', this.#url, ref],
      `ask origin for ${ref}`,
    );
    const line = listed.split('\n').find((each) => each.endsWith(`\t${ref}`));
    if (line === undefined) return null;
    await this.#fetch(`+${ref}:${into}`, `fetch ${ref} from origin`);
    const fetched = await this.git.run(
      ['rev-parse', '--verify', `${into}^{commit}`],
      `read ${into}`,
    );
    return fetched.trim();
  }

  /**
   * Fetches every state of origin to where they stand here.
   *
   * @throws FlaghoistError `GIT` origin cannot be reached.
   */
  async fetchAll(): Promise<void> {
    await this.#fetch(`+${STATE_REFS}*:${ORIGIN_REFS}*`, 'fetch the states from origin');
  }

  async #fetch(refspec: string, purpose: string): Promise<void> {
    await this.#run(
      [
        'fetch',
        '--quiet',
        '--no-tags',
        '--no-write-fetch-head',
        '--no-recurse-submodules',
        this.#url,
        refspec,
      ],
      purpose,
    );
  }

  /**
   * Moves a ref of origin, if it still holds what is expected.
   *
   * @param commit null: the ref is removed.
   * @param expected null: there must be no such ref.
   * @returns false: somebody else moved it.
   * @throws FlaghoistError `GIT` origin cannot be reached, or refuses.
   */
  async move(ref: string, commit: string | null, expected: string | null): Promise<boolean> {
    try {
      await this.#run(
        [
          'push',
          '--quiet',
          '--no-verify',
          '--no-recurse-submodules',
          `--force-with-lease=${ref}:${expected ?? ''}`,
          this.#url,
          `${commit ?? ''}:${ref}`,
        ],
        `push ${ref} to origin`,
      );
      return true;
    } catch (error) {
      if (exitCodeOf(error) === null) throw error;
      const listed = await this.#run(
        ['ls-remote', '--refs', this.#url, ref],
        `ask origin for ${ref}`,
      );
      const found = listed.split('\t')[0]?.trim();
      const now = found === undefined || found === '' ? null : found;
      if (now === commit) return true;
      if (now !== expected) return false;
      throw error;
    }
  }

  async #run(args: readonly string[], purpose: string): Promise<string> {
    const answer = await runWithInput(this.git, args, '', purpose, { reach: this.#reach });
    return answer.toString('utf8');
  }
}

/**
 * @param git the repository that holds the state; `origin` is always that of the checkout.
 * @throws FlaghoistError `GIT` there is no origin, or it is no place that is pushed to.
 */
export async function openStateOrigin(
  repository: Repository | null,
  git: Git,
): Promise<StateOrigin> {
  if (repository?.remote) return new StateOrigin(git, repository.remote.url, repository.remote);
  const url = repository && (await originUrl(repository));
  if (!repository || url === null || url === '') {
    throw new FlaghoistError(
      'GIT',
      'cannot share the state: this checkout has no remote "origin" (set `state: { push: false }`, or add one)',
    );
  }
  return new StateOrigin(git, allowedUrl(url, repository.root), 'origin');
}

async function originUrl({ git }: Repository): Promise<string | null> {
  try {
    const answer = await git.run(['config', '--get', 'remote.origin.url'], 'find origin');
    return answer.trim();
  } catch (error) {
    if (exitCodeOf(error) === null) throw error;
    return null;
  }
}

/** `git@host:path`, with no slash before the colon. */
export const SCP_LIKE = /^[\w.-]+@?[\w.-]*:(?!:)/;

function allowedUrl(url: string, root: string): string {
  if (/^(https|ssh|file):\/\//.test(url)) return url;
  if (/^[\w+.-]+:(:|\/\/)/.test(url) || url.startsWith('-')) {
    throw new FlaghoistError(
      'GIT',
      'cannot share the state: the URL of origin is neither https, ssh nor a path',
    );
  }
  return SCP_LIKE.test(url) ? url : resolve(root, url);
}
