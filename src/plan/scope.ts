import type { BoundDesired } from '../model/bound-desired.js';
import type { DesiredFlag } from '../model/desired.js';
import type { Rule } from '../model/flag/flag.js';
import { sameJson } from '../model/json.js';
import type { Progress } from '../model/run.js';
import { keyOfId, parseKey, type Kind } from '../model/ref.js';
import { NOTHING_IN_SCOPE, type Scope, type ScopedObjects } from '../model/actual.js';
import { entriesOf, entriesOfKind, flagEntry, type State } from '../model/state.js';
import { observedKind, OBSERVED_KINDS } from './objects/kinds.js';
import type { ObservedKind, ObservedPlaces, ScopeInput } from './objects/planned-kind.js';
import { usesOf } from './planned-change.js';
import {
  inventoryEnvironments,
  matchesFilter,
  plannedObjects,
  wantedEntries,
  type PlanPolicy,
} from './policy.js';

export interface ScopeOptions extends Pick<ScopeInput, 'allEnvironments' | 'counting'> {
  readonly whole: boolean;
}

/**
 * The objects to observe: declared ones in the selected environments that they name, and those of the inventory that are
 * no longer declared in all environments, because they may be removed only when none of them has them.
 */
export function scopeOf(
  desired: BoundDesired,
  state: State,
  policy: PlanPolicy,
  { allEnvironments, counting, whole }: ScopeOptions,
): Scope {
  const needed = neededIn(desired, state, policy);
  const input = { desired, state, policy, allEnvironments, counting, needed };
  const kinds = OBSERVED_KINDS.map(([kind, rules]) => ({
    rules,
    places: placesOf(kind, rules, input),
  }));
  const objects = joinedScopes(kinds.map(({ rules, places }) => rules.scope(places, input)));
  // Users of objects matter only if a removal is possible.
  const hasRemovals = kinds.some(({ places }) =>
    [...places.values()].some(({ removed }) => removed.length > 0),
  );
  const users = hasRemovals && policy.prune && policy.suspended === null;
  const kept = entriesOf(state, 'flag').length;
  return { ...objects, users, whole, flagsKnown: Math.max(kept, objects.flags.size) };
}

function placesOf(
  kind: Kind,
  { declared }: ObservedKind,
  { desired, state, policy, allEnvironments }: ScopeInput,
): Map<string, ObservedPlaces> {
  const places = new Map<string, ObservedPlaces>();
  for (const { name, environments } of plannedObjects(policy, kind, declared(desired))) {
    const own = policy.environments.filter((each) => each.selected && environments.has(each.name));
    places.set(name, { declared: own, removed: [] });
  }
  for (const entry of entriesOfKind(wantedEntries(policy, state), kind)) {
    const own = places.get(entry.name)?.declared;
    const ours = own ? inventoryEnvironments(policy, entry) : allEnvironments;
    const names = new Set(own?.map(({ name }) => name));
    const removed = ours.filter((name) => !names.has(name));
    places.set(entry.name, { declared: own ?? [], removed });
  }
  return places;
}

/** Objects that changed rules name but the filter excludes: if one is missing, the service refuses the change. */
function neededIn(
  desired: BoundDesired,
  state: State,
  policy: PlanPolicy,
): ReadonlyMap<Kind, ReadonlyMap<string, ReadonlySet<string>>> {
  const needed = new Map<Kind, Map<string, Set<string>>>();
  // An earlier, wider observation of the same run has checked this already.
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
