import { describe, expect, it } from 'vitest';
import type { Bucket, Definition, Rule } from '../../../../src/model/flag/flag.js';
import type { Json } from '../../../../src/model/json.js';
import type { FlagImpact, KeyCount, Range } from '../../../../src/model/impact.js';
import { planImpact } from '../../../../src/plan/impact/impact.js';
import type { PlanInput } from '../../../../src/plan/input.js';
import { planChanges } from '../../../../src/plan/plan.js';
import {
  aDesired,
  anActual,
  anEnvironment,
  aPolicy,
  DEFINITION,
  dependingOn,
  desiredFlag,
  desiredSegment,
  inSegment,
  liveFlag,
  liveSegment,
  noFlag,
  NO_STATE,
  onShare,
  serving,
} from '../../../support/builders.js';
import { sharesOf } from '../../../support/on-off.js';
import { aChange, aPlan, manyKeys } from '../../../support/plan-builder.js';

type Sides<T> = Readonly<Record<string, readonly [T | null, T | null]>>;

interface World {
  /** What a flag has in production before, and shall have. */
  readonly flags?: Sides<Definition>;
  /** The keys of a segment in production before, and those that it shall have. */
  readonly segments?: Sides<readonly string[]>;
  /** Flag → the seed that the service shows, of its buckets and of its allocation. */
  readonly seeds?: Readonly<Record<string, number>>;
}

function inputOf({ flags = {}, segments = {}, seeds = {} }: World, isProtected = false): PlanInput {
  const desired = aDesired({
    flags: Object.entries(flags).map(([name, [, after]]) =>
      desiredFlag(name, { environments: after ? { production: after } : {} }),
    ),
    segments: Object.entries(segments).map(([name, [, after]]) =>
      desiredSegment(name, { production: after ?? undefined }),
    ),
    kills: [],
  });
  const shown = (seed?: number) =>
    seed === undefined ? {} : { seed, trafficAllocationSeed: seed + 1 };
  const actual = anActual({
    flags: Object.entries(flags).map(([name, [before]]) =>
      before ? liveFlag(name, { production: before }, {}, shown(seeds[name])) : noFlag(name),
    ),
    segments: Object.entries(segments).map(([name, [before]]) =>
      liveSegment(name, before ? { production: before } : {}),
    ),
  });
  const environments = [anEnvironment('production', { protected: isProtected })];
  return { desired, actual, state: NO_STATE, policy: aPolicy({ environments, adopt: true }) };
}

/** Per change what it does: `flag: 15 % off → on, 3 keys a → b`, and its risks behind. */
function impactLines(world: World, isProtected = false): string[] {
  const input = inputOf(world, isProtected);
  const plan = planChanges(input);
  const impacts = planImpact(plan, input);
  return plan.changes
    .filter(({ ref }) => ref.environment !== null)
    .map(({ id }) => {
      const { flags = [], risks = [] } = impacts.get(id) ?? {};
      const felt = flags.map(flagWords).join('; ');
      return [`${id}: ${felt === '' ? 'nobody' : felt}`, ...risks].join(' ! ');
    });
}

/** What the change of flag `shop` does to it. */
function shopImpact(world: World): FlagImpact | undefined {
  const input = inputOf(world);
  return planImpact(planChanges(input), input).get('flag/shop@production')?.flags[0];
}

/** Per change what a restore would serve after the plan. */
function restoreLines(world: World): string[] {
  const input = inputOf(world);
  return [...planImpact(planChanges(input), input)].flatMap(([id, { afterRestore }]) =>
    afterRestore ? [`${id}: ${flagWords(afterRestore)}`] : [],
  );
}

function flagWords({ flag, moves, bounded }: FlagImpact): string {
  const words = moves.flatMap(({ from, to, traffic, keys, names }) => {
    const move = `${from ?? 'control'} → ${to ?? 'control'}`;
    const named = names.length > 0 ? ` (${names.join(' ')})` : '';
    return [
      ...(traffic.atMost > 0 ? [`${rangeWords(traffic)} % ${move}`] : []),
      ...(keys.atMost > 0 ? [`${countWords(keys)} keys ${move}${named}`] : []),
    ];
  });
  return `${flag} ${words.join(', ')}${bounded ? ' (bounded)' : ''}`;
}

