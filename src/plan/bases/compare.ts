import { sameJson } from '../../model/json.js';
import { keyOf, type Kind } from '../../model/ref.js';
import type { Base } from '../../model/state.js';
import type { PlanInput } from '../input.js';
import { observedKind } from '../objects/kinds.js';

/**
 * Whether all that the specs say of an object in the selected environments, and at workspace level, is what was last
 * found equal on the service: nothing to do, as long as nobody changed it there. What the specs do not declare is not.
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
 * A base with this spec, all of which was found equal. The commit stays as long as the spec does: it is where this spec
 * came from. Fields that had commits of their own have one again: that of now, at which all of it was equal.
 */
export function baseOf<T>(spec: T, before: Base<T> | undefined, head: string | null): Base<T> {
  const same =
    before?.spec !== undefined && before.fields === undefined && sameJson(before.spec, spec);
  // The one that is held already: of ten thousand objects nobody needs it twice.
  return same ? { spec: before.spec, commit: before.commit ?? head } : { spec, commit: head };
}
