import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type {
  WireFlag,
  WireIdentitiesResult,
  WirePage,
  WireSegment,
  WireSegmentKeys,
  WireWorkspace,
} from '../../src/admin-api/wire.js';
import { aDefinition, at, callsOf, ruleOn } from '../support/service-calls.js';
import { aService } from '../support/service.js';

/** What a service could get wrong while its answers keep their shape. Uses nothing but what the contract shows. */
const environments = [{ name: 'staging' }, { name: 'production' }];
const OTHERS = Array.from({ length: 10 }, (_, index) => ({
  name: `Other ${index}`,
  environments: [],
  trafficTypes: [],
}));

const service = aService({
  seed: {
    workspaces: [
      { name: 'Default', environments, trafficTypes: ['user'] },
      {
        name: 'Worded',
        requiresTitleAndComments: true,
        environments: [{ name: 'live' }],
        trafficTypes: ['user'],
      },
      ...OTHERS,
    ],
  },
});
const client = callsOf(service);

async function createFlag(name: string, workspace = 'Default'): Promise<WireFlag> {
  return client.ok('POST', `/splits/ws/${workspace}/trafficTypes/user`, { name });
}

describe('a list with more than fits on a page', () => {
  it('shows ten workspaces, or as many as the limit says', async () => {
    const size = async (query: string): Promise<number> =>
      (await client.ok<WirePage<WireWorkspace>>('GET', `/workspaces${query}`)).objects.length;

    const sizes = [await size(''), await size('?limit=3'), await size('?limit=200')];

    expect(sizes).toEqual([10, 3, 12]);
    expect(await size('?offset=10')).toBe(2);
  });

  it('shows twenty segments, or as many as the limit says', async () => {
    for (let index = 0; index < 21; index += 1) {
      await client.ok('POST', '/segments/ws/Worded/trafficTypes/user', { name: `s${index}` });
    }
    const page = async (query: string): Promise<WirePage<WireSegment>> =>
      client.ok('GET', `/segments/ws/Worded${query}`);

    const first = await page('');
    const few = await page('?limit=3');
    const last = await page('?offset=20');

    expect([first, few, last].map(({ objects }) => objects.length)).toEqual([20, 3, 1]);
    expect(few).toMatchObject({ offset: 0, limit: 3, totalCount: 21 });
    const seen = new Set([...first.objects, ...last.objects].map(({ name }) => name));
    expect(seen.size).toBe(21);
  });

  it('shows a hundred keys, or as many as the limit says', async () => {
    await client.segment('paged');
    const keys = Array.from({ length: 101 }, (_, index) => `k${index}`);
    await client.ok('PUT', '/segments/staging/paged/upload', keys);
    const page = async (query: string): Promise<WireSegmentKeys> =>
      client.ok('GET', `/segments/staging/paged/keys${query}`);

    const first = await page('');
    const few = await page('?limit=3');
    const last = await page('?offset=100');

    expect([first, few, last].map((each) => each.keys.length)).toEqual([100, 3, 1]);
    expect(few).toMatchObject({ offset: 0, limit: 3, count: 101 });
    const seen = [...first.keys, ...last.keys].map(({ key }) => key);
    expect(seen.sort()).toEqual(keys.sort());
  });
});