function rangeWords({ atLeast, atMost }: Range): string {
  return atLeast === atMost ? `${atMost}` : `${atLeast}–${atMost}`;
}

function countWords(count: KeyCount): string {
  return `${count.certain ? '' : '~'}${rangeWords(count)}`;
}

function three(a: number, b: number, c: number): { defaultRule: Bucket[] } {
  const all = [
    { treatment: 'a', size: a },
    { treatment: 'b', size: b },
    { treatment: 'c', size: c },
  ];
  return { defaultRule: all.filter(({ size }) => size > 0) };
}

const THREE: Definition = {
  ...serving('a', 'b', 'c'),
  defaultTreatment: 'c',
  baselineTreatment: 'c',
};

function variants(a: number, b: number, c: number): Definition {
  return { ...THREE, ...three(a, b, c) };
}

function matchersOf({ rules }: Pick<Required<Definition>, 'rules'>): Rule['matchers'] {
  return rules.flatMap(({ matchers }) => matchers);
}

function when(matchers: Rule['matchers'], on: number): Pick<Required<Definition>, 'rules'> {
  return { rules: [{ matchers, buckets: sharesOf(on) }] };
}

/** Treatments with these configurations; undefined: none is named. */
function configured(on: Json | undefined, off?: Json): Pick<Required<Definition>, 'treatments'> {
  return {
    treatments: [
      { name: 'on', description: '', ...(on !== undefined && { configuration: on }) },
      { name: 'off', description: '', ...(off !== undefined && { configuration: off }) },
    ],
  };
}

const FROM_SPAIN = { type: 'IN_LIST_STRING', attribute: 'country', strings: ['ES'] };

type Move = readonly [Definition | null, Definition | null];
const same = (definition: Definition): Move => [definition, definition];

describe('the traffic that a change of a flag reaches', () => {
  const half = { ...onShare(50), trafficAllocation: 20 };
  const more = { ...half, trafficAllocation: 45 };
  const swapped = { defaultRule: onShare(10).defaultRule.toReversed() };
  const live = { ...onShare(40), targets: { on: ['qa-bot'] } };
  const spain = (on: number, rest = 0): Definition => ({
    ...onShare(rest),
    ...when([FROM_SPAIN], on),
  });
  const [limited, opened] = [configured({ limit: 100 }), configured({ limit: 1 })];
  const configuredAt = (on: number, later = on): Move => [
    { ...limited, ...onShare(on) },
    { ...opened, ...onShare(later) },
  ];
  const killedWith = (limit: number): Definition => {
    return { ...configured(undefined, { limit }), killed: true, ...onShare(30) };
  };
  const [one, two] = [killedWith(1), killedWith(2)];
  const named = { ...configured({ limit: 1, of: 'day' }), ...onShare(100) };
  const [on, off] = [
    { name: 'on', description: 'Now described' },
    ...DEFINITION.treatments.slice(1),
  ];
  const unnamed = { ...onShare(100), treatments: [on, off] } as Definition;
  const inOrder = [{ ...on, configuration: { of: 'day', limit: 1 } }, off];
  const reordered = { ...unnamed, treatments: inOrder } as Definition;
  const { rules } = when([FROM_SPAIN], 100);

  it.each<[string, Move, string]>([
    ['a ramp, from which nobody goes back', [onShare(10), onShare(25)], 'shop 15 % off → on'],
    ['the order of a pair', [onShare(10), swapped], 'shop 10 % off → on, 10 % on → off'],
    [
      'variants, the largest move first, and equal ones in the order of their names',
      [variants(60, 20, 20), variants(10, 20, 70)],
      'shop 30 % a → c, 20 % a → b, 20 % b → c ! moves-between-variants',
    ],
    ['the allocation, a draw of its own', [half, more], 'shop 12.5 % off → on'],
    ['a share of the allocation', [half, { ...half, ...onShare(51) }], 'shop 0.2 % off → on'],
    ['a configuration that all get', configuredAt(100), 'shop 100 % on → on'],
    ['a configuration and a share', configuredAt(10, 25), 'shop 15 % off → on, 10 % on → on'],
    ['a configuration that none gets', configuredAt(0), 'nobody'],
    ['the configuration of the default while killed', [one, two], 'shop 100 % off → off'],
    ['a configuration that is not named any more', [named, unnamed], 'nobody'],
    ['a configuration in other words', [named, reordered], 'nobody'],
    ['a rule about attributes, which are unknown', [spain(10), spain(40)], 'shop 0–30 % off → on'],
    ['attributes, and what all share', [spain(10, 10), spain(20, 40)], 'shop 10–30 % off → on'],
    ['a second rule behind an equal one', [{ rules }, { rules: [...rules, ...rules] }], 'nobody'],
    [
      'a kill, also of individual targets',
      [live, { ...live, killed: true }],
      'shop 40 % on → off, 1 keys on → off (qa-bot) ! kills',
    ],
    [
      'a new definition, also for individual targets',
      [null, { ...onShare(10), targets: { on: ['ana'] } }],
      'shop 90 % control → off, 10 % control → on, 1 keys control → on (ana)',
    ],
  ])('is exact or bounded for %s', (_, shop, line) => {
    expect(impactLines({ flags: { shop } })).toEqual([`flag/shop@production: ${line}`]);
  });

  it('asks another flag for its treatment, whatever its configuration', () => {
    const flags = { asking: same(dependingOn('base')), base: configuredAt(40) };

    expect(impactLines({ flags })).toEqual(['flag/base@production: base 40 % on → on']);
  });
});

