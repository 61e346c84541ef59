import { isApproved, refuseUnreviewed, useApproval, withSharing } from './assess.js';
import { applyOnce, type ApplyOptions, applyWithReplan } from './apply.js';
import type { Applied, Planned, RunContext } from './context.js';
import { prepare } from './prepare.js';

export { plan } from './prepare.js';

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
  const { planned, idle, ...looked } = await prepare(context, options);
  options.onPlanned?.(planned);
  refuseUnreviewed(planned, options.reviewed);
  if (!(await isApproved(planned, options.override))) return planned;
  await useApproval(planned, options.now());
  let { observedAtMs } = looked;
  const apply = async (each: Planned): Promise<Applied> => {
    const done = await applyOnce(each, context, { ...options, observedAtMs });
    observedAtMs = options.now();
    return done;
  };
  const mayGoOn = (): boolean => options.reviewed === undefined && !options.signal.aborted;
  const done = withSharing(idle ?? (await applyWithReplan(planned, context, apply, mayGoOn)));
  context.memory.recordResult(done.outOfSync);
  return done;
}
