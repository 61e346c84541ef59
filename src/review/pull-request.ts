import { forgeToken, nonEmpty } from '../compose/settings.js';
import { FlagkeelError } from '../errors.js';
import type { Forge, RepositoryTarget, StatusPlace } from '../forge/forge.js';
import { DEFAULT_API, openForge } from '../forge/open.js';
import { memberOf, valueAt } from '../model/json.js';
import type { Progress } from '../model/run.js';
import { readBounded } from '../platform/bounded-file.js';
import type { ConnectionFlags, RunFlags } from '../compose/run.js';

/** The pull request under review; its statuses are those of its newest commit. */
export interface ReviewedPullRequest extends StatusPlace {
  readonly forge: Forge;
  readonly pullRequest: number;
}

export interface ReviewTarget extends Pick<CiContext, 'target' | 'runUrl' | 'summaryFile'> {
  /** null to report on the terminal alone. */
  readonly pull: ReviewedPullRequest | null;
  /** The revision that the plan starts from, unless HEAD is `merge`. One of the two is always set. */
  readonly base: string | undefined;
  readonly merge: string | undefined;
  readonly isFork: boolean;
}

export interface Asking {
  readonly environment: Environment;
  readonly progress: Progress;
  /** Ends requests for approvals. A status that is open, or says what was applied, is set in any case. */
  readonly signal?: AbortSignal | undefined;
}

/** Reads options first, then the environment of the CI job; never the repository. @throws FlagkeelError `USAGE` */
export async function reviewTarget(flags: ReviewOptions, asking: Asking): Promise<ReviewTarget> {
  const ci = await ciJob(asking);
  const base = flags.since ?? ci?.base;
  const merge = flags.since === undefined ? ci?.merge : undefined;
  if (base === undefined && merge === undefined) throw noBase();
  return {
    pull: await reviewedPull(flags, ci, asking),
    base,
    merge,
    target: flags.target ?? ci?.target,
    runUrl: flags.planUrl ?? ci?.runUrl,
    summaryFile: ci?.summaryFile,
    isFork: ci?.isFork ?? false,
  };
}

/** Without an option that asks for a forge, a job without a pull request or a token has no place to post to. */
async function reviewedPull(
  flags: ReviewOptions,
  ci: CiContext | null,
  asking: Asking,
): Promise<ReviewedPullRequest | null> {
  const named = namedBy(flags, ci);
  if (named === null) return null;
  const { kind, repository, pullRequest } = named;
  const commit = flags.commit ?? named.ci?.commit;
  const isAsked = flags.forge !== undefined;
  const what = `tell ${kind} of the review`;
  if (repository === null || pullRequest === undefined || commit === undefined) {
    if (!isAsked) return null;
    throw unknown(what, 'pull request (set --repository, --pull-request and --commit)');
  }
  if (!isAsked && tokenOf(ci, asking) === undefined) return null;
  const forge = await openWithToken(repository, { ci, asking, what });
  const project = flags.repository ?? named.ci?.project;
  return { forge, pullRequest, commit, project, runUrl: flags.planUrl ?? named.ci?.runUrl };
}

/**
 * The pull request that the options or the CI job name. @param what is asked of it, for the error. @throws
 * FlagkeelError `USAGE`
 */
export async function askedPullRequest(
  flags: ForgeFlags,
  asking: Asking,
  what: string,
): Promise<Pick<ReviewedPullRequest, 'forge' | 'pullRequest'>> {
  const ci = await ciJob(asking);
  const { repository = null, pullRequest } = namedBy(flags, ci) ?? {};
  if (repository === null || pullRequest === undefined) {
    throw unknown(what, 'pull request (set --forge, --repository and --pull-request)');
  }
  const { signal } = asking;
  return { forge: await openWithToken(repository, { ci, asking, what, signal }), pullRequest };
}

