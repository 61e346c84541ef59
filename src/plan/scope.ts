import type { FlagScope, KeyDetail, Scope } from '../model/actual.js';
import { objectsOf, type DesiredActivation, type DesiredFlag } from '../model/desired.js';
import type { Rule } from '../model/flag/flag.js';
import { sameJson } from '../model/json.js';
import { byKind, definitionId, keyOf, keyOfId, parseKey, type Kind } from '../model/ref.js';
import type { Progress } from '../model/run.js';
import { sameKeys } from '../model/segment-keys.js';
import {
  entriesOf,
  flagEntry,
  entryOf,
  type ActivationBase,
  type Base,
  type State,
} from '../model/state.js';
import type { PlanInput } from './input.js';
import { killOrders } from './kills/orders.js';
import { OBSERVED_KINDS } from './objects/kinds.js';
import { usesOf } from './planned-change.js';
import {
  endedIn,
  isSelectedHere,
  inventoryEnvironments,
  matchesFilter,
  plannedObjects,
  wantedEntries,
  type PlannedEnvironment,
  type PlanPolicy,
} from './policy.js';

/**
 * Which segments to count instead of list, if neither git nor the number of their keys has changed: none, those whose
 * keys need more than 20 pages, or all.
 */
export type KeyCounting = 'never' | 'large' | 'always';

interface ScopeInput extends Omit<PlanInput, 'actual'> {
  /** Names of all environments of the workspace. */
  readonly allEnvironments: readonly string[];
  readonly counting: KeyCounting;
  /** `KIND/NAME` of objects that differed when they were looked at last: to count keys could hide that. */
  readonly open?: ReadonlySet<string> | undefined;
  readonly whole: boolean;
}

/**
 * The objects to observe: declared ones in the selected environments that they name, and those of the inventory that are
 * no longer declared in all environments, because they may be removed only when none of them has them.
 */
export function scopeOf(input: ScopeInput): Scope {
  const { state, policy, whole } = input;
  const needed = neededIn(input);
  const places = byKind((kind) => placesOf(kind, input));
  const flags = flagScopes(places.flag, needed.flag, input);
  const segments = segmentScopes(places.segment, needed.segment, input);
  // Users of objects matter only if a removal is possible.
  const hasRemovals = OBSERVED_KINDS.some(([kind]) =>
    [...places[kind].values()].some(({ removed }) => removed.length > 0),
  );
  const users = hasRemovals && policy.prune && policy.suspended === null;
  const flagsKnown = Math.max(entriesOf(state.values(), 'flag').length, flags.size);
  return { flags, segments, users, whole, flagsKnown };
}

/** Everything that the service has of these objects. */
export function wholeScopeOf(
  names: ReadonlyMap<Kind, readonly string[]>,
  environments: readonly string[],
): Scope {
  const places = new Set(environments);
  const flag = { known: places, environments: places };
  const segment = { environments: allKeysIn(environments) };
  const flags = new Map((names.get('flag') ?? []).map((name) => [name, flag]));
  const segments = new Map((names.get('segment') ?? []).map((name) => [name, segment]));
  return { flags, segments, users: false, whole: true, flagsKnown: 0 };
}

interface Places {
  /** The selected environments in which the specs declare the object. */
  readonly declared: readonly PlannedEnvironment[];
  /** Names of the environments from which the specs have removed it. */
  readonly removed: readonly string[];
}

type PlacesByName = ReadonlyMap<string, Places>;

function placesOf(kind: Kind, input: ScopeInput): PlacesByName {
  const { desired, state, policy, allEnvironments } = input;
  const places = new Map<string, Places>();
  for (const { name, environments } of plannedObjects(policy, kind, objectsOf(desired, kind))) {
    const own = policy.environments.filter((each) => each.selected && environments.has(each.name));
    places.set(name, { declared: own, removed: [] });
  }
  for (const entry of entriesOf(wantedEntries(policy, state), kind)) {
    const own = places.get(entry.name)?.declared;
    const ours = own ? inventoryEnvironments(policy, entry) : allEnvironments;
    const names = new Set(own?.map(({ name }) => name));
    const removed = ours.filter((name) => !names.has(name));
    places.set(entry.name, { declared: own ?? [], removed });
  }
  return places;
}

/** Name → environments. */
type Needed = ReadonlyMap<string, ReadonlySet<string>>;

