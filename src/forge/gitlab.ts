import type { Agent } from 'node:http';
import { Gitlab } from '@gitbeaker/rest';
import { messageOf } from '../errors.js';
import { dispatcherFor, fetchFault } from '../platform/http-client.js';
import {
  type Proposal,
  type Proposed,
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
/** GitLab's limits, from its documentation. */
const MOST_DESCRIPTION = 255;
/** The library itself only retries within a second, so this waits longer. */
const WAIT_AFTER_LIMIT_MS = 15_000;

const STATES = {
  pending: 'running',
  success: 'success',
  failure: 'failed',
  error: 'failed',
} as const;

/** A merge request on GitLab. GitLab takes notes on lines from reports, so `annotate` does nothing. */
export function openForge(options: ForgeOptions): Forge {
  const gitlab = gitlabClient(options);
  const { repository: project, pullRequest } = options.place;
  const ask = askWith(options);
  return {
    ...commitForge(gitlab, options),
    findComment: async (marker) => {
      const self = await ask(async () => gitlab.Users.showCurrentUser());
      const notes = await ask(async () =>
        gitlab.MergeRequestNotes.all(project, pullRequest, {
          perPage: PAGE,
          sort: 'asc',
          orderBy: 'created_at',
        }),
      );
      const found = notes.find(
        ({ body, author }) => author.id === self.id && isMarked(body, marker),
      );
      return found ? { id: found.id, body: found.body } : null;
    },
    postComment: async (body) => {
      await ask(async () => gitlab.MergeRequestNotes.create(project, pullRequest, body), false);
    },
    updateComment: async (id, body) => {
      await ask(async () => gitlab.MergeRequestNotes.edit(project, pullRequest, id, { body }));
    },
    annotate: async () => Promise.resolve(),
  };
}

export async function readApprovals(
  options: ForgeOptions<PullRequestTarget>,
): Promise<CommentApprovals> {
  const { place } = options;
  const { repository: project, pullRequest } = place;
  const gitlab = gitlabClient(options);
  const ask = askWith(options);
  const notes = await ask(async () =>
    gitlab.MergeRequestNotes.all(project, pullRequest, { perPage: PAGE, sort: 'asc' }),
  );
  const ids = new Map(notes.map(({ author }) => [author.username, author.id]));
  const written = notes.map((note) => ({
    comment: `gitlab ${String(note.id)}`,
    body: note.body,
    author: note.author.username,
    createdAt: note.created_at,
    updatedAt: note.updated_at,
  }));
  let mergers: Promise<MayMerge> | undefined;
  return approvalsIn(written, {
    // Each push makes a new version of the merge request.
    pushedAt: async () => {
      const versions = await ask(async () =>
        gitlab.MergeRequests.allDiffVersions(project, pullRequest),
      );
      const times = versions.map(({ created_at: createdAt }) => Date.parse(createdAt));
      return times.length === 0 ? null : Math.max(...times);
    },
    mayMerge: async (author) => {
      mergers ??= mergersOf(gitlab, ask, place);
      return (await mergers)(ids.get(author) ?? 0);
    },
  });
}

/** Sends a request, and again where that is no harm. A request is repeatable if nothing else is said. */
type Ask = <T>(send: () => Promise<T>, repeatable?: boolean) => Promise<T>;

function askWith({ wait, asking }: ForgeOptions<RepositoryTarget>): Ask {
  return async (send, repeatable = true) =>
    withRetry(send, gitlabRefusal, { wait, asking, repeatable });
}

type MayMerge = (userId: number) => Promise<boolean>;

/** GitLab's default: developers may merge into a branch that is not protected. */
const DEVELOPER = 30;

/**
 * The accounts that may merge into the target branch. Permissions that a protected branch gives to a group are ignored,
 * so that its members count by their own level alone.
 */
async function mergersOf(gitlab: Client, ask: Ask, place: PullRequestTarget): Promise<MayMerge> {
  const { repository: project, pullRequest } = place;
  const request = await ask(async () => gitlab.MergeRequests.show(project, pullRequest));
  const branch = request.target_branch;
  const rule = await absentIsNull(ask(async () => gitlab.ProtectedBranches.show(project, branch)));
  const levels: readonly MergeLevel[] = rule?.merge_access_levels ?? [{ access_level: DEVELOPER }];
  return async (userId) => {
    if (levels.some(({ user_id: id }) => id === userId)) return true;
    const show = async () =>
      gitlab.ProjectMembers.show(project, userId, { includeInherited: true });
    const level: number = (await absentIsNull(ask(show)))?.access_level ?? 0;
    return levels.some((each) => isForRole(each) && each.access_level <= level);
  };
}

interface MergeLevel {
  readonly access_level: number;
  readonly user_id?: number | null;
  readonly group_id?: number | null;
}

/** Whether a rule is for a role, not for a user or a group. Level 0 stands for no role at all. */
function isForRole({ access_level: level, user_id: user, group_id: group }: MergeLevel): boolean {
  return level > 0 && (user ?? null) === null && (group ?? null) === null;
}

async function absentIsNull<T>(answer: Promise<T>): Promise<T | null> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof ForgeError && error.status === 404) return null;
    throw error;
  }
}

