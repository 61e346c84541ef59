import type { BoundDesired } from '../model/bound-desired.js';
import { objectId, type ObjectId, type ObjectRef } from '../model/ref.js';
import { flagEntry, type State } from '../model/state.js';
import { isKillListed } from '../plan/kills/orders.js';
import { seenLiveKills } from '../plan/kills/base.js';
import type { PlanPolicy } from '../plan/policy.js';
import type { SpecHistory } from '../history/spec-history.js';

/** Input of the search for restores. */
export interface KillHistory {
  readonly desired: BoundDesired;
  readonly state: State;
  readonly policy: PlanPolicy;
  readonly history: SpecHistory;
  /** null if the specs come from no commit, so that history does not cover them. */
  readonly head: string | null;
  /** HEAD of the last apply. */
  readonly applied: string | null;
}

/**
 * Definitions whose kill HEAD reverts, according to history:
 *
 * - it was killed on the service by hand, and `killed: false` came in a commit after the HEAD at which a run saw that;
 * - it is declared elsewhere, and the break-glass list of the last apply had it but the present list does not.
 *
 * Only ancestry decides, never a clock. If it is unknown, nothing is restored.
 */
export async function restorableKills(of: KillHistory): Promise<ReadonlyMap<ObjectId, ObjectRef>> {
  const refs = [...(await answeredLiveKills(of)), ...(await unmanagedRestores(of))];
  return new Map(refs.map((ref) => [objectId(ref), ref]));
}

async function answeredLiveKills(of: KillHistory): Promise<ObjectRef[]> {
  const answered: ObjectRef[] = [];
  for (const { ref, seenAt } of seenLiveKills(of)) {
    // In sequence, because there is rarely more than one, and each may mean reading a whole tree.
    const then = await specsBefore(of, seenAt);
    const definition = then?.flags.get(ref.name)?.environments.get(ref.environment);
    if (then && definition?.fields.killed !== false) answered.push(ref);
  }
  return answered;
}

async function unmanagedRestores(of: KillHistory): Promise<ObjectRef[]> {
  const { desired, state, policy, applied } = of;
  const before = desired.killLists.size > 0 && applied !== null && (await specsBefore(of, applied));
  if (!before) return [];
  return before.kills.flatMap(({ flag, environment: place }): ObjectRef[] => {
    const environment = policy.environments.find(({ name }) => name === place);
    if (!environment || !desired.killLists.has(place)) return [];
    const isDeclared = desired.flags.get(flag)?.environments.has(place) === true;
    const isOurs = flagEntry(state, flag)?.environments[environment.id] !== undefined;
    if (isDeclared || isOurs) return [];
    if (isKillListed(desired, flag, place)) return [];
    return [{ kind: 'flag', name: flag, environment: place }];
  });
}

/** The specs of a commit before HEAD; undefined if they are unknown. */
async function specsBefore(
  { history, head }: KillHistory,
  commit: string,
): Promise<BoundDesired | undefined> {
  return head === commit ? undefined : history.atAncestor(commit);
}
