import { Octokit } from '@octokit/rest';
import { messageOf } from '../errors.js';
import { fetchFault, fetchFor } from '../platform/http-client.js';
import {
  type Proposal,
  type Proposed,
  type Annotation,
  type CommitForge,
  type CommitTarget,
  type Forge,
  ForgeError,
  type ForgeOptions,
  type ForgeRefusal,
  type PullRequestTarget,
  type RepositoryTarget,
  isMarked,
  limited,
  withRetry,
} from './forge.js';
import { approvalsIn, type CommentApprovals } from './approvals.js';

const PAGE = 100;
/** GitHub's limits, from its documentation. */
const MOST_DESCRIPTION = 140;
const MOST_ANNOTATIONS = 50;
const MOST_TITLE = 255;
const MOST_MESSAGE = 60_000;
const CHECK = 'flagkeel';

/** A pull request on GitHub, or on GitHub Enterprise Server. */
export function openForge(options: ForgeOptions): Forge {
  const { place } = options;
  const at = repositoryOf(place);
  const pull = { ...at, issue_number: place.pullRequest };
  const octokit = githubClient(options);
  return {
    ...commitForge(octokit, place),
    findComment: async (marker) => {
      const login = await ownLogin(octokit);
      const pages = octokit.paginate.iterator(octokit.rest.issues.listComments, {
        ...pull,
        per_page: PAGE,
      });
      for await (const { data } of pages) {
        const found = data.find(
          ({ body = '', user }) => user?.login === login && isMarked(body, marker),
        );
        if (found) return { id: found.id, body: found.body ?? '' };
      }
      return null;
    },
    postComment: async (body) => {
      await octokit.rest.issues.createComment({ ...pull, body });
    },
    updateComment: async (id, body) => {
      await octokit.rest.issues.updateComment({ ...at, comment_id: id, body });
    },
    annotate: async (annotations, summary) => {
      await annotate(octokit, { ...at, commit: place.commit }, annotations, summary);
    },
  };
}

export function openCommit(options: ForgeOptions<CommitTarget>): CommitForge {
  return commitForge(githubClient(options), options.place);
}

/**
 * Approvals in the comments of a pull request. Accounts that may write to the repository may merge; bots approve
 * nothing.
 */
export async function readApprovals(
  options: ForgeOptions<PullRequestTarget>,
): Promise<CommentApprovals> {
  const octokit = githubClient(options);
  const at = repositoryOf(options.place);
  const pull = { ...at, issue_number: options.place.pullRequest, per_page: PAGE };
  const comments = await octokit.paginate(octokit.rest.issues.listComments, pull);
  const written = comments.flatMap((each) => {
    const { id, body = '', user, created_at: createdAt, updated_at: updatedAt } = each;
    if (user?.type !== 'User') return [];
    const comment = `github ${String(id)}`;
    return [{ comment, body, author: user.login, createdAt, updatedAt }];
  });
  return approvalsIn(written, {
    pushedAt: async () => lastPush(octokit, { ...at, pull_number: options.place.pullRequest }),
    mayMerge: async (author) => mayWrite(octokit, { ...at, username: author }),
  });
}

/**
 * Time of the push of a pull request's newest commit. The date of the commit is no help, because its author can write
 * any. If the activity of the branch cannot be read, the time of the merge serves, which is later than every push.
 */
async function lastPush(
  octokit: Octokit,
  of: { owner: string; repo: string; pull_number: number },
): Promise<number | null> {
  const { data: pull } = await octokit.rest.pulls.get(of);
  const pushed = await pushOf(octokit, pull.head);
  const at = pushed ?? pull.merged_at;
  return at === null ? null : Date.parse(at);
}

interface PullHead {
  readonly sha: string;
  readonly ref: string;
  /** null if the fork was deleted. */
  readonly repo: { readonly name: string; readonly owner: { readonly login: string } } | null;
}

