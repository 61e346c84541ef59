import { FlagkeelError, messageOf } from '../../errors.js';
import type { Fence } from '../../model/run.js';
import type { HeldLease, LeaseKeeper } from './lease-keeper.js';
import type { Log } from '../../platform/log.js';
import {
  NOTHING_HELD,
  type ActiveOverrides,
  type Leadership,
  type LeadershipEvents,
  type SharedRun,
  type RunPermit,
} from '../source/leadership.js';
import type { Trigger } from '../view.js';
import type { TriggerQueue } from './queue.js';
import type { NumberedRun, SharedRecord } from './shared-record.js';

interface Fencing {
  readonly keeper: LeaseKeeper;
  /** Ends the run: it would only ask again. */
  readonly doubt: AbortController;
  /** When the source was looked at, by this process's steady clock. */
  readonly seenAtMs: number;
}

const CUT = 'lease';

/**
 * So long after a look at git its kills are what git orders now. A process that was frozen, or cannot reach git either, knows
 * of no restore that came since.
 */
const FRESH_MS = 15_000;

/** Of the replica that keeps the source. */
export function leaseFence(lease: HeldLease, fencing: Fencing): Fence {
  const { keeper } = fencing;
  const held: HeldLease[] = [lease];
  return {
    lease: lease.name,
    term: lease.term,
    check: checkOf(held, fencing),
    enter: async (name, wait) => {
      const entered = await keeper.await(name, wait);
      held.push(entered);
      return async () => {
        // Nobody can be told: it is over by itself, and no reason to lose what the run came to.
        await keeper.giveBack(entered).catch(() => undefined);
      };
    },
  };
}

/** Of a replica that keeps nothing, as far as it knows, while nobody can tell who does. */
export function killsFence(lease: string, fencing: Fencing): Fence {
  return {
    lease,
    term: 0,
    check: checkOf([], fencing),
    enter: async () => {
      fencing.doubt.abort(CUT);
      return Promise.reject(
        new FlagkeelError(
          'INTERRUPTED',
          'cannot go on: the database of the replicas does not answer, and until it does nothing but kills is sent',
        ),
      );
    },
  };
}

function checkOf(held: readonly HeldLease[], { keeper, doubt, seenAtMs }: Fencing): Fence['check'] {
  return async ({ isKill }) => {
    const isOurs = await keeper.mayWrite(held).catch(() => 'unknown' as const);
    if (isOurs === true) return;
    const isFresh = performance.now() - seenAtMs < FRESH_MS;
    if (isOurs === 'unknown' && isKill && isFresh) return;
    doubt.abort(CUT);
    throw new FlagkeelError('INTERRUPTED', 'cannot write: another replica may have taken over');
  };
}

export interface SharedLeadershipOptions {
  /** The same in all replicas, and in no other daemon over the same database. */
  readonly key: string;
  readonly replica: string;
  readonly keeper: LeaseKeeper;
  readonly queue: TriggerQueue;
  readonly record: SharedRecord;
  readonly log: Log;
}

const OVERRIDES = ['suspension', 'pin', 'approval'] as const;

/** Leadership of a source that several replicas may keep: a lease in the database says which of them does. */
export class SharedLeadership implements Leadership {
  readonly key: string;
  readonly #options: SharedLeadershipOptions;
  #events: LeadershipEvents | null = null;
  #lease: HeldLease | null = null;
  #endTaking: (() => void) | null = null;
  #permits = 0;
  /** The database does not answer: nobody knows who keeps the source. */
  #isCutOff = false;
  #lastRun = 0;
  /** Asked of us, and not in the database yet. */
  #unshared: Partial<ActiveOverrides> = {};
  /** Grows with all that changes what is known of the overrides: what was read before is too old then. */
  #version = 0;
  /** Brings to the database what is asked, one thing after the other: the last that is asked is the last there. */
  #flushing: Promise<void> = Promise.resolve();

  constructor(options: SharedLeadershipOptions) {
    this.#options = options;
    this.key = options.key;
  }

  get isLeader(): boolean {
    return this.#lease !== null && !this.#lease.lost.aborted;
  }

  /** Nothing would be cut if another replica took over. */
  get isIdle(): boolean {
    return this.#permits === 0;
  }

  /** Number of the last run that its source was told of. */
  get lastRun(): number {
    return this.#lastRun;
  }

  attach(events: LeadershipEvents): void {
    this.#events = events;
  }

  /** Tries to sit down. @returns whether that is done. */
  async take(): Promise<boolean> {
    const { keeper, log } = this.#options;
    const lease = await keeper.take(this.key);
    if (lease === null) return false;
    try {
      // The first run must not write what somebody has just asked to be held back.
      await this.#learnOverrides();
    } catch (error) {
      await keeper.giveBack(lease);
      throw error;
    }
    this.#lease = lease;
    log.info({ term: lease.term }, 'this replica keeps the source now');
    lease.lost.addEventListener('abort', () => {
      this.#onLost(lease);
    });
    this.#events?.onLead();
    this.#listen();
    return true;
  }

