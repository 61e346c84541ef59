import { describe, expect, it } from 'vitest';
import type { Definition } from '../../../src/model/flag/flag.js';
import type { BoundDesired } from '../../../src/model/bound-desired.js';
import type { Plan } from '../../../src/model/plan.js';
import {
  aDesired,
  dependingOn,
  desiredFlag,
  liveFlag,
  noFlag,
  planLines,
  stepLines,
} from '../../support/builders.js';
import { planOf, provenIn } from '../../support/planning.js';
import { stateOf } from '../../support/state-of.js';

/** Plans specs on top of flags of ours that are live in production as they are given here. */
function planOver(live: Readonly<Record<string, Definition>>, desired: BoundDesired): Plan {
  const names = Object.keys(live);
  const flags = [
    ...[...desired.flags.keys()].map(noFlag),
    ...names.map((name) => liveFlag(name, { production: live[name] ?? {} })),
  ];
  const declared = names.map((name) => desiredFlag(name, { environments: { production: {} } }));
  const state = stateOf(aDesired({ flags: declared }));
  const policy = { prune: true, provenRemovals: provenIn(state) };
  return planOf(desired, { flags }, { state, policy });
}

const TWO_IN_A_CIRCLE = { cart: dependingOn('pay'), pay: dependingOn('cart') };

describe('live flags that depend on each other in a circle', () => {
  it('stay, with the path shown, when both are pruned, and what is beside them comes and goes', () => {
    const beside = aDesired({ flags: [desiredFlag('fresh')] });
    const plan = planOver({ ...TWO_IN_A_CIRCLE, search: {} }, beside);

    expect(planLines(plan)).toEqual([
      'create flag/fresh',
      'delete flag/search@production (prune)',
      'delete flag/search (prune)',
      'withheld delete flag/cart: still-in-use',
      'withheld delete flag/cart@production: still-in-use',
      'withheld delete flag/pay: still-in-use',
      'withheld delete flag/pay@production: still-in-use',
    ]);
    expect(plan.withheld.find(({ id }) => id === 'flag/pay@production')?.because).toBe(
      'they use each other: flag/cart@production → flag/pay@production → flag/cart@production; take a rule of one of them away on the service',
    );
  });

  it('are taken apart where git still declares one of them, without the rule', () => {
    const cart = desiredFlag('cart', { environments: { production: {} } });

    expect(stepLines(planOver(TWO_IN_A_CIRCLE, aDesired({ flags: [cart] })))).toEqual([
      'flag/cart@production#1-patch-definition',
      'flag/pay@production#1-delete-definition',
      'flag/pay#1-delete-flag',
    ]);
  });
});
