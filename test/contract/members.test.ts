import { beforeAll, describe, expect, it } from 'vitest';
import type { WireDefinition, WirePage } from '../../src/admin-api/wire.js';
import { KNOWN_MATCHER_TYPES } from '../../src/service/rules/definition-schema.js';
import { expectAnswers, refusal, replacing, type Exchange } from '../support/exchanges.js';
import { aDefinition, at, callsOf, ruleOn, withValueAt } from '../support/service-calls.js';
import { aService, startTestService } from '../support/service.js';

/** Every member of a body, one by one: what it must be, what it must not, and what becomes of it. */
const service = aService({ strict: false });
const client = callsOf(service);
const FLAGS = '/splits/ws/Default/trafficTypes/user';

beforeAll(async () => {
  for (const name of ['tried', 'other']) await client.flag(name);
  await client.define('known');
  await client.segment('s');
});

const many = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));

const TREATMENTS = [
  { name: 'on', description: 'd', configurations: '{}', keys: ['a'], segments: ['s'] },
  { name: 'off', description: '' },
];
const PAID = { type: 'BOOLEAN', attribute: 'paid', bool: true };
const RULES = [ruleOn(PAID)];
const TOO_MANY_MATCHERS = many(21, () => PAID);

/** With every member that a definition may have. */
const WHOLE = {
  ...aDefinition({ treatments: TREATMENTS, rules: RULES }),
  flagSets: [{ id: 'set', type: 'FlagSet' }],
  impressionsDisabled: true,
};

/** `WHOLE` with another value at a path; undefined takes it away. */
const wholeWith = (path: string, value: unknown): object => withValueAt(WHOLE, path, value);

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
  expect(answer.body, JSON.stringify(body).slice(0, 500)).toMatchObject(refusal(400, why));
}

