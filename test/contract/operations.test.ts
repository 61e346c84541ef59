import { beforeAll, describe, expect, it } from 'vitest';
import type {
  WireDefinition,
  WirePage,
  WireSegment,
  WireSegmentKeys,
  WireWorkspace,
} from '../../src/admin-api/wire.js';
import { aDefinition, at, callsOf, ruleOn, type ServiceCalls } from '../support/service-calls.js';
import { aService } from '../support/service.js';

/** What every operation of the contract refuses, and how far what it does reaches. Uses nothing but what the contract shows. */
/** With keys for places that hold nothing. */
const strangers: ServiceCalls[] = [];

/** With those below as many as two pages of the largest size do not hold. */
const OTHERS = Array.from({ length: 200 }, (_, index) => ({
  name: `Other ${index}`,
  environments: [],
  trafficTypes: [],
}));

const ENVIRONMENTS = [{ name: 'staging' }, { name: 'production' }];

const service = aService({
  seed: {
    workspaces: [
      { name: 'Default', environments: ENVIRONMENTS, trafficTypes: ['user', 'account'] },
      { name: 'Second', environments: [{ name: 'live' }], trafficTypes: ['user'] },
      ...OTHERS,
    ],
  },
});
const client = callsOf(service);

beforeAll(async () => {
  for (const restrictions of [{ workspaces: ['Other 7'] }, { environments: ['live'] }]) {
    const key = await service.createKey(JSON.stringify(restrictions), restrictions);
    strangers.push(callsOf({ origin: service.origin, key }));
  }
  await client.define('f');
  await client.segment('s');
});

const FLAGS = '/splits/ws/Default/trafficTypes/user';
const SEGMENTS = '/segments/ws/Default/trafficTypes/user';
const IDENTITIES = '/trafficTypes/user/environments/staging/identities';
const kill = (value: boolean): object[] => [{ op: 'replace', path: '/killed', value }];

/** A request of each operation that would succeed, deletions last. */
const OPERATIONS: readonly [method: string, path: string, body?: unknown][] = [
  ['GET', '/workspaces'],
  ['GET', '/environments/ws/Default'],
  ['GET', '/rolloutStatuses?wsId=Default'],
  ['POST', FLAGS, { name: 'new' }],
  ['GET', at('f')],
  ['POST', at('f', 'production'), aDefinition()],
  ['PATCH', at('f'), kill(true)],
  ['PATCH', '/splits/ws/Default/f', [{ op: 'replace', path: '/description', value: 'd' }]],
  ['POST', SEGMENTS, { name: 'new' }],
  ['GET', '/segments/ws/Default'],
  ['POST', IDENTITIES, [{ key: 'a', values: {} }]],
  ['POST', '/segments/production/s'],
  ['PUT', '/segments/staging/s/upload', ['a']],
  ['GET', '/segments/staging/s/keys'],
  ['PUT', '/segments/staging/s/removeKeys', { keys: ['a'], comment: 'c' }],
  ['DELETE', at('f')],
  ['DELETE', '/splits/ws/Default/f'],
  ['DELETE', '/segments/ws/Default/s'],
];

/** Neither names one workspace as the others do: both show what a key sees. */
const OF_ONE_WORKSPACE = OPERATIONS.filter(([, path]) => path !== '/workspaces');

