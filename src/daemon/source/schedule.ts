import { schedule, setLogger, validate, type ScheduledTask } from 'node-cron';
import type { Log } from '../../platform/log.js';

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
