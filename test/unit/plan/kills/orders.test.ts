import { describe, expect, it } from 'vitest';
import { SUSPENDED_BY_CONFIG } from '../../../../src/model/run.js';
import type { Definition } from '../../../../src/model/flag/flag.js';
import type { BoundDesired } from '../../../../src/model/bound-desired.js';
import type { DesiredKill } from '../../../../src/model/desired.js';
import type { Plan } from '../../../../src/model/plan.js';
import type { State } from '../../../../src/model/state.js';
import {
  isKillListed,
  isKillOrdered,
  killOrders,
  orderedDefinition,
} from '../../../../src/plan/kills/orders.js';
import { seenLiveKills } from '../../../../src/plan/kills/plan.js';
import { sinceText } from '../../../../src/report/view/sentences.js';
import { planChanges } from '../../../../src/plan/plan.js';
import type { PlanInput } from '../../../../src/plan/input.js';
import type { PlanPolicy } from '../../../../src/plan/policy.js';
import {
  aDesired,
  anActual,
  anEnvironment,
  aPolicy,
  desiredFlag,
  liveFlag,
  noFlag,
  NO_STATE,
  planLines,
} from '../../../support/builders.js';
import { stateOf } from '../../../support/state-of.js';

const LOCATION = { file: 'k', line: 1, column: 1 };
const ID = 'flag/pay@production';

function listed(flag: string, environment = 'production'): DesiredKill {
  return { flag, environment, reason: 'INC-1', by: 'ana', location: LOCATION };
}

function pay(said: Definition = {}): ReturnType<typeof desiredFlag> {
  return desiredFlag('pay', { environments: { production: said } });
}

describe('the kills that git orders', () => {
  it('are those of the break-glass list first, then those of the flags, each definition once', () => {
    const cart = desiredFlag('cart', {
      environments: { staging: { killed: true }, production: { killed: false } },
    });
    const desired = aDesired({
      flags: [cart, pay({ killed: true })],
      kills: [listed('theirs'), listed('pay'), listed('cart', 'production')],
    });

    expect(killOrders(desired)).toEqual([
      { ...listed('theirs'), isDeclared: false },
      { ...listed('pay'), isDeclared: true },
      { ...listed('cart'), isDeclared: true },
      {
        flag: 'cart',
        environment: 'staging',
        location: { file: 'spec.yaml', line: 1, column: 1 },
        reason: 'killed: true in spec.yaml',
        isDeclared: true,
      },
    ]);
  });

  it.each<[string, ReturnType<typeof aDesired>, boolean, boolean]>([
    ['the list', aDesired({ flags: [pay()], kills: [listed('pay')] }), true, true],
    ['the flag', aDesired({ flags: [pay({ killed: true })] }), false, true],
    ['an entry of another flag', aDesired({ kills: [listed('cart')] }), false, false],
    [
      'an entry of another environment',
      aDesired({ kills: [listed('pay', 'staging')] }),
      false,
      false,
    ],
    ['a flag that says otherwise', aDesired({ flags: [pay({ killed: false })] }), false, false],
    ['nothing', aDesired(), false, false],
  ])('are found where they stand: %s', (_, desired, isListed, isOrdered) => {
    expect(isKillListed(desired, 'pay', 'production')).toBe(isListed);
    expect(isKillOrdered(desired, 'pay', 'production')).toBe(isOrdered);
  });

  it('are of a flag that is not declared where its specs do not name the environment', () => {
    const desired = aDesired({ flags: [pay()], kills: [listed('pay', 'staging')] });

    expect(killOrders(desired)).toMatchObject([{ flag: 'pay', isDeclared: false }]);
  });
});

describe('a kill', () => {
  const planOf = (live: Definition | undefined, policy: Partial<PlanPolicy> = {}): Plan =>
    planChanges({
      desired: aDesired({ kills: [listed('pay')] }),
      actual: anActual({ flags: [liveFlag('pay', live && { production: live })] }),
      state: NO_STATE,
      policy: aPolicy(policy),
    });

  it('shows what it changes, and where it is ordered', () => {
    expect(planOf({}).changes).toMatchObject([
      {
        id: ID,
        action: 'update',
        location: LOCATION,
        fields: [{ path: '/killed', reason: 'kill', before: false, after: true }],
      },
    ]);
  });

  it('is done where the flag is killed already, and where there is nothing to kill', () => {
    expect(planOf({ killed: true }).changes).toEqual([]);
    expect(planOf(undefined).changes).toEqual([]);
  });

  it('is left to others by a filter of flags, and by a config without the environment', () => {
    expect(planLines(planOf({}, { only: new Set(['flag/pay']) }))).toEqual([`update ${ID} (kill)`]);
    expect(planOf({}, { only: new Set(['flag/cart']) }).changes).toEqual([]);
    expect(planOf({}, { environments: [anEnvironment('staging')] }).changes).toEqual([]);
  });

  it('goes by the name that the service has for the environment', () => {
    const plan = planChanges({
      desired: aDesired({ kills: [listed('pay', 'env-production')] }),
      actual: anActual({ flags: [liveFlag('pay', { production: {} })] }),
      state: NO_STATE,
      policy: aPolicy(),
    });

    expect(plan.steps).toMatchObject([{ action: 'kill-flag', environment: 'production' }]);
  });
});

