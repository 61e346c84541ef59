import type { Checkout } from '../git/checkout.js';
import { fitWords } from '../git/words.js';
import { attribute, type AttributionRequest } from '../git/history.js';
import { objectId, type ObjectId, type ObjectRef } from '../model/object-id.js';
import type { Change, Plan } from '../model/plan.js';
import type { Words } from '../model/run.js';
import type { State } from '../model/state.js';
import type { SpecTree } from '../model/tree.js';
import type { PlanInput } from '../plan/plan-input.js';
import { readSpecs } from '../specs/read-specs.js';
import type { SpecMemory } from '../specs/spec-memory.js';
import { formsWithKills } from './forms.js';

/** Title and comment of every change, from the commits that made it. */
export async function wordsFor(
  plan: Plan,
  { state, policy }: PlanInput,
  checkout: Checkout,
  head: string | null,
  specsRead: SpecMemory,
): Promise<ReadonlyMap<ObjectId, Words>> {
  const idOfName = new Map(policy.environments.map(({ name, id }) => [name, id]));
  return attribute(checkout, {
    head,
    requests: [...plan.changes, ...plan.withheld].map((change) =>
      requestFor(change, state, idOfName),
    ),
    formsAt: async (tree: SpecTree, refs: readonly ObjectRef[]) => {
      const specs = await readSpecs(tree, specsRead);
      // An object that is left out is one of which nothing is known, which is not the same as one that is not there.
      if (!specs.ok) return new Map();
      const forms = formsWithKills(specs.desired, refs, policy.environments);
      return new Map(refs.map((ref) => [objectId(ref), forms.get(objectId(ref))]));
    },
  });
}

function requestFor(
  { id, ref, action, reason }: Change,
  state: State,
  idOfName: ReadonlyMap<string, string>,
): AttributionRequest {
  const entry = state.get(`${ref.kind}/${ref.name}`);
  const environmentId = ref.environment === null ? null : idOfName.get(ref.environment);
  const base =
    environmentId === null
      ? entry?.workspace
      : environmentId === undefined
        ? undefined
        : entry?.environments[environmentId];
  return { id, ref, action, reason, base: base?.spec === undefined ? null : base.commit };
}

/** The words with what the operator said instead, made to fit. */
export function overridden(
  words: ReadonlyMap<ObjectId, Words>,
  given: Partial<Words>,
): ReadonlyMap<ObjectId, Words> {
  return new Map(
    [...words].map(([id, found]) => [id, fitWords({ ...found, ...given }, found.title)]),
  );
}
