import { beforeAll, describe, expect, it } from 'vitest';
import type { WireDefinition, WirePage } from '../../src/admin-api/wire.js';
import { KNOWN_MATCHER_TYPES } from '../../src/service/rules/matchers.js';
import { aDefinition, at, callsOf, ruleOn } from '../support/service-calls.js';
import { aService, startTestService } from '../support/service.js';

/** Every member of a definition, one by one: what it must be, what it must not, and what becomes of it. */
const service = aService({ strict: false });
const client = callsOf(service);
const FLAGS = '/splits/ws/Default/trafficTypes/user';

beforeAll(async () => {
  for (const name of ['tried', 'other']) await client.flag(name);
  await client.segment('s');
});

const TREATMENTS = [
  { name: 'on', description: 'd', configurations: '{}', keys: ['a'], segments: ['s'] },
  { name: 'off', description: '' },
];
const RULES = [ruleOn({ type: 'BOOLEAN', attribute: 'paid', bool: true })];

/** With every member that a definition may have. */
const WHOLE = {
  ...aDefinition({ treatments: TREATMENTS, rules: RULES }),
  flagSets: [{ id: 'set', type: 'FlagSet' }],
  impressionsDisabled: true,
};

/** `WHOLE` with another value at a path; undefined takes it away. */
function wholeWith(path: string, value: unknown): object {
  const copy = JSON.parse(JSON.stringify(WHOLE)) as Record<string, unknown>;
  const parts = path.split('/').slice(1);
  const last = parts.pop() ?? '';
  let holder = copy;
  for (const part of parts) holder = holder[part] as Record<string, unknown>;
  if (value === undefined) Reflect.deleteProperty(holder, last);
  else holder[last] = value;
  return copy;
}

async function create(body: object): Promise<WireDefinition> {
  const created = await client.ok<WireDefinition>('POST', at('tried'), body);
  expect(await client.ok('GET', at('tried'))).toEqual(created);
  await client.ok('DELETE', at('tried'));
  return created;
}

/** @param why a part of the message. */
async function expectRefused(body: object, why = ''): Promise<void> {
  const answer = await client.call('POST', at('tried'), body);
  if (answer.status === 200) await client.ok('DELETE', at('tried'));
  expect(answer.body).toMatchObject({ code: 400, message: expect.stringContaining(why) as string });
}

const FORM = 'Treatment names must start with a letter or _ and can contain "-_ a-z A-Z 0-9"';

const OBJECT = { nope: 1 };
const MANY_MATCHERS = Array.from({ length: 21 }, () => ({
  type: 'BOOLEAN',
  attribute: 'a',
  bool: true,
}));

