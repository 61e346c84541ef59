import { describe, expect, it } from 'vitest';
import type { Definition } from '../../../../src/model/flag/flag.js';
import type { BoundDesired } from '../../../../src/model/bound-desired.js';
import type { DesiredKill } from '../../../../src/model/desired.js';
import type { GuardFinding } from '../../../../src/model/plan.js';
import { planImpact } from '../../../../src/plan/impact/impact.js';
import { planChanges } from '../../../../src/plan/plan.js';
import { flipFindings, shiftFindings } from '../../../../src/plan/guards/guards.js';
import {
  aDesired,
  anEnvironment,
  dependingOn,
  desiredFlag,
  desiredKill,
  desiredSegment,
  inSegment,
  liveFlag,
  liveSegment,
  noFlag,
  onShare,
} from '../../../support/builders.js';
import { inputOf, provenIn } from '../../../support/planning.js';
import { stateOf } from '../../../support/state-of.js';

/** The definition of each flag before and after, in both environments. */
type Flags = Readonly<Record<string, readonly [Definition | null, Definition | null]>>;

const KILL = desiredKill('cart');

/** A plan and its input, with the impacts in either order; the segment `staff` gains a key, production is protected. */
function assessed(flags: Flags, kills: readonly DesiredKill[]) {
  const specs = (side: 0 | 1, more: Partial<Parameters<typeof aDesired>[0]> = {}): BoundDesired => {
    const declared = Object.entries(flags).flatMap(([name, sides]) => {
      const { [side]: said } = sides;
      return said ? [desiredFlag(name, { environments: { staging: said, production: said } })] : [];
    });
    return aDesired({ flags: declared, ...more });
  };
  const segments = [desiredSegment('staff', { production: ['ann', 'bob'] })];
  const desired = specs(1, { segments, kills });
  const live = {
    flags: Object.entries(flags).map(([name, [said]]) =>
      said ? liveFlag(name, { staging: said, production: said }) : noFlag(name),
    ),
    segments: [liveSegment('staff', { production: ['ann'] })],
  };
  const state = stateOf(specs(0));
  const environments = [anEnvironment('staging'), anEnvironment('production', { protected: true })];
  const policy = { environments, adopt: true, prune: true, provenRemovals: provenIn(state) };
  const input = inputOf(desired, live, { state, policy });
  const plan = planChanges(input);
  const impacts = [...planImpact(plan, input)];
  return { plan, input, impacts: [impacts, [...impacts].reverse()].map((each) => new Map(each)) };
}

const line = ({ guard, environment, id, found, limit }: GuardFinding): string =>
  `${guard} ${environment ?? ''}: ${id ?? ''} ${found} > ${limit}`;

function findings(flags: Flags, maxShift: number, kills: readonly DesiredKill[] = []): string[] {
  const { plan, input, impacts } = assessed(flags, kills);
  const config = {
    ...input.desired.config,
    environments: [
      { name: 'staging', guards: {} },
      { name: 'production', guards: { maxShift } },
    ],
  };
  const [lines = [], others] = impacts.map((each) =>
    shiftFindings(plan, input, each, config).map(line).sort(),
  );
  expect(others).toEqual(lines);
  return lines.map((each) => each.replace('maxShift production: ', ''));
}

describe('the guard against large shifts', () => {
  it('stands against a flag that serves more of the traffic another treatment, and not at the limit', () => {
    const ramp: Flags = { shop: [onShare(10), onShare(25)] };

    expect(findings(ramp, 14)).toEqual(['flag/shop@production 15 > 14']);
    expect(findings(ramp, 15)).toEqual([]);
  });

  it('counts flags that shift because of another, and all of one that no examination bounds', () => {
    const [cart, shop] = [dependingOn('cart'), dependingOn('shop')];
    const ramp: Flags = { cart: [onShare(10), onShare(40)], shop: [cart, cart] };
    const circle: Flags = { cart: [shop, { ...shop, ...onShare(1) }], shop: [cart, cart] };

    expect(findings(ramp, 20)).toEqual([
      'flag/cart@production 30 > 20',
      'flag/shop@production 30 > 20',
    ]);
    expect(findings(circle, 99)).toEqual([
      'flag/cart@production 100 > 99',
      'flag/shop@production 100 > 99',
    ]);
  });

  it('counts the most of what several changes do to a flag, in whichever order', () => {
    const staff = inSegment('staff');
    const shop = [staff, { ...staff, ...onShare(30) }] as const;

    expect(findings({ shop }, 29)).toEqual(['flag/shop@production 30 > 29']);
  });

  it('holds up no kill, nor what hangs on it, but what changes beside it, and a restore', () => {
    const cart = [onShare(90), onShare(90)] as const;
    const shop = [dependingOn('cart'), dependingOn('cart')] as const;
    const other = [onShare(0), onShare(30)] as const;
    const restored = [
      { killed: true, ...onShare(20) },
      { killed: false, ...onShare(20) },
    ] as const;

    expect(findings({ cart, shop, other, restored }, 10, [KILL])).toEqual([
      'flag/other@production 30 > 10',
      'flag/restored@production 20 > 10',
    ]);
  });
});

describe('all keys of a protected environment', () => {
  const on = (trafficAllocation: number) => ({ ...onShare(100), trafficAllocation });
  const depending = [dependingOn('cart'), dependingOn('cart')] as const;
  const byOther: Flags = { cart: [onShare(0), onShare(100)], shop: depending };
  const unlike = (killed: boolean, allocation: number) => ({ killed, ...on(allocation) });

  it.each<[string, Flags, (readonly DesiredKill[])?, ...string[]]>([
    ['by the allocation', { cart: [on(0), on(100)] }, [], 'cart'],
    ['but for one in a hundred', { cart: [on(0), on(99)] }],
    ['by another flag, whose default rule tells it already', byOther, [], 'shop'],
    ['of a flag that is made', { cart: [null, on(100)] }],
    ['of a flag that goes', { cart: [on(100), null] }],
    ['by a kill', { cart: [on(100), on(100)], shop: depending }, [KILL]],
    ['by a restore', { cart: [unlike(true, 100), unlike(false, 100)], shop: depending }],
    ['behind a kill by hand', { cart: [unlike(true, 0), on(100)], shop: depending }],
  ])('flip or not: %s', (_, flags, kills = [], ...flipped) => {
    const { plan, input, impacts } = assessed(flags, kills);
    const [lines] = impacts.map((each) => flipFindings(plan, input, each).map(line));
    const expected = flipped.map((name) => `fullFlip production: flag/${name}@production 100 > 99`);

    expect(lines).toEqual(expected);
    expect(plan.changes.map(({ ref }) => ref.name)).toContain('cart');
  });
});