describe('a live kill that history takes back', () => {
  const restorable = new Map([
    [ID, { kind: 'flag', name: 'pay', environment: 'production' } as const],
  ]);
  const planOf = (
    desired: BoundDesired,
    live: Definition | undefined,
    policy: Partial<PlanPolicy> = {},
  ): Plan =>
    planChanges({
      desired,
      actual: anActual({
        flags: [live ? liveFlag('pay', { production: live }) : noFlag('pay')],
      }),
      state: NO_STATE,
      policy: aPolicy({ restorable, ...policy }),
    });
  const killed = { killed: true };

  it('is restored though the flag is not declared here, and nothing else is written', () => {
    const plan = planOf(aDesired(), killed);

    expect(planLines(plan)).toEqual([`update ${ID} (restore)`]);
    expect(plan.changes[0]).toMatchObject({
      location: null,
      fields: [{ path: '/killed', reason: 'restore', before: true, after: false }],
    });
    expect(plan.steps).toMatchObject([
      {
        action: 'patch-definition',
        flag: 'pay',
        environment: 'production',
        operations: [{ op: 'replace', path: '/killed', value: false }],
        expected: { killed: true },
      },
    ]);
  });

  it('is restored with the flag where that is declared', () => {
    const plan = planOf(aDesired({ flags: [pay({ trafficAllocation: 50 })] }), killed);

    expect(planLines(plan)).toEqual([`update ${ID} (restore)`]);
    expect(plan.steps).toMatchObject([
      {
        operations: [
          { path: '/killed', value: false },
          { path: '/trafficAllocation', value: 50 },
        ],
      },
    ]);
  });

  const kills = [listed('pay')];
  const unselected = [anEnvironment('production', { selected: false })];

  it.each<[string, BoundDesired, Definition | undefined, Partial<PlanPolicy>?]>([
    ['where it is not live', aDesired(), {}],
    ['where there is no definition', aDesired(), undefined],
    ['where it is not live, of a declared flag', aDesired({ flags: [pay()] }), {}],
    ['where git orders it again', aDesired({ kills }), killed],
    ['where git orders it again, of a declared flag', aDesired({ flags: [pay()], kills }), killed],
    ['by a filter of flags', aDesired(), killed, { only: new Set(['flag/cart']) }],
    ['by a filter of environments', aDesired(), killed, { environments: unselected }],
    [
      'by a config without the environment',
      aDesired(),
      killed,
      { environments: [anEnvironment('staging')] },
    ],
  ])('is left alone %s', (_, desired, live, policy) => {
    expect(planOf(desired, live, policy).changes).toEqual([]);
  });

  it('stays while the repository is suspended', () => {
    expect(planLines(planOf(aDesired(), killed, { suspended: SUSPENDED_BY_CONFIG }))).toEqual([
      `withheld update ${ID}: suspended`,
    ]);
  });
});

describe('a live kill that nobody ordered', () => {
  const planOf = (said: Definition, environment = anEnvironment('production')): Plan =>
    planChanges({
      desired: aDesired({ flags: [pay(said)] }),
      actual: anActual({ flags: [liveFlag('pay', { production: { killed: true } })] }),
      state: stateOf(aDesired({ flags: [pay(said)] })),
      policy: aPolicy({ environments: [environment] }),
    });

  it('stays against a spec that says otherwise, and the plan says what to do', () => {
    expect(planOf({ killed: false }).withheld).toMatchObject([
      {
        id: ID,
        action: 'update',
        why: 'live-kill',
        fields: [{ path: '/killed', reason: 'drift', before: true, after: false }],
      },
    ]);
  });

  it('is drift where the environment reverts live kills, but only against a spec that says otherwise', () => {
    const reverting = anEnvironment('production', { onLiveKill: 'revert' });

    expect(planLines(planOf({ killed: false }, reverting))).toEqual([`update ${ID} (drift)`]);
    expect(planOf({ killed: false }, reverting).steps).toMatchObject([
      { operations: [{ op: 'replace', path: '/killed', value: false }] },
    ]);
    expect(planLines(planOf({}, reverting))).toEqual([]);
  });
});