describe('the keys that a change of a flag reaches', () => {
  const closed = { ...onShare(50), trafficAllocation: 0, targets: { on: ['ana', 'ben'] } };
  const [crew, beta] = [manyKeys('user', 30), manyKeys('user', 40)];
  const segments = { staff: [crew, crew], beta: [beta, beta] } as const;
  const ofBeta = (on: number) => when([{ type: 'IN_SEGMENT', string: 'beta' }], on);
  const isListed = { type: 'IN_LIST_STRING', strings: ['ana', 'ben'] };

  it.each<[string, Move, string]>([
    [
      'individual targets by name, which the allocation does not concern',
      [closed, { ...closed, targets: { on: ['ben'], off: ['ana', 'cyd'] } }],
      'shop 1 keys on → off (ana)',
    ],
    [
      'those of a segment, once',
      [inSegment('staff'), { rules: [...inSegment('staff').rules, ...inSegment('beta').rules] }],
      'shop 10 keys off → on',
    ],
    ['those on average that a share gets', [ofBeta(0), ofBeta(51)], 'shop ~20–21 keys off → on'],
    ['those that a matcher lists', [{}, when([isListed], 100)], 'shop 2 keys off → on'],
    ['anybody in a foreign segment', [{}, inSegment('elsewhere')], 'shop 0–100 % off → on'],
  ])('are %s', (_, shop, line) => {
    expect(impactLines({ flags: { shop }, segments })).toEqual([`flag/shop@production: ${line}`]);
  });

  const serves = (string: string, treatment: string): Rule => ({
    matchers: [{ type: 'IN_SEGMENT', string }],
    buckets: [{ treatment, size: 100 }],
  });

  it('stand with most keys first, beside the number of all that the flag lists', () => {
    const later = { ...variants(0, 0, 100), rules: [serves('staff', 'b'), serves('beta', 'a')] };
    const shop: Move = [variants(0, 0, 100), later];

    const all = { ...segments, unused: [crew, crew] } as const;
    const impact = shopImpact({ flags: { shop }, segments: all });

    expect(impact && flagWords(impact)).toBe('shop 30 keys c → b, 10 keys c → a');
    expect(impact).toMatchObject({ listed: 40, keys: { atLeast: 40, atMost: 40, certain: true } });
  });

  describe('by name, where the service shows the seed', () => {
    /** Their buckets by seed 7 are 32, 35, 53, 3, 35 and 24; by seed 8 they draw 82, 89, 40, 69, 26 and 37. */
    const keys = ['ana', 'bob', 'cleo', 'dan', 'eli', 'eve'];
    const isStaff = { type: 'IN_SEGMENT', string: 'staff' };
    const lists = { staff: [keys, keys] } as const;
    const rule = (on: number): Definition => ({ ...onShare(0), ...when([isStaff], on) });

    const toAllotted: Move = [
      { ...rule(0), trafficAllocation: 70 },
      { ...rule(100), trafficAllocation: 70 },
    ];
    const fromSpain = (on: number) => ({ ...onShare(0), ...when([isStaff, FROM_SPAIN], on) });
    const spanish: Move = [fromSpain(25), fromSpain(50)];
    const asking = { ...onShare(0), ...when([isStaff, ...matchersOf(dependingOn('base'))], 100) };
    const ramp: Move = [rule(25), rule(50)];
    const beside = (on: number): Definition => ({ ...onShare(50), ...when([isStaff], on) });
    const ofCart = (on: number): Definition => when(matchersOf(dependingOn('cart')), on);
    const toAll: Move = [beside(0), beside(100)];
    const toCart: Move = [ofCart(25), ofCart(50)];
    const cart = same({ targets: { on: ['ana'] } });
    const asked = { asking: same(asking), base: [onShare(0), onShare(40)] } as const;

    const base = 'base 40 % off → on; asking';

    it.each<[string, Sides<Definition>, string, seeds?: Readonly<Record<string, number>>]>([
      ['those of its buckets', { shop: ramp }, 'shop 3 keys off → on (ana bob eli)'],
      ['an average without a seed', { shop: ramp }, 'shop ~1–2 keys off → on', {}],
      ['those that are allocated', { shop: toAllotted }, 'shop 4 keys off → on (cleo dan eli eve)'],
      ['none where hashing decides for others alone', { shop: toAll }, 'shop 6 keys off → on'],
      ['targets of the flag that is asked', { cart, shop: toCart }, 'shop 1 keys off → on (ana)'],
      ['those of the asked', asked, `${base} 5 keys off → on (ana bob dan eli eve)`, { base: 7 }],
      ['an average of an asked flag', asked, `${base} ~2–3 keys off → on`, { asking: 7 }],
      ['at most those of an attribute', { shop: spanish }, 'shop ~0–3 keys off → on (ana bob eli)'],
    ])('are %s', (_, flags, line, seeds = { shop: 7 }) => {
      const [changed = ''] = Object.keys(flags).slice(-1);

      expect(impactLines({ flags, segments: lists, seeds })).toEqual([
        `flag/${changed}@production: ${line}`,
      ]);
    });

    it('are averages where more than 100,000 would have to be hashed', () => {
      const isCertain = [100_000, 100_001].map((count) => {
        const many = Array.from({ length: count }, (_, at) => `user-${at}`);
        const segments = { staff: [many, many] } as const;
        return shopImpact({ flags: { shop: ramp }, segments, seeds: { shop: 7 } })?.keys;
      });

      expect(isCertain.map((keys) => keys?.certain)).toEqual([true, false]);
    });

    it('are what a restore would serve', () => {
      const shop = [25, 50].map((on) => ({ ...rule(on), killed: true })) as unknown as Move;

      expect(restoreLines({ flags: { shop }, segments: lists, seeds: { shop: 7 } })).toEqual([
        'flag/shop@production: shop 5 keys off → on (ana bob dan eli eve)',
      ]);
    });

    it('are those of a definition that is deleted', () => {
      const pay = { ...DEFINITION, ...beside(25), targets: { on: ['ana'] } };
      const input = inputOf({ flags: { pay: [pay, null] }, segments: lists, seeds: { pay: 7 } });
      const gone = aChange('flag/pay@production', 'delete');
      const ramps = new Map([[gone.id, [{ rule: null, buckets: onShare(100).defaultRule }]]]);
      const impact = planImpact(aPlan({ changes: [gone] }), input, ramps).get(gone.id);

      expect(impact?.flags.map(flagWords)).toEqual([
        'pay 50 % off → control, 3 keys off → control (bob cleo eli), ' +
          '50 % on → control, 3 keys on → control (ana dan eve)',
      ]);
    });
  });
});

