import { beforeAll, describe, expect, it } from 'vitest';
import type {
  WireDefinition,
  WireEnvironment,
  WireFlag,
  WireIdentitiesResult,
  WirePage,
  WireRolloutStatus,
  WireSegment,
  WireSegmentDefinition,
  WireSegmentKeys,
  WireWorkspace,
} from '../../src/admin-api/wire.js';
import { expectAnswers, replacing } from '../support/exchanges.js';
import { aDefinition, at, callsOf, ruleOn } from '../support/service-calls.js';
import { aService } from '../support/service.js';

/**
 * What the contract's tables show, by nothing but the endpoints that it shows: also held against a service that has
 * no others.
 */
const service = aService({
  seed: {
    workspaces: [
      {
        name: 'Default',
        environments: [{ name: 'staging' }, { name: 'production', production: true }],
        trafficTypes: ['user', 'account'],
      },
      {
        name: 'Strict',
        requiresTitleAndComments: true,
        environments: [{ name: 'live', production: true }],
        trafficTypes: ['user'],
      },
    ],
  },
});
const client = callsOf(service);
let ws: string;
let staging: string;

beforeAll(async () => {
  const { objects } = await client.ok<WirePage<WireWorkspace>>('GET', '/workspaces');
  ws = objects.find(({ name }) => name === 'Default')?.id ?? '';
  const environments = await client.ok<WireEnvironment[]>('GET', `/environments/ws/${ws}`);
  staging = environments.find(({ name }) => name === 'staging')?.id ?? '';
});

async function createFlag(name: string, workspace = ws): Promise<WireFlag> {
  return client.ok('POST', `/splits/ws/${workspace}/trafficTypes/user`, { name, description: 'd' });
}

async function createSegment(name: string): Promise<void> {
  await client.ok('POST', `/segments/ws/${ws}/trafficTypes/user`, { name, description: '' });
  await client.ok('POST', `/segments/${staging}/${name}`);
}

const definitionPath = (flag: string): string => `/splits/ws/${ws}/${flag}/environments/${staging}`;

describe('workspaces and environments', () => {
  it('lists workspaces in pages of ten that echo offset and limit', async () => {
    const answer = await client.call('GET', '/workspaces');

    expect(answer.body).toEqual({
      objects: [
        { name: 'Default', type: 'workspace', id: ws, requiresTitleAndComments: false },
        {
          name: 'Strict',
          type: 'workspace',
          id: expect.any(String) as string,
          requiresTitleAndComments: true,
        },
      ],
      offset: 0,
      limit: 10,
      totalCount: 2,
    });
  });

  it.each([
    ...['limit=1.5', 'limit=0', 'offset=-1', 'offset=x', 'offset=1e3', 'offset=0x1'],
    ...['offset=%201', 'offset=1.0'],
  ])('refuses %s', async (query) => {
    expect(await client.status('GET', `/workspaces?${query}`)).toBe(400);
  });

  it('lists environments as a bare array', async () => {
    const answer = await client.call('GET', `/environments/ws/${ws}`);

    expect(answer.body).toEqual([
      { name: 'staging', id: staging, production: false },
      { name: 'production', id: expect.any(String) as string, production: true },
    ]);
  });

  it('lists rollout statuses as a bare array, Pre-Production first', async () => {
    const statuses = await client.ok<WireRolloutStatus[]>('GET', `/rolloutStatuses?wsId=${ws}`);

    expect(statuses.map(({ name }) => name)).toEqual([
      'Pre-Production',
      'Internal Testing',
      'Pre-Release',
      'Ramping',
      'Experimenting',
      '100% Released',
      'Permanent',
      'Killed',
      'Removed from code',
    ]);
    expect(Object.keys(statuses[0] ?? {}).sort()).toEqual(['description', 'id', 'name']);
  });

  it('lists the rollout statuses of all workspaces that the key sees where none is named', async () => {
    const restricted = await service.createKey('for one workspace', { workspaces: ['Strict'] });
    const mine = callsOf({ origin: service.origin, key: restricted });
    const here = await client.ok<WireRolloutStatus[]>('GET', `/rolloutStatuses?wsId=${ws}`);
    const there = await client.ok<WireRolloutStatus[]>('GET', '/rolloutStatuses?wsId=Strict');

    expect(await client.ok('GET', '/rolloutStatuses')).toEqual([...here, ...there]);
    expect(await mine.ok('GET', '/rolloutStatuses')).toEqual(there);
  });
});

