/** Leave for the plan with this hash and no other, as an account wrote it below a pull request. */
export interface PlanApproval {
  /** `sha256:` and lower-case hex. */
  readonly hash: string;
  /** Name of the account; untrusted text. */
  readonly by: string;
  /** Name of the comment, which no other comment of the forge has: `github 1234`. */
  readonly comment: string;
}

/** Why an approval counts for nothing. */
export type RefusedBecause = 'edited' | 'before the last push' | 'may not merge';

export interface RefusedApproval extends PlanApproval {
  readonly why: RefusedBecause;
}

/** The approvals among the comments of a pull request, oldest first. */
export interface CommentApprovals {
  readonly approvals: readonly PlanApproval[];
  readonly refused: readonly RefusedApproval[];
}

/** A comment as its forge has it. Body and author are untrusted text, the times are the forge's own, in ISO 8601. */
export interface WrittenComment {
  /** See `PlanApproval`. */
  readonly comment: string;
  readonly body: string;
  readonly author: string;
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** The forge's answers about a pull request; it is asked only where a comment approves something. */
export interface PullRequestFacts {
  /** When it was pushed to last, in ms since the epoch; null: the forge does not say, and nothing counts. */
  readonly pushedAt: () => Promise<number | null>;
  /** Whether an account may merge it; called once for each account. */
  readonly mayMerge: (author: string) => Promise<boolean>;
}

/** The first line of a comment. In quotes and within other text it is none. */
const COMMAND = /^\/flagkeel approve (sha256:[0-9a-f]{64})[ \t]*(?:\r?\n|$)/;

/** The approvals among comments. One counts as it was written at first, and for what had been pushed by then. */
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
