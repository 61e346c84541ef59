import { describe, expect, it } from 'vitest';
import type {
  WireDefinition,
  WireEnvironment,
  WireFlag,
  WirePage,
  WireSegmentInEnvironment,
  WireTrafficType,
  WireWorkspace,
} from '../../src/admin-api/wire.js';
import { aDefinition, at, callsOf, ruleOn } from '../support/service-calls.js';
import { aService } from '../support/service.js';

/** What the contract leaves open, as public documentation and clients of such services have it. */
const service = aService();
const client = callsOf(service);

describe('lists of flags and definitions', () => {
  it('are in the order of names, whatever their case, in pages of twenty and at most fifty', async () => {
    await client.ok('POST', '/workspaces', { name: 'Lists' });
    const path = '/splits/ws/Lists';
    await client.ok('POST', '/environments/ws/Lists', { name: 'dev' });
    await client.ok('POST', '/trafficTypes/ws/Lists', { name: 'user' });
    for (const name of ['a_b', 'a-b', 'aB', 'A', 'a1']) {
      await client.ok('POST', `${path}/trafficTypes/user`, { name });
      await client.ok('POST', `${path}/${name}/environments/dev`, aDefinition());
    }

    const flags = await client.ok<WirePage<WireFlag>>('GET', path);
    const definitions = await client.ok<WirePage<WireDefinition>>(
      'GET',
      `${path}/environments/dev?limit=500&offset=1`,
    );

    const names = ['A', 'a-b', 'a1', 'a_b', 'aB'];
    expect(flags.objects.map(({ name }) => name)).toEqual(names);
    expect(flags).toMatchObject({ offset: 0, limit: 20, totalCount: 5 });
    expect(definitions.objects.map(({ name }) => name)).toEqual(names.slice(1));
    expect(definitions).toMatchObject({ offset: 1, limit: 50, totalCount: 5 });
    expect(definitions.objects[0]).toEqual(await client.ok('GET', `${path}/a-b/environments/dev`));
  });

  it('show each definition as it shows itself, whatever it and its environment hold', async () => {
    await client.ok('POST', '/workspaces', { name: 'Same' });
    const path = '/splits/ws/Same';
    const { id } = await client.ok<WireEnvironment>('POST', '/environments/ws/Same', {
      name: 'the "live" one \\ größte 🚩',
    });
    await client.ok('POST', '/trafficTypes/ws/Same', { name: 'user' });
    const description = 'a "quoted" \\ text, größer 🚩';
    const treatments = ['on', 'off'].map((name) => ({ name, description }));
    for (const name of ['plain', 'killed', 'wordy']) {
      await client.ok('POST', `${path}/trafficTypes/user`, { name });
      const more = name === 'wordy' ? { treatments } : { killed: name === 'killed' };
      await client.ok('POST', `${path}/${name}/environments/${id}`, aDefinition(more));
    }
    const text = async (url: string): Promise<string> => (await client.call('GET', url)).text;

    const each = ['killed', 'plain', 'wordy'].map(async (name) =>
      text(`${path}/${name}/environments/${id}`),
    );

    expect(await text(`${path}/environments/${id}?limit=3`)).toBe(
      `{"objects":[${(await Promise.all(each)).join(',')}],"offset":0,"limit":3,"totalCount":3}`,
    );
  });

  it('leave out flags without a definition there, on every page', async () => {
    await client.ok('POST', '/workspaces', { name: 'Gaps' });
    const path = '/splits/ws/Gaps';
    await client.ok('POST', '/trafficTypes/ws/Gaps', { name: 'user' });
    for (const name of ['dev', 'live']) await client.ok('POST', '/environments/ws/Gaps', { name });
    for (const name of ['a', 'b', 'c', 'd', 'e']) {
      await client.ok('POST', `${path}/trafficTypes/user`, { name });
      if (name !== 'b' && name !== 'd')
        await client.ok('POST', `${path}/${name}/environments/live`, aDefinition());
    }
    const page = async (query: string): Promise<[readonly string[], number]> => {
      const found = await client.ok<WirePage<WireDefinition>>(
        'GET',
        `${path}/environments/${query}`,
      );
      return [found.objects.map(({ name }) => name), found.totalCount];
    };

    expect(await page('live?limit=2')).toEqual([['a', 'c'], 3]);
    expect(await page('live?limit=2&offset=2')).toEqual([['e'], 3]);
    expect(await page('live?offset=3')).toEqual([[], 3]);
    expect(await page('dev')).toEqual([[], 0]);
    await client.ok('DELETE', `${path}/c/environments/live`);
    await client.ok('POST', `${path}/b/environments/live`, aDefinition());
    expect(await page('live')).toEqual([['a', 'b', 'e'], 3]);
  });

  it('are refused for their place before their page', async () => {
    const statuses = await Promise.all(
      ['Default/environments/staging?limit=0', 'Default/environments/nowhere?limit=0'].map(
        async (path) => await client.status('GET', `/splits/ws/${path}`),
      ),
    );
    expect(statuses).toEqual([400, 404]);
  });

  it('can be narrowed by part of the name, tag and rollout status', async () => {
    await client.flag('narrow_one', { tags: [{ name: '50%' }, { name: 'web' }] });
    await client.flag('narrow-two', { tags: [{ name: 'web' }] });
    const names = async (query: string): Promise<string[]> => {
      const page = await client.ok<WirePage<WireFlag>>('GET', `/splits/ws/Default?${query}`);
      expect(page.totalCount).toBe(page.objects.length);
      return page.objects.map(({ name }) => name);
    };

    expect(await names('name=NARROW')).toEqual(['narrow-two', 'narrow_one']);
    expect(await names('name=w_o')).toEqual(['narrow_one']);
    expect(await names('tag=web&tag=50%25')).toEqual(['narrow_one']);
    expect(await names('rolloutStatus=unknown')).toEqual([]);
  });

  it('shows one flag by name or id', async () => {
    const flag = await client.flag('single');

    expect(await client.ok('GET', '/splits/ws/Default/single')).toEqual(flag);
    expect(await client.ok('GET', `/splits/ws/Default/${flag.id}`)).toEqual(flag);
    expect(await client.status('GET', '/splits/ws/Default/none')).toBe(404);
  });
});