describe('flags', () => {
  it('creates a flag in Pre-Production, with times and without definitions', async () => {
    const before = Date.now();

    const flag = await createFlag('created');

    expect(flag).toEqual({
      id: expect.any(String) as string,
      name: 'created',
      description: 'd',
      trafficType: { id: expect.any(String) as string, name: 'user' },
      creationTime: expect.any(Number) as number,
      rolloutStatus: { id: expect.any(String) as string, name: 'Pre-Production' },
      rolloutStatusTimestamp: flag.creationTime,
      tags: null,
    });
    expect(flag.creationTime).toBeGreaterThanOrEqual(before);
    for (const path of [definitionPath('created'), at('created', 'production')]) {
      expect(await client.status('GET', path)).toBe(404);
    }
  });

  it('changes description, tags and rollout status, with its timestamp, by one PATCH', async () => {
    const flag = await createFlag('moved');
    const statuses = await client.ok<WireRolloutStatus[]>('GET', `/rolloutStatuses?wsId=${ws}`);
    const id = statuses.find(({ name }) => name === 'Ramping')?.id;

    const moved = await client.ok<WireFlag>('PATCH', `/splits/ws/${ws}/moved`, [
      { op: 'replace', path: '/rolloutStatus/id', value: id },
      { op: 'replace', path: '/description', value: 'other' },
      { op: 'add', path: '/tags/0', value: { name: 'web' } },
    ]);

    const rolloutStatus = { id, name: 'Ramping' };
    const changed = { rolloutStatus, description: 'other', tags: [{ name: 'web' }] };
    const { rolloutStatusTimestamp } = moved;
    expect(moved).toEqual({ ...flag, ...changed, rolloutStatusTimestamp });
    expect(rolloutStatusTimestamp).toBeGreaterThan(flag.rolloutStatusTimestamp ?? 0);
  });

  it('answers true to a deletion, and the definitions go too', async () => {
    await createFlag('deleted');
    const paths = [definitionPath('deleted'), at('deleted', 'production')];
    for (const path of paths) await client.ok('POST', path, aDefinition());

    const answer = await client.call('DELETE', `/splits/ws/${ws}/deleted`);

    expect(answer).toMatchObject({ status: 200, text: 'true' });
    await createFlag('deleted');
    for (const path of paths) expect(await client.status('GET', path)).toBe(404);
  });
});