describe('a definition', () => {
  it('is kept with every member that it may have', async () => {
    expect(await create(WHOLE)).toMatchObject(WHOLE);
  });

  it.each<[string, unknown, string?]>([
    ['/killed', 'yes'],
    ['/treatments', [{ name: 'on' }]],
    ['/treatments', Array.from({ length: 21 }, (_, index) => ({ name: `t${index}` }))],
    ['/treatments/0', 'on'],
    ['/treatments/0/name', undefined],
    ['/treatments/0/name', 7],
    ['/treatments/2', { name: 'control' }, 'Treatment name control is reserved'],
    ...['1st', 'a b', ' on', 'on '].map((name): [string, unknown, string] => [
      '/treatments/2',
      { name },
      FORM,
    ]),
    ['/treatments/2', { name: 't'.repeat(257) }, 'have at most 256 characters'],
    ['/treatments/0/name', 'off', 'Treatment off stands twice in treatments'],
    ['/treatments/0/description', 7],
    ['/treatments/0/description', 'd'.repeat(10_001)],
    ['/treatments/0/configurations', 7],
    ['/treatments/0/configurations', '{'],
    ['/treatments/0/keys', 'a'],
    ['/treatments/0/keys', [7]],
    ['/treatments/0/keys', ['']],
    ['/treatments/1/keys', ['j', 'a'], 'Key a is targeted by the treatments on and off'],
    ['/treatments/0/segments', 's'],
    ['/treatments/0/segments', [7]],
    ['/treatments/0/segments', ['']],
    ['/treatments/0/segments', ['none', 'a-none'], 'There is no segment a-none active in staging'],
    ['/treatments/0/colour', 'red'],
    ['/defaultTreatment', 'none', 'There is no treatment none, which defaultTreatment names'],
    ['/defaultTreatment', 7],
    ['/defaultTreatment', null],
    ['/baselineTreatment', 'none', 'There is no treatment none, which baselineTreatment names'],
    ['/baselineTreatment', 7],
    ['/baselineTreatment', null],
    ['/trafficAllocation', 'all'],
    ['/trafficAllocation', null],
    ['/killed', null],
    ['/flagSets', null],
    ['/impressionsDisabled', null],
    ['/rules', 'none'],
    ['/rules/0', 'none'],
    ['/rules/0/colour', 'red'],
    ['/rules/0/buckets', []],
    ['/rules/0/buckets/0/size', 50, 'The bucket sizes of rule 1 sum to 50, not to 100'],
    ['/rules/0/condition/colour', 'red'],
    ['/rules/0/condition/combiner', 'OR'],
    ['/rules/0/condition/matchers', []],
    ['/rules/0/condition/matchers', MANY_MATCHERS],
    ['/rules/0/condition/matchers/0', 'none'],
    ['/rules/0/condition/matchers/0/type', 7],
    ['/rules/0/condition/matchers/0/type', ''],
    ['/rules/0/condition/matchers/0/negate', 'yes'],
    ['/rules/0/condition/matchers/0/attribute', 7],
    ['/rules', Array.from({ length: 251 }, () => ruleOn({ type: 'X' }))],
    ['/defaultRule', []],
    ['/defaultRule/0', 'off'],
    ['/defaultRule/0/treatment', undefined],
    ['/defaultRule/0/treatment', 'none', 'There is no treatment none, which defaultRule names'],
    ['/defaultRule/0/treatment', 7],
    ['/defaultRule/0/size', undefined],
    ['/defaultRule/0/colour', 'red'],
    [
      '/defaultRule',
      [
        { treatment: 'off', size: 50 },
        { treatment: 'off', size: 50 },
      ],
      'Treatment off stands twice in defaultRule',
    ],
    ['/flagSets', OBJECT],
    ['/flagSets', ['set']],
    ['/impressionsDisabled', 'yes'],
    ['/id', 7],
    ['/name', 7],
    ['/environment', 7],
    ['/environment', OBJECT],
    ['/environment', { id: 7 }],
    ['/environment', { name: 7 }],
    ['/trafficType', 7],
    ['/trafficType', 'account'],
    ['/creationTime', 'now'],
    ['/lastUpdateTime', 'now'],
    ['/openChangeRequestId', 7],
    ['/title', 7],
    ['/comment', 7],
    ['/colour', 'red'],
  ])('is refused with another %s: %j', async (path, value, why) => {
    await expectRefused(wholeWith(path, value), why);
  });

  it.each<[string, unknown, string, unknown]>([
    ['/killed', undefined, 'killed', false],
    ['/baselineTreatment', undefined, 'baselineTreatment', 'off'],
    ['/trafficAllocation', undefined, 'trafficAllocation', 100],
    ['/rules', null, 'rules', []],
    ['/rules/0/condition/combiner', undefined, 'rules', RULES],
    ['/flagSets', [], 'flagSets', undefined],
    ['/impressionsDisabled', false, 'impressionsDisabled', undefined],
    ['/environment', 'staging', 'killed', false],
    ['/trafficType', 'user', 'killed', false],
    ['/creationTime', 7, 'killed', false],
    ['/openChangeRequestId', null, 'openChangeRequestId', undefined],
  ])('may be created with %s %j', async (path, value, member, kept) => {
    const created = await create(wholeWith(path, value));

    expect(Object.entries(created).find(([name]) => name === member)?.[1]).toEqual(kept);
    expect(created.creationTime).toBeGreaterThan(7);
  });

  it.each(['id', 'name'] as const)(
    'may say its environment and traffic type by %s',
    async (member) => {
      const { environment, trafficType } = await create(WHOLE);

      await create({
        ...WHOLE,
        environment: environment[member],
        trafficType: trafficType[member],
      });
    },
  );

  it.each<[string, unknown, unknown]>([
    ['/treatments/0/keys', ['a', 'b', 'a'], ['a', 'b']],
    ['/treatments/0/segments', ['s', 's'], ['s']],
    ['/treatments/0/segments', [], undefined],
    ['/treatments/0/description', 'd'.repeat(10_000), 'd'.repeat(10_000)],
  ])('tidies %s %j', async (path, value, kept) => {
    const created = await create(wholeWith(path, value));

    const member = path.slice(path.lastIndexOf('/') + 1);
    const treatment = Object.entries(created.treatments[0] ?? {});
    expect(treatment.find(([name]) => name === member)?.[1]).toEqual(kept);
  });

  it('has up to twenty treatments, twenty matchers in a rule, and 250 rules', async () => {
    const more = Array.from({ length: 18 }, (_, index) => ({ name: `_t-${index}` }));
    const matchers = MANY_MATCHERS.slice(1);
    const rule = { ...ruleOn(OBJECT), condition: { combiner: 'AND', matchers } };

    const { rules, treatments } = await create({
      ...WHOLE,
      treatments: [...TREATMENTS, ...more],
      rules: Array.from({ length: 250 }, () => rule),
    });

    expect(treatments).toHaveLength(20);
    expect(rules).toHaveLength(250);
    expect(rules[249]?.condition).toEqual({ combiner: 'AND', matchers });
  });

  it('has twenty matchers and a million characters, where each value counts as 20 more, in a patch too', async () => {
    const listing = (count: number): object =>
      ruleOn({ type: 'IN_LIST_STRING', strings: Array.from({ length: count }, () => 'x') });
    const condition = { combiner: 'AND', matchers: MANY_MATCHERS };
    const wide = { ...ruleOn({}), condition };
    const tooLarge =
      'A definition holds at most 1048576 characters, where each value counts as 20 more';

    await expectRefused(aDefinition({ rules: [listing(50_000)] }), tooLarge);
    await client.ok('POST', at('tried'), aDefinition({ rules: [listing(49_000)] }));
    const answers = [];
    for (const rule of [
      { ...wide, condition: { ...condition, matchers: MANY_MATCHERS.slice(1) } },
      wide,
      listing(50_000),
    ]) {
      const patch = [{ op: 'replace', path: '/rules', value: [rule] }];
      answers.push((await client.call('PATCH', at('tried'), patch)).body);
    }
    await client.ok('DELETE', at('tried'));

    expect(answers).toMatchObject([
      { killed: false },
      { message: 'A rule has at most 20 matchers' },
      { message: tooLarge },
    ]);
  });

  it('keeps the segments that its treatments target from deletion', async () => {
    await client.ok('POST', at('tried'), WHOLE);

    expect(
      await client.statuses(
        ['DELETE', '/segments/staging/s'],
        ['DELETE', '/segments/ws/Default/s'],
      ),
    ).toEqual([409, 409]);
    await client.ok('DELETE', at('tried'));
  });
});