describe('a change where title and comment are required', () => {
  const INCOMPLETE = ['', '?title=t', '?comment=c', '?title=&comment=c'];

  it('needs both', async () => {
    await createFlag('both', 'Worded');
    await client.ok('POST', '/segments/ws/Worded/trafficTypes/user', { name: 'both' });
    const path = at('both', 'live', 'Worded');
    const kill = [{ op: 'replace', path: '/killed', value: true }];
    const writes: [string, string, unknown?][] = [
      ['POST', path, aDefinition()],
      ['PATCH', path, kill],
      ['POST', '/segments/live/both'],
      ['PUT', '/segments/live/both/upload', ['a']],
      ['DELETE', path],
      ['DELETE', '/segments/ws/Worded/both'],
      ['DELETE', '/splits/ws/Worded/both'],
    ];

    for (const [method, place, body] of writes) {
      const statuses = [];
      for (const query of [...INCOMPLETE, '?title=t&comment=c']) {
        statuses.push(await client.status(method, `${place}${query}`, body));
      }
      expect([method, place, ...statuses]).toEqual([method, place, 400, 400, 400, 400, 200]);
    }
  });

  it('has no body in the refusal of a PATCH, and the error shape in all others', async () => {
    await createFlag('bodies', 'Worded');
    const path = at('bodies', 'live', 'Worded');
    await client.ok('POST', `${path}?title=t&comment=c`, aDefinition());
    const kill = [{ op: 'replace', path: '/killed', value: true }];

    for (const query of INCOMPLETE) {
      const patched = await client.call('PATCH', `${path}${query}`, kill);
      const deleted = await client.call('DELETE', `${path}${query}`);
      const posted = await client.call('POST', `${path}${query}`, aDefinition());

      expect(patched).toMatchObject({ status: 400, text: '' });
      expect(patched.headers.get('content-length')).toBe('0');
      expect([deleted, posted]).toMatchObject([{ body: { code: 400 } }, { body: { code: 400 } }]);
    }
    expect(await client.ok('GET', path)).toMatchObject({ killed: false });
  });

  it('takes them from the query of a PATCH, whatever its operations say', async () => {
    await createFlag('told', 'Worded');
    const path = at('told', 'live', 'Worded');
    await client.ok('POST', `${path}?title=first&comment=c`, aDefinition());
    const kill = [{ op: 'replace', path: '/killed', value: true, title: 't', comment: 'c' }];

    const untold = await client.call('PATCH', path, kill);
    await client.ok('PATCH', `${path}?title=The%20title&comment=The%20comment`, kill);

    expect(untold.status).toBe(400);
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
    [
      'a combiner that is not AND',
      '/rules',
      [{ buckets: [{ treatment: 'on', size: 100 }], condition: anyOf }],
    ],
    ['killed that is no truth value', '/killed', 'yes'],
    ['rules that are no list', '/rules', {}],
    ['treatments that are no list', '/treatments', {}],
  ])('is refused with %s, by POST and PATCH', async (what, path, value) => {
    const name = `f-${what.replaceAll(/\W/g, '-')}`;
    await client.flag(name);

    const posted = await client.call('POST', at(name), aDefinition({ [path.slice(1)]: value }));
    const before = await client.ok('POST', at(name), aDefinition());
    const patched = await client.call('PATCH', at(name), [{ op: 'replace', path, value }]);

    expect([posted.status, patched.status]).toEqual([400, 400]);
    expect(await client.ok('GET', at(name))).toEqual(before);
  });

  it.each([0, 37, 100])('keeps an allocation of %i', async (trafficAllocation) => {
    await client.flag(`allocated-${trafficAllocation}`);
    const path = at(`allocated-${trafficAllocation}`);

    await client.ok('POST', path, aDefinition({ trafficAllocation }));

    expect(await client.ok('GET', path)).toMatchObject({ trafficAllocation });
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
    const absent = await client.call('GET', at('apart', 'production'));
    const other = await client.ok('POST', at('apart', 'production'), aDefinition());

    await client.ok('PATCH', at('apart'), [{ op: 'replace', path: '/killed', value: true }]);
    const untouched = await client.ok('GET', at('apart', 'production'));
    await client.ok('DELETE', at('apart'));

    expect(absent.status).toBe(404);
    expect(untouched).toEqual(other);
    expect(await client.ok('GET', at('apart', 'production'))).toEqual(other);
  });
});

describe('a flag', () => {
  it('takes no rollout status but those that are listed', async () => {
    const { rolloutStatus } = await client.flag('status');
    const path = '/splits/ws/Default/status';

    for (const value of ['none', '', 7, null]) {
      const operations = [{ op: 'replace', path: '/rolloutStatus/id', value }];
      expect(await client.status('PATCH', path, operations)).toBe(400);
    }

    const operations = [{ op: 'replace', path: '/description', value: 'd' }];
    expect(await client.ok('PATCH', path, operations)).toMatchObject({ rolloutStatus });
  });

  it('keeps the time of its rollout status through all other changes', async () => {
    const { rolloutStatusTimestamp } = await client.flag('timed');
    const operations = [
      { op: 'replace', path: '/description', value: 'd' },
      { op: 'add', path: '/tags', value: [{ name: 'web' }] },
    ];
    await wait(5);

    const patched = await client.ok('PATCH', '/splits/ws/Default/timed', operations);
    await client.ok('POST', at('timed'), aDefinition());

    expect(patched).toMatchObject({ rolloutStatusTimestamp });
    expect(await client.ok('PATCH', '/splits/ws/Default/timed', [])).toEqual(patched);
  });
});

