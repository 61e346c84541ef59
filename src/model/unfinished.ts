import type { Outcomes } from './outcome.js';
import type { Plan, Reason, Withheld, WithheldWhy } from './plan.js';
import type { ObjectId } from './ref.js';

/** Why something is withheld until a person acts: what else a person has to end joins this list. */
const FOR_A_PERSON: ReadonlySet<WithheldWhy> = new Set(['approval-needed', 'not-reviewed']);

/** What the next run without a review writes by itself, because somebody has reviewed it before. */
const REVIEWED_BEFORE: ReadonlySet<Reason> = new Set(['drift', 'ramp']);

/** What git orders and the service does not have after an apply, although nothing failed; each sorted as the plan is. */
export interface Unfinished {
  /** A person has to act. */
  readonly held: readonly ObjectId[];
  /** Its window closed while the run was under way. */
  readonly waits: readonly ObjectId[];
  /** When the first of `waits` goes, ISO 8601 in UTC; null: nobody knows. */
  readonly until: string | null;
}

export function unfinishedIn(
  { changes, withheld }: Pick<Plan, 'changes' | 'withheld'>,
  outcomes: Outcomes,
): Unfinished {
  const skipped = changes.flatMap(({ id }) => {
    const outcome = outcomes.get(id);
    return outcome?.status === 'skipped' ? [{ id, ...outcome }] : [];
  });
  const waits = skipped.filter(({ windowClosed }) => windowClosed === true);
  const held = [
    ...skipped.filter(({ approvalNeeded }) => approvalNeeded === true),
    ...withheld.filter(isHeld),
  ];
  const [until = null] = waits.flatMap((each) => each.until ?? []).sort();
  return { held: [...new Set(held.map(({ id }) => id))], waits: waits.map(({ id }) => id), until };
}

/** Whether what is withheld waits for a person. */
export function isHeld({ why, reason }: Pick<Withheld, 'why' | 'reason'>): boolean {
  return FOR_A_PERSON.has(why) && !(why === 'not-reviewed' && REVIEWED_BEFORE.has(reason));
}

/**
 * How the service stands after a run that applied, the best first: `open` is what failed, what a second look found left
 * to do, and what nobody could look at.
 */
export type Standing = 'in-sync' | 'waits' | 'held' | 'open';