describe('a kill', () => {
  it.each(['PUT', 'POST'])(
    'and a restore by %s answer true and change nothing else',
    async (method) => {
      const name = `kill-${method}`;
      const before = await client.define(name);

      const killed = await client.call(method, `${at(name)}/kill`, { comment: 'c' });
      const again = await client.call(method, `${at(name)}/kill`);
      const during = await client.ok<WireDefinition>('GET', at(name));
      const restored = await client.call(method, `${at(name)}/restore`);
      const after = await client.ok<WireDefinition>('GET', at(name));

      expect([killed.text, again.text, restored.text]).toEqual(['true', 'true', 'true']);
      expect(during).toEqual({ ...before, killed: true, lastUpdateTime: during.lastUpdateTime });
      expect(after).toEqual({ ...before, lastUpdateTime: after.lastUpdateTime });
    },
  );

  it('by PATCH is recorded as what it is', async () => {
    await client.define('kill-patch');

    await client.ok('PATCH', `${at('kill-patch')}?title=t&comment=c`, [
      { op: 'replace', path: '/killed', value: true },
    ]);

    await client.ok('PATCH', at('kill-patch'), [
      { op: 'replace', path: '/killed', value: false },
      { op: 'replace', path: '/trafficAllocation', value: 50 },
    ]);

    const [end, kill] = await service.audit({ kind: 'flag', name: 'kill-patch' });
    expect(kill).toMatchObject({ action: 'kill', title: 't', comment: 'c' });
    expect(end).toMatchObject({ action: 'restore', title: null });
  });
});

