import type { Checkout } from '../git/checkout.js';
import { isAncestor } from '../git/lineage.js';
import { MAX_LOGGED, readLog } from '../git/log.js';
import type { BoundDesired } from '../model/bound-desired.js';
import { objectsOf } from '../model/desired.js';
import {
  keyOf,
  KINDS,
  objectId,
  refOfId,
  type ObjectId,
  type ObjectKey,
  type ObjectRef,
} from '../model/ref.js';
import type { PlannedEnvironment } from '../plan/policy.js';
import { fieldFormsOf, fingerprintOf } from '../plan/bases/compare.js';
import { mayShape } from './change-notes.js';
import type { SpecHistory } from './spec-history.js';

/**
 * The objects whose specs differ between a revision and the planned specs, and the earlier specs. Compares with the
 * merge base of both: later merges elsewhere do not count, and a squash has the same objects as its branch.
 *
 * @throws FlagkeelError `GIT` there is no such revision; `SPECS_INVALID` its specs are invalid.
 */
export async function objectsChangedSince(
  history: SpecHistory,
  since: string,
  { desired, environments }: { desired: BoundDesired; environments: readonly PlannedEnvironment[] },
): Promise<{ readonly ids: ReadonlySet<ObjectId>; readonly before: BoundDesired | null }> {
  const before = await history.at(await history.mergeBaseWith(since));
  const refs = refsOf(before === null ? [desired] : [desired, before], environments);
  const then = (ref: ObjectRef) => (before === null ? undefined : fingerprintOf(before, ref));
  const changed = refs.filter((ref) => fingerprintOf(desired, ref) !== then(ref));
  return { ids: new Set(changed.map(objectId)), before };
}

/**
 * Those whose specs are equal at a later commit, field by field, so that applying them reverts nothing.
 *
 * @throws FlagkeelError `SPECS_INVALID` its specs are invalid.
 */
export async function objectsSameAt(
  history: SpecHistory,
  commit: string,
  { ids, desired }: { ids: ReadonlySet<ObjectId>; desired: BoundDesired },
): Promise<ReadonlySet<ObjectId>> {
  const refs = [...ids].flatMap((id) => refOfId(id) ?? []);
  const later = await history.at(commit);
  const textIn = (specs: BoundDesired | null, ref: ObjectRef): string =>
    JSON.stringify([...((specs && fieldFormsOf(specs, ref)) ?? [])].sort());
  const same = refs.filter((ref) => textIn(desired, ref) === textIn(later, ref));
  return new Set(same.map(objectId));
}

function refsOf(
  sides: readonly BoundDesired[],
  environments: readonly PlannedEnvironment[],
): ObjectRef[] {
  const places = [null, ...environments.map(({ name }) => name)];
  return KINDS.flatMap((kind) => {
    const names = new Set(sides.flatMap((side) => [...objectsOf(side, kind).keys()]));
    return [...names].flatMap((name) => places.map((environment) => ({ kind, name, environment })));
  });
}

/**
 * The objects with a file that any commit after `since` touched, even if a later one reverted that: a run that was cut
 * short may have applied it without a record. Break-glass lists do not count, because every run compares all of them.
 *
 * @returns null if history does not show it, or if a commit touched the config, which shapes all objects.
 * @throws FlagkeelError `GIT`
 */
export async function objectsTouchedSince(
  checkout: Checkout,
  { since, head }: { readonly since: string; readonly head: string | null },
  objects: Iterable<Pick<ObjectRef, 'kind' | 'name'>>,
): Promise<ReadonlySet<ObjectKey> | null> {
  const { repository } = checkout;
  if (repository === null || head === null) return null;
  if ((await isAncestor(checkout, since, head)) !== true) return null;
  const commits = since === head ? [] : await readLog(repository, since, head);
  if (commits.length >= MAX_LOGGED) return null;
  const paths = new Set(commits.flatMap(({ paths: own }) => own));
  if (paths.has('flagkeel.yaml')) return null;
  const shaping = [...paths].filter((path) => !path.startsWith('kills/'));
  if (shaping.length === 0) return new Set();
  const touched = [...objects].filter(({ kind, name }) =>
    shaping.some((path) => mayShape(path, { kind, name, environment: null })),
  );
  return new Set(touched.map(({ kind, name }) => keyOf(kind, name)));
}
