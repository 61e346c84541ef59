import type { StepId } from '../model/step.js';

/** What has to be known of a step to say when it may be sent. */
export interface ScheduledStep {
  readonly id: StepId;
  /** Ids of steps that come before it in the list. */
  readonly needs: readonly StepId[];
  /** Steps of one object are sent one after the other, in the order of the list. */
  readonly object: string;
}

/**
 * Says which steps may be sent now. It knows nothing of services and of how a step ended: what needs a step waits until
 * that has ended, well or not.
 *
 * A step is free when all that it needs has ended, and the step of its object before it. Free steps are given in the order
 * of the list, so that a list that is in a right order, one at a time, is walked as it stands.
 */
export class StepSchedule<S extends ScheduledStep> {
  readonly #steps: readonly S[];
  readonly #positions: ReadonlyMap<StepId, number>;
  /** By position: how many steps it waits for still. */
  readonly #waits: number[];
  /** By position: the steps that wait for it. */
  readonly #waiting: number[][];
  /** Positions, lowest first. */
  readonly #free: number[] = [];

  /** @throws Error a step needs one that is not before it: nothing would ever free it. */
  constructor(steps: readonly S[]) {
    this.#steps = steps;
    this.#positions = new Map(steps.map(({ id }, position) => [id, position]));
    this.#waiting = steps.map(() => []);
    const lastOf = new Map<string, StepId>();
    this.#waits = steps.map(({ id, needs, object }, position) => {
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

  /** The first step that is free, which is then no longer given; undefined: none is, until another ends. */
  take(): S | undefined {
    const position = this.#free.shift();
    return position === undefined ? undefined : this.#steps[position];
  }

  /** Frees what waited for a step that was taken. To be called once for each. */
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
