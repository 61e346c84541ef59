import { open } from 'node:fs/promises';
import { forgeToken } from '../compose/settings.js';
import { FlagkeelError } from '../errors.js';
import { ciContext, type CiContext } from '../forge/ci.js';
import type { CommentApprovals } from '../forge/approvals.js';
import type { Forge, ForgeTarget, PullRequestTarget } from '../forge/forge.js';
import { DEFAULT_API, openForge, readApprovals } from '../forge/open.js';
import { packageVersion } from '../platform/version.js';
import type { ConnectionFlags, RunFlags } from '../compose/run.js';

/** What is reviewed, and who is told. */
export interface ReviewTarget {
  /** Null: nobody but the terminal. */
  readonly forge: Forge | null;
  /** The revision that the plan starts from, as long as HEAD is not `merge`; one of the two is there. */
  readonly base: string | undefined;
  readonly merge: string | undefined;
  readonly target: string | undefined;
  readonly runUrl: string | undefined;
  readonly summaryFile: string | undefined;
  readonly isFork: boolean;
}

/**
 * From the command line, and where that says nothing from the environment of the CI job; never from the repository.
 *
 * @throws FlagkeelError `USAGE`: a forge was asked for and it is not known which pull request, or with which token; or
 *   it is not known what to compare with.
 */
export async function reviewTarget(
  flags: ReviewOptions,
  { environment }: { readonly environment: Readonly<Record<string, string | undefined>> },
): Promise<ReviewTarget> {
  const ci = ciContext(environment, await readEvent(environment['GITHUB_EVENT_PATH']));
  const base = flags.since ?? ci?.base;
  const merge = flags.since === undefined ? ci?.merge : undefined;
  if (base === undefined && merge === undefined) throw noBase();
  const place = forgeTarget(flags, ci);
  const token = forgeToken(environment) ?? ci?.token;
  const forge = place && (await openAsked(place, token, flags));
  return {
    forge,
    ...{ base, merge },
    target: flags.target ?? ci?.target,
    runUrl: flags.planUrl ?? ci?.runUrl,
    summaryFile: ci?.summaryFile,
    isFork: ci?.isFork ?? false,
  };
}

/**
 * What comments of the pull request approve that options or the environment of the CI job name.
 *
 * @throws FlagkeelError `USAGE`: it is not known which pull request, or with which token; `FORGE`.
 */
export async function commentApprovals(
  flags: ForgeFlags,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<CommentApprovals> {
  const ci = ciContext(environment, await readEvent(environment['GITHUB_EVENT_PATH']));
  const place = pullRequestTarget(flags, ci);
  const token = forgeToken(environment) ?? ci?.token;
  if (place && token !== undefined) {
    return readApprovals(place, { token, version: packageVersion() });
  }
  throw new FlagkeelError(
    'USAGE',
    place
      ? 'cannot read approvals: there is no token (set FLAGKEEL_FORGE_TOKEN or FLAGKEEL_FORGE_TOKEN_FILE)'
      : 'cannot read approvals: it is not known of which pull request (set --forge, --repository and --pull-request)',
  );
}

/** Without a base, all that differs from the service would be told as the doing of this branch. */
export function noBase(): FlagkeelError {
  return new FlagkeelError(
    'USAGE',
    'cannot review: it is not known what to compare with (name the target branch: --since origin/main)',
  );
}

async function openAsked(
  place: ForgeTarget,
  token: string | undefined,
  { forge: asked }: ReviewOptions,
): Promise<Forge | null> {
  if (token !== undefined) return openForge(place, { token, version: packageVersion() });
  if (asked === undefined) return null;
  throw new FlagkeelError(
    'USAGE',
    `cannot tell ${place.kind} of the review: there is no token (set FLAGKEEL_FORGE_TOKEN or FLAGKEEL_FORGE_TOKEN_FILE)`,
  );
}

function forgeTarget(flags: ReviewOptions, ci: CiContext | null): ForgeTarget | null {
  const kind = flags.forge ?? ci?.kind;
  if (kind === undefined || kind === 'none') return null;
  const place = pullRequestTarget(flags, ci);
  const known = ci?.kind === kind ? ci : null;
  const commit = flags.commit ?? known?.commit;
  const runUrl = flags.planUrl ?? known?.runUrl;
  if (place && commit !== undefined) return { ...place, commit, runUrl };
  // A job that runs for no pull request has nobody to tell.
  if (flags.forge === undefined) return null;
  throw new FlagkeelError(
    'USAGE',
    `cannot tell ${kind} of the review: it is not known of which pull request (set --repository, --pull-request and --commit)`,
  );
}

/** Null: there is none that is known. */
function pullRequestTarget(flags: ForgeFlags, ci: CiContext | null): PullRequestTarget | null {
  const kind = flags.forge ?? ci?.kind;
  if (kind === undefined || kind === 'none') return null;
  const known = ci?.kind === kind ? ci : null;
  const apiUrl = flags.forgeUrl ?? known?.apiUrl ?? DEFAULT_API[kind];
  const repository = flags.repository ?? known?.repository;
  const pullRequest = flags.pullRequest ?? known?.pullRequest;
  if (repository === undefined || pullRequest === undefined) return null;
  return { kind, apiUrl, repository, pullRequest };
}

/** An event of the forge is some hundred kilobytes. */
const MOST_BYTES = 16 * 1024 * 1024;

async function readEvent(path: string | undefined): Promise<unknown> {
  if (path === undefined || path === '') return undefined;
  try {
    const file = await open(path);
    try {
      if ((await file.stat()).size > MOST_BYTES) return undefined;
      return JSON.parse(await file.readFile('utf8')) as unknown;
    } finally {
      await file.close();
    }
  } catch {
    // What it would have said can be said by options, and is asked for where it is missing.
    return undefined;
  }
}

/** Which pull request is meant. Absent: as the CI job says. */
export interface ForgeFlags {
  readonly forge?: 'github' | 'gitlab' | 'none';
  readonly forgeUrl?: string;
  readonly repository?: string;
  readonly pullRequest?: number;
}

/** What a review is asked for: the run that it plans, and the pull request that it is about. Absent: not given. */
export interface ReviewOptions
  extends
    ForgeFlags,
    ConnectionFlags,
    Pick<RunFlags, 'environment' | 'only' | 'at' | 'concurrency'> {
  /** Revision that the plan starts from. */
  readonly since?: string;
  /** Branch that the pull request goes to. */
  readonly target?: string;
  readonly offline?: boolean;
  /** Full name of the commit that statuses are set on. */
  readonly commit?: string;
  /** Page that the status links to. */
  readonly planUrl?: string;
  /** File that is written; likewise `junit`. */
  readonly sarif?: string;
  readonly junit?: string;
}