describe('definitions', () => {
  it('answers 404 with empty details where there is none', async () => {
    const flag = await createFlag('undefined-yet');

    const answer = await client.call('GET', definitionPath(flag.id));

    expect(answer.status).toBe(404);
    expect(answer.body).toEqual({
      code: 404,
      message: `The flag metadata with id ${flag.id} could not be found`,
      details: '',
      transactionId: expect.any(String) as string,
    });
  });

  it('echoes the definition that was sent, with the times', async () => {
    const flag = await createFlag('echoed');
    await createSegment('echoed');
    const sent = {
      id: flag.id,
      name: flag.name,
      environment: { id: staging, name: 'staging' },
      trafficType: flag.trafficType,
      ...aDefinition({ rules: [ruleOn({ type: 'IN_SEGMENT', string: 'echoed' })] }),
    };

    const answer = await client.ok<WireDefinition>('POST', definitionPath('echoed'), sent);

    const number = expect.any(Number) as number;
    const isStrict = process.env['TEST_SERVICE_STRICT'] === '1';
    expect(answer).toEqual({
      ...sent,
      creationTime: number,
      lastUpdateTime: number,
      ...(isStrict ? {} : { seed: number, trafficAllocationSeed: number }),
    });
    expect(await client.ok('GET', definitionPath('echoed'))).toEqual(answer);
    expect(await client.ok('GET', definitionPath(flag.id))).toEqual(answer);
  });

  it('replaces, adds and removes what the paths of a patch name, and leaves the rest', async () => {
    await createFlag('patched');
    const path = definitionPath('patched');
    const boolean = (attribute: string, bool: boolean) =>
      ruleOn({ type: 'BOOLEAN', attribute, bool });
    const treatments = [{ name: 'on', description: 'new', keys: ['a'] }, { name: 'off' }];
    const before = await client.ok<WireDefinition>(
      'POST',
      path,
      aDefinition({ treatments, rules: [boolean('paid', true)] }),
    );

    const after = await client.ok<WireDefinition>('PATCH', path, [
      { op: 'add', path: '/treatments/0/keys/-', value: 'b' },
      { op: 'add', path: '/treatments/-', value: { name: 'third' } },
      { op: 'remove', path: '/treatments/0/description' },
      { op: 'replace', path: '/defaultRule', value: [{ treatment: 'on', size: 100 }] },
      { op: 'replace', path: '/rules/0/condition/matchers/0/bool', value: false },
      { op: 'add', path: '/rules/0', value: boolean('a', true) },
    ]);

    const { lastUpdateTime } = after;
    expect(before.lastUpdateTime).toBe(before.creationTime);
    expect(lastUpdateTime).toBeGreaterThan(before.lastUpdateTime);
    expect(after).toEqual({
      ...before,
      lastUpdateTime,
      treatments: [
        { name: 'on', description: '', keys: ['a', 'b'] },
        { name: 'off', description: '' },
        { name: 'third', description: '' },
      ],
      rules: [boolean('a', true), boolean('paid', false)],
      defaultRule: [{ treatment: 'on', size: 100 }],
    });
  });

  it('answers true to the deletion of a definition and keeps the flag', async () => {
    await createFlag('emptied');
    await client.ok('POST', definitionPath('emptied'), aDefinition());

    const answer = await client.call('DELETE', definitionPath('emptied'));

    expect(answer).toMatchObject({ status: 200, text: 'true' });
    expect(await client.status('GET', definitionPath('emptied'))).toBe(404);
    await client.ok('POST', definitionPath('emptied'), aDefinition());
  });
});

