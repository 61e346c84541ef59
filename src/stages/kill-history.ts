import { isAncestor, type Checkout } from '../git/checkout.js';
import { commitTree } from '../git/commit-tree.js';
import type { Desired } from '../model/desired.js';
import { objectId, type ObjectId, type ObjectRef } from '../model/object-id.js';
import { flagEntry, type State } from '../model/state.js';
import { isKillListed } from '../plan/kill-orders.js';
import { seenLiveKills } from '../plan/kill-memory.js';
import type { PlanPolicy } from '../plan/policy.js';
import { readSpecs } from '../specs/read-specs.js';
import type { SpecMemory } from '../specs/spec-memory.js';

/** What the search for restores goes by. */
export interface KillHistory {
  readonly desired: Desired;
  readonly state: State;
  readonly policy: PlanPolicy;
  readonly checkout: Checkout;
  /** Null: the specs come from no commit, and history says nothing about them. */
  readonly head: string | null;
  /** HEAD of the last apply. */
  readonly applied: string | null;
  readonly specs: SpecMemory;
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
  const refs = [...(await answeredLiveKills(of)), ...(await strangersTakenBack(of))];
  return new Map(refs.map((ref) => [objectId(ref), ref]));
}

async function answeredLiveKills(of: KillHistory): Promise<ObjectRef[]> {
  const answered: ObjectRef[] = [];
  for (const { ref, configName, seenAt } of seenLiveKills(of)) {
    // In sequence: rarely more than one, and each may mean reading a whole tree.
    const then = await specsBefore(of, seenAt);
    const definition = then?.flags.get(ref.name)?.environments.get(configName);
    if (then && definition?.fields.killed !== false) answered.push(ref);
  }
  return answered;
}

async function strangersTakenBack(of: KillHistory): Promise<ObjectRef[]> {
  const { desired, state, policy, applied } = of;
  const before = desired.killLists.size > 0 && applied !== null && (await specsBefore(of, applied));
  if (!before) return [];
  return before.kills.flatMap(({ flag, environment: configName }): ObjectRef[] => {
    const environment = policy.environments.find((each) => each.configName === configName);
    if (!environment || !desired.killLists.has(configName)) return [];
    const isDeclared = desired.flags.get(flag)?.environments.has(configName) === true;
    const isOurs = flagEntry(state, flag)?.environments[environment.id] !== undefined;
    if (isDeclared || isOurs) return [];
    if (isKillListed(desired, flag, configName)) return [];
    return [{ kind: 'flag', name: flag, environment: environment.name }];
  });
}

/** The specs of a commit that comes before HEAD; undefined where it does not, or where they cannot be read. */
async function specsBefore(
  { checkout, head, specs: memory }: KillHistory,
  commit: string,
): Promise<Desired | undefined> {
  if (head === null || head === commit) return undefined;
  if ((await isAncestor(checkout, commit, head)) !== true) return undefined;
  const specs = await readSpecs(await commitTree(checkout, commit), memory);
  return specs.ok ? specs.desired : undefined;
}
