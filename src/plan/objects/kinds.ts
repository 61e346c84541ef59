import type { BoundDesired } from '../../model/bound-desired.js';
import { objectsOf, withObjects } from '../../model/desired.js';
import type { Location } from '../../model/diagnostic.js';
import { keyOf, KINDS, type Kind, type ObjectKey } from '../../model/ref.js';
import type { StateEntry } from '../../model/state.js';
import { FLAG_KIND } from './flag.js';
import { IDENTITIES_KIND } from './identities.js';
import { plannedObjects, type PlanPolicy } from '../policy.js';
import type { ObservedKind, PlannedKind } from './planned-kind.js';
import { SEGMENT_KIND } from './segment.js';

const PLANNED_KINDS: Readonly<Record<Kind, PlannedKind>> = {
  segment: SEGMENT_KIND,
  flag: FLAG_KIND,
  // Last, because nothing uses identities, and there may be many.
  identities: IDENTITIES_KIND,
};

/** The first ones go first if nothing else decides; among removals they go last. */
export const KINDS_BY_RANK = Object.keys(PLANNED_KINDS) as readonly Kind[];

export function plannedKind(kind: Kind): PlannedKind {
  return PLANNED_KINDS[kind];
}

/** Null for a kind that the service cannot show. */
export function observedKind(kind: Kind): ObservedKind | null {
  return PLANNED_KINDS[kind].observed;
}

/** Kinds that the service can show; in the order of the state. */
export const OBSERVED_KINDS: readonly (readonly [kind: Kind, rules: ObservedKind])[] =
  KINDS.flatMap((kind) => {
    const rules = observedKind(kind);
    return rules ? [[kind, rules] as const] : [];
  });

/** The number of declared objects of the kinds that the service can show. */
export function declaredCount(desired: BoundDesired): number {
  const sizes = OBSERVED_KINDS.map(([kind]) => objectsOf(desired, kind).size);
  return sizes.reduce((sum, size) => sum + size, 0);
}

/** `KIND/NAME` of the declared objects of all kinds. */
export function declaredKeys(desired: BoundDesired): ObjectKey[] {
  return KINDS.flatMap((kind) =>
    [...objectsOf(desired, kind).keys()].map((name) => keyOf(kind, name)),
  );
}

interface Declaration {
  readonly key: ObjectKey;
  readonly location: Location;
  /** Names that the service must know. */
  readonly trafficType: string | undefined;
  readonly rolloutStatus: string | undefined;
}

/** What the declared objects of all kinds name. */
export function declarationsIn(desired: BoundDesired): Declaration[] {
  return KINDS.flatMap((kind) =>
    [...objectsOf(desired, kind).values()].map((object) => {
      const { name, location, trafficType } = object;
      const fields = 'fields' in object ? (object.creation ?? object.fields) : undefined;
      const rolloutStatus = fields?.rolloutStatus;
      return { key: keyOf(kind, name), location, trafficType, rolloutStatus };
    }),
  );
}

/** Names that the service had to know when the base of an object was taken; undefined without one. */
export function namesInBase(entry: StateEntry | undefined): Partial<Declaration> | undefined {
  if (entry?.kind === 'identities') return { trafficType: entry.name };
  const spec = entry?.workspace?.spec;
  const fields = spec && 'fields' in spec ? spec.fields : undefined;
  return spec && { trafficType: spec.trafficType, rolloutStatus: fields?.rolloutStatus };
}

/** The objects that the filters accept, and all that the service cannot show: comparing those needs no request. */
export function desiredInScope(desired: BoundDesired, policy: PlanPolicy): BoundDesired {
  return withObjects(desired, (objects, kind) =>
    observedKind(kind)
      ? new Map(plannedObjects(policy, kind, objects).map((each) => [each.name, each]))
      : objects,
  );
}
