import { byCodeUnits } from '../model/json.js';
import type { Ladder } from '../model/flag/ramp.js';
import type { ConflictPolicy, DriftPolicy, LiveKillPolicy } from '../model/desired.js';
import { keyOf, type Kind, type ObjectId, type ObjectRef } from '../model/ref.js';
import type { Change, FieldChange, Plan, Reason, WithheldWhy } from '../model/plan.js';
import type { ClosedEnvironment, Suspension } from '../model/run.js';
import type { State, StateEntry } from '../model/state.js';
import { isContested } from './bases/corrections.js';

/** What may be done, apart from what would need doing. */
export interface PlanPolicy {
  /** Every environment of the config, in config order, with the service's name and id for it. */
  readonly environments: readonly PlannedEnvironment[];
  /** `KIND/NAME`; null: no filter. */
  readonly only: ReadonlySet<string> | null;
  /** `KIND/NAME` of what stays as it is because its specs are wrong; kills of it go out all the same. */
  readonly quarantined: ReadonlySet<string>;
  readonly prune: boolean;
  /** Take over live objects that were never ours, also in protected environments. */
  readonly adopt: boolean;
  readonly revertDrift: boolean;
  /** Which identities are written: none of them, those that differ from their base, or all. */
  readonly identities: 'none' | 'changed' | 'all';
  /** No state could be read: what differs has no known cause, and nothing is removed. */
  readonly stateless: boolean;
  /** Null: all that the other rules allow is written. */
  readonly suspended: Suspension | null;
  /** Where the ramps of definitions stand. Absent: there are none. */
  readonly ladders?: ReadonlyMap<ObjectId, readonly Ladder[]>;
  /** Why the operator lets pass what windows and freezes would hold back. Absent: nobody does. */
  readonly windowOverride?: string | undefined;
  /** Removed objects that the specs of an ancestor of HEAD did declare: the second witness that a deletion needs. */
  readonly provenRemovals: ReadonlySet<string>;
  /** `KIND/NAME` of removed objects that were protected when they went. Absent: nobody asked. */
  readonly protectedRemovals?: ReadonlySet<string>;
  /** Whether flags are archived where they would be deleted. Absent: they are deleted. */
  readonly archives?: boolean;
  /** Definitions whose kill HEAD takes back by what history says, though no base of ours has it. */
  readonly restorable: ReadonlyMap<ObjectId, ObjectRef>;
  /** What an earlier look of the same run, which saw more, held back for the sake of other objects. Absent: nothing. */
  readonly held?: ReadonlyMap<ObjectId, WithheldReason>;
  /** Ids of the objects that the reviewed plan is about; changes to others are held back. Absent: all may change. */
  readonly reviewed?: ReadonlySet<string> | null;
  /**
   * HEAD is behind what was applied. Then `reviewed` names what no later commit changed, and the specs say nothing of
   * anything else: it is no change, not held, and no base of it moves. Absent: it is not behind.
   */
  readonly behind?: true;
}

export interface PlannedEnvironment {
  /** As the service names it; specs are bound to this name before they are planned. */
  readonly name: string;
  /** The state goes by it. */
  readonly id: string;
  readonly protected: boolean;
  readonly onDrift: DriftPolicy;
  readonly onConflict: ConflictPolicy;
  readonly onLiveKill: LiveKillPolicy;
  /** False: filtered out of this run; nothing in it is looked at, and no base of it changes. */
  readonly selected: boolean;
  /** Why windows and freezes let no change pass now. Absent: they do. */
  readonly closed?: Closed | undefined;
}

/** No change goes now, but kills and what takes them back. */
export type Closed = Omit<ClosedEnvironment, 'environment' | 'override'>;

/** Reasons that lie with other objects, which a look at what was touched does not see. */
const FOR_OTHERS: ReadonlySet<WithheldWhy> = new Set(['needs-withheld', 'still-in-use']);

/**
 * The policy of the look that follows an apply: at what was touched, and by then every identity has its answer. What the
 * plan held back for the sake of other objects stays held back.
 */
export function verifyingPolicy(
  policy: PlanPolicy,
  touched: ReadonlySet<string>,
  { withheld }: Pick<Plan, 'withheld'>,
): PlanPolicy {
  const identities = policy.identities === 'all' ? 'changed' : policy.identities;
  const forOthers = withheld.filter(({ why }) => FOR_OTHERS.has(why));
  const held = new Map(forOthers.map(({ id, why, wayOut }) => [id, { why, wayOut }]));
  return { ...policy, only: touched, identities, held };
}

