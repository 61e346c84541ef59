import PgBoss from 'pg-boss';
import { messageOf } from '../../errors.js';
import type { Log } from '../../platform/log.js';
import type { Trigger } from '../view.js';
import type { Database } from './database.js';

/** The library's own tables, which it keeps up to date by itself. */
const QUEUE_SCHEMA = 'flaghoist_queue';

const POLLING_SECONDS = 0.5;
/** Whoever took one and died has not done it: it is offered again after so long. */
const EXPIRES_SECONDS = 30;

/** Brings triggers to whoever keeps a source. One that waits already is not put a second time. */
export class TriggerQueue {
  readonly #boss: PgBoss;

  private constructor(boss: PgBoss) {
    this.#boss = boss;
  }

  static async open(database: Database, log: Log): Promise<TriggerQueue> {
    const boss = new PgBoss({
      db: database,
      schema: QUEUE_SCHEMA,
      schedule: false,
    });
    boss.on('error', (error) => {
      log.warn({ why: messageOf(error) }, 'queue of the replicas');
    });
    await boss.start();
    return new TriggerQueue(boss);
  }

  /** Repeating it is safe. */
  async create(name: string): Promise<void> {
    await this.#boss.createQueue(name, { name, policy: 'short' });
  }

  async put(name: string, trigger: Trigger): Promise<void> {
    await this.#boss.send(
      name,
      { trigger },
      {
        singletonKey: trigger,
        retryLimit: 10,
        retryDelay: 1,
        expireInSeconds: EXPIRES_SECONDS,
      },
    );
  }

  /**
   * @param take false: not for us, and offered again.
   * @returns ends it.
   */
  async take(
    name: string,
    take: (trigger: Trigger) => Promise<boolean>,
  ): Promise<() => Promise<void>> {
    const options = { pollingIntervalSeconds: POLLING_SECONDS };
    const id = await this.#boss.work<{ trigger: Trigger }>(name, options, async (jobs) => {
      for (const { data } of jobs) {
        if (!(await take(data.trigger))) throw new Error('another replica keeps this source');
      }
    });
    return async () => this.#boss.offWork({ id });
  }

  async close(): Promise<void> {
    await this.#boss.stop({ graceful: false, wait: true, timeout: 1_000 });
  }
}