export async function propose(
  options: ForgeOptions<RepositoryTarget>,
  { branch, title, body, files }: Proposal,
): Promise<Proposed> {
  const gitlab = gitlabClient(options);
  const { repository: project } = options.place;
  const ask = askWith(options);
  if (await absentIsNull(ask(async () => gitlab.Branches.show(project, branch)))) return null;
  const base = (await ask(async () => gitlab.Projects.show(project))).default_branch;
  const actions = [...files].map(([filePath, content]) =>
    content === null
      ? { action: 'delete' as const, filePath }
      : { action: 'update' as const, filePath, content },
  );
  const from = { startBranch: base };
  await ask(async () => gitlab.Commits.create(project, branch, title, actions, from), false);
  const text = { description: body };
  const request = await ask(
    async () => gitlab.MergeRequests.create(project, branch, base, title, text),
    false,
  );
  return { url: request.web_url };
}

export function openCommit(options: ForgeOptions<CommitTarget>): CommitForge {
  return commitForge(gitlabClient(options), options);
}

function gitlabClient({ place, token, timeoutMs }: ForgeOptions<RepositoryTarget>) {
  const dispatcher = dispatcherFor(place.apiUrl);
  return new Gitlab({
    host: place.apiUrl.replace(/\/api\/v4\/?$/, ''),
    token,
    queryTimeout: timeoutMs,
    // The library's types say that this is an agent of Node; it hands it to `fetch` as the dispatcher.
    ...(dispatcher && { agent: dispatcher as unknown as Agent }),
  });
}

type Client = ReturnType<typeof gitlabClient>;

function commitForge(gitlab: Client, options: ForgeOptions<CommitTarget>): CommitForge {
  const { place } = options;
  const ask = askWith(options);
  return {
    name: 'GitLab',
    setStatus: async ({ context, state, description }) => {
      const send = async () =>
        gitlab.Commits.editStatus(place.repository, place.commit, STATES[state], {
          name: context,
          description: limited(description, MOST_DESCRIPTION),
          ...(place.runUrl !== undefined && { targetUrl: place.runUrl }),
        });
      try {
        await ask(send);
      } catch (error) {
        // GitLab refuses a status that the commit has already.
        if (state !== 'pending' || !(error instanceof ForgeError) || error.status !== 400) {
          throw error;
        }
      }
    },
  };
}

/** If retries on 429 and 502 fail, the library throws this error, which contains no answer. */
const RETRY_ERROR = 'GitbeakerRetryError';

function gitlabRefusal(error: unknown): ForgeRefusal {
  const cause =
    error instanceof Error ? (error.cause as { response?: Response } | undefined) : undefined;
  const status = cause?.response?.status ?? null;
  const isLimited = error instanceof Error && error.name === RETRY_ERROR;
  const what = status === null ? 'no answer' : `status ${String(status)}`;
  const hint = status === 401 || status === 403 ? ' (the token needs the scope api)' : '';
  const message = `cannot tell GitLab: ${what}, ${status === null ? fetchFault(error) : messageOf(error)}${hint}`;
  return {
    error: new ForgeError(message, status, error),
    waitMs: isLimited ? WAIT_AFTER_LIMIT_MS : null,
  };
}
