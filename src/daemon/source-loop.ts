import type { Time } from '../api/time.js';
import type { GitMemory } from '../git/git-memory.js';
import type { Log } from '../log.js';
import { clean } from '../report/clean.js';
import { runCycle, unseenEnd, type CycleEnd, type RunOrder } from './cycle.js';
import { withKillsOf } from '../stages/newest-kills.js';
import type { Source } from '../stages/source.js';
import { Driver } from './driver.js';
import { Follower } from './follower.js';
import { HoldTimer } from './hold-timer.js';
import { Holds } from './holds.js';
import { RunLog } from './run-log.js';
import { Schedule } from './schedule.js';
import { ALONE, type HoldState, type Seat, type Turn } from './seat.js';
import type { SourceOptions } from './source-options.js';
import { SourceRecord } from './source-record.js';
import type { Seen } from './upstream/upstream.js';
import type { CommitView, RunBegin, RunRecord, SourceView, Trigger } from './view.js';

/** What all sources of a daemon share. */
export interface LoopSurroundings {
  readonly time: Time;
  readonly log: Log;
  readonly newRunId: () => string;
  readonly onChange: () => void;
  readonly onBegin: (source: SourceView, run: RunBegin) => void;
  readonly onRun: (source: SourceView, run: RunRecord) => void;
}

/** A start, also as the one who takes over and knows nothing of what others did since; the clock; people who want to know. */
const LOOKS_AT_ALL: ReadonlySet<Trigger> = new Set(['start', 'schedule', 'request', 'signal']);

/** Triggers that come from a look, and bring its news with them. */
const NEWS: readonly Trigger[] = ['commit', 'files', 'kill'];

/** Keeps one source in line: one look after the other, one run after the other. */
export class SourceLoop {
  readonly #options: SourceOptions;
  readonly #around: LoopSurroundings;
  readonly #log: Log;
  readonly #runLog: RunLog;
  readonly #driver: Driver;
  readonly #follower: Follower;
  readonly #holds: Holds;
  readonly #holdTimer: HoldTimer;
  readonly #record: SourceRecord;
  readonly #seat: Seat;
  readonly #ending = new AbortController();
  #schedule: Schedule | null = null;
  #looked: Promise<void> = Promise.resolve();
  /** Triggers of a run that has not chosen its commit yet: what comes now is its own news. */
  #choosing: Trigger[] | null = null;
  #plannedLocally: string | null = null;

