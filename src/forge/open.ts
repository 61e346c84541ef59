import { setTimeout as sleep } from 'node:timers/promises';
import { FlagkeelError } from '../errors.js';
import type { CommentApprovals } from './approvals.js';
import type {
  CommitForge,
  CommitTarget,
  Forge,
  ForgeOptions,
  ForgeTarget,
  PullRequestTarget,
  RepositoryTarget,
} from './forge.js';

const TIMEOUT_MS = 30_000;

/** The addresses of the public forges' APIs. */
export const DEFAULT_API = {
  github: 'https://api.github.com',
  gitlab: 'https://gitlab.com/api/v4',
} as const;

/**
 * Opens the forge of a review, and loads its library.
 *
 * @throws FlagkeelError `USAGE` if the address is not safe for a token.
 */
export async function openForge(
  place: ForgeTarget,
  { token, version }: Pick<ForgeOptions, 'token' | 'version'>,
): Promise<Forge> {
  const options = optionsFor(place, { token, version });
  if (place.kind === 'github') return (await import('./github.js')).openGithub(options);
  return (await import('./gitlab.js')).openGitlab(options);
}

/**
 * Reads the approvals in the comments of a pull request, valid and refused. Loads the forge's library.
 *
 * @throws FlagkeelError `FORGE`; `USAGE` as `openForge`.
 */
export async function readApprovals(
  place: PullRequestTarget,
  known: Pick<ForgeOptions, 'token' | 'version'>,
): Promise<CommentApprovals> {
  const options = optionsFor(place, known);
  if (place.kind === 'github') return (await import('./github.js')).githubApprovals(options);
  return (await import('./gitlab.js')).gitlabApprovals(options);
}

function optionsFor<P extends RepositoryTarget>(
  place: P,
  { token, version }: Pick<ForgeOptions, 'token' | 'version'>,
): ForgeOptions<P> {
  refuseUnsafeApi(place.apiUrl);
  const wait = async (waitMs: number): Promise<void> => sleep(waitMs);
  return { place, token, version, timeoutMs: TIMEOUT_MS, wait, now: Date.now };
}

/**
 * Opens the forge of a commit without a review, such as one that was applied. Loads the forge's library.
 *
 * @throws FlagkeelError as `openForge`.
 */
export async function openCommitForge(options: ForgeOptions<CommitTarget>): Promise<CommitForge> {
  refuseUnsafeApi(options.place.apiUrl);
  if (options.place.kind === 'github') {
    return (await import('./github.js')).openGithubCommit(options);
  }
  return (await import('./gitlab.js')).openGitlabCommit(options);
}

/** @throws FlagkeelError `USAGE` if the address is not safe for a token. */
export function refuseUnsafeApi(apiUrl: string): void {
  const url = URL.canParse(apiUrl) ? new URL(apiUrl) : null;
  const isLocal = url !== null && ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname);
  if (url?.protocol === 'https:' || (url?.protocol === 'http:' && isLocal)) return;
  throw new FlagkeelError(
    'USAGE',
    'cannot use the address of the forge: its token is sent over https only (set --forge-url)',
  );
}
