import { sameJson } from '../../model/json.js';
import { keyOf, type Kind } from '../../model/ref.js';
import type { Base } from '../../model/state.js';
import type { PlanInput } from '../input.js';
import { observedKind } from '../objects/kinds.js';

/**
 * Whether the specs of an object, in the selected environments and at workspace level, equal what was last found equal
 * on the service: then there is nothing to do unless it was changed there. False for undeclared objects.
 */
export function isAtBase(
  kind: Kind,
  name: string,
  { desired, policy, state }: Pick<PlanInput, 'desired' | 'policy' | 'state'>,
): boolean {
  const rules = observedKind(kind);
  const entry = state.get(keyOf(kind, name));
  if (!rules || !entry || !isBase(entry.workspace, rules.workspaceBase(desired, name)))
    return false;
  return policy.environments.every((environment) => {
    if (!environment.selected) return true;
    const base = entry.environments[environment.id];
    const spec = rules.environmentBase(desired, name, environment);
    return spec === undefined ? base === undefined : isBase(base, spec);
  });
}

function isBase(base: Base<unknown> | undefined, spec: unknown): boolean {
  return base?.spec !== undefined && base.pending === undefined && sameJson(base.spec, spec);
}

/**
 * A base of an object that was found equal as a whole. The commit stays as long as the spec does: it is the origin of
 * this spec. Fields with commits of their own get the present one, at which all of them were equal.
 */
export function baseOf<T>(spec: T, before: Base<T> | undefined, head: string | null): Base<T> {
  const same =
    before?.spec !== undefined && before.fields === undefined && sameJson(before.spec, spec);
  // Reuses the object in memory, instead of keeping ten thousand equal copies.
  return same ? { spec: before.spec, commit: before.commit ?? head } : { spec, commit: head };
}
