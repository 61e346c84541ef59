import type { Time } from '../api/time.js';
import type { Holds } from './holds.js';

/** A hold is looked at so often at least: the clock on the wall may jump. */
const MAX_HOLD_WAIT_MS = 600_000;

export interface HoldTimerOptions {
  readonly holds: Holds;
  readonly time: Time;
  /** Ends it for good. */
  readonly ending: AbortSignal;
  readonly onEnd: () => void;
}

/** What is held back until a time goes on by itself. */
export class HoldTimer {
  readonly #options: HoldTimerOptions;
  #current: AbortController | null = null;

  constructor(options: HoldTimerOptions) {
    this.#options = options;
  }

  /** To be called when what is held back has changed. */
  restart(): void {
    this.#current?.abort();
    this.#current = new AbortController();
    void this.#await(AbortSignal.any([this.#current.signal, this.#options.ending]));
  }

  async #await(signal: AbortSignal): Promise<void> {
    const { holds, time, onEnd } = this.#options;
    for (;;) {
      const { endsInMs } = holds;
      if (endsInMs === null) return;
      try {
        await time.sleep(Math.min(endsInMs, MAX_HOLD_WAIT_MS), signal);
      } catch {
        return;
      }
      if (holds.expire()) onEnd();
    }
  }
}
