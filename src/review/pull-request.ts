import { open } from 'node:fs/promises';
import { forgeToken } from '../compose/settings.js';
import { FlagkeelError } from '../errors.js';
import type {
  CommitForge,
  Forge,
  ForgeTarget,
  PullRequestTarget,
  RepositoryTarget,
} from '../forge/forge.js';
import { DEFAULT_API, openAppliedForge, openForge } from '../forge/open.js';
import type { Progress } from '../model/run.js';
import { packageVersion } from '../platform/version.js';
import type { ConnectionFlags, RunFlags } from '../compose/run.js';

export interface ReviewTarget {
  /** null to report on the terminal alone. */
  readonly forge: Forge | null;
  /** The revision that the plan starts from, unless HEAD is `merge`. One of the two is always set. */
  readonly base: string | undefined;
  readonly merge: string | undefined;
  readonly target: string | undefined;
  readonly runUrl: string | undefined;
  readonly summaryFile: string | undefined;
  readonly isFork: boolean;
}

/** What a forge is asked with, beside the options. */
export interface Asking {
  readonly environment: Environment;
  readonly progress: Progress;
}

/**
 * Reads options first, then the environment of the CI job; never the repository.
 *
 * @throws FlagkeelError `USAGE` if a forge was requested but the pull request or the token is unknown, or if the base
 *   is unknown.
 */
export async function reviewTarget(
  flags: ReviewOptions,
  { environment, progress }: Asking,
): Promise<ReviewTarget> {
  const ci = ciContext(environment, await readEvent(environment['GITHUB_EVENT_PATH']));
  const base = flags.since ?? ci?.base;
  const merge = flags.since === undefined ? ci?.merge : undefined;
  if (base === undefined && merge === undefined) throw noBase();
  const place = forgeTarget(flags, ci);
  const token = forgeToken(environment) ?? ci?.token;
  const forge = place && (await openAsked(place, { token, progress }, flags));
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
 * The pull request that the options or the CI job name, and the token for it.
 *
 * @param what is asked of it, for the error: `read …`.
 * @throws FlagkeelError `USAGE` if the pull request or the token is unknown.
 */
export async function askedPullRequest(
  flags: ForgeFlags,
  environment: Environment,
  what: string,
): Promise<{ readonly place: PullRequestTarget; readonly token: string }> {
  const ci = ciContext(environment, await readEvent(environment['GITHUB_EVENT_PATH']));
  const place =
    pullRequestTarget(flags, ci) ??
    unknown(what, 'pull request (set --forge, --repository and --pull-request)');
  return { place, token: forgeToken(environment) ?? ci?.token ?? noToken(what) };
}

/**
 * Opens the forge of the options or of the CI job, for statuses of an applied commit.
 *
 * @throws FlagkeelError `USAGE` if the repository or the token is unknown.
 */
export async function appliedForge(
  flags: ForgeFlags,
  commit: string,
  { environment, progress }: Asking,
): Promise<CommitForge> {
  const ci = ciContext(environment, undefined);
  const place =
    repositoryTarget(flags, ci) ??
    unknown('set statuses', 'repository (set --forge and --repository)');
  const token = forgeToken(environment) ?? ci?.token ?? noToken('set statuses');
  const target = { ...place, commit, runUrl: ci?.runUrl };
  return openAppliedForge(target, { token, version: packageVersion(), progress });
}

function unknown(what: string, place: string): never {
  throw new FlagkeelError('USAGE', `cannot ${what}: it is not known of which ${place}`);
}

function noToken(what: string): never {
  const wayOut = 'set FLAGKEEL_FORGE_TOKEN or FLAGKEEL_FORGE_TOKEN_FILE';
  throw new FlagkeelError('USAGE', `cannot ${what}: there is no token (${wayOut})`);
}

/** Without a base, the review would blame this branch for every difference from the service. */
export function noBase(): FlagkeelError {
  return new FlagkeelError(
    'USAGE',
    'cannot review: it is not known what to compare with (name the target branch: --since origin/main)',
  );
}

async function openAsked(
  place: ForgeTarget,
  { token, progress }: { readonly token: string | undefined; readonly progress: Progress },
  { forge: asked }: ReviewOptions,
): Promise<Forge | null> {
  if (token !== undefined) return openForge(place, { token, version: packageVersion(), progress });
  return asked === undefined ? null : noToken(`tell ${place.kind} of the review`);
}

function forgeTarget(flags: ReviewOptions, ci: CiContext | null): ForgeTarget | null {
  const kind = flags.forge ?? ci?.kind;
  if (kind === undefined || kind === 'none') return null;
  const place = pullRequestTarget(flags, ci);
  const known = ci?.kind === kind ? ci : null;
  const commit = flags.commit ?? known?.commit;
  const runUrl = flags.planUrl ?? known?.runUrl;
  if (place && commit !== undefined) return { ...place, commit, runUrl };
  // A job without a pull request has no place to post to.
  if (flags.forge === undefined) return null;
  return unknown(
    `tell ${kind} of the review`,
    'pull request (set --repository, --pull-request and --commit)',
  );
}

/** @returns null if no pull request is known. */
function pullRequestTarget(flags: ForgeFlags, ci: CiContext | null): PullRequestTarget | null {
  const place = repositoryTarget(flags, ci);
  const known = ci?.kind === place?.kind ? ci : null;
  const pullRequest = flags.pullRequest ?? known?.pullRequest;
  return place && pullRequest !== undefined ? { ...place, pullRequest } : null;
}

/** @returns null if no repository is known. */
function repositoryTarget(flags: ForgeFlags, ci: CiContext | null): RepositoryTarget | null {
  const kind = flags.forge ?? ci?.kind;
  if (kind === undefined || kind === 'none') return null;
  const known = ci?.kind === kind ? ci : null;
  const apiUrl = flags.forgeUrl ?? known?.apiUrl ?? DEFAULT_API[kind];
  const repository = flags.repository ?? known?.repository;
  return repository === undefined ? null : { kind, apiUrl, repository };
}

/** Limit for an event file; a forge's event has some hundred kilobytes. */
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
    // Options can replace the event. If one is missing then, a later check asks for it.
    return undefined;
  }
}

