import { describe, expect, it } from 'vitest';
import type { Definition, Matcher } from '../../../../src/model/flag/flag.js';
import {
  seededDefinition,
  segmentList,
  servedDefinition,
  servedTo,
  type KnownKey,
} from '../../../../src/plan/impact/served-definition.js';
import { bucketOf } from '../../../../src/plan/impact/serving.js';
import { DEFINITION, dependingOn, inSegment, onShare } from '../../../support/builders.js';

const ANA: KnownKey = {
  key: 'ana',
  attributes: { country: 'ES' },
  segments: new Set([segmentList('staff')]),
};
const ALL_ON = onShare(100);

function servedBy(flags: Readonly<Record<string, Definition>>, known: Partial<KnownKey> = {}) {
  const definitions = new Map(
    Object.entries(flags).map(([name, said], index) => {
      const served = servedDefinition({ fields: { ...DEFINITION, ...said }, segments: {} });
      return [name, seededDefinition(served, { seed: 7 + index, allocationSeed: 70 + index })];
    }),
  );
  return servedTo('shop', { ...ANA, ...known }, definitions);
}

function onWhere(matcher: Matcher): Definition {
  return { rules: [{ matchers: [matcher], buckets: [{ treatment: 'on', size: 100 }] }] };
}

function askingFor(treatment: string): Definition {
  return onWhere({ type: 'IN_SPLIT', depends: { splitName: 'cart', treatments: [treatment] } });
}

const FROM_SPAIN: Matcher = { type: 'IN_LIST_STRING', attribute: 'country', strings: ['ES'] };
const LOOKS_AHEAD: Matcher = { type: 'MATCHES_STRING', string: '^(?=a)ana$' };
const OF_TOMORROW: Matcher = { type: 'OF_TOMORROW', attribute: 'country' };

describe('what a key is served', () => {
  it.each<[string, Readonly<Record<string, Definition>>, string | undefined]>([
    ['as an individual target', { shop: { targets: { on: ['ana'] } } }, 'on'],
    ['as no target', { shop: { targets: { on: ['bob'] } } }, 'off'],
    ['in a segment of a rule', { shop: inSegment('staff') }, 'on'],
    ['in another segment', { shop: inSegment('guests') }, 'off'],
    [
      'in the list of a rule',
      { shop: onWhere({ type: 'IN_LIST_STRING', strings: ['ana'] }) },
      'on',
    ],
    [
      'outside the list of a rule',
      { shop: onWhere({ type: 'IN_LIST_STRING', strings: ['bob'] }) },
      'off',
    ],
    ['with the attribute of a rule', { shop: onWhere(FROM_SPAIN) }, 'on'],
    ['with another attribute', { shop: onWhere({ ...FROM_SPAIN, strings: ['FR'] }) }, 'off'],
    [
      'that starts as a rule asks',
      { shop: onWhere({ type: 'STARTS_WITH_STRING', strings: ['an'] }) },
      'on',
    ],
    ['where an expression stays undecided', { shop: onWhere(LOOKS_AHEAD) }, 'off'],
    ['where the type of a matcher is unknown', { shop: onWhere(OF_TOMORROW) }, undefined],
    ['where the flag is unknown', {}, undefined],
    [
      'where another flag serves what a rule asks',
      { shop: dependingOn('cart'), cart: ALL_ON },
      'on',
    ],
    ['where another flag serves something else', { shop: dependingOn('cart'), cart: {} }, 'off'],
    [
      'where the other flag is unknown, and a rule asks for control',
      { shop: askingFor('control') },
      'on',
    ],
    [
      'where the other flag serves a treatment, and a rule asks for control',
      { shop: askingFor('control'), cart: ALL_ON },
      'off',
    ],
    [
      'where flags ask about each other in a circle',
      { shop: askingFor('off'), cart: { ...dependingOn('shop'), ...ALL_ON } },
      'off',
    ],
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
