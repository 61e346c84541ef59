import pg from 'pg';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { WireDefinition } from '../../src/admin-api/wire.js';
import { lacks } from '../support/requirements.js';
import { at, callsOf } from '../support/service-calls.js';
import { startTestService } from '../support/service.js';
import { END_OTHERS } from '../support/store-faults.js';
import { useStores } from '../support/stores.js';

const server = process.env['TEST_POSTGRES_SERVER'];

/** What every writer over one database holds while it writes. */
const WRITERS_LOCK = 72616771;

/** The same service over PostgreSQL: what could differ there, and what only it can do. */
describe.skipIf(server === undefined && lacks('postgresql'))('a store in PostgreSQL', () => {
  const { aStore, start } = useStores();

  it('is shared by several services, whose writers come one after the other', async () => {
    const location = await aStore();
    const [a, b] = (await Promise.all([start(location), start(location)])).map(callsOf);
    await a?.define('f', { treatments: [{ name: 'on', keys: ['k'] }, { name: 'off' }] });

    await Promise.all(
      Array.from({ length: 30 }, async (_, index) =>
        (index % 2 === 0 ? a : b)?.ok('PATCH', at('f'), [
          { op: 'add', path: '/treatments/0/keys/-', value: `k${index}` },
        ]),
      ),
    );

    const after = await a?.ok<WireDefinition>('GET', at('f'));
    expect(after?.treatments[0]?.keys).toHaveLength(31);
    expect(await b?.ok('GET', '/workspaces')).toMatchObject({ totalCount: 1 });
  });

  it('tells of what the seed of another service added', async () => {
    const location = await aStore();
    const client = callsOf(await start(location));
    await client.ok('GET', '/workspaces?name=Seeded');
    await client.ok('GET', '/trafficTypes/ws/Default');

    const workspaces = [
      { name: 'Seeded', environments: [{ name: 'dev' }], trafficTypes: [] },
      { name: 'Default', environments: [], trafficTypes: ['planted'] },
    ];
    await start(location, { seed: { workspaces } });

    expect(await client.ok('GET', '/workspaces?name=Seeded')).toMatchObject({ totalCount: 1 });
    expect(await client.ok('GET', '/trafficTypes/ws/Default')).toContainEqual(
      expect.objectContaining({ name: 'planted' }),
    );
  });

  it('of a newer version stops the start, and is left alone', async () => {
    const location = await aStore();
    const connectionString = 'url' in location ? location.url : '';
    await start(location);
    const database = new pg.Client({ connectionString });
    await database.connect();
    await database.query(
      "insert into kysely_migration values ('9999-later', '2030-01-01T00:00:00Z')",
    );
    const steps = async (): Promise<object[]> =>
      (await database.query<object>('select * from kysely_migration')).rows;
    const before = await steps();

    await expect(start(location)).rejects.toMatchObject({ code: 'STATE_UNREADABLE' });
    expect(await steps()).toEqual(before);
    await database.end();
  });

  /** What another process over the same database does that writes: it holds the lock of all writers. */
  async function aWriter(connectionString: string) {
    const other = new pg.Client({ connectionString });
    await other.connect();
    onTestFinished(async () => other.end());
    await other.query(`select pg_advisory_lock(${WRITERS_LOCK})`);
    const waiting = `select 1 from pg_locks join pg_database on database = pg_database.oid
      where locktype = 'advisory' and not granted and datname = current_database()`;
    return {
      isWaitedFor: async (): Promise<void> => {
        while ((await other.query(waiting)).rowCount === 0) continue;
      },
      cutAllOthers: async () => other.query(END_OTHERS),
      end: async () => other.query('select pg_advisory_unlock_all()'),
    };
  }

  it('whose connections break fails the requests under way and answers the next', async () => {
    const location = await aStore();
    const client = callsOf(await start(location));
    const other = await aWriter('url' in location ? location.url : '');
    const underWay = client.call('POST', '/splits/ws/Default/trafficTypes/user', { name: 'f' });
    await other.isWaitedFor();

    await other.cutAllOthers();

    const refusal = { code: 503, message: 'The store does not answer' };
    expect((await underWay).body).toMatchObject(refusal);
    await other.end();
    expect(await client.status('GET', '/splits/ws/Default/f')).toBe(404);
  });

  it('is read while many writers wait for one in another process', async () => {
    const location = await aStore();
    const client = callsOf(await start(location));
    const other = await aWriter('url' in location ? location.url : '');
    const names = Array.from({ length: 30 }, (_, index) => `f${index}`);
    const writers = Promise.all(names.map(async (name) => client.flag(name)));
    await other.isWaitedFor();

    expect(await client.status('GET', '/workspaces')).toBe(200);
    await other.end();
    expect(await writers).toHaveLength(30);
  });

  it('that cannot be reached stops the start in words', async () => {
    const url = 'postgres://postgres:secret@127.0.0.1:1/none';

    const failure = startTestService({ store: { kind: 'postgres', url } });

    await expect(failure).rejects.toMatchObject({ code: 'STATE_UNREADABLE' });
    await expect(failure).rejects.not.toThrow(/secret/);
  });
});