describe('every operation', () => {
  it.each(OPERATIONS)('is 401 without a key: %s %s', async (method, path, body) => {
    const answer = await client.call(method, path, body, { authorization: '' });

    expect(answer.status).toBe(401);
    expect(answer.body).toMatchObject({ code: 401, details: '' });
  });

  it.each(OF_ONE_WORKSPACE)('is 404 for a key of another workspace: %s %s', async (...request) => {
    for (const stranger of strangers) {
      const answer = await stranger.call(...request);

      expect(answer.status).toBe(404);
      expect(answer.body).toMatchObject({ code: 404, details: '' });
    }
  });

  it.each<[string, string, unknown]>([
    ['POST', FLAGS, { name: 7 }],
    ['POST', FLAGS, { name: 'odd', description: 7 }],
    ['POST', FLAGS, { name: '1st' }],
    ['POST', at('f', 'production'), []],
    ['POST', at('f', 'production'), 'definition'],
    ['PATCH', at('f'), kill(true)[0]],
    ['PATCH', at('f'), [{ op: 'replace' }]],
    ['PATCH', at('f'), [{ op: 'increment', path: '/trafficAllocation', value: 1 }]],
    ['PATCH', at('f'), [{ op: 'replace', path: '/nowhere/at/all', value: 1 }]],
    ['PATCH', '/splits/ws/Default/f', { description: 'd' }],
    ['PATCH', '/splits/ws/Default/f', [{ op: 'replace', path: '/description', value: 7 }]],
    ['POST', SEGMENTS, ['s']],
    ['POST', SEGMENTS, { description: 'd' }],
    ['POST', SEGMENTS, { name: 's', description: [] }],
    ['POST', IDENTITIES, { key: 'a', values: {} }],
    ['PUT', '/segments/staging/s/upload', 'a'],
    ['PUT', '/segments/staging/s/upload', [7]],
    ['PUT', '/segments/staging/s/upload', ['']],
    ['PUT', '/segments/staging/s/removeKeys', { keys: 'a' }],
    ['PUT', '/segments/staging/s/removeKeys', { comment: 'c' }],
  ])('is 400 with a body of another form: %s %s %j', async (method, path, body) => {
    const before = await client.ok('GET', at('f'));

    const answer = await client.call(method, path, body);

    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({ code: 400, details: '' });
    expect(await client.ok('GET', at('f'))).toEqual(before);
  });

  it('is below the prefix with the version, and nowhere else', async () => {
    const headers = { authorization: `Bearer ${service.key}` };
    const prefixes = ['/internal/api/v2', '/internal/api/v1', '/api/v2', '/v2', ''];

    const statuses = [];
    for (const prefix of prefixes) {
      statuses.push((await fetch(`${service.origin}${prefix}/workspaces`, { headers })).status);
    }

    expect(statuses).toEqual([200, 404, 404, 404, 404]);
  });

  it('answers JSON, refusals too', async () => {
    const answers = [
      await client.call('GET', '/workspaces'),
      await client.call('GET', at('f')),
      await client.call('GET', at('none')),
      await client.call('GET', '/workspaces', undefined, { authorization: '' }),
      await client.send('POST', FLAGS, '{'),
    ];

    expect(answers.map(({ status }) => status)).toEqual([200, 200, 404, 401, 400]);
    for (const { headers } of answers) {
      expect(headers.get('content-type')).toMatch(/^application\/json\b/);
    }
  });

  it('succeeds with 200', async () => {
    for (const [method, path, body] of OPERATIONS) {
      const { status } = await client.call(method, path, body);
      expect([method, path, status]).toEqual([method, path, 200]);
    }
    await client.define('f');
    await client.segment('s');
  });
});

describe('a list of more than two hundred', () => {
  it('has two hundred workspaces in its largest page', async () => {
    const page = async (query: string): Promise<WirePage<WireWorkspace>> =>
      client.ok('GET', `/workspaces?${query}`);

    const pages = [await page('limit=200'), await page('limit=201'), await page('offset=200')];

    expect(pages.map(({ objects }) => objects.length)).toEqual([200, 200, 2]);
    expect(pages.map(({ limit }) => limit)).toEqual([200, 200, 10]);
    expect(pages.map(({ totalCount }) => totalCount)).toEqual([202, 202, 202]);
    const names = [pages[0], pages[2]].flatMap((each) => each?.objects.map(({ name }) => name));
    expect(new Set(names).size).toBe(202);
  });
});

describe('a page behind the end', () => {
  it('is empty and knows the total', async () => {
    const workspaces = await client.ok('GET', '/workspaces?offset=5000');
    const segments = await client.ok<WirePage<WireSegment>>(
      'GET',
      '/segments/ws/Default?offset=5000',
    );
    const keys = await client.ok<WireSegmentKeys>('GET', '/segments/staging/s/keys?offset=5000');

    expect(workspaces).toEqual({ objects: [], offset: 5000, limit: 10, totalCount: 202 });
    expect(segments).toMatchObject({ objects: [], offset: 5000, limit: 20 });
    expect(segments.totalCount).toBeGreaterThan(0);
    expect(keys).toMatchObject({ keys: [], offset: 5000, limit: 100, count: 0 });
  });
});

