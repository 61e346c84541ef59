import type { BoundDesired } from '../model/bound-desired.js';
import type { DesiredFlag } from '../model/desired.js';
import type { Rule } from '../model/flag/flag.js';
import { sameJson } from '../model/json.js';
import type { Progress } from '../model/run.js';
import { keyOfId, parseKey, type Kind } from '../model/ref.js';
import { NOTHING_IN_SCOPE, type Scope, type ScopedObjects } from '../model/scope.js';
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
 * What has to be observed for a plan: every object that the specs declare, in the selected environments that they
 * name, and every object of the inventory that they no longer declare, in all environments of the workspace: it may
 * only go when none of them has it.
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
  // Without a removal that may be made nobody asks who uses what.
  const hasRemovals = kinds.some((each) => each.hasRemovals);
  const users = hasRemovals && policy.prune && policy.suspended === null;
  const kept = entriesOf(state, 'flag').length;
  return { ...objects, users, whole, flagsKnown: Math.max(kept, objects.flags.size) };
}

/**
 * What rules that differ from their base name, and the filter of the run leaves out: without it the service would refuse
 * the change. An earlier look of the same run that saw more has judged it already.
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

/** Environment name → the rules of a flag there, where they are not those of the base. */
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

/** The objects of a kind by their names alone, with everything that the service has of them in these environments. */
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

/** Counts what `observe` has seen of a scope: definitions and activations, per environment. */
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
    // Looking for users of what is to go brings flags that no scope names.
    total = Math.max(total, done);
    progress?.count(done, total);
  };
}