/** Options that name the pull request. The CI job's values replace missing ones. */
export interface ForgeFlags {
  readonly forge?: 'github' | 'gitlab' | 'none';
  readonly forgeUrl?: string;
  readonly repository?: string;
  readonly pullRequest?: number;
}

export interface ReviewOptions
  extends
    ForgeFlags,
    ConnectionFlags,
    Pick<RunFlags, 'environment' | 'only' | 'at' | 'concurrency'> {
  readonly since?: string;
  readonly target?: string;
  readonly offline?: boolean;
  readonly commit?: string;
  readonly planUrl?: string;
  readonly json?: string;
  readonly sarif?: string;
  readonly junit?: string;
}

/** The pull request of a CI job, from the job's environment. */
export interface CiContext {
  readonly kind: ForgeTarget['kind'];
  readonly apiUrl?: string | undefined;
  readonly repository?: string | undefined;
  readonly pullRequest?: number | undefined;
  readonly commit?: string | undefined;
  readonly base?: string | undefined;
  /**
   * The merge that the forge made for testing, if the job runs on one: its first parent is the newest commit of the
   * target.
   */
  readonly merge?: string | undefined;
  readonly target?: string | undefined;
  readonly runUrl?: string | undefined;
  readonly token?: string | undefined;
  /** The pull request comes from another repository, so the job gets no secrets. */
  readonly isFork: boolean;
  /** The file to which the job's summary is appended. */
  readonly summaryFile?: string | undefined;
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads the environment of GitHub Actions or GitLab CI; null in any other environment.
 *
 * @param event the parsed content of `GITHUB_EVENT_PATH`. Untrusted: members of another shape count as absent.
 */
export function ciContext(environment: Environment, event: unknown): CiContext | null {
  if (environment['GITHUB_ACTIONS'] === 'true') return githubContext(environment, event);
  if (environment['GITLAB_CI'] === 'true') return gitlabContext(environment);
  return null;
}

function githubContext(environment: Environment, event: unknown): CiContext {
  const pull = member(event, 'pull_request');
  const repository = filled(environment['GITHUB_REPOSITORY']);
  const server = filled(environment['GITHUB_SERVER_URL']);
  const run = filled(environment['GITHUB_RUN_ID']);
  const isMerge = environment['GITHUB_REF']?.endsWith('/merge') === true;
  return {
    kind: 'github',
    apiUrl: filled(environment['GITHUB_API_URL']),
    repository,
    pullRequest: count(member(pull, 'number')) ?? commentedPull(event),
    commit: sha(member(member(pull, 'head'), 'sha')),
    base: sha(member(member(pull, 'base'), 'sha')),
    merge: isMerge ? sha(environment['GITHUB_SHA']) : undefined,
    target: filled(environment['GITHUB_BASE_REF']),
    runUrl:
      server !== undefined && repository !== undefined && run !== undefined
        ? `${server}/${repository}/actions/runs/${run}`
        : undefined,
    token: filled(environment['GITHUB_TOKEN']),
    isFork: isForked(pull),
    summaryFile: filled(environment['GITHUB_STEP_SUMMARY']),
  };
}

/**
 * The pull request of a job that runs because of a comment. GitHub sends it as an issue that is marked as a pull
 * request.
 */
function commentedPull(event: unknown): number | undefined {
  const issue = member(event, 'issue');
  return member(issue, 'pull_request') === undefined ? undefined : count(member(issue, 'number'));
}

/** A pipeline of merged results runs on a merge commit, and its environment names the two commits that were merged. */
function gitlabContext(environment: Environment): CiContext {
  const target = sha(environment['CI_MERGE_REQUEST_TARGET_BRANCH_SHA']);
  return {
    kind: 'gitlab',
    apiUrl: filled(environment['CI_API_V4_URL']),
    repository: filled(environment['CI_PROJECT_ID']),
    pullRequest: count(Number(environment['CI_MERGE_REQUEST_IID'])),
    commit:
      sha(environment['CI_MERGE_REQUEST_SOURCE_BRANCH_SHA']) ?? sha(environment['CI_COMMIT_SHA']),
    base: target ?? sha(environment['CI_MERGE_REQUEST_DIFF_BASE_SHA']),
    merge: target === undefined ? undefined : sha(environment['CI_COMMIT_SHA']),
    target: filled(environment['CI_MERGE_REQUEST_TARGET_BRANCH_NAME']),
    runUrl: filled(environment['CI_JOB_URL']),
    token: filled(environment['GITLAB_TOKEN']),
    isFork: differs(
      environment['CI_MERGE_REQUEST_SOURCE_PROJECT_ID'],
      environment['CI_MERGE_REQUEST_PROJECT_ID'],
    ),
  };
}

/** The repository of a head is null once the fork is deleted. */
function isForked(pull: unknown): boolean {
  const [head, base] = ['head', 'base'].map((side) => member(member(pull, side), 'repo'));
  return head === null || differs(member(head, 'id'), member(base, 'id'));
}

function differs(a: unknown, b: unknown): boolean {
  return a !== undefined && b !== undefined && a !== b;
}

function member(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined;
  return (value as Readonly<Record<string, unknown>>)[name];
}

function filled(value: string | undefined): string | undefined {
  return value === undefined || value === '' ? undefined : value;
}

function count(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : undefined;
}

function sha(value: unknown): string | undefined {
  return typeof value === 'string' && /^[0-9a-f]{40,64}$/.test(value) ? value : undefined;
}
