import type { Actual } from '../model/actual.js';
import type { BoundDesired } from '../model/bound-desired.js';
import { sameJson } from '../model/json.js';
import type { Base, State } from '../model/state.js';
import type { PlanPolicy } from './policy.js';

export interface PlanInput {
  readonly desired: BoundDesired;
  readonly actual: Actual;
  readonly state: State;
  readonly policy: PlanPolicy;
}

/** Reason for a difference without a base. A creation that a crashed run had begun is ours, not foreign. */
export function withoutBase(
  policy: PlanPolicy,
  base: Base<unknown> | undefined,
): 'adopt' | 'unknown' | 'commit' {
  if (base?.pending === 'create') return 'commit';
  return policy.stateless ? 'unknown' : 'adopt';
}

/**
 * Reason for a creation: the object is new in git; or it equalled its base and was deleted outside git, while git
 * changed it too or left it.
 */
export function creationReason<T>(
  base: Base<T> | undefined,
  desired: T,
): 'commit' | 'drift' | 'conflict' {
  if (base?.spec === undefined) return 'commit';
  return sameJson(base.spec, desired) ? 'drift' : 'conflict';
}
