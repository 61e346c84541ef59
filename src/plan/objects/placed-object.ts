import type { Location } from '../../model/diagnostic.js';
import type { StepRequest, Withheld } from '../../model/plan.js';
import { keyOf, objectId, type Kind } from '../../model/ref.js';
import type { Base } from '../../model/state.js';
import { createdFields, type Fields } from '../fields.js';
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
} from '../policy.js';
import type { DeclaredObject } from './planned-kind.js';

export interface PlacedObject extends ChangeSubject {
  readonly rules: FieldRules;
  readonly base: Base<unknown> | undefined;
}

interface Declared extends DeclaredObject {
  readonly environments: ReadonlyMap<string, { readonly location: Location }>;
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

export function planDeclared<O extends Declared>(
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
    const [rules, base] = [rulesIn(policy, WORKSPACE), baseIn(entry, WORKSPACE)];
    const whole = levels.workspace(object, { ref, location, rules, base }, input);
    // The service has another object under this name.
    if (whole.withheld.some(isOfOtherTrafficType)) return [whole];
    const parts = policy.environments.flatMap((environment) => {
      const part = object.environments.get(environment.name);
      if (!part || !environment.selected) return [];
      const placed = {
        ref: { ...ref, environment: environment.name },
        location: part.location,
        after: [objectId(ref)],
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
  const what = { action: 'create' as const, fields: createdFields(fields, reason) };
  return heldOrPlanned(placed, what, held, requests);
}
