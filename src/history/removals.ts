import { objectId, type ObjectId, type ObjectRef } from '../model/ref.js';
import type { State, StateEntry, Base } from '../model/state.js';
import type { BoundDesired } from '../model/bound-desired.js';
import { type PlannedEnvironment, isPlanned, type PlanPolicy } from '../plan/policy.js';
import { fingerprintsOf } from '../plan/bases/compare.js';
import { observedKind } from '../plan/objects/kinds.js';
import type { SpecHistory } from './spec-history.js';
import { isAncestor, type Checkout } from '../git/checkout.js';
import { sortedSet } from '../model/json.js';
import type { Unknown } from '../model/outcome.js';

/**
 * The objects of the inventory that HEAD no longer declares although the specs of an ancestor did: the second of the
 * two proofs that a deletion needs. The ancestor is the commit that the base of the object came from.
 */
export async function provenRemovals(
  history: SpecHistory,
  {
    desired,
    state,
    environments,
  }: { desired: BoundDesired; state: State; environments: readonly PlannedEnvironment[] },
): Promise<ReadonlySet<ObjectId>> {
  if (!history.isKnown) return new Set();
  const byCommit = new Map<string, ObjectRef[]>();
  for (const { ref, commit } of candidates(state, environments)) {
    if (commit === null || fingerprintsOf(desired, [ref]).size > 0) continue;
    byCommit.set(commit, [...(byCommit.get(commit) ?? []), ref]);
  }
  const witnessed = new Set<ObjectId>();
  for (const [commit, refs] of byCommit) {
    // One commit after the other, because each may mean reading a whole tree.
    const specs = await history.atAncestor(commit);
    if (!specs) continue;
    const forms = fingerprintsOf(specs, refs);
    for (const id of refs.map(objectId)) if (forms.has(id)) witnessed.add(id);
  }
  return witnessed;
}

function candidates(
  state: State,
  environments: readonly PlannedEnvironment[],
): { ref: ObjectRef; commit: string | null }[] {
  return [...state.values()].flatMap((entry: StateEntry) => {
    // Objects that the service cannot show are never removed from it.
    if (!observedKind(entry.kind)) return [];
    const { kind, name, workspace } = entry;
    const places = environments.flatMap(({ id, name: environment }) => {
      const base = entry.environments[id];
      return base ? [{ ref: { kind, name, environment }, commit: base.commit }] : [];
    });
    if (!workspace) return places;
    return [{ ref: { kind, name, environment: null }, commit: workspace.commit }, ...places];
  });
}

/** Most commits to check, because each needs a request to git. */
const MAX_COMMITS = 50;

/**
 * Facts that a run cannot know because history does not reach far enough. The plan is made nevertheless, but deletes
 * nothing without proof.
 */
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

/** Commits of the bases of the objects in the scope of the run. */
function baseCommits(state: State, policy: PlanPolicy): string[] {
  const entries = [...state.values()].filter(({ kind, name }) => isPlanned(policy, kind, name));
  const bases = entries.flatMap(({ workspace, environments }): Base<unknown>[] => [
    ...(workspace ? [workspace] : []),
    ...Object.values<Base<unknown>>(environments),
  ]);
  return sortedSet(bases.flatMap(({ commit }) => commit ?? []));
}
