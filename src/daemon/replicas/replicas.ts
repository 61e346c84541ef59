import { randomBytes } from 'node:crypto';
import { paused, type Time } from '../../platform/clock.js';
import { messageOf } from '../../errors.js';
import { grouped } from '../../model/collections.js';
import type { Log } from '../../platform/log.js';
import type { JoinElection } from '../source/leadership.js';
import { Database, MIGRATION, SharedRecord } from './database.js';
import { LeaseKeeper, Leases } from './leases.js';
import { TriggerQueue } from './queue.js';
import { SharedLeadership } from './shared-leadership.js';

interface ReplicasOptions {
  readonly url: string;
  readonly leaseMs: number;
  readonly time: Time;
  readonly log: Log;
}

/** How often in the time of one lease a replica renews, counts the others and tries to take over. */
const BEATS = 4;
const MIGRATION_TIMEOUT_MS = 30_000;

/**
 * The replicas of a daemon, as one of them sees them. One replica at a time keeps a source. No replica keeps more than
 * its share, and the others take over the sources of a replica that is gone.
 */
export class Replicas {
  /** Id of this process; short, because run ids contain it. */
  readonly id: string;
  readonly #options: ReplicasOptions;
  readonly #keeper: LeaseKeeper;
  readonly #record: SharedRecord;
  readonly #queue: TriggerQueue;
  readonly #databases: readonly Database[];
  readonly #leaderships: SharedLeadership[] = [];
  readonly #ending = new AbortController();
  #loops: Promise<unknown> = Promise.resolve();
  #trouble: string | null = null;

  private constructor(
    id: string,
    options: ReplicasOptions,
    { databases, queue }: { databases: readonly [Database, Database]; queue: TriggerQueue },
  ) {
    this.id = id;
    this.#options = options;
    const [database] = databases;
    const { leaseMs, time } = options;
    this.#keeper = new LeaseKeeper(new Leases(database, id, leaseMs), leaseMs, time);
    this.#record = new SharedRecord(database, id);
    this.#queue = queue;
    this.#databases = databases;
  }

  /** @throws FlagkeelError `STATE_UNREADABLE` */
  static async open(options: ReplicasOptions): Promise<Replicas> {
    const { url, leaseMs, log, time } = options;
    const id = randomBytes(4).toString('hex');
    const onTrouble = (why: string): void => {
      log.debug({ why }, 'connection to the database of the replicas');
    };
    // Leases have connections of their own, so that a slow queue does not delay a renewal.
    const ours = new Database({ url, timeoutMs: leaseMs / 3, connections: 4, onTrouble });
    const theirs = new Database({
      url,
      timeoutMs: MIGRATION_TIMEOUT_MS,
      connections: 2,
      onTrouble,
    });
    try {
      await theirs.query(MIGRATION);
      const queue = await TriggerQueue.open(theirs, time, log);
      return new Replicas(id, options, { databases: [ours, theirs], queue });
    } catch (error) {
      await Promise.all([ours.close(), theirs.close()]);
      throw error;
    }
  }

  leadership(key: string, log: Log): JoinElection {
    const shared = { keeper: this.#keeper, queue: this.#queue, record: this.#record };
    const options = { ...shared, key, replica: this.id, log: log.child({ replica: this.id }) };
    return (events) => {
      const leadership = new SharedLeadership(options, events);
      this.#leaderships.push(leadership);
      return leadership;
    };
  }

  /** Call once all sources take part. */
  start(): void {
    this.#loops = Promise.all([this.#renew(), this.#beat()]);
  }

  /** Frees the leases of this replica at once. Call only when no run is under way. */
  async close(): Promise<void> {
    this.#ending.abort();
    await this.#loops;
    try {
      for (const leadership of this.#leaderships) await leadership.leave();
      await this.#record.leave();
      await this.#queue.close();
    } catch (error) {
      this.#options.log.warn({ why: messageOf(error) }, 'leases stay until their time is over');
    }
    await Promise.all(this.#databases.map(async (database) => database.close()));
  }

  /**
   * A loop of its own, so that nothing slow delays a renewal. A failed query is repeated soon: the duration of a lease
   * leaves time for more than one.
   */
  async #renew(): Promise<void> {
    const { time, leaseMs } = this.#options;
    const { signal } = this.#ending;
    let failures = 0;
    while (!signal.aborted) {
      failures = await this.#keeper.renew().then(
        () => 0,
        () => failures + 1,
      );
      // A single slow answer does not yet mean that the database is down.
      for (const leadership of this.#leaderships) leadership.onCutOff(failures > 1);
      const pauseMs = leaseMs / BEATS / (failures === 0 ? 1 : BEATS);
      await paused(pauseMs, time, signal);
    }
  }

  async #beat(): Promise<void> {
    const { time, leaseMs } = this.#options;
    const { signal } = this.#ending;
    const queued = new Set<SharedLeadership>();
    while (!signal.aborted) {
      try {
        for (const leadership of this.#leaderships.filter((each) => !queued.has(each))) {
          await this.#queue.create(leadership.key);
          queued.add(leadership);
        }
        const replicas = await this.#record.present(leaseMs);
        await this.#exchange();
        await this.#release(replicas);
        this.#say(null);
      } catch (error) {
        this.#say(messageOf(error));
      }
      await paused(leaseMs / BEATS, time, signal);
    }
  }

  /** Takes free sources up to this replica's share and gives back any more than that. */
  async #release(replicas: number): Promise<void> {
    const part = Math.ceil(this.#leaderships.length / replicas);
    const held = this.#leaderships.filter(({ isLeader }) => isLeader);
    const surplus = held.filter(({ isIdle }) => isIdle).slice(0, Math.max(0, held.length - part));
    for (const leadership of surplus) await leadership.leave();
    let room = part - held.length;
    for (const leadership of this.#leaderships) {
      if (room <= 0) return;
      if (leadership.isLeader || !leadership.isIdle) continue;
      if (await leadership.take()) room -= 1;
    }
  }

  async #exchange(): Promise<void> {
    for (const leadership of this.#leaderships) await leadership.flush();
    const known = new Map(this.#leaderships.map(({ key, lastRun }) => [key, lastRun]));
    const runs = grouped(await this.#record.runsAfter(known), ({ source }) => source);
    for (const each of this.#leaderships) each.onRuns(runs.get(each.key) ?? []);
    const overrides = await this.#record.overrides();
    for (const each of this.#leaderships) each.onOverrides(overrides);
  }

  #say(trouble: string | null): void {
    if (trouble === this.#trouble) return;
    this.#trouble = trouble;
    const { log } = this.#options;
    if (trouble === null) log.info({}, 'database of the replicas within reach again');
    else log.error({ why: trouble }, 'database of the replicas out of reach');
    for (const leadership of this.#leaderships) leadership.onTrouble(trouble);
  }
}
