import type { GitCache } from '../../git/cache.js';
import type { Source } from '../../git/spec-source.js';
import { withKillsOf } from '../../kill/in-git.js';
import type { Log } from '../../platform/log.js';
import { tracedRun } from '../../platform/telemetry.js';
import { clean } from '../../report/sanitize.js';
import type { Seen, Upstream } from '../upstream/upstream.js';
import type { NewTrouble } from '../health.js';
import type { ActiveOverrides, Trigger } from '../view.js';
import {
  observationFor,
  runCycle,
  unseenEnd,
  type CycleEnd,
  type RunOrder,
  type OpenRun,
} from './cycle.js';
import type { JoinElection } from './leadership.js';
import type { SourceRecord } from './run-log.js';
import type { ChangeNote, Outcome } from '../../model/outcome.js';
import type { Change } from '../../model/plan.js';
import type { ProgressView } from '../../model/run.js';
import { ProgressReporter } from '../../report/progress.js';

interface ChosenRun extends Pick<RunOrder, 'signal' | 'fence'> {
  readonly id: string;
  readonly seen: Seen | null;
  readonly commit: string | null;
  readonly triggers: readonly Trigger[];
  readonly overrides: ActiveOverrides;
}

interface RunSurroundings {
  readonly log: Log;
  readonly record: SourceRecord;
  readonly now: () => number;
  readonly ending: AbortSignal;
}

/** Does the runs of a source, after the loop has chosen the time and the commit. */
export class SourceRuns {
  readonly #options: SourceOptions;
  readonly #known: RunSurroundings;
  /** Fingerprint of the last planned local changes; null if there were none. */
  #plannedLocally: string | null = null;
  #progress: ProgressReporter | null = null;

  constructor(options: SourceOptions, known: RunSurroundings) {
    this.#options = options;
    this.#known = known;
  }

  get progress(): ProgressView | null {
    return this.#progress?.view() ?? null;
  }

  /** Reconciles the commit. Then plans new local changes, which are never applied. */
  async run(of: ChosenRun): Promise<CycleEnd> {
    const { id, seen, commit, triggers, signal, fence } = of;
    const { suspension, pin, approval } = of.overrides;
    const { record, now } = this.#known;
    if (seen === null) return unseenEnd(record.why('source'));
    const { openRun, upstream, note, allowOlder } = this.#options;
    const log = this.#known.log.child({ run: id, revision: commit });
    const tell = (facts: ProgressView): void => {
      log.info({ ...facts }, 'progress');
    };
    // Ended also by a bug: it would show a run for ever.
    using progress = new ProgressReporter([{ kind: 'facts', tell }]);
    this.#progress = progress;
    const order: RunOrder = {
      open: async (memory) => this.#open(commit, seen, memory),
      touchedSince: observationFor(triggers) === 'full' ? undefined : 'memory',
      keys: triggers.includes('schedule') ? 'listed' : undefined,
      isolated: false,
      suspend: suspension ?? undefined,
      // A pin is explicit, so it holds even if a newer commit was applied. A rewritten branch is followed.
      allowOlder: allowOlder || pin !== null || 'beside',
      adopt: triggers.includes('adopt') && record.isOfNewestPlan(commit),
      dryRun: false,
      approvals: approval === null ? [] : [approval],
      signal,
      fence,
      progress,
    };
    const events = {
      now,
      note,
      onKill: (object: string, { status }: { readonly status: string }) => {
        log[status === 'killed' ? 'info' : 'error']({ object: clean(object), status }, 'kill');
      },
      // A change that failed is reported at the end, and in full only once.
      onOutcome: ({ id, action, reason }: Change, { status: outcome }: Outcome) => {
        if (outcome === 'applied')
          log.info({ object: clean(id), action, reason, outcome }, 'change');
      },
    };
    const end = await tracedRun(
      { name: 'reconcile', source: this.#options.name, id },
      async () => runCycle(openRun, order, events),
      (ended) => ended,
    );
    const { localFiles } = seen;
    const isNews =
      seen.commit !== null && localFiles !== null && localFiles !== this.#plannedLocally;
    this.#plannedLocally = localFiles;
    if (!isNews || this.#known.ending.aborted) return end;
    const asPlan = { touchedSince: 'memory', isolated: true, adopt: false, dryRun: true } as const;
    const localOrder = { ...order, ...asPlan, open: async () => upstream.open(null) };
    const local = await runCycle(openRun, localOrder, events);
    log.warn({ summary: clean(local.summary) }, 'local changes are planned, not applied');
    return {
      ...end,
      text: `${end.text}\nNot committed, and not applied:\n${local.text}`,
      requests: end.requests + local.requests,
    };
  }

  /** An older commit gets the kills of the newest one, because a pin must not hold back a kill. */
  async #open(
    commit: string | null,
    { commit: newest }: Seen,
    memory: GitCache | undefined,
  ): Promise<Source> {
    const source = await this.#options.upstream.open(commit, memory);
    const isNewest = commit === null || newest === null || newest.commit === commit;
    return isNewest ? source : withKillsOf(source, newest.commit);
  }
}

/**
 * Never rejects. While a run is under way, it asks only a service that has left the run without an answer for long, and
 * one that counts as away, which may be back.
 *
 * @returns null if the service answers as it should; undefined if it was not asked, nothing says where it is, or the run
 *   knows more.
 */
export type Confirm = (signal: AbortSignal, asked: Asked) => Promise<NewTrouble | null | undefined>;

interface Asked {
  /** The newest specs, if another replica keeps the source: no run here says where its service is. */
  readonly seen: Seen | null;
  readonly isRunning: boolean;
  readonly isAway: boolean;
}

export interface SourceOptions {
  readonly name: string;
  readonly upstream: Upstream;
  readonly openRun: OpenRun;
  readonly intervalMs: number;
  readonly jitterMs: number;
  readonly debounceMs: number;
  /** Cron fields; null for no scheduled full check. */
  readonly schedule: string | null;
  /** Not set for a service that only runs start. */
  readonly confirm?: Confirm | undefined;
  readonly allowOlder: boolean;
  /** Fields that replace those of the commits. */
  readonly note: Partial<ChangeNote>;
  /** Not set without replicas: this process always leads. */
  readonly leadership?: JoinElection | undefined;
}
