import { FlagkeelError } from '../errors.js';
import type { CommitStatus } from '../forge/forge.js';
import { verdictIn, countsOf, type Verdict } from '../model/verdict.js';
import { configuredEnvironments, type PlanReport } from '../report/plan-report.js';
import { appliedStatus } from '../report/view/verdict.js';
import { statusContext } from './plan.js';
import { appliedForge, type Asking, type ForgeFlags } from './pull-request.js';

const NAME = 'flagkeel-apply';

type AppliedReport = Pick<PlanReport, 'verdict' | 'environments' | 'protectedEnvironments'>;

export interface AppliedCommit {
  /** Full hash; null without a commit. */
  readonly commit: string | null;
  readonly prefix: string;
}

/**
 * Sets one status for the whole and one for each environment on the applied commit. Their name differs from a review's,
 * because after a fast-forward both stand on the same commit. @param report undefined if the run broke off. @throws
 * FlagkeelError `USAGE`, `FORGE`
 */
export async function setApplyStatuses(
  report: AppliedReport | undefined,
  { commit, prefix }: AppliedCommit,
  flags: ForgeFlags,
  asking: Asking,
): Promise<void> {
  if (commit === null) {
    throw new FlagkeelError('USAGE', 'cannot set statuses: what was applied is no commit');
  }
  const { forge, runUrl } = await appliedForge(flags, asking);
  for (const status of applyStatuses(report, prefix)) {
    await forge.setStatus({ commit, runUrl }, status);
  }
}

function applyStatuses(report: AppliedReport | undefined, prefix: string): CommitStatus[] {
  const context = statusContext(null, prefix, NAME);
  if (!report) {
    return [{ context, state: 'error', description: 'the apply broke off; its log says why' }];
  }
  const { verdict } = report;
  return [
    { context, ...statusOf(verdict) },
    ...configuredEnvironments(report).map((name) => ({
      context: statusContext(name, prefix, NAME),
      ...statusOf(verdictIn(verdict, name)),
    })),
  ];
}

function statusOf(verdict: Verdict): Pick<CommitStatus, 'state' | 'description'> {
  const { whole, objects } = verdict;
  return appliedStatus({ whole, counts: countsOf(verdict) }, objects.values());
}
