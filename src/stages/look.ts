import type { Connection } from '../api/connect.js';
import { observe } from '../api/observe.js';
import type { AdminReader } from '../api/reader.js';
import type { Checkout } from '../git/checkout.js';
import type { Desired } from '../model/desired.js';
import type { Progress } from '../model/progress.js';
import type { State } from '../model/state.js';
import type { PlanInput } from '../plan/plan-input.js';
import type { PlanPolicy } from '../plan/policy.js';
import { scopeOf } from '../plan/scope.js';
import type { SpecMemory } from '../specs/spec-memory.js';
import { objectsSeen } from './objects-seen.js';
import { witnessedRemovals } from './witness.js';

/** Everything that a plan is made from: the specs, what the service has of them, and what is remembered. */
export async function look(
  reader: AdminReader,
  at: Connection,
  known: {
    desired: Desired;
    state: State;
    policy: PlanPolicy;
    checkout: Checkout;
    head: string | null;
    /** See `ScopeOptions`; default true. */
    trustCounts?: boolean;
    /** See `Scope`. */
    whole: boolean;
    specs: SpecMemory;
    progress?: Progress | undefined;
  },
): Promise<PlanInput> {
  const { desired, state, checkout, head, specs } = known;
  const { environments } = known.policy;
  const scope = scopeOf(desired, state, known.policy, {
    allEnvironments: at.environments.map(({ name }) => name),
    trustCounts: known.trustCounts ?? true,
    whole: known.whole,
  });
  const [actual, witnessed] = await Promise.all([
    observe(reader, at, scope, objectsSeen(scope, known.progress)),
    scope.users
      ? witnessedRemovals(checkout, head, { desired, state, environments, specs })
      : new Set<string>(),
  ]);
  return { desired, actual, state, policy: { ...known.policy, witnessed } };
}
