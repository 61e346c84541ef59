import { isAncestor, type Checkout } from '../git/checkout.js';
import { commitTree } from '../git/commit-tree.js';
import type { Config } from '../model/desired.js';
import { FORCED_GUARDS } from '../model/plan.js';
import { strictestGuards } from '../plan/guards.js';
import { readConfig } from '../specs/read-config.js';
import type { Planned } from './run.js';

/**
 * The config whose guards hold for a run: the stricter of HEAD's and of the commit that was applied last, where that
 * is an ancestor of HEAD and can be read.
 */
export async function guardingConfig(
  checkout: Checkout,
  config: Config,
  commits: { readonly head: string | null; readonly applied: string | null },
): Promise<Config> {
  const { head, applied } = commits;
  if (head === null || applied === null || head === applied) return config;
  if ((await isAncestor(checkout, applied, head)) !== true) return config;
  const before = await readConfig(await commitTree(checkout, applied));
  return strictestGuards(config, before.ok ? before.config : null);
}

/** What the operator lets pass. */
export interface GuardPass {
  /** `--approve`: the plan with this hash, and no other. */
  readonly approvedHash?: string | undefined;
  /**
   * `--force`: an empty repository and another workspace may pass too, where this plan is approved or a person says
   * yes. Absent: those never pass.
   */
  readonly ask?: ((planned: Planned) => Promise<boolean>) | undefined;
}

/** Whether nothing stands against a plan, or the operator lets it pass what does. */
export async function mayPass(
  planned: Planned,
  { approvedHash, ask }: GuardPass = {},
): Promise<boolean> {
  const { guardFindings, planHash } = planned;
  if (guardFindings.length === 0) return true;
  const forced = guardFindings.filter(({ guard }) => FORCED_GUARDS.has(guard));
  if (forced.length > 0 && !ask) return false;
  if (planHash === approvedHash) return true;
  // A yes on the terminal is about what only it can let pass; the figures of the others are for a review.
  return forced.length === guardFindings.length && ask !== undefined && (await ask(planned));
}
