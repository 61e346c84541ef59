import PgBoss from 'pg-boss';
import { FlagkeelError, messageOf } from '../../errors.js';
import { afterEachPause, type Time } from '../../platform/clock.js';
import type { Log } from '../../platform/log.js';
import type { Trigger } from '../view.js';
import type { Database } from './database.js';

const QUEUE_SCHEMA = 'flagkeel_queue';

/** An arbitrary number, unique to this lock; the migration of our own tables has another one. */
const START_LOCK = 7_204_118_554;

const POLLING_MS = 500;
/** Triggers taken at a time; there are fewer kinds of triggers. */
const MOST_TAKEN = 10;
/** A trigger whose worker died is offered again after this many seconds. */
const EXPIRES_SECONDS = 30;

/** Brings triggers to the replica that keeps a source. Does not queue a trigger that already waits. */
export class TriggerQueue {
  readonly #boss: PgBoss;
  readonly #time: Pick<Time, 'sleep'>;
  readonly #log: Log;

  private constructor(boss: PgBoss, time: Pick<Time, 'sleep'>, log: Log) {
    this.#boss = boss;
    this.#time = time;
    this.#log = log;
  }

  /** @throws FlagkeelError `STATE_UNREADABLE` */
  static async open(
    database: Database,
    time: Pick<Time, 'sleep'>,
    log: Log,
  ): Promise<TriggerQueue> {
    const boss = new PgBoss({ db: database, schema: QUEUE_SCHEMA, schedule: false });
    boss.on('error', (error) => {
      log.warn({ why: messageOf(error) }, 'queue of the replicas');
    });
    try {
      // Without this lock, replicas that start together fail: the library checks for its schema before it takes its own
      // lock, and then creates it a second time.
      await database.alone(START_LOCK, async () => boss.start());
    } catch (cause) {
      const message = `cannot prepare the queue of the replicas: ${messageOf(cause)}`;
      throw new FlagkeelError('STATE_UNREADABLE', message, { cause });
    }
    return new TriggerQueue(boss, time, log);
  }

  async create(name: string): Promise<void> {
    await this.#boss.createQueue(name, { name, policy: 'short' });
  }

  async put(name: string, trigger: Trigger): Promise<void> {
    const retries = { retryLimit: 10, retryDelay: 1, expireInSeconds: EXPIRES_SECONDS };
    await this.#boss.send(name, { trigger }, { singletonKey: trigger, ...retries });
  }

  /**
   * Polls for triggers, also while the database does not answer.
   *
   * @param take returns false to leave the trigger to another replica.
   * @returns stops polling without waiting for the poll under way, which may still call `take`.
   */
  take(name: string, take: (trigger: Trigger) => Promise<boolean>): () => void {
    const ending = new AbortController();
    const { signal } = ending;
    let trouble: string | null = null;
    const poll = async (): Promise<void> => {
      try {
        await this.#takeWaiting(name, take);
        trouble = null;
      } catch (error) {
        const why = messageOf(error);
        if (why !== trouble && !signal.aborted) this.#log.warn({ why }, 'queue of the replicas');
        trouble = why;
      }
    };
    const until = { time: this.#time, signal };
    void poll().then(async () => afterEachPause(() => POLLING_MS, until, poll));
    return () => {
      ending.abort();
    };
  }

  /**
   * The workers of the library would do the same, but do not await the write of a job's result (timgit/pg-boss#577, in
   * all versions for Node 20): if that write fails, the unhandled rejection ends the process.
   */
  async #takeWaiting(name: string, take: (trigger: Trigger) => Promise<boolean>): Promise<void> {
    const jobs = await this.#boss.fetch<{ readonly trigger: Trigger }>(name, {
      batchSize: MOST_TAKEN,
    });
    for (const { id, data } of jobs) {
      const isTaken = await take(data.trigger).catch((error: unknown) => {
        this.#log.debug({ why: messageOf(error) }, 'queue of the replicas');
        return false;
      });
      await (isTaken ? this.#boss.complete(name, id) : this.#boss.fail(name, id));
    }
  }

  async close(): Promise<void> {
    await this.#boss.stop({ graceful: false, wait: true, timeout: 1_000 });
  }
}
