import type { Judgement } from '../../forge/statuses.js';
import { clean } from '../../report/clean.js';
import { plural } from '../../report/value-words.js';
import type { RunRecord, RunResult } from '../view.js';

const NAME = 'flaghoist-watch';

/** Name of the source that the command line alone describes: there is no other to tell it from. */
const ONLY_SOURCE = 'default';

/**
 * `flaghoist-watch/production`, with the source where there may be several; not the name that a review uses, which says
 * what a merge would do and not what was done.
 *
 * @param environment null: the whole.
 */
export function statusContext(source: string, environment: string | null): string {
  const where = source === ONLY_SOURCE ? '' : ` (${clean(source)})`;
  return `${NAME}${environment === null ? '' : `/${clean(environment)}`}${where}`;
}

const STATES: Readonly<Record<RunResult, Judgement['state']>> = {
  'in-sync': 'success',
  applied: 'success',
  // What the commit says is not on the service, and nothing broke.
  suspended: 'failure',
  degraded: 'failure',
  refused: 'failure',
  invalid: 'failure',
  partial: 'failure',
  interrupted: 'error',
  failed: 'error',
};

/** Without numbers, commits or anybody's words, which are for the page of the run. */
const WORDS: Readonly<Record<Exclude<RunResult, 'in-sync' | 'applied' | 'partial'>, string>> = {
  suspended: 'suspended: nothing but kills was written',
  degraded: 'applied, but for specs that are invalid',
  refused: 'refused: nothing but kills was written',
  invalid: 'the specs are invalid: nothing but kills was written',
  interrupted: 'interrupted before its end',
  failed: 'the run failed; the status page and the log say why',
};

/** For a commit whose run did not come to an end that could be told. */
export const BROKEN_OFF: Judgement = { state: 'error', description: 'the run broke off' };

/**
 * What one status says after a run.
 *
 * @param environment null: the whole.
 */
export function runJudgement(run: RunRecord, environment: string | null): Judgement {
  const { result, plan } = run;
  const all = plan?.changes ?? [];
  const isHere = (place: string | null): boolean => environment === null || place === environment;
  const changes = all.filter((change) => isHere(change.environment));
  const isApplied = ({ outcome }: (typeof all)[number]): boolean => outcome === 'applied';
  const applied = changes.filter(isApplied).length;
  const missed = changes.length - applied;
  if (result === 'partial') {
    if (missed > 0) {
      const description = `${String(missed)} of ${plural(changes.length, 'change')} failed or skipped`;
      return { state: 'failure', description };
    }
    // All was taken, and a second look found something different: nobody knows in which environment.
    if (all.every(isApplied)) {
      return { state: 'failure', description: 'applied, but the service does not show it' };
    }
  } else if (result !== 'in-sync' && result !== 'applied') {
    return { state: STATES[result], description: WORDS[result] };
  }
  const withheld = (plan?.withheld ?? []).filter((change) => isHere(change.environment)).length;
  const deeds = applied === 0 ? 'in line' : `${plural(applied, 'change')} applied`;
  return {
    state: 'success',
    description: withheld === 0 ? deeds : `${deeds}, ${String(withheld)} withheld`,
  };
}
