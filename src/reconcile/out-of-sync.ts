import { keyOfId, parseKey } from '../model/ref.js';
import type { Plan } from '../model/plan.js';
import { pendingWithheld } from '../plan/plan.js';
import { isPlanned } from '../plan/policy.js';
import type { Planned } from './context.js';

/** `KIND/NAME` of all that a plan does not find equal, and of live kills: a plan of what was touched tells of those too. */
export function outOfSyncIn(plan: Plan): Set<string> {
  const open = [...plan.changes, ...pendingWithheld(plan), ...plan.liveKills];
  return new Set(open.map(({ id }) => keyOfId(id)));
}

/**
 * `KIND/NAME` of what the state remembers to be out of sync after a run: what the run found, and what was known before of
 * objects at which it did not look, or not in all environments.
 *
 * @param found what the run itself left out of sync.
 * @returns null: nothing was known before, and the run did not look at everything.
 */
export function outOfSyncAfter(
  { input: { policy }, knownOutOfSync }: Pick<Planned, 'input' | 'knownOutOfSync'>,
  found: ReadonlySet<string>,
): ReadonlySet<string> | null {
  const isEverywhere = policy.environments.every(({ selected }) => selected);
  const isWhole = isEverywhere && policy.only === null && policy.quarantined.size === 0;
  if (isWhole) return found;
  if (knownOutOfSync === null) return null;
  const isLookedAt = (key: string): boolean => {
    const ref = parseKey(key);
    return (
      policy.behind !== true &&
      isEverywhere &&
      ref !== undefined &&
      isPlanned(policy, ref.kind, ref.name)
    );
  };
  return new Set([...[...knownOutOfSync].filter((key) => !isLookedAt(key)), ...found]);
}