describe('segments', () => {
  it('creates, lists, activates and deletes', async () => {
    const path = `/segments/ws/${ws}`;
    const segment = await client.ok<WireSegment>('POST', `${path}/trafficTypes/user`, {
      name: 'seen',
      description: '',
    });
    const listed = await client.ok<WirePage<WireSegment>>('GET', path);
    const active = await client.ok('POST', `/segments/${staging}/seen`);
    const deleted = await client.call('DELETE', `${path}/seen`);
    const after = await client.ok<WirePage<WireSegment>>('GET', path);

    expect(segment).toEqual({
      name: 'seen',
      description: '',
      trafficType: { id: expect.any(String) as string, name: 'user' },
      creationTime: expect.any(Number) as number,
      tags: null,
    });
    expect(listed).toMatchObject({ offset: 0, limit: 20 });
    expect(listed.objects).toContainEqual(segment);
    expect(active).toEqual({
      name: 'seen',
      environment: { id: staging, name: 'staging' },
      trafficType: segment.trafficType,
      creationTime: expect.any(Number) as number,
    });
    expect(deleted).toMatchObject({ status: 200, text: 'true' });
    expect(after.objects).not.toContainEqual(segment);
  });

  it('adds keys by upload and lists them in pages of a hundred, with their count', async () => {
    await createSegment('filled');

    const upload = async (keys: string[]): Promise<WireSegmentDefinition> =>
      client.ok('PUT', `/segments/${staging}/filled/upload`, keys);
    const answer = await upload(['b', 'a']);
    const next = await upload(['c', 'a', 'c']);

    expect(answer).toMatchObject({
      environmentURN: { type: 'Environment', id: staging, name: 'staging' },
      name: 'filled',
      description: '',
      status: 'ACTIVE',
      type: 'Segment',
      creationTime: expect.any(Number) as number,
      lastUpdateTime: expect.any(Number) as number,
    });
    expect(next.creationTime).toBe(answer.creationTime);
    expect(next.lastUpdateTime).toBeGreaterThan(answer.lastUpdateTime);
    expect(await client.ok('GET', `/segments/${staging}/filled/keys`)).toEqual({
      keys: [{ key: 'a' }, { key: 'b' }, { key: 'c' }],
      openChangeRequestId: null,
      count: 3,
      offset: 0,
      limit: 100,
    });
  });

  it('says how many keys it removed', async () => {
    await createSegment('thinned');
    await client.ok('PUT', `/segments/${staging}/thinned/upload`, ['a', 'b', 'c']);

    const answer = await client.ok('PUT', `/segments/${staging}/thinned/removeKeys`, {
      keys: ['', 'a', 'a', 'b', 'unknown'],
      comment: 'gone',
    });

    expect(answer).toEqual({
      code: 200,
      message: 'Deleted 2 keys',
      details: null,
      transactionId: null,
    });
    expect(await client.ok('GET', `/segments/${staging}/thinned/keys`)).toMatchObject({
      keys: [{ key: 'c' }],
      count: 1,
    });
    const [change] = await service.audit({ kind: 'segment', name: 'thinned' });
    expect(change).toMatchObject({ action: 'remove-keys', comment: 'gone' });
  });

  it('takes 10,000 keys at one time and not one more', async () => {
    await createSegment('wide');
    const keys = Array.from({ length: 10_001 }, (_, index) => `k${index}`);

    const path = `/segments/${staging}/wide/upload`;

    await expectAnswers(client, [400, 'PUT', path, keys], [200, 'PUT', path, keys.slice(1)]);
  });

  it('holds 100,000 keys and not one more', async () => {
    await createSegment('full');
    const path = `/segments/${staging}/full`;
    for (let part = 0; part < 10; part += 1) {
      const keys = Array.from({ length: 10_000 }, (_, index) => `k${part}-${index}`);
      await client.ok('PUT', `${path}/upload`, keys);
    }

    await expectAnswers(
      client,
      [200, 'PUT', `${path}/upload`, ['k0-0']],
      [400, 'PUT', `${path}/upload`, ['k0-0', 'other']],
    );
    const page = await client.ok<WireSegmentKeys>('GET', `${path}/keys?offset=99999`);
    expect(page).toMatchObject({ count: 100_000, keys: [{ key: expect.any(String) as string }] });
  });
});