describe('what belongs to one workspace', () => {
  it('is not in another: flags', async () => {
    await client.flag('only-here');
    const there = '/splits/ws/Second/only-here';
    const operations = [{ op: 'replace', path: '/description', value: 'd' }];

    expect(await client.status('PATCH', there, operations)).toBe(404);
    expect(await client.status('DELETE', there)).toBe(404);
    const twin = await client.ok('POST', '/splits/ws/Second/trafficTypes/user', {
      name: 'only-here',
      description: 'of its own',
    });
    await client.ok('DELETE', '/splits/ws/Default/only-here');
    expect(await client.ok('PATCH', there, [{ ...operations[0], value: 'of its own' }])).toEqual(
      twin,
    );
  });

  it('is not in another: segments', async () => {
    await client.segment('only-here');
    const twin = await client.ok('POST', '/segments/ws/Second/trafficTypes/user', {
      name: 'only-here',
    });

    await client.ok('DELETE', '/segments/ws/Default/only-here');

    expect(await client.status('GET', '/segments/staging/only-here/keys')).toBe(404);
    expect(await client.ok('GET', '/segments/ws/Second')).toMatchObject({ objects: [twin] });
  });

  it('has the traffic types of that workspace alone', async () => {
    const flag = await client.call('POST', '/splits/ws/Second/trafficTypes/account', { name: 'f' });
    const segment = await client.call('POST', '/segments/ws/Second/trafficTypes/account', {
      name: 's',
    });

    expect([flag.status, segment.status]).toEqual([404, 404]);
  });
});

describe('a flag that is new', () => {
  it('has a definition in no environment', async () => {
    await client.flag('blank');

    for (const { name } of [...ENVIRONMENTS, { name: 'none' }]) {
      expect(await client.status('GET', at('blank', name))).toBe(404);
      expect(await client.status('PATCH', at('blank', name), kill(true))).toBe(404);
      expect(await client.status('DELETE', at('blank', name))).toBe(404);
    }
  });
});

describe('a definition', () => {
  it.each(['treatments', 'defaultTreatment', 'defaultRule'])(
    'is refused without %s, by POST and PATCH',
    async (member) => {
      const name = `without-${member}`;
      await client.flag(name);
      const { [member]: left, ...rest } = aDefinition() as Record<string, unknown>;

      const posted = await client.call('POST', at(name), rest);
      const before = await client.ok('POST', at(name), { ...rest, [member]: left });
      const patched = await client.call('PATCH', at(name), [{ op: 'remove', path: `/${member}` }]);

      expect([posted.status, patched.status]).toEqual([400, 400]);
      expect(await client.ok('GET', at(name))).toEqual(before);
    },
  );

  it.each([
    ['a treatment without a name', '/treatments/0/name'],
    ['a bucket without a treatment', '/rules/0/buckets/0/treatment'],
    ['a bucket without a size', '/rules/0/buckets/0/size'],
    ['a rule without buckets', '/rules/0/buckets'],
    ['a rule without a condition', '/rules/0/condition'],
    ['a condition without matchers', '/rules/0/condition/matchers'],
    ['a matcher without a type', '/rules/0/condition/matchers/0/type'],
    ['a matcher IN_SEGMENT without a segment', '/rules/0/condition/matchers/0/string'],
  ])('is refused without a member of its parts: %s', async (what, path) => {
    const name = what.replaceAll(/\W/g, '-');
    await client.flag(name);
    const rules = [ruleOn({ type: 'IN_SEGMENT', string: 's' })];
    const before = await client.ok('POST', at(name), aDefinition({ rules }));

    expect(await client.status('PATCH', at(name), [{ op: 'remove', path }])).toBe(400);
    expect(await client.ok('GET', at(name))).toEqual(before);
  });

  it('is killed and restored by a patch of killed alone', async () => {
    const before = await client.define('switched');

    const killed = await client.ok<WireDefinition>('PATCH', at('switched'), kill(true));
    const seen = await client.ok('GET', at('switched'));
    const restored = await client.ok<WireDefinition>('PATCH', at('switched'), kill(false));

    expect(before.killed).toBe(false);
    expect(killed).toEqual({ ...before, killed: true, lastUpdateTime: killed.lastUpdateTime });
    expect(seen).toEqual(killed);
    expect(restored).toEqual({ ...before, lastUpdateTime: restored.lastUpdateTime });
  });

  it('keeps its rules in the order in which they were sent', async () => {
    await client.flag('ordered');
    const rules = ['z', 'a', 'm'].map((attribute) =>
      ruleOn({ type: 'BOOLEAN', attribute, bool: true }),
    );

    await client.ok('POST', at('ordered'), aDefinition({ rules }));

    expect(await client.ok('GET', at('ordered'))).toMatchObject({ rules });
  });
});

describe('a segment', () => {
  it('is activated in one environment alone', async () => {
    await client.segment('here');

    expect(await client.ok('GET', '/segments/staging/here/keys')).toMatchObject({ count: 0 });
    expect(await client.status('GET', '/segments/production/here/keys')).toBe(404);
    const upload = await client.call('PUT', '/segments/production/here/upload', ['a']);
    const removal = await client.call('PUT', '/segments/production/here/removeKeys', {
      keys: ['a'],
      comment: 'c',
    });
    expect([upload.status, removal.status]).toEqual([404, 404]);
  });
});
