import { EXIT, type ExitCode } from '../errors.js';
import type { Judgement } from '../forge/statuses.js';
import { clean } from '../report/clean.js';
import { countActions, type PlanReport } from '../report/plan-report.js';
import { plural } from '../report/value-words.js';

/** Stands in the place of an environment for the status of the whole. */
export const OVERALL = '';

const NAME = 'flaghoist';

/** `flaghoist/production`, with the config directory where that is not the top of the repository. */
export function statusContext(environment: string, prefix: string): string {
  const where = prefix === '' ? '' : ` (${clean(prefix.replace(/\/$/, ''))})`;
  return `${NAME}${environment === OVERALL ? '' : `/${clean(environment)}`}${where}`;
}

interface ToldOf {
  readonly exitCode: ExitCode;
  readonly report?: PlanReport;
  readonly offline?: boolean;
}

/** What one status says in the end. Without anything told the run broke off, and that is no success. */
export function judgement(context: string, prefix: string, told: ToldOf | undefined): Judgement {
  if (!told) return { state: 'error', description: 'the review broke off; run it again' };
  const { report, exitCode, offline } = told;
  if (!report) {
    return exitCode === EXIT.invalidSpecs
      ? { state: 'failure', description: 'the specs are invalid' }
      : { state: 'error', description: 'there is no plan; the comment and the log say why' };
  }
  const refused = (report.guardFindings ?? []).length;
  if (refused > 0) {
    return { state: 'failure', description: `refused by ${plural(refused, 'guard')}` };
  }
  const environment = report.environments.find((each) => statusContext(each, prefix) === context);
  const isHere = (place: string | null): boolean =>
    environment === undefined || place === environment;
  const changes = report.plan.changes.filter(({ ref }) => isHere(ref.environment));
  const counts = countActions(changes);
  const deeds = [
    `${String(counts.create)} to create`,
    `${String(counts.update)} to update`,
    `${String(counts.delete)} to delete`,
  ];
  return {
    state: 'success',
    description:
      (changes.length === 0 ? 'nothing to write' : deeds.join(', ')) +
      (offline === true ? '; made offline, the service was not asked' : ''),
  };
}
