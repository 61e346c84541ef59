import { describe, expect, it } from 'vitest';
import type { WireIdentity } from '../../src/admin-api/wire.js';
import type { AuditEntry } from '../../src/service/store/audit.js';
import { replacing } from '../support/exchanges.js';
import { aDefinition, at, callsOf } from '../support/service-calls.js';
import { aService } from '../support/service.js';

/** Each change leaves a row that says what it was, and nothing else does. */
const service = aService({ strict: false });
const client = callsOf(service);

/** What the rows of one object say was done, the oldest first. */
async function actionsOf(kind: string, name: string): Promise<string[]> {
  const rows = await service.audit({ kind, name });
  return rows.map(({ action }) => action).reverse();
}

describe('the audit log tells of', () => {
  it('workspaces and their traffic types', async () => {
    await client.ok('POST', '/workspaces', { name: 'short' });
    const wordy = replacing('/requiresTitleAndComments', true);
    for (const patch of [wordy, wordy]) await client.ok('PATCH', '/workspaces/short', patch);
    const visitor = { name: 'visitor' };
    const { id } = await client.ok<{ id: string }>('POST', '/trafficTypes/ws/short', visitor);
    await client.ok('DELETE', `/trafficTypes/${id}`);
    await client.ok('DELETE', '/workspaces/short');

    expect(await actionsOf('workspace', 'short')).toEqual(['create', 'update', 'delete']);
    expect(await actionsOf('traffic-type', 'visitor')).toEqual(['create', 'delete']);
    const [gone, made] = await service.audit({ kind: 'traffic-type', name: 'visitor' });
    expect(made?.difference).toContainEqual({ path: '/name', after: 'visitor' });
    expect(gone?.difference).toContainEqual({ path: '/name', before: 'visitor' });
  });

  it('environments, which say all that they are', async () => {
    const { apiTokens, ...created } = await client.ok<{
      apiTokens?: readonly { readonly key: string }[];
    }>('POST', '/environments/ws/Default', {
      name: 'passing',
      production: true,
      changePermissions: { areApprovalsRequired: true, allowKills: 'true' },
    });
    const calm = replacing('/changePermissions/areApprovalsRequired', false);
    const changed = await client.ok('PATCH', '/environments/ws/Default/passing', calm);
    await client.ok('DELETE', '/environments/ws/Default/passing');

    expect(created).toEqual({
      id: expect.any(String) as string,
      name: 'passing',
      production: true,
      creationTime: expect.any(Number) as number,
      type: 'environment',
      status: 'ACTIVE',
      changePermissions: { areApprovalsRequired: true, allowKills: true },
    });
    expect(changed).toMatchObject({
      changePermissions: { areApprovalsRequired: false, allowKills: true },
    });
    expect(await actionsOf('environment', 'passing')).toEqual(['create', 'update', 'delete']);
    const told = await service.audit({ kind: 'environment', name: 'passing' });
    for (const { key } of apiTokens ?? []) expect(JSON.stringify(told)).not.toContain(key);
    const [, update] = told;
    expect(update?.difference).toEqual([
      {
        path: '/changePermissions',
        before: { areApprovalsRequired: true, allowKills: true },
        after: { areApprovalsRequired: false, allowKills: true },
      },
    ]);
  });

  it('identities, by what each request changed', async () => {
    const path = '/trafficTypes/user/environments/staging/identities';
    const saved: WireIdentity['values'][] = [];
    const save = async (method: string, place: string, values: object): Promise<void> => {
      saved.push((await client.ok<WireIdentity>(method, `${path}${place}`, { values })).values);
    };

    await client.ok('POST', path, [{ key: 'i', values: { plan: 'pro', paid: true } }]);
    await client.ok('POST', path, [{ key: 'i', values: { plan: 'pro' } }]);
    await save('PATCH', '/i', { seats: 3 });
    await save('POST', '/i/patch', { plan: 'free' });
    await save('PUT', '/i', { plan: 'free' });
    await client.ok('DELETE', `${path}/i`);
    expect(await client.status('DELETE', `${path}/i`)).toBe(404);

    expect(saved).toEqual([
      { plan: 'pro', paid: 'true', seats: '3' },
      { plan: 'free', paid: 'true', seats: '3' },
      { plan: 'free' },
    ]);
    const updates = ['update', 'update', 'update'];
    expect(await actionsOf('identity', 'i')).toEqual(['create', ...updates, 'delete']);
  });

  it('definitions, with individual targets by number and sample, also when they go with their flag', async () => {
    const keys = Array.from({ length: 25 }, (_, index) => `k${index + 10}`);
    await client.define('told', { treatments: [{ name: 'on' }, { name: 'off' }] });

    const targeted = aDefinition({ treatments: [{ name: 'on', keys }, { name: 'off' }] });
    for (const body of [targeted, targeted]) await client.ok('PUT', at('told'), body);
    await client.ok('DELETE', '/splits/ws/Default/told?title=t&comment=c');

    const actions = ['create', 'create', 'update', 'delete', 'delete'];
    expect(await actionsOf('flag', 'told')).toEqual(actions);
    const [flag, inStaging, update] = await service.audit({ kind: 'flag', name: 'told' });
    expect(flag).toMatchObject({ environment: null, title: 't', comment: 'c' });
    expect(inStaging).toMatchObject({ environment: 'staging', title: 't' });
    expect(inStaging?.difference).toEqual(
      expect.arrayContaining([
        { path: '/defaultRule', before: [{ treatment: 'off', size: 100 }] },
        { path: '/targets/on', added: 0, removed: 25, sample: keys.slice(0, 20) },
      ]),
    );
    const time = expect.any(Number) as number;
    expect(update?.difference).toEqual([
      { path: '/lastUpdateTime', before: time, after: time },
      { path: '/targets/on', added: 25, removed: 0, sample: keys.slice(0, 20) },
    ]);
  });

  it('keys of segments, which may go with it, and none where there are none', async () => {
    const keys = Array.from({ length: 30 }, (_, index) => `k${index + 10}`);
    await client.ok('PUT', `${await client.segment('full')}/upload`, keys);
    await client.segment('empty');
    await client.ok('POST', '/segments/staging/empty');
    await client.ok('PUT', '/segments/staging/empty/removeKeys', { keys: ['a', ''] });
    for (const name of ['full', 'empty']) await client.ok('DELETE', `/segments/ws/Default/${name}`);

    expect(await actionsOf('segment', 'empty')).toEqual(['create', 'activate', 'delete', 'delete']);
    const [, empty] = await service.audit({ kind: 'segment', name: 'empty' });
    const [whole, full] = await service.audit({ kind: 'segment', name: 'full' });
    expect([whole?.environment, full?.environment]).toEqual([null, 'staging']);
    const gone = { path: '/keys', added: 0, removed: 30, sample: keys.slice(0, 20) };
    expect(full?.difference).toContainEqual(gone);
    expect(empty?.difference).not.toContainEqual(expect.objectContaining({ path: '/keys' }));
  });

  it('what is asked for, by kind and name, environment and workspace', async () => {
    await client.ok('POST', '/workspaces', { name: 'Seeking' });
    await client.ok('POST', '/trafficTypes/ws/Seeking', { name: 'user' });
    await client.ok('POST', '/splits/ws/Seeking/trafficTypes/user', { name: 'sought' });
    await client.ok('POST', '/segments/ws/Default/trafficTypes/user', { name: 'sought' });
    await client.flag('sought');
    await client.ok('POST', at('sought', 'production'), aDefinition());
    const rows = async (query: string): Promise<readonly AuditEntry[]> =>
      (await client.ok<{ objects: AuditEntry[] }>('GET', `/auditLog/ws/Default?${query}`)).objects;

    const both = await rows('object=flag/sought&environment=');
    const all = await rows('object=');

    expect(both.map(({ environment }) => environment)).toEqual(['production', null]);
    const named = await rows('object=sought');
    expect(named.map(({ kind }) => kind)).toEqual(['flag', 'flag', 'segment']);
    expect(named.slice(0, 2)).toEqual(both);
    expect(await rows('object=flag/sought&environment=production')).toEqual(both.slice(0, 1));
    expect(await rows('object=segment/sought')).toEqual(named.slice(2));
    expect(all.length).toBeGreaterThan(both.length);
    expect(await rows('')).toEqual(all);
  });
});