/** Objects that changed rules name but the filter excludes: if one is missing, the service refuses the change. */
function neededIn({ desired, state, policy }: ScopeInput): Readonly<Record<Kind, Needed>> {
  const needed = byKind(() => new Map<string, Set<string>>());
  // An earlier, wider observation of the same run has checked this already.
  if (policy.only === null || policy.held !== undefined) return needed;
  for (const flag of plannedObjects(policy, 'flag', desired.flags)) {
    for (const [environment, rules] of changedRules(flag, state, policy)) {
      for (const { id } of usesOf(rules, environment)) {
        const used = parseKey(keyOfId(id));
        if (!used || matchesFilter(policy, used.kind, used.name)) continue;
        if (!objectsOf(desired, used.kind).has(used.name)) continue;
        const places = needed[used.kind];
        places.set(used.name, new Set(places.get(used.name)).add(environment));
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
    const rules = environments.get(place.name)?.creation.rules;
    if (!place.selected || !rules) return [];
    return sameJson(rules, bases?.[place.id]?.spec?.rules) ? [] : [[place.name, rules]];
  });
}

function flagScopes(places: PlacesByName, needed: Needed, input: ScopeInput): Scope['flags'] {
  const { desired, state, policy } = input;
  const flags = new Map<string, FlagScope>();
  for (const [name, { declared, removed }] of places) {
    const entry = flagEntry(state, name);
    // A pending creation may never have been sent.
    const found = policy.environments.filter(({ id }) => {
      const base = entry?.environments[id];
      return base !== undefined && base.pending !== 'create';
    });
    const known = new Set([...found.map((each) => each.name), ...removed]);
    const environments = new Set([...declared.map((each) => each.name), ...removed]);
    flags.set(name, { id: entry?.id, known, environments });
  }
  // Definitions of any flag of the workspace are read where git kills them, or does so no more.
  const killed = killOrders(desired).map(({ flag, environment }) => ({ name: flag, environment }));
  for (const { name, environment } of [...killed, ...endedIn(policy)]) {
    if (environment === null) continue;
    if (!isSelectedHere(policy, definitionId({ flag: name, environment }))) continue;
    const scope = flags.get(name) ?? { known: new Set<string>(), environments: new Set<string>() };
    flags.set(name, { ...scope, environments: new Set([...scope.environments, environment]) });
  }
  for (const [name, environments] of needed) {
    flags.set(name, { id: flagEntry(state, name)?.id, known: environments, environments });
  }
  return flags;
}

/** Removed segments with all their keys. */
function segmentScopes(places: PlacesByName, needed: Needed, input: ScopeInput): Scope['segments'] {
  const { desired, state, open } = input;
  const found = [...places].map(([name, { declared, removed }]) => {
    const activations = desired.segments.get(name)?.environments;
    const bases = entryOf(state, 'segment', name)?.environments;
    const counting = open?.has(keyOf('segment', name)) ? 'never' : input.counting;
    const environments = allKeysIn(removed);
    for (const { name: place, id } of declared) {
      const activation = activations?.get(place);
      if (activation) environments.set(place, keyDetail(activation, bases?.[id], counting));
    }
    return [name, { environments }] as const;
  });
  const others = [...needed].map(([name, places]) => {
    const environments = new Map([...places].map((place) => [place, 'activation' as const]));
    return [name, { environments, placesAlone: true as const }] as const;
  });
  return new Map([...found, ...others]);
}

function allKeysIn(environments: readonly string[]): Map<string, KeyDetail> {
  return new Map(environments.map((name) => [name, 'keys']));
}

/** Number of keys that at most 20 requests list: a page has 100. */
const FEW_KEYS = 2_000;

/** Counting is useless for an add-only segment, which may hold keys of others. */
function keyDetail(
  { keys, mode }: DesiredActivation,
  base: Base<ActivationBase> | undefined,
  counting: KeyCounting,
): KeyDetail {
  if (!keys || mode === 'external') return 'activation';
  const remembered = base?.spec?.keys;
  if (!remembered || mode !== 'exact' || !sameKeys(remembered, keys.digest)) return 'keys';
  const isCounted = counting === 'always' || (counting === 'large' && remembered.count > FEW_KEYS);
  return isCounted ? remembered : 'keys';
}

/** Counts the definitions and activations per environment that `observe` has read for a scope. */
export function objectsSeen(scope: Scope, progress: Progress | undefined): (count: number) => void {
  let done = 0;
  let total = 0;
  for (const { environments } of [...scope.flags.values(), ...scope.segments.values()]) {
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