/** When a branch was last moved to this commit; null if GitHub does not say. */
async function pushOf(octokit: Octokit, { sha, ref, repo }: PullHead): Promise<string | null> {
  if (repo === null) return null;
  const branch = { owner: repo.owner.login, repo: repo.name, ref: `refs/heads/${ref}` };
  try {
    const { data } = await octokit.rest.repos.listActivities({ ...branch, per_page: PAGE });
    return data.find(({ after }) => after === sha)?.timestamp ?? null;
  } catch (error) {
    if (error instanceof ForgeError && (error.status === 403 || error.status === 404)) return null;
    throw error;
  }
}

async function mayWrite(
  octokit: Octokit,
  of: { owner: string; repo: string; username: string },
): Promise<boolean> {
  try {
    const { data } = await octokit.rest.repos.getCollaboratorPermissionLevel(of);
    return data.permission === 'write' || data.permission === 'admin';
  } catch (error) {
    if (error instanceof ForgeError && error.status === 404) return false;
    throw error;
  }
}

function commitForge(octokit: Octokit, place: CommitTarget): CommitForge {
  return {
    name: 'GitHub',
    setStatus: async ({ context, state, description }) => {
      await octokit.rest.repos.createCommitStatus({
        ...repositoryOf(place),
        sha: place.commit,
        context,
        state,
        description: limited(description, MOST_DESCRIPTION),
        ...(place.runUrl !== undefined && { target_url: place.runUrl }),
      });
    },
  };
}

export async function propose(
  options: ForgeOptions<RepositoryTarget>,
  { branch, title, body, files }: Proposal,
): Promise<Proposed> {
  const octokit = githubClient(options);
  const at = repositoryOf(options.place);
  if ((await headOf(octokit, { ...at, ref: `heads/${branch}` })) !== null) return null;
  const { default_branch: base } = (await octokit.rest.repos.get(at)).data;
  const head = await octokit.rest.git.getRef({ ...at, ref: `heads/${base}` });
  const parent = head.data.object.sha;
  const { data: commit } = await octokit.rest.git.getCommit({ ...at, commit_sha: parent });
  const { data: tree } = await octokit.rest.git.createTree({
    ...{ ...at, base_tree: commit.tree.sha },
    tree: [...files].map(([path, text]) => ({
      ...({ path, mode: '100644', type: 'blob' } as const),
      ...(text === null ? { sha: null } : { content: text }),
    })),
  });
  const made = { ...at, message: title, tree: tree.sha, parents: [parent] };
  const { data } = await octokit.rest.git.createCommit(made);
  await octokit.rest.git.createRef({ ...at, ref: `refs/heads/${branch}`, sha: data.sha });
  const pull = await octokit.rest.pulls.create({ ...at, title, body, head: branch, base });
  return { url: pull.data.html_url };
}

async function headOf(
  octokit: Octokit,
  of: { owner: string; repo: string; ref: string },
): Promise<string | null> {
  try {
    return (await octokit.rest.git.getRef(of)).data.object.sha;
  } catch (error) {
    if (error instanceof ForgeError && error.status === 404) return null;
    throw error;
  }
}

function repositoryOf({ repository }: RepositoryTarget): { owner: string; repo: string } {
  const [owner = '', repo = ''] = repository.split('/');
  return { owner, repo };
}

/** The account of a workflow's token. */
const WORKFLOW_ACCOUNT = 'github-actions[bot]';

/**
 * The account of our token. GitHub refuses `GET /user` to tokens of workflows and of apps, but names them as the viewer
 * of a query. A server without such queries has workflow tokens only.
 */
async function ownLogin(octokit: Octokit): Promise<string> {
  try {
    return (await octokit.rest.users.getAuthenticated()).data.login;
  } catch (error) {
    if (!(error instanceof ForgeError) || error.status !== 403) throw error;
  }
  try {
    const asked = octokit.graphql<{ viewer: { login: string } }>('{ viewer { login } }');
    return (await asked).viewer.login;
  } catch (error) {
    // For an answer without a name the library throws another type of error.
    if (error instanceof ForgeError && error.status !== 403 && error.status !== 404) throw error;
    return WORKFLOW_ACCOUNT;
  }
}

