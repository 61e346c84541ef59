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
} from '../../../support/builders.js';
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
  const actual = anActual({
    flags: Object.entries(flags).map(([name, [before]]) =>
      before ? seeded(liveFlag(name, { production: before }), seeds[name]) : noFlag(name),
    ),
    segments: Object.entries(segments).map(([name, [before]]) =>
      liveSegment(name, before ? { production: before } : {}),
    ),
  });
  const environments = [anEnvironment('production', { protected: isProtected })];
  return { desired, actual, state: NO_STATE, policy: aPolicy({ environments, adopt: true }) };
}

type Live = ReturnType<typeof liveFlag>;

function seeded([name, flag]: Live, seed: number | undefined): Live {
  if (seed === undefined) return [name, flag];
  const definitions = [...flag.definitions].map(([environment, definition]) => {
    const shown = { seed, trafficAllocationSeed: seed + 1 };
    return [environment, definition && { ...definition, ...shown }] as const;
  });
  return [name, { ...flag, definitions: new Map(definitions) }];
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
  treatments: ['a', 'b', 'c'].map((name) => ({ name, description: '' })),
  defaultTreatment: 'c',
  baselineTreatment: 'c',
};

function matchersOf({ rules }: Pick<Required<Definition>, 'rules'>): Rule['matchers'] {
  return rules.flatMap(({ matchers }) => matchers);
}

