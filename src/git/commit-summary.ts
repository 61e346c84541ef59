import type { Checkout } from './checkout.js';
import type { Git } from './git.js';

export interface CommitSummary {
  /** Full hash. */
  readonly commit: string;
  /** Untrusted text. */
  readonly subject: string;
  /** ISO 8601. */
  readonly committedAt: string;
}

const MAX_SUBJECT = 200;

/** @throws FlaghoistError `GIT` there is no such commit here. */
export async function commitIn({ repository }: Checkout, commit: string): Promise<CommitSummary> {
  if (repository === null) throw new Error(`bug: commit ${commit} asked of files without git`);
  return summaryOf(repository.git, commit);
}

/**
 * @param revision hash, or full name of a ref.
 * @throws FlaghoistError `GIT` there is no such commit here.
 */
export async function summaryOf(git: Git, revision: string): Promise<CommitSummary> {
  const answer = await git.run(
    [
      'log',
      '--max-count=1',
      '--no-show-signature',
      '--format=tformat:%H%n%cI%n%s',
      '--end-of-options',
      revision,
      '--',
    ],
    `read commit ${revision}`,
  );
  const [commit = revision, committedAt = '', subject = ''] = answer.split('\n');
  return { commit, committedAt, subject: subject.slice(0, MAX_SUBJECT) };
}
