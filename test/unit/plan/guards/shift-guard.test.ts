import { describe, expect, it } from 'vitest';
import type { Definition } from '../../../../src/model/flag/flag.js';
import type { DesiredKill } from '../../../../src/model/desired.js';
import { planImpact } from '../../../../src/plan/impact/impact.js';
import { planChanges } from '../../../../src/plan/plan.js';
import { shiftFindings } from '../../../../src/plan/guards/guards.js';
import {
  aDesired,
  dependingOn,
  desiredFlag,
  liveFlag,
  noFlag,
  onShare,
} from '../../../support/builders.js';
import { inputOf } from '../../../support/planning.js';

type Flags = Readonly<Record<string, readonly [Definition | null, Definition]>>;

const KILL: DesiredKill = {
  flag: 'cart',
  environment: 'production',
  location: { file: 'kills/production.yaml', line: 1, column: 1 },
  reason: 'INC-1',
};

function findings(flags: Flags, maxShift: number, kills: readonly DesiredKill[] = []): string[] {
  const desired = aDesired({
    flags: Object.entries(flags).map(([name, [, after]]) =>
      desiredFlag(name, { environments: { production: after } }),
    ),
    kills,
  });
  const live = Object.entries(flags).map(([name, [before]]) =>
    before ? liveFlag(name, { production: before }) : noFlag(name),
  );
  const input = inputOf(desired, { flags: live }, { policy: { adopt: true } });
  const plan = planChanges(input);
  const config = {
    ...desired.config,
    environments: [
      { name: 'staging', guards: {} },
      { name: 'production', guards: { maxShift } },
    ],
  };
  return shiftFindings(plan, input, planImpact(plan, input), config).map(
    ({ id, found, limit }) => `${id ?? ''}: ${found} > ${limit}`,
  );
}

describe('the guard against large shifts', () => {
  it('stands against a flag that serves more of the traffic another treatment, and not at the limit', () => {
    const ramp: Flags = { shop: [onShare(10), onShare(25)] };

    expect(findings(ramp, 14)).toEqual(['flag/shop@production: 15 > 14']);
    expect(findings(ramp, 15)).toEqual([]);
  });

  it('counts all moves of a flag together, and the worst that is possible', () => {
    const swapped = { defaultRule: [...onShare(10).defaultRule].reverse() };
    const country = { type: 'IN_LIST_STRING', attribute: 'country', strings: ['ES'] };
    const toSpain = { rules: [{ matchers: [country], buckets: onShare(40).defaultRule }] };

    expect(findings({ shop: [onShare(10), swapped] }, 19)).toEqual([
      'flag/shop@production: 20 > 19',
    ]);
    expect(findings({ shop: [{}, toSpain] }, 39)).toEqual(['flag/shop@production: 40 > 39']);
  });

  it('counts flags that shift because of another', () => {
    const cart = [onShare(10), onShare(40)] as const;
    const shop = [dependingOn('cart'), dependingOn('cart')] as const;

    expect(findings({ cart, shop }, 20)).toEqual([
      'flag/cart@production: 30 > 20',
      'flag/shop@production: 30 > 20',
    ]);
  });

  it('lets a flag be made', () => {
    expect(findings({ shop: [null, onShare(50)] }, 0)).toEqual([]);
  });

  it('holds up no kill, nor what hangs on it, but what changes beside it', () => {
    const cart = [onShare(90), onShare(90)] as const;
    const shop = [dependingOn('cart'), dependingOn('cart')] as const;
    const other = [onShare(0), onShare(30)] as const;

    expect(findings({ cart, shop, other }, 10, [KILL])).toEqual(['flag/other@production: 30 > 10']);
  });
});
