import pg from 'pg';
import { describe, expect, it } from 'vitest';
import type { WireDefinition } from '../../src/admin-api/wire.js';
import { lacks } from '../support/requirements.js';
import { at, callsOf } from '../support/service-calls.js';
import { startTestService } from '../support/service.js';
import { useStores } from '../support/stores.js';

const server = process.env['TEST_POSTGRES_SERVER'];

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

  it('that cannot be reached stops the start in words', async () => {
    const url = 'postgres://postgres:secret@127.0.0.1:1/none';

    const failure = startTestService({ store: { kind: 'postgres', url } });

    await expect(failure).rejects.toMatchObject({ code: 'STATE_UNREADABLE' });
    await expect(failure).rejects.not.toThrow(/secret/);
  });
});
