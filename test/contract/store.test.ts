import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { WireSegmentKeys } from '../../src/admin-api/wire.js';
import { openSqlite } from '../../src/platform/sqlite.js';
import { administer, type ServiceOptions } from '../../src/service/service.js';
import { makeDirectory } from '../support/git.js';
import { callsOf } from '../support/service-calls.js';
import { ServiceNode } from '../support/service-node.js';
import { startTestService, TEST_SEED, type TestService } from '../support/service.js';
import { useStores } from '../support/stores.js';

const stores = useStores();
let directory: string;
const nodes: ServiceNode[] = [];

beforeEach(() => {
  directory = makeDirectory();
});

afterEach(async () => {
  for (const node of nodes.splice(0)) await node.kill();
});

const start = async (
  path = directory,
  options: Partial<ServiceOptions> = {},
): Promise<TestService> => stores.start({ kind: 'directory', path }, options);

/** Runs statements on the store of the test, which no service has open. */
function execute(sql: string): void {
  const database = openSqlite(join(directory, 'service.sqlite'));
  database.exec(sql);
  database.close();
}

describe('a store in a directory', () => {
  it('is made where there is none, is no part of a checkout, and holds no key in its files', async () => {
    const place = join(directory, 'deep', 'below');
    const service = await start(place);
    await callsOf(service).ok('GET', '/workspaces');

    expect(readFileSync(join(place, '.gitignore'), 'utf8')).toBe('*\n');
    const files = readdirSync(place).filter((name) => name.startsWith('service.sqlite'));
    expect(files).toContain('service.sqlite');
    for (const name of files) {
      expect(readFileSync(join(place, name)).includes(service.key)).toBe(false);
    }
  });

  it('is open in one service at a time', async () => {
    const first = await start();

    await expect(start()).rejects.toMatchObject({ code: 'IN_USE' });
    await first.stop();
    await expect(start()).resolves.toBeDefined();
  });

  it('that is no store stops the start in words', async () => {
    writeFileSync(join(directory, 'service.sqlite'), 'this is no database, but it is long enough');
    writeFileSync(join(directory, 'file'), '');

    await expect(start()).rejects.toMatchObject({ code: 'STATE_UNREADABLE' });
    await expect(start(join(directory, 'file'))).rejects.toMatchObject({
      code: 'STATE_UNREADABLE',
    });
  });

  it('of a newer version is left alone', async () => {
    await (await start()).stop();
    execute("insert into kysely_migration values ('9999-later', '2030-01-01T00:00:00Z')");

    await expect(start()).rejects.toMatchObject({
      code: 'STATE_UNREADABLE',
      message:
        'cannot read the store: a newer version wrote it, with the step 9999-later (use that version, or restore the backup from before it)',
    });
  });

  it('with a step that is unknown, and older than the last, is not said to be of a newer version', async () => {
    await (await start()).stop();
    execute("insert into kysely_migration values ('0002-of-a-fork', '2030-01-01T00:00:00Z')");

    await expect(start()).rejects.toThrow('another version wrote it, with the step 0002-of-a-fork');
  });

  it('is not administered beside a service of another version', async () => {
    const location = { kind: 'directory', path: directory } as const;
    await start();
    execute('delete from kysely_migration where name = (select max(name) from kysely_migration)');
    await expect(
      administer(location, async (administration) => administration.listKeys()),
    ).rejects.toThrow(
      'cannot open the store beside the service: that service is of another version',
    );
  });
});

it('the start over a store of an earlier version names each key that reaches more than its restrictions named, and the way to replace it', async () => {
  const environments = [{ name: 'staging' }];
  const seed = {
    workspaces: ['One', 'Two'].map((name) => ({ name, environments, trafficTypes: [] })),
  };
  const first = await start(directory, { seed });
  const both = { workspaces: ['One', 'Two'], environments: ['staging'] };
  await first.createKey('wide', both);
  await first.createKey('revoked', both);
  await first.createKey('narrow', { workspaces: ['One'], environments: ['staging'] });
  await first.createKey('of both, by intent', both);
  const ids = new Map((await first.listKeys()).map(({ id, name }) => [name, id]));
  await first.revokeKey(ids.get('revoked') ?? '');
  await first.stop();
  execute("update admin_keys set is_exact = 0 where name <> 'of both, by intent'");
  const warnings: object[] = [];
  const log = {
    info: () => undefined,
    warn: (fields: object, message: string) => warnings.push({ ...fields, message }),
    error: () => undefined,
  };

  await start(directory, { seed, log });

  const id = ids.get('wide') ?? '';
  expect(warnings).toEqual([
    {
      id,
      name: 'wide',
      reaches: 'One/staging, Two/staging',
      replacement: `flagkeel service keys create NEW_NAME --workspace WORKSPACE --environment "staging", then flagkeel service keys revoke ${id}`,
      message: 'an Admin API key reaches more than its restrictions named',
    },
  ]);
});

