import { identitiesSha256 } from '../kinds/identity.js';
import { canonicalJson } from '../kinds/json.js';
import type { Desired } from '../model/desired.js';
import { objectId, type ObjectId, type ObjectRef } from '../model/object-id.js';
import { identitiesIn } from '../plan/identities.js';
import { isKillListed } from '../plan/kill-orders.js';
import { effectiveFields } from '../plan/kills.js';
import type { PlannedEnvironment } from '../plan/policy.js';

/**
 * Canonical forms of objects in some specs, as text: two commits between which an object's text is the same did not
 * change it. Objects that the specs do not declare are left out.
 */
export function formsOf(
  desired: Desired,
  refs: readonly ObjectRef[],
  environments: readonly PlannedEnvironment[],
): Map<ObjectId, string> {
  const forms = new Map<ObjectId, string>();
  for (const ref of refs) {
    const form = formOf(desired, ref, environments);
    if (form !== undefined) forms.set(objectId(ref), canonicalJson(form));
  }
  return forms;
}

/**
 * The same, and of a flag that is declared elsewhere the kill that the break-glass list orders: all of it that is of
 * this repository. For the words of a change; it makes nothing ours.
 */
export function formsWithKills(
  desired: Desired,
  refs: readonly ObjectRef[],
  environments: readonly PlannedEnvironment[],
): Map<ObjectId, string> {
  const forms = formsOf(desired, refs, environments);
  for (const ref of refs) {
    const place = environments.find((each) => each.name === ref.environment);
    if (ref.kind !== 'flag' || !place || forms.has(objectId(ref))) continue;
    if (isKillListed(desired, ref.name, place.configName)) forms.set(objectId(ref), 'killed');
  }
  return forms;
}

function formOf(
  desired: Desired,
  { kind, name, environment: wanted }: ObjectRef,
  environments: readonly PlannedEnvironment[],
): unknown {
  const environment = environments.find((each) => each.name === wanted);
  if (kind === 'flag') {
    const flag = desired.flags.get(name);
    if (!flag || wanted === null)
      return flag && { trafficType: flag.trafficType, fields: flag.fields };
    const definition = environment && flag.environments.get(environment.configName);
    return definition && effectiveFields({ flag, definition, environment }, desired);
  }
  if (kind === 'identities') {
    const said = environment && identitiesIn(desired, name, environment.configName);
    return said && { sha256: identitiesSha256(said.keys) };
  }
  const segment = desired.segments.get(name);
  if (!segment || wanted === null) {
    return segment && { trafficType: segment.trafficType, description: segment.description };
  }
  const activation = environment && segment.environments.get(environment.configName);
  return activation && { mode: activation.mode, keys: activation.keys?.digest ?? null };
}
