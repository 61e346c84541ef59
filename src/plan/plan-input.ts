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

/** Why a difference without a base came about. */
export function withoutBase(policy: PlanPolicy): 'adopt' | 'unknown' {
  return policy.stateless ? 'unknown' : 'adopt';
}
