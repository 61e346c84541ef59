import { beforeAll, describe, expect, it } from 'vitest';
import type { WireDefinition, WireFlag, WireRolloutStatus } from '../../src/admin-api/wire.js';
import {
  expectAnswers,
  expectRefusedMembers,
  refusal,
  replacing,
  type Exchange,
} from '../support/exchanges.js';
import { aDefinition, at, callsOf, ruleOn } from '../support/service-calls.js';
import { aService } from '../support/service.js';

/**
 * What bodies may say and what they may not, by nothing but the endpoints that the contract shows.
 */
const service = aService();
const client = callsOf(service);

const FLAGS = '/splits/ws/Default/trafficTypes/user';
const SEGMENTS = '/segments/ws/Default/trafficTypes/user';
const IDENTITIES = '/trafficTypes/user/environments/staging/identities';
const PAID = { type: 'BOOLEAN', attribute: 'paid', bool: true };

describe('a patch', () => {
  it('leaves nothing to chance: null and the removal of what is not optional are refused', async () => {
    const kept = { killed: true, trafficAllocation: 5, baselineTreatment: 'on' };
    const before = await client.define('kept', kept);
    const paths = ['/trafficAllocation', '/killed', '/defaultTreatment', '/baselineTreatment'];
    const operations = [
      ...[...paths, '/rules'].map((path) => ({ op: 'replace', path, value: null })),
      ...paths.map((path) => ({ op: 'remove', path })),
    ];

    await expectAnswers(
      client,
      ...operations.map((operation): Exchange => [400, 'PATCH', at('kept'), [operation]]),
    );
    expect(await client.ok('GET', at('kept'))).toEqual(before);
  });

  it('takes away what is optional', async () => {
    await client.define('lightened', { rules: [ruleOn(PAID)] });

    const removal = ['/rules', '/treatments/0/description'].map((path) => ({ op: 'remove', path }));
    const after = await client.ok('PATCH', at('lightened'), removal);

    expect(after).toMatchObject({ rules: [], treatments: [{ name: 'on', description: '' }, {}] });
  });
});

describe('keys of treatments', () => {
  const keysOf = ({ treatments }: WireDefinition) => treatments.map(({ keys }) => keys);

  it('echoes an empty list of keys, and no list where none was sent', async () => {
    const treatments = [{ name: 'on', description: '', keys: [] }, { name: 'off' }];

    const created = await client.define('empty-keys', { treatments });

    expect(keysOf(created)).toEqual([[], undefined]);
    expect(await client.ok('GET', at('empty-keys'))).toEqual(created);
  });

  it('takes a key for any treatment, also one without keys, or whose last key left', async () => {
    const path = at('first-key');
    await client.define('first-key', {
      treatments: [{ name: 'on', keys: ['a'] }, { name: 'off' }, { name: 'third' }],
    });
    const patched = async (...operations: object[]) =>
      keysOf(await client.ok<WireDefinition>('PATCH', path, operations));
    const add = (index: number, value: string) => {
      return { op: 'add', path: `/treatments/${index}/keys/-`, value };
    };

    expect(await patched(add(1, 'b'), add(1, 'c'))).toEqual([['a'], ['b', 'c'], undefined]);
    const left = await patched({ op: 'remove', path: '/treatments/0/keys/0' });
    expect(left).toEqual([[], ['b', 'c'], undefined]);
    expect(await patched(add(0, 'd'))).toEqual([['d'], ['b', 'c'], undefined]);
  });
});