  constructor(options: SourceOptions, around: LoopSurroundings) {
    const { time } = around;
    this.#options = options;
    this.#around = around;
    this.#log = around.log.child({ source: options.name });
    this.#runLog = new RunLog(this.#log);
    this.#holds = new Holds(() => time.now());
    this.#holdTimer = new HoldTimer({
      ...{ holds: this.#holds, time, ending: this.#ending.signal },
      onEnd: () => {
        this.trigger('request');
      },
    });
    this.#record = new SourceRecord(() => time.now());
    this.#driver = new Driver({
      time,
      debounceMs: options.debounceMs,
      run: async (triggers, signal) => this.#runSafely(triggers, signal),
      onChange: around.onChange,
    });
    this.#follower = new Follower(options.upstream, {
      time,
      intervalMs: options.intervalMs,
      jitterMs: options.jitterMs,
      onNews: (trigger) => {
        this.#news(trigger);
      },
      onLook: (trouble) => {
        this.#onLook(trouble);
      },
    });
    this.#seat = options.seat ?? ALONE;
    this.#sitDown();
  }

  get name(): string {
    return this.#options.name;
  }

  start(): void {
    const { schedule } = this.#options;
    if (schedule !== null) {
      this.#schedule = new Schedule(schedule, this.#log, () => {
        this.trigger('schedule');
      });
    }
    this.#follower.start();
    this.trigger('start');
  }

  /** Resolves when the run under way has ended and nothing more will happen. */
  async stop(reason: unknown): Promise<void> {
    this.#ending.abort();
    this.#follower.end();
    await this.#schedule?.stop();
    await this.#driver.stop(reason);
    await this.#follower.close();
  }

  /** Asked from outside: whoever keeps the source is told. */
  ask(trigger: Trigger): void {
    if (this.#seat.isHeld) this.trigger(trigger);
    else this.#seat.forward(trigger);
  }

  trigger(trigger: Trigger): void {
    this.#log.debug({ trigger }, 'trigger');
    if (!NEWS.includes(trigger)) this.#looked = this.#follower.look();
    this.#driver.trigger(trigger);
  }

  /** Changes what is held back, and runs by it. */
  hold(change: (holds: Holds) => void): void {
    const before = this.#holds.state;
    change(this.#holds);
    const { suspension, pin } = this.#holds.state;
    this.#seat.share({
      ...(suspension !== before.suspension && { suspension }),
      ...(pin !== before.pin && { pin }),
    });
    this.#onHold();
  }

  #onHold(): void {
    const { suspended, pinned } = this.#holds;
    // Who says stop means now.
    if (suspended) this.#driver.interrupt('suspended');
    this.#log.info({ suspended, pinned }, 'held back by request');
    this.#holdTimer.restart();
    this.trigger('request');
  }

  #sitDown(): void {
    this.#seat.attach({
      onLead: () => {
        this.trigger('start');
      },
      onLost: () => {
        this.#driver.interrupt('lease');
        this.#around.onChange();
      },
      onTrigger: (trigger) => {
        this.trigger(trigger);
      },
      onRuns: (runs) => {
        for (const { run, at, ...facts } of runs) this.#record.ended(run, at, facts);
        this.#around.onChange();
      },
      onHolds: (holds: HoldState) => {
        if (this.#holds.set(holds)) this.#onHold();
      },
      onTrouble: (why) => {
        this.#record.trouble('database', why);
        this.#around.onChange();
      },
    });
  }

  view(): SourceView {
    const { name, upstream } = this.#options;
    const retryAt = this.#driver.nextRetryAt;
    return {
      name,
      location: upstream.location,
      branch: upstream.branch,
      phase: this.#driver.phase,
      ...this.#record.view(),
      suspended: this.#holds.suspended ?? this.#record.suspendedByGit,
      pinned: this.#holds.pinned,
      nextSchedule: this.#schedule?.next ?? null,
      nextRetry: retryAt === null ? null : new Date(retryAt).toISOString(),
      leader: this.#seat.isHeld,
    };
  }

  #news(trigger: Trigger): void {
    if (this.#choosing === null) this.trigger(trigger);
    else if (!this.#choosing.includes(trigger)) this.#choosing.push(trigger);
  }

  #onLook(trouble: string | null): void {
    const { isNews } = this.#record.trouble('source', trouble);
    const commit = this.#follower.seen?.commit ?? null;
    if (commit !== null) this.#record.seen(commit);
    if (isNews && trouble !== null) this.#log.error({ why: clean(trouble) }, 'source out of reach');
    if (isNews && trouble === null) this.#log.info({}, 'source within reach again');
    if (this.#holds.expire()) this.trigger('request');
    this.#around.onChange();
  }

  /** A fault of ours ends a run and not the daemon. */
  async #runSafely(triggers: readonly Trigger[], signal: AbortSignal): Promise<boolean> {
    const turn = this.#seat.begin();
    // Whoever keeps the source sees the same news, and begins with a run when that is this replica.
    if (turn === null) return false;
    try {
      const both = AbortSignal.any([signal, turn.signal]);
      const mayRetry = await this.#run(triggers, both, turn.fence);
      // Kills that went out leave nothing to retry: the rest waits for whoever keeps the source.
      if (turn.killsOnly) return mayRetry;
      return (mayRetry && !both.aborted) || turn.signal.aborted;
    } catch (error) {
      this.#choosing = null;
      this.#log.error({ error }, 'bug');
      return true;
    } finally {
      turn.end();
    }
  }

  async #run(
    triggers: readonly Trigger[],
    signal: AbortSignal,
    fence: Turn['fence'],
  ): Promise<boolean> {
    const { time, newRunId, onBegin, onRun } = this.#around;
    const id = newRunId();
    const startedAt = new Date(time.now()).toISOString();
    const started = performance.now();
    const named = await this.#settle(triggers);
    const { seen, seenAtMs } = this.#follower;
    const pinned = this.#holds.pinned?.commit;
    const commit = pinned ?? seen?.commit?.commit ?? null;
    this.#log.debug({ run: id, triggers: named, revision: commit }, 'run begins');
    onBegin(this.view(), { id, commit });
    const of = { id, seen, commit, triggers: named, signal, fence: fence?.(seenAtMs) };
    const end = await this.#cycle(of);
    const at = commit === null ? null : await this.#describe(commit, seen);
    const { result, exitCode, summary, text, plan, requests } = end;
    const record: RunRecord = {
      ...{ id, triggers: named, startedAt, result, exitCode, summary, text, plan, requests },
      durationMs: Math.round(performance.now() - started),
      commit,
      subject: at?.subject ?? null,
    };
    this.#record.ended(record, at, end);
    this.#runLog.ended(record, end);
    const { environments } = end;
    await this.#seat.keep({ run: record, at, ...(environments !== undefined && { environments }) });
    onRun(this.view(), record);
    return end.mayRetry;
  }

  /** Waits for the look that a trigger asked for, so that the run reads what was there when it came. */
  async #settle(triggers: readonly Trigger[]): Promise<readonly Trigger[]> {
    const named = [...triggers];
    this.#choosing = named;
    if (triggers.includes('retry')) this.#looked = this.#follower.look();
    await this.#looked;
    this.#choosing = null;
    return named;
  }

  async #cycle(of: {
    readonly id: string;
    readonly seen: Seen | null;
    readonly commit: string | null;
    readonly triggers: readonly Trigger[];
    readonly signal: AbortSignal;
    readonly fence: RunOrder['fence'];
  }): Promise<CycleEnd> {
    const { id, seen, commit, triggers, signal, fence } = of;
    if (seen === null) return unseenEnd(this.#record.why('source'));
    const { openRun, upstream, words, allowOlder } = this.#options;
    const log = this.#log.child({ run: id, revision: commit });
    const order: RunOrder = {
      open: async (memory) => this.#open(commit, seen, memory),
      look: triggers.some((trigger) => LOOKS_AT_ALL.has(trigger)) ? 'full' : 'touched',
      everyKey: triggers.includes('schedule'),
      suspend: this.#holds.suspended !== null,
      // Who pins a commit means it.
      allowOlder: allowOlder || this.#holds.pinned !== null,
      dryRun: false,
      ...{ signal, fence },
    };
    const events = {
      now: () => this.#around.time.now(),
      words,
      onKill: (object: string, { status }: { readonly status: string }) => {
        log[status === 'killed' ? 'info' : 'error']({ object: clean(object), status }, 'kill');
      },
    };
    const end = await runCycle(openRun, order, events);
    const local = await this.#planLocalChanges(seen, async () =>
      runCycle(
        openRun,
        { ...order, open: async () => upstream.open(null), look: 'apart', dryRun: true },
        events,
      ),
    );
    if (local === null) return end;
    log.warn({ summary: clean(local.summary) }, 'local changes are planned, not applied');
    return {
      ...end,
      text: `${end.text}\nNot committed, and not applied:\n${local.text}`,
      requests: end.requests + local.requests,
    };
  }

  /** What stays at an older commit has the kills of the newest one all the same. */
  async #open(
    commit: string | null,
    { commit: newest }: Seen,
    memory: GitMemory | undefined,
  ): Promise<Source> {
    const source = await this.#options.upstream.open(commit, memory);
    const isNewest = commit === null || newest === null || newest.commit === commit;
    return isNewest ? source : withKillsOf(source, newest.commit);
  }

  /** Local changes are said once, not with every run. */
  async #planLocalChanges(
    { commit, localFiles }: Seen,
    plan: () => Promise<CycleEnd>,
  ): Promise<CycleEnd | null> {
    const isNews = commit !== null && localFiles !== null && localFiles !== this.#plannedLocally;
    this.#plannedLocally = localFiles;
    return isNews && !this.#ending.signal.aborted ? plan() : null;
  }

  async #describe(commit: string, seen: Seen | null): Promise<CommitView | null> {
    if (seen?.commit?.commit === commit) return seen.commit;
    return this.#options.upstream.describe(commit).catch(() => null);
  }
}
