import type { Checkout } from './checkout.js';

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
  const answer = await repository.git.run(
    [
      'log',
      '--max-count=1',
      '--no-show-signature',
      '--format=tformat:%H%n%cI%n%s',
      '--end-of-options',
      commit,
    ],
    `read commit ${commit}`,
  );
  const [hash = commit, committedAt = '', subject = ''] = answer.split('\n');
  return { commit: hash, committedAt, subject: subject.slice(0, MAX_SUBJECT) };
}
