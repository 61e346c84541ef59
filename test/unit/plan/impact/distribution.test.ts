import { describe, expect, it } from 'vitest';
import type { Definition, Matcher, Rule } from '../../../../src/model/flag/flag.js';
import {
  dependsOnPlace,
  flagDistribution,
  flagsBehind,
  type Bounds,
  type Distribution,
} from '../../../../src/plan/impact/distribution.js';
import type { ListSides } from '../../../../src/plan/impact/environment-sides.js';
import { TRAFFIC, type KeyGroup } from '../../../../src/plan/impact/key-groups.js';
import { segmentList, servedDefinition } from '../../../../src/plan/impact/served-definition.js';
import { constantServing, pairOf } from '../../../../src/plan/impact/serving.js';
import { DEFINITION, dependingOn, inSegment, onShare } from '../../../support/builders.js';

/** Flag → its definition before and after. */
type Flags = Readonly<Record<string, readonly [Definition | null, Definition | null]>>;

function sidesOf(flags: Flags, listed: readonly string[] = []) {
  const served = (said: Definition | null) =>
    said && servedDefinition({ fields: { ...DEFINITION, ...said }, segments: {} });
  const none: ListSides = { before: [], added: [], removed: [] };
  return {
    flags: new Map(
      Object.entries(flags).map(([name, [before, after]]) => [
        name,
        { before: served(before), after: served(after) },
      ]),
    ),
    lists: new Map(listed.map((segment) => [segmentList(segment), none])),
  };
}

function distributionOf(
  flags: Flags,
  group: Partial<KeyGroup> = {},
  listed: readonly string[] = [],
): Distribution {
  const sides = sidesOf(flags, listed);
  return flagDistribution('shop', { ...TRAFFIC, ...group }, sides, new Map());
}

/** The moves of `shop` in per cent, and of all together. */
function linesOf({ pairs, moved, whole }: Distribution): string[] {
  if (!whole) return ['anything'];
  const lines = [...pairs].map(([key, bounds]) => {
    const { from, to } = pairOf(key);
    return `${from?.treatment ?? 'control'} → ${to?.treatment ?? 'control'} ${percents(bounds)}`;
  });
  return [...lines.toSorted(), `moved ${percents(moved)}`];
}

function percents({ least, most }: Bounds): string {
  const from = Math.round(least) / 100;
  const to = Math.round(most) / 100;
  return from === to ? `${from}` : `${from}–${to}`;
}

function rule(on: number, ...matchers: Matcher[]): Rule {
  return { matchers, buckets: onShare(on).defaultRule };
}

function same(definition: Definition): readonly [Definition, Definition] {
  return [definition, definition];
}

function from(country: string): Matcher {
  return { type: 'IN_LIST_STRING', attribute: 'country', strings: [country] };
}

function served(flag: string, treatment: string): Matcher {
  return { type: 'IN_SPLIT', depends: { splitName: flag, treatments: [treatment] } };
}

const IN_STAFF: Matcher = { type: 'IN_SEGMENT', string: 'staff' };
const SPAIN = { rules: [rule(50, from('ES'))] };

