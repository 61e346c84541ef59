import type { BoundDesired } from '../../model/bound-desired.js';
import { keyOf, KINDS, type Kind, type ObjectKey, type ObjectRef } from '../../model/ref.js';
import type { StateEntry } from '../../model/state.js';
import { FLAG_KIND } from './flag.js';
import { IDENTITIES_KIND } from './identities.js';
import { plannedObjects, type PlanPolicy } from '../policy.js';
import type { DeclaredObject, ObservedKind, PlannedKind } from './planned-kind.js';
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

/** Undefined also for a kind that the service cannot show. */
export function declaredObject(
  desired: BoundDesired,
  { kind, name }: Pick<ObjectRef, 'kind' | 'name'>,
): DeclaredObject | undefined {
  return observedKind(kind)?.declared(desired).get(name);
}

/** Of all kinds; identities once for each environment. */
export function declaredKeys(desired: BoundDesired): ObjectKey[] {
  return KINDS.flatMap((kind) =>
    plannedKind(kind)
      .declarations(desired)
      .map(({ name }) => keyOf(kind, name)),
  );
}

export function declarationsIn(desired: BoundDesired): DeclaredObject[] {
  return KINDS.flatMap((kind) => plannedKind(kind).declarations(desired));
}

/** Names that the service also lists elsewhere, when the base of an object was taken; undefined without one. */
export function namesInBase(
  entry: StateEntry | undefined,
): { readonly trafficType: string; readonly rolloutStatus?: string | undefined } | undefined {
  if (entry?.kind === 'identities') return { trafficType: entry.name };
  const spec = entry?.workspace?.spec;
  const fields = spec && 'fields' in spec ? spec.fields : undefined;
  return spec && { trafficType: spec.trafficType, rolloutStatus: fields?.rolloutStatus };
}

/** The objects that the filters accept, and all identities: comparing those with their base needs no request. */
export function desiredInScope(desired: BoundDesired, policy: PlanPolicy): BoundDesired {
  const planned = <T extends DeclaredObject>(kind: Kind, objects: ReadonlyMap<string, T>) =>
    new Map(plannedObjects(policy, kind, objects).map((each) => [each.name, each]));
  const { flags, segments } = desired;
  return { ...desired, flags: planned('flag', flags), segments: planned('segment', segments) };
}
