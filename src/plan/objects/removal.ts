import { keyOf, objectId, type ObjectId, type ObjectRef } from '../../model/ref.js';
import type { FieldChange } from '../../model/plan.js';
import type { StateEntry } from '../../model/state.js';
import { heldOrPlanned, type ObjectPlan, type ChangeSubject } from '../planned-change.js';
import { isTargetPath, type Fields } from '../fields.js';
import type { PlanInput } from '../input.js';
import { removalClosed, suspendedReason, type WithheldReason } from '../policy.js';
import type { DeclaredObject, ObservedKind, Part } from './planned-kind.js';

export function planRemoval(
  entry: StateEntry,
  rules: ObservedKind,
  input: PlanInput,
): ObjectPlan[] {
  const { kind, name } = entry;
  const parts = rules.parts(name, input);
  if (!parts) return [];
  const declared = rules.declared(input.desired).get(name);
  const ref: ObjectRef = { kind, name, environment: null };
  const planned = input.policy.environments.flatMap((environment) => {
    const { selected, id, name: place } = environment;
    const isOurs = entry.environments[id] !== undefined;
    if (!selected || !isOurs || declared?.environments.has(place)) return [];
    const part = parts.placeIn(environment);
    if (!part) return [];
    const after = part.archive ? [objectId(ref)] : [];
    const there = { ...ref, environment: environment.name };
    return [planDeletion({ ref: there, declared, after, ...part }, input)];
  });
  if (declared || entry.workspace === undefined) return planned;
  const whole = parts.whole();
  const going = planned.flatMap(({ id, change }) => (change ? [id] : []));
  const after = whole.archive ? [] : going;
  return [...planned, planDeletion({ ref, declared, after, ...whole }, input)];
}

interface Removal extends Part {
  readonly ref: ObjectRef;
  /** The part of the object that the specs still declare, if any. */
  readonly declared: DeclaredObject | undefined;
  readonly after: readonly ObjectId[];
}

function planDeletion(removal: Removal, input: PlanInput): ObjectPlan {
  const { ref, action, fields, keys, archive, requests, after } = removal;
  const subject: ChangeSubject = { ref, location: null, after };
  const reason = 'prune' as const;
  const what = { action, fields, reason, ...(keys && { keys }), ...(archive && { archive }) };
  return heldOrPlanned(subject, what, removalWithholdReason(removal, input), () => requests);
}

const PROTECTED: WithheldReason = { why: 'protected' };

/** The object on the service has another id than the state. */
export const NOT_OURS: WithheldReason = {
  why: 'not-ours',
  because: 'ours was deleted outside git, and another one of that name was made',
};

function removalWithholdReason(
  removal: Removal,
  { policy }: PlanInput,
): WithheldReason | undefined {
  const { ref, declared, held } = removal;
  if (declared?.protect === true) return PROTECTED;
  if (!policy.prune) return { why: 'prune-off' };
  // While suspended, a run does not ask history and the service about removals, so other obstacles are unknown.
  const suspended = suspendedReason(policy);
  if (suspended) return suspended;
  if (policy.protectedRemovals?.has(keyOf(ref.kind, ref.name)) === true) return PROTECTED;
  if (!policy.provenRemovals.has(objectId(ref))) return { why: 'no-witness' };
  return held ?? removalClosed(policy, ref.environment);
}

/** Only as a whole: one place of a remaining object can only be deleted. */
export function isArchived(
  entry: Pick<StateEntry, 'workspace'> | undefined,
  declared: object | undefined,
  { policy }: PlanInput,
): boolean {
  return policy.archives === true && !declared && entry?.workspace !== undefined;
}

export function removedFields(fields: Fields, base?: Fields): FieldChange[] {
  return [...fields]
    .filter(([path]) => !isTargetPath(path))
    .map(([path, before]) => {
      const known = base?.get(path);
      return { path, reason: 'prune', ...(known !== undefined && { base: known }), before };
    });
}
