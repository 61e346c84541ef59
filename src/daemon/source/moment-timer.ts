import type { Time } from '../../platform/clock.js';

/** The clock is looked at so often at least: on the wall it may jump. */
const MAX_WAIT_MS = 600_000;

/** Something that ends at a moment by the clock on the wall. */
export interface Ending {
  /** In milliseconds from now; null: nothing is waited for. */
  readonly endsInMs: number | null;
  /** Drops what is over. @returns whether anything was. */
  expire(): boolean;
}

export interface MomentTimerOptions {
  readonly of: Ending;
  readonly time: Time;
  /** Ends it for good. */
  readonly ending: AbortSignal;
  readonly onEnd: () => void;
}

/** Tells when something ends, however the clock is set meanwhile. */
export class MomentTimer {
  readonly #options: MomentTimerOptions;
  #current: AbortController | null = null;

  constructor(options: MomentTimerOptions) {
    this.#options = options;
  }

  /** To be called when the moment has changed. */
  restart(): void {
    this.#current?.abort();
    this.#current = new AbortController();
    void this.#await(AbortSignal.any([this.#current.signal, this.#options.ending]));
  }

  async #await(signal: AbortSignal): Promise<void> {
    const { of, time, onEnd } = this.#options;
    for (;;) {
      const { endsInMs } = of;
      if (endsInMs === null) return;
      try {
        await time.sleep(Math.min(endsInMs, MAX_WAIT_MS), signal);
      } catch {
        return;
      }
      if (of.expire()) onEnd();
    }
  }
}

/** When something goes that was held back. */
export class DueMoment implements Ending {
  readonly #now: () => number;
  #at: number | null = null;

  /** @param now milliseconds since the epoch. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** ISO 8601; null: nothing does. */
  get at(): string | null {
    return this.#at === null ? null : new Date(this.#at).toISOString();
  }

  set at(moment: string | null) {
    this.#at = moment === null ? null : Date.parse(moment);
  }

  get endsInMs(): number | null {
    return this.#at === null ? null : Math.max(0, this.#at - this.#now());
  }

  expire(): boolean {
    if (this.#at === null || this.#at > this.#now()) return false;
    this.#at = null;
    return true;
  }
}
