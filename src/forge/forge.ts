import { createHash } from 'node:crypto';
import type { FlagkeelError } from '../errors.js';

/** The pull request that a review is about, as its forge shows it. Every method may be called again. */
export interface Forge {
  readonly name: string;
  /**
   * The oldest comment that our own account wrote and that has `marker` as its first line; null where there is none.
   * Anybody may write a marker, and text of theirs may stand further down in a comment of ours.
   *
   * @throws FlagkeelError `FORGE`; likewise below.
   */
  findComment(marker: string): Promise<ForgeComment | null>;
  postComment(body: string): Promise<void>;
  updateComment(id: number, body: string): Promise<void>;
  /** Of the commit under review; a status of the same context replaces the last one. */
  setStatus(status: CommitStatus): Promise<void>;
  /** Notes on lines of files. A forge that knows none does nothing. */
  annotate(annotations: readonly Annotation[], summary: string): Promise<void>;
}

export interface ForgeComment {
  readonly id: number;
  readonly body: string;
}

export interface CommitStatus {
  /** What the status is of: `flagkeel/production`. */
  readonly context: string;
  readonly state: 'pending' | 'success' | 'failure' | 'error';
  /** One sentence; cut to what the forge takes. */
  readonly description: string;
}

export interface Annotation {
  /** From the top of the repository. */
  readonly file: string;
  readonly line: number;
  readonly level: 'notice' | 'warning' | 'failure';
  readonly title: string;
  readonly message: string;
}

/** What may be said of a commit, whether there is a pull request or not. */
export type CommitForge = Pick<Forge, 'name' | 'setStatus'>;

/** A repository on a forge. */
export interface RepositoryTarget {
  readonly kind: 'github' | 'gitlab';
  /** Of its API, such as `https://api.github.com` or `https://gitlab.com/api/v4`. */
  readonly apiUrl: string;
  /** `owner/name`; for GitLab the path of a project, or its id. */
  readonly repository: string;
}

/** A pull request there. */
export interface PullRequestTarget extends RepositoryTarget {
  readonly pullRequest: number;
}

/** Where the forge is, and a commit there. */
export interface CommitTarget extends RepositoryTarget {
  /** The commit that gets the statuses. */
  readonly commit: string;
  /** Where a reader finds the run; absent: nowhere. */
  readonly runUrl?: string | undefined;
}

/** Where the forge is and what is reviewed there. */
export type ForgeTarget = CommitTarget & PullRequestTarget;

export interface ForgeOptions<P extends RepositoryTarget = ForgeTarget> {
  readonly place: P;
  readonly token: string;
  readonly version: string;
  /** Milliseconds until a silent forge is given up. */
  readonly timeoutMs: number;
  readonly wait: (waitMs: number) => Promise<void>;
  readonly now: () => number;
  /** Aborted: nothing more is waited for. A library that takes no signal ends by its timeout. */
  readonly signal?: AbortSignal | undefined;
}

/** An answer of a forge that is no success, or none; `status` null: there was no answer. */
export interface ForgeRefusal {
  readonly error: FlagkeelError;
  readonly status: number | null;
  /** How long the forge asks to wait; null: it does not. */
  readonly waitMs: number | null;
}

export interface ReviewComment {
  /** The config directory. Each directory that is reviewed on a pull request has a comment of its own. */
  readonly scope: string;
  /** Markdown. */
  readonly body: string;
}

/** Posts the one comment of a review, or edits it. A comment that has this body already is left alone. */
export async function syncComment(
  forge: Forge,
  comment: ReviewComment,
): Promise<'posted' | 'edited' | 'unchanged'> {
  const marker = `<!-- flagkeel:plan ${digest(comment.scope)} -->`;
  const body = `${marker}\n\n${comment.body}`;
  const found = await forge.findComment(marker);
  if (!found) {
    await forge.postComment(body);
    return 'posted';
  }
  if (asForgesKeepIt(found.body) === asForgesKeepIt(body)) return 'unchanged';
  await forge.updateComment(found.id, body);
  return 'edited';
}

/** Whether a body has this marker as its first line. */
export function isMarked(body: string, marker: string): boolean {
  return asForgesKeepIt(body).split('\n', 1)[0] === marker;
}

/** Forges may write line ends in their own way and drop white space around a text. */
function asForgesKeepIt(body: string): string {
  return body.replaceAll('\r\n', '\n').trim();
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}

/** At most `most` UTF-16 code units, `…` in place of what was cut; no forge counts more. */
export function limited(text: string, most: number): string {
  if (text.length <= most) return text;
  // Not between the halves of a surrogate pair.
  return `${text.slice(0, most - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}
