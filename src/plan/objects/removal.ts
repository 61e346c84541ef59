import { keyOf, objectId, type ObjectId, type ObjectRef } from '../../model/ref.js';
import type { Action, FieldChange, KeyChange } from '../../model/plan.js';
import type { RemovalMark, StateEntry } from '../../model/state.js';
import type { StepRequest } from '../../model/step.js';
import { plannedChange, withheld, type ObjectPlan, type ChangeSubject } from '../planned-change.js';
import type { PlanInput } from '../input.js';
import {
  type PlanPolicy,
  removalClosed,
  suspendedReason,
  type PlannedEnvironment,
  type WithheldReason,
} from '../policy.js';
import type { DeclaredObject } from './planned-kind.js';

/**
 * Plans what git used to declare of one object of the inventory and no longer does.
 *
 * @param parts how its kind is taken away; undefined: the object is gone.
 */
export function plannedRemoval(
  entry: StateEntry,
  parts: Parts | undefined,
  declared: DeclaredObject | undefined,
  input: PlanInput,
): ObjectPlan[] {
  if (!parts) return [];
  const { kind, name } = entry;
  const ref: ObjectRef = { kind, name, environment: null };
  const planned = input.policy.environments.flatMap((environment) => {
    const { selected, id, name: place } = environment;
    const isOurs = entry.environments[id] !== undefined;
    if (!selected || !isOurs || declared?.environments.has(place)) return [];
    const part = parts.placeIn(environment);
    if (!part) return [];
    const mark = entry.environments[id]?.removed;
    const after = part.archive ? [objectId(ref)] : [];
    const there = { ...ref, environment: environment.name };
    return [planDeletion({ ref: there, declared, mark, after, ...part }, input)];
  });
  if (declared || entry.workspace === undefined) return planned;
  const whole = parts.whole();
  const mark = entry.workspace.removed;
  const going = planned.flatMap(({ id, change }) => (change ? [id] : []));
  const after = whole.archive ? [] : going;
  return [...planned, planDeletion({ ref, declared, mark, after, ...whole }, input)];
}

/** What is written to take an object away, whole or in one place. */
interface Part {
  readonly action: Action;
  readonly fields: readonly FieldChange[];
  readonly keys?: KeyChange;
  /** None where it goes with the whole. */
  readonly requests: readonly StepRequest[];
  /** The service keeps it. Absent: it is deleted. */
  readonly archive?: true;
  readonly held?: WithheldReason | undefined;
}

interface Removal extends Part {
  readonly ref: ObjectRef;
  /** What the specs still declare of the object; undefined: nothing. */
  readonly declared: DeclaredObject | undefined;
  /** Absent: no run marked it. */
  readonly mark: RemovalMark | undefined;
  readonly after: readonly ObjectId[];
}

/** How an object of one kind is taken away. */
export interface Parts {
  /** Undefined: the service has nothing there. */
  readonly placeIn: (environment: PlannedEnvironment) => Part | undefined;
  readonly whole: () => Part;
}

/** A removal as a planned change, or withheld by the first rule that stands against it. */
function planDeletion(removal: Removal, input: PlanInput): ObjectPlan {
  const { ref, action, fields, keys, archive, requests, after } = removal;
  const subject: ChangeSubject = { ref, location: null, after };
  const reason = 'prune' as const;
  const what = { action, fields, reason, ...(keys && { keys }), ...(archive && { archive }) };
  const held = removalWithholdReason(removal, input);
  const id = objectId(ref);
  if (held) return { id, withheld: [withheld(subject, what, held)] };
  return { id, withheld: [], change: plannedChange(subject, what, requests) };
}

const PROTECTED: WithheldReason = {
  why: 'protected',
  wayOut: 'bring it back, take `protect: true` out of it in one commit, and remove it in the next',
};

