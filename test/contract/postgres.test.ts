import pg from 'pg';
import { afterAll, describe, expect, it } from 'vitest';
import type { WireDefinition } from '../../src/admin-api/wire.js';
import { aDefinition, callsOf } from '../support/service-calls.js';
import { createDatabase } from '../support/postgres.js';
import { lacks } from '../support/requirements.js';
import { startTestService, type TestService } from '../support/service.js';

const server = process.env['TEST_POSTGRES_SERVER'];

/** The same service over PostgreSQL: what could differ there, and what only it can do. */
describe.skipIf(server === undefined && lacks('postgresql'))('a store in PostgreSQL', () => {
  const running: TestService[] = [];

  afterAll(async () => {
    for (const service of running) await service.stop();
  });

  async function freshDatabase(): Promise<string> {
    if (server === undefined) throw new Error('bug: the project starts the server');
    return createDatabase(server);
  }

  async function start(url: string): Promise<TestService> {
    const service = await startTestService({ store: { kind: 'postgres', url } });
    running.push(service);
    return service;
  }

  it('is shared by several services, whose writers come one after the other', async () => {
    const url = await freshDatabase();
    const [a, b] = await Promise.all([start(url), start(url)]);
    const clients = [a, b].map((service) => callsOf(service));
    const [client] = clients;
    if (client === undefined) throw new Error('bug: no service');
    await client.flag('f');
    const path = '/splits/ws/Default/f/environments/staging';
    const treatments = [{ name: 'on', keys: ['k'] }, { name: 'off' }];
    await client.ok('POST', path, aDefinition({ treatments }));

    await Promise.all(
      Array.from({ length: 30 }, async (_, index) =>
        clients[index % 2]?.ok('PATCH', path, [
          { op: 'add', path: '/treatments/0/keys/-', value: `k${index}` },
        ]),
      ),
    );

    const after = await client.ok<WireDefinition>('GET', path);
    expect(after.treatments[0]?.keys).toHaveLength(31);
    expect(await client.ok('GET', '/workspaces')).toMatchObject({ totalCount: 1 });
  });

  it('tells of what the seed of another service added', async () => {
    const url = await freshDatabase();
    const client = callsOf(await start(url));
    await client.ok('GET', '/workspaces?name=Seeded');
    await client.ok('GET', '/trafficTypes/ws/Default');

    const seeded = await startTestService({
      store: { kind: 'postgres', url },
      seed: {
        workspaces: [
          { name: 'Seeded', environments: [{ name: 'dev' }], trafficTypes: [] },
          { name: 'Default', environments: [], trafficTypes: ['planted'] },
        ],
      },
    });
    running.push(seeded);

    expect(await client.ok('GET', '/workspaces?name=Seeded')).toMatchObject({ totalCount: 1 });
    expect(await client.ok('GET', '/trafficTypes/ws/Default')).toContainEqual(
      expect.objectContaining({ name: 'planted' }),
    );
  });

  it('of a newer version stops the start, and is left alone', async () => {
    const url = await freshDatabase();
    await start(url);
    const database = new pg.Client({ connectionString: url });
    await database.connect();
    await database.query(
      "insert into kysely_migration values ('9999-later', '2030-01-01T00:00:00Z')",
    );
    const steps = async (): Promise<object[]> =>
      (await database.query<object>('select * from kysely_migration')).rows;
    const before = await steps();

    await expect(start(url)).rejects.toMatchObject({ code: 'STATE_UNREADABLE' });
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