describe('PUT of a definition', () => {
  const PARTS = ['treatments', 'defaultTreatment', 'defaultRule'] as const;
  const bare = (changed: object = {}): object =>
    Object.fromEntries(
      Object.entries(aDefinition(changed)).filter(([name]) => PARTS.some((part) => part === name)),
    );

  it('keeps a rollout to 5 %, a kill and the baseline treatment that it does not name', async () => {
    await client.flag('put');
    const kept = { killed: true, trafficAllocation: 5, baselineTreatment: 'on' };
    await client.ok('POST', at('put'), aDefinition(kept));

    const after = await client.ok<WireDefinition>('PUT', at('put'), bare());

    expect(after).toMatchObject(kept);
    expect(await client.ok('GET', at('put'))).toEqual(after);
  });

  it('empties the rules and the individual keys that it does not name', async () => {
    await client.flag('put-empty');
    const rules = [ruleOn({ type: 'BOOLEAN', attribute: 'paid', bool: true })];
    const treatments = [{ name: 'on', keys: ['ana'] }, { name: 'off' }];
    await client.ok('POST', at('put-empty'), aDefinition({ rules, treatments }));

    const after = await client.ok<WireDefinition>('PUT', at('put-empty'), bare());

    expect(after.rules).toEqual([]);
    expect(after.treatments.map(({ keys }) => keys)).toEqual([undefined, undefined]);
  });

  it('takes the default treatment as the baseline where the baseline treatment is gone', async () => {
    await client.define('put-baseline', { baselineTreatment: 'on' });
    const treatments = [{ name: 'new' }, { name: 'off' }];

    const after = await client.ok('PUT', at('put-baseline'), bare({ treatments }));

    expect(after).toMatchObject({ baselineTreatment: 'off' });
  });
});

describe('a flag without a definition', () => {
  it.each(['PUT ', 'PUT /kill', 'POST /restore', 'POST /reallocate'])(
    'is not changed there: %s',
    async (operation) => {
      const [method = '', action = ''] = operation.split(' ');
      const name = `bare-${action.slice(1)}`;
      await client.flag(name);

      expect(
        await client.status(method, `${at(name)}${action}`, action ? undefined : aDefinition()),
      ).toBe(404);
    },
  );
});

describe('tags, owners and description', () => {
  it('are set with a new flag and changed by PATCH', async () => {
    const owners = [{ id: 'u1', type: 'User' }];
    const flag = await client.flag('owned', { tags: [{ name: 'a' }], owners });

    expect(flag).toMatchObject({ tags: [{ name: 'a' }], owners });
    const none = await client.ok<WireFlag>('PATCH', '/splits/ws/Default/owned', [
      { op: 'remove', path: '/tags/0' },
      { op: 'replace', path: '/owners', value: [] },
    ]);
    expect(none.tags).toBeNull();
    expect(none).not.toHaveProperty('owners');
  });

  it('replaces all tags at once', async () => {
    await client.flag('tagged', { tags: [{ name: 'old' }] });

    const answer = await client.ok('POST', '/tags/ws/Default/object/tagged/objecttype/Split', [
      'a',
      'b',
    ]);

    expect(answer).toEqual({
      objects: [
        { name: 'a', objectType: 'Split', objectName: 'tagged' },
        { name: 'b', objectType: 'Split', objectName: 'tagged' },
      ],
      offset: 0,
      limit: 20,
      totalCount: 2,
    });
    expect(await client.ok('GET', '/splits/ws/Default/tagged')).toMatchObject({
      tags: [{ name: 'a' }, { name: 'b' }],
    });
  });

  it.each([
    ['JSON text', '"new text"', 'new text'],
    ['plain text', 'new text', 'new text'],
    ['a bare word', 'true', 'true'],
    ['a number as it was written', '1.0', '1.0'],
  ])('takes a description as %s', async (_, sent, expected) => {
    await client.call('POST', '/splits/ws/Default/trafficTypes/user', { name: 'described' });

    const answer = await client.send('PUT', '/splits/ws/Default/described/updateDescription', sent);

    expect(answer.body).toMatchObject({ description: expected });
  });
});