describe('the moves of the traffic', () => {
  it.each<[string, Flags, string[]]>([
    [
      'are exact for a ramp',
      { shop: [onShare(10), onShare(25)] },
      ['off → off 75', 'off → on 15', 'on → on 10', 'moved 15'],
    ],
    ['are none where nothing is declared', {}, ['control → control 100', 'moved 0']],
    [
      'lead to control where a definition goes',
      { shop: [onShare(10), null] },
      ['off → control 90', 'on → control 10', 'moved 100'],
    ],
    [
      'lie between those of the answers where an attribute decides',
      { shop: [{ ...onShare(20), ...SPAIN }, onShare(30)] },
      ['off → off 50–70', 'off → on 0–10', 'on → off 0–20', 'on → on 20–30', 'moved 10–20'],
    ],
    [
      'go by one answer where both sides ask the same',
      { shop: [SPAIN, { rules: [rule(100, from('ES'))] }] },
      ['off → off 0–100', 'off → on 0–50', 'on → on 0–50', 'moved 0–50'],
    ],
    [
      'ignore an open question beside one that is answered with no',
      {
        shop: same({ rules: [rule(100, from('ES'), served('cart', 'on'))] }),
        cart: same(onShare(0)),
      },
      ['off → off 100', 'moved 0'],
    ],
    [
      'are the product of the shares where another flag is asked',
      { shop: [dependingOn('cart'), dependingOn('cart')], cart: [onShare(20), onShare(50)] },
      ['off → off 50', 'off → on 30', 'on → on 20', 'moved 30'],
    ],
    [
      'weigh each result of the asked flag with its share',
      {
        shop: [
          { ...onShare(40), ...dependingOn('cart') },
          { ...onShare(60), ...dependingOn('cart') },
        ],
        cart: same(onShare(25)),
      },
      ['off → off 30', 'off → on 15', 'on → on 55', 'moved 15'],
    ],
    [
      'have the bounds of the asker, weighed, where the asked flag is exact',
      {
        shop: same({ rules: [...dependingOn('cart').rules, ...SPAIN.rules] }),
        cart: same(onShare(40)),
      },
      ['off → off 30–60', 'on → on 40–70', 'moved 0'],
    ],
    [
      'lie between the results of an asked flag that has bounds itself',
      { shop: same(dependingOn('cart')), cart: same(SPAIN) },
      ['off → off 0–100', 'on → on 0–100', 'moved 0'],
    ],
    [
      'come from control in a flag that is asked and made',
      { shop: same(dependingOn('cart')), cart: [null, onShare(40)] },
      ['off → off 60', 'off → on 40', 'moved 40'],
    ],
    [
      'lie between the results where two questions hang on one draw',
      {
        shop: same({ rules: [rule(50, served('cart', 'on')), rule(100, served('base', 'on'))] }),
        cart: same(dependingOn('base')),
        base: same(onShare(40)),
      },
      ['off → off 20–80', 'on → on 20–80', 'moved 0'],
    ],
    [
      'are exact where both questions hang on a flag that serves all keys the same',
      {
        shop: same({ rules: [rule(50, served('cart', 'off')), rule(100, served('base', 'on'))] }),
        cart: same({ ...onShare(30), rules: [rule(30, served('base', 'on'))] }),
        base: same(onShare(100)),
      },
      ['off → off 35', 'on → on 65', 'moved 0'],
    ],
    [
      'may be anything in a circle of flags',
      { shop: same(dependingOn('cart')), cart: same(dependingOn('shop')) },
      ['anything'],
    ],
    [
      'may be anything where one that is asked may be',
      {
        shop: same({ rules: [rule(100, served('cart', 'on'))] }),
        cart: same(dependingOn('cart')),
      },
      ['anything'],
    ],
    [
      'may be anything where one of the cases is in a circle',
      { shop: same({ rules: [rule(50, from('ES')), ...dependingOn('shop').rules] }) },
      ['anything'],
    ],
    [
      'go by one answer of a flag that is unknown',
      { shop: [dependingOn('x'), { ...onShare(100), rules: [rule(0, served('x', 'on'))] }] },
      ['off → on 0–100', 'on → off 0–100', 'moved 100'],
    ],
    [
      'go by an answer for each treatment of a flag that is unknown',
      { shop: [dependingOn('x'), { rules: [rule(100, served('x', 'off'))] }] },
      ['off → off 0–100', 'off → on 0–100', 'on → off 0–100', 'on → on 0–100', 'moved 0–100'],
    ],
    [
      'go by one answer for a segment that is unknown',
      { shop: [inSegment('partners'), { ...onShare(100), rules: [rule(0, IN_STAFF)] }] },
      ['off → off 0–100', 'off → on 0–100', 'on → off 0–100', 'on → on 0–100', 'moved 0–100'],
    ],
  ])('%s', (_situation, flags, expected) => {
    expect(linesOf(distributionOf(flags))).toEqual(expected);
  });

  it.each([
    [499, true],
    [500, false],
  ])('of %i rules, each with a condition of its own, are worked out: %s', (count, expected) => {
    const rules = Array.from({ length: count }, (_, index) => rule(100, from(`${index}`)));

    expect(distributionOf({ shop: same({ rules }) }).whole).toBe(expected);
  });

  it('are those of a limit for each flag that is asked', () => {
    const rules = Array.from({ length: 400 }, (_, index) => rule(100, from(`${index}`)));
    const shop = { rules: [...dependingOn('cart').rules, ...rules.slice(300)] };

    expect(distributionOf({ shop: same(shop), cart: same({ rules }) }).whole).toBe(true);
  });
});

