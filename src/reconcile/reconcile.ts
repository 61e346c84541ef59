import type { Killing } from '../kill/first.js';
import { bindEnvironments, environmentNames } from '../model/bound-desired.js';
import { useApproval, withUnusedApprovals } from './approvals.js';
import { applyOnce, type ApplyOptions, applyWithReplan } from './apply.js';
import { assess } from './assess.js';
import type { Applied, Planned, RunContext } from './context.js';
import { isApproved } from './guards.js';
import { withSharing } from './memory.js';
import { openKillLane, loadSpecs, openService, readState } from './load.js';
import { observeInScope } from './observe.js';
import { decidePolicy } from './policy.js';
import { refuseUnreviewed } from './reviewed.js';
import { chooseScope, recordObservation } from './scope.js';
import { planWithInferredBases } from './inferred-bases.js';
import { planForNow } from './windows.js';

/**
 * Desired against actual: what would change, and why.
 *
 * @param killing sends the kills first, whatever becomes of the rest; without it nothing at all is written.
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
  const policy = await decidePolicy(context, service, { desired, quarantined, remembered });
  const known = { desired, policy, remembered, sent, isDryRun: kills.isDryRun };
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
 * Plan, apply, verify; and remember what was seen to be equal. What changed meanwhile is planned again, unless the plan was
 * reviewed: nobody has seen another.
 *
 * @returns a `Planned` where a guard stands against the plan: nothing was written.
 * @throws PlanDiffersError the plan is not the reviewed one; nothing was written.
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
