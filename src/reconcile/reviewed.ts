import { FlagkeelError } from '../errors.js';
import { differencesFrom, isPartOf, type ReviewedPlan } from '../report/json/reviewed-plan.js';
import type { Planned } from './context.js';

/** The plan differs from the reviewed one; nothing was written. */
export class PlanDiffersError extends FlagkeelError {
  readonly planned: Planned;

  constructor(planned: Planned, reviewed: ReviewedPlan) {
    const differences = differencesFrom(reviewed, planned.plan, placeOf(planned));
    const isSame = differences === '' && reviewed.document !== undefined;
    const how = isSame ? '; the same values, from another start or by another ramp' : differences;
    super(
      'PLAN_DIFFERS',
      `cannot apply: the plan is ${planned.planHash}, the reviewed one was ${reviewed.planHash}${how} (review the plan of now)`,
    );
    this.planned = planned;
  }
}

/**
 * Refuses a plan that was not reviewed. If HEAD is behind the applied commit, the plan may be a part of the reviewed
 * one, because later commits replaced the rest.
 *
 * @throws PlanDiffersError the plan differs from the reviewed one.
 */
export function refuseUnreviewed(planned: Planned, reviewed: ReviewedPlan | undefined): void {
  if (reviewed === undefined || reviewed.planHash === planned.planHash) return;
  if (planned.input.policy.behind && isPartOf(reviewed, planned.plan, placeOf(planned))) return;
  throw new PlanDiffersError(planned, reviewed);
}

function placeOf({ originName, at }: Planned): { origin: string; workspaceId: string } {
  return { origin: originName, workspaceId: at.workspace.id };
}