describe('the reach of a plan', () => {
  const shopOf = (first: string, second: string): Definition => ({
    ...THREE,
    ...three(0, 0, 100),
    rules: [first, second].map((string, index) => ({
      matchers: [{ type: 'IN_SEGMENT', string }],
      buckets: [{ treatment: index === 0 ? 'a' : 'b', size: 100 }],
    })),
  });
  const asks = (on: number) => when(matchersOf(dependingOn('cart')), on);
  const targetedOff = { ...inSegment('staff'), targets: { off: ['ana'] } };
  const targets = { a: ['tia'], c: ['ana', 'ben'] };
  const small = { ...onShare(1), trafficAllocation: 10 };
  const ofBase = dependingOn('base');
  const hanging = { rules: [...dependingOn('cart').rules, ...ofBase.rules] };
  const half = (treatment: string): Bucket[] => {
    return ['x', treatment].map((each) => ({ treatment: each, size: 50 }));
  };
  const partly = {
    treatments: [...DEFINITION.treatments, { name: 'x', description: '' }],
    defaultRule: half('off'),
    rules: [{ matchers: [FROM_SPAIN], buckets: half('on') }],
  };
  const crew = ['ana', 'ben'];
  const ana: Readonly<Record<string, readonly [string[], string[]]>> = { staff: [[], ['ana']] };

  it.each<[string, World, string[]]>([
    [
      'a segment changes: every flag that uses it, for the keys that it gains and loses',
      {
        flags: {
          shop: same(inSegment('staff')),
          cart: same({ ...inSegment('staff'), targets: { off: ['ana'] } }),
          other: same(onShare(100)),
        },
        segments: { staff: [crew, ['ben', 'cyd', 'dan', 'eve']] },
      },
      ['segment/staff@production: cart 3 keys off → on; shop 3 keys off → on, 1 keys on → off'],
    ],
    [
      'a segment changes: flags that ask about a flag that uses it',
      { flags: { shop: same(dependingOn('cart')), cart: same(inSegment('staff')) }, segments: ana },
      ['segment/staff@production: cart 1 keys off → on; shop 1 keys off → on'],
    ],
    [
      'a segment changes: nobody where an individual target has the keys already',
      { flags: { shop: same(targetedOff) }, segments: ana },
      ['segment/staff@production: nobody'],
    ],
    [
      'a segment changes: with the risks of the flags that feel it',
      {
        flags: { shop: same(shopOf('one', 'two')) },
        segments: { one: [[], ['ana']], two: [['ana'], ['ana']] },
      },
      ['segment/one@production: shop 1 keys b → a ! moves-between-variants'],
    ],
    [
      'segments change places in the rules: nobody where all their keys are targets, without a risk',
      {
        flags: {
          shop: [
            { ...shopOf('one', 'two'), targets },
            { ...shopOf('two', 'one'), targets },
          ],
        },
        segments: { one: [['ana'], ['ana']], two: [['ben'], ['ben']] },
      },
      ['flag/shop@production: nobody'],
    ],
    [
      'a segment is emptied, so that a rollout reaches nobody',
      { flags: { shop: same(inSegment('staff')) }, segments: { staff: [['ana'], []] } },
      ['segment/staff@production: shop 1 keys on → off ! serves-nobody'],
    ],
    [
      'a flag is made with its segment: told of by itself alone',
      { flags: { shop: [null, inSegment('staff')] }, segments: { staff: [null, ['ana']] } },
      [
        'segment/staff@production: nobody',
        'flag/shop@production: shop 100 % control → off, 1 keys control → on',
      ],
    ],
    [
      'an asker changes: the product with the shares of the asked flag',
      { flags: { cart: same(onShare(33)), shop: [asks(10), asks(15)] } },
      ['flag/shop@production: shop 1.65 % off → on'],
    ],
    [
      'an asker changes: never nobody, however small the share',
      // 1 % of 1 % of 10 %: of a million users ten.
      { flags: { cart: same(small), shop: [asks(0), asks(1)] } },
      ['flag/shop@production: shop 0–0.01 % off → on'],
    ],
    [
      'two asked flags change: each with its own askers, of which one changes itself',
      {
        flags: {
          base: [onShare(0), onShare(20)],
          cart: [onShare(10), onShare(30)],
          other: same(ofBase),
          shop: [dependingOn('cart'), { ...dependingOn('cart'), targets: { on: ['ana'] } }],
          third: same(dependingOn('cart')),
        },
      },
      [
        'flag/base@production: base 20 % off → on; other 20 % off → on',
        'flag/cart@production: cart 20 % off → on; third 20 % off → on',
        'flag/shop@production: shop 20 % off → on, ~0–1 keys off → on (ana)',
      ],
    ],
    [
      'a segment and a flag that uses it change: each with its own keys',
      {
        flags: {
          shop: [
            inSegment('staff'),
            { ...inSegment('staff'), targets: { off: ['ana'], on: ['tia'] } },
          ],
        },
        segments: { staff: [['ana'], ['ana', 'ben']] },
      },
      [
        'segment/staff@production: shop 1 keys off → on',
        'flag/shop@production: shop 2 keys off → on (tia), 1 keys on → off (ana)',
      ],
    ],
    [
      'the asked flag is not known here: bounds',
      { flags: { shop: [dependingOn('elsewhere'), onShare(0)] } },
      ['flag/shop@production: shop 0–100 % on → off'],
    ],
    [
      'two flags hang on the draw of a third: bounds',
      {
        flags: {
          base: [onShare(10), onShare(20)],
          cart: same(ofBase),
          shop: same(hanging),
          turned: same({ rules: hanging.rules.toReversed() }),
        },
      },
      // In truth it is 10 %: a key that gets `on` of one gets `on` of the other.
      [
        'flag/base@production: base 10 % off → on; cart 10 % off → on; shop 0–90 % off → on; turned 0–90 % off → on',
      ],
    ],
    [
      'two flags hang on the draw of a third, and one of them serves all the same',
      {
        flags: {
          base: [onShare(0), onShare(40)],
          cart: same(when(matchersOf(ofBase), 0)),
          shop: same(hanging),
        },
      },
      ['flag/base@production: base 40 % off → on; shop 40 % off → on'],
    ],
    [
      'the asked flag is made, of which nobody had a treatment',
      { flags: { cart: [null, onShare(30)], shop: same(dependingOn('cart')) } },
      ['flag/cart@production: cart 70 % control → off, 30 % control → on; shop 30 % off → on'],
    ],
    [
      'an attribute decides part of what the asked flag serves: bounds',
      { flags: { cart: same(partly), shop: [{}, dependingOn('cart')] } },
      ['flag/shop@production: shop 0–100 % off → on'],
    ],
  ])('where %s', (_situation, world, lines) => {
    expect(impactLines(world)).toEqual(lines);
  });
});

