import { Gitlab } from '@gitbeaker/rest';
import { FlaghoistError, messageOf } from '../errors.js';
import {
  type CommitForge,
  type CommitTarget,
  type Forge,
  type ForgeOptions,
  type ForgeRefusal,
  limited,
} from './forge.js';
import { withRetry } from './retry.js';

const PAGE = 100;
/** What GitLab takes, by its documentation. */
const MOST_DESCRIPTION = 255;
/** The library tries a few times within a second by itself. */
const WAIT_AFTER_LIMIT_MS = 15_000;

const STATES = {
  pending: 'running',
  success: 'success',
  failure: 'failed',
  error: 'failed',
} as const;

/** A merge request on GitLab. Notes on lines come from reports there, so `annotate` does nothing. */
export function openGitlab(options: ForgeOptions): Forge {
  const { wait } = options;
  const gitlab = client(options);
  const { repository: project, pullRequest } = options.place;
  const ask = async <T>(send: () => Promise<T>, repeatable = true): Promise<T> =>
    withRetry(send, refusalOf, { wait, repeatable });
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
        ({ body, author }) => body.includes(marker) && author.id === self.id,
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

/** A commit there, without a merge request. */
export function openGitlabCommit(options: ForgeOptions<CommitTarget>): CommitForge {
  return commitForge(client(options), options);
}

function client({ place, token, timeoutMs }: ForgeOptions<CommitTarget>) {
  return new Gitlab({
    host: place.apiUrl.replace(/\/api\/v4\/?$/, ''),
    token,
    queryTimeout: timeoutMs,
  });
}

type Client = ReturnType<typeof client>;

function commitForge(gitlab: Client, { place, wait }: ForgeOptions<CommitTarget>): CommitForge {
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
        await withRetry(send, refusalOf, { wait, repeatable: true });
      } catch (error) {
        // GitLab refuses a status that the commit has already.
        if (state !== 'pending' || !(error instanceof GitlabError) || error.status !== 400)
          throw error;
      }
    },
  };
}

class GitlabError extends FlaghoistError {
  readonly status: number | null;

  constructor(message: string, status: number | null, cause: unknown) {
    super('FORGE', message, { cause });
    this.status = status;
  }
}

/** The library gives up on 429 and 502 with an error of its own, which has no answer in it. */
const RETRY_ERROR = 'GitbeakerRetryError';

function refusalOf(error: unknown): ForgeRefusal {
  const cause =
    error instanceof Error ? (error.cause as { response?: Response } | undefined) : undefined;
  const status = cause?.response?.status ?? null;
  const isLimited = error instanceof Error && error.name === RETRY_ERROR;
  const what = status === null ? 'no answer' : `status ${String(status)}`;
  const hint = status === 401 || status === 403 ? ' (the token needs the scope api)' : '';
  const message = `cannot tell GitLab: ${what}, ${messageOf(error)}${hint}`;
  return {
    error: new GitlabError(message, status, error),
    status,
    waitMs: isLimited ? WAIT_AFTER_LIMIT_MS : null,
  };
}
