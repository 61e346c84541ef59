import { describe, expect, it } from 'vitest';
import type { Definition, Matcher } from '../../../../src/model/flag/flag.js';
import type { FieldChange } from '../../../../src/model/plan.js';
import {
  seededDefinition,
  segmentList,
  servedDefinition,
  servedTo,
  withChanges,
  type KnownKey,
} from '../../../../src/plan/impact/served-definition.js';
import { bucketOf, constantServing } from '../../../../src/plan/impact/serving.js';
import {
  DEFINITION,
  dependingOn,
  inSegment,
  onShare,
  onWhere,
  serving,
} from '../../../support/builders.js';
import { aField, keyChange } from '../../../support/plan-builder.js';

function whole(said: Definition = {}, segments: Readonly<Record<string, readonly string[]>> = {}) {
  return { fields: { ...DEFINITION, ...said }, segments };
}

function targetsChange(
  treatment: string,
  added: readonly string[],
  removed: readonly string[] = [],
): FieldChange {
  return { path: `/targets/${treatment}`, reason: 'commit', keys: keyChange(added, removed) };
}

const ANA: KnownKey = {
  key: 'ana',
  attributes: { country: 'ES' },
  segments: new Set([segmentList('staff')]),
};
const ALL_ON = onShare(100);

function servedBy(flags: Readonly<Record<string, Definition>>, known: Partial<KnownKey> = {}) {
  const definitions = new Map(
    Object.entries(flags).map(([name, said], index) => {
      const served = servedDefinition(whole(said));
      return [name, seededDefinition(served, { seed: 7 + index, allocationSeed: 70 + index })];
    }),
  );
  return servedTo('shop', { ...ANA, ...known }, definitions);
}

const BOB: Matcher = { type: 'IN_LIST_STRING', strings: ['bob'] };
const LISTED = onWhere({ ...BOB, strings: ['ana'] });

const FROM_SPAIN: Matcher = { type: 'IN_LIST_STRING', attribute: 'country', strings: ['ES'] };
const LOOKS_AHEAD: Matcher = { type: 'MATCHES_STRING', string: '^(?=a)ana$' };
const OF_TOMORROW: Matcher = { type: 'OF_TOMORROW', attribute: 'country' };

it.each<[string, Definition, FieldChange[], Definition]>([
  [
    'of a field',
    { killed: true },
    [aField('/defaultTreatment', 'off', 'on')],
    { killed: true, defaultTreatment: 'on', targets: { on: [], off: [] } },
  ],
  [
    'of targets',
    { targets: { on: ['ana', 'bob'], off: ['cleo'] } },
    [targetsChange('on', ['dan'], ['ana']), targetsChange('off', ['ana'])],
    { targets: { on: ['bob', 'dan'], off: ['cleo', 'ana'] } },
  ],
  [
    'of treatments, where a configuration is not said',
    { treatments: [{ name: 'on', description: '', configuration: { limit: 1 } }] },
    [aField('/treatments', null, serving('on', 'off').treatments)],
    {
      treatments: [
        { name: 'on', description: '', configuration: { limit: 1 } },
        { name: 'off', description: '' },
      ],
      targets: { on: [], off: [] },
    },
  ],
])('a definition with changes %s', (_situation, before, changes, after) => {
  const changed = withChanges(whole(before, { on: ['staff'] }), changes);

  expect(changed).toStrictEqual(whole({ ...before, ...after }, { on: ['staff'] }));
});

it.each([
  ['that is null counts as none', null, undefined, true],
  ['of the same members is the same in any order', { a: 1, b: 2 }, { b: 2, a: 1 }, true],
  ['of another value is another', { a: 1 }, { a: 2 }, false],
  ['that is said is another than none', { a: 1 }, undefined, false],
])('the configuration of a treatment %s', (_situation, one, other, expected) => {
  const [text, otherText] = [one, other].map((configuration) => {
    const treatments = [
      { name: 'on', description: '', ...(configuration !== undefined && { configuration }) },
    ];
    return servedDefinition(whole({ treatments, ...onShare(100) })).otherwise.places[0]
      ?.configuration;
  });

  expect(text === otherText).toBe(expected);
  expect(text?.length).toBeLessThanOrEqual(64);
});

