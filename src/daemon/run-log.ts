import type { Log } from '../log.js';
import { clean } from '../report/clean.js';
import type { CycleEnd } from './cycle.js';
import type { RunRecord, RunResult } from './view.js';

const LEVELS: Readonly<Record<RunResult, 'info' | 'warn' | 'error'>> = {
  'in-sync': 'info',
  applied: 'info',
  suspended: 'info',
  interrupted: 'info',
  degraded: 'warn',
  refused: 'warn',
  invalid: 'error',
  partial: 'error',
  failed: 'error',
};

/** Says in the log what runs of one source came to; the same misfortune is told in full once. */
export class RunLog {
  readonly #log: Log;
  #told = '';

  constructor(log: Log) {
    this.#log = log;
  }

  ended(record: RunRecord, end: CycleEnd): void {
    const log = this.#log.child({ run: record.id, revision: record.commit });
    const level = LEVELS[record.result];
    const misfortune = level === 'info' ? '' : `${record.result}\n${record.text}`;
    const isTold = misfortune !== '' && misfortune === this.#told;
    if (record.result !== 'interrupted') this.#told = misfortune;
    if (!isTold) this.#details(log, record, end);
    const { result, durationMs, requests, triggers } = record;
    const facts = { result, durationMs, requests, triggers, summary: clean(record.summary) };
    log[isTold ? 'info' : level](
      { ...facts, ...(isTold && { again: true }) },
      isTold ? 'run ended as the one before' : 'run ended',
    );
  }

  #details(log: Log, { plan }: RunRecord, { diagnostics, error }: CycleEnd): void {
    for (const { severity, code, location, message } of diagnostics ?? []) {
      const { file, line, column } = location;
      const facts = { file: clean(file), line, column, code, message: clean(message) };
      log[severity === 'error' ? 'error' : 'warn'](facts, 'diagnostic');
    }
    for (const { id, action, reason, outcome, error: why } of plan?.changes ?? []) {
      const facts = { object: clean(id), action, reason, outcome };
      if (why) log.error({ ...facts, code: why.code, why: clean(why.message) }, 'change failed');
      else if (outcome !== undefined) log.info(facts, 'change');
    }
    for (const { id, why, wayOut } of plan?.withheld ?? []) {
      log.debug({ object: clean(id), why, wayOut }, 'withheld');
    }
    // What is ours comes with its stack; the others are sentences.
    if (error instanceof Error && error.name !== 'FlaghoistError' && !diagnostics) {
      log.debug({ error }, 'error');
    }
  }
}
