import { realTime } from '../api/time.js';
import { forgeToken } from '../config.js';
import { startCommitStatuses } from '../daemon/statuses/commit-statuses.js';
import type { SendStatus } from '../daemon/statuses/status-queue.js';
import { parseStatuses, statusTarget, type StatusTarget } from '../daemon/statuses/target.js';
import type { DaemonView } from '../daemon/view.js';
import { FlaghoistError } from '../errors.js';
import { openCommitForge, refuseUnsafeApi } from '../forge/open-forge.js';
import type { Log } from '../log.js';
import { packageVersion } from '../version.js';
import type { WatchedSource } from './watch.js';

/** What the command line says of statuses on commits; absent: not given. */
export interface StatusFlags {
  /** See `parseStatuses`. */
  readonly statuses?: string;
  readonly forgeUrl?: string;
  readonly publicUrl?: string;
}

type Environment = Parameters<typeof forgeToken>[0];

/** Of one try: whoever stops the daemon waits for it at most. */
const TRY_MS = 5_000;

/** Which statuses are set where, as the command line asks for it. */
export interface StatusPlan {
  readonly targets: ReadonlyMap<string, StatusTarget>;
  readonly publicUrl: string | undefined;
}

/**
 * Reads what the command line says; null: no statuses. Opens nothing.
 *
 * @throws FlaghoistError USAGE
 */
export function readStatuses(
  { statuses, forgeUrl, publicUrl }: StatusFlags,
  sources: readonly Pick<WatchedSource, 'name' | 'place'>[],
  environment: Environment,
): StatusPlan | null {
  if (statuses === undefined) {
    if (forgeUrl === undefined && publicUrl === undefined) return null;
    throw unusable('--forge-url and --public-url are of no use without --statuses');
  }
  const choice = parseStatuses(statuses);
  const targets = sources.map(({ name, place }) => {
    const repo = 'repo' in place ? place.repo : undefined;
    return [name, statusTarget(choice, { repo, apiUrl: forgeUrl })] as const;
  });
  for (const [, { apiUrl }] of targets) refuseUnsafeApi(apiUrl);
  tokenNow(environment);
  return {
    targets: new Map(targets),
    publicUrl: publicUrl === undefined ? undefined : checkedPublicUrl(publicUrl),
  };
}

/** Sets the statuses that were asked for. */
export function openCommitStatuses(
  daemon: DaemonView,
  plan: StatusPlan | null,
  { environment, log }: { readonly environment: Environment; readonly log: Log },
): { readonly close: () => Promise<void> } {
  if (plan === null) return { close: async () => Promise.resolve() };
  const { targets, publicUrl } = plan;
  return startCommitStatuses(daemon, targets, { log, send: sender(environment), publicUrl });
}

/** The token is read each time: a rotated one is picked up. */
function sender(environment: Environment): SendStatus {
  return async (due, signal) => {
    const { target, commit, runUrl } = due;
    const forge = await openCommitForge({
      place: { ...target, commit, runUrl },
      token: tokenNow(environment),
      version: packageVersion(),
      timeoutMs: TRY_MS,
      wait: async (waitMs) => realTime.sleep(waitMs, signal),
      now: () => realTime.now(),
      signal,
    });
    await forge.setStatus(due);
  };
}

function tokenNow(environment: Environment): string {
  const token = forgeToken(environment);
  if (token !== undefined) return token;
  throw unusable('there is no token (set FLAGHOIST_FORGE_TOKEN or FLAGHOIST_FORGE_TOKEN_FILE)');
}

function checkedPublicUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isPlain =
    (url?.protocol === 'https:' || url?.protocol === 'http:') &&
    url.username + url.password + url.search + url.hash === '';
  if (isPlain) return url.origin + url.pathname.replace(/\/+$/, '');
  throw unusable('--public-url is http or https, without credentials, query or fragment');
}

function unusable(why: string): FlaghoistError {
  return new FlaghoistError('USAGE', `cannot set statuses on commits: ${why}`);
}