/** Opens the forge of the options or of the CI job, for statuses of an applied commit. @throws FlagkeelError `USAGE` */
export async function appliedForge(
  flags: ForgeFlags,
  asking: Asking,
): Promise<{ readonly forge: Forge; readonly runUrl: string | undefined }> {
  const what = 'set statuses';
  const ci = ciContext(asking.environment, undefined);
  const repository = namedBy(flags, ci)?.repository;
  if (!repository) throw unknown(what, 'repository (set --forge and --repository)');
  return { forge: await openWithToken(repository, { ci, asking, what }), runUrl: ci?.runUrl };
}

interface Opening extends Pick<Asking, 'signal'> {
  readonly ci: CiContext | null;
  readonly asking: Asking;
  readonly what: string;
}

async function openWithToken(
  repository: RepositoryTarget,
  { ci, asking, what, signal }: Opening,
): Promise<Forge> {
  const token = tokenOf(ci, asking);
  if (token !== undefined) {
    return openForge(repository, { token, progress: asking.progress, signal });
  }
  const wayOut = 'set FLAGKEEL_FORGE_TOKEN or FLAGKEEL_FORGE_TOKEN_FILE';
  throw new FlagkeelError('USAGE', `cannot ${what}: there is no token (${wayOut})`);
}

function tokenOf(ci: CiContext | null, { environment }: Asking): string | undefined {
  return forgeToken(environment) ?? ci?.token;
}

function unknown(what: string, place: string): FlagkeelError {
  return new FlagkeelError('USAGE', `cannot ${what}: it is not known of which ${place}`);
}

/** Without a base, the review would blame this branch for every difference from the service. */
export function noBase(): FlagkeelError {
  const why = 'it is not known what to compare with (name the target branch: --since origin/main)';
  return new FlagkeelError('USAGE', `cannot review: ${why}`);
}

/** What options name, or else a CI job on the same forge; null for no forge. */
function namedBy(flags: ForgeFlags, job: CiContext | null) {
  const kind = flags.forge ?? job?.kind;
  if (kind === undefined || kind === 'none') return null;
  const ci = job?.kind === kind ? job : null;
  const apiUrl = flags.forgeUrl ?? ci?.apiUrl ?? DEFAULT_API[kind];
  const repository = flags.repository ?? ci?.repository;
  return {
    kind,
    ci,
    repository: repository === undefined ? null : { kind, apiUrl, repository },
    pullRequest: flags.pullRequest ?? ci?.pullRequest,
  };
}

async function ciJob({ environment }: Asking): Promise<CiContext | null> {
  return ciContext(environment, await readEvent(environment['GITHUB_EVENT_PATH']));
}

async function readEvent(path: string | undefined): Promise<unknown> {
  if (path === undefined || path === '') return undefined;
  try {
    return JSON.parse(String(await readBounded(path, 'read the event in'))) as unknown;
  } catch {
    // Options can replace the event. If one is missing then, a later check asks for it.
    return undefined;
  }
}

/** The CI job's values replace missing ones. */
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