it('tells nothing of identities, which no flag asks about', () => {
  const changes = [aChange('identities/user@production', 'update')];

  expect(planImpact(aPlan({ changes }), inputOf({})).size).toBe(0);
});

describe('questions that nothing known answers', () => {
  const asks = (on: number, ...matchers: Rule['matchers']): Definition => when(matchers, on);
  const treated = (treatment: string) => matchersOf(dependingOn('x', treatment));
  const isIn = (string: string) => ({ type: 'IN_SEGMENT', string });
  const many = (count: number): Definition => ({
    rules: Array.from({ length: count }, (_, at) => ({
      matchers: [{ ...FROM_SPAIN, strings: [`${at}`] }],
      buckets: onShare(100).defaultRule,
    })),
  });
  const later = (count: number) => ({ ...many(count), ...onShare(10) });
  const dark = (on: number) => asks(on, FROM_SPAIN, ...matchersOf(dependingOn('dark')));
  const [isOn, isNotOn] = [asks(100, ...treated('on')), asks(0, ...treated('on'))];
  const circle = { ...dependingOn('asking'), targets: { on: ['ana'] } };
  const EITHER_WAY = 'shop 0–100 % off → on, 0–100 % on → off';

  it.each<[string, Definition, Definition, string]>([
    ['beside one that is answered with no', dark(50), dark(100), 'nobody ! serves-nobody'],
    ['of both sides, once', asks(50, FROM_SPAIN), asks(100, FROM_SPAIN), 'shop 0–50 % off → on'],
    ['about one treatment of a flag, once', isOn, { ...onShare(100), ...isNotOn }, EITHER_WAY],
    ['about two treatments of a flag, by itself', isOn, asks(100, ...treated('off')), EITHER_WAY],
    ['about two segments, by itself', asks(100, isIn('one')), asks(100, isIn('two')), EITHER_WAY],
    ['in a circle of flags', circle, { ...circle, ...onShare(10) }, 'shop  (bounded)'],
    ['in as many cases as are worked out', many(499), later(499), 'shop 0–10 % off → on'],
    ['in one case more', many(500), later(500), 'shop  (bounded)'],
  ])('%s', (_situation, before, after, line) => {
    const flags = { shop: [before, after], dark: same(onShare(0)) } as const;
    const world = before === circle ? { ...flags, asking: same(dependingOn('shop')) } : flags;

    expect(impactLines({ flags: world })[0]?.split('; ')[0]).toBe(`flag/shop@production: ${line}`);
  });
});

