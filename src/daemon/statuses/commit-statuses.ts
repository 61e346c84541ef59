import type { ReviewStatus, CommitStatus } from '../../forge/forge.js';
import { paused, realTime } from '../../platform/clock.js';
import type { Log } from '../../platform/log.js';
import { placeOf } from '../standings.js';
import type { DaemonView, RunBegin, SourceView, RunRecord, RunResult } from '../view.js';
import type { RepositoryTarget } from '../../forge/forge.js';
import { clean } from '../../report/sanitize.js';
import { appliedStatus, statusName } from '../../report/view/verdict.js';
import { messageOf } from '../../errors.js';
import { BoundedMap } from '../../platform/bounded-map.js';

interface CommitStatusOptions {
  readonly log: Log;
  readonly send: SendStatus;
  /** Of the status page, without a slash at the end. Without it, statuses have no link. */
  readonly publicUrl: string | undefined;
}

interface UnderWay extends RunBegin {
  readonly environments: readonly string[];
}

/**
 * Sets one status per run and one per environment: pending at the beginning, closed at the end, however the run ends.
 * Errors here never reach a run.
 */
export function startCommitStatuses(
  { events }: DaemonView,
  targets: ReadonlyMap<string, RepositoryTarget>,
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
      const status = statusOf(environment);
      queue.add({ target, commit, runUrl, context, isFinal: status !== BEGUN, ...status });
    }
  };
  const breakOff = (source: string): void => {
    const run = underWay.get(source);
    if (run) tell(source, { ...run, page: '/' }, () => BROKEN_OFF);
    underWay.delete(source);
  };

  const onBegin = ({ name, environments }: SourceView, run: RunBegin): void => {
    breakOff(name);
    const begun = { ...run, environments };
    underWay.set(name, begun);
    tell(name, { ...begun, page: '/' }, () => BEGUN);
  };
  const onEnd = (source: SourceView, run: RunRecord): void => {
    const { name, environments, leader } = source;
    // Includes environments that the commit removed, whose pending statuses must be closed too.
    const all = new Set([...(underWay.get(name)?.environments ?? []), ...environments]);
    underWay.delete(name);
    // The new leader runs the same commit and closes it. A late status of ours could replace its result.
    if (!leader) return;
    const { commit, id } = run;
    const ended = { commit, environments: [...all], page: `/runs/${encodeURIComponent(id)}` };
    tell(name, ended, (environment) => runStatus(source, run, environment));
  };
  events.on('begin', onBegin).on('end', onEnd);
  return {
    close: async () => {
      events.off('begin', onBegin).off('end', onEnd);
      for (const source of [...underWay.keys()]) breakOff(source);
      await queue.close();
    },
  };
}

const NAME = 'flagkeel-watch';

/** Name of the source when the command line describes the only one. Statuses then leave it out. */
const ONLY_SOURCE = 'default';

/** The name differs from a review's, which predicts a merge. @param environment null for the whole. */
export function statusContext(source: string, environment: string | null): string {
  return statusName(NAME, environment, source === ONLY_SOURCE ? '' : source);
}

/** Runs that say nothing about the service. The words contain no numbers, commits or untrusted text. */
const CUT: Partial<Record<RunResult, ReviewStatus>> = {
  invalid: {
    state: 'failure',
    description: 'the specs are invalid: nothing but kills was written',
  },
  refused: { state: 'failure', description: 'refused: nothing but kills was written' },
  interrupted: { state: 'error', description: 'interrupted before its end' },
  failed: { state: 'error', description: 'the run failed; the status page and the log say why' },
};

const BEGUN: ReviewStatus = { state: 'pending', description: 'under way' };
const BROKEN_OFF: ReviewStatus = { state: 'error', description: 'the run broke off' };

/** The status to set after a run, by what became of the objects. @param environment null for the whole. */
export function runStatus(
  { standings }: Pick<SourceView, 'standings'>,
  { result, plan }: Pick<RunRecord, 'result' | 'plan'>,
  environment: string | null,
): ReviewStatus {
  const cut = CUT[result];
  const isPlanned = plan !== null && result === 'refused';
  if (cut !== undefined && !isPlanned) return cut;
  if (standings === null) return BROKEN_OFF;
  const place =
    environment === null
      ? standings
      : standings.environments.find(({ name }) => name === environment);
  if (place === undefined) return { state: 'success', description: 'no objects' };
  const own = standings.objects.filter(
    ({ id }) => environment === null || placeOf(id) === environment,
  );
  const status = appliedStatus(
    place,
    own.map(({ standing }) => standing),
  );
  // A list of kills is wrong without an object that is.
  const hides = result === 'degraded' && environment === null && status.state !== 'failure';
  return hides ? { state: 'failure', description: 'part of the specs is invalid' } : status;
}