describe('the moves of a group of keys', () => {
  const [on, off] = ['on', 'off'].map((treatment) => {
    return constantServing({ treatment, configuration: '' });
  });
  const staff = segmentList('staff');
  const place = (bucket: number) => ({ bucket, draw: 1 });

  it.each<[string, Partial<KeyGroup>, string[]]>([
    ['in the list', { lists: new Map([[staff, 'kept']]) }, ['on → on 100', 'moved 0']],
    ['that the list gains', { lists: new Map([[staff, 'added']]) }, ['off → on 100', 'moved 100']],
    ['that it loses', { lists: new Map([[staff, 'removed']]) }, ['on → off 100', 'moved 100']],
    ['in no list', {}, ['off → off 100', 'moved 0']],
    [
      'that become targets',
      { targets: new Map([['shop', { after: on }]]) },
      ['off → on 100', 'moved 100'],
    ],
    [
      'that are targets no more',
      { targets: new Map([['shop', { before: on }]]) },
      ['on → off 100', 'moved 100'],
    ],
    [
      'that are targets of both, though in the list',
      {
        lists: new Map([[staff, 'kept']]),
        targets: new Map([['shop', { before: off, after: off }]]),
      },
      ['off → off 100', 'moved 0'],
    ],
    [
      'that are targets elsewhere',
      { targets: new Map([['cart', { after: on }]]) },
      ['off → off 100', 'moved 0'],
    ],
  ])('%s', (_situation, group, expected) => {
    expect(linesOf(distributionOf({ shop: same(inSegment('staff')) }, group, ['staff']))).toEqual(
      expected,
    );
  });

  it.each<[string, Partial<KeyGroup>, string[]]>([
    ['that moves', { places: new Map([['shop', place(11)]]) }, ['off → on 100', 'moved 100']],
    ['that stays', { places: new Map([['shop', place(10)]]) }, ['on → on 100', 'moved 0']],
    [
      'in another flag',
      { places: new Map([['cart', place(11)]]) },
      ['off → off 80', 'off → on 10', 'on → on 10', 'moved 10'],
    ],
  ])('of a known place %s', (_situation, group, expected) => {
    expect(linesOf(distributionOf({ shop: [onShare(10), onShare(20)] }, group))).toEqual(expected);
  });
});

describe('what a key gets depends on its place', () => {
  it.each<[string, Flags, boolean]>([
    ['not where all keys get the same', { shop: [onShare(0), onShare(100)] }, false],
    ['where shares differ', { shop: same(onShare(10)) }, true],
    ['not where there are too many cases to tell', { shop: same(dependingOn('shop')) }, false],
  ])('%s', (_situation, flags, expected) => {
    expect(dependsOnPlace(distributionOf(flags))).toBe(expected);
  });
});

describe('the flags behind a flag', () => {
  it('are itself and all that are asked before or after, at any distance', () => {
    const sides = sidesOf({
      shop: [dependingOn('cart'), { rules: [rule(10, IN_STAFF), ...dependingOn('x').rules] }],
      cart: [null, dependingOn('base')],
      base: same({}),
      other: same(dependingOn('shop')),
    });

    expect([...flagsBehind('shop', sides)]).toEqual(['shop', 'cart', 'x', 'base']);
  });
});