describe('risks', () => {
  it.each([
    [100, ['ramp-ends']],
    [50, ['ramp-ends']],
    [49, []],
  ])('name the end of a ramp to %d %%, and the share that it reaches then', (share, risks) => {
    const input = inputOf({ flags: { pay: [onShare(0), onShare(10)] } }, true);
    const last = [{ rule: null, buckets: onShare(share).defaultRule }];

    const impacts = planImpact(planChanges(input), input, new Map([['flag/pay@production', last]]));

    const atLast = { atLeast: share, atMost: share };
    expect(impacts.get('flag/pay@production')).toMatchObject({ risks, atLast });
  });

  const ON = [{ treatment: 'on', size: 100 }];
  const OFF = [{ treatment: 'off', size: 100 }];
  const NOTHING = { trafficAllocation: 0 };
  const configuredAll = (limit: number) => ({ ...configured({ limit }), defaultRule: ON });
  const killedWith = (limit: number) => ({ ...configured(undefined, { limit }), killed: true });
  const dead = { ...onShare(10), killed: true };
  const nowOn = { ...dead, defaultTreatment: 'on' };
  const ofA = (size: number) => ({ ...THREE, defaultRule: [{ treatment: 'a', size }] });

  it.each<[string, Definition | null, Definition, string[]]>([
    ['all get what is not the default', onShare(50), { defaultRule: ON }, ['all-of-production']],
    ['what all get is configured', configuredAll(100), configuredAll(1), ['all-of-production']],
    ['variants change', variants(50, 50, 0), variants(30, 50, 20), ['moves-between-variants']],
    ['a variant gives way to the default', variants(50, 0, 50), variants(20, 0, 80), []],
    ['the default changes while all get it', dead, nowOn, ['default-changed-while-killed']],
    ['nothing is allocated', onShare(10), { ...onShare(10), ...NOTHING }, ['serves-nobody']],
    ['it is off everywhere and means to be', null, {}, []],
    ['half moves back', onShare(60), onShare(10), ['most-of-production']],
    ['less than half moves back', onShare(60), onShare(11), []],
    ['all get the default', onShare(50), onShare(0), ['most-of-production']],
    ['all stay where they were', onShare(100), { ...onShare(100), targets: { off: ['ana'] } }, []],
    ['all but one place get the same', onShare(50), onShare(99), []],
    ['only the default is named', onShare(100), { defaultRule: OFF }, ['most-of-production']],
    ['a target serves another', onShare(10), { ...onShare(0), targets: { on: ['ana'] } }, []],
    ['a killed default is configured anew', killedWith(1), killedWith(2), ['most-of-production']],
    ['a live default changes', onShare(10), { ...onShare(10), defaultTreatment: 'on' }, []],
    ['the default changes with a kill', onShare(10), nowOn, ['kills']],
    ['it is made killed', null, dead, []],
    ['places that no bucket had get a variant', ofA(60), ofA(70), []],
    ['places of a variant are left free', ofA(60), ofA(50), []],
  ])('of a protected environment are told where %s', (_situation, before, after, expected) => {
    const input = inputOf({ flags: { shop: [before, after] } }, true);

    const impacts = planImpact(planChanges(input), input);

    expect(impacts.get('flag/shop@production')?.risks.toSorted()).toEqual(expected.toSorted());
  });

  it.each<[string, string[], string[]]>([
    ['no key', [], ['serves-nobody']],
    ['a key', ['ben'], []],
  ])('tell of a segment that a treatment targets whole, with %s', (_keys, keys, risks) => {
    const segments = { staff: [keys, keys] } as const;
    const input = inputOf({ flags: { pay: [{}, { targets: { off: ['ana'] } }] }, segments });
    const treatments = [
      { name: 'on', description: '', segments: ['staff'] },
      { name: 'off', description: '' },
    ];
    const flags = new Map([liveFlag('pay', { production: {} }, {}, { treatments })]);
    const all = { ...input, actual: { ...input.actual, flags } };

    expect(planImpact(planChanges(all), all).get('flag/pay@production')?.risks).toEqual(risks);
  });

  it('tell where a definition that served most of a protected environment is deleted', () => {
    const input = inputOf({ flags: { pay: [{ ...DEFINITION, ...onShare(90) }, null] } }, true);
    const gone = aChange('flag/pay@production', 'delete');

    expect(planImpact(aPlan({ changes: [gone] }), input).get(gone.id)?.risks).toEqual([
      'most-of-production',
    ]);
  });
});