export interface CiContext extends Pick<StatusPlace, 'project'> {
  readonly kind: RepositoryTarget['kind'];
  readonly apiUrl?: string | undefined;
  readonly repository?: string | undefined;
  readonly pullRequest?: number | undefined;
  readonly commit?: string | undefined;
  readonly base?: string | undefined;
  /** Made by GitHub for testing, if the job runs on one: its first parent is the newest commit of the target. */
  readonly merge?: string | undefined;
  readonly target?: string | undefined;
  readonly runUrl?: string | undefined;
  readonly token?: string | undefined;
  /** The pull request comes from another repository, or counts as such, so the job gets no secrets. */
  readonly isFork: boolean;
  readonly summaryFile?: string | undefined;
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads the environment of GitHub Actions or GitLab CI. The event is untrusted: members of another shape count as
 * absent.
 */
export function ciContext(environment: Environment, event: unknown): CiContext | null {
  if (environment['GITHUB_ACTIONS'] === 'true') return githubContext(environment, event);
  if (environment['GITLAB_CI'] === 'true') return gitlabContext(environment);
  return null;
}

function githubContext(environment: Environment, event: unknown): CiContext {
  const pull = memberOf(event, 'pull_request');
  const repository = nonEmpty(environment['GITHUB_REPOSITORY']);
  const server = nonEmpty(environment['GITHUB_SERVER_URL']);
  const run = nonEmpty(environment['GITHUB_RUN_ID']);
  const isMerge = /^refs\/pull\/\d+\/merge$/.test(environment['GITHUB_REF'] ?? '');
  return {
    kind: 'github',
    apiUrl: nonEmpty(environment['GITHUB_API_URL']),
    repository,
    pullRequest: count(memberOf(pull, 'number')) ?? commentedPull(event),
    commit: sha(valueAt(pull, ['head', 'sha'])),
    base: sha(valueAt(pull, ['base', 'sha'])),
    merge: isMerge ? sha(environment['GITHUB_SHA']) : undefined,
    target: nonEmpty(environment['GITHUB_BASE_REF']),
    runUrl:
      server !== undefined && repository !== undefined && run !== undefined
        ? `${server}/${repository}/actions/runs/${run}`
        : undefined,
    token: nonEmpty(environment['GITHUB_TOKEN']),
    // GitHub gives a job that Dependabot starts no secrets either.
    isFork: isForked(pull) || environment['GITHUB_ACTOR'] === 'dependabot[bot]',
    summaryFile: nonEmpty(environment['GITHUB_STEP_SUMMARY']),
  };
}

/** GitHub sends the pull request of a comment as an issue that is marked. */
function commentedPull(event: unknown): number | undefined {
  const issue = memberOf(event, 'issue');
  return memberOf(issue, 'pull_request') === undefined
    ? undefined
    : count(memberOf(issue, 'number'));
}

/**
 * A pipeline of merged results runs on a merge commit, one of a fast-forward train on rebased commits. The environment
 * of both names the commits of the two branches.
 */
function gitlabContext(environment: Environment): CiContext {
  const project = nonEmpty(environment['CI_PROJECT_ID']);
  const target = nonEmpty(environment['CI_MERGE_REQUEST_PROJECT_ID']);
  return {
    kind: 'gitlab',
    apiUrl: nonEmpty(environment['CI_API_V4_URL']),
    // A fork's pipeline runs in the fork, which knows its commits, but not the merge request.
    repository: target ?? project,
    project,
    pullRequest: count(Number(environment['CI_MERGE_REQUEST_IID'])),
    commit:
      sha(environment['CI_MERGE_REQUEST_SOURCE_BRANCH_SHA']) ?? sha(environment['CI_COMMIT_SHA']),
    base:
      sha(environment['CI_MERGE_REQUEST_TARGET_BRANCH_SHA']) ??
      sha(environment['CI_MERGE_REQUEST_DIFF_BASE_SHA']),
    target: nonEmpty(environment['CI_MERGE_REQUEST_TARGET_BRANCH_NAME']),
    runUrl: nonEmpty(environment['CI_JOB_URL']),
    token: nonEmpty(environment['GITLAB_TOKEN']),
    isFork: differs(environment['CI_MERGE_REQUEST_SOURCE_PROJECT_ID'], target),
  };
}

/** The repository of a head is null once the fork is deleted. */
function isForked(pull: unknown): boolean {
  const [head, base] = ['head', 'base'].map((side) => valueAt(pull, [side, 'repo']));
  return head === null || differs(memberOf(head, 'id'), memberOf(base, 'id'));
}

function differs(a: unknown, b: unknown): boolean {
  return a !== undefined && b !== undefined && a !== b;
}

function count(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : undefined;
}

function sha(value: unknown): string | undefined {
  return typeof value === 'string' && /^[0-9a-f]{40,64}$/.test(value) ? value : undefined;
}
