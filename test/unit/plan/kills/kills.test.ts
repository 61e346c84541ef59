import { describe, expect, it } from 'vitest';
import type { BoundDesired } from '../../../../src/model/bound-desired.js';
import type { DesiredKill } from '../../../../src/model/desired.js';
import type { Definition } from '../../../../src/model/flag/flag.js';
import type { Plan, Reason } from '../../../../src/model/plan.js';
import { SUSPENDED_BY_CONFIG } from '../../../../src/model/run.js';
import { flagEntry, type Base, type State } from '../../../../src/model/state.js';
import { stateAfterVerify } from '../../../../src/plan/bases/next-state.js';
import type { PlanInput } from '../../../../src/plan/input.js';
import {
  isKillListed,
  isKillOrdered,
  killOrders,
  orderedDefinition,
} from '../../../../src/plan/kills/orders.js';
import { afterRestore, seenLiveKills } from '../../../../src/plan/kills/plan.js';
import { planChanges } from '../../../../src/plan/plan.js';
import type { PlanPolicy } from '../../../../src/plan/policy.js';
import { scopeOf } from '../../../../src/plan/scope.js';
import { sinceText } from '../../../../src/report/view/sentences.js';
import {
  aDesired,
  anActual,
  anEnvironment,
  aPolicy,
  DEFINITION,
  desiredFlag,
  desiredSegment,
  inSegment,
  liveFlag,
  liveSegment,
  NO_STATE,
  onShare,
  planLines,
  stepLines,
} from '../../../support/builders.js';
import { stateOf } from '../../../support/state-of.js';

const HEAD = 'b'.repeat(40);
const EARLIER = 'a'.repeat(40);
const LOCATION = { file: 'k', line: 1, column: 1 };
const ID = 'flag/pay@production';

function listed(flag: string, environment = 'production'): DesiredKill {
  return { flag, environment, reason: 'INC-1', by: 'ana', location: LOCATION };
}

function pay(said: Definition = {}): ReturnType<typeof desiredFlag> {
  return desiredFlag('pay', { environments: { production: said } });
}

function saying(said: Definition, kills: readonly DesiredKill[] = []): BoundDesired {
  return aDesired({ flags: [pay(said)], kills });
}

function remembered(base: Partial<Base<Definition>>): State {
  const spec = { ...DEFINITION, ...base.spec };
  const environments = { 'env-production': { commit: EARLIER, ...base, spec } };
  const workspace = { commit: EARLIER, spec: { trafficType: 'user', fields: {} } };
  return new Map([['flag/pay', { kind: 'flag', name: 'pay', workspace, environments }]]);
}

interface Given {
  readonly state?: State;
  readonly policy?: Partial<PlanPolicy>;
}

