import { FlagkeelError } from '../errors.js';
import type { BoundDesired } from '../model/bound-desired.js';
import { KINDS, refOfId, type ObjectId, type ObjectRef } from '../model/ref.js';
import type { PlannedEnvironment } from '../plan/policy.js';
import { fieldFormsOf, fingerprintsOf } from '../plan/bases/fingerprint.js';
import { plannedKind } from '../plan/objects/kinds.js';
import type { SpecHistory } from './spec-history.js';

/**
 * The objects whose specs differ between a revision and what is planned: what a plan made with `--since` is about.
 *
 * Seen from the point where both parted, so that what was merged elsewhere meanwhile is nobody's change here, and a
 * branch before its merge or squash has the same objects as the commit after it.
 *
 * @throws FlagkeelError `GIT` there is no such revision; `SPECS_INVALID` its specs cannot be compared with.
 */
export async function objectsChangedSince(
  history: SpecHistory,
  since: string,
  { desired, environments }: { desired: BoundDesired; environments: readonly PlannedEnvironment[] },
): Promise<ReadonlySet<ObjectId>> {
  const before = await desiredAt(history, await history.mergeBaseWith(since));
  const refs = refsOf(before === null ? [desired] : [desired, before], environments);
  const now = fingerprintsOf(desired, refs);
  const then = before === null ? new Map<ObjectId, string>() : fingerprintsOf(before, refs);
  const ids = [...now.keys(), ...then.keys()];
  return new Set(ids.filter((id) => now.get(id) !== then.get(id)));
}

/**
 * Of some objects those that a later commit says as these specs do, field by field: to apply them goes back on nothing.
 *
 * @param commit full hash.
 * @throws FlagkeelError `SPECS_INVALID` its specs cannot be compared with.
 */
export async function objectsSameAt(
  history: SpecHistory,
  commit: string,
  { ids, desired }: { ids: ReadonlySet<ObjectId>; desired: BoundDesired },
): Promise<ReadonlySet<ObjectId>> {
  const refs = [...ids].flatMap((id) => refOfId(id) ?? []);
  const later = await desiredAt(history, commit);
  const now = fieldFormsOf(desired, refs);
  const then = later === null ? new Map<ObjectId, never>() : fieldFormsOf(later, refs);
  const textOf = (forms: ReadonlyMap<ObjectId, ReadonlyMap<string, string>>, id: ObjectId) =>
    JSON.stringify([...(forms.get(id) ?? [])].sort());
  return new Set([...ids].filter((id) => textOf(now, id) === textOf(then, id)));
}

/** Null: there were no specs yet. */
async function desiredAt(history: SpecHistory, commit: string): Promise<BoundDesired | null> {
  const specs = await history.at(commit);
  if (specs === 'missing') return null;
  if (specs.ok) return specs.desired;
  const [first] = specs.diagnostics.filter(({ severity }) => severity === 'error');
  const what = first ? ` (${first.location.file}: ${first.message})` : '';
  throw new FlagkeelError(
    'SPECS_INVALID',
    `cannot compare with ${commit.slice(0, 8)}: its specs are invalid${what}`,
  );
}

function refsOf(
  sides: readonly BoundDesired[],
  environments: readonly PlannedEnvironment[],
): ObjectRef[] {
  const places = [null, ...environments.map(({ name }) => name)];
  return KINDS.flatMap((kind) => {
    const declared = sides.flatMap((side) => plannedKind(kind).declarations(side));
    const names = [...new Set(declared.map(({ name }) => name))];
    return names.flatMap((name) => places.map((environment) => ({ kind, name, environment })));
  });
}
