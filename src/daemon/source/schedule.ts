import { schedule, setLogger, validate, type ScheduledTask } from 'node-cron';
import type { Log } from '../../platform/log.js';
import { afterEachPause, type Time } from '../../platform/clock.js';

/** Whether a text is a schedule: the five fields of cron, or six with seconds first. */
export function isSchedule(text: string): boolean {
  return validate(text);
}

/** Calls back at times given by cron fields, in local time. The only importer of the cron library. */
export class Schedule {
  readonly #task: ScheduledTask;

  constructor(fields: string, log: Log, strike: () => void) {
    // By default the library logs to standard output. Missed times need no log line: polling goes on anyway.
    setLogger({
      info: (message) => {
        log.debug({ message }, 'schedule');
      },
      warn: (message) => {
        log.debug({ message }, 'schedule');
      },
      error: (message) => {
        log.warn({ message: String(message) }, 'schedule');
      },
      debug: () => undefined,
    });
    this.#task = schedule(fields, strike, { suppressMissedWarning: true });
  }

  /** ISO 8601; null if there is no next time. */
  get next(): string | null {
    return this.#task.getNextRun()?.toISOString() ?? null;
  }

  async stop(): Promise<void> {
    await this.#task.destroy();
  }
}

/** Longest sleep before another look at the wall clock, which may jump. */
const MAX_WAIT_MS = 600_000;

/** Something that ends at a time of the wall clock. */
export interface Ending {
  /** Milliseconds from now; null if there is nothing to wait for. */
  readonly endsInMs: number | null;
  /** Drops expired entries. @returns whether there were any. */
  expire(): boolean;
}

export interface MomentTimerOptions {
  readonly of: Ending;
  readonly time: Time;
  /** Aborted to stop the timer for good. */
  readonly ending: AbortSignal;
  readonly onEnd: () => void;
}

/** Calls `onEnd` when something ends, even if the clock is set meanwhile. */
export class MomentTimer {
  readonly #options: MomentTimerOptions;
  #current: AbortController | null = null;

  constructor(options: MomentTimerOptions) {
    this.#options = options;
  }

  /** Call after the moment has changed. */
  restart(): void {
    this.#current?.abort();
    this.#current = new AbortController();
    const { of, time, ending, onEnd } = this.#options;
    const signal = AbortSignal.any([this.#current.signal, ending]);
    const pauseMs = (): number | null => {
      const { endsInMs } = of;
      return endsInMs === null ? null : Math.min(endsInMs, MAX_WAIT_MS);
    };
    void afterEachPause(pauseMs, { time, signal }, () => {
      if (of.expire()) onEnd();
    });
  }
}

/** The time at which something held back may go. */
export class DueMoment implements Ending {
  readonly #now: () => number;
  #at: number | null = null;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** ISO 8601; null if nothing waits for a time. */
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
