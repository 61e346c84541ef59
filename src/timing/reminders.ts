import type { BoundDesired } from '../model/bound-desired.js';
import { byCodeUnits } from '../model/json.js';
import type { Reminder } from '../model/plan.js';
import { objectId } from '../model/ref.js';

type Specs = Pick<BoundDesired, 'kills' | 'flags'>;

/**
 * Dates at which a person wanted to look again and that are past at this moment: kills past their `review`, flags past
 * their `expires`. Sorted by id. A day ends when it ends in UTC.
 *
 * @param ms since the epoch.
 */
export function remindersAt({ kills, flags }: Specs, ms: number): Reminder[] {
  const reviews = kills.flatMap(({ flag: name, environment, review, reason, by }): Reminder[] => {
    if (review === undefined || !isOver(review, ms)) return [];
    const id = objectId({ kind: 'flag', name, environment });
    return [{ id, what: 'review', due: review, reason, ...(by !== undefined && { by }) }];
  });
  const expiries = [...flags.values()].flatMap(({ name, expires }): Reminder[] => {
    if (expires === undefined || !isOver(expires, ms)) return [];
    const id = objectId({ kind: 'flag', name, environment: null });
    return [{ id, what: 'expiry', due: expires }];
  });
  return [...reviews, ...expiries].sort((a, b) => byCodeUnits(a.id, b.id));
}

/** @param due a day, or a moment with its offset. */
function isOver(due: string, ms: number): boolean {
  if (due.includes('T')) return Date.parse(due) <= ms;
  return due < new Date(ms).toISOString().slice(0, 10);
}
