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
  const { config } = input.desired;
  const history = historyOf(context, input.desired);
  const isOther = applied !== null && applied !== source.revision.commit;
  // For each guard the stricter of HEAD and the last applied commit, if that is a readable ancestor of HEAD.
  const before = isOther ? await history.otherConfigAt(applied) : undefined;
  const guarding = before ? strictestGuards(config, before) : config;
  const impacts = planImpact(changes, input, bucketsAtLast(input.moment));
  const findings = [
    ...guardFindings(changes, input, guarding, elsewhere),
    ...flipFindings(changes, input, impacts),
    ...shiftFindings(changes, input, impacts, guarding),
  ];
  const { since } = options;
  return { impacts, ...(await withAllowances(findings, input, { history, applied, since })) };
}