describe('the keys of a segment', () => {
  it('have no attributes until an identity gives them some', async () => {
    await client.segment('blank');
    await client.ok('PUT', '/segments/staging/blank/upload', ['blank-key']);
    const identities = '/trafficTypes/user/environments/staging/identities';

    const { objects } = await client.ok<WireIdentitiesResult>('POST', identities, [
      { key: 'blank-key' },
    ]);

    expect(objects.map(({ values }) => values)).toEqual([{}]);
    const { keys } = await client.ok<WireSegmentKeys>('GET', '/segments/staging/blank/keys');
    expect(keys).toEqual([{ key: 'blank-key' }]);
  });

  it('are no longer listed once they were removed', async () => {
    await client.segment('thinned');
    await client.ok('PUT', '/segments/staging/thinned/upload', ['a', 'b', 'c']);

    const body = { keys: ['a', 'c'], comment: 'c' };
    await client.ok('PUT', '/segments/staging/thinned/removeKeys', body);
    const again = await client.ok('PUT', '/segments/staging/thinned/removeKeys', body);

    expect(again).toMatchObject({ code: 200, message: 'Deleted 0 keys' });
    expect(await client.ok('GET', '/segments/staging/thinned/keys')).toMatchObject({
      keys: [{ key: 'b' }],
      count: 1,
    });
  });

  it('belong to one environment alone', async () => {
    await client.segment('apart', 'staging', 'production');

    await client.ok('PUT', '/segments/staging/apart/upload', ['a']);

    expect(await client.ok('GET', '/segments/staging/apart/keys')).toMatchObject({ count: 1 });
    expect(await client.ok('GET', '/segments/production/apart/keys')).toMatchObject({ count: 0 });
  });

  it('go with the segment', async () => {
    await client.segment('gone');
    await client.ok('PUT', '/segments/staging/gone/upload', ['a']);

    await client.ok('DELETE', '/segments/ws/Default/gone');

    expect(await client.status('GET', '/segments/staging/gone/keys')).toBe(404);
    await client.segment('gone');
    expect(await client.ok('GET', '/segments/staging/gone/keys')).toMatchObject({ keys: [] });
  });
});

describe('what is not there', () => {
  const words = { keys: ['a'], comment: 'c' };
  it.each<[string, string, unknown?]>([
    ['GET', '/environments/ws/none'],
    ['GET', '/rolloutStatuses?wsId=none'],
    ['POST', '/splits/ws/none/trafficTypes/user', { name: 'f' }],
    ['POST', '/splits/ws/Default/trafficTypes/none', { name: 'f' }],
    ['GET', at('none')],
    ['POST', at('none'), aDefinition()],
    ['PATCH', at('none'), [{ op: 'replace', path: '/killed', value: true }]],
    ['PATCH', '/splits/ws/Default/none', [{ op: 'replace', path: '/description', value: 'd' }]],
    ['DELETE', at('none')],
    ['DELETE', '/splits/ws/Default/none'],
    ['POST', '/segments/ws/Default/trafficTypes/none', { name: 's' }],
    ['GET', '/segments/ws/none'],
    ['POST', '/trafficTypes/none/environments/staging/identities', []],
    ['POST', '/trafficTypes/user/environments/none/identities', []],
    ['POST', '/segments/staging/none'],
    ['PUT', '/segments/staging/none/upload', ['a']],
    ['GET', '/segments/staging/none/keys'],
    ['GET', '/segments/none/members/keys'],
    ['PUT', '/segments/staging/none/removeKeys', words],
    ['DELETE', '/segments/ws/Default/none'],
  ])('is 404: %s %s', async (method, path, body) => {
    const answer = await client.call(method, path, body);

    expect(answer.status).toBe(404);
    expect(answer.body).toMatchObject({ code: 404, details: '' });
  });
});

describe('a creation', () => {
  it('is refused with 409 where there is one already', async () => {
    await client.define('twice');
    await client.segment('twice');

    const second = [
      await client.call('POST', '/splits/ws/Default/trafficTypes/user', { name: 'twice' }),
      await client.call('POST', at('twice'), aDefinition()),
      await client.call('POST', '/segments/ws/Default/trafficTypes/user', { name: 'twice' }),
    ];

    expect(second.map(({ status }) => status)).toEqual([409, 409, 409]);
  });
});
