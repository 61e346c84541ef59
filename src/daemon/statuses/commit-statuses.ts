import type { Judgement } from '../../forge/statuses.js';
import type { Log } from '../../log.js';
import type { DaemonView, RunBegin, SourceView } from '../view.js';
import { BROKEN_OFF, runJudgement, statusContext } from './run-judgement.js';
import { StatusQueue, type SendStatus } from './status-queue.js';
import type { StatusTarget } from './target.js';

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
    judge: (environment: string | null) => Judgement,
  ): void => {
    const target = targets.get(source);
    if (target === undefined || commit === null) return;
    const runUrl = publicUrl === undefined ? undefined : `${publicUrl}${page}`;
    for (const environment of [null, ...environments]) {
      const context = statusContext(source, environment);
      queue.add({ target, commit, runUrl, context, ...judge(environment) });
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
    tell(name, ended, (environment) => runJudgement(run, environment));
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
