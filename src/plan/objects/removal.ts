import { keyOf, objectId, type ObjectId, type ObjectRef } from '../../model/ref.js';
import type { Action, FieldChange, KeyChange } from '../../model/plan.js';
import type { StateEntry } from '../../model/state.js';
import type { StepRequest } from '../../model/step.js';
import { plannedChange, withheld, type ObjectPlan, type ChangeSubject } from '../planned-change.js';
import type { PlanInput } from '../input.js';
import {
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
  const planned = input.policy.environments.flatMap((environment) => {
    const { selected, id, name: place } = environment;
    const isOurs = entry.environments[id] !== undefined;
    if (!selected || !isOurs || declared?.environments.has(place)) return [];
    const part = parts.placeIn(environment);
    const ref: ObjectRef = { kind, name, environment: environment.name };
    return part ? [planDeletion({ ref, declared, after: [], ...part }, input)] : [];
  });
  if (declared || entry.workspace === undefined) return planned;
  const ref: ObjectRef = { kind, name, environment: null };
  const after = planned.flatMap(({ id, change: going }) => (going ? [id] : []));
  return [...planned, planDeletion({ ref, declared, after, ...parts.whole() }, input)];
}

/** What is written to take an object away, whole or in one place. */
interface Part {
  readonly action: Action;
  readonly fields: readonly FieldChange[];
  readonly keys?: KeyChange;
  readonly requests: readonly StepRequest[];
  readonly held?: WithheldReason | undefined;
}

interface Removal extends Part {
  readonly ref: ObjectRef;
  /** What the specs still declare of the object; undefined: nothing. */
  readonly declared: DeclaredObject | undefined;
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
  const { ref, action, fields, keys, requests, after } = removal;
  const subject: ChangeSubject = { ref, location: null, after };
  const what = { action, fields, reason: 'prune' as const, ...(keys && { keys }) };
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
  { ref, declared, held }: Removal,
  { policy }: PlanInput,
): WithheldReason | undefined {
  if (declared?.protect === true) return PROTECTED;
  if (!policy.prune) {
    const wayOut = 'set `prune: true` in flaghoist.yaml or run with --prune to delete it';
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
  return held ?? removalClosed(policy, ref.environment);
}

export function removedFields(fields: ReadonlyMap<string, unknown>): FieldChange[] {
  return [...fields]
    .filter(([path]) => !path.startsWith('/targets/'))
    .map(([path, before]) => ({ path, reason: 'prune', before }));
}
