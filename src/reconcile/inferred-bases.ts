import type { SpecHistory } from '../history/spec-history.js';
import type { Plan } from '../model/plan.js';
import { planChanges } from '../plan/plan.js';
import {
  hasUnremembered,
  stateWithInferredBases,
  type EarlierSpecs,
} from '../plan/inferred-bases.js';
import { historyOf, type RunContext, type TimedInput } from './context.js';
import { timedInput } from './moment.js';

/** A plan and its input. */
export interface PlanFromBases {
  readonly input: TimedInput;
  readonly changes: Plan;
}

/**
 * The plan of a run. If a differing object has no base in the state, the base is inferred from the specs before the
 * push at hand, which are read only in that case.
 */
export async function planWithInferredBases(
  context: RunContext,
  input: TimedInput,
  observed: Plan['observed'],
): Promise<PlanFromBases> {
  const changes = planChanges(input, observed);
  if (!hasUnremembered(changes)) return { input, changes };
  const before = await specsBeforePush(historyOf(context, input.desired), context.options.since);
  const state = before ? stateWithInferredBases(input, before) : input.state;
  if (state === input.state) return { input, changes };
  const completed = timedInput({ ...input, state }, input.moment);
  return { input: completed, changes: planChanges(completed, observed) };
}

/**
 * The specs before the push at hand: at the merge base of HEAD and `since`, or without that at the first parent of
 * HEAD. No older commit can serve, because between it and the push the service may have been reverted by hand.
 *
 * @param since a revision, as the operator named it.
 * @returns undefined if they are unknown, or there were none.
 * @throws FlagkeelError `GIT` there is no such revision.
 */
async function specsBeforePush(
  history: SpecHistory,
  since: string | undefined,
): Promise<EarlierSpecs | undefined> {
  if (!history.isKnown) return undefined;
  const commit =
    since === undefined ? await history.firstParent() : await history.mergeBaseWith(since);
  const desired = commit === null ? undefined : await history.atAncestor(commit);
  return desired && commit !== null ? { desired, commit } : undefined;
}
