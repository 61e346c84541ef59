import type { ObjectId } from '../model/object-id.js';
import type { StepRequest } from '../model/step.js';
import type { Draft, Drafted } from './draft.js';

/** Whether a change may be made by a run that is held to a reviewed plan. Null: no run is. */
export type Reviewed = ReadonlySet<ObjectId> | null | undefined;

const NOT_REVIEWED = {
  why: 'not-reviewed',
  wayOut: 'a run without --since makes it, or a review of its own',
} as const;

/**
 * What was drafted, with every change to an object outside the reviewed plan held back. A kill goes on: nobody
 * reviews it first; of a change that does more than kill the rest stays behind.
 *
 * @param reviewed the objects that the reviewed plan is about; null: no plan was reviewed, nothing is held back.
 */
export function onlyReviewed(drafted: readonly Drafted[], reviewed: Reviewed): readonly Drafted[] {
  if (!reviewed) return drafted;
  return drafted.map((each) => {
    const { draft, id, withheld } = each;
    if (!draft || reviewed.has(id)) return each;
    const kill = killAlone(draft);
    const rest = draft.change.fields.filter((field) => !kill || field.reason !== 'kill');
    if (kill && rest.length === 0) return each;
    const held = { ...draft.change, fields: rest, dependsOn: [], ...NOT_REVIEWED };
    return { id, withheld: [...withheld, held], ...(kill && { draft: kill }) };
  });
}

function killAlone(draft: Draft): Draft | undefined {
  const fields = draft.change.fields.filter(({ reason }) => reason === 'kill');
  const requests = draft.requests.flatMap(killRequest);
  if (fields.length === 0 || requests.length === 0) return undefined;
  return { change: { ...draft.change, reason: 'kill', fields }, requests, after: [], uses: [] };
}

function killRequest(request: StepRequest): StepRequest[] {
  if (request.action !== 'patch-definition') return [];
  const operations = request.operations.filter(({ path }) => path === '/killed');
  return operations.length === 0 ? [] : [{ ...request, operations }];
}
