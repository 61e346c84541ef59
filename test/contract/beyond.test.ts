import { describe, expect, it } from 'vitest';
import type {
  WireDefinition,
  WireEnvironment,
  WireFlag,
  WirePage,
  WireTrafficType,
} from '../../src/admin-api/wire.js';
import { expectAnswers, replacing } from '../support/exchanges.js';
import { aDefinition, at, callsOf, ruleOn } from '../support/service-calls.js';
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

  it('are those of the environment whose name looks like the id of another', async () => {
    const name = '6f1c2f4e-0000-4000-8000-000000000000';
    const path = await workspaceCalled('Names like ids', name, 'dev');
    await client.ok('POST', `${path}/trafficTypes/user`, { name: 'here' });
    await client.ok('POST', `${path}/trafficTypes/user`, { name: 'there' });
    await client.ok('POST', `${path}/here/environments/${name}`, aDefinition());
    await client.ok('POST', `${path}/there/environments/dev`, aDefinition());

    const list = await client.ok<WirePage<WireDefinition>>('GET', `${path}/environments/${name}`);

    expect(list).toMatchObject({ offset: 0, limit: 20, totalCount: 1 });
    expect(list.objects).toEqual([await client.ok('GET', `${path}/here/environments/${name}`)]);
    const later = await client.ok('GET', `${path}/environments/${name}?offset=1`);
    expect(later).toEqual({ objects: [], offset: 1, limit: 20, totalCount: 1 });
  });

  it('are refused for their place before their page', async () => {
    const path = '/splits/ws/Default/environments';
    const here = `${path}/staging?limit=0`;

    await expectAnswers(client, [400, 'GET', here], [404, 'GET', `${path}/nowhere?limit=0`]);
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

  it('of a tag have no flag with the same tag in other letters, in either store', async () => {
    await client.flag('in-capitals', { tags: [{ name: 'iOS' }] });

    const found = { objects: [{ name: 'in-capitals' }], totalCount: 1 };
    expect(await client.ok('GET', '/splits/ws/Default?tag=iOS')).toMatchObject(found);
    expect(await client.ok('GET', '/splits/ws/Default?tag=ios')).toMatchObject({ totalCount: 0 });
  });

  it('are like that of traffic types, which are in the order of names as well', async () => {
    await workspaceCalled('Typed');
    for (const name of ['Zone', 'account']) {
      await client.ok('POST', '/trafficTypes/ws/Typed', { name });
    }

    const types = await client.ok<WireTrafficType[]>('GET', '/trafficTypes/ws/Typed');
    expect(types.map(({ name }) => name)).toEqual(['account', 'user', 'Zone']);
  });
});

describe('a kill', () => {
  it.each(['PUT', 'POST'])(
    'and a restore by %s answer true and change nothing else',
    async (method) => {
      const before = await client.define(`kill-${method}`);
      const path = at(`kill-${method}`);
      const now = async () => client.ok<WireDefinition>('GET', path);

      expect(await client.ok(method, `${path}/kill`, { comment: 'c' })).toBe(true);
      expect(await client.ok(method, `${path}/kill`)).toBe(true);
      const { lastUpdateTime, ...during } = await now();
      expect({ ...during, lastUpdateTime }).toEqual({ ...before, killed: true, lastUpdateTime });
      expect(await client.ok(method, `${path}/restore`)).toBe(true);
      const after = await now();
      expect(after).toEqual({ ...before, lastUpdateTime: after.lastUpdateTime });
    },
  );

  it('by PATCH is recorded as what it is', async () => {
    await client.define('kill-patch');

    const end = [...replacing('/killed', false), ...replacing('/trafficAllocation', 50)];
    await client.ok('PATCH', `${at('kill-patch')}?title=t&comment=c`, replacing('/killed', true));
    await client.ok('PATCH', at('kill-patch'), end);

    const changes = await service.audit({ kind: 'flag', name: 'kill-patch' });
    expect(changes.slice(0, 2)).toMatchObject([
      { action: 'restore', title: null },
      { action: 'kill', title: 't', comment: 'c' },
    ]);
  });
});

describe('a text that is cut', () => {
  it('holds no half of a character, which PostgreSQL would not store', async () => {
    await client.define('cut');
    const long = `${'t'.repeat(9_999)}😀`;
    await client.ok('PUT', `${at('cut')}/kill`, { title: long, comment: long });
    const name = `${'e'.repeat(100 - 'server_side '.length - 1)}😀`;
    await workspaceCalled('Cut', name);

    const [change] = await service.audit({ kind: 'flag', name: 'cut' });
    const whole = 't'.repeat(9_999);
    expect(change).toMatchObject({ action: 'kill', title: whole, comment: whole });
    const keys = await client.ok<{ name: string }[]>('GET', '/apiKeys');
    expect(keys.map((key) => key.name)).toContain(`server_side ${name.slice(0, -2)}`);
  });
});

