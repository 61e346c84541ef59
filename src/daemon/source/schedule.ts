import { schedule, setLogger, type ScheduledTask } from 'node-cron';
import type { Log } from '../../platform/log.js';
import { afterEachPause, type Time } from '../../platform/clock.js';

/** Whether a text is a schedule: the five fields of cron, or six with seconds first. */
export { validate as isSchedule } from 'node-cron';

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

  get next(): string | null {
    return this.#task.getNextRun()?.toISOString() ?? null;
  }

  async stop(): Promise<void> {
    await this.#task.destroy();
  }
}

/** Longest sleep before another look at the wall clock. */
const MAX_WAIT_MS = 600_000;

/** Calls `onTime` once at a time of the wall clock, even if that clock is set meanwhile. */
export class Alarm {
  readonly #time: Time;
  readonly #ending: AbortSignal;
  readonly #onTime: () => void;
  #at: number | null = null;
  #waiting = new AbortController();

  constructor(time: Time, ending: AbortSignal, onTime: () => void) {
    this.#time = time;
    this.#ending = ending;
    this.#onTime = onTime;
  }

  get at(): number | null {
    return this.#at;
  }

  set at(moment: number | null) {
    this.#at = moment;
    this.#waiting.abort();
    this.#waiting = new AbortController();
    const time = this.#time;
    const signal = AbortSignal.any([this.#waiting.signal, this.#ending]);
    const pauseMs = (): number | null =>
      this.#at === null ? null : Math.min(Math.max(0, this.#at - time.now()), MAX_WAIT_MS);
    void afterEachPause(pauseMs, { time, signal }, () => {
      this.check();
    });
  }

  check(): void {
    if (this.#at === null || this.#at > this.#time.now()) return;
    this.#at = null;
    this.#onTime();
  }
}
