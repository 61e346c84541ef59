import { Client } from 'pg';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, inject, it, vi } from 'vitest';
import { realTime } from '../../src/platform/clock.js';
import { Database, MIGRATION, SCHEMA, SharedRecord } from '../../src/daemon/replicas/database.js';
import { LeaseKeeper, Leases } from '../../src/daemon/replicas/leases.js';
import { TriggerQueue } from '../../src/daemon/replicas/queue.js';
import { readOverrides, SharedLeadership } from '../../src/daemon/replicas/shared-leadership.js';
import { NOTHING_HELD, type LeadershipEvents } from '../../src/daemon/source/leadership.js';
import type { ActiveOverrides } from '../../src/daemon/view.js';
import { createDatabase } from '../support/postgres.js';
import { lacks } from '../support/requirements.js';

const SOURCE = 'source-1';
const SUSPENSION = { reason: 'release', until: '2030-01-01T00:00:00.000Z' };
const TTL_MS = 60_000;

/** A database from which what was read may arrive late. */
class SlowDatabase extends Database {
  /** Called with each reading of overrides, after the database has answered and before the answer is there. */
  onRead: () => Promise<void> = async () => Promise.resolve();

  override async query<Row extends Record<string, unknown>>(
    text: string,
    values?: readonly unknown[],
  ): Promise<Row[]> {
    const rows = await super.query<Row>(text, values);
    if (text.startsWith('select source, kind, value')) await this.onRead();
    return rows;
  }
}

describe.skipIf(lacks('postgresql'))('overrides that replicas share on PostgreSQL', () => {
  let url: string;
  let database: SlowDatabase;
  let queue: TriggerQueue;
  let record: SharedRecord;
  let keeper: LeaseKeeper;
  let leadership: SharedLeadership;
  /** What the source was told, in order. */
  let told: ActiveOverrides[];

  beforeEach(async () => {
    url = await createDatabase(inject('postgresServer') ?? '');
    const onTrouble = (): void => undefined;
    database = new SlowDatabase({ url, timeoutMs: 10_000, connections: 4, onTrouble });
    await database.query(MIGRATION);
    const log = pino({ enabled: false });
    queue = await TriggerQueue.open(database, realTime, log);
    await queue.create(SOURCE);
    record = new SharedRecord(database, 'a');
    keeper = new LeaseKeeper(new Leases(database, 'a', TTL_MS), TTL_MS, realTime);
    told = [];
    const onOverrides = (overrides: ActiveOverrides): void => void told.push(overrides);
    const options = { key: SOURCE, replica: 'a', keeper, queue, record, log };
    leadership = new SharedLeadership(options, { ...QUIET, onOverrides });
  });

  afterEach(async () => {
    await leadership.leave();
    await queue.close();
    await database.close();
  });

  /** Does what is given while the next reading is on its way. */
  function whileReading(act: () => Promise<void>): void {
    database.onRead = async () => {
      database.onRead = async () => Promise.resolve();
      await act();
    };
  }

  const read = async (): Promise<boolean> => readOverrides(record, [leadership]);

  async function suspend(): Promise<void> {
    leadership.share({ suspension: SUSPENSION });
    await leadership.flush();
  }

  it('do not forget a suspension that was asked for while the database was read', async () => {
    whileReading(suspend);

    expect(await read()).toBe(false);
    expect(told).toEqual([]);

    expect(await read()).toBe(true);
    expect(told.map(({ suspension }) => suspension)).toEqual([SUSPENSION]);
  });

  it('do not forget one that is on its way to the database while that is read', async () => {
    const beforehand = leadership.beginReading();
    const nothing = (await record.overrides()).get(SOURCE) ?? NOTHING_HELD;
    leadership.share({ suspension: SUSPENSION });
    expect(beforehand(nothing)).toBe(false);
    const meanwhile = leadership.beginReading();
    await leadership.flush();

    expect(meanwhile(nothing)).toBe(false);
    expect(told).toEqual([]);
  });

  it('are those of the newest reading, though an older one arrives after it', async () => {
    const older = leadership.beginReading();
    await new SharedRecord(database, 'b').setOverride(SOURCE, 'suspension', SUSPENSION);
    await read();

    expect(older(NOTHING_HELD)).toBe(false);
    expect(told.map(({ suspension }) => suspension)).toEqual([SUSPENSION]);
  });

  it('are read again by a replica that takes the source over while one is asked for', async () => {
    whileReading(suspend);

    expect(await leadership.take()).toBe(true);
    expect(told.at(0)?.suspension).toEqual(SUSPENSION);
  });

  it('read too slowly leave the source to the replica that has taken it over meanwhile', async () => {
    whileReading(async () => {
      await database.query(`update ${SCHEMA}.lease set expires_at = now() - interval '1 s'`);
      await new Leases(database, 'b', TTL_MS).take(SOURCE);
      await keeper.renew();
    });

    expect(await leadership.take()).toBe(false);
    // Its triggers wait for the other replica, and are not taken and put back.
    await queue.put(SOURCE, 'request');
    await database.query('select pg_sleep(1)');
    const waiting = 'select state::text from flagkeel_queue.job where name = $1';
    expect(await database.query(waiting, [SOURCE])).toEqual([{ state: 'created' }]);
  });

  it('come to the database in the order in which they were asked for', async () => {
    // Of a transaction that is taken back: the suspension has to wait for it, and a resumption finds nothing to delete.
    const other = new Client({ connectionString: url });
    await other.connect();
    await other.query('begin');
    await other.query(
      `insert into ${SCHEMA}.hold (source, kind, value) values ('${SOURCE}', 'suspension', '{}')`,
    );
    leadership.share({ suspension: SUSPENSION });
    await vi.waitFor(async () => {
      const waiting = `select 1 from pg_stat_activity
        where wait_event_type = 'Lock' and datname = current_database()`;
      expect((await other.query(waiting)).rowCount).toBe(1);
    }, 30_000);
    leadership.share({ suspension: null });
    // Time for it to overtake, where it could.
    await database.query('select pg_sleep(0.1)');
    await other.query('rollback');
    await other.end();
    await leadership.flush();

    expect((await record.overrides()).get(SOURCE)).toBeUndefined();
  });
});

const QUIET: LeadershipEvents = {
  onLead: () => undefined,
  onLost: () => undefined,
  onTrigger: () => undefined,
  onRuns: () => undefined,
  onOverrides: () => undefined,
  onTrouble: () => undefined,
};
