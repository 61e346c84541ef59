import type { BoundDesired } from '../../model/bound-desired.js';
import { changedKeys } from '../../model/collections.js';
import { objectsOf } from '../../model/desired.js';
import { canonicalJson, sameJson } from '../../model/json.js';
import { keyOf, parseKey, type Kind, type ObjectKey, type ObjectRef } from '../../model/ref.js';
import { flagEntry, type Base, type State } from '../../model/state.js';
import type { PlanInput } from '../input.js';
import { isKillListed } from '../kills/orders.js';
import { flagSpec } from '../objects/flag-base.js';
import { declaredKeys, observedKind, OBSERVED_KINDS, plannedKind } from '../objects/kinds.js';
import { baseIn, selectedPlaces } from '../place.js';
import { WHOLE_OBJECT, type PlannedEnvironment } from '../policy.js';

type BasesInput = Pick<PlanInput, 'desired' | 'state' | 'policy'>;

/** Whether there is nothing to do unless the object was changed on the service. False for undeclared objects. */
export function isAtBase(kind: Kind, name: string, known: BasesInput): boolean {
  const { desired, policy, state } = known;
  const rules = observedKind(kind);
  const entry = state.get(keyOf(kind, name));
  if (!rules || !objectsOf(desired, kind).has(name)) return false;
  return selectedPlaces(policy).every((place) => {
    const base = baseIn(entry, place);
    const spec = rules.spec(desired, { kind, name, environment: place.name });
    if (spec === undefined) return base === undefined;
    return base?.spec !== undefined && base.pending === undefined && sameJson(base.spec, spec);
  });
}

/** Whether git still wants a definition as it was last found equal, or as the request that created it had it. */
export function isAsWritten(
  flag: string,
  { id, name: environment }: Pick<PlannedEnvironment, 'name' | 'id'>,
  { desired, state }: Pick<PlanInput, 'desired' | 'state'>,
): boolean {
  const base = flagEntry(state, flag)?.environments[id];
  const equal = base?.pending === undefined ? base?.spec : undefined;
  const written = base?.pending === 'create' ? base.created : equal;
  const spec = flagSpec(desired, { name: flag, environment });
  return spec !== undefined && sameJson(written, spec);
}

/**
 * The base of an object that was found equal as a whole. The commit is the origin of the spec, so it stays as long as
 * the spec does. Fields with commits of their own get the present one, at which all of them were equal.
 */
export function baseOf<T>(spec: T, before: Base<T> | undefined, head: string | null): Base<T> {
  const same =
    before?.spec !== undefined && before.fields === undefined && sameJson(before.spec, spec);
  // Reuses the object in memory, instead of keeping ten thousand equal copies.
  return same ? { spec: before.spec, commit: before.commit ?? head } : { spec, commit: head };
}

/** A commit that leaves the text of an object as it is did not change the object. Undefined if it is not declared there. */
export function fingerprintOf(desired: BoundDesired, ref: ObjectRef): string | undefined {
  const form = plannedKind(ref.kind).fingerprint(desired, ref);
  return form === undefined ? undefined : canonicalJson(form);
}

const KILLED: ReadonlyMap<string, string> = new Map([['/killed', 'true']]);

/**
 * The fingerprint field by field (JSON Pointer → text). For a flag declared elsewhere, the only field is the kill that
 * the break-glass list orders. Used to describe a change; it does not make an object managed.
 */
export function fieldFormsOf(
  desired: BoundDesired,
  ref: ObjectRef,
): ReadonlyMap<string, string> | undefined {
  const { kind, name, environment } = ref;
  const form = fingerprintOf(desired, ref);
  if (form === undefined) {
    const isListed =
      kind === 'flag' && environment !== null && isKillListed(desired, name, environment);
    return isListed ? KILLED : undefined;
  }
  const fields = plannedKind(kind).fieldsOf?.(desired, ref);
  if (!fields) return new Map([[WHOLE_OBJECT, form]]);
  return new Map([...fields].map(([path, value]) => [path, canonicalJson(value)]));
}

export interface ComparedBases {
  readonly desired: BoundDesired;
  readonly state: State;
  /** The environments, as text for comparison. */
  readonly places: string;
  /** `KIND/NAME` of objects whose specs differ from their base. */
  readonly away: ReadonlySet<string>;
}

/** @param before an earlier comparison: only what changed since is compared again. */
export function comparedWithBases(known: BasesInput, before: ComparedBases | null): ComparedBases {
  const { desired, state, policy } = known;
  const places = JSON.stringify(
    policy.environments.map(({ id, name, selected }) => [id, name, selected]),
  );
  const last = before?.places === places ? before : null;
  const away = new Set(last?.away);
  for (const key of last ? changedSince(last, known) : declaredKeys(desired)) {
    if (isAway(key, known)) away.add(key);
    else away.delete(key);
  }
  return { desired, state, places, away };
}

/** `KIND/NAME` of the objects that differ between two specs, or that only one has; only of observable kinds. */
export function changedObjects(before: BoundDesired, now: BoundDesired): ObjectKey[] {
  return OBSERVED_KINDS.flatMap(([kind]) =>
    changedKeys(objectsOf(before, kind), objectsOf(now, kind)).map((name) => keyOf(kind, name)),
  );
}

function changedSince(last: ComparedBases, { desired, state }: BasesInput): Set<ObjectKey> {
  return new Set([
    ...changedObjects(last.desired, desired),
    ...changedKeys(last.state, state),
    // Lists of kills are short, so every flag in one is compared again.
    ...[...last.desired.kills, ...desired.kills].map(({ flag }) => keyOf('flag', flag)),
  ]);
}

/** False for an undeclared object, which is gone. Kinds that are not observable are part of every run. */
function isAway(key: ObjectKey, known: BasesInput): boolean {
  const ref = parseKey(key);
  if (!ref || !observedKind(ref.kind)) return false;
  const { kind, name } = ref;
  return objectsOf(known.desired, kind).has(name) && !isAtBase(kind, name, known);
}
