import { guardFindings } from '../plan/guards.js';
import { planImpact } from '../plan/impact.js';
import type { PlanInput } from '../plan/plan-input.js';
import { shiftFindings } from '../plan/shift-guard.js';
import type { Plan } from '../model/plan.js';
import type { StateElsewhere } from '../git/states-elsewhere.js';
import { withAllowances } from './allowing.js';
import { guardingConfig } from './guarding.js';
import type { Planned, RunContext } from './run.js';

/** What a plan does to users, and what stands against it. */
export async function weigh(
  changes: Plan,
  input: PlanInput,
  { source, options, memory }: Pick<RunContext, 'source' | 'options' | 'memory'>,
  {
    applied,
    elsewhere = [],
  }: { readonly applied: string | null; readonly elsewhere?: readonly StateElsewhere[] },
): Promise<Pick<Planned, 'impacts' | 'guardFindings' | 'allowed'>> {
  const { checkout } = source;
  const { since } = options;
  const { specs } = memory;
  const commits = { checkout, head: source.revision.commit, applied, since, specs };
  const guarding = await guardingConfig(checkout, input.desired.config, commits);
  const impacts = planImpact(changes, input);
  const findings = [
    ...guardFindings(changes, input, guarding, elsewhere),
    ...shiftFindings(changes, input, impacts, guarding),
  ];
  return { impacts, ...(await withAllowances(findings, input, commits)) };
}
