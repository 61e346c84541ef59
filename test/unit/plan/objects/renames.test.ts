import { describe, expect, it } from 'vitest';
import type { BoundDesired } from '../../../../src/model/bound-desired.js';
import type { Plan } from '../../../../src/model/plan.js';
import {
  aDesired,
  desiredFlag,
  desiredSegment,
  liveFlag,
  noFlag,
  onShare,
} from '../../../support/builders.js';
import { flagState, planOf, provenIn } from '../../../support/planning.js';
import { stateOf } from '../../../support/state-of.js';
import { applyAll, EMPTY_WORLD, observeWorld } from '../../../support/service-model.js';

/** Plans `desired` after `before` was applied. */
function planAfter(before: BoundDesired, desired: BoundDesired, prune: boolean): Plan {
  const names = [before, desired];
  const seen = (world = EMPTY_WORLD) =>
    observeWorld(world, {
      flags: names.flatMap(({ flags }) => [...flags.keys()]),
      segments: names.flatMap(({ segments }) => [...segments.keys()]),
    });
  const world = applyAll(EMPTY_WORLD, planOf(before, seen()).steps);
  const state = stateOf(before);
  return planOf(desired, seen(world), {
    state,
    policy: { prune, provenRemovals: provenIn(state) },
  });
}

function renames({ changes, withheld }: Plan): unknown[] {
  return [...changes, ...withheld].flatMap(({ id, rename }) => (rename ? [[id, rename]] : []));
}

const flag = (name: string, percent = 10) =>
  desiredFlag(name, { environments: { production: onShare(percent) } });
const flags = (...names: string[]) => aDesired({ flags: names.map((name) => flag(name)) });
const segment = (name: string) =>
  aDesired({ segments: [desiredSegment(name, { staging: ['u1', 'u2'] })] });

describe('an object under another name', () => {
  it('is said to look like a rename on both sides, whether the old one goes or stays', () => {
    const both = [
      ['flag/new', { from: 'flag/old' }],
      ['flag/old', { to: 'flag/new' }],
    ];

    expect(renames(planAfter(flags('old'), flags('new'), false))).toEqual(both);
    expect(renames(planAfter(flags('old'), flags('new'), true))).toEqual(both);
    expect(renames(planAfter(segment('old'), segment('new'), false))).toEqual([
      ['segment/new', { from: 'segment/old' }],
      ['segment/old', { to: 'segment/new' }],
    ]);
  });

  it('is none where the two differ, or where several look alike', () => {
    const other = aDesired({ flags: [flag('new', 20)] });

    expect(renames(planAfter(flags('old'), other, false))).toEqual([]);
    expect(renames(planAfter(flags('old'), flags('new', 'newer'), false))).toEqual([]);
    expect(renames(planAfter(flags('old', 'older'), flags('new'), false))).toEqual([]);
    expect(renames(planAfter(flags('old'), segment('old'), false))).toEqual([]);
  });

  it('is none where either was there before and stays', () => {
    const described = (name: string) => ({ ...flag(name), fields: { description: 'Changed' } });
    const left = aDesired({ flags: [described('new')] });
    const joined = aDesired({ flags: [described('old'), flag('new')] });

    expect(renames(planAfter(flags('old', 'new'), left, false))).toEqual([]);
    expect(renames(planAfter(flags('old'), joined, false))).toEqual([]);
  });

  it('is none where both are in no environment, and would look like any other', () => {
    const bare = (name: string) => aDesired({ flags: [desiredFlag(name)] });

    expect(renames(planAfter(bare('old'), bare('new'), false))).toEqual([]);
  });

  it('is none where a run had only begun to make the old one', () => {
    const [begun, there] = [{ workspace: { commit: null, pending: 'create' } }, onShare(10)];
    const state = flagState('old', { production: { spec: there } }, begun);
    const live = { flags: [liveFlag('old', { production: there }), noFlag('new')] };

    expect(renames(planOf(flags('new'), live, { state }))).toEqual([]);
  });
});
