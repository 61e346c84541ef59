import type { Desired } from '../model/desired.js';
import type { FlagScope, Scope, SegmentScope } from '../model/scope.js';
import type { State } from '../model/state.js';
import { killOrders } from './kill-orders.js';
import { isKillInReach } from './kills.js';
import type { PlannedEnvironment, PlanPolicy } from './policy.js';

/**
 * What has to be observed for a plan: every object that the specs declare, in the selected environments that they
 * name, and every object of the inventory that they no longer declare, in all environments of the workspace: it may
 * only go when none of them has it.
 *
 * @param allEnvironments names of all environments of the workspace.
 */
export function scopeOf(
  desired: Desired,
  state: State,
  policy: PlanPolicy,
  allEnvironments: readonly string[],
): Scope {
  const wanted = (kind: string, name: string): boolean =>
    policy.only?.has(`${kind}/${name}`) ?? true;
  const flags = new Map<string, FlagScope>();
  const segments = new Map<string, SegmentScope>();
  for (const flag of desired.flags.values()) {
    if (!wanted('flag', flag.name)) continue;
    const entry = state.get(`flag/${flag.name}`);
    const id = entry?.kind === 'flag' ? entry.id : undefined;
    const environments = new Set(
      selectedNames(policy, (configName) => flag.environments.has(configName)),
    );
    flags.set(flag.name, { id, known: entry !== undefined, environments });
  }
  for (const segment of desired.segments.values()) {
    if (!wanted('segment', segment.name)) continue;
    const environments = policy.environments.flatMap(({ configName, name, selected }) => {
      const activation = segment.environments.get(configName);
      if (!activation || !selected) return [];
      return [
        [name, activation.keys && activation.mode !== 'external' ? 'keys' : 'activation'] as const,
      ];
    });
    segments.set(segment.name, { environments: new Map(environments) });
  }
  const removed = addRemoved({ flags, segments }, state, policy, allEnvironments, wanted);
  addKills(flags, desired, policy);
  return { flags, segments, users: removed };
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
  wanted: (kind: string, name: string) => boolean,
): boolean {
  const nameOfId = new Map(
    policy.environments.filter((each) => each.selected).map((each) => [each.id, each.name]),
  );
  let removed = false;
  for (const entry of state.values()) {
    if (!wanted(entry.kind, entry.name)) continue;
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
      const environments = new Map(names.map((name) => [name, 'keys' as const]));
      for (const [name, what] of declared?.environments ?? [])
        environments.set(name, what as 'keys');
      removed ||= environments.size > (declared?.environments.size ?? 0);
      scope.segments.set(entry.name, { environments });
    }
  }
  return removed;
}
