import { present } from '../model/collections.js';
import { byCodeUnits } from '../model/json.js';
import type { BoundDesired } from '../model/bound-desired.js';
import type { ConflictPolicy, DriftPolicy, LiveKillPolicy } from '../model/desired.js';
import {
  isAmong,
  keyOf,
  keyOfId,
  refOfId,
  type Kind,
  type ObjectId,
  type ObjectRef,
} from '../model/ref.js';
import {
  isRemoval,
  isKill,
  type Change,
  type FieldChange,
  type Plan,
  type Reason,
  type Withheld,
  type WithheldWhy,
} from '../model/plan.js';
import type { Closed, Suspension } from '../model/run.js';
import type { LeftKilled, State, StateEntry } from '../model/state.js';
import { WORKSPACE, type Workspace } from './place.js';

/** Permissions and limits of a run, apart from the differences. */
export interface PlanPolicy {
  /** Every environment of the config, in config order, with the service's name and id for it. */
  readonly environments: readonly PlannedEnvironment[];
  /** `KIND/NAME`; null without a filter. */
  readonly only: ReadonlySet<string> | null;
  /** `KIND/NAME` of objects that stay as they are because their specs have errors; their kills still go out. */
  readonly quarantined: ReadonlySet<string>;
  readonly prune: boolean;
  /** Take over live objects that were never ours, even in protected environments. */
  readonly adopt: boolean;
  readonly revertDrift: boolean;
  /** Which identities to write: none, those that differ from their base, or all. */
  readonly identities: 'none' | 'changed' | 'all';
  /** No state could be read: differences have no known cause, and nothing is removed. */
  readonly stateless: boolean;
  /** Null if writes are not suspended. */
  readonly suspended: Suspension | null;
  /** The environments where nothing but kills and restores may go now, by name. Default: none. */
  readonly closed?: ReadonlyMap<string, Closed>;
  /** The operator's reason to ignore windows and freezes; unset to respect them. */
  readonly windowOverride?: string | undefined;
  /** Removed objects that an ancestor of HEAD declares, which is a second proof that a deletion requires. */
  readonly provenRemovals: ReadonlySet<string>;
  /** `KIND/NAME` of removed objects that were protected when they were removed; unset if this was not determined. */
  readonly protectedRemovals?: ReadonlySet<string>;
  /** Whether to archive flags instead of deleting them. Default: false. */
  readonly archives?: boolean;
  /** Definitions whose kill HEAD takes back according to history, though no base has the kill. */
  readonly restorable: ReadonlyMap<ObjectId, ObjectRef>;
  /** Definitions of `restorable`, or with a kill in their base, whose kill may be another by now. Default: none. */
  readonly oldKills?: ReadonlySet<ObjectId>;
  /** Definitions declared elsewhere, whose kill git ordered in a list that is gone. Default: none. */
  readonly orphaned?: readonly ObjectRef[];
  /** The reasons of kills that HEAD orders still and its target branch, or the applied commit, took back. Default: none. */
  readonly takenBack?: ReadonlyMap<ObjectId, string>;
  /** Default: no definition left the inventory killed. */
  readonly leftKilled?: LeftKilled;
  /** Objects that an earlier, wider observation of the same run, or another directory, holds back. */
  readonly held?: ReadonlyMap<ObjectId, HeldReason>;
  /** Ids of the objects in the reviewed plan; changes to others are held back. Default, or null: all may change. */
  readonly reviewed?: ReadonlySet<string> | null;
  /** The specs where the reviewed plan starts. Default: there was no review, or there were no specs yet. */
  readonly start?: BoundDesired | undefined;
  /** Whether the reviewed plans show a change; what they do not is held back. Unset: no such plans limit the run. */
  readonly shows?: ((change: Omit<Change, 'dependsOn'>) => boolean) | undefined;
  /**
   * Set if HEAD is older than the last applied commit. Then `reviewed` names only objects that no later commit changed,
   * and the specs do not cover any other: those are neither changed nor held, and keep their bases.
   */
  readonly behind?: true;
}

export interface PlannedEnvironment {
  /** The service's name; specs are bound to it before planning. */
  readonly name: string;
  /** Key of the environment in the state. */
  readonly id: string;
  /** Its name in flagkeel.yaml. Unset if that is `name`. */
  readonly place?: string;
  readonly protected: boolean;
  readonly onDrift: DriftPolicy;
  readonly onConflict: ConflictPolicy;
  readonly onLiveKill: LiveKillPolicy;
  /** Whether a write that the service refuses is submitted as a change request. Default: it waits for a person. */
  readonly submitsRequests?: boolean;
  /** False if filtered out of this run: it is not observed, and none of its bases changes. */
  readonly selected: boolean;
  /** Set if the key does not see it; only where the run leaves it out. `id` is its name if no run ever saw it. */
  readonly unseen?: true;
}

/** Reasons that depend on other objects, which an observation of touched objects does not see. */
const FOR_OTHERS: ReadonlySet<WithheldWhy> = new Set(['needs-withheld', 'still-in-use']);