describe('PUT of a definition', () => {
  const unnamed = ['killed', 'baselineTreatment', 'trafficAllocation', 'rules'];
  const bare = (changed: object = {}): object => ({
    ...aDefinition(changed),
    ...Object.fromEntries(unnamed.map((name) => [name, undefined])),
  });

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

it('a flag without a definition is not changed there', async () => {
  await client.flag('bare');

  await expectAnswers(
    client,
    [404, 'PUT', at('bare'), aDefinition()],
    [404, 'PUT', `${at('bare')}/kill`],
    [404, 'POST', `${at('bare')}/restore`],
    [404, 'POST', `${at('bare')}/reallocate`],
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

    const path = '/tags/ws/Default/object/tagged/objecttype/Split';
    const answer = await client.ok('POST', path, ['a', 'b']);

    const tags = [{ name: 'a' }, { name: 'b' }];
    const objects = tags.map((tag) => ({ ...tag, objectType: 'Split', objectName: 'tagged' }));
    expect(answer).toEqual({ objects, offset: 0, limit: 20, totalCount: 2 });
    expect(await client.ok('GET', '/splits/ws/Default/tagged')).toMatchObject({ tags });
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

it('segments are shown one by one and by environment', async () => {
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

describe('workspaces, environments and traffic types', () => {
  it('are created, changed and deleted', async () => {
    const create = async (path: string, body: object): Promise<{ readonly id: string }> =>
      client.ok('POST', path, body);
    const words = { name: 'Second', requiresTitleAndComments: true };
    const workspace = await create('/workspaces', words);
    const dev = { name: 'dev', production: false };
    const environment = await create('/environments/ws/Second', dev);
    const trafficType = await create('/trafficTypes/ws/Second', { name: 'device' });
    const statuses = await client.ok<{ id: string }[]>('GET', '/rolloutStatuses/ws/Second');
    const others = await client.ok<{ id: string }[]>('GET', '/rolloutStatuses?wsId=Default');

    await client.ok('PATCH', `/workspaces/${workspace.id}`, [
      ...replacing('/name', 'Renamed'),
      ...replacing('/requiresTitleAndComments', false),
    ]);
    await client.ok('PATCH', '/environments/ws/Renamed/dev', [
      ...replacing('/name', 'live'),
      ...replacing('/production', 'true'),
    ]);

    expect(statuses).toHaveLength(9);
    expect(statuses.map(({ id }) => id)).not.toEqual(others.map(({ id }) => id));
    expect(environment).toMatchObject({
      changePermissions: { areApprovalsRequired: false, allowKills: false },
    });
    expect(await client.ok('GET', '/environments/ws/Renamed')).toEqual([
      { id: environment.id, name: 'live', production: true },
    ]);
    expect(await client.ok('GET', '/workspaces?name=Renamed')).toMatchObject({
      objects: [{ id: workspace.id, name: 'Renamed', requiresTitleAndComments: false }],
      totalCount: 1,
    });
    await expectAnswers(client, [409, 'DELETE', `/workspaces/${workspace.id}`]);
    const parts = ['/environments/ws/Renamed/live', `/trafficTypes/${trafficType.id}`];
    for (const path of [...parts, `/workspaces/${workspace.id}`]) {
      expect(await client.ok('DELETE', path)).toBe(true);
    }
    await expectAnswers(client, [404, 'GET', '/environments/ws/Renamed']);
  });

  it('keep their names for themselves, and stay while something is in them', async () => {
    await client.ok('POST', '/workspaces', { name: 'Renamable' });
    await client.define('resident');
    const types = await client.ok<WireTrafficType[]>('GET', '/trafficTypes/ws/Default');
    const user = types.find(({ name }) => name === 'user');

    await expectAnswers(
      client,
      [409, 'POST', '/workspaces', { name: 'Default' }],
      [409, 'POST', '/environments/ws/Default', { name: 'staging' }],
      [409, 'POST', '/trafficTypes/ws/Default', { name: 'user' }],
      [409, 'PATCH', '/workspaces/Renamable', replacing('/name', 'Default')],
      [409, 'PATCH', '/environments/ws/Default/production', replacing('/name', 'staging')],
      [409, 'DELETE', '/environments/ws/Default/staging'],
      [409, 'DELETE', `/trafficTypes/${user?.id ?? ''}`],
    );
  });

  it('are found by the start or a part of their name', async () => {
    const found = { objects: [{ name: 'Default' }], totalCount: 1 };
    const none = { objects: [], totalCount: 0 };

    await expectAnswers(
      client,
      [200, 'GET', '/workspaces?name=Def', undefined, none],
      [200, 'GET', '/workspaces?name=Default&nameOp=IS', undefined, found],
      [200, 'GET', '/workspaces?name=Def&nameOp=STARTS_WITH', undefined, found],
      [200, 'GET', '/workspaces?name=faul&nameOp=STARTS_WITH', undefined, none],
      [200, 'GET', '/workspaces?name=faul&nameOp=CONTAINS', undefined, found],
    );
  });
});

it('an environment name that several workspaces have means the one whose workspace has the segment or the traffic type, and is refused where both have', async () => {
  await workspaceCalled('Twin', 'staging');
  await client.ok('POST', '/trafficTypes/ws/Twin', { name: 'machine' });
  await client.ok('POST', '/segments/ws/Twin/trafficTypes/user', { name: 'only-here' });
  const [twin] = await client.ok<WireEnvironment[]>('GET', '/environments/ws/Twin');

  const active = await client.ok('POST', '/segments/staging/only-here');
  const identities = '/trafficTypes/machine/environments/staging/identities';
  const saved = await client.ok('POST', identities, [{ key: 'k', values: {} }]);

  expect(active).toMatchObject({ environment: { id: twin?.id } });
  expect(saved).toMatchObject({ objects: [{ key: 'k', environmentId: twin?.id }] });
  for (const workspace of ['Twin', 'Default']) {
    await client.ok('POST', `/segments/ws/${workspace}/trafficTypes/user`, { name: 'both' });
  }
  expect(await client.status('POST', '/segments/staging/both')).toBe(400);
});
