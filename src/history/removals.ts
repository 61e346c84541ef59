import { grouped } from '../model/collections.js';
import { keyOf, objectId, type Kind, type ObjectId, type ObjectRef } from '../model/ref.js';
import type { State, Base } from '../model/state.js';
import type { BoundDesired } from '../model/bound-desired.js';
import { objectsOf } from '../model/desired.js';
import type { PlanInput } from '../plan/input.js';
import { wantedEntries, type PlanPolicy } from '../plan/policy.js';
import { fingerprintOf } from '../plan/bases/compare.js';
import { observedKind, plannedKind } from '../plan/objects/kinds.js';
import { baseIn, WORKSPACE } from '../plan/place.js';
import type { SpecHistory } from './spec-history.js';
import type { Checkout } from '../git/checkout.js';
import { isAncestor } from '../git/lineage.js';
import { readLog, type LoggedCommit } from '../git/log.js';
import { sortedSet } from '../model/json.js';
import type { Unknown } from '../model/outcome.js';

/** What HEAD no longer declares, and of it the proven removals: a deletion needs that the commit of the base did. */
export async function provenRemovals(
  history: SpecHistory,
  { desired, state, policy }: Pick<PlanInput, 'desired' | 'state' | 'policy'>,
): Promise<{ readonly gone: readonly ObjectRef[]; readonly proven: ReadonlySet<ObjectId> }> {
  const gone = wantedEntries(policy, state).flatMap((entry) => {
    const { kind, name } = entry;
    // Objects that the service cannot show are never removed from it.
    if (!observedKind(kind)) return [];
    const declared = objectsOf(desired, kind).get(name);
    return [WORKSPACE, ...policy.environments].flatMap((place) => {
      const commit = baseIn(entry, place)?.commit ?? null;
      const ref = { kind, name, environment: place.name };
      const isHere = place.name === null ? declared : declared?.environments.has(place.name);
      return commit === null || isHere ? [] : [{ commit, ref }];
    });
  });
  const witnessed = new Set<ObjectId>();
  const asked = history.isKnown && policy.prune ? gone : [];
  for (const [commit, left] of grouped(asked, (each) => each.commit)) {
    // One commit after the other, because each may mean reading a whole tree.
    const specs = await history.atAncestor(commit);
    if (!specs) continue;
    for (const { ref } of left) {
      if (fingerprintOf(specs, ref) !== undefined) witnessed.add(objectId(ref));
    }
  }
  return { gone: gone.map(({ ref }) => ref), proven: witnessed };
}

/** `KIND/NAME` of what left the specs → the removing commit, and whether the specs right before protected it. */
export async function removalsOf(
  removed: readonly ObjectRef[],
  desired: BoundDesired,
  { checkout, head, history }: { checkout: Checkout; head: string | null; history: SpecHistory },
): Promise<ReadonlyMap<string, { commit: string | undefined; wasProtected: boolean }>> {
  const found = new Map<string, { commit: string | undefined; wasProtected: boolean }>();
  const gone = removed.filter(({ kind, name }) => !objectsOf(desired, kind).has(name));
  if (checkout.repository === null || head === null || gone.length === 0) return found;
  const log = await readLog(checkout.repository, null, head, 'first-parents');
  for (const [key, [ref]] of grouped(gone, ({ kind, name }) => keyOf(kind, name))) {
    if (!ref) continue;
    const { isOwn } = plannedKind(ref.kind).files;
    const commits = log.filter(({ paths }) =>
      paths.some((path) => isOwn(path, { ...ref, environment: null })),
    );
    const commit = commits[0]?.id;
    found.set(key, { commit, wasProtected: await wasProtected(ref, commits, history) });
  }
  return found;
}

/** @param commits that touched its files, newest first; the newest removed it, unless only files on disk lack it. */
async function wasProtected(
  { kind, name }: { readonly kind: Kind; readonly name: string },
  [removal, ...earlier]: readonly LoggedCommit[],
  history: SpecHistory,
): Promise<boolean> {
  if (!removal) return false;
  const revisions = [removal.id, ...removal.parents.slice(0, 1), ...earlier.map(({ id }) => id)];
  // One after the other, because the first mostly decides.
  for (const commit of revisions) {
    const specs = await history.atAncestor(commit);
    const declared = specs && objectsOf(specs, kind).get(name);
    if (declared) return declared.protect === true;
  }
  // All those specs are invalid, so that nothing proves that it was unprotected.
  return true;
}

/** Each needs a request to git. */
const MAX_COMMITS = 50;

/** What history does not reach: the plan is made nevertheless, but deletes nothing without proof. */
export async function unknowns(
  checkout: Checkout,
  state: State,
  head: string | null,
  policy: PlanPolicy,
): Promise<readonly Unknown[]> {
  if (head === null) return [NO_GIT];
  if (checkout.shallow) return [SHALLOW];
  const missing: string[] = [];
  for (const commit of baseCommits(state, policy).slice(0, MAX_COMMITS)) {
    if ((await isAncestor(checkout, commit, head)) === 'unknown') missing.push(commit);
  }
  const [first, ...more] = missing.map((commit) => commit.slice(0, 8));
  if (first === undefined) return [];
  const others = more.length > 0 ? ` and ${more.length} more` : '';
  const message = `commit ${first}${others}, which a run applied, is not in this repository: its history was rewritten, or is not whole; titles may name fewer commits, and what left the specs since is not deleted`;
  return [{ code: 'missing-commits', message }];
}

const NO_GIT: Unknown = {
  code: 'no-git',
  message: 'there is no commit to read: titles name none, and what left the specs is not deleted',
};

const SHALLOW: Unknown = {
  code: 'shallow-clone',
  message:
    'the clone is shallow: titles may name fewer commits, and what left the specs is not deleted where the commit that declared it is missing (fetch the whole history)',
};

function baseCommits(state: State, policy: PlanPolicy): string[] {
  const entries = wantedEntries(policy, state);
  const bases = entries.flatMap(({ workspace, environments }): Base<unknown>[] => [
    ...(workspace ? [workspace] : []),
    ...Object.values<Base<unknown>>(environments),
  ]);
  return sortedSet(bases.flatMap(({ commit }) => commit ?? []));
}