describe('a matcher', () => {
  const LIST = { strings: ['a'] };
  const ON = { attribute: 'a' };
  const RANGE = { from: 1, to: 2 };
  const KNOWN: [string, object][] = [
    ['IN_SEGMENT', { string: 's' }],
    ['IN_LARGE_SEGMENT', { string: 'large' }],
    ['IN_RULE_BASED_SEGMENT', { string: 'ruled' }],
    ['IN_SPLIT', { depends: { splitName: 'other', treatments: ['on'] } }],
    ...['EQUAL_SET', 'ANY_OF_SET', 'ALL_OF_SET', 'PART_OF_SET', 'IN_LIST_SEMVER'].map(
      (type): [string, object] => [type, { ...ON, ...LIST }],
    ),
    ...['ON_DATE', 'ON_OR_AFTER_DATE', 'ON_OR_BEFORE_DATE'].map((type): [string, object] => [
      type,
      { ...ON, date: 1 },
    ]),
    ...['EQUAL_NUMBER', 'LESS_THAN_OR_EQUAL_NUMBER', 'GREATER_THAN_OR_EQUAL_NUMBER'].map(
      (type): [string, object] => [type, { ...ON, number: 1.5 }],
    ),
    ['BETWEEN_DATE', { ...ON, between: RANGE }],
    ['BETWEEN_NUMBER', { ...ON, between: RANGE }],
    ['BETWEEN_SEMVER', { ...ON, between: { from: '1.0.0', to: '2.0.0' } }],
    ['BOOLEAN', { ...ON, bool: false }],
    ...['IN_LIST_STRING', 'STARTS_WITH_STRING', 'ENDS_WITH_STRING', 'CONTAINS_STRING'].map(
      (type): [string, object] => [type, LIST],
    ),
    ['MATCHES_STRING', { string: 'a+' }],
    ...['EQUAL_TO', 'GREATER_THAN_OR_EQUAL_TO', 'LESS_THAN_OR_EQUAL_TO'].map(
      (type): [string, object] => [`${type}_SEMVER`, { ...ON, string: '1.0.0' }],
    ),
  ];

  it('has an example of every known type', () => {
    expect(KNOWN.map(([type]) => type).toSorted()).toEqual(KNOWN_MATCHER_TYPES.toSorted());
  });

  it.each(KNOWN)(
    '%s is kept with its fields, and refused without each of them',
    async (...given) => {
      const [type, fields] = given;
      const matchers = [
        { type, ...fields },
        { type, negate: true, ...fields },
      ];
      const rule = { ...ruleOn({}), condition: { combiner: 'AND', matchers } };
      const { rules } = await create({ ...WHOLE, rules: [rule] });

      expect(rules[0]?.condition.matchers).toEqual(matchers);
      for (const name of Object.keys(fields)) {
        const less = Object.entries(fields).filter(([member]) => member !== name);
        const other = { ...fields, [name]: name === 'bool' ? 'yes' : true };
        for (const wrong of [Object.fromEntries(less), other]) {
          await expectRefused({ ...WHOLE, rules: [ruleOn({ type, ...wrong })] });
        }
      }
    },
  );

  it.each<[string, object]>([
    ['IN_SEGMENT', { string: '' }],
    ['EQUAL_SET', { ...ON, strings: [] }],
    ['EQUAL_SET', { ...ON, strings: [7] }],
    ['ON_DATE', { ...ON, date: 1.5 }],
    ['BETWEEN_DATE', { ...ON, between: { from: 1 } }],
    ['BETWEEN_DATE', { ...ON, between: { to: 1 } }],
    ['BETWEEN_DATE', { ...ON, between: { from: 1.5, to: 2 } }],
    ['BETWEEN_NUMBER', { ...ON, between: { from: '1', to: 2 } }],
    ['BETWEEN_SEMVER', { ...ON, between: { from: '', to: '2.0.0' } }],
    ['IN_SPLIT', { depends: { treatments: ['on'] } }],
    ['IN_SPLIT', { depends: { splitName: 'other' } }],
    ['IN_SPLIT', { depends: { splitName: 'none', treatments: ['on'] } }],
    ['IN_SPLIT', { depends: { splitName: 'tried', treatments: ['on'] } }],
  ])('%s is refused with %j', async (type, fields) => {
    await expectRefused({ ...WHOLE, rules: [ruleOn({ type, ...fields })] });
  });

  it.each([
    [{ treatment: 'on' }, { treatments: ['on'] }],
    [{ treatments: ['on', 'off'] }, { treatments: ['on', 'off'] }],
    [
      { treatment: 'on', treatments: ['off'] },
      { treatment: 'on', treatments: ['off'] },
    ],
  ])('may depend on a flag by %j', async (given, shown) => {
    const depends = { splitName: 'other', ...given };

    const { rules } = await create({ ...WHOLE, rules: [ruleOn({ type: 'IN_SPLIT', depends })] });

    const kept = { splitName: 'other', ...shown };
    expect(rules[0]?.condition.matchers[0]?.['depends']).toEqual(kept);
  });

  it('is shown without a negate that is false', async () => {
    const matcher = { type: 'IN_SEGMENT', string: 's' };

    const { rules } = await create({ ...WHOLE, rules: [ruleOn({ ...matcher, negate: false })] });

    expect(rules[0]?.condition.matchers).toEqual([matcher]);
  });

  it('of an unknown type is kept as it came', async () => {
    const matcher = { type: 'NEWEST', negate: true, deep: { list: [1] } };

    const { rules } = await create({ ...WHOLE, rules: [ruleOn(matcher)] });

    expect(rules[0]?.condition.matchers).toEqual([matcher]);
  });
});

