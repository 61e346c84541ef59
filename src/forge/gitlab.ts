import { createRequesterFn } from '@gitbeaker/requester-utils';
import { Gitlab } from '@gitbeaker/rest';
import { limited } from '../model/audit-note.js';
import { fetchFor, retryAfterMs } from '../platform/http-client.js';
import {
  approvalsIn,
  endOf,
  ForgeError,
  forgeError,
  isMarked,
  MOVED,
  unlessRefused,
  withRetry,
  type CommentApprovals,
  type Forge,
  type ForgeOptions,
  type Proposal,
} from './forge.js';

const PAGE = 100;
/** GitLab's limits, from its documentation. */
const MOST_DESCRIPTION = 255;
/** Where GitLab names no time. */
const WAIT_AFTER_LIMIT_MS = 15_000;

const STATES = {
  pending: 'running',
  success: 'success',
  failure: 'failed',
  error: 'failed',
} as const;

interface Project {
  readonly gitlab: ReturnType<typeof gitlabClient>;
  readonly project: string;
}

/** A project on GitLab. GitLab takes notes on lines from reports, so `annotate` does nothing. */
export function connect(options: ForgeOptions): Forge {
  const gitlab = gitlabClient(options);
  const { repository: project } = options.place;
  const at: Project = { gitlab, project };
  return {
    name: 'GitLab',
    findComments: async (pullRequest, marker) => {
      const self = await gitlab.Users.showCurrentUser();
      const notes = await notesOf(at, pullRequest);
      return notes.filter(({ body, author }) => author.id === self.id && isMarked(body, marker));
    },
    postComment: async (pullRequest, body) => {
      await gitlab.MergeRequestNotes.create(project, pullRequest, body);
    },
    updateComment: async (pullRequest, id, body) => {
      await gitlab.MergeRequestNotes.edit(project, pullRequest, id, { body });
    },
    deleteComment: async (pullRequest, id) =>
      gitlab.MergeRequestNotes.remove(project, pullRequest, id),
    newestCommit: async (pullRequest) =>
      (await gitlab.MergeRequests.show(project, pullRequest)).sha,
    setStatus: async ({ commit, project: own = project, runUrl }, status) => {
      const { context, state, description } = status;
      const sent = gitlab.Commits.editStatus(own, commit, STATES[state], {
        name: context,
        description: limited(description, MOST_DESCRIPTION),
        ...(runUrl !== undefined && { targetUrl: runUrl }),
      });
      // GitLab refuses a status that the commit has already.
      await (state === 'pending' ? unlessRefused(sent, 400) : sent);
    },
    annotate: async () => Promise.resolve(),
    approvals: async (pullRequest) => readApprovals(at, pullRequest),
    propose: async (proposal) => propose(at, proposal),
  };
}

async function notesOf({ gitlab, project }: Project, pullRequest: number) {
  const order = { perPage: PAGE, sort: 'asc', orderBy: 'created_at' } as const;
  return gitlab.MergeRequestNotes.all(project, pullRequest, order);
}

async function readApprovals(at: Project, pullRequest: number): Promise<CommentApprovals> {
  const { gitlab, project } = at;
  const notes = await notesOf(at, pullRequest);
  const ids = new Map(notes.map(({ author }) => [author.username, author.id]));
  const written = notes.map((note) => ({
    comment: `gitlab ${String(note.id)}`,
    body: note.body,
    author: note.author.username,
    createdAt: note.created_at,
    updatedAt: note.updated_at,
  }));
  return approvalsIn(written, async () => {
    // Each push makes a new version of the merge request.
    const versions = await gitlab.MergeRequests.allDiffVersions(project, pullRequest);
    const times = versions.map(({ created_at: createdAt }) => Date.parse(createdAt));
    const levels = await mergeLevels(at, pullRequest);
    return {
      pushedAt: times.length === 0 ? null : Math.max(...times),
      mayMerge: async (author) => reaches(at, levels, ids.get(author) ?? 0),
    };
  });
}

/** GitLab's default: developers may merge into a branch that is not protected. */
const DEVELOPER = 30;

/** Who may merge into the target branch, by any of the rules that protect it. */
async function mergeLevels(
  { gitlab, project }: Project,
  pullRequest: number,
): Promise<readonly MergeLevel[]> {
  const { target_branch: branch } = await gitlab.MergeRequests.show(project, pullRequest);
  const all = await gitlab.ProtectedBranches.all(project, { perPage: PAGE });
  const rules = all.filter(({ name }) => patternOf(name).test(branch));
  if (rules.length === 0) return [{ access_level: DEVELOPER }];
  return rules.flatMap(({ merge_access_levels: levels = [] }) => levels);
}