/** @param live undefined without a definition. */
function planFor(desired: BoundDesired, live?: Definition, { state, policy }: Given = {}): Plan {
  const actual = anActual({ flags: [liveFlag('pay', live && { production: live })] });
  return planChanges({ desired, actual, state: state ?? NO_STATE, policy: aPolicy(policy) });
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

const theirs = aDesired({ kills: [listed('pay')] });
const unselected = [anEnvironment('production', { selected: false })];
const reverting = [anEnvironment('production', { onLiveKill: 'revert' })];
const killed = { killed: true };
const killedBase = { spec: killed };

describe('a kill', () => {
  const KILL = `update ${ID} (kill)`;

  it.each<[string, BoundDesired, Definition | undefined, Partial<PlanPolicy>, string[]]>([
    ['of a flag that is declared elsewhere', theirs, onShare(50), {}, [KILL]],
    ['of a flag that is killed already', theirs, killed, {}, []],
    ['of a flag without a definition', theirs, undefined, {}, []],
    ['that the filter names', theirs, {}, { only: new Set(['flag/pay']) }, [KILL]],
    ['beyond the filter', theirs, {}, { only: new Set(['flag/cart']) }, []],
    ['beyond the config', theirs, {}, { environments: [anEnvironment('staging')] }, []],
    ['beyond the environments', theirs, {}, { environments: unselected }, []],
    [
      'by the id of its environment',
      aDesired({ kills: [listed('pay', 'env-production')] }),
      {},
      {},
      [KILL],
    ],
  ])('%s is planned where it is due', (_, desired, live, policy, lines) => {
    expect(planLines(planFor(desired, live, { policy }))).toEqual(lines);
  });

  it('of a flag that is declared elsewhere shows and writes only the kill, and looks at nothing else', () => {
    const { changes, steps } = planFor(theirs, onShare(50));
    const options = { allEnvironments: [], counting: 'never', whole: true } as const;
    const scope = scopeOf(theirs, NO_STATE, aPolicy(), options);

    expect(changes).toMatchObject([
      {
        ...{ id: ID, action: 'update', location: LOCATION },
        fields: [{ path: '/killed', reason: 'kill', before: false, after: true }],
      },
    ]);
    expect(steps).toEqual([
      {
        ...{ id: `${ID}#1-kill-flag`, change: ID, needs: [], action: 'kill-flag' },
        ...{ flag: 'pay', environment: 'production' },
      },
    ]);
    expect(scope.flags).toEqual(
      new Map([['pay', { known: new Set(), environments: new Set(['production']) }]]),
    );
    expect(scope.users).toBe(false);
  });

  it('goes before everything, by itself, and the rest of the definition after it', () => {
    const other = desiredFlag('alpha', { environments: { staging: {}, production: onShare(5) } });
    const desired = aDesired({ flags: [other, pay(onShare(20))], kills: [listed('pay')] });
    const actual = anActual({
      flags: [
        liveFlag('alpha', { staging: onShare(5), production: {} }),
        liveFlag('pay', { production: {} }),
      ],
    });

    const plan = planChanges({ desired, actual, state: NO_STATE, policy: aPolicy() });

    expect(stepLines(plan)[0]).toBe(`${ID}#1-kill-flag`);
    expect(plan.steps.find(({ id }) => id === `${ID}#2-patch-definition`)).toMatchObject({
      needs: [`${ID}#1-kill-flag`],
      operations: [{ op: 'replace', path: '/defaultRule' }],
      expected: { killed: true },
    });
    expect(plan.changes.find(({ id }) => id === ID)).toMatchObject({
      reason: 'kill',
      fields: [{ path: '/killed' }, { path: '/defaultRule' }],
    });
  });

  it('is planned though the flag cannot be: another traffic type, a rule over what is withheld', () => {
    const stranger = desiredFlag('pay', {
      trafficType: 'account',
      environments: { production: {} },
    });
    const kills = [listed('pay')];
    const segments = [desiredSegment('vip', { production: ['a'] })];
    const needing = aDesired({ flags: [pay(inSegment('vip'))], segments, kills });
    const flags = [liveFlag('pay', { production: {} })];
    const actual = anActual({ flags, segments: [liveSegment('vip')] });
    const policy = aPolicy({ suspended: SUSPENDED_BY_CONFIG });

    expect(planLines(planFor(aDesired({ flags: [stranger], kills }), {}))).toContain(KILL);
    expect(stepLines(planChanges({ desired: needing, actual, state: NO_STATE, policy }))).toEqual([
      `${ID}#1-kill-flag`,
    ]);
  });

  it('is in the creation of what is not there yet', () => {
    const desired = aDesired({ flags: [pay()], kills: [listed('pay')] });
    const actual = anActual({ flags: [liveFlag('pay')] });

    const plan = planChanges({ desired, actual, state: NO_STATE, policy: aPolicy() });

    expect(plan.steps).toMatchObject([{ action: 'create-definition', body: { killed: true } }]);
  });
});

describe('a live kill', () => {
  const [RESTORE, STAYS] = [`update ${ID} (restore)`, `withheld update ${ID}: live-kill`];
  const ref = { kind: 'flag', name: 'pay', environment: 'production' } as const;
  const restorable = new Map([[ID, ref]]);
  const byHistory = (policy: Partial<PlanPolicy> = {}): Given => {
    return { policy: { restorable, ...policy } };
  };
  const withBase = { state: remembered(killedBase) };
  const fromList = { state: remembered({ ...killedBase, killListed: true }) };
  const alive = saying({ killed: false });
  const asBefore = { state: stateOf(alive) };
  const listIn = (place: string): BoundDesired =>
    aDesired({ flags: [pay()], killLists: new Set([place]) });

  it.each<[string, BoundDesired, Definition | undefined, Given, string[]]>([
    ['that history takes back, not declared here', aDesired(), killed, byHistory(), [RESTORE]],
    [
      'that history takes back, declared',
      saying({ trafficAllocation: 50 }),
      killed,
      byHistory(),
      [RESTORE],
    ],
    ['that is none', aDesired(), {}, byHistory(), []],
    ['of no definition', aDesired(), undefined, byHistory(), []],
    ['that is none, declared', saying({}), {}, byHistory(), []],
    ['that git orders again', theirs, killed, byHistory(), []],
    ['that git orders again, declared', saying({}, [listed('pay')]), killed, byHistory(), []],
    ['beyond the filter', aDesired(), killed, byHistory({ only: new Set(['flag/cart']) }), []],
    ['beyond the environments', aDesired(), killed, byHistory({ environments: unselected }), []],
    [
      'beyond the config',
      aDesired(),
      killed,
      byHistory({ environments: [anEnvironment('staging')] }),
      [],
    ],
    [
      'of a suspended repository',
      aDesired(),
      killed,
      byHistory({ suspended: SUSPENDED_BY_CONFIG }),
      [`withheld update ${ID}: suspended`],
    ],
    ['of the base, taken back', alive, killed, withBase, [RESTORE]],
    ['of the base, of which the spec is silent', saying({}), killed, withBase, []],
    ['of a list that stands without it', listIn('production'), killed, fromList, [RESTORE]],
    ['of a list that is gone', listIn('staging'), killed, fromList, []],
    ['of a list that is gone, against the spec', alive, killed, fromList, [STAYS]],
    ['that nobody ordered, against the spec', alive, killed, asBefore, [STAYS]],
    [
      'that nobody ordered, reverted',
      alive,
      killed,
      { ...asBefore, policy: { environments: reverting } },
      [`update ${ID} (drift)`],
    ],
    [
      'that nobody ordered, of which the spec is silent',
      saying({}),
      killed,
      { state: stateOf(saying({})), policy: { environments: reverting } },
      [],
    ],
  ])('%s is restored, or stays', (_, desired, live, given, lines) => {
    expect(planLines(planFor(desired, live, given))).toEqual(lines);
  });

  it('is restored by one operation, before what changes of a declared flag', () => {
    const undeclared = planFor(aDesired(), killed, byHistory());
    const declared = planFor(saying({ trafficAllocation: 50 }), killed, byHistory());
    const drift = planFor(alive, killed, { ...asBefore, policy: { environments: reverting } });
    const restore = { op: 'replace', path: '/killed', value: false };
    const [before, after] = [true, false];

    expect(undeclared.changes).toMatchObject([
      { location: null, fields: [{ path: '/killed', reason: 'restore', before, after }] },
    ]);
    expect(undeclared.steps).toMatchObject([
      {
        ...{ action: 'patch-definition', flag: 'pay', environment: 'production' },
        ...{ operations: [restore], expected: killed },
      },
    ]);
    expect(declared.steps).toMatchObject([
      { operations: [restore, { path: '/trafficAllocation', value: 50 }] },
    ]);
    expect(drift.steps).toMatchObject([{ operations: [restore] }]);
    expect(planFor(alive, killed, asBefore).withheld).toMatchObject([
      { action: 'update', fields: [{ path: '/killed', reason: 'drift', before, after }] },
    ]);
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
  const seenAt = { liveKillSeenAt: 'c0ffee' };
  const ref = { kind: 'flag', name: 'pay', environment: 'production' };

  it.each<[string, Definition, State, object[]]>([
    [
      'against the spec',
      { killed: false },
      remembered(seenAt),
      [{ id: ID, ref, seenAt: 'c0ffee' }],
    ],
    ['of which the spec is silent', {}, remembered(seenAt), []],
    ['that the spec wants', killed, remembered(seenAt), []],
    ['that no run saw', { killed: false }, remembered({}), []],
    ['of what was never ours', { killed: false }, NO_STATE, []],
  ])('%s have the commit at which they were seen', (_, said, state, seen) => {
    expect(seenLiveKills({ desired: saying(said), state, policy: aPolicy() })).toEqual(seen);
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

it('of a flag is forgotten with a restore outside all runs, and so is who ordered it', () => {
  const seen = { liveKillSeenAt: EARLIER, liveKillSeen: '2026-10-03T22:14:00.000Z' };
  const before = remembered({ ...killedBase, ...seen, killListed: true });
  const environments = { 'env-production': { commit: EARLIER, pending: 'create' as const } };
  const pending: State = new Map([['flag/pay', { kind: 'flag', name: 'pay', environments }]]);

  expect(afterRestore(before, 'pay', 'env-production')).toStrictEqual(remembered({}));
  expect(afterRestore(pending, 'pay', 'env-production')).toStrictEqual(pending);
  expect(afterRestore(before, 'pay', 'env-staging')).toBe(before);
  expect(afterRestore(before, 'cart', 'env-production')).toBe(before);
});

it('by a failed check is planned like one of git, without the rest of the definition', () => {
  const by = (reason: Reason) => {
    const { environments, ...flag } = pay();
    const timed = new Map([['/killed', { reason }]]);
    const killed = [...environments].map(([name, each]) => [name, { ...each, timed }] as const);
    return aDesired({ flags: [{ ...flag, environments: new Map(killed) }] });
  };
  const policy = { suspended: SUSPENDED_BY_CONFIG };

  expect(planFor(by('ramp'), {}).changes).toMatchObject([
    {
      id: ID,
      reason: 'ramp',
      location: { file: 'spec.yaml' },
      fields: [{ path: '/killed', after: true }],
    },
  ]);
  expect(planFor(by('ramp'), {}, { policy }).changes).toEqual([]);
  expect(planFor(by('commit'), {}).changes).toEqual([]);
});

describe('what a base remembers of kills', () => {
  const silent = aDesired({ flags: [pay()] });
  const inList = aDesired({ flags: [pay()], kills: [listed('pay')] });
  const own = aDesired({ flags: [pay({ killed: true })] });
  const taken = aDesired({ flags: [pay({ killed: false })] });
  const seen = { liveKillSeenAt: EARLIER };
  const other = { trafficAllocation: 50 };

  /** @param live null without a definition; undefined where nobody looked. */
  function after(
    desired: BoundDesired,
    live: Definition | null | undefined,
    state: State,
    now?: string,
  ): Base<Definition> | undefined {
    const flag = liveFlag('pay', live ? { production: live } : {});
    const actual = anActual(live === undefined ? {} : { flags: [flag] });
    const isEqual = live?.trafficAllocation === undefined;
    const input = { desired, actual, state, policy: aPolicy() };
    const next = stateAfterVerify(input, new Set(isEqual ? [ID] : []), HEAD, now);
    return flagEntry(next, 'pay')?.environments['env-production'];
  }

  it.each<[string, BoundDesired, Definition | null | undefined, Partial<Base<Definition>>, object]>(
    [
      ['the HEAD at which a kill of others was first seen', silent, killed, {}, { seenAt: HEAD }],
      ['that HEAD for as long as the kill is live', silent, killed, seen, { seenAt: EARLIER }],
      ['it no longer when the kill is over', silent, {}, seen, {}],
      ['it where nobody looked', silent, undefined, seen, { seenAt: EARLIER }],
      ['it no longer when the definition is gone', silent, null, seen, {}],
      ['that the list ordered it', inList, killed, {}, { killed: true, listed: true }],
      ['that the flag ordered it', own, killed, {}, { killed: true }],
      ['no kill of the list that is not live', inList, { ...other }, {}, { commit: EARLIER }],
      [
        'a kill of the list that is not live any more',
        inList,
        { ...other },
        { ...killedBase, killListed: true },
        { killed: true, listed: true, commit: EARLIER },
      ],
      [
        'a kill of the list, where other fields differ',
        inList,
        { ...other, killed: true },
        {},
        { killed: true, listed: true, commit: EARLIER, fields: { '/killed': HEAD } },
      ],
      [
        'no kill of others while HEAD takes its own back',
        taken,
        { ...other, killed: true },
        killedBase,
        { killed: true, commit: EARLIER },
      ],
    ],
  )('is %s', (_, desired, live, before, expected) => {
    const base = after(desired, live, remembered(before));
    const { spec, commit, fields, killListed, liveKillSeenAt } = base ?? {};

    expect({
      ...(spec?.killed && { killed: true }),
      ...(killListed && { listed: true }),
      ...(liveKillSeenAt !== undefined && { seenAt: liveKillSeenAt }),
      ...(live?.trafficAllocation !== undefined && { commit }),
      ...(fields && { fields }),
    }).toEqual(expected);
  });

  it('is the time of that look, and stays that of the first', () => {
    const moment = '2026-10-03T22:14:00.000Z';
    const first = after(silent, killed, NO_STATE, moment);
    const again = after(silent, killed, remembered(first ?? {}), '2026-10-04T08:00:00.000Z');

    expect(first?.liveKillSeen).toBe(moment);
    expect(again?.liveKillSeen).toBe(moment);
    expect(after(silent, killed, remembered(seen), moment)).not.toHaveProperty('liveKillSeen');
  });

  it('is a kill of others also where our own creation was about to be seen for the first time', () => {
    const environments = { 'env-production': { commit: EARLIER, pending: 'create' as const } };
    const state: State = new Map([['flag/pay', { kind: 'flag', name: 'pay', environments }]]);

    expect(after(silent, { ...other, killed: true }, state)).toEqual({
      ...{ commit: EARLIER, pending: 'create', liveKillSeenAt: HEAD },
    });
  });
});
