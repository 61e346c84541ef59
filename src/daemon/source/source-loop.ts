import type { EventEmitter } from 'node:events';
import { afterEachPause, type Time } from '../../platform/clock.js';
import type { Log } from '../../platform/log.js';
import { clean } from '../../report/sanitize.js';
import { CHANGE_TRIGGERS, type CycleEnd } from './cycle.js';
import { Driver } from './driver.js';
import { Alarm, Follower, Schedule } from './triggers.js';
import {
  ALONE,
  Overrides,
  type Leadership,
  type LeadershipEvents,
  type RunPermit,
} from './leadership.js';
import { recordedEnd, RunLog, SourceRecord } from './run-log.js';
import { type Confirm, type SourceOptions, SourceRuns } from './source-runs.js';
import type { NewTrouble } from '../health.js';
import { addsKill, describeCommit, type Seen } from '../upstream/upstream.js';
import type {
  ActiveOverrides,
  Approval,
  CommitView,
  DaemonEvents,
  RunRecord,
  SourceView,
  Trigger,
} from '../view.js';

interface LoopSurroundings {
  readonly time: Time;
  readonly log: Log;
  readonly newRunId: () => string;
  readonly events: EventEmitter<DaemonEvents>;
}

/** Decides when to poll one source and when to run it, one poll and one run at a time. */
export class SourceLoop {
  readonly name: string;
  readonly #options: SourceOptions;
  readonly #around: LoopSurroundings;
  readonly #log: Log;
  readonly #runLog: RunLog;
  readonly #runs: SourceRuns;
  readonly #driver: Driver;
  readonly #follower: Follower;
  readonly #overrides: Overrides;
  readonly #overrideEnd: Alarm;
  readonly #due: Alarm;
  readonly #record: SourceRecord;
  readonly #leadership: Leadership;
  readonly #ending = new AbortController();
  /** Parts that gave no answer when they were last asked for one, apart from runs. */
  readonly #away = new Set<'source' | 'service'>();
  #schedule: Schedule | null = null;
  #polled: Promise<void> = Promise.resolve();
  #confirming: Promise<void> = Promise.resolve();
  /** Triggers of a run that has not chosen its commit and its overrides yet. Others join that run. */
  #choosing: Trigger[] | null = null;

