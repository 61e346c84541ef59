import { isAncestor, type Checkout } from '../git/checkout.js';
import { sortedSet } from '../kinds/json.js';
import type { Unknown } from '../model/run.js';
import type { Base, State } from '../model/state.js';
import { isWanted, type PlanPolicy } from '../plan/policy.js';

/** Commits that are looked for, at most: each is a question to git. */
const MAX_COMMITS = 50;

/**
 * What a run cannot know because history does not reach far enough. The plan is made all the same; what cannot be
 * witnessed is not deleted.
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

/** Of the objects that the run is about. */
function baseCommits(state: State, policy: PlanPolicy): string[] {
  const entries = [...state.values()].filter(({ kind, name }) => isWanted(policy, kind, name));
  const bases = entries.flatMap(({ workspace, environments }): Base<unknown>[] => [
    ...(workspace ? [workspace] : []),
    ...Object.values<Base<unknown>>(environments),
  ]);
  return sortedSet(bases.flatMap(({ commit }) => commit ?? []));
}
