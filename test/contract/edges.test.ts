import { describe, expect, it } from 'vitest';
import type { WireDefinition, WirePage } from '../../src/admin-api/wire.js';
import { aDefinition, at, callsOf, ruleOn } from '../support/service-calls.js';
import { aService, startTestService, TEST_SEED } from '../support/service.js';

/** The last value that a limit lets through and the first that it does not, and the neighbours of each rule. */
const service = aService({
  seed: {
    workspaces: [
      ...TEST_SEED.workspaces,
      { name: 'My Default', environments: [{ name: 'live' }], trafficTypes: ['user'] },
    ],
  },
});
const client = callsOf(service);

const FLAGS = '/splits/ws/Default/trafficTypes/user';

/** The message of a refusal with 400. */
async function refused(method: string, path: string, body: unknown): Promise<string> {
  const answer = await client.call(method, path, body);
  expect(answer.status).toBe(400);
  return (answer.body as { message: string }).message;
}

/** How the creation of a definition with these members is refused. */
async function refusedWith(name: string, changed: object): Promise<string> {
  await client.flag(name);
  return refused('POST', at(name), aDefinition(changed));
}

describe('a definition', () => {
  it('has each treatment, key and bucket once, and names treatments that exist', async () => {
    const on = { name: 'on', keys: ['k'] };

    expect(await refusedWith('twice', { treatments: [on, on, { name: 'off' }] })).toBe(
      'Treatment on stands twice in treatments',
    );
    expect(
      await refusedWith('shared', { treatments: [on, { name: 'off', keys: ['j', 'k'] }] }),
    ).toBe('Key k is targeted by the treatments on and off');
    expect(await refusedWith('no-default', { defaultTreatment: 'none' })).toBe(
      'There is no treatment none, which defaultTreatment names',
    );
    expect(await refusedWith('no-baseline', { baselineTreatment: 'none' })).toBe(
      'There is no treatment none, which baselineTreatment names',
    );
    expect(
      await refusedWith('no-bucket', { defaultRule: [{ treatment: 'none', size: 100 }] }),
    ).toBe('There is no treatment none, which defaultRule names');
    const half = { treatment: 'on', size: 50 };
    expect(await refusedWith('bucket-twice', { defaultRule: [half, half] })).toBe(
      'Treatment on stands twice in defaultRule',
    );
    const rule = { ...ruleOn({ type: 'IN_SEGMENT', string: 's' }), buckets: [half] };
    expect(await refusedWith('sum', { rules: [rule] })).toBe(
      'The bucket sizes of rule 1 sum to 50, not to 100',
    );
  });

  it('has treatments whose names begin with a letter or _, and hold nothing else than a name may', async () => {
    const named = (name: string): object => ({
      treatments: [{ name }, { name: 'off' }],
    });
    const form = 'Treatment names must start with a letter or _ and can contain "-_ a-z A-Z 0-9"';

    await client.define('underscore', named('_on-1'));
    expect(await refusedWith('digit', named('1on'))).toBe(form);
    expect(await refusedWith('blank-before', named(' on'))).toBe(form);
    expect(await refusedWith('blank-behind', named('on '))).toBe(form);
    expect(await refusedWith('control', named('control'))).toBe(
      'Treatment name control is reserved',
    );
  });

  it('may depend on one treatment, which is shown as a list, unless it names a list too', async () => {
    await client.define('base');
    const dependsOn = (depends: object): object => ({
      rules: [ruleOn({ type: 'IN_SPLIT', depends: { splitName: 'base', ...depends } })],
    });
    const shown = (definition: WireDefinition): unknown =>
      definition.rules[0]?.condition.matchers[0]?.['depends'];

    const one = await client.define('one', dependsOn({ treatment: 'on' }));
    const list = await client.define('list', dependsOn({ treatments: ['on', 'off'] }));
    const both = await client.define('both', dependsOn({ treatment: 'on', treatments: ['off'] }));

    expect(shown(one)).toEqual({ splitName: 'base', treatments: ['on'] });
    expect(shown(list)).toEqual({ splitName: 'base', treatments: ['on', 'off'] });
    expect(shown(both)).toMatchObject({ treatments: ['off'] });
  });

  it('keeps the segments that its treatments target from deletion', async () => {
    await client.segment('targeted');
    await client.define('targets', {
      treatments: [{ name: 'on', segments: ['targeted'] }, { name: 'off' }],
    });

    expect(await client.status('DELETE', '/segments/staging/targeted')).toBe(409);
    expect(await client.status('DELETE', '/segments/ws/Default/targeted')).toBe(409);
  });

  it('may target a segment that does not exist no more than a rule may', async () => {
    const message = await refusedWith('absent-segments', {
      treatments: [{ name: 'on', segments: ['b-absent', 'a-absent'] }, { name: 'off' }],
    });

    expect(message).toContain('a-absent');
  });

  it('holds a million characters, where each value counts as 20 more, in a patch too', async () => {
    const listing = (count: number): object[] => [
      ruleOn({ type: 'IN_LIST_STRING', strings: Array.from({ length: count }, () => 'x') }),
    ];
    const message =
      'A definition holds at most 1048576 characters, where each value counts as 20 more';

    expect(await refusedWith('large', { rules: listing(50_000) })).toBe(message);
    await client.ok('POST', at('large'), aDefinition({ rules: listing(49_000) }));
    const longer = [{ op: 'replace', path: '/rules', value: listing(50_000) }];
    expect(await refused('PATCH', at('large'), longer)).toBe(message);
  });

  it('has twenty matchers in a rule at most, in a patch too', async () => {
    const matchers = (count: number): object[] =>
      Array.from({ length: count }, (_, i) => ({ type: 'IN_LIST_STRING', strings: [`s${i}`] }));
    const rule = (count: number): object => ({
      buckets: [{ treatment: 'on', size: 100 }],
      condition: { combiner: 'AND', matchers: matchers(count) },
    });
    const most = 20;
    await client.define('many-matchers', { rules: [rule(most)] });
    const replaced = (count: number): object[] => [
      { op: 'replace', path: '/rules', value: [rule(count)] },
    ];

    await client.ok('PATCH', at('many-matchers'), replaced(most));
    expect(await refused('PATCH', at('many-matchers'), replaced(most + 1))).toBe(
      `A rule has at most ${most} matchers`,
    );
  });

  it('tells in the log which keys came and went, once for each treatment', async () => {
    await client.define('logged', { treatments: [{ name: 'on', keys: ['a'] }, { name: 'off' }] });

    await client.ok('PATCH', at('logged'), [
      { op: 'replace', path: '/treatments/0/keys', value: [] },
      { op: 'add', path: '/treatments/1/keys', value: ['a', 'b'] },
    ]);

    const { objects } = await client.ok<WirePage<{ difference: { path: string }[] }>>(
      'GET',
      '/auditLog/ws/Default?object=flag/logged&limit=1',
    );
    const paths = objects[0]?.difference.map(({ path }) => path);
    expect(paths).toEqual(['/lastUpdateTime', '/targets/off', '/targets/on']);
  });
});

