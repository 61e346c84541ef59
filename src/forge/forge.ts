import { FlagkeelError, messageOf } from '../errors.js';
import { sha256 } from '../model/json.js';
import { fetchFault } from '../platform/http-client.js';
import type { Approval } from '../model/run.js';

/** A repository on a forge. Every method throws `FORGE`, and may be called again. */
export interface Forge {
  readonly name: string;
  /**
   * The comments of our own account with `marker` as their first line; a later one has a higher id. Comments of others do
   * not count, since anyone can write a marker; nor do markers below the first line, because our comments quote text of
   * others.
   */
  findComments(pullRequest: number, marker: string): Promise<{ id: number; body: string }[]>;
  postComment(pullRequest: number, body: string): Promise<void>;
  updateComment(pullRequest: number, id: number, body: string): Promise<void>;
  deleteComment(pullRequest: number, id: number): Promise<void>;
  /** Of the branch of a pull request. */
  newestCommit(pullRequest: number): Promise<string>;
  /** Sets a status of a commit. It replaces the last one of the same context. */
  setStatus(at: StatusPlace, status: CommitStatus): Promise<void>;
  /** Adds notes to lines of files. Does nothing if the forge has no such notes. */
  annotate(commit: string, annotations: readonly Annotation[], summary: string): Promise<void>;
  /** The approvals in the comments of a pull request, valid and refused. */
  approvals(pullRequest: number): Promise<CommentApprovals>;
  /**
   * Opens a pull request; null if its branch had one before, open or closed: a branch that stays stands for a person who
   * said no. A branch without one is what an interrupted run left.
   */
  propose(proposal: Proposal): Promise<{ readonly url: string } | null>;
}

export interface StatusPlace {
  readonly commit: string;
  /** On GitLab the project that has the commit; absent: that of the forge. A fork's commit is the fork's. */
  readonly project?: string | undefined;
  /** The address of the run for readers, if there is one. */
  readonly runUrl?: string | undefined;
}

export interface CommitStatus {
  /** The name of the status: `flagkeel/production`. */
  readonly context: string;
  readonly state: 'pending' | 'success' | 'failure' | 'error';
  /** One sentence, cut to the length that the forge takes. */
  readonly description: string;
}

export interface Annotation {
  /** Relative to the root of the repository. */
  readonly file: string;
  readonly line: number;
  readonly level: 'notice' | 'warning' | 'failure';
  readonly title: string;
  readonly message: string;
}

/** A pull request to open: a new branch from the default one, with one commit. */
export interface Proposal {
  readonly branch: string;
  readonly title: string;
  /** Markdown. */
  readonly body: string;
  /** New texts by path from the root of the repository; null removes the file. */
  readonly files: ReadonlyMap<string, string | null>;
}

export interface RepositoryTarget {
  readonly kind: 'github' | 'gitlab';
  /** The address of the API, such as `https://api.github.com` or `https://gitlab.com/api/v4`. */
  readonly apiUrl: string;
  /** `owner/name`; for GitLab the path of a project, or its id. */
  readonly repository: string;
}

export interface ForgeOptions {
  readonly place: RepositoryTarget;
  readonly token: string;
  readonly timeoutMs: number;
  readonly wait: (waitMs: number) => Promise<void>;
  /** Called before each request. */
  readonly asking?: (() => void) | undefined;
  readonly now: () => number;
  /** If aborted, a request under way ends. */
  readonly signal?: AbortSignal | undefined;
}

/** Ends a request that takes too long, or is not wanted any more. */
export function endOf({ timeoutMs, signal }: ForgeOptions): AbortSignal {
  return AbortSignal.any([AbortSignal.timeout(timeoutMs), ...(signal ? [signal] : [])]);
}

interface Refusal {
  /** Null if no answer came. */
  readonly status: number | null;
  /** Null if the forge does not ask to wait. */
  readonly waitMs: number | null;
}

export class ForgeError extends FlagkeelError implements Refusal {
  readonly status: number | null;
  readonly waitMs: number | null;

