import { describe, expect, it } from 'vitest';
import type {
  WireDefinition,
  WireEnvironment,
  WireFlag,
  WirePage,
  WireTrafficType,
  WireWorkspace,
} from '../../src/admin-api/wire.js';
import { aDefinition, at, callsOf, ruleOn, type Request } from '../support/service-calls.js';
import { aService } from '../support/service.js';

const service = aService();
const client = callsOf(service);

/** A workspace with a traffic type `user`. Gives the path of its flags. */
async function workspaceCalled(name: string, ...environments: string[]): Promise<string> {
  await client.ok('POST', '/workspaces', { name });
  await client.ok('POST', `/trafficTypes/ws/${name}`, { name: 'user' });
  for (const each of environments)
    await client.ok('POST', `/environments/ws/${name}`, { name: each });
  return `/splits/ws/${name}`;
}

describe('lists of flags and definitions', () => {
  it('are in the order of names, whatever their case, in pages of twenty and at most fifty', async () => {
    const path = await workspaceCalled('Lists', 'dev');
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
    const path = await workspaceCalled('Same');
    const { id } = await client.ok<WireEnvironment>('POST', '/environments/ws/Same', {
      name: 'the "live" one \\ größte 🚩',
    });
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
    const path = await workspaceCalled('Gaps', 'dev', 'live');
    for (const name of ['a', 'b', 'c', 'd', 'e']) {
      await client.ok('POST', `${path}/trafficTypes/user`, { name });
      if ('ace'.includes(name)) {
        await client.ok('POST', `${path}/${name}/environments/live`, aDefinition());
      }
    }
    const page = async (query: string): Promise<[readonly string[], number]> => {
      const url = `${path}/environments/${query}`;
      const { objects, totalCount } = await client.ok<WirePage<WireDefinition>>('GET', url);
      return [objects.map(({ name }) => name), totalCount];
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
    const path = '/splits/ws/Default/environments';

    expect(
      await client.statuses(['GET', `${path}/staging?limit=0`], ['GET', `${path}/nowhere?limit=0`]),
    ).toEqual([400, 404]);
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

    const patch = (path: string, value: unknown) => ({ op: 'replace', path, value });
    const end = [patch('/killed', false), patch('/trafficAllocation', 50)];
    await client.ok('PATCH', `${at('kill-patch')}?title=t&comment=c`, [patch('/killed', true)]);
    await client.ok('PATCH', at('kill-patch'), end);

    const changes = await service.audit({ kind: 'flag', name: 'kill-patch' });
    expect(changes.slice(0, 2)).toMatchObject([
      { action: 'restore', title: null },
      { action: 'kill', title: 't', comment: 'c' },
    ]);
  });
});

describe('PUT of a definition', () => {
  const PARTS = ['treatments', 'defaultTreatment', 'defaultRule'] as const;
  const bare = (changed: object = {}): object =>
    Object.fromEntries(
      Object.entries(aDefinition(changed)).filter(([name]) => PARTS.some((part) => part === name)),
    );

  it('keeps a kill, a rollout to 5 % and the baseline that it does not name, and empties rules and keys', async () => {
    const kept = { killed: true, trafficAllocation: 5, baselineTreatment: 'on' };
    const rules = [ruleOn({ type: 'BOOLEAN', attribute: 'paid', bool: true })];
    const treatments = [{ name: 'on', keys: ['ana'] }, { name: 'off' }];
    await client.define('put', { ...kept, rules, treatments });

    const after = await client.ok<WireDefinition>('PUT', at('put'), bare());

    expect(after).toMatchObject({ ...kept, rules: [] });
    expect(after.treatments.map(({ keys }) => keys)).toEqual([undefined, undefined]);
    expect(await client.ok('GET', at('put'))).toEqual(after);
  });

  it('takes the default treatment as the baseline where the baseline treatment is gone', async () => {
    await client.define('put-baseline', { baselineTreatment: 'on' });
    const treatments = [{ name: 'new' }, { name: 'off' }];

    const after = await client.ok('PUT', at('put-baseline'), bare({ treatments }));

    expect(after).toMatchObject({ baselineTreatment: 'off' });
  });
});

describe('a flag without a definition', () => {
  it('is not changed there', async () => {
    await client.flag('bare');

    expect(
      await client.statuses(
        ['PUT', at('bare'), aDefinition()],
        ['PUT', `${at('bare')}/kill`],
        ['POST', `${at('bare')}/restore`],
        ['POST', `${at('bare')}/reallocate`],
      ),
    ).toEqual([404, 404, 404, 404]);
  });
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

    const path = '/tags/ws/Default/object/tagged/objecttype/Split';
    const answer = await client.ok('POST', path, ['a', 'b']);

    const objects = ['a', 'b'].map((name) => {
      return { name, objectType: 'Split', objectName: 'tagged' };
    });
    expect(answer).toEqual({
      objects,
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
    const shown = { name: 'shown', description: 'd' };
    await client.ok('POST', '/segments/ws/Default/trafficTypes/account', shown);
    const list = async () =>
      client.ok<WirePage<object>>('GET', '/segments/ws/Default/environments/production');
    const before = await list();

    const active = await client.ok('POST', '/segments/production/shown');
    const again = await client.ok('POST', '/segments/production/shown');

    expect(await client.ok('GET', '/segments/ws/Default/shown')).toMatchObject({
      ...shown,
      trafficType: { name: 'account' },
    });
    expect(again).toEqual(active);
    expect(before.totalCount).toBe(0);
    expect(await list()).toEqual({ objects: [active], offset: 0, limit: 20, totalCount: 1 });
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
    for (const path of [
      '/environments/ws/Renamed/live',
      `/trafficTypes/${trafficType.id}`,
      `/workspaces/${workspace.id}`,
    ]) {
      expect(await client.ok('DELETE', path)).toBe(true);
    }
    expect(await client.status('GET', '/environments/ws/Renamed')).toBe(404);
  });

  it('keep their names for themselves, and stay while something is in them', async () => {
    await client.ok('POST', '/workspaces', { name: 'Renamable' });
    await client.define('resident');
    const types = await client.ok<WireTrafficType[]>('GET', '/trafficTypes/ws/Default');
    const user = types.find(({ name }) => name === 'user');
    const renaming = (value: string) => [{ op: 'replace', path: '/name', value }];
    const requests: Request[] = [
      ['POST', '/workspaces', { name: 'Default' }],
      ['POST', '/environments/ws/Default', { name: 'staging' }],
      ['POST', '/trafficTypes/ws/Default', { name: 'user' }],
      ['PATCH', '/workspaces/Renamable', renaming('Default')],
      ['PATCH', '/environments/ws/Default/production', renaming('staging')],
      ['DELETE', '/environments/ws/Default/staging'],
      ['DELETE', `/trafficTypes/${user?.id ?? ''}`],
    ];

    expect(await client.statuses(...requests)).toEqual(requests.map(() => 409));
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

describe('an environment name that several workspaces have', () => {
  it('means the one whose workspace has the segment or the traffic type', async () => {
    await workspaceCalled('Twin', 'staging');
    await client.ok('POST', '/trafficTypes/ws/Twin', { name: 'machine' });
    await client.ok('POST', '/segments/ws/Twin/trafficTypes/user', { name: 'only-here' });
    const [twin] = await client.ok<WireEnvironment[]>('GET', '/environments/ws/Twin');

    const active = await client.ok('POST', '/segments/staging/only-here');
    const identities = '/trafficTypes/machine/environments/staging/identities';
    const saved = await client.ok('POST', identities, [{ key: 'k', values: {} }]);

    expect(active).toMatchObject({ environment: { id: twin?.id } });
    expect(saved).toMatchObject({ objects: [{ key: 'k', environmentId: twin?.id }] });
  });

  it('is refused where it could mean either', async () => {
    await workspaceCalled('Other', 'staging');
    for (const workspace of ['Other', 'Default']) {
      await client.ok('POST', `/segments/ws/${workspace}/trafficTypes/user`, { name: 'both' });
    }

    expect(await client.status('POST', '/segments/staging/both')).toBe(400);
  });
});
