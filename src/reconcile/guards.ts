import type { Config } from '../model/desired.js';
import type { Plan } from '../model/plan.js';
import {
  flipFindings,
  guardFindings,
  shiftFindings,
  strictestGuards,
} from '../plan/guards/guards.js';
import { historyOf, type Planned, type RunContext, type TimedInput } from './context.js';
import { planImpact } from '../plan/impact/impact.js';
import type { OtherWorkspace } from '../state/open.js';
import { bucketsAtLast } from '../timing/desired-at.js';
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
  const before = await history.otherConfigAt(applied);
  return before ? strictestGuards(config, before) : config;
}

/** The impact of a plan on users, and the guards that refuse it. */
export async function checkGuards(
  context: RunContext,
  { changes, input }: { readonly changes: Plan; readonly input: TimedInput },
  {
    applied,
    elsewhere = [],
  }: { readonly applied: string | null; readonly elsewhere?: readonly OtherWorkspace[] },
): Promise<Pick<Planned, 'impacts' | 'guardFindings' | 'allowed'>> {
  const { source, options } = context;
  const history = historyOf(context, input.desired);
  const commits = { head: source.revision.commit, applied };
  const guarding = await guardingConfig(history, input.desired.config, commits);
  const impacts = planImpact(changes, input, bucketsAtLast(input.moment));
  const findings = [
    ...guardFindings(changes, input, guarding, elsewhere),
    ...flipFindings(changes, input, impacts),
    ...shiftFindings(changes, input, impacts, guarding),
  ];
  const { since } = options;
  return { impacts, ...(await withAllowances(findings, input, { history, applied, since })) };
}