/** What stands under the name of an object has another id than a run remembers of it. */
export const NOT_OURS: WithheldReason = {
  why: 'not-ours',
  wayOut:
    'ours was deleted outside git, and somebody made another one of that name; declare it again to take it over, or delete it on the service by hand',
};

function removalWithholdReason(
  removal: Removal,
  { policy }: PlanInput,
): WithheldReason | undefined {
  const { ref, declared, archive, held } = removal;
  if (declared?.protect === true) return PROTECTED;
  if (!policy.prune) {
    const verb = archive ? 'archive' : 'delete';
    const wayOut = `set \`prune: true\` in flagkeel.yaml or run with --prune to ${verb} it`;
    return { why: 'prune-off', wayOut };
  }
  // Nobody asked history and the service about a removal that cannot be made now: what else stands against it is unknown.
  const suspended = suspendedReason(policy);
  if (suspended) return suspended;
  if (policy.protectedRemovals?.has(keyOf(ref.kind, ref.name)) === true) return PROTECTED;
  if (!policy.provenRemovals.has(objectId(ref))) {
    const wayOut = 'no ancestor of HEAD declares it; delete it on the service by hand';
    return { why: 'no-witness', wayOut };
  }
  return held ?? coolingDown(removal, policy) ?? removalClosed(policy, ref.environment);
}

/** Undefined: deletions are made in one step, or the cool-down of this one is over. */
function coolingDown(
  { ref, mark, archive }: Removal,
  policy: PlanPolicy,
): WithheldReason | undefined {
  const { tombstone } = policy;
  if (!tombstone) return undefined;
  const { coolDown, coolDownMs, nowMs } = tombstone;
  const done = archive ? 'archived' : 'deleted';
  const standing = standingMark(ref, mark, policy);
  if (!standing) {
    const wayOut = `no run remembers that it went; the first that prunes marks it, and it will be ${done} ${coolDown} after that, unless it comes back`;
    return { why: 'cooling-down', wayOut };
  }
  const dueMs = Date.parse(standing.since) + coolDownMs;
  if (dueMs <= nowMs) return undefined;
  const until = new Date(dueMs).toISOString();
  const by = standing.commit === null ? '' : `, removed by ${standing.commit.slice(0, 8)}`;
  const wayOut = `will be ${done} after ${until}, unless it comes back (marked ${standing.since}${by})`;
  return { why: 'cooling-down', wayOut, until };
}

/** The mark of this very removal: of one that came back and went again since, an older mark says nothing. */
function standingMark(
  { kind, name }: ObjectRef,
  mark: RemovalMark | undefined,
  { removedBy }: PlanPolicy,
): RemovalMark | undefined {
  const by = removedBy?.get(keyOf(kind, name));
  return by === undefined || mark?.commit === by ? mark : undefined;
}

/** The mark that a removal has after a run that could make it; undefined: it has none. */
export function markOf(
  ref: ObjectRef,
  before: RemovalMark | undefined,
  policy: PlanPolicy,
  now: { readonly since: string; readonly head: string | null },
): RemovalMark | undefined {
  if (!policy.tombstone) return undefined;
  const key = keyOf(ref.kind, ref.name);
  const isDue =
    policy.provenRemovals.has(objectId(ref)) && policy.protectedRemovals?.has(key) !== true;
  const standing = standingMark(ref, before, policy);
  if (standing || !isDue) return standing;
  return { since: now.since, commit: policy.removedBy?.get(key) ?? now.head };
}

/** Whether an object that can be archived is: it goes whole. One place of what stays can only be deleted. */
export function isArchived(
  entry: Pick<StateEntry, 'workspace'> | undefined,
  declared: object | undefined,
  { policy }: PlanInput,
): boolean {
  return policy.archives === true && !declared && entry?.workspace !== undefined;
}

export function removedFields(fields: ReadonlyMap<string, unknown>): FieldChange[] {
  return [...fields]
    .filter(([path]) => !path.startsWith('/targets/'))
    .map(([path, before]) => ({ path, reason: 'prune', before }));
}
