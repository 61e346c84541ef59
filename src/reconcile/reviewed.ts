import { FlagkeelError } from '../errors.js';
import type { Planned } from './context.js';

/** The plan differs from the reviewed one; nothing was written. */
export class PlanDiffersError extends FlagkeelError {
  readonly planned: Planned;

  constructor(planned: Planned, reviewed: string) {
    super(
      'PLAN_DIFFERS',
      `cannot apply: the plan is ${planned.planHash}, the reviewed one was ${reviewed} (review the plan of now)`,
    );
    this.planned = planned;
  }
}

/**
 * Refuses a plan that was not reviewed. If HEAD is behind the applied commit, nothing may be left of the reviewed one.
 *
 * @param reviewed hash of the reviewed plan.
 * @throws PlanDiffersError the plan differs from the reviewed one.
 */
export function refuseUnreviewed(planned: Planned, reviewed: string | undefined): void {
  if (reviewed === undefined || reviewed === planned.planHash) return;
  if (planned.input.policy.behind && planned.plan.changes.length === 0) return;
  throw new PlanDiffersError(planned, reviewed);
}