describe('the live kills of a plan', () => {
  const planOf = (said: Definition, rest: Partial<PlanInput> = {}): Plan => {
    const desired = aDesired({ flags: [pay(said)] });
    const actual = anActual({ flags: [liveFlag('pay', { production: { killed: true } })] });
    return planChanges({ desired, actual, state: NO_STATE, policy: aPolicy(), ...rest });
  };
  const ids = (plan: Plan): string[] => plan.liveKills.map(({ id }) => id);

  it('are those that git does not order, whatever the spec says of them, and count as no change', () => {
    const silent = planOf({}, { state: stateOf(aDesired({ flags: [pay({})] })) });

    expect(silent).toMatchObject({ changes: [], withheld: [], steps: [] });
    expect(silent.liveKills).toMatchObject([
      {
        id: ID,
        ref: { kind: 'flag', name: 'pay', environment: 'production' },
        seen: null,
        commit: null,
      },
    ]);
    expect(ids(planOf({ killed: false }))).toEqual([ID]);
    expect(ids(planOf({ killed: true }))).toEqual([]);
    expect(
      ids(planOf({}, { desired: aDesired({ flags: [pay()], kills: [listed('pay')] }) })),
    ).toEqual([]);
  });

  it('say of a kill that a revert leaves standing that git ordered it until now', () => {
    const killed = stateOf(aDesired({ flags: [pay({ killed: true })] }));

    const plan = planOf({}, { state: killed });

    expect(plan).toMatchObject({ changes: [], liveKills: [{ id: ID, wasOrdered: true }] });
    expect(plan.liveKills.map(sinceText)).toEqual([
      'git ordered it until now, and HEAD does not take it back',
    ]);
    expect(planOf({ killed: false }, { state: killed }).liveKills).toEqual([]);
  });

  const only = new Set(['flag/cart']);
  const unselected = [anEnvironment('production', { selected: false })];
  const reverting = [anEnvironment('production', { onLiveKill: 'revert' })];
  const alive = anActual({ flags: [liveFlag('pay', { production: {} })] });

  it.each<[string, Definition, Partial<PlanInput>]>([
    [
      'that the plan restores',
      { killed: false },
      {
        state: stateOf(aDesired({ flags: [pay({ killed: false })] })),
        policy: aPolicy({ environments: reverting }),
      },
    ],
    ['beyond the filter of flags', {}, { policy: aPolicy({ only }) }],
    ['beyond the filter of environments', {}, { policy: aPolicy({ environments: unselected }) }],
    ['that are none', {}, { actual: alive }],
  ])('are not those %s', (_, said, rest) => {
    expect(ids(planOf(said, rest))).toEqual([]);
  });
});

describe('live kills that were seen', () => {
  const seen = (desired: BoundDesired, base: object): unknown => {
    const environments = { 'env-production': { commit: null, ...base } };
    const state: State = new Map([['flag/pay', { kind: 'flag', name: 'pay', environments }]]);
    return seenLiveKills({ desired, state, policy: aPolicy() });
  };
  const seenAt = { liveKillSeenAt: 'c0ffee' };

  it('are told with the commit at which they were seen, where the specs want the flag unkilled', () => {
    expect(seen(aDesired({ flags: [pay({ killed: false })] }), seenAt)).toEqual([
      {
        id: ID,
        ref: { kind: 'flag', name: 'pay', environment: 'production' },
        seenAt: 'c0ffee',
      },
    ]);
  });

  it('are none where the specs say nothing, or want the kill, or none was seen', () => {
    expect(seen(aDesired({ flags: [pay()] }), seenAt)).toEqual([]);
    expect(seen(aDesired({ flags: [pay({ killed: true })] }), seenAt)).toEqual([]);
    expect(seen(aDesired({ flags: [pay({ killed: false })] }), {})).toEqual([]);
  });

  it('are none of flags that were never ours', () => {
    const desired = aDesired({ flags: [pay({ killed: false })] });

    expect(seenLiveKills({ desired, state: NO_STATE, policy: aPolicy() })).toEqual([]);
  });
});

it('is part of a definition as git orders it, by the flag or by the list', () => {
  const cart = desiredFlag('cart', { environments: { production: { killed: true } } });
  const desired = aDesired({
    flags: [cart, pay({ trafficAllocation: 50 }), desiredFlag('bare')],
    kills: [listed('pay')],
  });
  const killed = (flag: string, environment = 'production') =>
    orderedDefinition(desired, flag, environment)?.killed;

  expect(orderedDefinition(desired, 'pay', 'production')).toEqual({
    ...pay({ trafficAllocation: 50 }).environments.get('production')?.creation,
    killed: true,
  });
  expect(killed('cart')).toBe(true);
  expect(orderedDefinition(aDesired({ flags: [pay()] }), 'pay', 'production')?.killed).toBe(false);
  expect(killed('bare')).toBeUndefined();
  expect(killed('pay', 'staging')).toBeUndefined();
});