/** For verifying an apply, by when every identity has its answer. What is held back for other objects stays so. */
export function verifyingPolicy(
  policy: PlanPolicy,
  touched: ReadonlySet<string>,
  { withheld }: Pick<Plan, 'withheld'>,
): PlanPolicy {
  const identities = policy.identities === 'all' ? 'changed' : policy.identities;
  const forOthers = withheld.filter(({ why }) => FOR_OTHERS.has(why));
  const held = new Map(
    forOthers.map(({ id, why, because }) => [id, { why, ...present({ because }) }]),
  );
  const ended = [...policy.restorable].filter(([id]) => touched.has(keyOfId(id)));
  return { ...policy, only: touched, identities, held, restorable: new Map(ended) };
}

export function matchesFilter(policy: Pick<PlanPolicy, 'only'>, kind: Kind, name: string): boolean {
  return policy.only?.has(keyOf(kind, name)) ?? true;
}

/** Whether the specs cover an object: those of an older HEAD cover only what no later commit changed. */
export function isCovered(policy: Pick<PlanPolicy, 'behind' | 'reviewed'>, id: ObjectId): boolean {
  return policy.behind !== true || policy.reviewed?.has(id) === true;
}

/** Whether this object is planned: the filter accepts it, and its specs have no errors. */
export function isPlanned(policy: PlanPolicy, kind: Kind, name: string): boolean {
  const { quarantined } = policy;
  const isInvalid = quarantined.size > 0 && isAmong(quarantined, keyOf(kind, name));
  return !isInvalid && matchesFilter(policy, kind, name);
}

/** Quick for a filter with few names, as is `wantedEntries`. */
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

export function wantedEntries(policy: PlanPolicy, state: State): StateEntry[] {
  const keys = policy.only === null ? state.keys() : namesAmong(policy.only, '');
  return [...keys].flatMap((key) => {
    const entry = state.get(key);
    return entry && isPlanned(policy, entry.kind, entry.name) ? [entry] : [];
  });
}

export function inventoryEnvironments(policy: PlanPolicy, entry: StateEntry): readonly string[] {
  const selected = policy.environments.filter((each) => each.selected);
  return Object.keys(entry.environments).flatMap(
    (id) => selected.find((each) => each.id === id)?.name ?? [],
  );
}

function namesAmong(only: ReadonlySet<string>, prefix: string): string[] {
  const found = [...only].filter((key) => key.startsWith(prefix));
  return found.map((key) => key.slice(prefix.length)).sort(byCodeUnits);
}

/** Why a change is withheld, apart from the change. */
export type WithheldReason = Pick<Withheld, 'why' | 'because' | 'place' | 'until' | 'request'>;

export interface HeldReason extends WithheldReason {
  /** The removed object, if another directory has it from now on: it leaves the inventory of this one. */
  readonly moved?: ObjectRef;
}

export interface FieldRules
  extends
    Pick<PlannedEnvironment, 'protected' | 'onDrift' | 'onConflict'>,
    Pick<PlanPolicy, 'adopt' | 'revertDrift' | 'suspended' | 'shows'> {
  readonly closed?: Closed | undefined;
  /** The environment's name in flagkeel.yaml. Unset if the service has the same, or for the workspace. */
  readonly place?: string | undefined;
}

/**
 * All environments share the workspace level: it is as protected as the most protected of them. It affects no user by
 * itself, so one open environment is enough for a change.
 */
export function rulesIn(policy: PlanPolicy, place: PlannedEnvironment | Workspace): FieldRules {
  const { adopt, revertDrift, suspended, shows } = policy;
  const own = place.name === null ? policy.environments : [place];
  const isReported = !revertDrift && own.some(({ onDrift }) => onDrift !== 'revert');
  return {
    protected: own.some((each) => each.protected),
    onDrift: isReported ? 'report' : 'revert',
    onConflict: own.some(({ onConflict }) => onConflict === 'hold') ? 'hold' : 'apply',
    closed: closedAmong(policy, own, { removes: false }),
    place: place.name === null ? undefined : place.place,
    adopt,
    revertDrift,
    suspended,
    shows,
  };
}

/**
 * A removal deletes in each of the environments, so it waits until the last is open; one open environment is enough for
 * any other change. Closings with an unknown end come last.
 */
function closedAmong(
  policy: PlanPolicy,
  environments: readonly PlannedEnvironment[],
  { removes }: { readonly removes: boolean },
): Closed | undefined {
  const closings = environments
    .flatMap((each) => closedIn(policy, each) ?? [])
    .sort((a, b) => byCodeUnits(a.until ?? '~', b.until ?? '~'));
  if (removes) return closings.at(-1);
  return closings.length === environments.length ? closings[0] : undefined;
}

/** The closing of an environment; undefined if it is open, or the operator overrides it. */
function closedIn(policy: PlanPolicy, { name }: PlannedEnvironment): Closed | undefined {
  return policy.windowOverride === undefined ? policy.closed?.get(name) : undefined;
}

