import { canonicalJson } from '../../model/json.js';
import type { BoundDesired } from '../../model/bound-desired.js';
import { objectId, type ObjectId, type ObjectRef } from '../../model/ref.js';
import { plannedKind } from '../objects/kinds.js';
import { isKillListed } from '../kills/orders.js';

/**
 * Canonical forms of objects as text: a commit that leaves an object's text as it is did not change the object. Leaves
 * out objects that the specs do not declare.
 */
export function fingerprintsOf(
  desired: BoundDesired,
  refs: readonly ObjectRef[],
): Map<ObjectId, string> {
  const forms = new Map<ObjectId, string>();
  for (const ref of refs) {
    const form = fingerprintOf(desired, ref);
    if (form !== undefined) forms.set(objectId(ref), canonicalJson(form));
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
  const forms = new Map<ObjectId, ReadonlyMap<string, string>>();
  for (const ref of refs) {
    const form = fieldFormOf(desired, ref);
    if (form) forms.set(objectId(ref), form);
  }
  return forms;
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
  const fields = plannedKind(kind).fieldsOf?.(desired, name, placeOf(ref));
  if (!fields) return new Map([[WHOLE, canonicalJson(form)]]);
  return new Map([...fields].map(([path, value]) => [path, canonicalJson(value)]));
}

function fingerprintOf(desired: BoundDesired, ref: ObjectRef): unknown {
  return plannedKind(ref.kind).fingerprint(desired, ref.name, placeOf(ref));
}

function placeOf({ environment }: ObjectRef): { name: string } | null {
  return environment === null ? null : { name: environment };
}
