import type { Outcomes } from './outcome.js';
import type { Plan, Reason, Withheld, WithheldWhy } from './plan.js';
import type { ObjectId } from './ref.js';

/** Reasons for which a change waits until a person acts; any new reason of that kind belongs here. */
const FOR_A_PERSON: ReadonlySet<WithheldWhy> = new Set(['approval-needed', 'not-reviewed']);

/** Differences that the next run without a review applies by itself, because their specs were reviewed before. */
const REVIEWED_BEFORE: ReadonlySet<Reason> = new Set(['drift', 'ramp']);

/** Orders of git that the service still lacks after an apply without failures; each sorted as the plan is. */
export interface Unfinished {
  /** A person has to act. */
  readonly held: readonly ObjectId[];
  /** Changes whose window closed during the run. */
  readonly waits: readonly ObjectId[];
  /** When the first of `waits` goes, ISO 8601 in UTC; null if unknown. */
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

/** Whether a withheld change waits for a person. */
export function isHeld({ why, reason }: Pick<Withheld, 'why' | 'reason'>): boolean {
  return FOR_A_PERSON.has(why) && !(why === 'not-reviewed' && REVIEWED_BEFORE.has(reason));
}

/**
 * How the service stands after an apply, best first. `open`: something failed, or the verification found a difference
 * or could not read an object.
 */
export type Standing = 'in-sync' | 'waits' | 'held' | 'open';
