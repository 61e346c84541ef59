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
 * The config with the guards of a run: for each guard the stricter of HEAD and the last applied commit, if that is a
 * readable ancestor of HEAD.
 */
async function guardingConfig(
  history: SpecHistory,
  config: Config,
  { head, applied }: { readonly head: string | null; readonly applied: string | null },
): Promise<Config> {
  if (applied === null || head === applied) return config;
  return strictestGuards(config, (await history.configAtAncestor(applied)) ?? null);
}

/** Plans that the operator lets pass. */
export interface GuardOverride {
  /** Lets the plan with this hash pass, in addition to those that the options of the run approve. */
  readonly approvedHash?: string | undefined;
  /**
   * Set with `--force`: an empty repository or another workspace may pass too, if this plan is approved or a person
   * says yes. Without it, those never pass.
   */
  readonly ask?: ((planned: Planned) => Promise<boolean>) | undefined;
}

/** Whether no guard refuses a plan, or the operator lets it pass. */
export async function isApproved(
  planned: Planned,
  { approvedHash, ask }: GuardOverride = {},
): Promise<boolean> {
  const { guardFindings, planHash, approval } = planned;
  if (guardFindings.length === 0) return true;
  const forced = guardFindings.filter(({ guard }) => FORCED_GUARDS.has(guard));
  if (forced.length > 0 && !ask) return false;
  if (approval !== undefined || planHash === approvedHash) return true;
  // A yes on the terminal covers only the guards that need `--force`; the others need a review of the figures.
  return forced.length === guardFindings.length && ask !== undefined && (await ask(planned));
}

/** Adds to the notes the approval that let the plan pass its guards, if there is one. */
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

/** The impact of a plan on users, and the guards that refuse it. */
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