it('a service that is killed has kept all that it answered for, gives its lock back, and is whole', async () => {
  const node = new ServiceNode({ kind: 'directory', path: directory });
  nodes.push(node);
  await node.start();
  const client = callsOf({ origin: node.origin ?? '', key: node.key });
  await client.segment('seg');
  const answered: string[] = [];
  const writers = Array.from({ length: 4 }, async (_, writer) => {
    for (let index = 0; ; index += 1) {
      const sent = `k${writer}-${index}`;
      await client.ok('PUT', '/segments/staging/seg/upload', [sent]);
      answered.push(sent);
    }
  });
  const ended = Promise.allSettled(writers);
  while (answered.length < 60) await new Promise((resolve) => setTimeout(resolve, 5));

  await Promise.all([ended, node.kill()]);

  const service = await start();
  const kept = new Set<string>();
  const path = '/segments/staging/seg/keys?limit=100&offset=';
  let page: WireSegmentKeys;
  do {
    page = await callsOf(service).ok('GET', `${path}${kept.size}`);
    for (const each of page.keys) kept.add(each.key);
  } while (page.keys.length > 0);
  expect(answered.filter((each) => !kept.has(each))).toEqual([]);
  expect(kept.size).toBe(page.count);
});

describe('a seed', () => {
  it('adds what is missing and leaves what is there as it is', async () => {
    const first = await start();
    const before = await callsOf(first).ok<object[]>('GET', '/environments/ws/Default');
    await first.stop();

    const second = await start(directory, {
      seed: {
        workspaces: [
          {
            name: 'Default',
            requiresTitleAndComments: true,
            environments: [{ name: 'staging', production: true }, { name: 'qa' }],
            trafficTypes: ['user', 'device'],
          },
          ...TEST_SEED.workspaces.map((each) => ({ ...each, name: 'New' })),
        ],
      },
    });
    const client = callsOf(second);

    expect(await client.ok('GET', '/environments/ws/Default')).toEqual([
      ...before,
      { id: expect.any(String) as string, name: 'qa', production: false },
    ]);
    expect(await client.ok('GET', '/workspaces')).toMatchObject({
      objects: [{ name: 'Default', requiresTitleAndComments: false }, { name: 'New' }],
    });
    expect(await client.ok('GET', '/trafficTypes/ws/Default')).toMatchObject([
      { name: 'account' },
      { name: 'device' },
      { name: 'user' },
    ]);
  });

  it('gives a new workspace the id that it names, once, and leaves one that is there its own', async () => {
    const [id, other] = [
      '0b8f6a0e-3c1d-8a52-9f4e-2d6c7b8a9e01',
      '0b8f6a0e-3c1d-8a52-9f4e-2d6c7b8a9e02',
    ] as const;
    const startWith = async (ownId: string, name: string) => {
      const workspaces = [{ id: ownId, name, environments: [], trafficTypes: [] }];
      return start(directory, { seed: { workspaces } });
    };
    const first = await startWith(id, 'Mine');
    const before = await callsOf(first).ok('GET', '/workspaces');
    await first.stop();
    const second = await startWith(other, 'Mine');

    expect(before).toMatchObject({ objects: [{ id, name: 'Mine' }], totalCount: 1 });
    expect(await callsOf(second).ok('GET', '/workspaces')).toEqual(before);
    await second.stop();
    await expect(startWith(id, 'Another')).rejects.toMatchObject({ code: 'USAGE' });
  });
});

it('a port that is taken stops the start', async () => {
  const port = Number(new URL((await start()).origin).port);

  await expect(startTestService({ port })).rejects.toMatchObject({ code: 'IN_USE' });
});

it('stopping answers what is under way first, and may be asked for twice', async () => {
  const service = await startTestService();
  const keys = Array.from({ length: 10_000 }, (_, index) => `k${index}`);
  const client = callsOf(service);
  await client.segment('seg');
  const arrived = new Promise<void>((resolve) => {
    service.failAtRandom(() => {
      resolve();
      return undefined;
    });
  });
  const upload = client.call('PUT', '/segments/staging/seg/upload', keys);
  await arrived;

  await Promise.all([service.stop(), service.stop()]);

  expect((await upload).status).toBe(200);
});
