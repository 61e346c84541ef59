import { isAncestor, type Checkout } from '../git/checkout.js';
import { commitTree } from '../git/commit-tree.js';
import { objectId, type ObjectId, type ObjectRef } from '../model/object-id.js';
import type { State, StateEntry } from '../model/state.js';
import { readSpecs } from '../specs/read-specs.js';
import type { SpecMemory } from '../specs/spec-memory.js';
import type { Desired } from '../model/desired.js';
import type { PlannedEnvironment } from '../plan/policy.js';
import { formsOf } from './forms.js';

/**
 * The objects of the inventory that HEAD no longer declares and that the specs of an ancestor of HEAD did: the second
 * of the two witnesses that a deletion needs. The ancestor is the commit that the object's base came from.
 */
export async function witnessedRemovals(
  checkout: Checkout,
  head: string | null,
  {
    desired,
    state,
    environments,
    specs,
  }: {
    desired: Desired;
    state: State;
    environments: readonly PlannedEnvironment[];
    specs: SpecMemory;
  },
): Promise<ReadonlySet<ObjectId>> {
  if (head === null) return new Set();
  const byCommit = new Map<string, ObjectRef[]>();
  for (const { ref, commit } of candidates(state, environments)) {
    if (commit === null || formsOf(desired, [ref], environments).size > 0) continue;
    byCommit.set(commit, [...(byCommit.get(commit) ?? []), ref]);
  }
  const witnessed = new Set<ObjectId>();
  for (const [commit, refs] of byCommit) {
    // One commit after the other: each may mean reading a whole tree.
    for (const id of await declaredAt(checkout, { commit, head }, refs, { environments, specs }))
      witnessed.add(id);
  }
  return witnessed;
}

function candidates(
  state: State,
  environments: readonly PlannedEnvironment[],
): { ref: ObjectRef; commit: string | null }[] {
  return [...state.values()].flatMap((entry: StateEntry) => {
    if (entry.kind === 'identities') return [];
    const { kind, name, workspace } = entry;
    const places = environments.flatMap(({ id, name: environment }) => {
      const base = entry.environments[id];
      return base ? [{ ref: { kind, name, environment }, commit: base.commit }] : [];
    });
    if (!workspace) return places;
    return [{ ref: { kind, name, environment: null }, commit: workspace.commit }, ...places];
  });
}

async function declaredAt(
  checkout: Checkout,
  { commit, head }: { commit: string; head: string },
  refs: readonly ObjectRef[],
  {
    environments,
    specs: memory,
  }: { environments: readonly PlannedEnvironment[]; specs: SpecMemory },
): Promise<ObjectId[]> {
  if ((await isAncestor(checkout, commit, head)) !== true) return [];
  const specs = await readSpecs(await commitTree(checkout, commit), memory);
  if (!specs.ok) return [];
  const forms = formsOf(specs.desired, refs, environments);
  return refs.map(objectId).filter((id) => forms.has(id));
}
