import { Octokit } from '@octokit/rest';
import { messageOf } from '../errors.js';
import { limited } from '../model/audit-note.js';
import { fetchFor, retryAfterMs } from '../platform/http-client.js';
import { packageVersion } from '../platform/package-files.js';
import {
  approvalsIn,
  endOf,
  ForgeError,
  forgeError,
  isMarked,
  MOVED,
  unlessRefused,
  withRetry,
  type Annotation,
  type Forge,
  type ForgeOptions,
  type Proposal,
} from './forge.js';

const PAGE = 100;
/** GitHub's limits, from its documentation. */
const MOST_DESCRIPTION = 140;
const MOST_ANNOTATIONS = 50;
const MOST_TITLE = 255;
const MOST_MESSAGE = 60_000;
const CHECK = 'flagkeel';

interface Repository {
  readonly octokit: Octokit;
  readonly at: { readonly owner: string; readonly repo: string };
}

export function connect(options: ForgeOptions): Forge {
  const [owner = '', repo = ''] = options.place.repository.split('/');
  const at = { owner, repo };
  const octokit = githubClient(options);
  const repository: Repository = { octokit, at };
  return {
    name: 'GitHub',
    findComments: async (pullRequest, marker) => {
      const login = await ownLogin(octokit);
      const comments = await commentsOf(repository, pullRequest);
      return comments
        .filter(({ body = '', user }) => user?.login === login && isMarked(body, marker))
        .map(({ id, body = '' }) => ({ id, body }));
    },
    postComment: async (pullRequest, body) => {
      await octokit.rest.issues.createComment({ ...at, issue_number: pullRequest, body });
    },
    updateComment: async (_, id, body) => {
      await octokit.rest.issues.updateComment({ ...at, comment_id: id, body });
    },
    deleteComment: async (_, id) => {
      await octokit.rest.issues.deleteComment({ ...at, comment_id: id });
    },
    newestCommit: async (pullRequest) =>
      (await octokit.rest.pulls.get({ ...at, pull_number: pullRequest })).data.head.sha,
    setStatus: async ({ commit, runUrl }, { context, state, description }) => {
      await octokit.rest.repos.createCommitStatus({
        ...at,
        sha: commit,
        context,
        state,
        description: limited(description, MOST_DESCRIPTION),
        ...(runUrl !== undefined && { target_url: runUrl }),
      });
    },
    annotate: async (commit, annotations, summary) =>
      annotate(repository, commit, annotations, summary),
    approvals: async (pullRequest) => {
      const comments = await commentsOf(repository, pullRequest);
      // Bots approve nothing.
      const written = comments.flatMap((each) => {
        const { id, body = '', user, created_at: createdAt, updated_at: updatedAt } = each;
        if (user?.type !== 'User') return [];
        return [{ comment: `github ${id}`, body, author: user.login, createdAt, updatedAt }];
      });
      return approvalsIn(written, async () => ({
        pushedAt: await lastPush(repository, pullRequest),
        mayMerge: async (author) => mayWrite(repository, author),
      }));
    },
    propose: async (proposal) => propose(repository, proposal),
  };
}

async function commentsOf({ octokit, at }: Repository, pullRequest: number) {
  const asked = { ...at, issue_number: pullRequest, per_page: PAGE };
  return octokit.paginate(octokit.rest.issues.listComments, asked);
}

/**
 * Time of the push of a pull request's newest commit. The date of the commit is no help, because its author can write
 * any. If the activity of the branch cannot be read, the time of the merge serves, which is later than every push.
 */
async function lastPush({ octokit, at }: Repository, pullRequest: number): Promise<number | null> {
  const { data: pull } = await octokit.rest.pulls.get({ ...at, pull_number: pullRequest });
  const { sha, ref, repo } = pull.head;
  // The library's types do not know that the fork may be deleted.
  const home = repo as typeof repo | null;
  const branch = home && { owner: home.owner.login, repo: home.name, ref: `refs/heads/${ref}` };
  const asked = branch && octokit.rest.repos.listActivities({ ...branch, per_page: PAGE });
  const moves = asked && (await unlessRefused(asked, 403, 404, 422));
  const time = moves?.data.find(({ after }) => after === sha)?.timestamp ?? pull.merged_at;
  return time === null ? null : Date.parse(time);
}

async function mayWrite({ octokit, at }: Repository, username: string): Promise<boolean> {
  const asked = octokit.rest.repos.getCollaboratorPermissionLevel({ ...at, username });
  const permission = (await unlessRefused(asked, 404))?.data.permission;
  return permission === 'write' || permission === 'admin';
}