describe('a patch', () => {
  it('moves nothing into itself, and takes a name for a part of another', async () => {
    await client.define('moved', { rules: [ruleOn({ type: 'UNKNOWN', x: { y: 1 }, xy: 2 })] });
    const matcher = '/rules/0/condition/matchers/0';
    const move = (from: string, path: string): object[] => [{ op: 'move', from, path }];

    expect(await refused('PATCH', at('moved'), move(`${matcher}/x`, `${matcher}/x/y`))).toBe(
      `Patch cannot move ${matcher}/x into itself`,
    );
    await client.ok('PATCH', at('moved'), move(`${matcher}/x`, `${matcher}/xz`));
  });

  it('does not remove the whole document', async () => {
    await client.define('removed');

    expect(await refused('PATCH', at('removed'), [{ op: 'remove', path: '' }])).toBe(
      'Patch cannot remove the whole document',
    );
  });

  it('reads ~0 and ~1 in a path as ~ and /', async () => {
    await client.define('escaped', { rules: [ruleOn({ type: 'UNKNOWN', 'a~b/c': 1 })] });
    const path = '/rules/0/condition/matchers/0/a~0b~1c';

    const after = await client.ok<WireDefinition>('PATCH', at('escaped'), [
      { op: 'replace', path, value: 2 },
    ]);

    expect(after.rules[0]?.condition.matchers[0]).toMatchObject({ 'a~b/c': 2 });
  });

  it.each([
    ['a member of a text', '/defaultTreatment/x'],
    ['a member of a member that is not there', '/none/x'],
    ['an element behind the end', '/treatments/5'],
    ['a prototype', '/treatments/0/__proto__'],
  ])('adds no value to %s', async (what, path) => {
    const name = `added-${what.replaceAll(' ', '-')}`;
    const before = await client.define(name);

    await refused('PATCH', at(name), [{ op: 'add', path, value: {} }]);

    expect(await client.ok('GET', at(name))).toEqual(before);
  });

  it('replaces the whole document by what it showed, whose seeds it ignores as a PUT does', async () => {
    const before = await client.define('shown-whole');
    const { seed, trafficAllocationSeed } = before;

    const value = { ...before, trafficAllocation: 7, trafficAllocationSeed: 2 };
    const after = await client.ok<WireDefinition>('PATCH', at('shown-whole'), [
      { op: 'replace', path: '', value },
    ]);

    expect(after).toMatchObject({ trafficAllocation: 7, seed, trafficAllocationSeed });
    expect(
      await refused('PATCH', at('shown-whole'), [{ op: 'add', path: '/seed', value: 2 }]),
    ).toBe('Definition has no member seed');
  });

  it.each([
    ['a list of another length', ['a'], ['a', 'b'], false],
    ['a list with another element', ['a', 'b'], ['a', 'c'], false],
    ['an object for a list', [], {}, false],
    ['a list for an object', {}, [], false],
    ['the same list', ['a', 'b'], ['a', 'b'], true],
    ['an object with its members in another order', { a: 1, b: 2 }, { b: 2, a: 1 }, true],
  ])('tests %s', async (what, held, value, holds) => {
    const name = `tested-${what.replaceAll(' ', '-')}`;
    await client.define(name, { rules: [ruleOn({ type: 'UNKNOWN', held })] });
    const path = '/rules/0/condition/matchers/0/held';

    const { status } = await client.call('PATCH', at(name), [{ op: 'test', path, value }]);

    expect(status).toBe(holds ? 200 : 400);
  });

  it('of a flag changes its rollout status by id, and never its fixed members', async () => {
    const flag = await client.flag('fixed');
    const path = '/splits/ws/Default/fixed';

    expect(await refused('PATCH', path, [{ op: 'replace', path: '/id', value: 'x' }])).toBe(
      'id cannot be changed',
    );
    expect(await refused('PATCH', path, [{ op: 'remove', path: '/id' }])).toBe(
      'id cannot be changed',
    );
    const id = [{ op: 'replace', path: '/rolloutStatus/id', value: 7 }];
    expect(await refused('PATCH', path, id)).toContain('/rolloutStatus/id');
    const name = [{ op: 'replace', path: '/rolloutStatus/name', value: 'Ramping' }];
    expect(await refused('PATCH', path, name)).toBe('rolloutStatus/name cannot be changed');
    expect(await client.ok('GET', path)).toEqual(flag);
  });
});

