import { FlagkeelError, messageOf } from '../../errors.js';
import type { Fence } from '../../model/run.js';
import type { HeldLease, LeaseKeeper } from './leases.js';
import type { Log } from '../../platform/log.js';
import {
  NOTHING_HELD,
  type Leadership,
  type LeadershipEvents,
  type SharedRun,
  type RunPermit,
} from '../source/leadership.js';
import type { ActiveOverrides, Trigger } from '../view.js';
import type { TriggerQueue } from './queue.js';
import type { NumberedRun, SharedOverride, SharedRecord } from './database.js';

interface Fencing {
  readonly keeper: LeaseKeeper;
  /** Ends the run, which could only ask again. */
  readonly doubt: AbortController;
  /** When the source was polled, by this process's monotonic clock. */
  readonly seenAtMs: number;
}

const CUT = 'lease';

/**
 * For this long after a poll of git, its kills still count as git's current orders. A process that was frozen or is cut
 * off from git may have missed a restore since.
 */
const FRESH_MS = 15_000;

/** @param lease null while the database is down and this replica holds no lease: such a run sends kills and no more. */
export function leaseFence(
  name: string,
  lease: HeldLease | null,
  { keeper, doubt, seenAtMs }: Fencing,
): Fence {
  const held = lease === null ? [] : [lease];
  return {
    lease: name,
    term: lease?.term ?? 0,
    check: async ({ isUrgent }) => {
      const isOurs = await keeper.mayWrite(held).catch(() => 'unknown' as const);
      if (isOurs === true) return;
      const isFresh = performance.now() - seenAtMs < FRESH_MS;
      if (isOurs === 'unknown' && isUrgent && isFresh) return;
      doubt.abort(CUT);
      throw new FlagkeelError('INTERRUPTED', 'cannot write: another replica may have taken over');
    },
    enter: async (other, wait) => {
      if (lease === null) {
        doubt.abort(CUT);
        const message =
          'cannot go on: the database of the replicas does not answer, and until it does nothing but kills is sent';
        throw new FlagkeelError('INTERRUPTED', message);
      }
      const entered = await keeper.await(other, wait);
      held.push(entered);
      return async () => {
        // Ignored: the lease expires by itself, and an error here would hide the result of the run.
        await keeper.giveBack(entered).catch(() => undefined);
      };
    },
  };
}

interface SharedLeadershipOptions {
  /** Equal in all replicas, unique among daemons over one database. */
  readonly key: string;
  readonly replica: string;
  readonly keeper: LeaseKeeper;
  readonly queue: TriggerQueue;
  readonly record: SharedRecord;
  readonly log: Log;
}

const OVERRIDES = ['suspension', 'pin', 'approval'] as const;

/** Leadership of a source that several replicas may keep. The holder of a lease in the database leads. */
export class SharedLeadership implements Leadership {
  readonly key: string;
  readonly #options: SharedLeadershipOptions;
  readonly #events: LeadershipEvents;
  #lease: HeldLease | null = null;
  #endTaking: (() => void) | null = null;
  #permits = 0;
  /** While the database does not answer, it is unknown which replica keeps the source. */
  #isCutOff = false;
  lastRun = 0;
  /** As the database had it last, whatever order its answers come in. */
  #shared = NOTHING_HELD;
  readonly #versions = new Map<keyof ActiveOverrides, number>();
  /** Requests to this replica that are not in the database yet. */
  #unshared: Partial<ActiveOverrides> = {};
  /** Serialises writes to the database, so that the last request also wins there. */
  #flushing: Promise<void> = Promise.resolve();

  constructor(options: SharedLeadershipOptions, events: LeadershipEvents) {
    this.#options = options;
    this.#events = events;
    this.key = options.key;
  }

  get isLeader(): boolean {
    return this.#lease !== null && !this.#lease.lost.aborted;
  }

  /** Whether a takeover by another replica would interrupt no run. */
  get isIdle(): boolean {
    return this.#permits === 0;
  }

  async take(): Promise<boolean> {
    const { keeper, log } = this.#options;
    const lease = await keeper.take(this.key);
    if (lease === null) return false;
    try {
      // The first run must respect a suspension that another replica has just received.
      await this.#readOverrides();
    } catch (error) {
      await keeper.giveBack(lease);
      throw error;
    }
    // Another replica may have taken over while the database was read: the signal tells that once.
    if (lease.lost.aborted) return false;
    this.#lease = lease;
    log.info({ term: lease.term }, 'this replica keeps the source now');
    lease.lost.addEventListener('abort', () => {
      this.#onLost(lease);
    });
    this.#events.onLead();
    this.#listen();
    return true;
  }

