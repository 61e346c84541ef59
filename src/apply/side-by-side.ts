import type { StepId } from '../model/plan.js';
import { StepSchedule, type ScheduledStep } from './schedule.js';

/** How to handle each step of a list, and where to report its end. */
export interface Taking<S, R> {
  /** Steps under way at once, at most; at least 1. */
  readonly concurrency: number;
  /** Called when a step is due; gives the result of a step that is not to be sent. */
  readonly skip: (step: S) => R | undefined;
  /** Never rejects. */
  readonly send: (step: S) => Promise<R>;
  /** Whether another step under way at the same time may have caused this result; the step must have had no effect. */
  readonly isRefusedBeside: (result: R) => boolean;
  /** Called once for each step, before any step that needs it is due. */
  readonly end: (step: S, result: R) => void;
}

/**
 * Handles each step of a list once it is free, several side by side. A step that was refused beside another one is sent
 * once more, by itself, when no other step can go on without it; its second result is final.
 *
 * @param steps each after the steps that it needs.
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
    // While a refused step is sent again, no step is free: all others wait for it or for other refused ones.
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
