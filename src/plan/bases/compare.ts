import { sameJson, canonicalJson } from '../../model/json.js';
import { keyOf, type Kind, objectId, type ObjectId, type ObjectRef } from '../../model/ref.js';
import { flagEntry, type Base } from '../../model/state.js';
import type { PlanInput } from '../input.js';
import { baseIn, selectedPlaces } from '../place.js';
import type { PlannedEnvironment } from '../policy.js';
import { flagSpec } from '../objects/flag-base.js';
import { observedKind, plannedKind } from '../objects/kinds.js';
import type { BoundDesired } from '../../model/bound-desired.js';
import { isKillListed } from '../kills/orders.js';

/** Whether there is nothing to do unless the object was changed on the service. False for undeclared objects. */
export function isAtBase(
  kind: Kind,
  name: string,
  { desired, policy, state }: Pick<PlanInput, 'desired' | 'policy' | 'state'>,
): boolean {
  const rules = observedKind(kind);
  const entry = state.get(keyOf(kind, name));
  if (!entry || !rules?.declared(desired).has(name)) return false;
  return selectedPlaces(policy).every((place) => {
    const base = baseIn(entry, place);
    const spec = rules.spec(desired, { kind, name, environment: place.name });
    return spec === undefined ? base === undefined : isBase(base, spec);
  });
}

/** Whether git still wants a definition as it was last found equal, or as the request that created it had it. */
export function isAsWritten(
  flag: string,
  { id, name: environment }: Pick<PlannedEnvironment, 'name' | 'id'>,
  { desired, state }: Pick<PlanInput, 'desired' | 'state'>,
): boolean {
  const base = flagEntry(state, flag)?.environments[id];
  const written =
    base?.pending === 'create' ? base.created : base?.pending ? undefined : base?.spec;
  const spec = flagSpec(desired, { name: flag, environment });
  return written !== undefined && spec !== undefined && sameJson(written, spec);
}

function isBase(base: Base<unknown> | undefined, spec: unknown): boolean {
  return base?.spec !== undefined && base.pending === undefined && sameJson(base.spec, spec);
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

/** A commit that leaves an object's text as it is did not change the object. Leaves out undeclared objects. */
export function fingerprintsOf(
  desired: BoundDesired,
  refs: readonly ObjectRef[],
): Map<ObjectId, string> {
  return formsBy(refs, (ref) => fingerprintOf(desired, ref));
}

function formsBy<T>(
  refs: readonly ObjectRef[],
  formOf: (ref: ObjectRef) => T | undefined,
): Map<ObjectId, T> {
  const forms = new Map<ObjectId, T>();
  for (const ref of refs) {
    const form = formOf(ref);
    if (form !== undefined) forms.set(objectId(ref), form);
  }
  return forms;
}

/** The key for the form of a whole object, of a kind without fields. */
const WHOLE = '';
const KILLED: ReadonlyMap<string, string> = new Map([['/killed', 'true']]);

/**
 * Fingerprints field by field (JSON Pointer → text). For a flag declared elsewhere, the only field is the kill that the
 * break-glass list orders. Used to describe a change; it does not make an object managed.
 */
export function fieldFormsOf(
  desired: BoundDesired,
  refs: readonly ObjectRef[],
): Map<ObjectId, ReadonlyMap<string, string>> {
  return formsBy(refs, (ref) => fieldFormOf(desired, ref));
}

function fieldFormOf(
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
  if (!fields) return new Map([[WHOLE, form]]);
  return new Map([...fields].map(([path, value]) => [path, canonicalJson(value)]));
}

function fingerprintOf(desired: BoundDesired, ref: ObjectRef): string | undefined {
  const form = plannedKind(ref.kind).fingerprint(desired, ref);
  return form === undefined ? undefined : canonicalJson(form);
}
