import type { Approval } from '../model/run.js';

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

/** The forge is asked only if a comment approves something. */
interface PullRequestFacts {
  /** Time of the last push, in ms since the epoch; null if the forge does not say, and then no approval counts. */
  readonly pushedAt: () => Promise<number | null>;
  /** Whether an account may merge it; called once for each account. */
  readonly mayMerge: (author: string) => Promise<boolean>;
}

/** The first line of a comment. A command in a quotation or within other text does not count. */
const COMMAND = /^\/flagkeel approve (sha256:[0-9a-f]{64})[ \t]*(?:\r?\n|$)/;

/** An edited comment does not count, nor does one from before the last push. */
export async function approvalsIn(
  comments: readonly WrittenComment[],
  { pushedAt, mayMerge }: PullRequestFacts,
): Promise<CommentApprovals> {
  const written = comments.flatMap((each) => {
    const hash = COMMAND.exec(each.body)?.[1];
    return hash === undefined ? [] : [{ ...each, hash }];
  });
  if (written.length === 0) return { approvals: [], refused: [] };
  const pushed = (await pushedAt()) ?? Infinity;
  const mergers = new Map<string, boolean>();
  const approvals: PlanApproval[] = [];
  const refused: RefusedApproval[] = [];
  for (const { hash, author: by, comment, createdAt, updatedAt } of written) {
    const approval = { hash, by, comment };
    if (createdAt !== updatedAt) refused.push({ ...approval, why: 'edited' });
    else if (!(Date.parse(createdAt) > pushed)) {
      refused.push({ ...approval, why: 'before the last push' });
    } else {
      if (!mergers.has(by)) mergers.set(by, await mayMerge(by));
      if (mergers.get(by) === true) approvals.push(approval);
      else refused.push({ ...approval, why: 'may not merge' });
    }
  }
  return { approvals, refused };
}