describe('names', () => {
  it.each(['datetime', 'string', 'set', 'integer'])('%s is reserved', async (name) => {
    expect(await refused('POST', FLAGS, { name })).toBe(`Feature flag name ${name} is reserved`);
  });

  it.each([
    ['of 256 characters', 'e'.repeat(256), 200],
    ['of 257 characters', 'e'.repeat(257), 400],
    ['of blanks', '   ', 400],
    ['with a line break', 'a\nb', 400],
    ['with a delete character', 'a\u007fb', 400],
  ])('of environments: %s', async (_, name, status) => {
    const path = '/environments/ws/My%20Default';
    expect(await client.status('POST', path, { name, production: false })).toBe(status);
  });
});

describe('keys of a segment', () => {
  it.each([
    ['one of many', 1],
    ['most of them', 18],
  ])('are replaced where %s differ', async (what, count) => {
    const name = `replaced-${count}`;
    const keys = (from: number): string[] => Array.from({ length: 20 }, (_, i) => `k${from + i}`);
    await client.segment(name);
    await client.ok('PUT', `/segments/staging/${name}/uploadKeys`, { keys: keys(0) });

    const upload = `/segments/staging/${name}/uploadKeys?replace=true`;
    await client.ok('PUT', upload, { keys: keys(count) });

    const held = await client.ok<{ keys: { key: string }[] }>(
      'GET',
      `/segments/staging/${name}/keys?limit=100`,
    );
    expect(held.keys.map(({ key }) => key).toSorted(), what).toEqual(keys(count).toSorted());
    const { objects } = await client.ok<WirePage<{ difference: object[] }>>(
      'GET',
      `/auditLog/ws/Default?object=segment/${name}&limit=1`,
    );
    expect(objects[0]?.difference).toMatchObject([{ added: count, removed: count }]);
  });
});

