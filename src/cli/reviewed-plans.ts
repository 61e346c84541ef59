import { open } from 'node:fs/promises';
import { FlagkeelError, messageOf } from '../errors.js';
import type { RefusedApproval } from '../forge/approvals.js';
import type { Approval } from '../model/run.js';
import { clean } from '../report/sanitize.js';
import { commentApprovals, type ForgeFlags } from '../review/pull-request.js';
import {
  type ReviewedPlan,
  parseReviewedPlans,
  reviewedHash,
} from '../report/json/reviewed-plan.js';

/** What a run may apply: at most one of the two. */
export interface ReviewedOptions {
  /** File with the JSON of a dry run. */
  readonly plan?: string;
  /** Hash of a plan. */
  readonly planHash?: string;
}

/** A plan of a hundred thousand changes is smaller. */
const MAX_BYTES = 64 * 1024 * 1024;

/**
 * The reviewed plan of each directory, in the order of the command line; undefined: nothing was reviewed.
 *
 * @throws FlagkeelError `USAGE`
 */
export async function readReviewed(
  { plan, planHash }: ReviewedOptions,
  directories: readonly string[],
): Promise<readonly ReviewedPlan[] | undefined> {
  if (planHash !== undefined) return directories.map(() => reviewedHash(planHash));
  if (plan === undefined) return undefined;
  const plans = await parseReviewedPlans(await readBounded(plan), plan);
  if (plans.length === directories.length) return plans;
  throw new FlagkeelError(
    'USAGE',
    `cannot use "${plan}": it holds ${plans.length} plans, for ${directories.length} directories`,
  );
}

/**
 * What comments of the pull request approve, where they are asked.
 *
 * @param note is told of those that count for nothing: somebody wonders why they do not help.
 * @throws FlagkeelError as `commentApprovals`.
 */
export async function readCommentApprovals(
  options: ForgeFlags & { readonly approveComment?: boolean },
  environment: Readonly<Record<string, string | undefined>>,
  note: (text: string) => void,
): Promise<readonly Approval[]> {
  if (options.approveComment !== true) return [];
  const { approvals, refused } = await commentApprovals(options, environment);
  for (const each of refused) note(`warning: ${refusalText(each)}`);
  return approvals;
}

function refusalText({ hash, by, why }: RefusedApproval): string {
  const account = clean(by);
  if (why === 'may not merge') return `${account} may not merge, and so not approve ${hash}`;
  const fault = why === 'edited' ? 'it was edited' : 'it is older than the last push';
  return `the approval of ${hash} by ${account} does not count: ${fault} (write a new comment)`;
}

/** Reads a file or a pipe as UTF-8, and stops where it is longer than any plan. */
async function readBounded(path: string): Promise<string> {
  try {
    const file = await open(path);
    try {
      const { size } = await file.stat();
      if (size > MAX_BYTES) throw new Error(`it has more than ${MAX_BYTES} bytes`);
      // A pipe has no size that could be asked for.
      const chunks: Buffer[] = [];
      let total = 0;
      for await (const chunk of file.createReadStream({ autoClose: false, end: MAX_BYTES })) {
        const bytes = chunk as Buffer;
        total += bytes.length;
        chunks.push(bytes);
      }
      if (total > MAX_BYTES) throw new Error(`it has more than ${MAX_BYTES} bytes`);
      return Buffer.concat(chunks).toString('utf8');
    } finally {
      await file.close();
    }
  } catch (error) {
    throw new FlagkeelError('USAGE', `cannot read plan "${path}": ${messageOf(error)}`, {
      cause: error,
    });
  }
}