describe('names of treatments', () => {
  it.each(['true', 'constructor', '__proto__', 'toString'])(
    'takes a treatment that is called %s',
    async (name) => {
      const flag = `named-${name}`;
      const created = await client.define(flag, {
        treatments: [
          { name, description: 'd', keys: ['a'] },
          { name: 'off', description: '' },
        ],
        defaultTreatment: name,
        baselineTreatment: name,
        defaultRule: [{ treatment: name, size: 100 }],
      });

      const after = await client.ok<WireDefinition>('PATCH', at(flag), [
        { op: 'add', path: '/treatments/0/keys/-', value: 'b' },
        { op: 'replace', path: '/killed', value: true },
      ]);

      expect(created).toMatchObject({ defaultTreatment: name, baselineTreatment: name });
      expect(after.treatments).toEqual([
        { name, description: 'd', keys: ['a', 'b'] },
        { name: 'off', description: '' },
      ]);
      const [change] = await service.audit({ kind: 'flag', name: flag, environment: 'staging' });
      const added = { path: `/targets/${name}`, added: 1, removed: 0, sample: ['b'] };
      expect(change?.difference).toContainEqual(added);
    },
  );
});

describe('a body', () => {
  const RANGE = { from: 1, to: 2, too: 3 };
  const BETWEEN = ruleOn({ type: 'BETWEEN_NUMBER', attribute: 'n', between: RANGE });

  it.each([
    ['a misspelt percentage', { trafficAlocation: 5 }],
    ['a bucket of two sizes', { defaultRule: [{ treatment: 'off', size: 100, sise: 5 }] }],
    ['an id of another flag', { id: '6f1c2f4e-0000-4000-8000-000000000000' }],
    ['the name of another flag', { name: 'another' }],
    ['another environment', { environment: { name: 'production' } }],
    ['another environment by its name alone', { environment: 'production' }],
    ['another traffic type', { trafficType: { name: 'account' } }],
    ['a misspelt list of targets', { treatments: [{ name: 'on', kyes: ['a'] }, { name: 'off' }] }],
    ['a matcher that is misspelt to its contrary', { rules: [ruleOn({ ...PAID, negat: true })] }],
    ['a member of a range that nobody reads', { rules: [BETWEEN] }],
  ])('that defines a flag is refused with %s', async (what, wrong) => {
    const name = `wrong-${what.replaceAll(' ', '-')}`;
    await client.flag(name);

    await expectAnswers(
      client,
      [400, 'POST', at(name), aDefinition(wrong)],
      [404, 'GET', at(name)],
      [200, 'POST', at(name), aDefinition()],
    );
  });

  it('that was read in one environment is refused in another', async () => {
    const read = await client.define('carried');
    const other = at('carried', 'production');

    await expectAnswers(client, [400, 'POST', other, read], [404, 'GET', other]);
  });

  it.each([
    ['POST', FLAGS, { name: 'odd', descripton: 'd' }],
    ['POST', FLAGS, { name: 'odd', trafficType: { name: 'account' } }],
    ['POST', SEGMENTS, { name: 'odd', keys: ['a'] }],
    ['PUT', '/segments/staging/odd/removeKeys', { keys: ['a'], coment: 'c' }],
    ['POST', FLAGS, { name: 'odd', tags: [{ name: 'web', color: 'red' }] }],
    ['POST', FLAGS, { name: 'odd', owners: [{ id: 'ana', type: 'User', role: 'admin' }] }],
    ['POST', IDENTITIES, [{ key: 'a', valeus: { plan: 'pro' } }]],
    ['POST', '/segments/staging/odd', { coment: 'c' }],
  ])('of %s %s with a member that nobody knows is refused: %j', async (method, path, body) => {
    await expectAnswers(client, [400, method, path, body, refusal(400, 'has no member')]);
  });
});

