import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startPostgres, type TestPostgres } from '../support/postgres.js';
import { lacks } from '../support/requirements.js';
import { callsOf } from '../support/service-calls.js';
import { startTestService, type TestService } from '../support/service.js';

/** What every writer over one database holds while it writes. */
const WRITERS_LOCK = 72616771;

describe.skipIf(lacks('postgresql'))('a service over PostgreSQL', () => {
  let postgres: TestPostgres;
  let service: TestService;
  let other: pg.Client;

  beforeEach(async () => {
    postgres = await startPostgres();
    service = await startTestService({ store: { kind: 'postgres', url: postgres.url } });
    other = new pg.Client({ connectionString: postgres.url });
    await other.connect();
    await other.query(`select pg_advisory_lock(${WRITERS_LOCK})`);
  });

  afterEach(async () => {
    await other.end();
    await service.stop();
    await postgres.stop();
  });

  async function aWriterWaits(): Promise<void> {
    const waiting = "select 1 from pg_locks where locktype = 'advisory' and not granted";
    while ((await other.query(waiting)).rowCount === 0) continue;
  }

  it('whose connections break fails the requests under way and answers the next', async () => {
    const client = callsOf(service);
    const underWay = client.call('POST', '/splits/ws/Default/trafficTypes/user', { name: 'f' });
    await aWriterWaits();

    await other.query(
      'select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and datname = current_database()',
    );

    const failed = await underWay;
    expect(failed.status).toBe(503);
    expect(failed.body).toMatchObject({ code: 503, message: 'The store does not answer' });
    await other.query('select pg_advisory_unlock_all()');
    expect(await client.status('GET', '/splits/ws/Default/f')).toBe(404);
  });

  it('reads while many writers wait for one in another process', async () => {
    const client = callsOf(service);
    const writers = Array.from({ length: 30 }, async (_, index) =>
      client.call('POST', '/splits/ws/Default/trafficTypes/user', { name: `f${index}` }),
    );
    await aWriterWaits();

    expect(await client.status('GET', '/workspaces')).toBe(200);
    await other.query('select pg_advisory_unlock_all()');
    expect((await Promise.all(writers)).map(({ status }) => status)).toEqual(
      writers.map(() => 200),
    );
  });
});