/** Adds notes. A check run takes few annotations at a time, so the others are added to the same run. */
async function annotate(
  octokit: Octokit,
  { owner, repo, commit }: { owner: string; repo: string; commit: string },
  annotations: readonly Annotation[],
  summary: string,
): Promise<void> {
  const parts: Annotation[][] = [];
  for (let from = 0; from < annotations.length; from += MOST_ANNOTATIONS) {
    parts.push(annotations.slice(from, from + MOST_ANNOTATIONS));
  }
  const [first, ...more] = parts;
  if (!first) return;
  const outputOf = (part: readonly Annotation[]) => ({
    title: 'What a merge changes',
    summary: limited(summary, MOST_MESSAGE),
    annotations: part.map(annotationBody),
  });
  const { data } = await octokit.rest.checks.create({
    ...{ owner, repo, head_sha: commit, name: CHECK },
    // The commit statuses decide; these are only notes.
    ...{ status: 'completed', conclusion: 'neutral' },
    output: outputOf(first),
  });
  for (const part of more) {
    await octokit.rest.checks.update({
      ...{ owner, repo, check_run_id: data.id },
      output: outputOf(part),
    });
  }
}

function annotationBody({ file, line, level, title, message }: Annotation) {
  return {
    path: file,
    start_line: line,
    end_line: line,
    annotation_level: level,
    title: limited(title, MOST_TITLE),
    message: limited(message, MOST_MESSAGE),
  };
}

function githubClient(options: ForgeOptions<RepositoryTarget>): Octokit {
  const { place, token, version, timeoutMs, wait, asking, now, signal } = options;
  const silent = (): void => undefined;
  const octokit = new Octokit({
    request: { fetch: fetchFor(place.apiUrl) },
    auth: token,
    baseUrl: place.apiUrl,
    userAgent: `flagkeel/${version}`,
    log: { debug: silent, info: silent, warn: silent, error: silent },
  });
  octokit.hook.wrap('request', async (request, asked) => {
    // The token is for one origin, so redirects are errors.
    const send = async () =>
      request({
        ...asked,
        request: {
          ...asked.request,
          redirect: 'error',
          signal: AbortSignal.any([AbortSignal.timeout(timeoutMs), ...(signal ? [signal] : [])]),
        },
      });
    // These POST requests may be repeated: a status replaces the one before it, and a query changes nothing.
    const repeatable = asked.method !== 'POST' || /\/statuses\/|\/graphql$/.test(asked.url);
    return withRetry(send, (error) => refusalOf(error, now), { wait, asking, repeatable });
  });
  return octokit;
}

interface Answered {
  readonly status?: unknown;
  readonly response?: { readonly headers?: Readonly<Record<string, string | number | undefined>> };
}

function refusalOf(error: unknown, now: () => number): ForgeRefusal {
  const { status, response } = (error ?? {}) as Answered;
  // The library sets a status of its own if no answer came.
  const answered = typeof status === 'number' && response !== undefined ? status : null;
  const what = answered === null ? 'no answer' : `status ${String(answered)}`;
  const message = `cannot tell GitHub: ${what}, ${answered === null ? fetchFault(error) : messageOf(error)}${wayOut(answered)}`;
  return {
    error: new ForgeError(message, answered, error),
    waitMs: waitAsked(answered, response?.headers ?? {}, now),
  };
}

function wayOut(status: number | null): string {
  if (status === 401) return ' (check the token)';
  return status === 403 || status === 404
    ? ' (the token needs to write pull requests, statuses and checks)'
    : '';
}

/** GitHub answers 403 or 429 for both of its rate limits. */
function waitAsked(
  status: number | null,
  headers: Readonly<Record<string, string | number | undefined>>,
  now: () => number,
): number | null {
  if (status !== 403 && status !== 429) return null;
  const after = Number(headers['retry-after']);
  if (Number.isFinite(after)) return after * 1_000;
  if (String(headers['x-ratelimit-remaining']) !== '0') return status === 429 ? 1_000 : null;
  return Math.max(0, Number(headers['x-ratelimit-reset']) * 1_000 - now());
}