  /** Lets another replica sit down at once. */
  async leave(): Promise<void> {
    const lease = this.#lease;
    this.#lease = null;
    this.#stopTaking();
    if (lease === null) return;
    this.#events?.onLost();
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
    if (lease === null) {
      const fence: RunPermit['fence'] = (seenAtMs) =>
        killsFence(this.key, { keeper, doubt, seenAtMs });
      return { signal: doubt.signal, killsOnly: true, fence, end };
    }
    return {
      signal: AbortSignal.any([lease.lost, doubt.signal]),
      fence: (seenAtMs) => leaseFence(lease, { keeper, doubt, seenAtMs }),
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
    this.#version += 1;
    this.flush().catch((error: unknown) => {
      this.#options.log.warn({ why: messageOf(error) }, 'cannot tell the other replicas yet');
    });
  }

  /** Brings to the database what is held back, and wakes the replica that leads. */
  async flush(): Promise<void> {
    const flushed = this.#flushing.then(async () => this.#flushOnce());
    this.#flushing = flushed.catch(() => undefined);
    return flushed;
  }

  async #flushOnce(): Promise<void> {
    const { record } = this.#options;
    const shared = this.#unshared;
    const asked = OVERRIDES.filter((kind) => shared[kind] !== undefined);
    if (asked.length === 0) return;
    for (const kind of asked) await record.setOverride(this.key, kind, shared[kind] ?? null);
    this.#unshared = withoutShared(this.#unshared, shared);
    this.#version += 1;
    if (!this.isLeader) this.forward('request');
  }

  /** Runs that the database has, of whichever replica; oldest first. */
  onRuns(runs: readonly NumberedRun[]): void {
    this.#lastRun = runs.at(-1)?.number ?? this.#lastRun;
    const others = runs.filter(({ replica }) => replica !== this.#options.replica);
    if (others.length > 0) this.#events?.onRuns(others.map(({ run }) => run));
  }

  /**
   * To be called before overrides are read from the database, see `readOverrides`.
   *
   * @returns takes what was read; what is not there yet stays. False: something was asked or learned meanwhile that the
   *   reading may not have seen, so it was not taken. Without that, a suspension would be gone until the next reading.
   */
  beginReading(): (overrides: ActiveOverrides) => boolean {
    const before = this.#version;
    return (overrides) => {
      if (this.#version !== before) return false;
      this.#version += 1;
      this.#events?.onOverrides({ ...overrides, ...this.#unshared });
      return true;
    };
  }

  async #learnOverrides(): Promise<void> {
    let isTaken = false;
    while (!isTaken) isTaken = await readOverrides(this.#options.record, [this]);
  }

  onTrouble(why: string | null): void {
    this.#events?.onTrouble(why);
  }

  /** Whether the database does not answer. May be repeated. */
  onCutOff(isCutOff: boolean): void {
    const isNews = isCutOff && !this.#isCutOff;
    this.#isCutOff = isCutOff;
    // A kill may have come while nobody kept the source.
    if (isNews) this.#events?.onTrigger('start');
  }

  #onLost(lease: HeldLease): void {
    if (this.#lease !== lease) return;
    this.#lease = null;
    this.#options.log.warn({ term: lease.term }, 'this replica keeps the source no longer');
    this.#stopTaking();
    this.#events?.onLost();
  }

  /** Takes what others were asked, while this replica leads. */
  #listen(): void {
    this.#stopTaking();
    this.#endTaking = this.#options.queue.take(this.key, async (trigger) => {
      if (!this.isLeader) return false;
      await this.#learnOverrides();
      this.#events?.onTrigger(trigger);
      return true;
    });
  }

  #stopTaking(): void {
    this.#endTaking?.();
    this.#endTaking = null;
  }
}

/**
 * Reads what is held back, by one question for all of these, and tells it to their sources.
 *
 * @returns whether each of them has taken it, see `beginReading`.
 */
export async function readOverrides(
  record: SharedRecord,
  leaderships: readonly SharedLeadership[],
): Promise<boolean> {
  const readings = leaderships.map((each) => ({ key: each.key, take: each.beginReading() }));
  const overrides = await record.overrides();
  const taken = readings.map(({ key, take }) => take(overrides.get(key) ?? NOTHING_HELD));
  return taken.every((isTaken) => isTaken);
}

/**
 * What is left to bring to the database once `shared` is there: what was asked meanwhile. A member that is there and
 * undefined would be taken for an override.
 */
export function withoutShared(
  asked: Partial<ActiveOverrides>,
  shared: { readonly [K in keyof ActiveOverrides]?: ActiveOverrides[K] | undefined },
): Partial<ActiveOverrides> {
  const left = OVERRIDES.filter(
    (kind) => asked[kind] !== undefined && asked[kind] !== shared[kind],
  );
  return Object.fromEntries(left.map((kind) => [kind, asked[kind]]));
}
