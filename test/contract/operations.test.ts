import { setTimeout as wait } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import type {
  WireDefinition,
  WireIdentitiesResult,
  WirePage,
  WireSegment,
  WireSegmentKeys,
  WireWorkspace,
} from '../../src/admin-api/wire.js';
import { expectAnswers, replacing, type Exchange } from '../support/exchanges.js';
import {
  aDefinition,
  at,
  callsOf,
  ruleOn,
  withValueAt,
  type ServiceCalls,
} from '../support/service-calls.js';
import { aService } from '../support/service.js';

/*
 * What every operation of the contract refuses, how far what it does reaches, and what a service could get wrong while its
 * answers keep their shape. Uses nothing but what the contract shows.
 */

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
      {
        name: 'Worded',
        requiresTitleAndComments: true,
        environments: [{ name: 'worded' }],
        trafficTypes: ['user'],
      },
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
const kill = (value: boolean): readonly object[] => replacing('/killed', value);
const DESCRIBED = replacing('/description', 'd');
const REMOVAL = { keys: ['a'], comment: 'c' };

/** A request of each operation that would succeed, deletions last. */
const OPERATIONS: readonly [method: string, path: string, body?: unknown][] = [
  ['GET', '/workspaces'],
  ['GET', '/environments/ws/Default'],
  ['GET', '/rolloutStatuses?wsId=Default'],
  ['POST', FLAGS, { name: 'new' }],
  ['GET', at('f')],
  ['POST', at('f', 'production'), aDefinition()],
  ['PATCH', at('f'), kill(true)],
  ['PATCH', '/splits/ws/Default/f', DESCRIBED],
  ['POST', SEGMENTS, { name: 'new' }],
  ['GET', '/segments/ws/Default'],
  ['POST', IDENTITIES, [{ key: 'a', values: {} }]],
  ['POST', '/segments/production/s'],
  ['PUT', '/segments/staging/s/upload', ['a']],
  ['GET', '/segments/staging/s/keys'],
  ['PUT', '/segments/staging/s/removeKeys', REMOVAL],
  ['DELETE', at('f')],
  ['DELETE', '/splits/ws/Default/f'],
  ['DELETE', '/segments/ws/Default/s'],
];

/** Neither names one workspace as the others do: both show what a key sees. */
const OF_ONE_WORKSPACE = OPERATIONS.filter(([, path]) => path !== '/workspaces');

/** Each of them once for every name in its path, in the place of which stands one that nothing has. */
const NOWHERE = OF_ONE_WORKSPACE.flatMap(([method, path, body]) =>
  [...path.matchAll(/(?<=[/=])(?:Default|user|staging|production|f|s)(?=\/|$)/g)].map(
    ({ 0: name, index }) =>
      [method, `${path.slice(0, index)}none${path.slice(index + name.length)}`, body] as const,
  ),
);

