import { open } from 'node:fs/promises';
import { FlaghoistError, messageOf } from '../errors.js';
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
 * @throws FlaghoistError `USAGE`
 */
export async function readReviewed(
  { plan, planHash }: ReviewedOptions,
  directories: readonly string[],
): Promise<readonly ReviewedPlan[] | undefined> {
  if (planHash !== undefined) return directories.map(() => reviewedHash(planHash));
  if (plan === undefined) return undefined;
  const plans = parseReviewedPlans(await readBounded(plan), plan);
  if (plans.length === directories.length) return plans;
  throw new FlaghoistError(
    'USAGE',
    `cannot use "${plan}": it holds ${plans.length} plans, for ${directories.length} directories`,
  );
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
    throw new FlaghoistError('USAGE', `cannot read plan "${path}": ${messageOf(error)}`, {
      cause: error,
    });
  }
}