describe('a seed', () => {
  it.each([
    ['1user', 'must start with a letter'],
    ['us er', 'must start with a letter'],
    ['u'.repeat(257), 'have at most 256 characters'],
  ])('with the traffic type %s is refused', async (trafficType, message) => {
    const environments = [{ name: 'staging' }];
    const workspaces = [{ name: 'Seeded', environments, trafficTypes: [trafficType] }];

    await expect(startTestService({ seed: { workspaces } })).rejects.toThrow(message);
  });
});

describe('an Admin API key', () => {
  it('of one workspace or environment makes no environments, deletes no workspace and revokes no key', async () => {
    const made = await client.ok<{ key: string }>('POST', '/apiKeys', {
      name: 'of an environment',
      workspaces: ['Default'],
      environments: ['staging'],
    });
    const own = await client.ok<{ key: string }>('POST', '/apiKeys', {
      name: 'of a workspace',
      workspaces: ['My Default'],
    });
    const { id } = await client.ok<{ id: string }>('POST', '/apiKeys', { name: 'to revoke' });
    const [inEnvironment, inWorkspace] = [made, own].map(({ key }) =>
      callsOf({ origin: service.origin, key }),
    );

    const environment = { name: 'more', production: false };
    const statuses = [
      await inEnvironment?.call('POST', '/environments/ws/Default', environment),
      await inWorkspace?.call('DELETE', '/workspaces/My%20Default'),
      await inWorkspace?.call('DELETE', `/apiKeys/${id}`),
      await inWorkspace?.call('POST', '/environments/ws/My%20Default', environment),
    ].map((answer) => answer?.status);

    expect(statuses).toEqual([403, 403, 403, 200]);
  });

  it('stands in the header of the contract, or in x-api-key where that is missing', async () => {
    const status = async (headers: Record<string, string>): Promise<number> =>
      (await fetch(`${service.origin}/internal/api/v2/workspaces`, { headers })).status;

    expect(await status({ authorization: `Bearer ${service.key}` })).toBe(200);
    expect(await status({ authorization: 'Bearer wrong', 'x-api-key': service.key })).toBe(401);
    expect(await status({ authorization: 'Basic x', 'x-api-key': service.key })).toBe(200);
    expect(await status({})).toBe(401);
  });
});
