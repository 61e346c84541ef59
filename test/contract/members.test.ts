import { beforeAll, describe, expect, it } from 'vitest';
import type { WireDefinition } from '../../src/admin-api/wire.js';
import { KNOWN_MATCHER_TYPES } from '../../src/service/rules/matchers.js';
import { aDefinition, at, callsOf, ruleOn } from '../support/service-calls.js';
import { aService } from '../support/service.js';

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

async function expectRefused(body: object): Promise<void> {
  const answer = await client.call('POST', at('tried'), body);
  if (answer.status === 200) await client.ok('DELETE', at('tried'));
  expect(answer.status).toBe(400);
}

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

  it.each<[string, unknown]>([
    ['/killed', 'yes'],
    ['/treatments', [{ name: 'on' }]],
    ['/treatments', Array.from({ length: 21 }, (_, index) => ({ name: `t${index}` }))],
    ['/treatments/0', 'on'],
    ['/treatments/0/name', undefined],
    ['/treatments/0/name', 7],
    ['/treatments/2', { name: 'control' }],
    ['/treatments/2', { name: '1st' }],
    ['/treatments/2', { name: 'a b' }],
    ['/treatments/2', { name: 't'.repeat(257) }],
    ['/treatments/0/name', 'off'],
    ['/treatments/0/description', 7],
    ['/treatments/0/description', 'd'.repeat(10_001)],
    ['/treatments/0/configurations', 7],
    ['/treatments/0/configurations', '{'],
    ['/treatments/0/keys', 'a'],
    ['/treatments/0/keys', [7]],
    ['/treatments/0/keys', ['']],
    ['/treatments/1/keys', ['a']],
    ['/treatments/0/segments', 's'],
    ['/treatments/0/segments', [7]],
    ['/treatments/0/segments', ['']],
    ['/treatments/0/segments', ['none']],
    ['/treatments/0/colour', 'red'],
    ['/defaultTreatment', 7],
    ['/defaultTreatment', null],
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
    ['/defaultRule/0/treatment', 7],
    ['/defaultRule/0/size', undefined],
    ['/defaultRule/0/colour', 'red'],
    [
      '/defaultRule',
      [
        { treatment: 'off', size: 50 },
        { treatment: 'off', size: 50 },
      ],
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
  ])('is refused with another %s: %j', async (path, value) => {
    await expectRefused(wholeWith(path, value));
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
    const more = Array.from({ length: 18 }, (_, index) => ({ name: `t${index}` }));
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
    [
      'POST',
      '/trafficTypes/user/environments/staging/identities',
      [{ key: 'a', values: { 'a b': 1, ok: [] } }, 7],
    ],
  ])('is 400: %s %s', async (method, path, body) => {
    expect(await client.status(method, path, body)).toBe(400);
  });

  it.each([
    [{ op: 'test', path: '/killed', value: true }],
    [{ op: 'move', from: '/treatments', path: '/treatments/0' }],
    [{ op: 'copy', path: '/baselineTreatment' }],
    [{ op: 'replace', path: 'killed', value: true }],
    [{ op: 'replace', path: 'x/killed', value: true }],
    [{ op: 'test', path: '/openChangeRequestId/x', value: null }],
    [{ op: 'add', path: '/treatments/x1', value: { name: 'x' } }],
    [{ op: 'replace', path: '/rules/0/condition/matchers/00', value: MANY_MATCHERS[0] }],
    [{ op: 'remove', path: '' }],
    [{ op: 'replace', path: '/treatments/01/description', value: 'x' }],
    [{ op: 'replace', path: '/treatments/1x/description', value: 'x' }],
    [{ op: 'replace', path: '/treatments/-/description', value: 'x' }],
    [{ op: 'add', path: '/treatments/7', value: { name: 'x' } }],
    [{ op: 'replace', path: '/killed' }],
    [{ op: 'replace', path: '/lastUpdateTime', value: 1 }],
    [{ op: 'add', path: '/colour', value: 'red' }],
  ])('is 400: the patch operation %j', async (operation) => {
    await client.ok('POST', at('tried'), WHOLE);

    const answer = await client.call('PATCH', at('tried'), [operation]);

    await client.ok('DELETE', at('tried'));
    expect(answer.status).toBe(400);
  });

  it('is a place in a list beyond the tenth, and a move that moves nothing', async () => {
    await client.ok('POST', at('tried'), WHOLE);
    const keys = Array.from({ length: 11 }, (_, index) => `k${index}`);

    const { treatments } = await client.ok<WireDefinition>('PATCH', at('tried'), [
      ...keys.map((value) => ({ op: 'add', path: '/treatments/1/keys/-', value })),
      { op: 'replace', path: '/treatments/1/keys/10', value: 'last' },
      { op: 'move', from: '/treatments/1', path: '/treatments/1' },
    ]);

    await client.ok('DELETE', at('tried'));
    expect(treatments[1]?.keys).toEqual([...keys.slice(0, -1), 'last']);
  });

  it.each(
    Object.entries({
      '/environments/ws/Default/staging': ['remove /name', 'replace /id', 'replace /production'],
      '/workspaces/Default': ['remove /name', 'replace /id', 'replace /type'],
      '/splits/ws/Default/other': [
        ...['remove /rolloutStatus', 'remove /rolloutStatus/id', 'add /rolloutStatus/colour'],
        ...['replace /id', 'replace /name', 'replace /creationTime', 'replace /trafficType'],
        'replace /rolloutStatusTimestamp',
      ],
    }).flatMap(([path, changes]) => [...changes, 'add /colour'].map((each) => [path, each])),
  )('is 400: a patch of %s that would %s', async (path = '', change = '') => {
    const [op, member] = change.split(' ');

    expect(await client.status('PATCH', path, [{ op, path: member, value: 'another' }])).toBe(400);
  });

  it('is a key in any of the forms of its header', async () => {
    const status = async (authorization: string): Promise<number> =>
      (await client.call('GET', '/workspaces', undefined, { authorization })).status;

    expect(await status(`bearer   ${service.key} `)).toBe(200);
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
