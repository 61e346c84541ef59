import { describe, expect, it } from 'vitest';
import type { Definition } from '../../../../src/model/flag/flag.js';
import { flagEntry, type Base, type LeftKilled, type State } from '../../../../src/model/state.js';
import { leftKilledAfter, withKillsBack } from '../../../../src/plan/kills/plan.js';
import { withoutOldKills } from '../../../../src/plan/objects/definition.js';
import type { PlanPolicy } from '../../../../src/plan/policy.js';
import {
  aDesired,
  anEnvironment,
  DEFINITION,
  desiredFlag,
  liveFlag,
  NO_STATE,
  onShare,
  type Said,
} from '../../../support/builders.js';
import { flagState, inputOf, planOf } from '../../../support/planning.js';

const ID = 'flag/pay@production';
const LEFT = 'flag/pay@env-production';
const [SEEN, NOW] = ['2026-11-01T08:00:00.000Z', '2026-11-27T12:00:00.000Z'];
const KILLED = { spec: { ...DEFINITION, killed: true } };
const ALIVE = { spec: DEFINITION };

const remembered = (base: Partial<Base<Definition>>): State =>
  flagState('pay', { production: base });

/** @param said undefined without a definition, null if nobody looked. */
const liveAs = (said?: Definition | null, lastUpdateTime = 1) => ({
  flags:
    said === null ? [] : [liveFlag('pay', said && { production: said }, {}, { lastUpdateTime })],
});

const saying = (said: Said) =>
  aDesired({ flags: [desiredFlag('pay', { environments: { production: said } })] });

describe('a definition that leaves the inventory', () => {
  const before = { [LEFT]: SEEN };

  const inStaging = flagState('pay', { staging: ALIVE });

  it.each<[string, State, Definition | undefined | null, State, LeftKilled, LeftKilled]>([
    ['killed is remembered', remembered(KILLED), undefined, NO_STATE, {}, { [LEFT]: NOW }],
    ['is so where nobody looked', remembered(KILLED), null, NO_STATE, {}, { [LEFT]: NOW }],
    ['elsewhere is not remembered here', inStaging, { killed: true }, inStaging, {}, {}],
    [
      'with a kill by hand is remembered since that was seen',
      remembered({ ...ALIVE, liveKillSeenAt: 'c0ffee', liveKillSeen: SEEN }),
      undefined,
      NO_STATE,
      {},
      before,
    ],
    [
      'is remembered by what the service shows, where it shows it',
      remembered(ALIVE),
      { killed: true },
      NO_STATE,
      {},
      { [LEFT]: NOW },
    ],
    ['restored by hand is not', remembered(KILLED), { killed: false }, NO_STATE, {}, {}],
    ['alive is not', remembered(ALIVE), undefined, NO_STATE, {}, {}],
    ['is not, where it stays', remembered(KILLED), undefined, remembered(KILLED), {}, {}],
    ['is forgotten once it is back', NO_STATE, undefined, remembered(ALIVE), before, {}],
    [
      'is remembered until it was seen back',
      NO_STATE,
      undefined,
      remembered({ pending: 'create' }),
      before,
      before,
    ],
  ])('%s', (_, state, live, after, known, left) => {
    const input = inputOf(aDesired(), liveAs(live), { state });

    expect(leftKilledAfter(known, input, after, NOW)).toEqual(left);
  });
});

describe('a definition that left killed', () => {
  const policy = { leftKilled: { [LEFT]: SEEN }, adopt: true };
  const plan = (said: Said, more: Partial<PlanPolicy> = {}) =>
    planOf(saying(said), liveAs(), { policy: { ...policy, ...more } });
  const reverting = { environments: [anEnvironment('production', { onLiveKill: 'revert' })] };
  const restorable = new Map([[ID, { kind: 'flag', name: 'pay', environment: 'production' }]]);

  it.each<[string, Said, object, boolean]>([
    ['comes back killed', {}, {}, true],
    ['comes back killed though the spec says that it is alive', { killed: false }, {}, true],
    [
      'comes back alive where the config takes live kills back',
      { killed: false },
      reverting,
      false,
    ],
    ['comes back alive where HEAD takes the kill back', { killed: false }, { restorable }, false],
    ['comes back alive if it left alive', {}, { leftKilled: {} }, false],
  ])('%s', (_, said, more, isKilled) => {
    const { changes, liveKills, steps } = plan(said, more);

    const creation = changes.find(({ id }) => id === ID);
    const killed = creation?.fields.find(({ path }) => path === '/killed');
    expect([creation?.action, killed?.after === true]).toEqual(['create', isKilled]);
    expect(steps.find(({ change }) => change === ID)).toMatchObject({ body: { killed: isKilled } });
    expect(liveKills).toMatchObject(isKilled ? [{ id: ID, seen: SEEN, comesBack: true }] : []);
  });

  it('is a live kill like others once its creation is applied', () => {
    const made = plan({});
    const comesBack = (outcomes: Parameters<typeof withKillsBack>[1]) =>
      withKillsBack(made, outcomes).liveKills.map((each) => each.comesBack);

    expect(comesBack(new Map([[ID, { status: 'applied' }]]))).toEqual([undefined]);
    expect(comesBack(new Map([[ID, { status: 'skipped', why: 'interrupted' }]]))).toEqual([true]);
    expect(comesBack(new Map())).toEqual([true]);
  });
});

describe('a kill that git takes back', () => {
  const marked = remembered({ ...KILLED, commit: 'c0ffee', killedAsOf: '1' });
  const restorable = new Map([[ID, { kind: 'flag', name: 'pay', environment: 'production' }]]);
  const killed = { killed: true };

  /** Whether the plan goes on without the memory of the kill. */
  function isForgotten(
    said: Said | null,
    live: Definition | undefined | null,
    updated: number,
    state = marked,
  ): boolean {
    const desired = said === null ? aDesired() : saying(said);
    const policy = { restorable } as Partial<PlanPolicy>;
    const input = inputOf(desired, liveAs(live, updated), { state, policy });
    const [after, ids] = withoutOldKills(input);
    const base = flagEntry(after.state, 'pay')?.environments['env-production'];
    const isSame = after === input;
    expect(ids).toEqual(isSame ? [] : [ID]);
    expect(after.policy.restorable.has(ID)).toBe(isSame);
    expect([base?.spec?.killed, base?.killedAsOf]).toEqual(
      isSame ? [true, state === marked ? '1' : undefined] : [false, undefined],
    );
    return !isSame;
  }

  it('is the one of now only if the definition was not changed since without a trace', () => {
    expect(isForgotten({ killed: false }, killed, 2)).toBe(true);
    expect(isForgotten({}, killed, 2)).toBe(true);
    expect(isForgotten({ killed: false, trafficAllocation: 50 }, killed, 2)).toBe(true);

    expect(isForgotten({ killed: false }, killed, 1)).toBe(false);
    expect(isForgotten({ killed: false }, { killed: false }, 2)).toBe(false);
    expect(isForgotten({ killed: false }, undefined, 2)).toBe(false);
    expect(isForgotten({ killed: false }, { ...killed, ...onShare(40) }, 2)).toBe(false);
    expect(isForgotten({ killed: false, ...onShare(50) }, { ...killed, ...onShare(40) }, 2)).toBe(
      false,
    );
    expect(isForgotten({ killed: false }, null, 2)).toBe(false);
    expect(isForgotten({ killed: false }, killed, 2, remembered(KILLED))).toBe(false);
    expect(isForgotten(killed, killed, 2)).toBe(false);
    expect(isForgotten(null, killed, 2)).toBe(false);
  });
});
