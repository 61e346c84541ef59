import fc from 'fast-check';
import { beforeAll, beforeEach, expect, it } from 'vitest';
import type { WireDefinition } from '../../src/admin-api/wire.js';
import { lawSettings } from '../property/law-settings.js';
import { aDefinition, at, callsOf } from '../support/service-calls.js';
import { aService } from '../support/service.js';

/** Whatever is sent, the service answers by its own rules, and what it keeps obeys them. */
const failures: unknown[] = [];
/** A sample: `npm run test:laws` sends as much as its other laws draw. */
const settings = lawSettings('whatever is sent to the service', 100);

const service = aService({
  log: { info: () => undefined, warn: () => undefined, error: (fields) => failures.push(fields) },
});
const client = callsOf(service);

beforeAll(async () => {
  await client.flag('f');
});

beforeEach(() => {
  failures.length = 0;
});

/** Of everything that is drawn; and nothing of it is a fault of the service. */
async function hold<T>(drawn: fc.Arbitrary<T>, check: (value: T) => Promise<void>): Promise<void> {
  await fc.assert(fc.asyncProperty(drawn, check), settings);
  expect(failures).toEqual([]);
}

const PATH = at('f');
const treatment = fc.constantFrom('on', 'off', 'third', '');
const bucket = fc.record({ treatment, size: fc.constantFrom(0, 50, 100, -1, 0.5) });
const anything = fc.jsonValue({ maxDepth: 3 });
const value = fc.oneof(anything, fc.array(bucket, { maxLength: 3 }), treatment, fc.integer());
const path = fc.oneof(
  fc.constantFrom(
    ...['', '/', '/killed', '/treatments', '/treatments/0', '/treatments/-', '/treatments/0/name'],
    ...['/treatments/0/keys', '/treatments/0/keys/-', '/defaultRule', '/defaultRule/0/size'],
    ...['/defaultRule/-', '/rules', '/rules/-', '/rules/0/condition/matchers/0', '/id', '/name'],
    ...['/trafficAllocation', '/baselineTreatment', '/defaultTreatment', '/flagSets', '/__proto__'],
  ),
  fc.string().map((text) => `/${text}`),
);
const operation = fc.record(
  {
    op: fc.constantFrom('add', 'replace', 'remove', 'move', 'copy', 'test'),
    path,
    from: path,
    value,
  },
  { requiredKeys: ['op', 'path'] },
);

function checkInvariants(definition: WireDefinition): void {
  const names = new Set(definition.treatments.map(({ name }) => name));
  expect(names.size).toBe(definition.treatments.length);
  expect(names).toContain(definition.defaultTreatment);
  expect(names).toContain(definition.baselineTreatment);
  for (const buckets of [definition.defaultRule, ...definition.rules.map((rule) => rule.buckets)]) {
    expect(buckets.reduce((sum, { size }) => sum + size, 0)).toBe(100);
    for (const each of buckets) expect(names).toContain(each.treatment);
  }
  for (const { keys } of definition.treatments) expect(new Set(keys).size).toBe(keys?.length ?? 0);
}

it('any patch of a definition is taken or refused, and leaves a definition that is whole', async () => {
  const treatments = [{ name: 'on', keys: ['a'] }, { name: 'off' }];
  await client.call('DELETE', PATH);
  await client.ok('POST', PATH, aDefinition({ treatments }));

  await hold(fc.array(operation, { maxLength: 4 }), async (operations) => {
    const before = await client.ok('GET', PATH);
    const answer = await client.call('PATCH', PATH, operations);
    const after = await client.ok<WireDefinition>('GET', PATH);

    expect([200, 400]).toContain(answer.status);
    checkInvariants(after);
    expect(after).toEqual(answer.status === 200 ? answer.body : before);
  });
});

it('any body of a definition is taken or refused', async () => {
  const members = fc.record(
    {
      treatments: fc.oneof(anything, fc.constant([{ name: 'on' }, { name: 'off' }])),
      defaultTreatment: fc.oneof(anything, treatment),
      baselineTreatment: fc.oneof(anything, treatment),
      trafficAllocation: fc.oneof(anything, fc.integer({ min: 0, max: 100 })),
      killed: anything,
      rules: anything,
      defaultRule: fc.oneof(anything, fc.constant([{ treatment: 'on', size: 100 }])),
      title: anything,
    },
    { requiredKeys: ['treatments', 'defaultTreatment', 'defaultRule'] },
  );
  await client.call('DELETE', PATH);

  await hold(fc.oneof(members, anything), async (body) => {
    const answer = await client.call('POST', PATH, body);
    if (answer.status === 200) {
      checkInvariants(answer.body as WireDefinition);
      await client.ok('DELETE', PATH);
    } else expect(answer.status).toBe(400);
  });
});

it('any text for a body is taken or refused by every endpoint that takes one', async () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.json(),
    fc.constantFrom('[', '{"keys":', '\u0000', '"\\ud800"', '['.repeat(100_000), '[["\\u0000"]]'),
  );
  const place = fc.constantFrom(
    'POST /splits/ws/Default/trafficTypes/user',
    'PATCH /splits/ws/Default/f',
    'PUT /splits/ws/Default/f/updateDescription',
    'POST /tags/ws/Default/object/f/objecttype/Split',
    'POST /segments/ws/Default/trafficTypes/user',
    'PUT /segments/staging/none/upload',
    'POST /trafficTypes/user/environments/staging/identities',
    'PUT /trafficTypes/user/environments/staging/identities/k',
    'POST /workspaces',
    'POST /environments/ws/Default',
    'POST /apiKeys',
  );

  await hold(fc.tuple(place, text), async ([where, body]) => {
    const [method = '', to = ''] = where.split(' ');
    const answer = await client.send(method, to, body);

    expect([200, 400, 404, 409]).toContain(answer.status);
  });
});

it('any name in a path is found or not', async () => {
  await hold(fc.string({ unit: 'binary', minLength: 1 }), async (name) => {
    fc.pre(name !== '.' && name !== '..');
    const encoded = encodeURIComponent(name);

    const expected = name.includes('\0') ? [400] : [200, 404];
    for (const path of [
      `/splits/ws/${encoded}`,
      at(encoded),
      `/segments/${encoded}/${encoded}/keys`,
    ]) {
      expect(expected).toContain(await client.status('GET', path));
    }
  });
});
