import { isAncestor, type Checkout } from '../git/checkout.js';
import { commitTree } from '../git/commit-tree.js';
import type { Allowance, Desired } from '../model/desired.js';
import { objectId, type ObjectRef } from '../model/object-id.js';
import type { AllowedFinding, GuardFinding } from '../model/plan.js';
import type { PlanInput } from '../plan/plan-input.js';
import type { PlannedEnvironment } from '../plan/policy.js';
import { readSpecs } from '../specs/read-specs.js';
import type { SpecMemory } from '../specs/spec-memory.js';
import { formsOf } from './forms.js';
import { partedFrom } from './since.js';

export interface Guarded {
  /** What stands against the plan. */
  readonly guardFindings: readonly GuardFinding[];
  /** What the specs let it pass. */
  readonly allowed: readonly AllowedFinding[];
}

interface Commits {
  readonly checkout: Checkout;
  readonly head: string | null;
  /** HEAD of the last apply. */
  readonly applied: string | null;
  /** The revision that the reviewed plan starts from. */
  readonly since: string | undefined;
  readonly specs: SpecMemory;
}

/**
 * Parts the findings by what `allow` in a flag's specs lets pass.
 *
 * An entry counts for the change that it came with. It is no switch that stays on: where the specs of the definition's
 * base hold it already, or those of the last apply did and the definition has changed since, or nobody can tell, it does
 * not count.
 */
export async function withAllowances(
  findings: readonly GuardFinding[],
  input: PlanInput,
  commits: Commits,
): Promise<Guarded> {
  const guardFindings: GuardFinding[] = [];
  const allowed: AllowedFinding[] = [];
  for (const finding of findings) {
    const subject = subjectOf(finding, input);
    const allowance = subject?.allow.find(({ guard }) => guard === finding.guard);
    if (!subject || !allowance) guardFindings.push(finding);
    else if (await isNew(allowance, subject, input, commits))
      allowed.push({ ...finding, id: objectId(subject.ref), reason: allowance.reason });
    else guardFindings.push({ ...finding, spentAllow: true });
  }
  return { guardFindings, allowed };
}

interface Subject {
  readonly ref: ObjectRef;
  readonly environment: PlannedEnvironment;
  readonly allow: readonly Allowance[];
}

function subjectOf(
  { id, environment: place }: GuardFinding,
  { desired, policy }: PlanInput,
): Subject | undefined {
  const environment = policy.environments.find(({ name }) => name === place);
  if (!environment) return undefined;
  for (const { name, environments } of desired.flags.values()) {
    const ref: ObjectRef = { kind: 'flag', name, environment: environment.name };
    const { allow = [] } = environments.get(environment.configName) ?? {};
    if (objectId(ref) === id) return { ref, environment, allow };
  }
  return undefined;
}

async function isNew(
  allowance: Allowance,
  { ref, environment }: Subject,
  { desired, state }: PlanInput,
  commits: Commits,
): Promise<boolean> {
  const { checkout, head, applied, since, specs: memory } = commits;
  if (head === null || checkout.repository === null) return false;
  const entry = state.get(`flag/${ref.name}`);
  const base = entry?.kind === 'flag' ? entry.environments[environment.id] : undefined;
  // Nothing is remembered of it: only a revision that the review starts from can say what is new.
  const revision = since === undefined ? null : await partedFrom(checkout, since);
  const from = base?.spec ? base.commit : revision;
  const before = from === null ? undefined : await specsAt(from, { checkout, head, memory });
  if (!before || holds(before, allowance, ref, environment)) return false;
  if (applied === null) return true;
  const last = await specsAt(applied, { checkout, head, memory });
  if (!last) return false;
  if (!holds(last, allowance, ref, environment)) return true;
  // The same change again, after a run that did not bring it to its end.
  const [now, then] = [desired, last].map((specs) => formsOf(specs, [ref], [environment]));
  return now?.get(objectId(ref)) === then?.get(objectId(ref));
}

function holds(
  { flags }: Desired,
  { guard, reason }: Allowance,
  { name }: ObjectRef,
  { configName }: PlannedEnvironment,
): boolean {
  const { allow = [] } = flags.get(name)?.environments.get(configName) ?? {};
  return allow.some((each) => each.guard === guard && each.reason === reason);
}

/** Undefined: they cannot be read. */
async function specsAt(
  commit: string,
  { checkout, head, memory }: { checkout: Checkout; head: string; memory: SpecMemory },
): Promise<Desired | undefined> {
  if ((await isAncestor(checkout, commit, head)) !== true) return undefined;
  const specs = await readSpecs(await commitTree(checkout, commit), memory);
  return specs.ok ? specs.desired : undefined;
}
