import { FlagkeelError } from '../errors.js';
import { differencesFrom, type ReviewedPlan } from '../report/json/reviewed-plan.js';
import type { Planned } from './context.js';

/** The plan is not the reviewed one; nothing was written. */
export class PlanDiffersError extends FlagkeelError {
  readonly planned: Planned;

  constructor(planned: Planned, reviewed: ReviewedPlan) {
    const place = { origin: planned.originName, workspaceId: planned.at.workspace.id };
    const how = differencesFrom(reviewed, planned.plan, place);
    super(
      'PLAN_DIFFERS',
      `cannot apply: the plan is ${planned.planHash}, the reviewed one was ${reviewed.planHash}${how} (review the plan of now)`,
    );
    this.planned = planned;
  }
}

/** @throws PlanDiffersError the plan is not the reviewed one. */
export function refuseUnreviewed(planned: Planned, reviewed: ReviewedPlan | undefined): void {
  if (reviewed === undefined || reviewed.planHash === planned.planHash) return;
  throw new PlanDiffersError(planned, reviewed);
}
