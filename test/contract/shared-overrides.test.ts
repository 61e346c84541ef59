import { Client } from 'pg';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, inject, it, vi } from 'vitest';
import { realTime } from '../../src/platform/clock.js';
import { Database, MIGRATION, SCHEMA, SharedRecord } from '../../src/daemon/replicas/database.js';
import { LeaseKeeper, Leases } from '../../src/daemon/replicas/leases.js';
import { TriggerQueue } from '../../src/daemon/replicas/queue.js';
import { SharedLeadership } from '../../src/daemon/replicas/shared-leadership.js';
import type { LeadershipEvents } from '../../src/daemon/source/leadership.js';
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

  const read = async (): Promise<void> => {
    leadership.onOverrides(await record.overrides());
  };

  const suspensions = (): unknown[] => told.map(({ suspension }) => suspension);

  async function suspend(): Promise<void> {
    leadership.share({ suspension: SUSPENSION });
    await leadership.flush();
  }

  it('are known to all replicas, each kind by itself, and are over for all once they are taken back', async () => {
    const other = new SharedRecord(database, 'b');
    const pin = { ...SUSPENSION, commit: 'c'.repeat(40) };
    await suspend();
    await other.setOverride(SOURCE, 'pin', pin);
    await other.setOverride('another source', 'suspension', { ...SUSPENSION, reason: 'INC-1' });
    await read();
    await other.setOverride(SOURCE, 'suspension', null);
    await read();

    expect(told).toEqual([
      { suspension: SUSPENSION, pin, approval: null },
      { suspension: null, pin, approval: null },
    ]);
  });

  it('do not forget a suspension that was asked for while the database was read', async () => {
    whileReading(suspend);
    await read();
    await read();

    expect(suspensions()).toEqual([SUSPENSION, SUSPENSION]);
  });

  it('do not forget one that is on its way to the database, nor the resumption that follows it there', async () => {
    const nothing = await record.overrides();
    leadership.share({ suspension: SUSPENSION });
    leadership.onOverrides(nothing);
    const suspended = leadership.flush();
    leadership.share({ suspension: null });
    await suspended;
    await read();
    await leadership.flush();
    leadership.onOverrides(nothing);

    expect(suspensions()).toEqual([SUSPENSION, null, null]);
    expect(await record.overrides()).toMatchObject([{ kind: 'suspension', value: null }]);
  });

  it('are those of the newest reading, though an older one arrives after it', async () => {
    await suspend();
    const older = await record.overrides();
    await new SharedRecord(database, 'b').setOverride(SOURCE, 'suspension', null);
    await read();
    leadership.onOverrides(older);

    expect(suspensions()).toEqual([null, null]);
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
    // Of a transaction that is taken back: the suspension has to wait for it, and the resumption too.
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

    expect(await record.overrides()).toMatchObject([{ value: null }]);
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