async function propose(
  { octokit, at }: Repository,
  { branch, title, body, files }: Proposal,
): ReturnType<Forge['propose']> {
  const refOf = async (name: string) => octokit.rest.git.getRef({ ...at, ref: `heads/${name}` });
  const { default_branch: base } = (await octokit.rest.repos.get({ ...at })).data;
  if ((await unlessRefused(refOf(branch), 404)) === null) {
    const parent = (await refOf(base)).data.object.sha;
    const { data: commit } = await octokit.rest.git.getCommit({ ...at, commit_sha: parent });
    const { data: tree } = await octokit.rest.git.createTree({
      ...at,
      base_tree: commit.tree.sha,
      tree: [...files].map(([path, text]) => {
        const content = text === null ? { sha: null } : { content: text };
        return { path, mode: '100644', type: 'blob', ...content } as const;
      }),
    });
    const made = { ...at, message: title, tree: tree.sha, parents: [parent] };
    const { data } = await octokit.rest.git.createCommit(made);
    await octokit.rest.git.createRef({ ...at, ref: `refs/heads/${branch}`, sha: data.sha });
  } else {
    const from = { ...at, head: `${at.owner}:${branch}`, state: 'all' } as const;
    if ((await octokit.rest.pulls.list(from)).data.length > 0) return null;
  }
  const pull = await octokit.rest.pulls.create({ ...at, title, body, head: branch, base });
  return { url: pull.data.html_url };
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
  { octokit, at }: Repository,
  commit: string,
  annotations: readonly Annotation[],
  summary: string,
): Promise<void> {
  let run: number | undefined;
  for (let from = 0; from < annotations.length; from += MOST_ANNOTATIONS) {
    const output = {
      title: 'What a merge changes',
      summary: limited(summary, MOST_MESSAGE),
      annotations: annotations.slice(from, from + MOST_ANNOTATIONS).map(annotationBody),
    };
    if (run === undefined) {
      // The commit statuses decide; these are only notes.
      const neutral = { status: 'completed', conclusion: 'neutral' } as const;
      const made = { ...at, head_sha: commit, name: CHECK, ...neutral, output };
      run = (await octokit.rest.checks.create(made)).data.id;
    } else await octokit.rest.checks.update({ ...at, check_run_id: run, output });
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

function githubClient(options: ForgeOptions): Octokit {
  const { place, token, wait, asking, now } = options;
  const silent = (): void => undefined;
  const open = fetchFor(place.apiUrl);
  const octokit = new Octokit({
    request: {
      // Set here, because the library drops the signal where a hook sets it.
      fetch: (async (input, init) =>
        open(input, { ...init, signal: endOf(options) })) satisfies typeof open,
    },
    auth: token,
    baseUrl: place.apiUrl,
    userAgent: `flagkeel/${packageVersion()}`,
    log: { debug: silent, info: silent, warn: silent, error: silent },
  });
  octokit.hook.wrap('request', async (request, asked) => {
    const send = async () => {
      const answer = await request(asked);
      const { status } = answer;
      if (status >= 300) throw Object.assign(new Error(MOVED), { status, response: answer });
      // The library takes an answer that breaks off for a success, with a text in place of its JSON.
      const isPart = typeof answer.data === 'string' && status !== 204;
      if (isPart) throw new Error('only a part of one, or no JSON');
      return answer;
    };
    // These POST requests may be repeated: a status replaces the one before it, and a query changes nothing.
    const repeatable = asked.method !== 'POST' || /\/statuses\/|\/graphql$/.test(asked.url);
    const refused = (error: unknown): ForgeError => errorOf(error, asked.url, now);
    return withRetry(send, refused, { wait, asking, repeatable });
  });
  return octokit;
}

interface Answered {
  readonly status?: unknown;
  readonly response?: { readonly headers?: Headers };
}

type Headers = Readonly<Record<string, string | number | undefined>>;

function errorOf(error: unknown, url: string, now: () => number): ForgeError {
  const { status: given, response } = (error ?? {}) as Answered;
  // The library sets a status of its own if no answer came.
  const status = typeof given === 'number' && response !== undefined ? given : null;
  const isLimit = status === 403 || status === 429;
  const waitMs = isLimit ? waitAsked(error, response?.headers ?? {}, now) : null;
  return forgeError('GitHub', error, { status, hint: wayOut(status, url), waitMs });
}

/** What a token needs to write, by the path of the request; pull requests for all others. */
const RIGHTS: readonly (readonly [path: RegExp, right: string])[] = [
  [/\/statuses\//, 'statuses'],
  [/\/check-runs/, 'checks'],
  [/\/git\//, 'contents'],
];

function wayOut(status: number | null, url: string): string {
  if (status === 401) return ' (check the token)';
  if (status !== 403 && status !== 404) return '';
  const [, right = 'pull requests'] = RIGHTS.find(([path]) => path.test(url)) ?? [];
  return ` (the token needs to write ${right})`;
}

/**
 * GitHub answers 403 or 429 for both of its rate limits. The secondary one may say so in words alone; GitHub's
 * documentation then asks for a minute.
 */
function waitAsked(error: unknown, headers: Headers, now: () => number): number | null {
  const after = retryAfterMs(headers, now());
  if (after !== undefined) return after;
  if (String(headers['x-ratelimit-remaining']) === '0') {
    return Math.max(0, Number(headers['x-ratelimit-reset']) * 1_000 - now());
  }
  const { status } = error as Answered;
  return status === 429 || /secondary rate limit/i.test(messageOf(error)) ? 60_000 : null;
}
