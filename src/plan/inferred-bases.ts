import type { BoundDesired } from '../model/bound-desired.js';
import type { DesiredDefinition } from '../model/desired.js';
import type { Change, Plan } from '../model/plan.js';
import { keyOf, keyOfId, objectId, type ObjectId, type ObjectRef } from '../model/ref.js';
import { EMPTY_STATE, entryId, type Base, type State, type StateEntry } from '../model/state.js';
import { fingerprintsOf } from './bases/fingerprint.js';
import type { PlanInput } from './input.js';
import { OBSERVED_KINDS } from './objects/kinds.js';
import type { ObservedKind } from './objects/planned-kind.js';
import { planChanges } from './plan.js';
import { plannedObjects, workspaceRules, type PlanPolicy } from './policy.js';

/** What the specs said before the push at hand. */
export interface EarlierSpecs {
  readonly desired: BoundDesired;
  readonly commit: string;
}

/** Whether a plan has differences of which no run remembers how they came about. */
export function hasUnremembered({ changes, withheld }: Plan): boolean {
  return [...changes, ...withheld].some(isUnremembered);
}

function isUnremembered({ reason, fields }: Change): boolean {
  return [reason, ...fields.map((field) => field.reason)].some(
    (each) => each === 'adopt' || each === 'unknown',
  );
}

/**
 * The state, and in it a base of each object that has none, that the push at hand changed, and that the service has as
 * the specs said before it: then nobody else changed it, and what those specs said is what was last found equal.
 *
 * Such a base has no kill in it. Taking one back is an act that needs a run's own memory.
 *
 * @returns the same state where there is no such object.
 */
export function stateWithInferredBases(input: PlanInput, before: EarlierSpecs): State {
  const changed = changedObjects(input, before.desired);
  if (changed.length === 0) return input.state;
  const desired = partOf(before.desired, new Set(changed.map(({ ref }) => objectId(ref))));
  const policy: PlanPolicy = { ...input.policy, restorable: new Map(), reviewed: null };
  // What the planner would not touch is equal, in the words by which everything else is compared.
  const { unchanged } = planChanges({ ...input, desired, policy, state: EMPTY_STATE });
  const equal = new Set(unchanged);
  const inferred = changed.filter(({ ref }) => equal.has(objectId(ref)));
  if (inferred.length === 0) return input.state;
  const state = new Map(input.state);
  for (const { ref, rules, place } of inferred) {
    const { kind, name, environment } = ref;
    const spec =
      environment === null
        ? rules.workspaceBase(desired, name)
        : rules.environmentBase(desired, name, { name: environment });
    const base = { spec, commit: before.commit };
    const key = keyOf(kind, name);
    const id = entryId(state.get(key)) ?? rules.serviceId(input.actual, name);
    const entry = state.get(key) ?? {
      kind,
      name,
      environments: {},
      ...(id !== undefined && { id }),
    };
    state.set(key, withBase(entry, place, base));
  }
  return state;
}

/** An object in one place. */
interface PlacedObject {
  readonly ref: ObjectRef;
  readonly rules: ObservedKind;
  /** The id of the environment; null: the workspace level. */
  readonly place: string | null;
}

/**
 * Whether history may tell the base of what stands in a place. A run that can keep no state meets the same newest commit again and
 * again, also after somebody took it back on the service: where that is protected, only a push that the operator names will do.
 */
function witnessIn({
  stateless,
  reviewed = null,
}: PlanPolicy): (place: { readonly protected: boolean }) => boolean {
  return (place) => !stateless || reviewed !== null || !place.protected;
}

/** What both specs declare, each otherwise, and of which there is no base. */
function changedObjects(
  { desired, state, policy }: PlanInput,
  before: BoundDesired,
): PlacedObject[] {
  const isWitness = witnessIn(policy);
  const places = [
    { id: null, name: null, selected: true, protected: workspaceRules(policy).protected },
    ...policy.environments,
  ].filter((place) => place.selected && isWitness(place));
  const objects = OBSERVED_KINDS.flatMap(([kind, rules]) =>
    plannedObjects(policy, kind, rules.declared(desired)).flatMap(({ name }) => {
      const entry = state.get(keyOf(kind, name));
      return places.flatMap(({ id, name: environment }): PlacedObject[] => {
        const base = id === null ? entry?.workspace : entry?.environments[id];
        if (base?.spec !== undefined || base?.pending !== undefined) return [];
        return [{ ref: { kind, name, environment }, rules, place: id }];
      });
    }),
  );
  const refs = objects.map(({ ref }) => ref);
  const [then, now] = [fingerprintsOf(before, refs), fingerprintsOf(desired, refs)];
  return objects.filter(({ ref }) => {
    const [was, is] = [then.get(objectId(ref)), now.get(objectId(ref))];
    return was !== undefined && is !== undefined && was !== is;
  });
}

/** The specs of some objects alone, without what they say of kills: those have rules of their own. */
function partOf(desired: BoundDesired, ids: ReadonlySet<ObjectId>): BoundDesired {
  const keys = new Set([...ids].map(keyOfId));
  const isKept = (kind: 'flag' | 'segment', name: string, environment: string): boolean =>
    ids.has(objectId({ kind, name, environment }));
  const flags = [...desired.flags].filter(([name]) => keys.has(keyOf('flag', name)));
  const segments = [...desired.segments].filter(([name]) => keys.has(keyOf('segment', name)));
  return {
    ...desired,
    identities: [],
    kills: [],
    killLists: new Set(),
    flags: new Map(
      flags.map(([name, flag]) => {
        const kept = [...flag.environments].filter(([place]) => isKept('flag', name, place));
        const environments = new Map(kept.map(([place, each]) => [place, withoutKill(each)]));
        return [name, { ...flag, environments }];
      }),
    ),
    segments: new Map(
      segments.map(([name, segment]) => {
        const kept = [...segment.environments].filter(([place]) => isKept('segment', name, place));
        return [name, { ...segment, environments: new Map(kept) }];
      }),
    ),
  };
}

function withoutKill(definition: DesiredDefinition): DesiredDefinition {
  const said = Object.entries(definition.fields).filter(([name]) => name !== 'killed');
  return { ...definition, fields: Object.fromEntries(said) };
}

function withBase(entry: StateEntry, place: string | null, base: Base<unknown>): StateEntry {
  // The base is one of the entry's own kind.
  const whole =
    place === null
      ? { ...entry, workspace: base }
      : { ...entry, environments: { ...entry.environments, [place]: base } };
  return whole as StateEntry;
}
