import type { Config } from '../model/desired.js';
import { truncateNote } from '../model/audit-note.js';
import { FORCED_GUARDS, type GuardFinding, type Plan, type PlanNotes } from '../model/plan.js';
import { approvalText, type Approval } from '../model/run.js';
import {
  flipFindings,
  guardFindings,
  shiftFindings,
  strictestGuards,
} from '../plan/guards/guards.js';
import { historyOf, type Planned, type RunContext } from './context.js';
import { planImpact } from '../plan/impact/impact.js';
import type { PlanInput } from '../plan/input.js';
import type { OtherWorkspace } from '../state/other-workspaces.js';
import { withAllowances } from '../history/allowances.js';
import type { SpecHistory } from '../history/spec-history.js';

/**
 * The config whose guards hold for a run: the stricter of HEAD's and of the commit that was applied last, where that
 * is an ancestor of HEAD and can be read.
 */
async function guardingConfig(
  history: SpecHistory,
  config: Config,
  { head, applied }: { readonly head: string | null; readonly applied: string | null },
): Promise<Config> {
  if (applied === null || head === applied) return config;
  return strictestGuards(config, (await history.configAtAncestor(applied)) ?? null);
}

/** What the operator lets pass. */
export interface GuardOverride {
  /** The plan with this hash, and no other, besides those that the options of the run approve. */
  readonly approvedHash?: string | undefined;
  /**
   * `--force`: an empty repository and another workspace may pass too, where this plan is approved or a person says
   * yes. Absent: those never pass.
   */
  readonly ask?: ((planned: Planned) => Promise<boolean>) | undefined;
}

/** Whether nothing stands against a plan, or the operator lets it pass what does. */
export async function isApproved(
  planned: Planned,
  { approvedHash, ask }: GuardOverride = {},
): Promise<boolean> {
  const { guardFindings, planHash, approval } = planned;
  if (guardFindings.length === 0) return true;
  const forced = guardFindings.filter(({ guard }) => FORCED_GUARDS.has(guard));
  if (forced.length > 0 && !ask) return false;
  if (approval !== undefined || planHash === approvedHash) return true;
  // A yes on the terminal is about what only it can let pass; the figures of the others are for a review.
  return forced.length === guardFindings.length && ask !== undefined && (await ask(planned));
}

/** The notes with who let the plan pass the guards that stand against it, where somebody did. */
export function withApproval(
  notes: PlanNotes,
  guardFindings: readonly GuardFinding[],
  approval: Approval | undefined,
): PlanNotes {
  if (guardFindings.length === 0 || !approval) return notes;
  const guards = [...new Set(guardFindings.map(({ guard }) => guard))].join(', ');
  const said = `Sent although a guard refused it (${guards}): ${approvalText(approval)}`;
  return new Map(
    [...notes].map(([key, { title, comment }]) => [
      key,
      truncateNote({ title, comment: `${said}\n\n${comment}` }, title),
    ]),
  );
}

/** What a plan does to users, and what stands against it. */
export async function checkGuards(
  context: RunContext,
  { changes, input }: { readonly changes: Plan; readonly input: PlanInput },
  {
    applied,
    elsewhere = [],
  }: { readonly applied: string | null; readonly elsewhere?: readonly OtherWorkspace[] },
): Promise<Pick<Planned, 'impacts' | 'guardFindings' | 'allowed'>> {
  const { source, options } = context;
  const history = historyOf(context, input.desired);
  const commits = { head: source.revision.commit, applied };
  const guarding = await guardingConfig(history, input.desired.config, commits);
  const impacts = planImpact(changes, input);
  const findings = [
    ...guardFindings(changes, input, guarding, elsewhere),
    ...flipFindings(changes, input, impacts),
    ...shiftFindings(changes, input, impacts, guarding),
  ];
  const { since } = options;
  return { impacts, ...(await withAllowances(findings, input, { history, applied, since })) };
}