describe('segments', () => {
  it('are shown one by one and by environment', async () => {
    await client.ok('POST', '/segments/ws/Default/trafficTypes/account', {
      name: 'shown',
      description: 'd',
    });
    const before = await client.ok<WirePage<WireSegmentInEnvironment>>(
      'GET',
      '/segments/ws/Default/environments/production',
    );

    const active = await client.ok('POST', '/segments/production/shown');
    const again = await client.ok('POST', '/segments/production/shown');
    const after = await client.ok<WirePage<WireSegmentInEnvironment>>(
      'GET',
      '/segments/ws/Default/environments/production',
    );

    expect(await client.ok('GET', '/segments/ws/Default/shown')).toMatchObject({
      name: 'shown',
      description: 'd',
      trafficType: { name: 'account' },
    });
    expect(again).toEqual(active);
    expect(before.totalCount).toBe(0);
    expect(after).toEqual({ objects: [active], offset: 0, limit: 20, totalCount: 1 });
  });
});

describe('workspaces, environments and traffic types', () => {
  it('are created, changed and deleted', async () => {
    const workspace = await client.ok<WireWorkspace>('POST', '/workspaces', {
      name: 'Second',
      requiresTitleAndComments: true,
    });
    const environment = await client.ok<WireEnvironment>('POST', '/environments/ws/Second', {
      name: 'dev',
      production: false,
    });
    expect(environment).toMatchObject({
      changePermissions: { areApprovalsRequired: false, allowKills: false },
    });
    const trafficType = await client.ok<WireTrafficType>('POST', '/trafficTypes/ws/Second', {
      name: 'device',
    });

    await client.ok('PATCH', `/workspaces/${workspace.id}`, [
      { op: 'replace', path: '/name', value: 'Renamed' },
      { op: 'replace', path: '/requiresTitleAndComments', value: false },
    ]);
    await client.ok('PATCH', '/environments/ws/Renamed/dev', [
      { op: 'replace', path: '/name', value: 'live' },
      { op: 'replace', path: '/production', value: 'true' },
    ]);

    expect(await client.ok('GET', '/environments/ws/Renamed')).toEqual([
      { id: environment.id, name: 'live', production: true },
    ]);
    expect(await client.ok('GET', '/workspaces?name=Renamed')).toMatchObject({
      objects: [{ id: workspace.id, name: 'Renamed', requiresTitleAndComments: false }],
      totalCount: 1,
    });
    expect(await client.status('DELETE', `/workspaces/${workspace.id}`)).toBe(409);
    expect((await client.call('DELETE', '/environments/ws/Renamed/live')).text).toBe('true');
    expect((await client.call('DELETE', `/trafficTypes/${trafficType.id}`)).text).toBe('true');
    expect((await client.call('DELETE', `/workspaces/${workspace.id}`)).text).toBe('true');
    expect(await client.status('GET', '/environments/ws/Renamed')).toBe(404);
  });

  it('keep their names for themselves', async () => {
    expect(await client.status('POST', '/workspaces', { name: 'Default' })).toBe(409);
    const environment = await client.call('POST', '/environments/ws/Default', { name: 'staging' });
    expect(environment.status).toBe(409);
    const trafficType = await client.call('POST', '/trafficTypes/ws/Default', { name: 'user' });
    expect(trafficType.status).toBe(409);
    await client.ok('POST', '/workspaces', { name: 'Renamable' });
    for (const [path, value] of [
      ['/workspaces/Renamable', 'Default'],
      ['/environments/ws/Default/production', 'staging'],
    ] as const) {
      const renamed = await client.call('PATCH', path, [{ op: 'replace', path: '/name', value }]);
      expect(renamed.status).toBe(409);
    }
  });

  it('are not deleted while something is in them', async () => {
    await client.define('resident');
    const [user] = (await client.ok<WireTrafficType[]>('GET', '/trafficTypes/ws/Default')).filter(
      ({ name }) => name === 'user',
    );

    expect(await client.status('DELETE', '/environments/ws/Default/staging')).toBe(409);
    expect(await client.status('DELETE', `/trafficTypes/${user?.id ?? ''}`)).toBe(409);
  });

  it('are found by the start or a part of their name', async () => {
    const names = async (query: string): Promise<string[]> =>
      (await client.ok<WirePage<WireWorkspace>>('GET', `/workspaces?${query}`)).objects.map(
        ({ name }) => name,
      );

    expect(await names('name=Def')).toEqual([]);
    expect(await names('name=Default&nameOp=IS')).toEqual(['Default']);
    expect(await names('name=Def&nameOp=STARTS_WITH')).toEqual(['Default']);
    expect(await names('name=faul&nameOp=STARTS_WITH')).toEqual([]);
    expect(await names('name=faul&nameOp=CONTAINS')).toEqual(['Default']);
  });

  it('have rollout statuses of their own', async () => {
    await client.ok('POST', '/workspaces', { name: 'Third' });

    const own = await client.ok<{ id: string }[]>('GET', '/rolloutStatuses/ws/Third');
    const other = await client.ok<{ id: string }[]>('GET', '/rolloutStatuses?wsId=Default');

    expect(own).toHaveLength(9);
    expect(own.map(({ id }) => id)).not.toEqual(other.map(({ id }) => id));
  });
});

