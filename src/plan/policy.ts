import { byCodeUnits } from '../kinds/json.js';
import type { ConflictPolicy, DriftPolicy, LiveKillPolicy } from '../model/desired.js';
import type { ObjectId, ObjectRef } from '../model/object-id.js';
import type { FieldChange, WithheldWhy } from '../model/plan.js';
import type { State, StateEntry } from '../model/state.js';

/** What may be done, apart from what would need doing. */
export interface PlanPolicy {
  /** Every environment of the config, in config order, with the service's name and id for it. */
  readonly environments: readonly PlannedEnvironment[];
  /** `KIND/NAME`; null: no filter. */
  readonly only: ReadonlySet<string> | null;
  /** `KIND/NAME` of what stays as it is because its specs are wrong; kills of it go out all the same. */
  readonly held: ReadonlySet<string>;
  readonly prune: boolean;
  /** Take over live objects that were never ours, also in protected environments. */
  readonly adopt: boolean;
  readonly revertDrift: boolean;
  /** Which identities are written: none of them, those that differ from their base, or all. */
  readonly identities: 'none' | 'changed' | 'all';
  /** No state could be read: what differs has no known cause, and nothing is removed. */
  readonly stateless: boolean;
  readonly suspended: boolean;
  /** Removed objects that the specs of an ancestor of HEAD did declare: the second witness that a deletion needs. */
  readonly witnessed: ReadonlySet<string>;
  /** Definitions whose kill HEAD takes back by what history says, though no base of ours has it. */
  readonly restorable: ReadonlyMap<ObjectId, ObjectRef>;
  /** Ids of the objects that the reviewed plan is about; changes to others are held back. Absent: all may change. */
  readonly reviewed?: ReadonlySet<string> | null;
}

export interface PlannedEnvironment {
  /** As the config names it; the specs use this word. */
  readonly configName: string;
  /** As the service names it; plans use this word. */
  readonly name: string;
  readonly id: string;
  readonly protected: boolean;
  readonly onDrift: DriftPolicy;
  readonly onConflict: ConflictPolicy;
  readonly onLiveKill: LiveKillPolicy;
  /** False: filtered out of this run; nothing in it is looked at, and no base of it changes. */
  readonly selected: boolean;
}

/** The policy of the look that follows an apply: at what was touched, and by then every identity has its answer. */
export function verifyingPolicy(policy: PlanPolicy, touched: ReadonlySet<string>): PlanPolicy {
  const identities = policy.identities === 'all' ? 'changed' : policy.identities;
  return { ...policy, only: touched, identities };
}

/** Whether the filter of a run lets this object through. */
export function isLetThrough(
  { only }: Pick<PlanPolicy, 'only'>,
  kind: string,
  name: string,
): boolean {
  return only?.has(`${kind}/${name}`) ?? true;
}

/** Whether this object is planned: the filter of the run lets it through, and its specs are right. */
export function isWanted(policy: PlanPolicy, kind: string, name: string): boolean {
  return !isHeld(policy, kind, name) && isLetThrough(policy, kind, name);
}

/** `KIND/*`: what is wrong leaves all of a kind in doubt. */
function isHeld({ held }: PlanPolicy, kind: string, name: string): boolean {
  return held.size > 0 && (held.has(`${kind}/${name}`) || held.has(`${kind}/*`));
}

/** The objects of a kind that are planned. Where a filter names few, the others cost nothing. */
export function wantedOf<T>(
  policy: PlanPolicy,
  kind: 'flag' | 'segment',
  objects: ReadonlyMap<string, T>,
): T[] {
  const names = policy.only === null ? objects.keys() : namesAmong(policy.only, `${kind}/`);
  return [...names].flatMap((name) => {
    const object = isWanted(policy, kind, name) ? objects.get(name) : undefined;
    return object === undefined ? [] : [object];
  });
}

/** The same of the inventory. */
export function wantedEntries(policy: PlanPolicy, state: State): StateEntry[] {
  const keys = policy.only === null ? state.keys() : namesAmong(policy.only, '');
  return [...keys].flatMap((key) => {
    const entry = state.get(key);
    return entry && isWanted(policy, entry.kind, entry.name) ? [entry] : [];
  });
}

function namesAmong(only: ReadonlySet<string>, prefix: string): string[] {
  const found = [...only].filter((key) => key.startsWith(prefix));
  return found.map((key) => key.slice(prefix.length)).sort(byCodeUnits);
}

export interface WithheldReason {
  readonly why: WithheldWhy;
  readonly wayOut: string;
}

/** The rules that hold for one object: of its environment, or of the workspace. */
export interface FieldRules {
  readonly protected: boolean;
  readonly onDrift: DriftPolicy;
  readonly onConflict: ConflictPolicy;
  readonly adopt: boolean;
  readonly suspended: boolean;
}

/** Policies of the workspace level: what is shared by all environments is as protected as the most protected one. */
export function workspaceRules(policy: PlanPolicy): FieldRules {
  const { environments } = policy;
  return {
    protected: environments.some((each) => each.protected),
    onDrift:
      !policy.revertDrift && environments.some((each) => each.onDrift === 'report')
        ? 'report'
        : 'revert',
    onConflict: environments.some((each) => each.onConflict === 'hold') ? 'hold' : 'apply',
    adopt: policy.adopt,
    suspended: policy.suspended,
  };
}

export function environmentRules(policy: PlanPolicy, environment: PlannedEnvironment): FieldRules {
  return {
    protected: environment.protected,
    onDrift: policy.revertDrift ? 'revert' : environment.onDrift,
    onConflict: environment.onConflict,
    adopt: policy.adopt,
    suspended: policy.suspended,
  };
}

/** Why this difference must not be written, or undefined where it may. */
export function heldBack(
  change: Pick<FieldChange, 'reason'>,
  rules: FieldRules,
): WithheldReason | undefined {
  const { reason } = change;
  if (reason === 'kill') return undefined;
  if (rules.suspended)
    return { why: 'suspended', wayOut: 'remove `suspend: true` from flaghoist.yaml' };
  if (reason === 'drift' && rules.onDrift === 'report') {
    return {
      why: 'drift-reported',
      wayOut: 'write the live value into the spec, or run with --revert-drift',
    };
  }
  if (reason === 'conflict' && rules.onConflict === 'hold') {
    return {
      why: 'conflict-held',
      wayOut: 'write the live value into the spec first, or set `onConflict: apply`',
    };
  }
  if ((reason === 'adopt' || reason === 'unknown') && rules.protected && !rules.adopt) {
    return {
      why: 'adopt-needed',
      wayOut: 'look at the values that would go, then run with --adopt',
    };
  }
  return undefined;
}
