import { describe, expect, it } from 'vitest';
import type { BoundDesired } from '../../../../src/model/bound-desired.js';
import type { State } from '../../../../src/model/state.js';
import type { PlanPolicy } from '../../../../src/plan/policy.js';
import { comparedWithBases, type ComparedBases } from '../../../../src/plan/bases/changed.js';
import {
  aDesired,
  anEnvironment,
  aPolicy,
  desiredFlag,
  onShare,
} from '../../../support/builders.js';
import { stateOf } from '../../../support/state-of.js';

const policy = aPolicy({ environments: [anEnvironment('staging'), anEnvironment('production')] });

function flagAt(name: string, percent: number) {
  return desiredFlag(name, { environments: { staging: onShare(percent) } });
}

interface Step {
  readonly desired: BoundDesired;
  readonly state: State;
  readonly policy: PlanPolicy;
}

/** Away after each step, going on from the step before; and that it is what a comparison of all gives. */
function awayAfter(steps: readonly Step[]): string[][] {
  let last: ComparedBases | null = null;
  return steps.map((step) => {
    last = comparedWithBases(step, last);
    expect(last.away).toEqual(comparedWithBases(step, null).away);
    return [...last.away].toSorted();
  });
}

describe('what is away from its base', () => {
  const kept = flagAt('kept', 10);
  const first = aDesired({ flags: [kept, flagAt('pay', 10)], segments: [], kills: [] });
  const state = stateOf(first, policy);
  const start = { desired: first, state, policy };

  it('is a flag of which the specs say something else, until its base does too', () => {
    const flags = new Map([...first.flags, ['pay', flagAt('pay', 20)]] as const);
    const changed = { ...first, flags };
    const after = new Map([...state, ['flag/pay', stateOf(changed, policy).get('flag/pay')]]);

    expect(
      awayAfter([
        start,
        { ...start, desired: changed },
        { ...start, desired: changed },
        { ...start, desired: changed, state: after as State },
      ]),
    ).toEqual([[], ['flag/pay'], ['flag/pay'], []]);
  });

  it('is a flag that was killed by the list alone, and no longer when it left the list', () => {
    const { location } = kept;
    const kill = { flag: 'kept', environment: 'staging', reason: 'broken', location };
    const killed = { ...first, kills: [kill] };

    expect(awayAfter([start, { ...start, desired: killed }, start])).toEqual([
      [],
      ['flag/kept'],
      [],
    ]);
  });

  it('is a flag that lost its base, and none that left the specs', () => {
    const without = new Map([...state].filter(([key]) => key !== 'flag/pay'));
    const left = { ...first, flags: new Map([['kept', kept]]) };

    expect(
      awayAfter([start, { ...start, state: without }, { desired: left, state: without, policy }]),
    ).toEqual([[], ['flag/pay'], []]);
  });

  it('is another question where other environments are selected', () => {
    const [staging, production] = policy.environments;
    if (!staging || !production) throw new Error('no environments');
    const changed = new Map([...first.flags, ['pay', flagAt('pay', 20)]] as const);
    const desired = { ...first, flags: changed };
    const filtered = { ...policy, environments: [{ ...staging, selected: false }, production] };

    expect(
      awayAfter([
        { ...start, desired },
        { ...start, desired, policy: filtered },
      ]),
    ).toEqual([['flag/pay'], []]);
  });
});
