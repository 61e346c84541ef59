import type { ForgeTarget } from './forge.js';

/** The pull request of a CI job, from the job's environment. */
export interface CiContext {
  readonly kind: ForgeTarget['kind'];
  readonly apiUrl?: string | undefined;
  readonly repository?: string | undefined;
  readonly pullRequest?: number | undefined;
  /** The newest commit of the pull request's own branch. */
  readonly commit?: string | undefined;
  /** A commit of the target branch. */
  readonly base?: string | undefined;
  /**
   * The merge that the forge made for testing, if the job runs on one: its first parent is the newest commit of the
   * target.
   */
  readonly merge?: string | undefined;
  /** Name of the target branch. */
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
    isFork: differs(
      member(member(member(pull, 'head'), 'repo'), 'id'),
      member(member(member(pull, 'base'), 'repo'), 'id'),
    ),
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
