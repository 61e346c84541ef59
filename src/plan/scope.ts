import type { BoundDesired } from '../model/bound-desired.js';
import type { DesiredFlag } from '../model/desired.js';
import type { Rule } from '../model/flag/flag.js';
import { sameJson } from '../model/json.js';
import type { Progress } from '../model/run.js';
import { keyOfId, parseKey, type Kind } from '../model/ref.js';
import { NOTHING_IN_SCOPE, type Scope, type ScopedObjects } from '../model/actual.js';
import { entriesOf, flagEntry, type State } from '../model/state.js';
import { observedKind, OBSERVED_KINDS } from './objects/kinds.js';
import type { ScopeInput } from './objects/planned-kind.js';
import { usesOf } from './order/references.js';
import { matchesFilter, plannedObjects, type PlanPolicy } from './policy.js';

export interface ScopeOptions extends Pick<ScopeInput, 'allEnvironments' | 'counting'> {
  /** See `Scope`. */
  readonly whole: boolean;
}

/**
 * The objects to observe for a plan: every declared object, in the selected environments that it names, and every
 * inventory object that is no longer declared, in all environments of the workspace, because it may be removed only
 * when none of them has it.
 */
export function scopeOf(
  desired: BoundDesired,
  state: State,
  policy: PlanPolicy,
  { allEnvironments, counting, whole }: ScopeOptions,
): Scope {
  const needed = neededIn(desired, state, policy);
  const input = { desired, state, policy, allEnvironments, counting, needed };
  const kinds = OBSERVED_KINDS.map(([, { scope }]) => scope(input));
  const objects = joinedScopes(kinds.map((each) => each.objects));
  // Users of objects matter only if a removal is possible.
  const hasRemovals = kinds.some((each) => each.hasRemovals);
  const users = hasRemovals && policy.prune && policy.suspended === null;
  const kept = entriesOf(state, 'flag').length;
  return { ...objects, users, whole, flagsKnown: Math.max(kept, objects.flags.size) };
}

/**
 * Objects that changed rules name but the filter of the run excludes: if one is missing, the service refuses the
 * change. An earlier, wider observation of the same run has checked this already.
 */
function neededIn(
  desired: BoundDesired,
  state: State,
  policy: PlanPolicy,
): ReadonlyMap<Kind, ReadonlyMap<string, ReadonlySet<string>>> {
  const needed = new Map<Kind, Map<string, Set<string>>>();
  if (policy.only === null || policy.held !== undefined) return needed;
  for (const flag of plannedObjects(policy, 'flag', desired.flags)) {
    for (const [environment, rules] of changedRules(flag, state, policy)) {
      for (const { id } of usesOf(rules, environment)) {
        const used = parseKey(keyOfId(id));
        if (!used || matchesFilter(policy, used.kind, used.name)) continue;
        if (observedKind(used.kind)?.declared(desired).has(used.name) !== true) continue;
        const names = needed.get(used.kind) ?? new Map<string, Set<string>>();
        needed.set(used.kind, names);
        names.set(used.name, new Set(names.get(used.name)).add(environment));
      }
    }
  }
  return needed;
}

/** Environment name → the rules of a flag there, if they differ from the base. */
function changedRules(
  { name, environments }: DesiredFlag,
  state: State,
  policy: PlanPolicy,
): (readonly [string, readonly Rule[]])[] {
  const bases = flagEntry(state, name)?.environments;
  return policy.environments.flatMap((place) => {
    const rules = environments.get(place.name)?.creation.rules ?? [];
    if (!place.selected || rules.length === 0) return [];
    return sameJson(rules, bases?.[place.id]?.spec?.rules ?? []) ? [] : [[place.name, rules]];
  });
}

/** Objects of a kind by name, with everything that the service has of them in these environments. */
export function wholeScopeOf(
  names: ReadonlyMap<Kind, readonly string[]>,
  environments: readonly string[],
): Scope {
  const parts = OBSERVED_KINDS.map(([kind, { wholeScope }]) =>
    wholeScope(names.get(kind) ?? [], environments),
  );
  return { ...joinedScopes(parts), users: false, whole: true, flagsKnown: 0 };
}

function joinedScopes(parts: readonly Partial<ScopedObjects>[]): ScopedObjects {
  return parts.reduce<ScopedObjects>((all, part) => ({ ...all, ...part }), NOTHING_IN_SCOPE);
}

/** Counts the definitions and activations per environment that `observe` has read for a scope. */
export function objectsSeen(
  { flags, segments }: Scope,
  progress: Progress | undefined,
): (count: number) => void {
  let done = 0;
  let total = 0;
  for (const { environments } of [...flags.values(), ...segments.values()]) {
    total += environments.size;
  }
  progress?.count(done, total);
  return (count) => {
    done += count;
    // The search for users of removed objects reads flags beyond the scope.
    total = Math.max(total, done);
    progress?.count(done, total);
  };
}
