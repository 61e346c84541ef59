import { beforeAll, describe, expect, it } from 'vitest';
import type { WireDefinition } from '../../src/admin-api/wire.js';
import { aDefinition, callsOf, ruleOn } from '../support/service-calls.js';
import { aService } from '../support/service.js';

/** What bodies may say where the contract shows no such operation. */
const service = aService();
const client = callsOf(service);

beforeAll(async () => {
  await client.flag('known');
  await client.ok('POST', FLAG, aDefinition());
});

const FLAG = '/splits/ws/Default/known/environments/staging';
const IDENTITY = '/trafficTypes/user/environments/staging/identities/a';

describe('a body beyond the contract', () => {
  it.each<[string, string, object, string]>([
    ['POST', '/workspaces', { name: 'W', requireTitle: true }, 'has no member requireTitle'],
    ['POST', '/environments/ws/Default', { name: 'e', prodution: true }, 'has no member prodution'],
    [
      'POST',
      '/environments/ws/Default',
      { name: 'e', changePermissions: { areAprovalsRequired: true } },
      'has no member areAprovalsRequired',
    ],
    ['POST', '/trafficTypes/ws/Default', { name: 't', x: 1 }, 'has no member x'],
    ['POST', '/apiKeys', { name: 'k', enviroments: ['staging'] }, 'has no member enviroments'],
    ['PUT', `${FLAG}/kill`, { coment: 'c' }, 'has no member coment'],
    ['POST', `${FLAG}/restore`, { reason: 'c' }, 'has no member reason'],
    ['PUT', FLAG, aDefinition({ trafficAlocation: 5 }), 'has no member trafficAlocation'],
    ['PUT', IDENTITY, { valeus: { plan: 'pro' } }, 'has no member valeus'],
    ['PATCH', IDENTITY, { valeus: { plan: 'pro' } }, 'has no member valeus'],
  ])('of %s %s with a member that nobody knows is refused: %j', async (method, path, body, why) => {
    const before = await client.ok('GET', '/auditLog');

    const answer = await client.call(method, path, body);

    expect(answer).toMatchObject({ status: 400 });
    expect(answer.body).toMatchObject({ message: expect.stringContaining(why) as string });
    expect(await client.ok('GET', '/auditLog')).toEqual(before);
  });

  it('is refused where nobody would enforce it', async () => {
    expect(
      await client.statuses(
        ['POST', '/environments/ws/Default', permitting({ approvers: ['ana'] })],
        ['POST', '/environments/ws/Default', permitting({ areEditorsRestricted: true })],
        ['POST', '/apiKeys', { name: 'k', roles: ['API_FEATURE_FLAG_VIEWER'] }],
      ),
    ).toEqual([400, 400, 400]);
  });

  it('may hold what public documentation names, where it asks for nothing', async () => {
    const permissions = { areApproversRestricted: false, approvers: [], editors: [] };
    await client.ok('POST', '/environments/ws/Default', {
      name: 'asked for nothing',
      ...permitting(permissions),
      dataExportPermissions: { areExportersRestricted: false, exporters: [] },
    });
    await client.ok('POST', '/apiKeys', { name: 'all', roles: ['API_ALL_GRANTED'] });
    for (const body of [undefined, {}, [], { comment: 'c', title: 't' }]) {
      await client.ok('PUT', `${FLAG}/kill`, body);
    }
  });

  it.each([
    ['another key', { key: 'b' }, 'key is not that of the path'],
    ['another traffic type', { trafficTypeId: 'x' }, 'trafficTypeId is not that of the path'],
  ])('of an identity that names %s than its path is refused', async (_what, body, why) => {
    const answer = await client.call('PUT', IDENTITY, { values: {}, ...body });

    expect(answer).toMatchObject({ status: 400, body: { message: why } });
    const saved = await client.ok<object>('PUT', IDENTITY, { key: 'a', values: { plan: 'pro' } });
    expect(await client.ok('PATCH', IDENTITY, saved)).toEqual(saved);
  });
});

describe('what an earlier version kept', () => {
  it('does not stand in the way of a patch or a kill', async () => {
    await client.flag('older');
    const path = '/splits/ws/Default/older/environments/staging';
    const paid = { type: 'BOOLEAN', attribute: 'paid', bool: true };
    await client.ok('POST', path, aDefinition({ rules: [ruleOn(paid)] }));

    // A patch keeps such members as it finds them; this is also how one comes in here.
    const odd = [
      { op: 'add', path: '/treatments/0/odd', value: 1 },
      { op: 'add', path: '/rules/0/condition/matchers/0/odd', value: 1 },
    ];
    await client.ok('PATCH', path, odd);
    await client.ok('PUT', `${path}/kill`);
    const after = await client.ok<WireDefinition>('PATCH', path, [
      { op: 'replace', path: '/trafficAllocation', value: 5 },
    ]);

    expect(after).toMatchObject({ killed: true, trafficAllocation: 5 });
    expect(after.treatments[0]).toMatchObject({ odd: 1 });
  });
});

function permitting(changePermissions: object): object {
  return { name: `e${Object.keys(changePermissions).join('')}`, changePermissions };
}