/** Whether the filter of a run lets this object through. */
export function matchesFilter(
  { only }: Pick<PlanPolicy, 'only'>,
  kind: Kind,
  name: string,
): boolean {
  return only?.has(keyOf(kind, name)) ?? true;
}

/** Whether this object is planned: the filter of the run lets it through, and its specs are right. */
export function isPlanned(policy: PlanPolicy, kind: Kind, name: string): boolean {
  return !isQuarantined(policy, kind, name) && matchesFilter(policy, kind, name);
}

/** `KIND/*`: what is wrong leaves all of a kind in doubt. */
export function isQuarantined({ quarantined }: PlanPolicy, kind: Kind, name: string): boolean {
  return (
    quarantined.size > 0 &&
    (quarantined.has(keyOf(kind, name)) || quarantined.has(keyOf(kind, '*')))
  );
}

/** The objects of a kind that are planned. Where a filter names few, the others cost nothing. */
export function plannedObjects<T>(
  policy: PlanPolicy,
  kind: Kind,
  objects: ReadonlyMap<string, T>,
): T[] {
  const names = policy.only === null ? objects.keys() : namesAmong(policy.only, keyOf(kind, ''));
  return [...names].flatMap((name) => {
    const object = isPlanned(policy, kind, name) ? objects.get(name) : undefined;
    return object === undefined ? [] : [object];
  });
}

/** The objects of the inventory that are planned. Where a filter names few, the others cost nothing. */
export function wantedEntries(policy: PlanPolicy, state: State): StateEntry[] {
  const keys = policy.only === null ? state.keys() : namesAmong(policy.only, '');
  return [...keys].flatMap((key) => {
    const entry = state.get(key);
    return entry && isPlanned(policy, entry.kind, entry.name) ? [entry] : [];
  });
}

/** Names of the selected environments in which an object of the inventory is ours. */
export function inventoryEnvironments(
  policy: PlanPolicy,
  { environments }: StateEntry,
): readonly string[] {
  const selected = policy.environments.filter((each) => each.selected);
  return Object.keys(environments).flatMap(
    (id) => selected.find((each) => each.id === id)?.name ?? [],
  );
}

function namesAmong(only: ReadonlySet<string>, prefix: string): string[] {
  const found = [...only].filter((key) => key.startsWith(prefix));
  return found.map((key) => key.slice(prefix.length)).sort(byCodeUnits);
}

export interface WithheldReason {
  readonly why: WithheldWhy;
  readonly wayOut: string;
  /** When it goes by itself, ISO 8601 in UTC. Absent: it does not, or nobody knows when. */
  readonly until?: string;
}

/** The rules that hold for one object: of its environment, or of the workspace. */
export interface FieldRules {
  readonly protected: boolean;
  readonly onDrift: DriftPolicy;
  readonly onConflict: ConflictPolicy;
  readonly adopt: boolean;
  /** The operator wants drift reverted in this run, whoever else writes. */
  readonly revertDrift: boolean;
  readonly suspended: Suspension | null;
  readonly closed?: Closed | undefined;
}

/**
 * Policies of the workspace level: what is shared by all environments is as protected as the most protected one. It reaches
 * nobody by itself, so that it may go while one environment is open.
 */
export function workspaceRules(policy: PlanPolicy): FieldRules {
  const { environments } = policy;
  return {
    protected: environments.some((each) => each.protected),
    onDrift:
      !policy.revertDrift && environments.some((each) => each.onDrift !== 'revert')
        ? 'report'
        : 'revert',
    onConflict: environments.some((each) => each.onConflict === 'hold') ? 'hold' : 'apply',
    adopt: policy.adopt,
    revertDrift: policy.revertDrift,
    suspended: policy.suspended,
    closed: closedEverywhere(policy),
  };
}

/** Undefined: one environment is open. Otherwise the closing that ends first. */
function closedEverywhere(policy: PlanPolicy): Closed | undefined {
  const closings = policy.environments.map((each) => closedIn(policy, each));
  if (closings.some((each) => each === undefined)) return undefined;
  return closings.sort(byEnd)[0];
}

/** Undefined: every environment is open. Otherwise the closing that ends last. */
function closedAnywhere(policy: PlanPolicy): Closed | undefined {
  return policy.environments
    .flatMap((each) => closedIn(policy, each) ?? [])
    .sort(byEnd)
    .at(-1);
}

