import { objectsOf, type DesiredObject } from '../../model/desired.js';
import { isCreation, type FieldChange, type StepRequest, type Withheld } from '../../model/plan.js';
import { keyOf, objectId, type Kind, type ObjectId, type ObjectRef } from '../../model/ref.js';
import type { Base, StateEntry } from '../../model/state.js';
import { isTargetPath, threeWay, type Fields } from '../fields.js';
import { creationReason, type PlanInput } from '../input.js';
import { baseIn, WORKSPACE } from '../place.js';
import { heldOrPlanned, withheld, type ChangeSubject, type ObjectPlan } from '../planned-change.js';
import {
  plannedObjects,
  rulesIn,
  withholdReason,
  type FieldRules,
  type PlannedEnvironment,
  WHOLE_OBJECT,
  removalClosed,
  suspendedReason,
  type WithheldReason,
} from '../policy.js';
import type { ObservedKind, Part } from './planned-kind.js';

export interface PlacedObject extends ChangeSubject {
  readonly rules: FieldRules;
  readonly base: Base<unknown> | undefined;
}

/** How a kind plans a declared object at workspace level, and in an environment that the object names. */
interface Levels<O> {
  readonly workspace: (object: O, placed: PlacedObject, input: PlanInput) => ObjectPlan;
  /** Undefined if it cannot be planned there. */
  readonly environment: (
    object: O,
    placed: PlacedObject & { readonly environment: PlannedEnvironment },
    input: PlanInput,
  ) => ObjectPlan | undefined;
}

export function planDeclared<O extends DesiredObject>(
  kind: Kind,
  objects: ReadonlyMap<string, O>,
  levels: Levels<O>,
  input: PlanInput,
): ObjectPlan[] {
  const { policy, state } = input;
  return plannedObjects(policy, kind, objects).flatMap((object) => {
    const { name, location } = object;
    const entry = state.get(keyOf(kind, name));
    const ref = { kind, name, environment: null };
    const rules = rulesIn(policy, WORKSPACE);
    const base = baseIn(entry, WORKSPACE);
    const whole = levels.workspace(object, { ref, location, rules, base }, input);
    // The service has another object under this name.
    if (whole.withheld.some(isOfOtherTrafficType)) return [whole];
    const acts = whole.change ? [whole.change.change] : whole.withheld;
    const created = acts.some(isCreation) ? [whole.id] : [];
    const parts = policy.environments.flatMap((environment) => {
      const part = object.environments.get(environment.name);
      if (!part || !environment.selected) return [];
      const placed = {
        ref: { ...ref, environment: environment.name },
        location: part.location,
        after: created,
        rules: rulesIn(policy, environment),
        base: baseIn(entry, environment),
        environment,
      };
      return levels.environment(object, placed, input) ?? [];
    });
    return [whole, ...parts];
  });
}

function isOfOtherTrafficType({ why, fields }: Withheld): boolean {
  return why === 'immutable' && fields.some(({ path }) => path === '/trafficType');
}

/** Fields that the service sets at the creation of an object, and that differ from the specs. */
export function immutable(
  placed: PlacedObject,
  fields: readonly { readonly path: string; readonly before: string; readonly after: string }[],
  because: string,
): Withheld[] {
  return fields
    .filter(({ before, after }) => before !== after)
    .map((field) => {
      const what = {
        action: 'update' as const,
        fields: [{ ...field, reason: 'conflict' as const }],
      };
      return withheld(placed, what, { why: 'immutable', because });
    });
}

/** A creation is held back as a whole or not at all. @param spec what a base would remember of the object. */
export function planCreation(
  placed: PlacedObject,
  { spec, fields }: { readonly spec: unknown; readonly fields: Fields },
  requests: () => readonly StepRequest[],
): ObjectPlan {
  const { base, rules } = placed;
  const reason = creationReason(base, spec);
  const held = withholdReason({ reason }, rules, base?.corrections?.[WHOLE_OBJECT]);
  const created = threeWay({ desired: fields, actual: new Map(), withoutBase: reason });
  return heldOrPlanned(placed, { action: 'create', fields: created }, held, requests);
}

export function planRemoval(
  entry: StateEntry,
  rules: ObservedKind,
  input: PlanInput,
): ObjectPlan[] {
  const { kind, name } = entry;
  const parts = rules.parts(name, input);
  if (!parts) return [];
  const declared = objectsOf(input.desired, kind).get(name);
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
  readonly declared: DesiredObject | undefined;
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

function removalWithholdReason(removal: Removal, input: PlanInput): WithheldReason | undefined {
  const { policy } = input;
  const { ref, declared, held } = removal;
  if (declared?.protect === true) return PROTECTED;
  if (!policy.prune) return policy.held?.get(objectId(ref)) ?? held ?? { why: 'prune-off' };
  // While suspended, a run does not ask history and the service about removals, so other obstacles are unknown.
  const suspended = suspendedReason(policy);
  if (suspended) return suspended;
  if (policy.protectedRemovals?.has(keyOf(ref.kind, ref.name)) === true) return PROTECTED;
  if (!policy.provenRemovals.has(objectId(ref))) return { why: 'no-witness' };
  return held ?? removalClosed(policy, ref.environment);
}

/** Objects are archived as a whole: one place of an object that remains, also elsewhere, can only be deleted. */
export function isArchived(
  entry: StateEntry | undefined,
  declared: object | undefined,
  { policy }: PlanInput,
): boolean {
  if (policy.archives !== true || declared || entry?.workspace === undefined) return false;
  return policy.held?.get(keyOf(entry.kind, entry.name))?.moved === undefined;
}

export function removedFields(fields: Fields, base?: Fields): FieldChange[] {
  return [...fields]
    .filter(([path]) => !isTargetPath(path))
    .map(([path, before]) => {
      const known = base?.get(path);
      return { path, reason: 'prune', ...(known !== undefined && { base: known }), before };
    });
}
