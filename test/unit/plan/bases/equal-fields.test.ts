import { describe, expect, it } from 'vitest';
import type { Definition } from '../../../../src/model/flag/flag.js';
import { flagEntry, type Base, type State } from '../../../../src/model/state.js';
import { stateAfterVerify } from '../../../../src/plan/bases/next-state.js';
import { planChanges } from '../../../../src/plan/plan.js';
import {
  aDesired,
  anActual,
  anEnvironment,
  aPolicy,
  desiredFlag,
  liveFlag,
  NO_STATE,
  onShare,
} from '../../../support/builders.js';
import { stateOf } from '../../../support/state-of.js';

const FIRST = 'a'.repeat(40);
const SECOND = 'b'.repeat(40);
const ID = 'flag/pay@production';
const policy = aPolicy({
  environments: [anEnvironment('production', { onDrift: 'report', onConflict: 'hold' })],
});

function specs(production: Definition) {
  return aDesired({ flags: [desiredFlag('pay', { environments: { production } })] });
}

/** One look: what a run that saw this plans, and what it remembers. */
function look(said: Definition, live: Definition, state: State, head = SECOND) {
  const actual = anActual({ flags: [liveFlag('pay', { production: live })] });
  const input = { desired: specs(said), actual, state, policy };
  const plan = planChanges(input);
  const next = stateAfterVerify(input, new Set(plan.unchanged), head);
  return { plan, next, base: productionBase(next) };
}

function productionBase(state: State): Base<Definition> | undefined {
  return flagEntry(state, 'pay')?.environments['env-production'];
}

const ramped = (percent: number, rest: Definition = {}): Definition => ({
  ...onShare(percent),
  ...rest,
});

describe('the base of a field', () => {
  const before = stateOf(specs(ramped(10)), policy);

  it('advances with its commit beside a field that is held back, which keeps its own', () => {
    const { base } = look(ramped(50), ramped(50, { trafficAllocation: 40 }), before);

    expect(base).toMatchObject({
      spec: { ...onShare(50), trafficAllocation: 100 },
      commit: FIRST,
      fields: { '/defaultRule': SECOND },
    });
    expect(Object.keys(base?.fields ?? {})).toEqual(['/defaultRule']);
  });

  it.each([10, 30])('makes a live rollback to %i % drift after it was applied', (percent) => {
    const held = { trafficAllocation: 40 };
    const { next } = look(ramped(50), ramped(50, held), before);

    const { plan } = look(ramped(50), ramped(percent, held), next);

    expect(plan.changes).toEqual([]);
    expect(plan.withheld).toMatchObject([
      {
        id: ID,
        why: 'drift-reported',
        fields: [
          { path: '/trafficAllocation', reason: 'drift' },
          { path: '/defaultRule', reason: 'drift' },
        ],
      },
    ]);
  });

  it('keeps its commit while its value stays, and is one with the rest once all is equal', () => {
    const { next } = look(ramped(50), ramped(50, { trafficAllocation: 40 }), before);
    const third = 'c'.repeat(40);

    const again = look(ramped(50), ramped(50, { trafficAllocation: 40 }), next, third);
    const equal = look(ramped(50), ramped(50), again.next, third);

    expect(again.base).toEqual(productionBase(next));
    expect(equal.base).toEqual({ spec: again.base?.spec, commit: third });
  });

  it('is of each treatment in the individual targets', () => {
    const state = stateOf(specs({ targets: { on: ['a'], off: ['b'] } }), policy);
    const said = { targets: { on: ['a', 'c'], off: ['b'] } };
    const live = { targets: { on: ['a', 'c'], off: ['x'] } };

    expect(look(said, live, state).base).toMatchObject({
      spec: { targets: { on: ['a', 'c'], off: ['b'] } },
      fields: { '/targets/on': SECOND },
    });
  });

  it('leaves the base with the field: naming it again is a change in git', () => {
    const unsaid = { unsaid: ['trafficAllocation', 'killed'] } as Definition;
    const { base } = look({ ...ramped(10), ...unsaid }, ramped(20), before);

    expect(base?.spec).toMatchObject(onShare(10));
    expect(base?.spec).not.toHaveProperty('trafficAllocation');
  });

  it('makes nothing ours of which one field is equal', () => {
    expect(look(ramped(50), ramped(50, { trafficAllocation: 40 }), NO_STATE).base).toBeUndefined();
  });

  it('holds a kill to be taken back for as long as it is live', () => {
    const killed = stateOf(specs({ killed: true }), policy);
    const unnamed = { trafficAllocation: 100 };

    const live = look(unnamed, { killed: true, trafficAllocation: 40 }, killed);
    const gone = look(unnamed, { killed: false, trafficAllocation: 40 }, killed);

    expect(live.base?.spec).toMatchObject({ killed: true });
    expect(gone.base?.spec).not.toHaveProperty('killed');
  });
});

describe('the base of a field at workspace level', () => {
  it('advances beside one that is held back', () => {
    const said = (description: string) =>
      aDesired({ flags: [desiredFlag('pay', { fields: { description, tags: ['a'] } })] });
    const actual = anActual({ flags: [liveFlag('pay')] });
    const flag = actual.flags.get('pay');
    if (!flag?.flag) throw new Error('no flag');
    const live = { ...flag, flag: { ...flag.flag, description: 'two', tags: [{ name: 'z' }] } };
    const input = {
      desired: said('two'),
      actual: { ...actual, flags: new Map([['pay', live]]) },
      state: stateOf(said('one'), policy),
      policy,
    };

    expect(flagEntry(stateAfterVerify(input, new Set(), SECOND), 'pay')?.workspace).toEqual({
      spec: { trafficType: 'user', fields: { description: 'two', tags: ['a'] } },
      commit: FIRST,
      fields: { '/description': SECOND },
    });
  });
});
