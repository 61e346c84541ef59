import type { Actual } from '../model/actual.js';
import type { Desired } from '../model/desired.js';
import type { State } from '../model/state.js';
import type { PlanPolicy } from './policy.js';

export interface PlanInput {
  readonly desired: Desired;
  readonly actual: Actual;
  readonly state: State;
  readonly policy: PlanPolicy;
}

/**
 * Why a difference without a base came about.
 *
 * @param begun what is remembered of the object: a creation that a run began and did not end is ours to finish.
 */
export function withoutBase(
  policy: PlanPolicy,
  begun?: { readonly pending?: 'create' | 'delete' },
): 'commit' | 'adopt' | 'unknown' {
  if (begun?.pending === 'create') return 'commit';
  return policy.stateless ? 'unknown' : 'adopt';
}