describe('a definition', () => {
  it('is kept with every member that it may have', async () => {
    expect(await create(WHOLE)).toMatchObject(WHOLE);
  });

  /** By its path, what a member must not be. undefined: left out. */
  const WRONG: Readonly<Record<string, readonly unknown[]>> = {
    '/killed': ['yes', null],
    '/treatments': [[{ name: 'on' }], many(21, (index) => ({ name: `t${index}` }))],
    '/treatments/0': ['on'],
    '/treatments/0/name': [undefined, 7],
    '/treatments/0/description': [7, 'd'.repeat(10_001)],
    '/treatments/0/configurations': [7, '{'],
    '/treatments/0/keys': ['a', [7], ['']],
    '/treatments/0/segments': ['s', [7], ['']],
    '/defaultTreatment': [7, null],
    '/baselineTreatment': [7, null],
    '/trafficAllocation': ['all', null],
    '/flagSets': [null, { nope: 1 }, ['set']],
    '/impressionsDisabled': ['yes', null],
    '/rules': ['none', many(251, () => ruleOn({ type: 'X' }))],
    '/rules/0': ['none'],
    '/rules/0/colour': ['red'],
    '/rules/0/buckets': [[]],
    '/rules/0/condition/colour': ['red'],
    '/rules/0/condition/matchers': [[], TOO_MANY_MATCHERS],
    '/rules/0/condition/matchers/0': ['none'],
    '/rules/0/condition/matchers/0/type': [7, ''],
    '/rules/0/condition/matchers/0/negate': ['yes'],
    '/rules/0/condition/matchers/0/attribute': [7],
    '/defaultRule': [[]],
    '/defaultRule/0': ['off'],
    '/defaultRule/0/treatment': [undefined, 7],
    '/defaultRule/0/size': [undefined],
    '/id': [7],
    '/name': [7],
    '/environment': [7, { nope: 1 }, { id: 7 }, { name: 7 }],
    '/trafficType': [7, 'account'],
    '/creationTime': ['now'],
    '/lastUpdateTime': ['now'],
    '/openChangeRequestId': [7],
    '/title': [7],
    '/comment': [7],
  };

  it.each(Object.entries(WRONG))('is refused with another %s: %j', async (path, values) => {
    for (const value of values) await expectRefused(wholeWith(path, value));
  });

  const FORM =
    'Treatment names must start with a letter, a digit or _ and can contain "-_. a-z A-Z 0-9"';
  const half = { treatment: 'off', size: 50 };

  it.each<[string, unknown, string]>([
    ['/treatments/2', { name: 'control' }, 'Treatment name control is reserved'],
    ...['.5', '-1', 'a b', ' on', 'on '].map((name): [string, unknown, string] => [
      '/treatments/2',
      { name },
      FORM,
    ]),
    ['/treatments/2', { name: 't'.repeat(257) }, 'have at most 256 characters'],
    ['/treatments/0/name', 'off', 'Treatment off stands twice in treatments'],
    ['/treatments/1/keys', ['j', 'a'], 'Key a is targeted by the treatments on and off'],
    ['/treatments/0/segments', ['none', 'a-none'], 'There is no segment a-none active in staging'],
    ['/defaultTreatment', 'none', 'There is no treatment none, which defaultTreatment names'],
    ['/baselineTreatment', 'none', 'There is no treatment none, which baselineTreatment names'],
    ['/rules/0/buckets/0/size', 50, 'The bucket sizes of rule 1 sum to 50, not to 100'],
    ['/defaultRule/0/treatment', 'none', 'There is no treatment none, which defaultRule names'],
    ['/defaultRule', [half, half], 'Treatment off stands twice in defaultRule'],
  ])('is refused in words with %s: %j', async (path, value, why) => {
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

  it('may say its environment and traffic type by id or name', async () => {
    const { environment, trafficType } = await create(WHOLE);

    for (const member of ['id', 'name'] as const) {
      const places = { environment: environment[member], trafficType: trafficType[member] };
      await create({ ...WHOLE, ...places });
    }
  });

  it.each<[string, unknown, unknown]>([
    ['keys', ['a', 'b', 'a'], ['a', 'b']],
    ['segments', ['s', 's'], ['s']],
    ['segments', [], undefined],
    ['description', 'd'.repeat(10_000), 'd'.repeat(10_000)],
  ])('tidies the %s of a treatment: %j', async (member, value, kept) => {
    const { treatments } = await create(wholeWith(`/treatments/0/${member}`, value));

    expect(Object.entries(treatments[0] ?? {}).find(([name]) => name === member)?.[1]).toEqual(
      kept,
    );
  });

  it('may name segments that begin with a digit or have a point, as specs can say', async () => {
    const names = ['9lives', '_s', 'v1.0'];
    for (const name of names) await client.segment(name);

    const { treatments } = await create(wholeWith('/treatments/0/segments', names));

    expect(treatments[0]?.segments).toEqual(names);
  });

  it('has up to twenty treatments, twenty matchers in a rule, and 250 rules, in a patch too', async () => {
    const matchers = TOO_MANY_MATCHERS.slice(1);
    const rule = { ...ruleOn({}), condition: { combiner: 'AND', matchers } };
    const wide = { ...rule, condition: { combiner: 'AND', matchers: TOO_MANY_MATCHERS } };

    const { rules, treatments } = await create({
      ...WHOLE,
      treatments: [
        ...TREATMENTS,
        ...many(18, (index) => ({ name: `${'_1t'.charAt(index % 3)}-.${index}` })),
      ],
      rules: many(250, () => rule),
    });

    expect([treatments.length, rules.length]).toEqual([20, 250]);
    expect(rules[249]?.condition).toEqual({ combiner: 'AND', matchers });
    await expectAnswers(
      client,
      [200, 'POST', at('tried'), aDefinition({ rules: many(250, () => ruleOn(PAID)) })],
      [
        400,
        'PATCH',
        at('tried'),
        [{ op: 'add', path: '/rules/-', value: ruleOn(PAID) }],
        refusal(400, '250'),
      ],
      [200, 'PATCH', at('tried'), replacing('/rules', [rule]), { killed: false }],
      [400, 'PATCH', at('tried'), replacing('/rules', [wide]), refusal(400, 'at most 20 matchers')],
      [200, 'DELETE', at('tried')],
    );
  });

  it('has a million characters, where each value counts as 20 more, in a patch too', async () => {
    const listing = (count: number): object[] => [
      ruleOn({ type: 'IN_LIST_STRING', strings: many(count, () => 'x') }),
    ];
    const message =
      'A definition holds at most 1048576 characters, where each value counts as 20 more';

    await expectAnswers(
      client,
      [400, 'POST', at('tried'), aDefinition({ rules: listing(50_000) }), { message }],
      [200, 'POST', at('tried'), aDefinition({ rules: listing(49_000) })],
      [400, 'PATCH', at('tried'), replacing('/rules', listing(50_000)), { message }],
      [200, 'DELETE', at('tried')],
    );
  });

  it('keeps the segments that its treatments target from deletion', async () => {
    await expectAnswers(
      client,
      [200, 'POST', at('tried'), WHOLE],
      [409, 'DELETE', '/segments/staging/s'],
      [409, 'DELETE', '/segments/ws/Default/s'],
      [200, 'DELETE', at('tried')],
    );
  });
});

describe('a matcher', () => {
  const LIST = { strings: ['a'] };
  const ON = { attribute: 'a' };
  const RANGE = { from: 1, to: 2 };
  const each = (types: readonly string[], fields: object): Record<string, object> =>
    Object.fromEntries(types.map((type) => [type, fields]));
  const KNOWN: Readonly<Record<string, object>> = {
    IN_SEGMENT: { string: 's' },
    IN_LARGE_SEGMENT: { string: 'large' },
    IN_RULE_BASED_SEGMENT: { string: 'ruled' },
    IN_SPLIT: { depends: { splitName: 'other', treatments: ['on'] } },
    ...each(['EQUAL_SET', 'ANY_OF_SET', 'ALL_OF_SET', 'PART_OF_SET'], { ...ON, ...LIST }),
    ...each(['ON_DATE', 'ON_OR_AFTER_DATE', 'ON_OR_BEFORE_DATE'], { ...ON, date: 1 }),
    ...each(['EQUAL_NUMBER', 'LESS_THAN_OR_EQUAL_NUMBER'], { ...ON, number: 1.5 }),
    ...each(['GREATER_THAN_OR_EQUAL_NUMBER'], { ...ON, number: 1.5 }),
    ...each(['BETWEEN_DATE', 'BETWEEN_NUMBER'], { ...ON, between: RANGE }),
    BETWEEN_SEMVER: { ...ON, between: { from: '1.0.0', to: '2.0.0' } },
    IN_LIST_SEMVER: { ...ON, ...LIST },
    BOOLEAN: { ...ON, bool: false },
    ...each(['IN_LIST_STRING', 'STARTS_WITH_STRING'], LIST),
    ...each(['ENDS_WITH_STRING', 'CONTAINS_STRING'], LIST),
    MATCHES_STRING: { string: 'a+' },
    ...each(['EQUAL_TO_SEMVER', 'GREATER_THAN_OR_EQUAL_TO_SEMVER'], { ...ON, string: '1.0.0' }),
    LESS_THAN_OR_EQUAL_TO_SEMVER: { ...ON, string: '1.0.0' },
  };

  it('has an example of every known type', () => {
    expect(Object.keys(KNOWN).toSorted()).toEqual(KNOWN_MATCHER_TYPES.toSorted());
  });

  it.each(Object.entries(KNOWN))(
    '%s is kept with its fields, and refused without each of them',
    async (type, fields) => {
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

  const IN_SEGMENT = { type: 'IN_SEGMENT', string: 's' };
  const UNKNOWN = { type: 'NEWEST', negate: true, deep: { list: [1] } };
  const dependsOn = (given: object): object => {
    return { type: 'IN_SPLIT', depends: { splitName: 'other', ...given } };
  };

  it.each<[string, object, object]>([
    ['one treatment as a list', dependsOn({ treatment: 'on' }), dependsOn({ treatments: ['on'] })],
    ...[{ treatments: ['on', 'off'] }, { treatment: 'on', treatments: ['off'] }].map(
      (given): [string, object, object] => ['a list', dependsOn(given), dependsOn(given)],
    ),
    ['no negate that is false', { ...IN_SEGMENT, negate: false }, IN_SEGMENT],
    ['an unknown type as it came', UNKNOWN, UNKNOWN],
  ])('is shown with %s: %j', async (_, given, shown) => {
    const { rules } = await create({ ...WHOLE, rules: [ruleOn(given)] });

    expect(rules[0]?.condition.matchers).toEqual([shown]);
  });
});

describe('a body beyond the contract', () => {
  const FLAG = at('known');
  const IDENTITY = '/trafficTypes/user/environments/staging/identities/a';
  const ENVIRONMENTS = '/environments/ws/Default';
  const permitting = (changePermissions: object): object => ({ name: 'e', changePermissions });

  it.each<[string, string, object, string]>([
    ['POST', '/workspaces', { name: 'W', requireTitle: true }, 'requireTitle'],
    ['POST', ENVIRONMENTS, { name: 'e', prodution: true }, 'prodution'],
    ['POST', ENVIRONMENTS, permitting({ areAprovalsRequired: true }), 'areAprovalsRequired'],
    ['POST', '/trafficTypes/ws/Default', { name: 't', x: 1 }, 'x'],
    ['POST', '/apiKeys', { name: 'k', enviroments: ['staging'] }, 'enviroments'],
    ['PUT', `${FLAG}/kill`, { coment: 'c' }, 'coment'],
    ['POST', `${FLAG}/restore`, { reason: 'c' }, 'reason'],
    ['PUT', FLAG, aDefinition({ trafficAlocation: 5 }), 'trafficAlocation'],
    ['PUT', IDENTITY, { valeus: { plan: 'pro' } }, 'valeus'],
    ['PATCH', IDENTITY, { valeus: { plan: 'pro' } }, 'valeus'],
  ])('of %s %s with a member that nobody knows is refused: %j', async (...row) => {
    const [method, path, body, member] = row;
    const before = await client.ok('GET', '/auditLog');

    const why = refusal(400, `has no member ${member}`);
    await expectAnswers(client, [400, method, path, body, why]);
    expect(await client.ok('GET', '/auditLog')).toEqual(before);
  });

  it('is refused where nobody would enforce it, and not where it asks for nothing', async () => {
    const nothing = { areApproversRestricted: false, approvers: [], editors: [] };
    const exporters = { areExportersRestricted: false, exporters: [] };

    await expectAnswers(
      client,
      [400, 'POST', ENVIRONMENTS, permitting({ approvers: ['ana'] })],
      [400, 'POST', ENVIRONMENTS, permitting({ areEditorsRestricted: true })],
      [400, 'POST', '/apiKeys', { name: 'k', roles: ['API_FEATURE_FLAG_VIEWER'] }],
      [200, 'POST', ENVIRONMENTS, { ...permitting(nothing), dataExportPermissions: exporters }],
      [200, 'POST', '/apiKeys', { name: 'all', roles: ['API_ALL_GRANTED'] }],
      ...[undefined, {}, [], { comment: 'c', title: 't' }].map((body): Exchange => [
        200,
        'PUT',
        `${FLAG}/kill`,
        body,
      ]),
    );
  });

  it('of an identity that names another key or traffic type than its path is refused', async () => {
    const named = { key: 'a', values: { plan: 'pro' } };
    const [key, type] = ['key', 'trafficTypeId'].map((each) => `${each} is not that of the path`);

    await expectAnswers(
      client,
      [400, 'PUT', IDENTITY, { values: {}, key: 'b' }, { message: key }],
      [400, 'PUT', IDENTITY, { values: {}, trafficTypeId: 'x' }, { message: type }],
    );
    const saved = await client.ok<object>('PUT', IDENTITY, named);
    expect(await client.ok('PATCH', IDENTITY, saved)).toEqual(saved);
  });

  it('that an earlier version kept does not stand in the way of a patch or a kill', async () => {
    const path = at('older');
    await client.define('older', { rules: RULES });
    // A patch keeps such members as it finds them; this is also how one comes in here.
    await client.ok('PATCH', path, [
      { op: 'add', path: '/treatments/0/odd', value: 1 },
      { op: 'add', path: '/rules/0/condition/matchers/0/odd', value: 1 },
    ]);

    await client.ok('PUT', `${path}/kill`);
    const after = await client.ok('PATCH', path, replacing('/trafficAllocation', 5));

    const treatments = [{ odd: 1 }, { name: 'off' }];
    expect(after).toMatchObject({ killed: true, trafficAllocation: 5, treatments });
  });
});

describe('what else a request may be told apart by', () => {
  const WORKSPACES = '/workspaces';
  const UPLOAD = '/segments/staging/s/upload';
  const ENVIRONMENTS = '/environments/ws/Default';

  it.each([
    ['PUT', '/segments/staging/s/uploadKeys?replace=perhaps', { keys: ['a'] }],
    ['PUT', UPLOAD, ['k'.repeat(5_000)]],
    ['PUT', UPLOAD, ['\ud83d']],
    // Two code units for each of fewer than a thousand characters.
    ['PUT', UPLOAD, ['😀'.repeat(501)]],
    ['POST', '/segments/ws/Default/trafficTypes/user', { name: '.1st' }],
    ['POST', '/trafficTypes/ws/Default', { name: 'a b' }],
    ['POST', FLAGS, { name: '_f' }],
    ['POST', FLAGS, { name: 'f'.repeat(300) }],
    ['POST', FLAGS, { name: 'long', description: 'd'.repeat(10_001) }],
    ['PUT', '/splits/ws/Default/other/updateDescription', 'd'.repeat(10_001)],
    ['PATCH', '/splits/ws/Default/other', replacing('/description', 'd'.repeat(10_001))],
    ['POST', WORKSPACES, { name: '😀'.repeat(129) }],
    ['POST', WORKSPACES, { name: 'w'.repeat(300) }],
    ['POST', WORKSPACES, { name: 'a\nb' }],
    ['POST', ENVIRONMENTS, { name: 'a\u007fb' }],
    ['POST', ENVIRONMENTS, { name: 'e'.repeat(257) }],
    [
      'POST',
      '/trafficTypes/user/environments/staging/identities',
      [{ key: 'a', values: { 'a b': 1, ok: [] } }, 7],
    ],
  ])('is 400: %s %s', async (method, path, body) => {
    expect(await client.status(method, path, body)).toBe(400);
  });

  it('is a name of 256 characters, a description of 10,000, or a name that is reserved', async () => {
    await expectAnswers(
      client,
      [200, 'POST', ENVIRONMENTS, { name: 'e'.repeat(256) }],
      [200, 'PUT', '/splits/ws/Default/other/updateDescription', 'd'.repeat(10_000)],
      ...['datetime', 'string', 'set', 'integer'].map((name): Exchange => {
        const message = `Feature flag name ${name} is reserved`;
        return [400, 'POST', FLAGS, { name }, { code: 400, message }];
      }),
    );
  });

  it.each<[object, string?]>([
    [{ op: 'test', path: '/killed', value: true }, 'Patch test of /killed failed'],
    [{ op: 'test', path: '/treatments/0/keys', value: ['a', 'b'] }],
    [{ op: 'test', path: '/treatments/0/keys', value: ['b'] }],
    [{ op: 'test', path: '/treatments/0/keys', value: { 0: 'a' } }],
    [{ op: 'test', path: '/flagSets/0', value: ['set', 'FlagSet'] }],
    [{ op: 'test', path: '/openChangeRequestId/x', value: null }],
    [{ op: 'add', path: '/defaultTreatment/x', value: {} }],
    [{ op: 'add', path: '/none/x', value: {} }],
    [{ op: 'add', path: '/treatments/0/__proto__', value: {} }],
    [{ op: 'add', path: '/seed', value: 2 }, 'Definition has no member seed'],
    [{ op: 'add', path: '/treatments/x1', value: { name: 'x' } }],
    [{ op: 'add', path: '/treatments/7', value: { name: 'x' } }],
    [{ op: 'add', path: '/colour', value: 'red' }],
    ...['id', 'name', 'environment/id', 'trafficType/name', 'creationTime'].map(
      (member): [object] => [{ op: 'add', path: `/${member}`, value: 'x' }],
    ),
    [
      { op: 'move', from: '/treatments', path: '/treatments/0' },
      'Patch cannot move /treatments into itself',
    ],
    [{ op: 'copy', path: '/baselineTreatment' }],
    [{ op: 'remove', path: '' }, 'Patch cannot remove the whole document'],
    [{ op: 'replace', path: 'killed', value: true }],
    [{ op: 'replace', path: 'x/killed', value: true }],
    [{ op: 'replace', path: '/killed' }],
    [{ op: 'replace', path: '/lastUpdateTime', value: 1 }],
    [{ op: 'replace', path: '/rules/0/condition/matchers/00', value: PAID }],
    ...['01', '1x', '-'].map((index): [object] => [
      { op: 'replace', path: `/treatments/${index}/description`, value: 'x' },
    ]),
  ])('is 400: the patch operation %j', async (operation, why = '') => {
    const before = await client.ok('POST', at('tried'), WHOLE);

    const { body } = await client.call('PATCH', at('tried'), [operation]);

    const after = await client.ok('GET', at('tried'));
    await client.ok('DELETE', at('tried'));
    expect(body).toMatchObject(refusal(400, why));
    expect(after).toEqual(before);
  });

  it('is a whole document as it was shown, whose seeds are ignored as in a PUT', async () => {
    const before = await client.ok<WireDefinition>('POST', at('tried'), WHOLE);
    const value = { ...before, trafficAllocation: 7, trafficAllocationSeed: 2 };

    const after = await client.ok('PATCH', at('tried'), replacing('', value));

    await client.ok('DELETE', at('tried'));
    const { seed, trafficAllocationSeed } = before;
    expect(after).toMatchObject({ trafficAllocation: 7, seed, trafficAllocationSeed });
  });

  it('is a place in a list beyond the tenth, a member of an odd name, and a test that holds', async () => {
    await client.ok('POST', at('tried'), WHOLE);
    const keys = many(11, (index) => `k${index}`);

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
    }),
  )('is 400: a patch of %s that would do one of %j', async (path, changes) => {
    for (const change of [...changes, 'add /colour']) {
      const [op, member] = change.split(' ');
      const why = member === '/id' ? 'id cannot be changed' : '';
      const patch = [{ op, path: member, value: 'another' }];
      await expectAnswers(client, [400, 'PATCH', path, patch, refusal(400, why)]);
    }
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
    const { key } = service;
    const status = async (authorization: string, more = {}): Promise<number> =>
      (await client.call('GET', '/workspaces', undefined, { authorization, ...more })).status;
    const other = { 'x-api-key': key };

    expect(await status(`bearer   ${key} `)).toBe(200);
    // Where the header of the contract is missing, and not where it is wrong.
    expect([await status('Basic x', other), await status('Bearer wrong', other)]).toEqual([
      200, 401,
    ]);
    const wrongKeys = [`${key}x`, key.slice(0, -1), key.toUpperCase()];
    for (const wrong of [
      ...['Basic x', `x Bearer ${key}`, `Bearer ${key} x`, key],
      ...wrongKeys.map((each) => `Bearer ${each}`),
    ]) {
      expect(await status(wrong)).toBe(401);
    }
  });
});
