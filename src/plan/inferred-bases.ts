import type { BoundDesired } from '../model/bound-desired.js';
import { objectsOf, withObjects, type DesiredFlag } from '../model/desired.js';
import type { Plan } from '../model/plan.js';
import { keyOf, keyOfId, objectId, type ObjectId, type ObjectRef } from '../model/ref.js';
import { EMPTY_STATE, type State } from '../model/state.js';
import { fingerprintOf } from './bases/compare.js';
import type { PlanInput } from './input.js';
import { OBSERVED_KINDS } from './objects/kinds.js';
import type { ObservedKind } from './objects/planned-kind.js';
import { planChanges } from './plan.js';
import { baseIn, putBase, selectedPlaces, type Place } from './place.js';
import { plannedObjects, rulesIn, type PlanPolicy } from './policy.js';

export interface EarlierSpecs {
  readonly desired: BoundDesired;
  readonly commit: string;
}

/** Whether a plan has differences whose cause the state does not know. */
export function hasUnremembered({ changes, withheld }: Plan): boolean {
  return [...changes, ...withheld]
    .flatMap(({ reason, fields }) => [reason, ...fields.map((field) => field.reason)])
    .some((reason) => reason === 'adopt' || reason === 'unknown');
}

/**
 * An object without a base gets the specs before the push as its base if the push changed it and the service has it as
 * they say, because then no one else changed it. It never gets a kill: taking one back needs a run that remembers it.
 */
export function stateWithInferredBases(input: PlanInput, before: EarlierSpecs): State {
  const changed = changedObjects(input, before.desired);
  const desired = partOf(before.desired, new Set(changed.map(({ ref }) => objectId(ref))));
  const policy: PlanPolicy = { ...input.policy, restorable: new Map(), reviewed: null };
  // An object that the planner would leave alone is equal, by the same comparison as everywhere else.
  const { unchanged } = planChanges({ ...input, desired, policy, state: EMPTY_STATE });
  const equal = new Set(unchanged);
  const inferred = changed.filter(({ ref }) => equal.has(objectId(ref)));
  if (inferred.length === 0) return input.state;
  const state = new Map(input.state);
  for (const { ref, rules, place } of inferred) {
    const base = { spec: rules.spec(desired, ref), commit: before.commit };
    putBase(state, ref, place, base, rules.seen(input.actual, ref.name)?.id);
  }
  return state;
}

interface ChangedObject {
  readonly ref: ObjectRef;
  readonly rules: ObservedKind;
  readonly place: Place;
}

/** Objects that both specs declare, but differently, and that have no base. */
function changedObjects(input: PlanInput, before: BoundDesired): ChangedObject[] {
  const { desired, state, policy } = input;
  // A run without a state sees the same newest commit again and again, even after someone undid it on the service: in a
  // protected place it uses only a push that the operator names.
  const isNamed = !policy.stateless || (policy.reviewed ?? null) !== null;
  const places = selectedPlaces(policy).filter(
    (place) => isNamed || !rulesIn(policy, place).protected,
  );
  return OBSERVED_KINDS.flatMap(([kind, rules]) =>
    plannedObjects(policy, kind, objectsOf(desired, kind)).flatMap(({ name }) => {
      const entry = state.get(keyOf(kind, name));
      return places.flatMap((place): ChangedObject[] => {
        const base = baseIn(entry, place);
        if (base?.spec !== undefined || base?.pending !== undefined) return [];
        const ref = { kind, name, environment: place.name };
        const [was, is] = [fingerprintOf(before, ref), fingerprintOf(desired, ref)];
        return was === undefined || is === undefined || was === is ? [] : [{ ref, rules, place }];
      });
    }),
  );
}

/** The specs of some objects without their kills, which have rules of their own. */
function partOf(desired: BoundDesired, ids: ReadonlySet<ObjectId>): BoundDesired {
  const keys = new Set([...ids].map(keyOfId));
  const { flags, ...part } = withObjects(desired, (objects, kind) => {
    const found = [...objects].filter(([name]) => keys.has(keyOf(kind, name)));
    return new Map(
      found.map(([name, object]) => {
        const environments = [...object.environments].filter(([environment]) =>
          ids.has(objectId({ kind, name, environment })),
        );
        return [name, { ...object, environments: new Map(environments) }];
      }),
    );
  });
  const live = [...flags].map(([name, flag]) => [name, withoutKills(flag)] as const);
  return { ...part, flags: new Map(live), kills: [], killLists: new Set() };
}

function withoutKills(flag: DesiredFlag): DesiredFlag {
  const environments = [...flag.environments].map(([name, definition]) => {
    const { killed: _, ...fields } = definition.fields;
    return [name, { ...definition, fields }] as const;
  });
  return { ...flag, environments: new Map(environments) };
}
