import type { StepId } from '../model/step.js';
import { StepSchedule, type ScheduledStep } from './schedule.js';

/** What is done with each step of a list, and how its end is told. */
export interface Taking<S, R> {
  /** Steps under way at once, at most; at least 1. */
  readonly concurrency: number;
  /** Asked when it is the turn of a step: the result of one that is not to be sent. */
  readonly skip: (step: S) => R | undefined;
  /** Never rejects. */
  readonly send: (step: S) => Promise<R>;
  /** Whether the result may be owed to another step that was under way at the same time; the step had no effect then. */
  readonly isRefusedBeside: (result: R) => boolean;
  /** Called once for each step, before the turn of any that needs it. */
  readonly end: (step: S, result: R) => void;
}

/**
 * Takes each step of a list once it is free, several side by side. What was refused beside another step is sent once more,
 * by itself, when all that could be done without it is done; the result is then what it is.
 *
 * @param steps in an order in which each has its needs before it.
 */
export async function takeSideBySide<S extends ScheduledStep, R>(
  steps: readonly S[],
  { concurrency, skip, send, isRefusedBeside, end }: Taking<S, R>,
): Promise<void> {
  const schedule = new StepSchedule(steps);
  const underWay = new Map<StepId, Promise<void>>();
  const beside = new Set<StepId>();
  const refused: S[] = [];
  const ended = (step: S, result: R): void => {
    end(step, result);
    schedule.end(step);
  };
  const sent = async (step: S): Promise<void> => {
    const result = await send(step);
    underWay.delete(step.id);
    if (beside.delete(step.id) && isRefusedBeside(result)) refused.push(step);
    else ended(step, result);
  };
  for (;;) {
    // While one that was refused is sent again nothing is free: all that is left waits for it or for others like it.
    const isRoom = underWay.size < concurrency;
    const step = isRoom ? (schedule.take() ?? nextAlone(refused, underWay)) : undefined;
    const skipped = step && skip(step);
    if (step && skipped !== undefined) ended(step, skipped);
    else if (step) {
      if (underWay.size > 0) for (const id of [step.id, ...underWay.keys()]) beside.add(id);
      underWay.set(step.id, sent(step));
    } else if (underWay.size > 0) await Promise.race(underWay.values());
    else return;
  }
}

function nextAlone<S>(refused: S[], underWay: ReadonlyMap<StepId, unknown>): S | undefined {
  return underWay.size === 0 ? refused.shift() : undefined;
}