  constructor(message: string, { status, waitMs }: Refusal, cause: unknown) {
    super('FORGE', message, { cause });
    this.status = status;
    this.waitMs = waitMs;
  }
}

/** Null if the forge refuses with one of these statuses. */
export async function unlessRefused<T>(
  answer: Promise<T>,
  ...statuses: readonly number[]
): Promise<T | null> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof ForgeError && statuses.includes(error.status ?? 0)) return null;
    throw error;
  }
}

/** Why a redirect is a refusal: a forge sends requests for a repository with an old name on to the new one. */
export const MOVED = 'sent on, and no request follows';
const NEW_NAME =
  ' (if the repository was renamed, set its new name: --repository, and --statuses of watch)';

/** What the library of a forge threw. @param hint what helps, unless the forge asks to wait. */
export function forgeError(
  name: string,
  error: unknown,
  { hint, ...refusal }: Refusal & { readonly hint: string },
): ForgeError {
  const { status, waitMs } = refusal;
  const what =
    status === null ? `no answer, ${fetchFault(error)}` : `status ${status}, ${messageOf(error)}`;
  const minutes = String(Math.max(1, Math.ceil((waitMs ?? 0) / 60_000)));
  const isMoved = status !== null && status >= 300 && status < 400;
  const remedy = isMoved ? NEW_NAME : hint;
  const help = waitMs === null ? remedy : ` (too many requests: run again in ${minutes} min)`;
  return new ForgeError(`cannot tell ${name}: ${what}${help}`, refusal, error);
}

/** Of a review. @param scope the config directory; each has a comment of its own on a pull request. */
interface ReviewComment {
  readonly scope: string;
  readonly body: string;
  readonly commit: string;
  /** Whether that commit comes after another one. Set if it is not the newest: then it replaces only an older comment. */
  readonly follows?: (commit: string) => Promise<boolean>;
}

/**
 * Posts the one comment of a review, or edits it if it says something else, but for the time. Another review may post at
 * the same time, so that the oldest comment stays and later ones go.
 */
export async function syncComment(
  forge: Forge,
  pullRequest: number,
  { scope, body: markdown, commit, follows }: ReviewComment,
): Promise<'posted' | 'edited' | 'unchanged' | 'left alone, because there is a newer commit'> {
  const marker = `<!-- flagkeel:plan ${sha256(scope).slice(0, 16)} -->`;
  const body = `${marker}\n<!-- of ${commit} -->\n\n${markdown}`;
  const found = await forge.findComments(pullRequest, marker);
  if (found.length === 0) await forge.postComment(pullRequest, body);
  const all = found.length === 0 ? await forge.findComments(pullRequest, marker) : found;
  const [oldest, ...later] = [...all].sort((a, b) => a.id - b.id);
  const [, shown] = /^<!-- of ([0-9a-f]{40,64}) -->$/m.exec(oldest?.body ?? '') ?? [];
  const mayEdit = follows === undefined || (shown !== undefined && (await follows(shown)));
  if (found.length > 0 && !mayEdit) return 'left alone, because there is a newer commit';
  for (const { id } of later) await unlessRefused(forge.deleteComment(pullRequest, id), 404);
  const isNews = oldest !== undefined && withoutTime(oldest.body) !== withoutTime(body);
  if (isNews && mayEdit) await forge.updateComment(pullRequest, oldest.id, body);
  if (found.length === 0) return 'posted';
  return isNews ? 'edited' : 'unchanged';
}

/**
 * A body without the time in its last line, because that alone is no news. Text of others has no last line. Behind it a
 * comment that was cut has one more, which says so.
 */
function withoutTime(body: string): string {
  return asForgesKeepIt(body).replace(
    / · made [-\d]+ [:\d]+ UTC(?=[^\n]*(?:\n\n> ✂ [^\n]*)?$)/,
    '',
  );
}

export function isMarked(body: string, marker: string): boolean {
  return asForgesKeepIt(body).split('\n', 1)[0] === marker;
}

