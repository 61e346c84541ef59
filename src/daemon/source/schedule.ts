import { schedule, setLogger, validate, type ScheduledTask } from 'node-cron';
import type { Log } from '../../platform/log.js';

/** Whether a text is a schedule: five fields of cron, or six with seconds first. */
export function isSchedule(text: string): boolean {
  return validate(text);
}

/** A clock that strikes by the fields of cron, in local time. The only door to the library that knows them. */
export class Schedule {
  readonly #task: ScheduledTask;

  constructor(fields: string, log: Log, strike: () => void) {
    // The library writes to standard output otherwise, and strikes that were missed are no news: a look comes anyway.
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

  /** ISO 8601; null: never again. */
  get next(): string | null {
    return this.#task.getNextRun()?.toISOString() ?? null;
  }

  async stop(): Promise<void> {
    await this.#task.destroy();
  }
}