  async leave(): Promise<void> {
    const lease = this.#lease;
    this.#lease = null;
    this.#stopTaking();
    if (lease === null) return;
    this.#events.onLost();
    await this.#options.keeper.giveBack(lease);
  }

  begin(): RunPermit | null {
    const { keeper } = this.#options;
    const lease = this.isLeader ? this.#lease : null;
    if (lease === null && !this.#isCutOff) return null;
    const doubt = new AbortController();
    this.#permits += 1;
    const end = (): void => {
      this.#permits -= 1;
    };
    return {
      signal: lease === null ? doubt.signal : AbortSignal.any([lease.lost, doubt.signal]),
      ...(lease === null && { killsOnly: true }),
      fence: (seenAtMs) => leaseFence(this.key, lease, { keeper, doubt, seenAtMs }),
      end,
    };
  }

  forward(trigger: Trigger): void {
    const { queue, log } = this.#options;
    queue.put(this.key, trigger).catch((error: unknown) => {
      log.error({ trigger, why: messageOf(error) }, 'cannot tell the other replicas');
    });
  }

  async keep(run: SharedRun): Promise<void> {
    const { record, log } = this.#options;
    try {
      await record.addRun(this.key, run);
    } catch (error) {
      log.warn({ run: run.run.id, why: messageOf(error) }, 'run is not in the shared history');
    }
  }

  share(changed: Partial<ActiveOverrides>): void {
    this.#unshared = { ...this.#unshared, ...changed };
    this.flush().catch((error: unknown) => {
      this.#options.log.warn({ why: messageOf(error) }, 'cannot tell the other replicas yet');
    });
  }

  /** Wakes the leader too. */
  async flush(): Promise<void> {
    const flushed = this.#flushing.then(async () => this.#flushOnce());
    this.#flushing = flushed.catch(() => undefined);
    return flushed;
  }

  async #flushOnce(): Promise<void> {
    const asked = OVERRIDES.filter((kind) => kind in this.#unshared);
    if (asked.length === 0) return;
    for (const kind of asked) {
      const value = this.#unshared[kind] ?? null;
      const version = await this.#options.record.setOverride(this.key, kind, value);
      this.#learn({ kind, value, version });
      const { [kind]: newest = null, ...others } = this.#unshared;
      if (newest === value) this.#unshared = others;
    }
    if (!this.isLeader) this.forward('request');
  }

  onRuns(runs: readonly NumberedRun[]): void {
    this.lastRun = runs.at(-1)?.number ?? this.lastRun;
    const others = runs.filter(({ replica }) => replica !== this.#options.replica);
    if (others.length > 0) this.#events.onRuns(others.map(({ run }) => run));
  }

  onOverrides(all: readonly SharedOverride[]): void {
    for (const each of all.filter(({ source }) => source === this.key)) this.#learn(each);
    this.#events.onOverrides({ ...this.#shared, ...this.#unshared });
  }

  #learn({ kind, value, version }: Omit<SharedOverride, 'source'>): void {
    if (version <= (this.#versions.get(kind) ?? 0)) return;
    this.#versions.set(kind, version);
    this.#shared = { ...this.#shared, [kind]: value };
  }

  async #readOverrides(): Promise<void> {
    this.onOverrides(await this.#options.record.overrides());
  }

  onTrouble(why: string | null): void {
    this.#events.onTrouble(why);
  }

  onCutOff(isCutOff: boolean): void {
    const isNews = isCutOff && !this.#isCutOff;
    this.#isCutOff = isCutOff;
    // A kill may have come while no replica kept the source.
    if (isNews) this.#events.onTrigger('start');
  }

  #onLost(lease: HeldLease): void {
    if (this.#lease !== lease) return;
    this.#lease = null;
    this.#options.log.warn({ term: lease.term }, 'this replica keeps the source no longer');
    this.#stopTaking();
    this.#events.onLost();
  }

  #listen(): void {
    this.#stopTaking();
    this.#endTaking = this.#options.queue.take(this.key, async (trigger) => {
      if (!this.isLeader) return false;
      await this.#readOverrides();
      this.#events.onTrigger(trigger);
      return true;
    });
  }

  #stopTaking(): void {
    this.#endTaking?.();
    this.#endTaking = null;
  }
}