function when(matchers: Rule['matchers'], on: number): Pick<Required<Definition>, 'rules'> {
  return { rules: [{ matchers, buckets: onShare(on).defaultRule.filter(({ size }) => size > 0) }] };
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

describe('the traffic that a change of a flag reaches', () => {
  it('is 15 % for a ramp from 10 to 25 %, and nobody goes back', () => {
    expect(impactLines({ flags: { shop: [onShare(10), onShare(25)] } })).toEqual([
      'flag/shop@production: shop 15 % off → on',
    ]);
  });

  it('is 20 % where the order of a 10/90 pair is swapped, though all sizes stay', () => {
    const swapped = { defaultRule: [...onShare(10).defaultRule].reverse() };

    expect(impactLines({ flags: { shop: [onShare(10), swapped] } })).toEqual([
      'flag/shop@production: shop 10 % off → on, 10 % on → off',
    ]);
  });

  it('holds users who move between variants where a bucket grows beside another', () => {
    const [before, after] = [three(10, 20, 70), three(20, 20, 60)];

    expect(
      impactLines({
        flags: {
          shop: [
            { ...THREE, ...before },
            { ...THREE, ...after },
          ],
        },
      }),
    ).toEqual(['flag/shop@production: shop 10 % b → a, 10 % c → b ! moves-between-variants']);
  });

  it('is the share of the allocation, which is a draw of its own', () => {
    const half = { ...onShare(50), trafficAllocation: 20 };

    expect(impactLines({ flags: { shop: [half, { ...half, trafficAllocation: 45 }] } })).toEqual([
      'flag/shop@production: shop 12.5 % off → on',
    ]);
    expect(impactLines({ flags: { shop: [half, { ...half, ...onShare(51) }] } })).toEqual([
      'flag/shop@production: shop 0.2 % off → on',
    ]);
  });

  it('is whoever is served a treatment whose configuration changes, and nobody else', () => {
    const [before, after] = [configured({ limit: 100 }), configured({ limit: 1 })];

    expect(
      impactLines({
        flags: {
          everywhere: [
            { ...before, ...onShare(100) },
            { ...after, ...onShare(100) },
          ],
          ramping: [
            { ...before, ...onShare(10) },
            { ...after, ...onShare(25) },
          ],
          unserved: [
            { ...before, ...onShare(0) },
            { ...after, ...onShare(0) },
          ],
        },
      }),
    ).toEqual([
      'flag/everywhere@production: everywhere 100 % on → on',
      'flag/ramping@production: ramping 15 % off → on, 10 % on → on',
      'flag/unserved@production: nobody',
    ]);
  });

  it('is everybody where the configuration of the default changes of a flag that is killed', () => {
    const [before, after] = [{ limit: 1 }, { limit: 2 }].map((off): Definition => ({
      ...configured(undefined, off),
      killed: true,
      ...onShare(30),
    }));

    expect(impactLines({ flags: { shop: [before ?? null, after ?? null] } })).toEqual([
      'flag/shop@production: shop 100 % off → off',
    ]);
  });

  it('is nobody where a configuration is not named any more, or is the same in other words', () => {
    const before = { ...configured({ limit: 1, of: 'day' }), ...onShare(100) };
    const described = [{ name: 'on', description: 'Now described' }, DEFINITION.treatments[1]];
    const unnamed = { treatments: described, ...onShare(100) } as Definition;
    const reordered = [{ ...described[0], configuration: { of: 'day', limit: 1 } }, described[1]];

    expect(
      impactLines({
        flags: {
          unnamed: [before, unnamed],
          reordered: [before, { ...unnamed, treatments: reordered } as Definition],
        },
      }),
    ).toEqual(['flag/reordered@production: nobody', 'flag/unnamed@production: nobody']);
  });

  it('asks another flag for its treatment, whatever its configuration', () => {
    const [before, after] = [configured({ limit: 100 }), configured({ limit: 1 })];

    expect(
      impactLines({
        flags: {
          asking: [dependingOn('base'), dependingOn('base')],
          base: [
            { ...before, ...onShare(40) },
            { ...after, ...onShare(40) },
          ],
        },
      }),
    ).toEqual(['flag/base@production: base 40 % on → on']);
  });

  it('is bounded where attributes decide, which nobody knows here', () => {
    const rule = (on: number) => ({ ...onShare(0), ...when([FROM_SPAIN], on) });

    expect(impactLines({ flags: { shop: [rule(10), rule(40)] } })).toEqual([
      'flag/shop@production: shop 0–30 % off → on',
    ]);
  });

  it('is exact for what all keys share, though attributes decide the rest', () => {
    const rule = (on: number, rest: number) => ({ ...onShare(rest), ...when([FROM_SPAIN], on) });

    expect(impactLines({ flags: { shop: [rule(10, 10), rule(20, 40)] } })).toEqual([
      'flag/shop@production: shop 10–30 % off → on',
    ]);
  });

  it('is nobody where rules change places that do not overlap in what they serve', () => {
    const [on, off] = [when([FROM_SPAIN], 100).rules, when([FROM_SPAIN], 100).rules];

    expect(impactLines({ flags: { shop: [{ rules: on }, { rules: [...on, ...off] }] } })).toEqual([
      'flag/shop@production: nobody',
    ]);
  });

  it('is everybody who was served something else where a flag is killed, also individual targets', () => {
    const live = { ...onShare(40), targets: { on: ['qa-bot'] } };

    expect(impactLines({ flags: { shop: [live, { ...live, killed: true }] } })).toEqual([
      'flag/shop@production: shop 40 % on → off, 1 keys on → off (qa-bot) ! kills',
    ]);
  });

  it('comes from no treatment where the definition is made', () => {
    expect(impactLines({ flags: { shop: [null, onShare(10)] } })).toEqual([
      'flag/shop@production: shop 90 % control → off, 10 % control → on',
    ]);
  });
});

describe('the keys that a change of a flag reaches', () => {
  it('are individual targets by name, which the allocation does not concern', () => {
    const live = { ...onShare(50), trafficAllocation: 0, targets: { on: ['ana', 'ben'] } };

    expect(
      impactLines({ flags: { shop: [live, { ...live, targets: { on: ['ben'], off: ['cyd'] } }] } }),
    ).toEqual(['flag/shop@production: shop 1 keys on → off (ana)']);
  });

  it('are those of a segment, counted each once, whatever other segments hold them too', () => {
    const [staff, beta] = [manyKeys('user', 30), manyKeys('user', 40)];
    const rules = [...inSegment('staff').rules, ...inSegment('beta').rules];

    expect(
      impactLines({
        flags: { shop: [inSegment('staff'), { rules }] },
        segments: { staff: [staff, staff], beta: [beta, beta] },
      }),
    ).toEqual(['flag/shop@production: shop 10 keys off → on']);
  });

  it('are what hashing gives on average where a rule serves a share', () => {
    const keys = manyKeys('user', 3);
    const rule = (on: number) => when([{ type: 'IN_SEGMENT', string: 'staff' }], on);

    expect(
      impactLines({ flags: { shop: [rule(0), rule(50)] }, segments: { staff: [keys, keys] } }),
    ).toEqual(['flag/shop@production: shop ~1–2 keys off → on']);
  });

  describe('by name, where the service shows the seed', () => {
    /** Their buckets by seed 7 are 32, 35, 53, 3 and 24; by seed 8 they draw 82, 89, 40, 69 and 37. */
    const keys = ['ana', 'bob', 'cleo', 'dan', 'eve'];
    const isStaff = { type: 'IN_SEGMENT', string: 'staff' };
    const staff = [keys, keys] as const;
    const rule = (on: number): Definition => ({ ...onShare(0), ...when([isStaff], on) });

    it('are those whose bucket moves, and no other', () => {
      const flags = { shop: [rule(25), rule(50)] } as const;
      const impact = (seeds: Readonly<Record<string, number>>) =>
        impactLines({ flags, segments: { staff }, seeds });

      expect(impact({ shop: 7 })).toEqual(['flag/shop@production: shop 2 keys off → on (ana bob)']);
      expect(impact({})).toEqual(['flag/shop@production: shop ~1–2 keys off → on']);
    });

    it('are those within the allocation', () => {
      const of = (on: number): Definition => ({ ...rule(on), trafficAllocation: 70 });

      expect(
        impactLines({ flags: { shop: [of(0), of(50)] }, segments: { staff }, seeds: { shop: 7 } }),
      ).toEqual(['flag/shop@production: shop 2 keys off → on (dan eve)']);
    });

    it('go by the buckets of the flag that is asked, and by its share where it shows no seed', () => {
      const asking = { ...onShare(0), ...when([isStaff, ...matchersOf(dependingOn('base'))], 100) };
      const flags = { asking: [asking, asking], base: [onShare(0), onShare(40)] } as const;
      const impact = (seeds: Readonly<Record<string, number>>) =>
        impactLines({ flags, segments: { staff }, seeds });

      expect(impact({ base: 7 })).toEqual([
        'flag/base@production: base 40 % off → on; asking 4 keys off → on (ana bob dan eve)',
      ]);
      expect(impact({ asking: 7 })).toEqual([
        'flag/base@production: base 40 % off → on; asking ~2 keys off → on',
      ]);
    });

    it('are bounded where an attribute decides', () => {
      const of = (on: number): Definition => ({
        ...onShare(0),
        ...when([isStaff, FROM_SPAIN], on),
      });

      expect(
        impactLines({ flags: { shop: [of(25), of(50)] }, segments: { staff }, seeds: { shop: 7 } }),
      ).toEqual(['flag/shop@production: shop ~0–2 keys off → on (ana bob)']);
    });

    it('are what a restore would serve', () => {
      const flags = {
        shop: [
          { ...rule(25), killed: true },
          { ...rule(50), killed: true },
        ],
      } as const;

      expect(restoreLines({ flags, segments: { staff }, seeds: { shop: 7 } })).toEqual([
        'flag/shop@production: shop 4 keys off → on (ana bob dan eve)',
      ]);
    });
  });

  it('are those that a matcher lists one by one', () => {
    const listed = when([{ type: 'IN_LIST_STRING', strings: ['ana', 'ben'] }], 100);

    expect(impactLines({ flags: { shop: [{}, listed] } })).toEqual([
      'flag/shop@production: shop 2 keys off → on',
    ]);
  });

  it('cannot be told of a segment that lives elsewhere: it may be everybody', () => {
    expect(impactLines({ flags: { shop: [{}, inSegment('elsewhere')] } })).toEqual([
      'flag/shop@production: shop 0–100 % off → on',
    ]);
  });
});

describe('a change of a segment', () => {
  it('is carried through to every flag that uses it, for the keys that it gains and loses', () => {
    const [before, after] = [
      ['ana', 'ben'],
      ['ben', 'cyd', 'dan', 'eve'],
    ];

    expect(
      impactLines({
        flags: {
          shop: [inSegment('staff'), inSegment('staff')],
          other: [onShare(100), onShare(100)],
        },
        segments: { staff: [before, after] },
      }),
    ).toEqual(['segment/staff@production: shop 3 keys off → on, 1 keys on → off']);
  });

  it('reaches flags that ask about a flag that uses it', () => {
    expect(
      impactLines({
        flags: {
          cart: [inSegment('staff'), inSegment('staff')],
          shop: [dependingOn('cart'), dependingOn('cart')],
        },
        segments: { staff: [[], ['ana']] },
      }),
    ).toEqual(['segment/staff@production: cart 1 keys off → on; shop 1 keys off → on']);
  });

  it('reaches nobody where an earlier rule or an individual target has the keys already', () => {
    const shop = { ...inSegment('staff'), targets: { off: ['ana'] } };

    expect(
      impactLines({ flags: { shop: [shop, shop] }, segments: { staff: [[], ['ana']] } }),
    ).toEqual(['segment/staff@production: nobody']);
  });
});

describe('a flag that others ask about', () => {
  it('carries its own shares into theirs: another seed is another draw', () => {
    expect(
      impactLines({
        flags: {
          cart: [onShare(10), onShare(30)],
          shop: [dependingOn('cart'), dependingOn('cart')],
        },
      }),
    ).toEqual(['flag/cart@production: cart 20 % off → on; shop 20 % off → on']);
  });

  it('makes a product with the shares of the one that asks', () => {
    const asks = (on: number) =>
      when([{ type: 'IN_SPLIT', depends: { splitName: 'cart', treatments: ['on'] } }], on);

    expect(
      impactLines({
        flags: { cart: [onShare(33), onShare(33)], shop: [asks(10), asks(15)] },
      }),
    ).toEqual(['flag/shop@production: shop 1.65 % off → on']);
  });

  it('never calls a share that is smaller than a hundredth of a per cent nobody', () => {
    const asks = (on: number) =>
      when([{ type: 'IN_SPLIT', depends: { splitName: 'cart', treatments: ['on'] } }], on);
    const cart = { ...onShare(1), trafficAllocation: 10 };

    // 1 % of 1 % of 10 %: of a million users ten.
    expect(impactLines({ flags: { cart: [cart, cart], shop: [asks(0), asks(1)] } })).toEqual([
      'flag/shop@production: shop 0–0.01 % off → on',
    ]);
  });

  it('gives bounds where it is not known here', () => {
    expect(impactLines({ flags: { shop: [dependingOn('elsewhere'), onShare(0)] } })).toEqual([
      'flag/shop@production: shop 0–100 % on → off',
    ]);
  });

  it('gives bounds where two flags hang on the draw of a third', () => {
    const cart = dependingOn('base');
    const shop = { rules: [...dependingOn('cart').rules, ...dependingOn('base').rules] };

    const [, lines] = impactLines({
      flags: { base: [onShare(10), onShare(20)], cart: [cart, cart], shop: [shop, shop] },
    })
      .join('')
      .split('; shop ');

    // In truth it is 10 %: whoever gets `on` of one gets `on` of the other.
    expect(lines).toBe('0–90 % off → on');
  });
});

describe('risks', () => {
  it('tell where all of a protected environment gets one treatment that is not the default', () => {
    const ramp = {
      flags: { shop: [onShare(50), { defaultRule: [{ treatment: 'on', size: 100 }] }] },
    } as const;

    expect(impactLines(ramp, true)[0]).toContain('! all-of-production');
    expect(impactLines(ramp, false)[0]).not.toContain('!');
  });

  it('tell where most of a protected environment moves towards the default, or loses its definition', () => {
    const share = (on: number): Definition => ({ ...DEFINITION, ...onShare(on) });
    const risks = (before: Definition, after: Definition): string =>
      impactLines({ flags: { pay: [before, after] } }, true).join();
    const input = inputOf({ flags: { pay: [share(0), share(10)] } }, true);
    const id = 'flag/pay@production';
    const last = [{ rule: null, buckets: onShare(100).defaultRule }];

    expect(risks(share(98), share(2))).toContain('most-of-production');
    expect(risks(share(90), share(60))).not.toContain('most-of-production');
    const impacts = planImpact(planChanges(input), input, new Map([[id, last]]));
    expect(impacts.get(id)?.risks).toEqual(['ramp-ends']);
    expect(impacts.get(id)?.atLast).toEqual({ atLeast: 100, atMost: 100 });
  });

  it.each<[string, Definition, Definition, string[]]>([
    ['half moves back', onShare(60), onShare(10), ['most-of-production']],
    ['less than half moves back', onShare(60), onShare(11), []],
    ['all get the default', onShare(50), onShare(0), ['most-of-production']],
    ['all stay where they were', onShare(100), { ...onShare(100), targets: { off: ['ana'] } }, []],
    ['all but one place get the same', onShare(50), onShare(99), []],
    [
      'all get the default, and only the default is named',
      onShare(100),
      { defaultRule: [{ treatment: 'off', size: 100 }] },
      ['most-of-production'],
    ],
    ['a kill moves most', onShare(90), { ...onShare(90), killed: true }, ['kills']],
    [
      'a target serves something else than the default',
      onShare(10),
      { ...onShare(0), targets: { on: ['ana'] } },
      [],
    ],
    [
      'targets of another treatment are emptied',
      { targets: { on: ['ana'] } },
      { targets: { on: [] } },
      [],
    ],
    [
      'the default changes of a flag that is killed, with its configuration alone',
      { ...configured(undefined, { limit: 1 }), killed: true },
      { ...configured(undefined, { limit: 2 }), killed: true },
      ['most-of-production'],
    ],
    [
      'the default changes of a flag that is alive',
      onShare(10),
      { ...onShare(10), defaultTreatment: 'on' },
      [],
    ],
  ])('of a protected environment are told where %s', (_situation, before, after, expected) => {
    const input = inputOf({ flags: { shop: [before, after] } }, true);

    const impacts = planImpact(planChanges(input), input);

    expect(impacts.get('flag/shop@production')?.risks.toSorted()).toEqual(expected.toSorted());
  });

  it('tell where a definition that served most of a protected environment is deleted', () => {
    const input = inputOf({ flags: { pay: [{ ...DEFINITION, ...onShare(90) }, null] } }, true);
    const gone = aChange('flag/pay@production', 'delete');

    expect(planImpact(aPlan({ changes: [gone] }), input).get(gone.id)?.risks).toEqual([
      'most-of-production',
    ]);
  });

  it('tell where what all of a protected environment gets is configured anew', () => {
    const [before, after] = [configured({ limit: 100 }), configured({ limit: 1 })];
    const flags = {
      shop: [
        { ...before, ...onShare(100) },
        { ...after, ...onShare(100) },
      ],
    } as const;

    expect(impactLines({ flags }, true)).toEqual([
      'flag/shop@production: shop 100 % on → on ! all-of-production',
    ]);
  });

  it('tell of variants only where neither treatment is the default', () => {
    const before = { ...THREE, ...three(50, 50, 0) };
    const after = { ...THREE, ...three(20, 50, 30) };

    expect(impactLines({ flags: { shop: [before, after] } })).toEqual([
      'flag/shop@production: shop 30 % a → b, 30 % b → c ! moves-between-variants',
    ]);
    expect(
      impactLines({
        flags: {
          shop: [
            { ...THREE, ...three(50, 0, 50) },
            { ...THREE, ...three(20, 0, 80) },
          ],
        },
      }),
    ).toEqual(['flag/shop@production: shop 30 % a → c']);
  });

  it('tell of a default that changes while everybody gets it', () => {
    const killed = { ...onShare(10), killed: true };

    expect(
      impactLines({ flags: { shop: [killed, { ...killed, defaultTreatment: 'on' }] } }),
    ).toEqual(['flag/shop@production: shop 100 % off → on ! default-changed-while-killed']);
  });

  it('tell of a rollout that reaches nobody, because its segment is empty or its allocation nothing', () => {
    const keys = ['ana'];
    const emptied = impactLines({
      flags: { shop: [inSegment('staff'), inSegment('staff')] },
      segments: { staff: [keys, []] },
    });

    expect(emptied).toEqual(['segment/staff@production: shop 1 keys on → off ! serves-nobody']);
    expect(
      impactLines({ flags: { shop: [onShare(10), { ...onShare(10), trafficAllocation: 0 }] } }),
    ).toEqual(['flag/shop@production: shop 10 % on → off ! serves-nobody']);
  });

  it('are none for a flag that is off everywhere and means to be', () => {
    expect(impactLines({ flags: { shop: [null, {}] } })).toEqual([
      'flag/shop@production: shop 100 % control → off',
    ]);
  });

  it('of a change of a segment are those of the flags that feel it', () => {
    const variants = (first: string, second: string): Definition => ({
      ...THREE,
      ...three(0, 0, 100),
      rules: [first, second].map((segment, index) => ({
        matchers: [{ type: 'IN_SEGMENT', string: segment }],
        buckets: [{ treatment: index === 0 ? 'a' : 'b', size: 100 }],
      })),
    });
    const shop = variants('one', 'two');

    expect(
      impactLines({
        flags: { shop: [shop, shop] },
        segments: { one: [[], ['ana']], two: [['ana'], ['ana']] },
      }),
    ).toEqual(['segment/one@production: shop 1 keys b → a ! moves-between-variants']);
  });
});

describe('figures that cannot all be worked out', () => {
  it('are bounds, and say so, where unknown conditions make too many cases', () => {
    const matchers = Array.from({ length: 60 }, (_, index) => ({
      ...FROM_SPAIN,
      strings: [`c${index}`],
    }));
    const alternating = (offset: number) => ({
      rules: matchers.map((matcher, index) => ({
        matchers: [matcher],
        buckets: onShare((index * 7 + offset) % 100).defaultRule,
      })),
    });
    const many = [alternating(1), { rules: [...alternating(2).rules].reverse() }] as const;

    expect(impactLines({ flags: { shop: many } })).toEqual([
      'flag/shop@production: shop  (bounded)',
    ]);
  });
});

describe('large segments', () => {
  it('are counted by the combinations that occur, each key once, however many hold it', () => {
    const names = Array.from({ length: 10 }, (_, index) => `segment-${index}`);
    const all = Array.from({ length: 20_000 }, (_, index) => `user-${index}`);
    const segments = Object.fromEntries(
      names.map((name, index) => {
        const keys = all.slice(index * 1_000);
        return [name, [keys, index === 9 ? keys.slice(1) : keys] as const];
      }),
    );
    const shop = { rules: names.flatMap((name) => inSegment(name).rules) };

    expect(
      impactLines({ flags: { shop: [shop, { ...shop, defaultTreatment: 'on' }] }, segments }),
    ).toEqual(['segment/segment-9@production: nobody', 'flag/shop@production: nobody']);
  });
});

describe('what is made in the same plan', () => {
  it('is told of by itself, and not once more by the segments that it uses', () => {
    expect(
      impactLines({
        flags: { shop: [null, inSegment('staff')] },
        segments: { staff: [null, ['ana']] },
      }),
    ).toEqual([
      'segment/staff@production: nobody',
      'flag/shop@production: shop 100 % control → off, 1 keys control → on',
    ]);
  });

  it('is not taken for empty where others are to fill it', () => {
    const world = { flags: { shop: [{}, inSegment('staff')] } } as const;
    const input = inputOf(world);
    const staff = desiredSegment('staff', { production: undefined });
    const desired = { ...input.desired, segments: new Map([['staff', staff]]) };
    const actual = { ...input.actual, segments: new Map([liveSegment('staff')]) };
    const all = { ...input, desired, actual };

    const impact = planImpact(planChanges(all), all).get('flag/shop@production');

    expect(impact?.flags.map(flagWords)).toEqual(['shop 0–100 % off → on']);
    expect(impact?.risks).toEqual([]);
  });
});

describe('what a restore would serve', () => {
  const killed = (on: number): Definition => ({ ...onShare(on), killed: true });

  it('is told of a ramp of a flag that stays killed, of one that is made killed, and of one that is killed with it', () => {
    const flags = {
      made: [null, killed(20)],
      ramped: [killed(10), killed(50)],
      stopped: [onShare(10), killed(30)],
    } as const;

    expect(restoreLines({ flags })).toEqual([
      'flag/made@production: made 20 % off → on',
      'flag/ramped@production: ramped 50 % off → on',
      'flag/stopped@production: stopped 30 % off → on',
    ]);
  });

  it('is not told of what is alive afterwards, nor where a flag is killed and nothing else', () => {
    const flags = {
      alive: [onShare(10), onShare(20)],
      stopped: [onShare(10), killed(10)],
    } as const;

    expect(restoreLines({ flags })).toEqual([]);
  });

  it('goes by lists and other flags as the plan leaves them', () => {
    const world: World = {
      flags: {
        asking: [killed(0), { ...killed(0), ...dependingOn('base') }],
        base: [onShare(0), onShare(40)],
        listed: [killed(0), { ...killed(0), ...inSegment('staff') }],
      },
      segments: {
        staff: [
          ['ana', 'bob'],
          ['bob', 'cleo', 'dan'],
        ],
      },
    };

    expect(restoreLines(world)).toEqual([
      'flag/asking@production: asking 40 % off → on',
      'flag/listed@production: listed 3 keys off → on',
    ]);
  });
});
