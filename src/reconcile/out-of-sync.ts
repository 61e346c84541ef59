import { keyOfId, parseKey } from '../model/ref.js';
import { isNotLookedAt, type Plan } from '../model/plan.js';
import { pendingWithheld } from '../plan/plan.js';
import { isPlanned } from '../plan/policy.js';
import type { Planned } from './context.js';

/**
 * `KIND/NAME` of all objects that a plan finds different or did not look at, and of live kills, which later partial plans
 * report too.
 */
export function outOfSyncIn(plan: Plan): Set<string> {
  const unseen = plan.notCompared.filter(isNotLookedAt);
  const open = [...plan.changes, ...pendingWithheld(plan), ...plan.liveKills, ...unseen];
  return new Set(open.map(({ id }) => keyOfId(id)));
}

/**
 * `KIND/NAME` of the objects that the state records as out of sync after a run: those that the run found, and the
 * earlier ones that it did not look at in all environments.
 *
 * @param found objects that the run itself left out of sync.
 * @returns null if nothing was known before, and the run did not look at everything.
 */
export function outOfSyncAfter(
  { input: { policy }, remembered: { outOfSync: known } }: Pick<Planned, 'input' | 'remembered'>,
  found: ReadonlySet<string>,
): ReadonlySet<string> | null {
  const isEverywhere = policy.environments.every(({ selected }) => selected);
  const isWhole = isEverywhere && policy.only === null && policy.quarantined.size === 0;
  if (isWhole) return found;
  if (known === null) return null;
  const isLookedAt = (key: string): boolean => {
    const ref = parseKey(key);
    return (
      policy.behind !== true &&
      isEverywhere &&
      ref !== undefined &&
      isPlanned(policy, ref.kind, ref.name)
    );
  };
  return new Set([...[...known].filter((key) => !isLookedAt(key)), ...found]);
}
