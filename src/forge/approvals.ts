/** Leave for the plan with this hash and no other, as somebody wrote it below a pull request. */
export interface PlanApproval {
  /** `sha256:` and lower-case hex. */
  readonly hash: string;
  /** Name of the account; untrusted text. */
  readonly by: string;
}

/** What was found among the comments of a pull request, oldest first. */
export interface CommentApprovals {
  readonly approvals: readonly PlanApproval[];
  /** Those of accounts that may not merge: they count for nothing. */
  readonly refused: readonly PlanApproval[];
}

/** A comment as its forge tells of it; both are untrusted text. */
export interface WrittenComment {
  readonly body: string;
  readonly author: string;
}

/** The first line of a comment. In quotes and within other text it is none. */
const COMMAND = /^\/flagkeel approve (sha256:[0-9a-f]{64})[ \t]*(?:\r?\n|$)/;

/**
 * The approvals among comments.
 *
 * @param mayMerge whether an account may merge the pull request; asked once for each account that approves something.
 */
export async function approvalsIn(
  comments: readonly WrittenComment[],
  mayMerge: (author: string) => Promise<boolean>,
): Promise<CommentApprovals> {
  const written = comments.flatMap(({ body, author }): PlanApproval[] => {
    const hash = COMMAND.exec(body)?.[1];
    return hash === undefined ? [] : [{ hash, by: author }];
  });
  const counting = new Map<string, boolean>();
  for (const { by } of written) {
    if (!counting.has(by)) counting.set(by, await mayMerge(by));
  }
  return {
    approvals: written.filter(({ by }) => counting.get(by) === true),
    refused: written.filter(({ by }) => counting.get(by) !== true),
  };
}