describe('single identities', () => {
  const path = '/trafficTypes/user/environments/staging/identities/some%20key';

  it('are replaced by PUT, merged by PATCH, and deleted', async () => {
    await client.ok('PUT', path, { values: { a: 1, b: 2 } });
    const merged = await client.ok('PATCH', path, { key: 'some key', values: { b: 3 } });
    const replaced = await client.ok('PUT', path, { values: { c: 4 } });
    const deleted = await client.call('DELETE', path);

    expect(merged).toMatchObject({ key: 'some key', values: { a: '1', b: '3' } });
    expect(replaced).toMatchObject({ values: { c: '4' } });
    expect((replaced as { values: object }).values).not.toHaveProperty('a');
    expect(deleted.text).toBe('true');
    expect(await client.status('DELETE', path)).toBe(404);
  });
});

describe('an environment name that several workspaces have', () => {
  it('means the one whose workspace has the segment', async () => {
    await client.ok('POST', '/workspaces', { name: 'Twin' });
    await client.ok('POST', '/environments/ws/Twin', { name: 'staging' });
    await client.ok('POST', '/trafficTypes/ws/Twin', { name: 'user' });
    await client.ok('POST', '/segments/ws/Twin/trafficTypes/user', { name: 'only-here' });

    const active = await client.ok<WireSegmentInEnvironment>('POST', '/segments/staging/only-here');

    const [twin] = await client.ok<WireEnvironment[]>('GET', '/environments/ws/Twin');
    expect(active.environment.id).toBe(twin?.id);
  });

  it('means the one whose workspace has the traffic type', async () => {
    await client.ok('POST', '/workspaces', { name: 'Typed twin' });
    const twin = await client.ok<WireEnvironment>('POST', '/environments/ws/Typed%20twin', {
      name: 'staging',
    });
    await client.ok('POST', '/trafficTypes/ws/Typed%20twin', { name: 'machine' });

    const saved = await client.ok<{ objects: object[] }>(
      'POST',
      '/trafficTypes/machine/environments/staging/identities',
      [{ key: 'k', values: {} }],
    );

    expect(saved.objects).toMatchObject([{ key: 'k', environmentId: twin.id }]);
  });

  it('is refused where it could mean either', async () => {
    await client.ok('POST', '/workspaces', { name: 'Other twin' });
    await client.ok('POST', '/environments/ws/Other%20twin', { name: 'staging' });
    await client.ok('POST', '/trafficTypes/ws/Other%20twin', { name: 'user' });
    for (const workspace of ['Other%20twin', 'Default']) {
      await client.ok('POST', `/segments/ws/${workspace}/trafficTypes/user`, { name: 'both' });
    }

    expect(await client.status('POST', '/segments/staging/both')).toBe(400);
  });
});