/** Those of which nobody knows the end come last. */
function byEnd(a: Closed | undefined, b: Closed | undefined): number {
  const [one, other] = [a, b].map((each) => each?.until ?? '~');
  return byCodeUnits(one ?? '', other ?? '');
}

/** Why windows and freezes let no change pass in an environment; undefined: they do, or the operator overrides them. */
function closedIn(policy: PlanPolicy, { closed }: PlannedEnvironment): Closed | undefined {
  return policy.windowOverride === undefined ? closed : undefined;
}

export function environmentRules(policy: PlanPolicy, environment: PlannedEnvironment): FieldRules {
  return {
    protected: environment.protected,
    onDrift: policy.revertDrift ? 'revert' : environment.onDrift,
    onConflict: environment.onConflict,
    adopt: policy.adopt,
    revertDrift: policy.revertDrift,
    suspended: policy.suspended,
    closed: closedIn(policy, environment),
  };
}

/**
 * Why this difference must not be written, or undefined where it may.
 *
 * @param corrections when drift of the same field was corrected before.
 */
export function withholdReason(
  change: Pick<FieldChange, 'reason'>,
  rules: FieldRules,
  corrections: readonly string[] = [],
): WithheldReason | undefined {
  const { reason } = change;
  if (reason === 'kill') return undefined;
  if (reason === 'drift' && rules.onDrift !== 'revert') {
    return {
      why: 'drift-reported',
      wayOut: 'write the live value into the spec, or run with --revert-drift',
    };
  }
  if (reason === 'drift' && !rules.revertDrift && isContested(corrections)) {
    return {
      why: 'contested',
      wayOut: `corrected at ${corrections.join(', ')}; somebody else writes it, and the service does not say who: perhaps another repository. Find out, and leave it to one side: take it out of these specs or write the live value into them; --revert-drift corrects it once more`,
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
      wayOut:
        'no run remembers it here; it may be ours: look at the values that would go, then run with --adopt',
    };
  }
  // What stands against it in any case is told first: it will stand there still when the suspension is over.
  return suspendedReason(rules) ?? (PASSING.has(reason) ? undefined : closedReason(rules.closed));
}

/** That an object may not be taken away now; undefined: windows and freezes let it go. @param environment null: all. */
export function removalClosed(
  policy: PlanPolicy,
  environment: string | null,
): WithheldReason | undefined {
  const place = policy.environments.find(({ name }) => name === environment);
  // Whoever deletes for the whole workspace deletes in every environment.
  return closedReason(place ? closedIn(policy, place) : closedAnywhere(policy));
}

function closedReason(closed: Closed | undefined): WithheldReason | undefined {
  if (closed === undefined) return undefined;
  const { why, until, untilText } = closed;
  const when =
    untilText === null ? 'it stays until the config says otherwise' : `it goes at ${untilText}`;
  return {
    why: 'window-closed',
    wayOut: `${why}; ${when} (--override-window REASON sends it now)`,
    ...(until !== null && { until }),
  };
}

/** The same with every window open and no freeze: what would be written, whenever that is. */
export function asIfOpen(policy: PlanPolicy): PlanPolicy {
  return { ...policy, environments: policy.environments.map(({ closed, ...each }) => each) };
}

/** What windows and freezes let pass. */
const PASSING: ReadonlySet<Reason> = new Set(['kill', 'restore']);

/** Why nothing may be written now to an object that this change is about; undefined: it may. */
export function closedFor(policy: PlanPolicy, { ref, action, fields }: Change): Closed | undefined {
  const isRemoval = action === 'delete' || action === 'deactivate';
  if (fields.length > 0 && fields.every(({ reason }) => PASSING.has(reason))) return undefined;
  const place = policy.environments.find(({ name }) => name === ref.environment);
  if (place) return closedIn(policy, place);
  return isRemoval ? closedAnywhere(policy) : closedEverywhere(policy);
}

/** That nothing is written now, and when it will be; undefined: it is. */
export function suspendedReason({
  suspended,
}: Pick<PlanPolicy, 'suspended'>): WithheldReason | undefined {
  if (suspended === null) return undefined;
  const { until } = suspended;
  return {
    why: 'suspended',
    wayOut:
      until === null
        ? 'remove `suspend: true` from flagkeel.yaml'
        : `resume, or wait until ${until}`,
  };
}
