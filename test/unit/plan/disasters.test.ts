import { describe, expect, it } from 'vitest';
import type { BoundDesired } from '../../../src/model/bound-desired.js';
import type { DesiredFlag } from '../../../src/model/desired.js';
import type { State } from '../../../src/model/state.js';
import { planChanges } from '../../../src/plan/plan.js';
import { stateAfterVerify } from '../../../src/plan/bases/next-state.js';
import type { PlanPolicy } from '../../../src/plan/policy.js';
import {
  aDesired,
  aPolicy,
  desiredFlag,
  desiredSegment,
  inSegment,
  NO_STATE,
  onShare,
  stepLines,
} from '../../support/builders.js';
import { applyAll, EMPTY_WORLD, observeWorld, type World } from '../../support/service-model.js';

/** Everything that ever was in the specs has its second witness. */
function policyFor(state: State, parts: Partial<PlanPolicy> = {}): PlanPolicy {
  const witnessed = [...state.values()].flatMap(({ kind, name }) =>
    ['', '@staging', '@production'].map((place) => `${kind}/${name}${place}`),
  );
  return aPolicy({ prune: true, provenRemovals: new Set(witnessed), ...parts });
}

/** A service on which these specs were applied, and what that run remembered. */
function after(desired: BoundDesired): { world: World; state: State } {
  const input = { desired, actual: seen(EMPTY_WORLD, desired), state: NO_STATE, policy: aPolicy() };
  const world = applyAll(EMPTY_WORLD, planChanges(input).steps);
  const again = { ...input, actual: seen(world, desired) };
  const equal = new Set(planChanges(again).unchanged);
  return { world, state: stateAfterVerify(again, equal, 'a'.repeat(40)) };
}

function seen(world: World, { flags, segments }: BoundDesired) {
  return observeWorld(world, { flags: flags.keys(), segments: segments.keys() });
}

/** Plans `next` on top of `before`, and applies it to the model: an order that breaks something throws. */
function next(before: BoundDesired, desired: BoundDesired, parts: Partial<PlanPolicy> = {}) {
  const { world, state } = after(before);
  const policy = policyFor(state, parts);
  const plan = planChanges({ desired, actual: seen(world, desired), state, policy });
  return { plan, world: applyAll(world, plan.steps) };
}

const one = (flag: DesiredFlag): BoundDesired => aDesired({ flags: [flag] });

describe('a file that is invalid, in a run that goes on with the rest', () => {
  const held = { quarantined: new Set(['flag/pay', 'segment/staff']) };
  const pay = desiredFlag('pay', { environments: { production: inSegment('staff') } });
  const staff = desiredSegment('staff', { production: ['u1'] });
  const other = desiredFlag('cart', { environments: { production: onShare(10) } });
  const before = aDesired({ flags: [pay, other], segments: [staff] });

  it('is no removal, though prune is on and nothing else declares the object', () => {
    const { plan } = next(before, one(other), held);

    expect(plan.steps).toEqual([]);
    expect(plan.withheld).toEqual([]);
  });

  it('stops nothing else', () => {
    const more = desiredFlag('cart', { environments: { production: onShare(20) } });
    const { plan } = next(before, one(more), held);

    expect(stepLines(plan)).toEqual(['flag/cart@production#1-patch-definition']);
  });

  it('keeps its base for the run that can read it again', () => {
    const { world, state } = after(before);
    const policy = policyFor(state, held);
    const input = { desired: one(other), actual: seen(world, one(other)), state, policy };

    const remembered = stateAfterVerify(input, new Set(), 'b'.repeat(40));

    expect(remembered.get('flag/pay')).toEqual(state.get('flag/pay'));
    expect(remembered.get('segment/staff')).toEqual(state.get('segment/staff'));
  });

  it('is killed where git says so, and restored by nobody', () => {
    const location = { file: 'kills/production.yaml', line: 1, column: 1 };
    const kills = [{ flag: 'pay', environment: 'production', location, reason: 'INC-1' }];
    const { world, state } = after(before);
    const actual = seen(world, before);
    const policy = policyFor(state, held);
    const plan = planChanges({ desired: { ...one(other), kills }, actual, state, policy });
    expect(stepLines(plan)).toEqual(['flag/pay@production#1-kill-flag']);

    const ref = { kind: 'flag', name: 'pay', environment: 'production' } as const;
    const dead = seen(applyAll(world, plan.steps), before);
    const restorable = new Map([['flag/pay@production', ref]]);
    const again = { desired: one(other), actual: dead, state, policy: { ...policy, restorable } };
    expect(planChanges(again).steps).toEqual([]);
  });
});