describe('identities', () => {
  it('creates and updates by the same POST, values as text', async () => {
    const { trafficType } = await createFlag('typed');
    const path = `/trafficTypes/${trafficType.id}/environments/${staging}/identities`;

    await client.ok('POST', path, [{ key: 'k', values: { seats: 25, plan: 'pro' } }]);
    const answer = await client.ok('POST', path, [{ key: 'k', values: { plan: 'free' } }]);

    const nulls = { metadata: null, offset: null, limit: null, count: null, total: null };
    const objects = [{ key: 'k', values: { seats: '25', plan: 'free' } }];
    expect(answer).toMatchObject({ objects, failed: [], ...nulls });
  });

  it('takes 10,000 at one time and not one more, each as its last mention says', async () => {
    const { trafficType } = await createFlag('typed-widely');
    const path = `/trafficTypes/${trafficType.id}/environments/${staging}/identities`;
    const many = Array.from({ length: 10_001 }, (_, index) => ({
      key: `wide-${Math.trunc(index / 2)}`,
      values: index % 2 === 0 ? { first: index, last: index } : { last: index },
    }));

    expect(await client.status('POST', path, many)).toBe(400);
    const most = await client.ok<{ objects: object[] }>('POST', path, many.slice(0, 10_000));

    expect(most.objects).toHaveLength(10_000);
    expect(most.objects.slice(-2)).toMatchObject([
      { key: 'wide-4999', values: { first: '9998', last: '9998' } },
      { key: 'wide-4999', values: { first: '9998', last: '9999' } },
    ]);
    expect(await client.ok('POST', path, [{ key: 'wide-4999', values: {} }])).toMatchObject({
      objects: [{ values: { first: '9998', last: '9999' } }],
    });
  });

  it('names the one that it cannot take, and takes the others', async () => {
    const { trafficType } = await createFlag('typed-too');
    const path = `/trafficTypes/${trafficType.id}/environments/${staging}/identities`;
    const bad: [object, string][] = [
      [{ key: 'bad', values: { list: [1] } }, 'The value of list is no text or number'],
      [{ key: 'bad', values: { '1st': 'a' } }, 'The attribute 1st is no name of an attribute'],
      [
        { key: 'bad', values: { long: 'v'.repeat(10_001) } },
        'The value of long is no text or number',
      ],
      [{ key: '' }, 'The key is empty'],
      [{ key: 'k'.repeat(1_001) }, 'The key cannot be stored'],
      [{ key: 'bad', environmentId: 'another' }, 'environmentId is not that of the path'],
      [{ key: 'bad', trafficTypeId: 'another' }, 'trafficTypeId is not that of the path'],
    ];
    const good = { key: 'k'.repeat(1_000), values: { long: 'v'.repeat(10_000) } };

    const answer = await client.ok<WireIdentitiesResult>('POST', path, [
      ...bad.map(([object]) => object),
      good,
    ]);

    expect(answer).toMatchObject({
      objects: [good],
      failed: bad.map(([object, message]) => ({ object, status: 400, message })),
    });
    expect(await client.ok('POST', path, answer.objects)).toMatchObject({ objects: [good] });
  });
});

describe('keys and errors', () => {
  it('refuses what it cannot take in the error shape', async () => {
    const path = `/splits/ws/${ws}/trafficTypes/user`;
    await createFlag('taken');

    const answers = [
      [400, await client.send('POST', path, '{"name":')],
      [400, await client.call('POST', path, ['name'])],
      [400, await client.call('POST', path, { description: 'd' })],
      [400, await client.call('POST', path)],
      [404, await client.call('GET', '/environments/ws/none')],
      [409, await client.call('POST', path, { name: 'taken' })],
    ] as const;

    for (const [status, answer] of answers) {
      expect(answer.status).toBe(status);
      expect(answer.body).toEqual({
        code: status,
        message: expect.any(String) as string,
        details: '',
        transactionId: expect.any(String) as string,
      });
    }
  });

  it('refuses text that cannot be stored as it was sent', async () => {
    await createFlag('halved');
    await createSegment('halved');
    const definition = definitionPath('halved');
    const upload = `/segments/${staging}/halved/upload`;
    const latin = { method: 'PUT', headers: { authorization: `Bearer ${service.key}` } };

    const rules = [ruleOn({ type: 'IN_SEGMENT', string: '\ud83d' })];
    await expectAnswers(
      client,
      [400, 'POST', definition, aDefinition({ rules })],
      [400, 'PATCH', `/splits/ws/${ws}/halved`, replacing('/description', '\ude00')],
      [400, 'PUT', upload, ['\ud83d', '\ude00']],
      [400, 'PUT', `/segments/${staging}/halved/removeKeys`, { keys: [], comment: '\ud83d' }],
      [200, 'PUT', upload, ['\ud83d\ude00']],
    );
    // Decoded, both keys would be the same.
    const body = Buffer.from('["caf\xe8","caf\xe9"]', 'latin1');
    const answer = await fetch(`${service.origin}/internal/api/v2${upload}`, { ...latin, body });
    expect(await answer.json()).toMatchObject({
      code: 400,
      message: 'Body is not UTF-8, or compressed',
    });
    expect(await client.ok('GET', `/segments/${staging}/halved/keys`)).toMatchObject({
      keys: [{ key: '😀' }],
    });
  });
});
