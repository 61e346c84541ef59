import type { ObjectId } from '../model/object-id.js';
import type { Drafted } from './draft.js';

const NOT_REVIEWED = {
  why: 'not-reviewed',
  wayOut: 'a run without --since makes it, or a review of its own',
} as const;

/**
 * What was drafted, with every change to an object outside the reviewed plan held back. Kills are not drafted here:
 * no review holds them back.
 *
 * @param reviewed the objects that the reviewed plan is about; null: no plan was reviewed, nothing is held back.
 */
export function onlyReviewed(
  drafted: readonly Drafted[],
  reviewed: ReadonlySet<ObjectId> | null | undefined,
): readonly Drafted[] {
  if (!reviewed) return drafted;
  return drafted.map((each) => {
    const { draft, id, withheld } = each;
    if (!draft || reviewed.has(id)) return each;
    return { id, withheld: [...withheld, { ...draft.change, dependsOn: [], ...NOT_REVIEWED }] };
  });
}