export interface DueStatus extends CommitStatus {
  readonly target: RepositoryTarget;
  readonly commit: string;
  readonly runUrl: string | undefined;
  /** The end of a run may be pending like its beginning: for a window. */
  readonly isFinal: boolean;
}

export type SendStatus = (due: DueStatus, signal: AbortSignal) => Promise<void>;

const MOST_WAITING = 200;
/** Final statuses kept after a failure. If there are more, the forge does not accept them. */
const MOST_OWED = 20;
const MOST_REMEMBERED = 1_000;
/** A container has ten seconds to end. */
const GRACE_MS = 3_000;

/**
 * Sends statuses in the background, one by one. Tells of a beginning only before the first final status of a commit, and
 * repeats a final status only if it differs: a forge takes 1,000 statuses of a commit, which hourly runs would use up.
 */
class StatusQueue {
  readonly #send: SendStatus;
  readonly #log: Log;
  readonly #end = new AbortController();
  /** By commit and context, oldest first. */
  readonly #waiting = new Map<string, DueStatus>();
  readonly #owed = new BoundedMap<string, DueStatus>(MOST_OWED);
  /** What the forge shows, or is about to. */
  readonly #shown = new BoundedMap<string, DueStatus>(MOST_REMEMBERED);
  #sending: Promise<void> | undefined;

  constructor(send: SendStatus, log: Log) {
    this.#send = send;
    this.#log = log;
  }

  /** Replaces a waiting status of that commit and context. Retries failed final statuses once. */
  add(due: DueStatus): void {
    if (this.#end.signal.aborted) return;
    this.#takeOwed();
    const key = keyOf(due);
    const last = this.#waiting.get(key) ?? this.#shown.get(key);
    const isSaid = last && (!due.isFinal || (last.isFinal && last.state === due.state));
    if (!isSaid) {
      this.#waiting.set(key, due);
      if (this.#waiting.size > MOST_WAITING) this.#drop();
    }
    this.#start();
  }

  /** Waits briefly for the queue to empty, and drops the rest. */
  async close(): Promise<void> {
    this.#takeOwed();
    this.#start();
    await Promise.race([this.#sending, paused(GRACE_MS, realTime, this.#end.signal)]);
    this.#end.abort();
    const untold = this.#waiting.size + this.#owed.size;
    if (untold > 0) this.#log.warn({ untold }, 'commit statuses given up');
  }

  #start(): void {
    if (this.#waiting.size > 0) this.#sending ??= this.#sendAll();
  }

  #takeOwed(): void {
    for (const [key, due] of this.#owed.entries())
      if (!this.#waiting.has(key)) this.#waiting.set(key, due);
    this.#owed.clear();
  }

  async #sendAll(): Promise<void> {
    // Also visits what is added meanwhile.
    for (const [key, due] of this.#waiting) {
      if (this.#end.signal.aborted) break;
      this.#waiting.delete(key);
      await this.#sendOne(key, due);
    }
    this.#sending = undefined;
  }

  async #sendOne(key: string, due: DueStatus): Promise<void> {
    const { commit, context, state } = due;
    const fields = { revision: commit, context, state };
    this.#shown.set(key, due);
    try {
      await this.#send(due, this.#end.signal);
      this.#log.debug(fields, 'commit status');
    } catch (error) {
      this.#shown.delete(key);
      if (due.isFinal) this.#owed.set(key, due);
      this.#log.warn({ ...fields, why: clean(messageOf(error)) }, 'commit status failed');
    }
  }

  /** Drops a beginning first: without it, its commit needs no final status. */
  #drop(): void {
    const all = [...this.#waiting.values()];
    const dropped = all.find(({ isFinal }) => !isFinal) ?? all[0];
    if (dropped) this.#waiting.delete(keyOf(dropped));
    this.#log.warn({ why: 'too many are waiting' }, 'commit status dropped');
  }
}

function keyOf({ target, commit, context }: DueStatus): string {
  return JSON.stringify([target.repository, commit, context]);
}