describe('what a key is served', () => {
  const all = (treatment: string) => [{ treatment, size: 100 }];
  const [ana, bob] = [
    { matchers: [{ type: 'IN_LIST_STRING', strings: ['ana'] }], buckets: all('on') },
    { matchers: [{ type: 'IN_LIST_STRING', strings: ['bob'] }], buckets: all('off') },
  ];

  const ofShop = { ...dependingOn('shop'), ...ALL_ON };

  it.each<[string, Readonly<Record<string, Definition>>, string | undefined]>([
    ['as an individual target', { shop: { targets: { on: ['ana'] } } }, 'on'],
    ['as no target', { shop: { targets: { on: ['bob'] } } }, 'off'],
    ['in a segment of a rule', { shop: inSegment('staff') }, 'on'],
    ['in another segment', { shop: inSegment('guests') }, 'off'],
    ['in the list of a rule', { shop: LISTED }, 'on'],
    ['outside the list of a rule', { shop: onWhere(BOB) }, 'off'],
    ['in the list of the second rule', { shop: { rules: [bob, ana] } }, 'on'],
    ['outside a list that is no list', { shop: onWhere({ type: 'IN_LIST_STRING' }) }, 'off'],
    ['as a treatment that is not declared', { shop: { defaultRule: all('old') } }, 'old'],
    ['with the attribute of a rule', { shop: onWhere(FROM_SPAIN) }, 'on'],
    ['with another attribute', { shop: onWhere({ ...FROM_SPAIN, strings: ['FR'] }) }, 'off'],
    ['that starts so', { shop: onWhere({ type: 'STARTS_WITH_STRING', strings: ['an'] }) }, 'on'],
    ['where an expression stays undecided', { shop: onWhere(LOOKS_AHEAD) }, 'off'],
    ['where the type of a matcher is unknown', { shop: onWhere(OF_TOMORROW) }, undefined],
    ['where the flag is unknown', {}, undefined],
    ['where another flag serves what is asked', { shop: dependingOn('cart'), cart: ALL_ON }, 'on'],
    ['where another flag serves something else', { shop: dependingOn('cart'), cart: {} }, 'off'],
    [
      'where the other flag is unknown, for control',
      { shop: dependingOn('cart', 'control') },
      'on',
    ],
    [
      'where the other serves, for control',
      { shop: dependingOn('cart', 'control'), cart: ALL_ON },
      'off',
    ],
    ['in a circle of flags', { shop: dependingOn('cart', 'off'), cart: ofShop }, 'off'],
    [
      'where the circle ends at control',
      {
        shop: dependingOn('cart'),
        cart: onWhere({
          type: 'IN_SPLIT',
          depends: { splitName: 'shop', treatments: ['control'] },
        }),
      },
      'on',
    ],
    ['while the flag is killed', { shop: { ...ALL_ON, killed: true } }, 'off'],
  ])('%s', (_situation, flags, expected) => {
    expect(servedBy(flags).served?.treatment).toBe(expected);
  });

  it.each<[string, string, string[], string]>([
    ['the first treatment that targets it', 'ana', ['staff'], 'off'],
    ['the treatment that targets it', 'bob', ['staff'], 'two'],
    ['that of a segment that is targeted whole', 'kim', ['staff', 'beta'], 'two'],
    ['that of another such segment', 'kim', ['guests'], 'two'],
    ['the default, as the allocation keeps it from the rules', 'kim', ['beta'], 'three'],
  ])('is %s', (_point, key, segments, expected) => {
    const said = {
      ...inSegment('beta'),
      ...serving('on', 'off', 'two', 'three'),
      targets: { two: ['ana', 'bob'], off: ['ana'] },
      defaultTreatment: 'three',
      trafficAllocation: 0,
    };
    const served = servedDefinition(whole(said, { two: ['staff', 'guests'] }));
    const shop = seededDefinition(served, { seed: 7, allocationSeed: 70 });
    const known = { ...ANA, key, segments: new Set(segments.map(segmentList)) };

    expect(servedTo('shop', known, new Map([['shop', shop]])).served?.treatment).toBe(expected);
  });

  it('is control at every place where the flag is unknown', () => {
    expect(servedBy({})).toEqual({ served: null, serving: constantServing(null) });
  });

  it('goes by the seeds of the definition', () => {
    const bucket = bucketOf('ana', 7);
    const draw = bucketOf('ana', 70);
    const treatments = [
      onShare(bucket),
      onShare(bucket - 1),
      { ...ALL_ON, trafficAllocation: draw },
      { ...ALL_ON, trafficAllocation: draw - 1 },
    ].map((shop) => servedBy({ shop }).served?.treatment);

    expect(treatments).toEqual(['on', 'off', 'on', 'off']);
  });

  it('names the point that serves it: a rule or the default rule', () => {
    const flags = { shop: { ...onShare(30), ...inSegment('staff') } };

    const [byRule, byDefault] = [ANA.segments, new Set<string>()].map(
      (segments) =>
        new Set(servedBy(flags, { segments }).serving.places.map((at) => at?.treatment)),
    );

    expect([...(byRule ?? [])]).toEqual(['on']);
    expect([...(byDefault ?? [])]).toEqual(['on', 'off']);
  });
});
