import { FlaghoistError } from '../errors.js';
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
    const misfortune = level === 'info' ? '' : misfortuneOf(record, end);
    const isTold = misfortune !== '' && misfortune === this.#told;
    if (record.result !== 'interrupted') this.#told = misfortune;
    changes(log, record, isTold);
    if (!isTold) details(log, record, end);
    const { result, durationMs, requests, triggers } = record;
    const facts = { result, durationMs, requests, triggers, summary: clean(record.summary) };
    if (isTold) log.info({ ...facts, again: true }, 'run ended as the one before');
    else log[level](facts, 'run ended');
  }
}

/** Wrong specs are the same misfortune whatever the run did beside them. */
function misfortuneOf({ result, text }: RunRecord, { diagnostics = [] }: CycleEnd): string {
  const found = diagnostics.map(({ code, location, message }) => [code, location, message]);
  return JSON.stringify([result, found.length > 0 ? found : text]);
}

function changes(log: Log, { plan }: RunRecord, isTold: boolean): void {
  for (const { id, action, reason, outcome, error } of plan?.changes ?? []) {
    const facts = { object: clean(id), action, reason, outcome };
    if (outcome === 'applied') log.info(facts, 'change');
    else if (error && !isTold) {
      log.error({ ...facts, code: error.code, why: clean(error.message) }, 'change failed');
    }
  }
}

function details(log: Log, { plan }: RunRecord, { diagnostics = [], error }: CycleEnd): void {
  for (const { severity, code, location, message } of diagnostics) {
    const { file, line, column } = location;
    const facts = { file: clean(file), line, column, code, message: clean(message) };
    log[severity === 'error' ? 'error' : 'warn'](facts, 'diagnostic');
  }
  for (const { id, why, wayOut } of plan?.withheld ?? []) {
    log.debug({ object: clean(id), why, wayOut }, 'withheld');
  }
  // Ours comes with its stack; the others are sentences, and stand in the summary.
  if (error !== undefined && !(error instanceof FlaghoistError)) log.error({ error }, 'bug');
}