describe('null', () => {
  const NULLS = { type: 'IN_SEGMENT', string: 'nulls' };
  const IN_NULLS = ruleOn(NULLS);
  const treatments = (member: string): object[] => [
    { name: 'on', [member]: null },
    { name: 'off' },
  ];
  const matcher = (member: string): object => ruleOn({ ...NULLS, [member]: null });
  const DEFINITIONS: readonly (readonly [string, object])[] = [
    ...['id', 'name', 'environment', 'trafficType', 'baselineTreatment', 'lastUpdateTime'].map(
      (member) => [member, { [member]: null }] as const,
    ),
    ['the id of an environment', { environment: { id: null, name: 'staging' } }],
    ...['description', 'keys', 'configurations', 'segments'].map(
      (member) => [`${member} of a treatment`, { treatments: treatments(member) }] as const,
    ),
    ...['negate', 'attribute', 'strings'].map(
      (member) => [`${member} of a matcher`, { rules: [matcher(member)] }] as const,
    ),
    ['a combiner', { rules: [{ ...IN_NULLS, condition: { combiner: null, matchers: [NULLS] } }] }],
  ];

  beforeAll(async () => {
    await client.segment('nulls');
    await client.define('nulls');
    await client.flag('no-nulls');
  });

  it.each(DEFINITIONS)('is no value of %s in a definition', async (_, wrong) => {
    await expectRefusedMembers(client, { absent: at('no-nulls'), kept: at('nulls') }, wrong);
  });

  it.each<[string, string, unknown]>([
    ['POST', FLAGS, { name: 'odd', description: null }],
    ['POST', FLAGS, { name: 'odd', owners: null }],
    ['PATCH', '/splits/ws/Default/nulls', replacing('/description', null)],
    ['PATCH', '/splits/ws/Default/nulls', replacing('/rolloutStatus/name', null)],
    ['POST', SEGMENTS, { name: 'odd', description: null }],
    ['PUT', '/segments/staging/nulls/removeKeys', { keys: null }],
    ['PUT', '/segments/staging/nulls/upload', [null]],
    ['POST', IDENTITIES, [{ key: 'a', values: null }]],
    ['POST', IDENTITIES, [{ key: null, values: {} }]],
  ])('is no value of a member: %s %s %j', async (method, path, body) => {
    await expectAnswers(client, [400, method, path, body, { code: 400 }]);
  });

  it('is a value of the tags of a flag, as answers have it', async () => {
    const patch = replacing('/tags', null);

    await expectAnswers(client, [200, 'PATCH', '/splits/ws/Default/nulls', patch, { tags: null }]);
  });
});

describe('identities', () => {
  it('belong to a traffic type by its id and by its name', async () => {
    const flag = await client.flag('typed');
    const byId = `/trafficTypes/${flag.trafficType.id}/environments/staging/identities`;
    const sent = (values: object) => [{ key: 'both', values }];
    const both = { objects: [{ values: { plan: 'pro', seats: '2' } }] };

    await expectAnswers(
      client,
      [200, 'POST', byId, sent({ plan: 'pro' })],
      [200, 'POST', IDENTITIES, sent({ seats: 2 }), both],
      [404, 'POST', IDENTITIES.replace('user', 'visitor'), sent({})],
    );
  });
});

describe('a patch of a flag', () => {
  it.each([
    ['/descripton', 'x', 'has no member descripton'],
    ['/rolloutStatus/name', 'Ramping', 'rolloutStatus/name cannot be changed'],
    ['/rolloutStatus/colour', 'red', 'at /rolloutStatus has no member colour'],
    ['/tags/-', { name: 'web', color: 'red' }, 'at /tags/0 has no member color'],
  ])('that sets %s to %j is refused', async (path, value, why) => {
    const name = `patched-${path.replaceAll(/\W/g, '-')}`;
    const before = await client.ok<WireFlag>('POST', FLAGS, { name, description: 'd' });
    const flag = `/splits/ws/Default/${name}`;
    const patch = [{ op: 'add', path, value }];

    await expectAnswers(client, [400, 'PATCH', flag, patch, refusal(400, why)]);
    expect(await client.ok('PATCH', flag, replacing('/description', 'd'))).toEqual(before);
  });

  it('takes a rollout status by its id and its name together', async () => {
    const { id } = await client.flag('patched-whole');
    const statuses = await client.ok<WireRolloutStatus[]>('GET', '/rolloutStatuses');
    const [, second, third] = statuses;
    const whole = { id: second?.id, name: second?.name };
    const wrong = { id: third?.id, name: 'Permanent' };
    const path = '/splits/ws/Default/patched-whole';

    await expectAnswers(
      client,
      [200, 'PATCH', path, replacing('/rolloutStatus', whole), { id, rolloutStatus: whole }],
      [400, 'PATCH', path, replacing('/rolloutStatus', wrong)],
    );
  });
});
