import type { ReviewStatus } from '../../forge/statuses.js';
import { isHeld } from '../../model/unfinished.js';
import type { Log } from '../../platform/log.js';
import type { DaemonView, RunBegin, SourceView, RunRecord, RunResult } from '../view.js';
import { StatusQueue, type SendStatus } from './status-queue.js';
import type { StatusTarget } from './target.js';
import { clean } from '../../report/sanitize.js';
import { plural } from '../../report/values.js';

export interface CommitStatusOptions {
  readonly log: Log;
  readonly send: SendStatus;
  /** Of the status page, without a slash at the end; undefined: statuses link to nothing. */
  readonly publicUrl: string | undefined;
}

/** A run that has not ended: these environments are pending. */
interface UnderWay extends RunBegin {
  readonly environments: readonly string[];
}

/**
 * For each run one status of the whole and one of each environment: pending at its beginning, closed at its end, whatever
 * that is. Nothing that goes wrong here reaches a run.
 *
 * @param targets by the name of the source.
 */
export function startCommitStatuses(
  view: DaemonView,
  targets: ReadonlyMap<string, StatusTarget>,
  { log, send, publicUrl }: CommitStatusOptions,
): { readonly close: () => Promise<void> } {
  const queue = new StatusQueue(send, log);
  const underWay = new Map<string, UnderWay>();

  const tell = (
    source: string,
    { commit, environments, page }: Pick<UnderWay, 'commit' | 'environments'> & { page: string },
    statusOf: (environment: string | null) => ReviewStatus,
  ): void => {
    const target = targets.get(source);
    if (target === undefined || commit === null) return;
    const runUrl = publicUrl === undefined ? undefined : `${publicUrl}${page}`;
    for (const environment of [null, ...environments]) {
      const context = statusContext(source, environment);
      queue.add({ target, commit, runUrl, context, ...statusOf(environment) });
    }
  };
  const breakOff = (source: string): void => {
    const run = underWay.get(source);
    if (run) tell(source, { ...run, page: '/' }, () => BROKEN_OFF);
    underWay.delete(source);
  };

  const stopBegins = view.onBegin(({ name, environments }: SourceView, run) => {
    breakOff(name);
    const begun = { ...run, environments };
    underWay.set(name, begun);
    tell(name, { ...begun, page: '/' }, () => ({ state: 'pending', description: 'under way' }));
  });
  const stopRuns = view.onRun(({ name, environments, leader }, run) => {
    // One that the commit took away is closed as well.
    const all = new Set([...(underWay.get(name)?.environments ?? []), ...environments]);
    underWay.delete(name);
    // Whoever keeps the source now runs the same commit and closes it; a late word of ours could stand above theirs.
    if (!leader) return;
    const { commit, id } = run;
    const ended = { commit, environments: [...all], page: `/runs/${encodeURIComponent(id)}` };
    tell(name, ended, (environment) => runStatus(run, environment));
  });
  return {
    close: async () => {
      stopBegins();
      stopRuns();
      for (const source of [...underWay.keys()]) breakOff(source);
      await queue.close();
    },
  };
}

const NAME = 'flagkeel-watch';

/** Name of the source that the command line alone describes: there is no other to tell it from. */
const ONLY_SOURCE = 'default';

/**
 * `flagkeel-watch/production`, with the source where there may be several; not the name that a review uses, which says
 * what a merge would do and not what was done.
 *
 * @param environment null: the whole.
 */
export function statusContext(source: string, environment: string | null): string {
  const where = source === ONLY_SOURCE ? '' : ` (${clean(source)})`;
  return `${NAME}${environment === null ? '' : `/${clean(environment)}`}${where}`;
}

const STATES: Readonly<Record<RunResult, ReviewStatus['state']>> = {
  'in-sync': 'success',
  applied: 'success',
  waiting: 'pending',
  // What the commit says is not on the service, and nothing broke.
  held: 'failure',
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
  waiting: 'applied, but for what waits for a window',
  held: 'applied, but for what waits for a person',
  suspended: 'suspended: nothing but kills was written',
  degraded: 'applied, but for specs that are invalid',
  refused: 'refused: nothing but kills was written',
  invalid: 'the specs are invalid: nothing but kills was written',
  interrupted: 'interrupted before its end',
  failed: 'the run failed; the status page and the log say why',
};

/** For a commit whose run did not come to an end that could be told. */
const BROKEN_OFF: ReviewStatus = { state: 'error', description: 'the run broke off' };

/**
 * What one status says after a run.
 *
 * @param environment null: the whole.
 */
export function runStatus(run: RunRecord, environment: string | null): ReviewStatus {
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
  }
  const held = (plan?.withheld ?? []).filter((change) => isHere(change.environment));
  // Such a run says of each change where it waits.
  const isUnfinished = environment !== null && (result === 'held' || result === 'waiting');
  const isDoneHere = isUnfinished && missed === 0 && !held.some(isHeld);
  if (result !== 'partial' && result !== 'in-sync' && result !== 'applied' && !isDoneHere) {
    return { state: STATES[result], description: WORDS[result] };
  }
  const deeds = applied === 0 ? 'in line' : `${plural(applied, 'change')} applied`;
  // Drift that waits is nothing that the commit asked for.
  const waiting = held.filter(({ why, reason }) => why === 'window-closed' && reason !== 'drift');
  if (waiting.length > 0) {
    const description = `${deeds}; ${plural(waiting.length, 'change')} held until a window opens`;
    return { state: 'pending', description };
  }
  return {
    state: 'success',
    description: held.length === 0 ? deeds : `${deeds}, ${String(held.length)} withheld`,
  };
}
