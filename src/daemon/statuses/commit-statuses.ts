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
  /** URL of the status page, without a slash at the end. Without it, statuses have no link. */
  readonly publicUrl: string | undefined;
}

/** A run under way, whose environments are pending. */
interface UnderWay extends RunBegin {
  readonly environments: readonly string[];
}

/**
 * Sets one status per run and one per environment: pending at the beginning, closed at the end, however the run ends.
 * Errors here never reach a run.
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
    // Includes environments that the commit removed, whose pending statuses must be closed too.
    const all = new Set([...(underWay.get(name)?.environments ?? []), ...environments]);
    underWay.delete(name);
    // The new leader runs the same commit and closes it. A late status of ours could replace its result.
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

/** Name of the source when the command line describes the only one. Statuses then leave it out. */
const ONLY_SOURCE = 'default';

/**
 * `flagkeel-watch/production`, with the source where there may be several. The name differs from a review's, because a
 * review predicts a merge and this reports a run.
 *
 * @param environment null for the whole.
 */
export function statusContext(source: string, environment: string | null): string {
  const where = source === ONLY_SOURCE ? '' : ` (${clean(source)})`;
  return `${NAME}${environment === null ? '' : `/${clean(environment)}`}${where}`;
}

const STATES: Readonly<Record<RunResult, ReviewStatus['state']>> = {
  'in-sync': 'success',
  applied: 'success',
  waiting: 'pending',
  // The commit is not on the service as written, though nothing broke.
  held: 'failure',
  suspended: 'failure',
  degraded: 'failure',
  refused: 'failure',
  invalid: 'failure',
  partial: 'failure',
  interrupted: 'error',
  failed: 'error',
};

/** Contain no numbers, commits or untrusted text; these are on the page of the run. */
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

/** For a commit whose run ended without a result to report. */
const BROKEN_OFF: ReviewStatus = { state: 'error', description: 'the run broke off' };

/** The status to set after a run. @param environment null for the whole. */
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
    // Every change was accepted, but verifying found a difference, and it is unknown in which environment.
    if (all.every(isApplied)) {
      return { state: 'failure', description: 'applied, but the service does not show it' };
    }
  }
  const held = (plan?.withheld ?? []).filter((change) => isHere(change.environment));
  // These results list, for each change, the environment where it waits.
  const isUnfinished = environment !== null && (result === 'held' || result === 'waiting');
  const isDoneHere = isUnfinished && missed === 0 && !held.some(isHeld);
  if (result !== 'partial' && result !== 'in-sync' && result !== 'applied' && !isDoneHere) {
    return { state: STATES[result], description: WORDS[result] };
  }
  const deeds = applied === 0 ? 'in line' : `${plural(applied, 'change')} applied`;
  // The commit did not ask for drift, so waiting drift does not keep it pending.
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
