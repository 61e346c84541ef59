import { sameKeys } from '../kinds/key-list.js';
import type { Desired, DesiredActivation } from '../model/desired.js';
import type { FlagScope, KeysLook, Scope, SegmentScope } from '../model/scope.js';
import {
  flagEntry,
  segmentEntry,
  type ActivationBase,
  type Base,
  type State,
} from '../model/state.js';
import { killOrders } from './kill-orders.js';
import { isKillInReach } from './kills.js';
import { wantedEntries, wantedOf, type PlannedEnvironment, type PlanPolicy } from './policy.js';

export interface ScopeOptions {
  /** Names of all environments of the workspace. */
  readonly allEnvironments: readonly string[];
  /** Whether the number of a segment's keys is enough where neither git nor that number has changed. */
  readonly trustCounts: boolean;
  /** See `Scope`. */
  readonly whole: boolean;
}

/**
 * What has to be observed for a plan: every object that the specs declare, in the selected environments that they
 * name, and every object of the inventory that they no longer declare, in all environments of the workspace: it may
 * only go when none of them has it.
 */
export function scopeOf(
  desired: Desired,
  state: State,
  policy: PlanPolicy,
  { allEnvironments, trustCounts, whole }: ScopeOptions,
): Scope {
  const flags = new Map<string, FlagScope>();
  const segments = new Map<string, SegmentScope>();
  for (const flag of wantedOf(policy, 'flag', desired.flags)) {
    const entry = flagEntry(state, flag.name);
    const environments = new Set(
      selectedNames(policy, (configName) => flag.environments.has(configName)),
    );
    flags.set(flag.name, { id: entry?.id, known: entry !== undefined, environments });
  }
  for (const segment of wantedOf(policy, 'segment', desired.segments)) {
    const entry = segmentEntry(state, segment.name);
    const environments = policy.environments.flatMap(({ configName, name, id, selected }) => {
      const activation = segment.environments.get(configName);
      if (!activation || !selected) return [];
      return [[name, keysLook(activation, entry?.environments[id], trustCounts)] as const];
    });
    segments.set(segment.name, { environments: new Map(environments) });
  }
  const removed = addRemoved({ flags, segments }, state, policy, allEnvironments);
  addKills(flags, desired, policy);
  // Without a removal that may be made nobody asks who uses what.
  const users = removed && policy.prune && !policy.suspended;
  const kept = [...state.values()].filter(({ kind }) => kind === 'flag').length;
  return { flags, segments, users, whole, flagsKnown: Math.max(kept, flags.size) };
}

/** Definitions that are only looked at because git kills them, or takes that back: of any flag of the workspace. */
function addKills(flags: Map<string, FlagScope>, desired: Desired, policy: PlanPolicy): void {
  const add = (flag: string, place: PlannedEnvironment | undefined): void => {
    if (!place || !isKillInReach(policy, place, flag)) return;
    const scope = flags.get(flag) ?? { known: false, environments: new Set<string>() };
    flags.set(flag, { ...scope, environments: new Set([...scope.environments, place.name]) });
  };
  for (const { flag, environment } of killOrders(desired))
    add(
      flag,
      policy.environments.find(({ configName }) => configName === environment),
    );
  for (const { name, environment } of policy.restorable.values())
    add(
      name,
      policy.environments.find((each) => each.name === environment),
    );
}

/** An add-only segment may hold more than ours, so that its number says nothing. */
function keysLook(
  { keys, mode }: DesiredActivation,
  base: Base<ActivationBase> | undefined,
  trustCounts: boolean,
): KeysLook {
  if (!keys || mode === 'external') return 'activation';
  const remembered = base?.spec?.keys;
  const isCountEnough =
    trustCounts && mode === 'exact' && remembered && sameKeys(remembered, keys.digest);
  return isCountEnough ? remembered : 'keys';
}

function selectedNames(policy: PlanPolicy, named: (configName: string) => boolean): string[] {
  return policy.environments
    .filter(({ configName, selected }) => selected && named(configName))
    .map(({ name }) => name);
}

/** @returns whether anything of the inventory is not wholly declared any more. */
function addRemoved(
  scope: { flags: Map<string, FlagScope>; segments: Map<string, SegmentScope> },
  state: State,
  policy: PlanPolicy,
  allEnvironments: readonly string[],
): boolean {
  const nameOfId = new Map(
    policy.environments.filter((each) => each.selected).map((each) => [each.id, each.name]),
  );
  let removed = false;
  for (const entry of wantedEntries(policy, state)) {
    // They cannot be looked at.
    if (entry.kind === 'identities') continue;
    const ours = Object.keys(entry.environments).flatMap((id) => nameOfId.get(id) ?? []);
    if (entry.kind === 'flag') {
      const declared = scope.flags.get(entry.name);
      const names = declared ? [...declared.environments, ...ours] : allEnvironments;
      const environments = new Set(names);
      removed ||= environments.size > (declared?.environments.size ?? 0);
      scope.flags.set(entry.name, { id: entry.id, known: true, environments });
    } else {
      const declared = scope.segments.get(entry.name);
      const names = declared ? ours : allEnvironments;
      const environments = new Map<string, KeysLook>(names.map((name) => [name, 'keys']));
      for (const [name, look] of declared?.environments ?? []) environments.set(name, look);
      removed ||= environments.size > (declared?.environments.size ?? 0);
      scope.segments.set(entry.name, { environments });
    }
  }
  return removed;
}