/** Forges may change line ends and drop white space around a text. */
function asForgesKeepIt(body: string): string {
  return body.replaceAll('\r\n', '\n').trim();
}

const MOST_TRIES = 4;
/** The longest wait that a forge may ask for; jobs cost money while they sleep. */
const LONGEST_WAIT_MS = 60_000;
const FIRST_WAIT_MS = 1_000;
/** GitLab sets one status of a commit at a time, and refuses others meanwhile. */
const BUSY = 409;

/**
 * Sends a request again if the forge asks to wait and, for a repeatable request, if it is busy, or after a fault of it or
 * of the network. @throws FlagkeelError `FORGE`, with the error of the last try.
 */
export async function withRetry<T>(
  send: () => Promise<T>,
  errorOf: (error: unknown) => ForgeError,
  { wait, asking, repeatable }: Pick<ForgeOptions, 'wait' | 'asking'> & { repeatable: boolean },
): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      asking?.();
      return await send();
    } catch (error) {
      const refused = errorOf(error);
      const { status } = refused;
      const isFault = status === null || status === BUSY || status >= 500;
      const backoffMs = isFault && repeatable ? FIRST_WAIT_MS * 2 ** (tries - 1) : null;
      const waitMs = refused.waitMs ?? backoffMs;
      if (waitMs === null || waitMs > LONGEST_WAIT_MS || tries === MOST_TRIES) throw refused;
      await wait(waitMs);
    }
  }
}

export type ReviewStatus = Pick<CommitStatus, 'state' | 'description'>;

/** Written as a comment on a pull request, by an account of the forge. */
interface PlanApproval extends Approval {
  readonly by: string;
  readonly comment: string;
}

export interface RefusedApproval extends PlanApproval {
  readonly why: 'edited' | 'before the last push' | 'may not merge';
}

/** Oldest first. */
export interface CommentApprovals {
  readonly approvals: readonly PlanApproval[];
  readonly refused: readonly RefusedApproval[];
}

/** A comment from the forge. Body and author are untrusted text; the times are the forge's own, in ISO 8601. */
interface WrittenComment {
  /** The comment's name, unique among all forges: `github 1234`. */
  readonly comment: string;
  readonly body: string;
  readonly author: string;
  readonly createdAt: string;
  readonly updatedAt: string;
}

interface PullRequestFacts {
  /** Time of the last push, in ms since the epoch; null if the forge does not say, and then no approval counts. */
  readonly pushedAt: number | null;
  /** Whether an account may merge it; called once for each account. */
  readonly mayMerge: (author: string) => Promise<boolean>;
}

/** The first line of a comment. A command in a quotation or within other text does not count. */
const COMMAND = /^\/flagkeel approve (sha256:[0-9a-f]{64})[ \t]*(?:\r?\n|$)/;

/**
 * An edited comment does not count, nor does one from before the last push. @param ask called only if a comment approves
 * something.
 */
export async function approvalsIn(
  comments: readonly WrittenComment[],
  ask: () => Promise<PullRequestFacts>,
): Promise<CommentApprovals> {
  const written = comments.flatMap((each) => {
    const hash = COMMAND.exec(each.body)?.[1];
    return hash === undefined ? [] : [{ ...each, hash }];
  });
  if (written.length === 0) return { approvals: [], refused: [] };
  const { pushedAt, mayMerge } = await ask();
  const mergers = new Map<string, boolean>();
  const approvals: PlanApproval[] = [];
  const refused: RefusedApproval[] = [];
  for (const { hash, author: by, comment, createdAt, updatedAt } of written) {
    const approval = { hash, by, comment };
    if (createdAt !== updatedAt) refused.push({ ...approval, why: 'edited' });
    else if (!(Date.parse(createdAt) > (pushedAt ?? Infinity))) {
      refused.push({ ...approval, why: 'before the last push' });
    } else {
      if (!mergers.has(by)) mergers.set(by, await mayMerge(by));
      if (mergers.get(by) === true) approvals.push(approval);
      else refused.push({ ...approval, why: 'may not merge' });
    }
  }
  return { approvals, refused };
}