describe('many groups of keys', () => {
  it('are worked out as far as a limit, the largest first, and the rest may move or stay', () => {
    const names = Array.from({ length: 10 }, (_, bit) => `segment-${bit}`);
    const alone = Array.from({ length: 1_022 }, (_, at) => `user-${at + 1}`);
    const segments = Object.fromEntries(
      names.map((name, bit) => {
        const own = alone.filter((_, at) => (at + 1) & (1 << bit));
        const keys = [...own, ...manyKeys('all', 50)];
        return [name, [keys, keys] as const];
      }),
    );
    const shop = [{}, { rules: names.flatMap((name) => inSegment(name).rules) }] as const;

    expect(shopImpact({ flags: { shop }, segments })).toMatchObject({
      ...{ listed: 1_072, bounded: true },
      keys: { atLeast: 549, atMost: 1_072, certain: false },
    });
  });

  it.each([
    [9, 1, 400, true],
    [9, 2, 400, false],
    [10, 1, 2_000, false],
  ])('by %i flags, in %i segments of %i, are told apart: %s', (count, lists, size, expected) => {
    const bases = Array.from({ length: count }, (_, at) => `base-${at}`);
    const segments = Array.from({ length: lists }, (_, at) => {
      const keys = Array.from({ length: size }, (_each, key) => `${at}-user-${key}`);
      return [`segment-${at}`, [keys, keys]] as const;
    });
    const ofShare = (on: number): Definition => ({
      rules: segments.flatMap(([string]) =>
        bases.map((base) => ({
          matchers: [{ type: 'IN_SEGMENT', string }, ...matchersOf(dependingOn(base))],
          buckets: onShare(on).defaultRule,
        })),
      ),
    });
    const input = inputOf({
      flags: {
        shop: [ofShare(0), ofShare(100)],
        ...Object.fromEntries(bases.map((base) => [base, [onShare(50), onShare(50)] as const])),
      },
      segments: Object.fromEntries(segments),
      seeds: Object.fromEntries(bases.map((base, at) => [base, at + 1])),
    });
    const impact = planImpact(planChanges(input), input).get('flag/shop@production');

    expect(impact?.flags[0]?.keys.certain).toBe(expected);
  });
});

