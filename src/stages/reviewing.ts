import type { Place } from '../api/connect.js';
import { FlaghoistError } from '../errors.js';
import type { Desired } from '../model/desired.js';
import type { PlanPolicy } from '../plan/policy.js';
import { differencesFrom, type ReviewedPlan } from '../report/reviewed-plan.js';
import { resolvePolicy } from './policy.js';
import type { Planned, RunContext } from './run.js';
import { objectsChangedSince } from './since.js';

/** The plan is not the reviewed one; nothing was written. */
export class PlanDiffersError extends FlaghoistError {
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

/** The policy of a run; with `--since` it knows the objects that the review was about. */
export async function policyOf(
  { source, options, memory }: RunContext,
  desired: Desired,
  at: Place,
  stateless: boolean,
): Promise<PlanPolicy> {
  const policy = resolvePolicy(desired.config, at, options, stateless);
  if (options.since === undefined) return policy;
  const known = { desired, environments: policy.environments, specs: memory.specs };
  return { ...policy, reviewed: await objectsChangedSince(source.checkout, options.since, known) };
}
