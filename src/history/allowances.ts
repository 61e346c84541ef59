import type { BoundDesired } from '../model/bound-desired.js';
import type { Allowance } from '../model/desired.js';
import { objectId, refOfId, type ObjectRef } from '../model/ref.js';
import type { AllowedFinding, GuardFinding } from '../model/plan.js';
import { flagEntry } from '../model/state.js';
import type { PlanInput } from '../plan/input.js';
import { environmentNamed, type PlannedEnvironment } from '../plan/policy.js';
import { fingerprintOf } from '../plan/bases/compare.js';
import type { SpecHistory } from './spec-history.js';

interface Commits {
  readonly history: SpecHistory;
  /** HEAD of the last apply. */
  readonly applied: string | null;
  readonly since: string | undefined;
}

/**
 * Separates the findings that `allow` in the specs of a flag lets pass from the others.
 *
 * An entry counts only for the change that it was added with, and does not stay on. It is spent if the specs of the
 * base of the definition already hold it, if those of the last apply did and the definition has changed since, or if
 * neither is known.
 */
export async function withAllowances(
  findings: readonly GuardFinding[],
  input: PlanInput,
  commits: Commits,
) {
  const guardFindings: GuardFinding[] = [];
  const allowed: AllowedFinding[] = [];
  for (const finding of findings) {
    const subject = subjectOf(finding, input);
    const allowance = subject?.allow.find(({ guard }) => guard === finding.guard);
    if (!subject || !allowance) guardFindings.push(finding);
    else if (await isNew(allowance, subject, input, commits))
      allowed.push({
        ...finding,
        ...allowance,
        environment: subject.environment.name,
        id: objectId(subject.ref),
      });
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
  const environment = environmentNamed(policy, place);
  const ref = refOfId(id ?? '');
  if (!environment || ref?.kind !== 'flag' || ref.environment !== place) return undefined;
  const flag = desired.flags.get(ref.name);
  return flag && { ref, environment, allow: flag.environments.get(environment.name)?.allow ?? [] };
}

async function isNew(
  allowance: Allowance,
  { ref, environment }: Subject,
  { desired, state }: PlanInput,
  { history, applied, since }: Commits,
): Promise<boolean> {
  if (!history.isKnown) return false;
  const base = flagEntry(state, ref.name)?.environments[environment.id];
  // The definition has no base, so that only the revision of a review can show what is new.
  const revision = since === undefined ? null : await history.mergeBaseWith(since);
  const from = base?.spec ? base.commit : revision;
  const before = from === null ? undefined : await history.atAncestor(from);
  if (!before || holds(before, allowance, ref, environment)) return false;
  if (applied === null) return true;
  const last = await history.atAncestor(applied);
  if (!last) return false;
  if (!holds(last, allowance, ref, environment)) return true;
  // An equal definition is the same change, repeated after a run that did not finish it.
  return fingerprintOf(desired, ref) === fingerprintOf(last, ref);
}

function holds(
  { flags }: BoundDesired,
  { guard, reason }: Allowance,
  { name }: ObjectRef,
  environment: PlannedEnvironment,
): boolean {
  const { allow = [] } = flags.get(name)?.environments.get(environment.name) ?? {};
  return allow.some((each) => each.guard === guard && each.reason === reason);
}