describe('what a restore would serve', () => {
  const killed = (on: number): Definition => ({ ...onShare(on), killed: true });

  it('is told of a flag that stays or is made killed, or changes with its kill, and of no other', () => {
    const flags = {
      alive: [onShare(10), onShare(20)],
      made: [null, killed(20)],
      ramped: [killed(10), killed(50)],
      stopped: [onShare(10), killed(30)],
      stoppedAlone: [onShare(10), killed(10)],
    } as const;

    expect(restoreLines({ flags })).toEqual([
      'flag/made@production: made 20 % off → on',
      'flag/ramped@production: ramped 50 % off → on',
      'flag/stopped@production: stopped 30 % off → on',
    ]);
  });

  it('goes by lists and other flags as the plan leaves them', () => {
    const before = ['bob', 'xia', 'yan', 'zoe'];
    const world: World = {
      flags: {
        asking: [killed(0), { ...killed(0), ...dependingOn('base') }],
        base: [onShare(0), onShare(40)],
        listed: [killed(0), { ...killed(0), ...inSegment('staff'), targets: { off: ['ana'] } }],
      },
      segments: { staff: [before, ['ana', 'cleo', 'dan', 'zoe']] },
    };
    const input = inputOf(world);
    const { afterRestore } =
      planImpact(planChanges(input), input).get('flag/listed@production') ?? {};

    expect(restoreLines(world)).toEqual([
      'flag/asking@production: asking 40 % off → on',
      'flag/listed@production: listed 3 keys off → on',
    ]);
    expect(afterRestore?.listed).toBe(4);
  });
});