describe('every operation', () => {
  it.each(OPERATIONS)('is 401 without a key: %s %s', async (method, path, body) => {
    const answer = await client.call(method, path, body, { authorization: '' });

    expect(answer.status).toBe(401);
    expect(answer.body).toMatchObject({ code: 401, details: '' });
  });

  it.each(OF_ONE_WORKSPACE)('is 404 for a key of another workspace: %s %s', async (...request) => {
    for (const stranger of strangers) {
      const [method, path, body] = request;
      await expectAnswers(stranger, [404, method, path, body, { code: 404, details: '' }]);
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

    await expectAnswers(client, [400, method, path, body, { code: 400, details: '' }]);
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

  it('succeeds with 200', async () => {
    await expectAnswers(client, ...OPERATIONS.map((request): Exchange => [200, ...request]));
    await client.define('f');
    await client.segment('s');
  });
});

describe('a list with more than fits on a page', () => {
  const pagesOf = async <T>(path: string, ...queries: readonly string[]): Promise<T[]> =>
    Promise.all(queries.map(async (query) => client.ok<T>('GET', `${path}?${query}`)));

  it('shows ten workspaces, or as many as the limit says, up to two hundred', async () => {
    const queries = ['', 'limit=3', 'limit=200', 'limit=201', 'offset=200'];
    const pages = await pagesOf<WirePage<WireWorkspace>>('/workspaces', ...queries);

    expect(pages.map(({ objects }) => objects.length)).toEqual([10, 3, 200, 200, 3]);
    expect(pages.map(({ limit }) => limit)).toEqual([10, 3, 200, 200, 10]);
    expect(pages.map(({ totalCount }) => totalCount)).toEqual([203, 203, 203, 203, 203]);
    const names = [pages[2], pages[4]].flatMap((each) => each?.objects.map(({ name }) => name));
    expect(new Set(names).size).toBe(203);
  });

  it('shows twenty segments, or as many as the limit says', async () => {
    for (let index = 0; index < 21; index += 1) {
      await client.ok('POST', '/segments/ws/Worded/trafficTypes/user', { name: `s${index}` });
    }
    const queries = ['', 'limit=3', 'offset=20'];
    const pages = await pagesOf<WirePage<WireSegment>>('/segments/ws/Worded', ...queries);

    expect(pages.map(({ objects }) => objects.length)).toEqual([20, 3, 1]);
    expect(pages[1]).toMatchObject({ offset: 0, limit: 3, totalCount: 21 });
    const names = [pages[0], pages[2]].flatMap((each) => each?.objects.map(({ name }) => name));
    expect(new Set(names).size).toBe(21);
  });

  it('shows a hundred keys, or as many as the limit says', async () => {
    await client.segment('paged');
    const keys = Array.from({ length: 101 }, (_, index) => `k${index}`);
    await client.ok('PUT', '/segments/staging/paged/upload', keys);
    const queries = ['', 'limit=3', 'offset=100'];
    const pages = await pagesOf<WireSegmentKeys>('/segments/staging/paged/keys', ...queries);

    expect(pages.map((each) => each.keys.length)).toEqual([100, 3, 1]);
    expect(pages[1]).toMatchObject({ offset: 0, limit: 3, count: 101 });
    const seen = [pages[0], pages[2]].flatMap((each) => each?.keys.map(({ key }) => key));
    expect(seen.sort()).toEqual(keys.sort());
  });
});

describe('a page behind the end', () => {
  it('is empty and knows the total', async () => {
    const pageBehind = async (path: string): Promise<object> =>
      client.ok('GET', `${path}?offset=5000`);
    const { totalCount } = await client.ok<WirePage<object>>('GET', '/segments/ws/Default');

    expect(totalCount).toBeGreaterThan(0);
    const none = { objects: [], offset: 5000 };
    expect(await pageBehind('/workspaces')).toEqual({ ...none, limit: 10, totalCount: 203 });
    expect(await pageBehind('/segments/ws/Default')).toEqual({ ...none, limit: 20, totalCount });
    const page = await pageBehind('/segments/staging/s/keys');
    expect(page).toMatchObject({ keys: [], offset: 5000, limit: 100, count: 0 });
  });
});

describe('what belongs to one workspace', () => {
  it('is not in another: flags', async () => {
    await client.flag('only-here');
    const there = '/splits/ws/Second/only-here';

    await expectAnswers(client, [404, 'PATCH', there, DESCRIBED], [404, 'DELETE', there]);
    const own = { name: 'only-here', description: 'of its own' };
    const twin = await client.ok('POST', '/splits/ws/Second/trafficTypes/user', own);
    await client.ok('DELETE', '/splits/ws/Default/only-here');
    const same = replacing('/description', 'of its own');
    expect(await client.ok('PATCH', there, same)).toEqual(twin);
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
    await expectAnswers(
      client,
      [404, 'POST', '/splits/ws/Second/trafficTypes/account', { name: 'f' }],
      [404, 'POST', '/segments/ws/Second/trafficTypes/account', { name: 's' }],
    );
  });
});

describe('a change where title and comment are required', () => {
  /** Creates a flag. @returns the path of its definition. */
  const createWorded = async (name: string): Promise<string> => {
    await client.ok('POST', '/splits/ws/Worded/trafficTypes/user', { name });
    return at(name, 'worded', 'Worded');
  };
  const INCOMPLETE = ['', '?title=t', '?comment=c', '?title=&comment=c'];

  it('needs both', async () => {
    const path = await createWorded('both');
    await client.ok('POST', '/segments/ws/Worded/trafficTypes/user', { name: 'both' });
    const writes: [string, string, unknown?][] = [
      ['POST', path, aDefinition()],
      ['PATCH', path, kill(true)],
      ['POST', '/segments/worded/both'],
      ['PUT', '/segments/worded/both/upload', ['a']],
      ['DELETE', path],
      ['DELETE', '/segments/ws/Worded/both'],
      ['DELETE', '/splits/ws/Worded/both'],
    ];

    for (const [method, place, body] of writes) {
      await expectAnswers(
        client,
        ...INCOMPLETE.map((query): Exchange => [400, method, `${place}${query}`, body]),
        [200, method, `${place}?title=t&comment=c`, body],
      );
    }
  });

  it('has no body in the refusal of a PATCH, and the error shape in all others', async () => {
    const path = await createWorded('bodies');
    await client.ok('POST', `${path}?title=t&comment=c`, aDefinition());

    for (const query of INCOMPLETE) {
      const patched = await client.call('PATCH', `${path}${query}`, kill(true));
      expect(patched).toMatchObject({ status: 400, text: '' });
      expect(patched.headers.get('content-length')).toBe('0');
      await expectAnswers(
        client,
        [400, 'DELETE', `${path}${query}`, undefined, { code: 400 }],
        [400, 'POST', `${path}${query}`, aDefinition(), { code: 400 }],
      );
    }
    expect(await client.ok('GET', path)).toMatchObject({ killed: false });
  });

  it('takes them from the query of a PATCH, whatever its operations say', async () => {
    const path = await createWorded('told');
    await client.ok('POST', `${path}?title=first&comment=c`, aDefinition());
    const told = [{ op: 'replace', path: '/killed', value: true, title: 't', comment: 'c' }];

    await expectAnswers(
      client,
      [400, 'PATCH', path, told],
      [200, 'PATCH', `${path}?title=The%20title&comment=The%20comment`, told],
    );

    const [change] = await service.audit({ kind: 'flag', name: 'told' });
    expect(change).toMatchObject({ title: 'The title', comment: 'The comment' });
  });
});

describe('a definition', () => {
  const half = [{ treatment: 'on', size: 50 }];
  const foreign = [{ treatment: 'none', size: 100 }];
  const rule = (buckets: object[]): object => ({ ...ruleOn({ type: 'ALL_KEYS' }), buckets });
  const anyOf = { combiner: 'OR', matchers: [{ type: 'IN_SEGMENT', string: 'any' }] };

  const sizes = (on: number, off: number): object[] => [
    { treatment: 'on', size: on },
    { treatment: 'off', size: off },
  ];

  /** By POST, and by a patch of the definition that is right, which stays as it was. */
  async function expectRefused(
    title: string,
    right: object,
    wrong: object,
    patch: readonly object[],
  ): Promise<void> {
    const name = title.replaceAll(/\W/g, '-');
    await client.flag(name);
    await expectAnswers(client, [400, 'POST', at(name), wrong]);
    const before = await client.ok('POST', at(name), right);
    await expectAnswers(client, [400, 'PATCH', at(name), patch]);
    expect(await client.ok('GET', at(name))).toEqual(before);
  }

  it.each([
    ['sizes of the default rule that sum to 50', '/defaultRule', half],
    ['sizes of the default rule that sum to 150', '/defaultRule', sizes(50, 100)],
    ['sizes of a rule that sum to 50', '/rules', [rule(half)]],
    ['a size that is no whole number', '/defaultRule', sizes(99.5, 0.5)],
    ['a size below 0', '/defaultRule', sizes(-1, 101)],
    ['an allocation above 100', '/trafficAllocation', 101],
    ['an allocation below 0', '/trafficAllocation', -1],
    ['an allocation that is no whole number', '/trafficAllocation', 50.5],
    ['an allocation that is text', '/trafficAllocation', '50'],
    ['a default treatment that is none of its treatments', '/defaultTreatment', 'none'],
    ['a baseline that is none of its treatments', '/baselineTreatment', 'none'],
    ['a treatment in its default rule that is none of its own', '/defaultRule', foreign],
    ['a treatment in a rule that is none of its own', '/rules', [rule(foreign)]],
    ['a combiner that is not AND', '/rules', [{ ...ruleOn({}), condition: anyOf }]],
    ['killed that is no truth value', '/killed', 'yes'],
    ['rules that are no list', '/rules', {}],
    ['treatments that are no list', '/treatments', {}],
  ])('is refused with %s, by POST and PATCH', async (what, path, value) => {
    const wrong = aDefinition({ [path.slice(1)]: value });
    await expectRefused(`f ${what}`, aDefinition(), wrong, replacing(path, value));
  });

  it.each([
    ...['/treatments', '/defaultTreatment', '/defaultRule', '/treatments/0/name'],
    ...['/rules/0/buckets/0/treatment', '/rules/0/buckets/0/size', '/rules/0/buckets'],
    ...['/rules/0/condition', '/rules/0/condition/matchers'],
    ...['/rules/0/condition/matchers/0/type', '/rules/0/condition/matchers/0/string'],
  ])('is refused without %s, by POST and PATCH', async (path) => {
    const whole = aDefinition({ rules: [ruleOn({ type: 'IN_SEGMENT', string: 's' })] });
    const removal = [{ op: 'remove', path }];
    await expectRefused(`without ${path}`, whole, withValueAt(whole, path, undefined), removal);
  });

  it('keeps an allocation of any share', async () => {
    await client.define('allocated');

    for (const value of [0, 37, 100]) {
      await client.ok('PATCH', at('allocated'), replacing('/trafficAllocation', value));
      expect(await client.ok('GET', at('allocated'))).toMatchObject({ trafficAllocation: value });
    }
  });

  it.each([
    ['/description', 'd'],
    ['/tags', [{ name: 'web' }]],
    ['/rolloutStatus/id', 'none'],
    ['/rolloutStatus', { id: 'none' }],
  ])('takes no patch of %s, which belongs to the flag', async (path, value) => {
    const name = `of-the-flag${path.replaceAll('/', '-')}`;
    const flag = await client.flag(name);
    const before = await client.ok('POST', at(name), aDefinition());

    expect(await client.status('PATCH', at(name), [{ op: 'add', path, value }])).toBe(400);
    expect(await client.ok('GET', at(name))).toEqual(before);
    const none: unknown[] = [];
    expect(await client.ok('PATCH', `/splits/ws/Default/${name}`, none)).toEqual(flag);
  });

  it('belongs to one environment alone', async () => {
    await client.define('apart');
    const there = at('apart', 'production');
    await expectAnswers(client, [404, 'GET', there]);
    const other = await client.ok('POST', there, aDefinition());

    await client.ok('PATCH', at('apart'), kill(true));
    expect(await client.ok('GET', there)).toEqual(other);
    await client.ok('DELETE', at('apart'));
    expect(await client.ok('GET', there)).toEqual(other);
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
    const names = ['z', 'a', 'm'];
    const rules = names.map((attribute) => ruleOn({ type: 'BOOLEAN', attribute, bool: true }));
    await client.define('ordered', { rules });

    expect(await client.ok('GET', at('ordered'))).toMatchObject({ rules });
  });
});

describe('a segment', () => {
  it('is activated in one environment alone', async () => {
    const [here, there] = [await client.segment('here'), '/segments/production/here'];

    await expectAnswers(
      client,
      [200, 'GET', `${here}/keys`, undefined, { count: 0 }],
      [404, 'GET', `${there}/keys`],
      [404, 'PUT', `${there}/upload`, ['a']],
      [404, 'PUT', `${there}/removeKeys`, REMOVAL],
      [200, 'POST', there],
      [200, 'PUT', `${there}/upload`, ['a']],
      [200, 'GET', `${here}/keys`, undefined, { count: 0 }],
      [200, 'GET', `${there}/keys`, undefined, { count: 1 }],
    );
  });
});

describe('a flag', () => {
  it('takes no rollout status but those that are listed', async () => {
    const { rolloutStatus } = await client.flag('status');
    const path = '/splits/ws/Default/status';
    const wrong = ['none', '', 7, null].map((value) => replacing('/rolloutStatus/id', value));

    await expectAnswers(client, ...wrong.map((patch): Exchange => [400, 'PATCH', path, patch]), [
      200,
      'PATCH',
      path,
      DESCRIBED,
      { rolloutStatus },
    ]);
  });

  it('keeps the time of its rollout status through all other changes', async () => {
    const { rolloutStatusTimestamp } = await client.flag('timed');
    const operations = [...DESCRIBED, { op: 'add', path: '/tags', value: [{ name: 'web' }] }];
    await wait(5);

    const patched = await client.ok('PATCH', '/splits/ws/Default/timed', operations);
    await client.ok('POST', at('timed'), aDefinition());

    expect(patched).toMatchObject({ rolloutStatusTimestamp });
    expect(await client.ok('PATCH', '/splits/ws/Default/timed', [])).toEqual(patched);
  });
});

describe('the keys of a segment', () => {
  it('have no attributes until an identity gives them some', async () => {
    const path = await client.segment('blank');
    await client.ok('PUT', `${path}/upload`, ['blank-key']);

    const blank = [{ key: 'blank-key' }];
    const { objects } = await client.ok<WireIdentitiesResult>('POST', IDENTITIES, blank);

    expect(objects.map(({ values }) => values)).toEqual([{}]);
    const { keys } = await client.ok<WireSegmentKeys>('GET', `${path}/keys`);
    expect(keys).toEqual(blank);
  });

  it('go with the segment', async () => {
    const path = await client.segment('gone');
    await client.ok('PUT', `${path}/upload`, ['a']);

    await client.ok('DELETE', '/segments/ws/Default/gone');

    await expectAnswers(client, [404, 'GET', `${path}/keys`]);
    await client.segment('gone');
    expect(await client.ok('GET', `${path}/keys`)).toMatchObject({ keys: [] });
  });
});

describe('what is not there', () => {
  it.each(NOWHERE)('is 404: %s %s', async (method, path, body) => {
    await expectAnswers(client, [404, method, path, body, { code: 404, details: '' }]);
  });
});

describe('a creation', () => {
  it('is refused with 409 where there is one already', async () => {
    await client.define('twice');
    await client.segment('twice');

    await expectAnswers(
      client,
      [409, 'POST', FLAGS, { name: 'twice' }],
      [409, 'POST', at('twice'), aDefinition()],
      [409, 'POST', SEGMENTS, { name: 'twice' }],
    );
  });
});
