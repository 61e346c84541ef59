import type { Killing } from '../kill/send.js';
import { bindEnvironments, environmentNames } from '../model/bound-desired.js';
import { isApproved, useApproval, withUnusedApprovals } from './approvals.js';
import { applyOnce, type ApplyOptions, applyWithReplan } from './apply.js';
import { assess } from './assess.js';
import type { Applied, Planned, RunContext } from './context.js';
import { withSharing } from './memory.js';
import { openKillLane, loadSpecs, openService, readState } from './load.js';
import { observeInScope } from './observe.js';
import { decidePolicy } from './policy.js';
import { refuseUnreviewed } from './reviewed.js';
import { chooseScope, recordObservation } from './scope.js';
import { planWithInferredBases } from './inferred-bases.js';
import { planForNow } from './windows.js';

/**
 * Compares desired with actual values: the changes and their reasons.
 *
 * @param killing sends the kills first, even if the plan fails later. Without it, nothing is written.
 */
export async function plan(context: RunContext, killing: Killing | null = null): Promise<Planned> {
  const kills = openKillLane(context, killing);
  const specs = await loadSpecs(context, kills);
  const service = await openService(context, specs.desired, kills);
  const desired = bindEnvironments(specs.desired, environmentNames(service.workspace.environments));
  const sent = await kills.sendFirst(desired, service);
  const remembered = await readState(context, service, desired);
  const { quarantined, invalid } = specs;
  const { state } = remembered;
  const given = { desired, quarantined, remembered };
  const { policy, moment } = await decidePolicy(context, service, given);
  const known = { desired, policy, moment, remembered, sent, isDryRun: kills.isDryRun };
  const scope = await chooseScope(context, known);
  const { input: seen, at } = await observeInScope(context, service, { desired, state, scope });
  const compared = { ...seen, actual: sent.undoneIn(seen.actual) };
  const whole = await planWithInferredBases(context, compared, scope.observed);
  const approving = withUnusedApprovals(context, remembered);
  const planned = planForNow(approving, whole, at.workspace.id);
  recordObservation(context, scope, { desired, at, changes: planned.changes });
  return assess(approving, { ...planned, at, service, remembered, sent, invalid });
}

/**
 * Plans, applies and verifies, and records which objects were equal. Objects that change meanwhile are planned again,
 * unless the plan was reviewed: another plan would be unreviewed.
 *
 * @returns a `Planned` if a guard refused the plan; nothing of it was written.
 * @throws PlanDiffersError the plan differs from the reviewed one; nothing of it was written.
 */
export async function reconcile(
  opened: RunContext,
  options: ApplyOptions,
): Promise<Planned | Applied> {
  const context = { ...opened, now: options.now };
  let observedAtMs = options.now();
  const planned = await plan(context, options);
  options.onPlanned?.(planned);
  refuseUnreviewed(planned, options.reviewed);
  if (!(await isApproved(planned, options.override))) return planned;
  await useApproval(planned, options.now());
  const apply = async (each: Planned): Promise<Applied> => {
    const done = await applyOnce(each, context, { ...options, observedAtMs });
    observedAtMs = options.now();
    return done;
  };
  const mayGoOn = (): boolean => options.reviewed === undefined && !options.signal.aborted;
  const done = withSharing(await applyWithReplan(planned, context, apply, mayGoOn));
  context.memory.recordResult(done.outOfSync);
  return done;
}