describe('what else a request may be told apart by', () => {
  it.each([
    ['PUT', '/segments/staging/s/uploadKeys?replace=perhaps', { keys: ['a'] }],
    ['PUT', '/segments/staging/s/upload', ['k'.repeat(5_000)]],
    ['PUT', '/segments/staging/s/upload', ['\ud83d']],
    // Two code units for each of fewer than a thousand characters.
    ['PUT', '/segments/staging/s/upload', ['😀'.repeat(501)]],
    ['POST', '/segments/ws/Default/trafficTypes/user', { name: '1st' }],
    ['POST', '/trafficTypes/ws/Default', { name: 'a b' }],
    ['POST', FLAGS, { name: '_f' }],
    ['POST', '/workspaces', { name: '😀'.repeat(129) }],
    ['POST', FLAGS, { name: 'f'.repeat(300) }],
    ['POST', FLAGS, { name: 'long', description: 'd'.repeat(10_001) }],
    ['POST', '/workspaces', { name: ' ' }],
    ['POST', '/workspaces', { name: 'w'.repeat(300) }],
    ['POST', '/workspaces', { name: 'a\nb' }],
    ['POST', '/environments/ws/Default', { name: 'a\u007fb' }],
    ['POST', '/environments/ws/Default', { name: 'e'.repeat(257) }],
    [
      'POST',
      '/trafficTypes/user/environments/staging/identities',
      [{ key: 'a', values: { 'a b': 1, ok: [] } }, 7],
    ],
  ])('is 400: %s %s', async (method, path, body) => {
    expect(await client.status(method, path, body)).toBe(400);
  });

  it('is a name of 256 characters, or a name that is reserved', async () => {
    const environment = { name: 'e'.repeat(256) };
    expect(await client.status('POST', '/environments/ws/Default', environment)).toBe(200);
    for (const name of ['datetime', 'string', 'set', 'integer']) {
      expect((await client.call('POST', FLAGS, { name })).body).toMatchObject({
        code: 400,
        message: `Feature flag name ${name} is reserved`,
      });
    }
  });

  it.each<[object, string?]>([
    [{ op: 'test', path: '/killed', value: true }, 'Patch test of /killed failed'],
    [{ op: 'test', path: '/treatments/0/keys', value: ['a', 'b'] }],
    [{ op: 'test', path: '/treatments/0/keys', value: ['b'] }],
    [{ op: 'test', path: '/treatments/0/keys', value: { 0: 'a' } }],
    [{ op: 'test', path: '/flagSets/0', value: ['set', 'FlagSet'] }],
    [{ op: 'add', path: '/defaultTreatment/x', value: {} }],
    [{ op: 'add', path: '/none/x', value: {} }],
    [{ op: 'add', path: '/treatments/0/__proto__', value: {} }],
    [{ op: 'add', path: '/seed', value: 2 }, 'Definition has no member seed'],
    [
      { op: 'move', from: '/treatments', path: '/treatments/0' },
      'Patch cannot move /treatments into itself',
    ],
    [{ op: 'copy', path: '/baselineTreatment' }],
    [{ op: 'replace', path: 'killed', value: true }],
    [{ op: 'replace', path: 'x/killed', value: true }],
    [{ op: 'test', path: '/openChangeRequestId/x', value: null }],
    [{ op: 'add', path: '/treatments/x1', value: { name: 'x' } }],
    [{ op: 'replace', path: '/rules/0/condition/matchers/00', value: MANY_MATCHERS[0] }],
    [{ op: 'remove', path: '' }, 'Patch cannot remove the whole document'],
    [{ op: 'replace', path: '/treatments/01/description', value: 'x' }],
    [{ op: 'replace', path: '/treatments/1x/description', value: 'x' }],
    [{ op: 'replace', path: '/treatments/-/description', value: 'x' }],
    [{ op: 'add', path: '/treatments/7', value: { name: 'x' } }],
    [{ op: 'replace', path: '/killed' }],
    [{ op: 'replace', path: '/lastUpdateTime', value: 1 }],
    [{ op: 'add', path: '/colour', value: 'red' }],
  ])('is 400: the patch operation %j', async (operation, why = '') => {
    const before = await client.ok('POST', at('tried'), WHOLE);

    const { body } = await client.call('PATCH', at('tried'), [operation]);

    const after = await client.ok('GET', at('tried'));
    await client.ok('DELETE', at('tried'));
    expect(body).toMatchObject({ code: 400, message: expect.stringContaining(why) as string });
    expect(after).toEqual(before);
  });

  it('is a whole document as it was shown, whose seeds are ignored as in a PUT', async () => {
    const before = await client.ok<WireDefinition>('POST', at('tried'), WHOLE);
    const value = { ...before, trafficAllocation: 7, trafficAllocationSeed: 2 };

    const after = await client.ok('PATCH', at('tried'), [{ op: 'replace', path: '', value }]);

    await client.ok('DELETE', at('tried'));
    const { seed, trafficAllocationSeed } = before;
    expect(after).toMatchObject({ trafficAllocation: 7, seed, trafficAllocationSeed });
  });

  it('is a place in a list beyond the tenth, a member of an odd name, and a test that holds', async () => {
    await client.ok('POST', at('tried'), WHOLE);
    const keys = Array.from({ length: 11 }, (_, index) => `k${index}`);

    const { treatments, ...after } = await client.ok<WireDefinition>('PATCH', at('tried'), [
      { op: 'test', path: '/flagSets/0', value: { type: 'FlagSet', id: 'set' } },
      { op: 'test', path: '/treatments/0/keys', value: ['a'] },
      { op: 'move', from: '/flagSets/0/id', path: '/flagSets/0/idea' },
      { op: 'add', path: '/flagSets/0/a~0b~1c', value: 1 },
      { op: 'replace', path: '/flagSets/0/a~0b~1c', value: 2 },
      ...keys.map((value) => ({ op: 'add', path: '/treatments/1/keys/-', value })),
      { op: 'replace', path: '/treatments/1/keys/10', value: 'last' },
      { op: 'move', from: '/treatments/1', path: '/treatments/1' },
    ]);

    await client.ok('DELETE', at('tried'));
    expect(treatments[1]?.keys).toEqual([...keys.slice(0, -1), 'last']);
    expect(after).toMatchObject({ flagSets: [{ type: 'FlagSet', idea: 'set', 'a~b/c': 2 }] });
    const { objects } = await client.ok<WirePage<{ difference: { path: string }[] }>>(
      'GET',
      '/auditLog/ws/Default?object=flag/tried&limit=2',
    );
    // Keys come and go in entries of their own.
    const paths = objects[1]?.difference.map(({ path }) => path);
    expect(paths).toEqual(['/flagSets', '/lastUpdateTime', '/targets/off']);
  });

  it.each(
    Object.entries({
      '/environments/ws/Default/staging': ['remove /name', 'replace /id', 'replace /production'],
      '/workspaces/Default': ['remove /name', 'replace /id', 'replace /type'],
      '/splits/ws/Default/other': [
        ...['remove /rolloutStatus', 'remove /rolloutStatus/id', 'add /rolloutStatus/colour'],
        ...['replace /id', 'replace /name', 'replace /creationTime', 'replace /trafficType'],
        ...['replace /rolloutStatusTimestamp', 'remove /id'],
      ],
    }).flatMap(([path, changes]) => [...changes, 'add /colour'].map((each) => [path, each])),
  )('is 400: a patch of %s that would %s', async (path = '', change = '') => {
    const [op, member] = change.split(' ');

    const answer = await client.call('PATCH', path, [{ op, path: member, value: 'another' }]);

    const why = member === '/id' ? { message: 'id cannot be changed' } : {};
    expect(answer.body).toMatchObject({ code: 400, ...why });
  });

  it.each([
    ['1user', 'must start with a letter'],
    ['us er', 'must start with a letter'],
    ['u'.repeat(257), 'have at most 256 characters'],
  ])('is a seed with the traffic type %s, which is refused', async (trafficType, message) => {
    const workspaces = [{ name: 'Seeded', environments: [], trafficTypes: [trafficType] }];

    await expect(startTestService({ seed: { workspaces } })).rejects.toThrow(message);
  });

  it('is a key in any of the forms of its header', async () => {
    const status = async (authorization: string, more = {}): Promise<number> =>
      (await client.call('GET', '/workspaces', undefined, { authorization, ...more })).status;
    const other = { 'x-api-key': service.key };

    expect(await status(`bearer   ${service.key} `)).toBe(200);
    // Where the header of the contract is missing, and not where it is wrong.
    expect([await status('Basic x', other), await status('Bearer wrong', other)]).toEqual([
      200, 401,
    ]);
    expect(await status('Basic x')).toBe(401);
    for (const wrong of [`x Bearer ${service.key}`, `Bearer ${service.key} x`, service.key]) {
      expect(await status(wrong)).toBe(401);
    }
    for (const wrong of [`${service.key}x`, service.key.slice(0, -1), service.key.toUpperCase()]) {
      expect(await status(`Bearer ${wrong}`)).toBe(401);
    }
  });
});

describe('the description of the service', () => {
  it('has words for every operation, and for whatever has a place for them', async () => {
    const description: unknown = await (await fetch(`${service.origin}/openapi.json`)).json();
    const blank: string[] = [];
    const walk = (value: unknown, path: string): void => {
      if (typeof value !== 'object' || value === null) return;
      for (const [name, member] of Object.entries(value)) {
        const isText = name === 'summary' || name === 'description';
        if (isText && typeof member === 'string' && member.trim() === '') {
          blank.push(`${path}/${name}`);
        }
        walk(member, `${path}/${name}`);
      }
    };

    walk(description, '');

    expect(blank).toEqual([]);
  });
});
