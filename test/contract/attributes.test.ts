import { describe, expect, it } from 'vitest';
import type { WireDefinition } from '../../src/admin-api/wire.js';
import { expectAnswers } from '../support/exchanges.js';
import { at, callsOf } from '../support/service-calls.js';
import { aService } from '../support/service.js';

/** Attributes of traffic types, and reallocation: what public documentation and clients have beyond the contract. */
const service = aService({ strict: false });
const client = callsOf(service);

const USER = '/schema/ws/Default/trafficTypes/user';
const ACCOUNT = '/schema/ws/Default/trafficTypes/account';

interface Attribute {
  readonly id: string;
  readonly trafficTypeId: string;
}
interface Page {
  readonly objects: readonly Attribute[];
  readonly nextMarker: string | null;
  readonly previousMarker: string | null;
}

const idsOf = (attributes: readonly Attribute[]): string[] => attributes.map(({ id }) => id);

describe('an attribute of a traffic type', () => {
  it('is created, replaced as a whole, changed in part, and forgotten', async () => {
    const created = await client.ok<Attribute>('POST', USER, {
      id: 'plan',
      displayName: 'Plan',
      dataType: 'STRING',
      suggestedValues: ['free', 'paid'],
    });
    const described = { description: 'What they pay', dataType: 'number' };
    const replaced = await client.ok('PUT', USER, { id: 'plan', ...described });
    const changed = await client.ok('PATCH', `${USER}/plan`, { isSearchable: true });
    const listed = await client.ok('GET', USER);
    const forgotten = await client.ok('DELETE', `${USER}/plan`);

    // The data type is as its client wrote it.
    const bare = { ...created, displayName: '', suggestedValues: [], ...described };
    expect(created).toEqual({
      id: 'plan',
      trafficTypeId: expect.any(String) as string,
      displayName: 'Plan',
      description: '',
      dataType: 'STRING',
      isSearchable: false,
      suggestedValues: ['free', 'paid'],
    });
    expect(replaced).toEqual(bare);
    expect(changed).toEqual({ ...bare, isSearchable: true });
    expect(listed).toEqual([changed]);
    expect([forgotten, await client.ok('GET', USER)]).toEqual([true, []]);
  });

  it('belongs to one traffic type, which clients name by id or name, and has no type at first', async () => {
    const [account] = await client.ok<Attribute[]>('POST', `${ACCOUNT}/attribute:bulk`, [
      { id: 'seats', trafficTypeId: 'account', displayName: null },
    ]);

    const byId = ACCOUNT.replace(/account$/, account?.trafficTypeId ?? '');
    expect(account).toMatchObject({ dataType: null });
    await expectAnswers(client, [400, 'POST', USER, { ...account }]);
    expect(await client.ok('GET', byId)).toEqual([account]);
    expect(await client.ok('GET', USER)).toEqual([]);
    await client.ok('DELETE', `${byId}/seats`);
  });

  it('is refused where it is none, or where there is none', async () => {
    await expectAnswers(
      client,
      [400, 'POST', USER, { id: '1st' }],
      [400, 'POST', USER, { id: 'plan', dataType: 'money' }],
      [400, 'POST', USER, { id: 'plan', displayname: 'misspelt' }],
      [400, 'POST', USER, { displayName: 'without an id' }],
      [400, 'POST', `${USER}/attribute:bulk`, { id: 'plan' }],
      [404, 'PATCH', `${USER}/absent`, { description: '' }],
      [404, 'DELETE', `${USER}/absent`],
      [404, 'GET', '/schema/ws/Default/trafficTypes/absent'],
      [404, 'GET', '/schema/ws/absent/trafficTypes/user'],
      [400, 'GET', `${ACCOUNT}?markerLimit=99999999999999999999`],
      [400, 'GET', `${ACCOUNT}?paginate=true&markerLimit=x`],
    );
  });

  it('is made with all others of a list, or with none', async () => {
    const answer = await client.call('POST', `${USER}/attribute:bulk`, [
      { id: 'first' },
      { id: 'second', trafficTypeId: 'account' },
    ]);

    expect([answer.status, await client.ok('GET', USER)]).toEqual([400, []]);
  });

  it('has a row in the audit log for each change, and none for a change of nothing', async () => {
    await client.ok('POST', USER, { id: 'noted', description: 'a' });
    await client.ok('POST', USER, { id: 'noted', description: 'a' });
    await client.ok('PATCH', `${USER}/noted`, { description: 'b' });
    await client.ok('DELETE', `${USER}/noted`);

    const { objects } = await client.ok<{ objects: { action: string; difference: unknown[] }[] }>(
      'GET',
      '/auditLog/ws/Default?object=attribute/user/noted',
    );
    expect(objects.map(({ action }) => action)).toEqual(['delete', 'update', 'create']);
    expect(objects[1]?.difference).toEqual([{ path: '/description', before: 'a', after: 'b' }]);
  });

  it('goes with its traffic type, and with its workspace', async () => {
    await client.ok('POST', '/workspaces', { name: 'brief' });
    const type = await client.ok<Attribute>('POST', '/trafficTypes/ws/brief', { name: 'one' });
    await client.ok('POST', '/trafficTypes/ws/brief', { name: 'two' });
    for (const name of ['one', 'two']) {
      await client.ok('POST', `/schema/ws/brief/trafficTypes/${name}`, { id: 'a' });
    }

    expect(await client.ok('DELETE', `/trafficTypes/${type.id}`)).toBe(true);
    expect(await client.ok('DELETE', '/workspaces/brief')).toBe(true);
  });
});

const page = async (query: string): Promise<Page> =>
  client.ok('GET', `${ACCOUNT}?paginate=true&markerLimit=2${query}`);

it('pages of attributes lead forward, back, and to themselves by their markers, and hold those that begin as asked for', async () => {
  const given = ['a1', 'a2', 'a3', 'a4', 'a5'].map((id) => ({ id }));
  await client.ok('POST', `${ACCOUNT}/attribute:bulk`, given);

  const first = await page('');
  const second = await page(`&afterMarker=${first.nextMarker ?? ''}`);
  const third = await page(`&afterMarker=${second.nextMarker ?? ''}`);
  const back = await page(`&beforeMarker=${third.previousMarker ?? ''}`);
  const again = await page(`&afterMarker=${second.previousMarker ?? ''}`);

  expect([first, second, third].map(({ objects }) => idsOf(objects))).toEqual([
    ['a1', 'a2'],
    ['a3', 'a4'],
    ['a5'],
  ]);
  expect([first.previousMarker, third.nextMarker]).toEqual([null, null]);
  expect([idsOf(back.objects), idsOf(again.objects)]).toEqual([
    ['a3', 'a4'],
    ['a3', 'a4'],
  ]);
  expect(idsOf((await page('&searchPrefix=A3')).objects)).toEqual(['a3']);
});

it('reallocation leaves a definition but for its seeds and the time of its last change, and is in the audit log', async () => {
  const path = at('drawn');
  const before = await client.define('drawn');

  expect(await client.ok('POST', `${path}/reallocate`, { comment: 'A new draw' })).toBe(true);

  const after = await client.ok<WireDefinition & Record<string, unknown>>('GET', path);
  const { lastUpdateTime, seed, trafficAllocationSeed } = after;
  expect(after).toEqual({ ...before, lastUpdateTime, seed, trafficAllocationSeed });
  expect(lastUpdateTime).toBeGreaterThan(before.lastUpdateTime);
  const entry = { action: 'reallocate', comment: 'A new draw', environment: 'staging' };
  expect((await service.audit({ name: 'drawn' }))[0]).toMatchObject(entry);
});
