import type { BoundDesired } from '../model/bound-desired.js';
import { objectId, type ObjectId, type ObjectRef } from '../model/ref.js';
import { flagEntry, type State } from '../model/state.js';
import { isKillListed } from '../plan/kills/orders.js';
import { seenLiveKills } from '../plan/kills/base.js';
import type { PlanPolicy } from '../plan/policy.js';
import type { SpecHistory } from '../history/spec-history.js';

/** What the search for restores goes by. */
export interface KillHistory {
  readonly desired: BoundDesired;
  readonly state: State;
  readonly policy: PlanPolicy;
  readonly history: SpecHistory;
  /** Null: the specs come from no commit, and history says nothing about them. */
  readonly head: string | null;
  /** HEAD of the last apply. */
  readonly applied: string | null;
}

/**
 * Definitions whose kill HEAD takes back by what history says:
 *
 * - somebody killed it on the service, and `killed: false` came in a commit after the HEAD at which that was seen;
 * - it is declared elsewhere, the break-glass list of the last apply had it, and the list that stands has not.
 *
 * Ancestry alone decides, never a clock; where it is unknown nothing is taken back.
 */
export async function restorableKills(of: KillHistory): Promise<ReadonlyMap<ObjectId, ObjectRef>> {
  const refs = [...(await answeredLiveKills(of)), ...(await unmanagedRestores(of))];
  return new Map(refs.map((ref) => [objectId(ref), ref]));
}

async function answeredLiveKills(of: KillHistory): Promise<ObjectRef[]> {
  const answered: ObjectRef[] = [];
  for (const { ref, seenAt } of seenLiveKills(of)) {
    // In sequence: rarely more than one, and each may mean reading a whole tree.
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

/** The specs of a commit that comes before HEAD and is not HEAD; undefined: they cannot be known. */
async function specsBefore(
  { history, head }: KillHistory,
  commit: string,
): Promise<BoundDesired | undefined> {
  return head === commit ? undefined : history.atAncestor(commit);
}
