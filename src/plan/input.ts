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

/**
 * Why a difference without a base came about. What a run was about to create when it died is ours, and no stranger.
 */
export function withoutBase(
  policy: PlanPolicy,
  base: Base<unknown> | undefined,
): 'adopt' | 'unknown' | 'commit' {
  if (base?.pending === 'create') return 'commit';
  return policy.stateless ? 'unknown' : 'adopt';
}

/**
 * Why something has to be created: it is new in git, or it was there, equal to its base, and somebody deleted it
 * outside git, with or without a change in git since.
 */
export function creationReason<T>(
  base: Base<T> | undefined,
  desired: T,
): 'commit' | 'drift' | 'conflict' {
  if (base?.spec === undefined) return 'commit';
  return sameJson(base.spec, desired) ? 'drift' : 'conflict';
}
