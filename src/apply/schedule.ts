import type { Step, StepId } from '../model/plan.js';
import { keyOfId } from '../model/ref.js';

/** Steps of one object are sent one after the other, in the order of the list. */
export type ScheduledStep = Pick<Step, 'id' | 'needs' | 'change'>;

/**
 * Decides which steps may be sent now: those whose needed steps have ended, well or not, and the previous step of their
 * object. Free steps are given in the order of the list, so that one step at a time follows the list exactly.
 */
export class StepSchedule<S extends ScheduledStep> {
  readonly #steps: readonly S[];
  readonly #positions: ReadonlyMap<StepId, number>;
  /** By position: number of steps that it still waits for. */
  readonly #waits: number[];
  /** By position: the steps that wait for it. */
  readonly #waiting: number[][];
  /** Positions, lowest first. */
  readonly #free: number[] = [];

  /** Refuses a step that needs one that is not before it, and so would never be free. */
  constructor(steps: readonly S[]) {
    this.#steps = steps;
    this.#positions = new Map(steps.map(({ id }, position) => [id, position]));
    this.#waiting = steps.map(() => []);
    const lastOf = new Map<string, StepId>();
    this.#waits = steps.map(({ id, needs, change }, position) => {
      const object = keyOfId(change);
      const before = lastOf.get(object);
      lastOf.set(object, id);
      const awaited = new Set(before === undefined ? needs : [...needs, before]);
      for (const each of awaited) {
        const at = this.#positions.get(each);
        if (at === undefined || at >= position) throw new Error(`bug: ${id} is before ${each}`);
        this.#waiting[at]?.push(position);
      }
      if (awaited.size === 0) this.#free.push(position);
      return awaited.size;
    });
  }

  /** undefined if none is free until another ends. */
  take(): S | undefined {
    const position = this.#free.shift();
    return position === undefined ? undefined : this.#steps[position];
  }

  /** Frees the steps that waited for a taken step. Call it once for each taken step. */
  end({ id }: S): void {
    const position = this.#positions.get(id) ?? -1;
    for (const each of this.#waiting[position] ?? []) {
      const left = (this.#waits[each] ?? 0) - 1;
      this.#waits[each] = left;
      if (left === 0) this.#release(each);
    }
  }

  #release(position: number): void {
    const after = this.#free.findIndex((each) => each > position);
    this.#free.splice(after === -1 ? this.#free.length : after, 0, position);
  }
}

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
 * A step that was refused beside another one is sent once more, by itself, when no other step can go on without it; its
 * second result is final.
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
    const isAlone = underWay.size === 0;
    const step = isRoom ? (schedule.take() ?? (isAlone ? refused.shift() : undefined)) : undefined;
    const skipped = step && skip(step);
    if (step && skipped !== undefined) ended(step, skipped);
    else if (step) {
      if (underWay.size > 0) for (const id of [step.id, ...underWay.keys()]) beside.add(id);
      underWay.set(step.id, sent(step));
    } else if (underWay.size > 0) await Promise.race(underWay.values());
    else return;
  }
}