  constructor(options: SourceOptions, around: LoopSurroundings) {
    const { time } = around;
    const now = (): number => time.now();
    this.name = options.name;
    this.#options = options;
    this.#around = around;
    this.#log = around.log.child({ source: options.name });
    this.#runLog = new RunLog(this.#log);
    this.#overrides = new Overrides(now);
    const ending = this.#ending.signal;
    this.#overrideEnd = new Alarm(time, ending, () => {
      if (this.#overrides.expire()) this.trigger('request');
      this.#overrideEnd.at = this.#overrides.endsAt;
    });
    this.#due = new Alarm(time, ending, () => {
      this.trigger('due');
    });
    this.#record = new SourceRecord(now);
    this.#runs = new SourceRuns(options, { log: this.#log, record: this.#record, ending, now });
    this.#driver = new Driver({
      time,
      debounceMs: options.debounceMs,
      run: async (triggers, signal) => this.#runSafely(triggers, signal),
      onChange: this.#tellChange,
    });
    this.#follower = new Follower(options.upstream, {
      time,
      intervalMs: options.intervalMs,
      jitterMs: options.jitterMs,
      addsKill: async (before, after) => addsKill(options.upstream, before, after),
      onChange: this.trigger,
      onPoll: this.#onPoll,
    });
    this.#leadership = options.leadership?.(this.#electionEvents()) ?? ALONE;
  }

  /** Asks at each interval whether the service still answers, so that silence cannot look like peace. */
  async #confirmAtIntervals(confirm: Confirm): Promise<void> {
    const { intervalMs } = this.#options;
    const { signal } = this.#ending;
    const isRunning = (): boolean => ['running', 'queued'].includes(this.#driver.phase);
    await afterEachPause(
      () => intervalMs,
      { time: this.#around.time, signal },
      async () => {
        const wasRunning = isRunning();
        const trouble = await confirm(signal, {
          seen: this.#leadership.isLeader ? null : this.#follower.seen,
          isRunning: wasRunning,
          isAway: this.#record.why('service') !== null,
        });
        // A run that began meanwhile knows more.
        if (trouble === undefined || signal.aborted || (!wasRunning && isRunning())) return;
        this.#note('service', trouble);
        this.#tellChange();
      },
    );
  }

  /** Logs a trouble when it begins, changes or ends. What failed meanwhile, unless for runs alone, backs off no longer. */
  #note(part: 'source' | 'service', trouble: NewTrouble | null): void {
    const wasAway = this.#away.delete(part);
    if (trouble !== null) this.#away.add(part);
    if (!this.#record.note(part, trouble)) return;
    if (trouble !== null) {
      this.#log.error({ ...trouble, why: clean(trouble.why) }, `${part} out of reach`);
      return;
    }
    const ended = part === 'source' ? { what: this.#options.upstream.kind } : {};
    this.#log.info(ended, `${part} within reach again`);
    if (wasAway && this.#driver.phase === 'backing-off') this.trigger('retry');
  }

  start(): void {
    const { schedule, confirm } = this.#options;
    if (schedule !== null) {
      const until = { time: this.#around.time, signal: this.#ending.signal };
      this.#schedule = new Schedule(schedule, until, () => {
        this.trigger('schedule');
      });
    }
    this.#follower.start();
    if (confirm) this.#confirming = this.#confirmAtIntervals(confirm);
    this.trigger('start');
  }

  async stop(reason: unknown): Promise<void> {
    this.#ending.abort();
    this.#follower.end();
    await this.#driver.stop(reason);
    await this.#follower.close();
    await this.#confirming;
  }

  ask(trigger: Trigger): void {
    if (this.#leadership.isLeader) this.trigger(trigger);
    else this.#leadership.forward(trigger);
  }

  readonly trigger = (trigger: Trigger): void => {
    this.#log.debug({ trigger }, 'trigger');
    if (!CHANGE_TRIGGERS.includes(trigger)) this.#polled = this.#follower.poll();
    // The run under way may be one that sends kills only, and the first run of a leader is none.
    if (this.#choosing === null || trigger === 'start') this.#driver.trigger(trigger);
    else if (!this.#choosing.includes(trigger)) this.#choosing.push(trigger);
  };

  /** Shares even what changes nothing here: this replica may not know yet of the suspension that a request ends. */
  setOverride(asked: Partial<ActiveOverrides>): void {
    this.#overrides.change(asked);
    this.#leadership.share(asked);
    this.#onOverride();
  }

  #onOverride(): void {
    const { suspension: suspended, pin: pinned, approval: approved } = this.#overrides.inForce;
    if (suspended && this.#choosing === null) this.#driver.interrupt('suspended');
    this.#log.info({ suspended, pinned, approved }, 'held back or let pass by request');
    this.#overrideEnd.at = this.#overrides.endsAt;
    this.trigger('request');
  }

  #electionEvents(): LeadershipEvents {
    return {
      onLead: () => {
        this.trigger('start');
      },
      onLost: () => {
        this.#driver.interrupt('lease');
        this.#tellChange();
      },
      onTrigger: this.trigger,
      onRuns: (runs) => {
        for (const { run, at, dueAt, ...facts } of runs) {
          const isNewest = this.#record.ended(run, at, facts);
          // A leader must not miss what is due by its own plan.
          if (dueAt !== undefined && isNewest && !this.#leadership.isLeader) this.#due.at = dueAt;
        }
        this.#tellChange();
      },
      onOverrides: (overrides) => {
        if (this.#overrides.set(overrides)) this.#onOverride();
      },
      onTrouble: (why) => {
        this.#record.note('database', why === null ? null : { what: 'database', why });
        this.#tellChange();
      },
    };
  }

  view(): SourceView {
    const { name, upstream } = this.#options;
    const { suspension, pin: pinned, approval: approved } = this.#overrides.inForce;
    return {
      name,
      location: upstream.location,
      branch: upstream.branch,
      phase: this.#driver.phase,
      progress: this.#runs.progress,
      ...this.#record.view(),
      unsigned: this.#follower.seen?.unsigned ?? null,
      suspended: suspension ?? this.#record.suspendedByGit,
      pinned,
      approved,
      nextSchedule: this.#schedule?.next ?? null,
      nextRetry: isoOf(this.#driver.nextRetryAt),
      nextDue: isoOf(this.#due.at),
      leader: this.#leadership.isLeader,
    };
  }

  readonly #tellChange = (): void => {
    this.#around.events.emit('change');
  };

  readonly #onPoll = (why: string | null): void => {
    this.#note('source', why === null ? null : { what: this.#options.upstream.kind, why });
    const { commit = null, unsigned = null } = this.#follower.seen ?? {};
    if (commit !== null) this.#record.seen(commit);
    this.#runLog.unsigned(unsigned);
    this.#overrideEnd.check();
    this.#due.check();
    this.#tellChange();
  };

  /** A bug ends the run and not the daemon. @returns whether to try the run again. */
  async #runSafely(triggers: readonly Trigger[], signal: AbortSignal): Promise<boolean> {
    const permit = this.#leadership.begin();
    // No trigger is lost: the leader sees the same changes, and a new leader starts with a run.
    if (permit === null) return false;
    try {
      const both = AbortSignal.any([signal, permit.signal]);
      const mayRetry = await this.#run(triggers, both, permit.fence);
      // Kills that were sent need no retry; the rest waits for the replica that keeps the source.
      if (permit.killsOnly) return mayRetry;
      return (mayRetry && !both.aborted) || permit.signal.aborted;
    } catch (error) {
      this.#choosing = null;
      this.#log.error({ error }, 'bug');
      return true;
    } finally {
      permit.end();
    }
  }

  async #run(
    triggers: readonly Trigger[],
    signal: AbortSignal,
    fence: RunPermit['fence'],
  ): Promise<boolean> {
    const { time, newRunId, events } = this.#around;
    const id = newRunId();
    const named = await this.#finish(triggers);
    // Whoever asked for what this run has taken in sees that it began after that.
    const startedAt = new Date(time.now()).toISOString();
    const started = performance.now();
    const { seen, seenAtMs } = this.#follower;
    const overrides = this.#overrides.inForce;
    const { pin, approval } = overrides;
    const commit = pin?.commit ?? seen?.commit?.commit ?? null;
    this.#log.debug({ run: id, triggers: named, revision: commit }, 'run begins');
    events.emit('begin', this.view(), { id, commit });
    const chosen = { id, triggers: named, startedAt, commit };
    const writeFence = fence?.(seenAtMs);
    const end = await this.#runs.run({ ...chosen, seen, signal, fence: writeFence, overrides });
    if (approval !== null) this.#settle(approval, end);
    const at = commit === null ? null : await this.#describe(commit, seen);
    const subject = at?.subject ?? null;
    const durationMs = Math.round(performance.now() - started);
    const record: RunRecord = { ...chosen, subject, durationMs, ...recordedEnd(end) };
    const term = writeFence?.term;
    this.#record.ended(record, at, { ...end, term });
    if (end.dueAt !== undefined) this.#due.at = end.dueAt;
    this.#runLog.ended(record, end);
    const { environments, suspendedByConfig, dueAt } = end;
    const standings = end.judged && (this.#record.view().standings ?? undefined);
    const flags = end.result === 'in-sync' ? undefined : end.flags;
    const found = { environments, suspendedByConfig, dueAt, standings, flags };
    await this.#leadership.keep({ run: record, at, term, ...found });
    events.emit('end', this.view(), record);
    return end.mayRetry;
  }

  /** An approval is for one plan: a run with a plan has either used it or shown that the plan has changed. */
  #settle(approval: Approval, { plan, result }: CycleEnd): void {
    const isUntried = plan === null || result === 'interrupted' || result === 'suspended';
    if (isUntried || !this.#overrides.spend(approval)) return;
    const { hash, by, token } = approval;
    const isUsed = plan.planHash === hash;
    const { planHash, heldHash = null } = plan;
    const facts = { hash, by: clean(by), token, planHash, heldHash };
    if (isUsed) this.#log.info(facts, 'approved plan was let pass');
    else this.#log.warn(facts, 'approval is void: the plan is another one by now');
    this.#leadership.share({ approval: null });
  }

  /** Waits for the poll that a trigger asked for, so that the run reads the state from when the trigger came. */
  async #finish(triggers: readonly Trigger[]): Promise<readonly Trigger[]> {
    const named = [...triggers];
    this.#choosing = named;
    if (triggers.includes('retry')) this.#polled = this.#follower.poll();
    await this.#polled;
    this.#choosing = null;
    return named;
  }

  async #describe(commit: string, seen: Seen | null): Promise<CommitView | null> {
    if (seen?.commit?.commit === commit) return seen.commit;
    return describeCommit(this.#options.upstream, commit).catch(() => null);
  }
}

function isoOf(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}