/** @param corrections times of earlier corrections of drift in the same field. */
export function withholdReason(
  change: Pick<FieldChange, 'reason'>,
  rules: FieldRules,
  corrections: readonly string[] = [],
): WithheldReason | undefined {
  const { reason } = change;
  if (reason === 'kill') return undefined;
  if (reason === 'drift' && rules.onDrift !== 'revert') return { why: 'drift-reported' };
  if (reason === 'drift' && !rules.revertDrift && isContested(corrections)) {
    return {
      why: 'contested',
      because: `corrected at ${corrections.join(', ')}; another writer keeps changing it, perhaps another repository, and the service does not name it: find it, and leave the field to one side`,
    };
  }
  if (reason === 'conflict' && rules.onConflict === 'hold') {
    return { why: 'conflict-held', ...present({ place: rules.place }) };
  }
  if ((reason === 'adopt' || reason === 'unknown') && rules.protected && !rules.adopt) {
    return {
      why: 'adopt-needed',
      because: 'no run remembers it here; it may be ours: look at the values that would go',
    };
  }
  // Permanent obstacles come first: they remain when the suspension is over.
  return suspendedReason(rules) ?? (PASSING.has(reason) ? undefined : closedReason(rules.closed));
}

/** Why a removal may not go now; undefined if windows and freezes permit it. @param environment null for all. */
export function removalClosed(
  policy: PlanPolicy,
  environment: string | null,
): WithheldReason | undefined {
  return closedReason(closingIn(policy, environment, { removes: true }));
}

function closedReason(closed: Closed | undefined): WithheldReason | undefined {
  if (closed === undefined) return undefined;
  const { why, until, untilText } = closed;
  const when =
    untilText === null ? 'it stays until the config says otherwise' : `it goes at ${untilText}`;
  return {
    why: 'window-closed',
    because: `${why}; ${when}`,
    ...(until !== null && { until }),
  };
}

/** Reasons that pass windows and freezes. */
const PASSING: ReadonlySet<Reason> = new Set(['kill', 'restore']);

/**
 * If two repositories or tools declare the same field, each takes the other's value for drift and reverts it, for ever.
 * So the state counts corrections, and runs hold a field that is corrected this often within the time.
 */
export const CONTESTED_AFTER = 3;
export const CONTEST_MS = 60 * 60 * 1_000;

/** Path of the whole object: in corrections, if it is deleted again and again; in specs, of a kind without fields. */
export const WHOLE_OBJECT = '';
/** Path of the keys of a segment in an environment, which are one field. */
export const SEGMENT_KEYS = '/keys';

/** Whether corrections at these times amount to a fight. @param moments the latest ones last; ISO 8601. */
function isContested(moments: readonly string[]): boolean {
  const latest = moments.slice(-CONTESTED_AFTER).map((each) => Date.parse(each));
  const spanMs = Math.max(...latest) - Math.min(...latest);
  return latest.length === CONTESTED_AFTER && spanMs <= CONTEST_MS;
}

type InPlaces = Pick<PlanPolicy, 'environments'>;

/** Undefined for the workspace, and for an environment that the service does not have. */
export function environmentNamed(
  { environments }: InPlaces,
  name: string | null | undefined,
): PlannedEnvironment | undefined {
  return environments.find((each) => each.name === name);
}

/** Names of the environments that the key of the run does not see. */
export function unseenIn({ environments }: InPlaces): string[] {
  return environments.flatMap((each) => (each.unseen ? [each.name] : []));
}

/** Definitions whose kill git orders no more. The specs need not declare them. */
export function endedIn({ restorable, orphaned }: PlanPolicy): readonly ObjectRef[] {
  return [...restorable.values(), ...(orphaned ?? [])];
}

/** Whether the filters of the run accept an object and its environment. */
export function isSelectedHere(
  policy: Pick<PlanPolicy, 'environments' | 'only'>,
  id: ObjectId,
): boolean {
  const { environment } = refOfId(id) ?? { environment: null };
  const isHere = environment === null || environmentNamed(policy, environment)?.selected === true;
  return isHere && (policy.only?.has(keyOfId(id)) ?? true);
}

/** @returns undefined for an environment that the service does not have. */
export function placeNamed(
  policy: InPlaces,
  name: string | null,
): PlannedEnvironment | Workspace | undefined {
  return name === null ? WORKSPACE : environmentNamed(policy, name);
}

export function closedFor(policy: PlanPolicy, change: Change): Closed | undefined {
  const { ref, fields } = change;
  if (fields.length > 0 && fields.every((each) => PASSING.has(each.reason) || isKill(each))) {
    return undefined;
  }
  return closingIn(policy, ref.environment, { removes: isRemoval(change) });
}

function closingIn(
  policy: PlanPolicy,
  environment: string | null,
  { removes }: { readonly removes: boolean },
): Closed | undefined {
  const place = environmentNamed(policy, environment);
  return place ? closedIn(policy, place) : closedAmong(policy, policy.environments, { removes });
}

export function suspendedReason({
  suspended,
}: Pick<PlanPolicy, 'suspended'>): WithheldReason | undefined {
  if (suspended === null) return undefined;
  const { until } = suspended;
  return { why: 'suspended', ...(until !== null && { until }) };
}