/** The branches of a rule: `*` stands for any text. */
function patternOf(rule: string): RegExp {
  const texts = rule.split('*').map((text) => text.replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${texts.join('.*')}$`);
}

interface MergeLevel {
  readonly access_level: number;
  readonly user_id?: number | null;
  readonly group_id?: number | null;
}

/**
 * Permissions that a rule gives to a group are ignored, so that its members count by their own level alone. The bot of a
 * token counts for nothing, because any pipeline that has the token may write as it.
 */
async function reaches(
  { gitlab, project }: Project,
  levels: readonly MergeLevel[],
  userId: number,
): Promise<boolean> {
  const { bot, state } = await gitlab.Users.show(userId);
  if (bot === true || state !== 'active') return false;
  if (levels.some(({ user_id: id }) => id === userId)) return true;
  const asked = gitlab.ProjectMembers.show(project, userId, { includeInherited: true });
  const own: number = (await unlessRefused(asked, 404))?.access_level ?? 0;
  return levels.some(({ access_level: level, user_id: user, group_id: group }) => {
    const isForRole = (user ?? group ?? null) === null;
    // Level 0 stands for no role at all.
    return isForRole && level > 0 && level <= own;
  });
}

async function propose(
  { gitlab, project }: Project,
  { branch, title, body, files }: Proposal,
): ReturnType<Forge['propose']> {
  const { default_branch: base } = await gitlab.Projects.show(project);
  if ((await unlessRefused(gitlab.Branches.show(project, branch), 404)) === null) {
    const actions = [...files].map(([filePath, content]) =>
      content === null
        ? { action: 'delete' as const, filePath }
        : { action: 'update' as const, filePath, content },
    );
    await gitlab.Commits.create(project, branch, title, actions, { startBranch: base });
  } else {
    const from = { projectId: project, sourceBranch: branch };
    if ((await gitlab.MergeRequests.all(from)).length > 0) return null;
  }
  const text = { description: body };
  const made = await gitlab.MergeRequests.create(project, branch, base, title, text);
  return { url: made.web_url };
}

function gitlabClient(options: ForgeOptions) {
  const { place, token } = options;
  return new Gitlab({
    host: place.apiUrl.replace(/\/api\/v4\/?$/, ''),
    token,
    requesterFn: createRequesterFn(async (_, given) => Promise.resolve(given), sending(options)),
  });
}

/** What the library's client says of a request. */
interface Given {
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string;
  readonly prefixUrl?: string;
  readonly searchParams?: string;
}

/**
 * In place of the library's own way to send: that repeats every request after 502, also a comment that is posted by
 * then, and follows redirects with the token.
 */
function sending(options: ForgeOptions) {
  const { place, wait, asking } = options;
  const open = fetchFor(place.apiUrl);
  return async (endpoint: string, given: Given = {}) => {
    const { prefixUrl = '', searchParams = '', method = 'GET', headers, body } = given;
    const url = new URL(endpoint, prefixUrl.replace(/\/?$/, '/'));
    url.search = searchParams;
    const send = async () => {
      const response = await open(url, {
        method,
        signal: endOf(options),
        ...(headers && { headers }),
        ...(body !== undefined && { body }),
      });
      const text = await response.text();
      const { ok, status } = response;
      const answered = Object.fromEntries(response.headers.entries());
      if (!ok) throw refused(status, answered, text);
      const answer: unknown = status === 204 ? {} : JSON.parse(text);
      return { status, headers: answered, body: answer as Record<string, unknown> };
    };
    // A status replaces the one before it.
    const repeatable = method !== 'POST' || endpoint.includes('/statuses/');
    return withRetry(send, errorOf, { wait, asking, repeatable });
  };
}

/** GitLab says why in a member of JSON; a proxy before it sends any text. */
function complaintIn(text: string): string {
  try {
    const { error, message } = JSON.parse(text) as { error?: unknown; message?: unknown };
    const why = error ?? message ?? '';
    return typeof why === 'string' ? why : JSON.stringify(why);
  } catch {
    return text;
  }
}

function refused(status: number, headers: Record<string, string>, text: string): ForgeError {
  const hint = status === 401 || status === 403 ? ' (the token needs the scope api)' : '';
  const waitMs = status === 429 ? (retryAfterMs(headers, Date.now()) ?? WAIT_AFTER_LIMIT_MS) : null;
  const why = status < 400 ? MOVED : complaintIn(text);
  return forgeError('GitLab', new Error(why), { status, hint, waitMs });
}

function errorOf(error: unknown): ForgeError {
  if (error instanceof ForgeError) return error;
  return forgeError('GitLab', error, { status: null, hint: '', waitMs: null });
}
