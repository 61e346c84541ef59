import { describe, expect, it } from 'vitest';
import type { BoundDesired } from '../../../../src/model/bound-desired.js';
import type { DesiredKill } from '../../../../src/model/desired.js';
import type { Definition } from '../../../../src/model/flag/flag.js';
import type { Plan, Reason } from '../../../../src/model/plan.js';
import { SUSPENDED_BY_CONFIG } from '../../../../src/model/run.js';
import { flagEntry, type Base, type State } from '../../../../src/model/state.js';
import { stateAfterVerify } from '../../../../src/plan/bases/next-state.js';
import { isKillOrdered, killOrders, orderedDefinition } from '../../../../src/plan/kills/orders.js';
import { afterRestore, leftKilledAfter, seenLiveKills } from '../../../../src/plan/kills/plan.js';
import type { PlanPolicy } from '../../../../src/plan/policy.js';
import { scopeOf } from '../../../../src/plan/scope.js';
import { sinceText } from '../../../../src/report/view/sentences.js';
import {
  aDesired,
  anEnvironment,
  aPolicy,
  DEFINITION,
  desiredFlag,
  desiredKill,
  desiredSegment,
  inSegment,
  liveFlag,
  liveSegment,
  NO_STATE,
  onShare,
  planLines,
  stepLines,
  type Said,
} from '../../../support/builders.js';
import { flagState, inputOf, planOf, type Given } from '../../../support/planning.js';
import { stateOf } from '../../../support/state-of.js';

const HEAD = 'b'.repeat(40);
const EARLIER = 'a'.repeat(40);
const ID = 'flag/pay@production';

function pay(said: Said = {}): ReturnType<typeof desiredFlag> {
  return desiredFlag('pay', { environments: { production: said } });
}

function saying(said: Said, kills: readonly DesiredKill[] = []): BoundDesired {
  return aDesired({ flags: [pay(said)], kills });
}

function remembered(base: Partial<Base<Definition>>): State {
  const production = { commit: EARLIER, ...base, spec: { ...DEFINITION, ...base.spec } };
  const workspace = { commit: EARLIER, spec: { trafficType: 'user', fields: {} } };
  return flagState('pay', { production }, { workspace });
}

const PENDING = flagState('pay', { production: { commit: EARLIER, pending: 'create' } });

/** @param live undefined without a definition. */
function planFor(desired: BoundDesired, live?: Definition, given: Given = {}): Plan {
  return planOf(desired, { flags: [liveFlag('pay', live && { production: live })] }, given);
}

it('the kills that git orders are those of the break-glass list first, then those of the flags, each definition once', () => {
  const cart = desiredFlag('cart', {
    environments: { staging: { killed: true }, production: { killed: false } },
  });
  const desired = aDesired({
    flags: [cart, pay({ killed: true })],
    kills: [desiredKill('theirs'), desiredKill('pay'), desiredKill('cart', 'production')],
  });

  expect(killOrders(desired)).toEqual([
    { ...desiredKill('theirs'), isDeclared: false },
    { ...desiredKill('pay'), isDeclared: true },
    { ...desiredKill('cart'), isDeclared: true },
    {
      ...{ flag: 'cart', environment: 'staging', isDeclared: true },
      location: { file: 'spec.yaml', line: 1, column: 1 },
      reason: 'killed: true in spec.yaml',
    },
  ]);
});

const theirs = aDesired({ kills: [desiredKill('pay')] });
const unselected = [anEnvironment('production', { selected: false })];
const reverting = [anEnvironment('production', { onLiveKill: 'revert' })];
const killed = { killed: true };
const REF = { kind: 'flag', name: 'pay', environment: 'production' } as const;
const quarantined = new Set(['flag/pay']);
const killedBase = { spec: killed };

describe('a kill', () => {
  const KILL = `update ${ID} (kill)`;

  it.each<[string, BoundDesired, Definition | undefined, Partial<PlanPolicy>, string[]]>([
    ['of a flag that is declared elsewhere', theirs, onShare(50), {}, [KILL]],
    ['of a flag that is killed already', theirs, killed, {}, []],
    ['of a flag without a definition', theirs, undefined, {}, []],
    ['that the filter names', theirs, {}, { only: new Set(['flag/pay']) }, [KILL]],
    ['of a flag whose file is invalid', theirs, {}, { quarantined }, [KILL]],
    ['beyond the filter', theirs, {}, { only: new Set(['flag/cart']) }, []],
    ['beyond the config', theirs, {}, { environments: [anEnvironment('staging')] }, []],
    ['beyond the environments', theirs, {}, { environments: unselected }, []],
    ['by an id', aDesired({ kills: [desiredKill('pay', 'env-production')] }), {}, {}, [KILL]],
    ['of a flag that nobody looked at', aDesired({ kills: [desiredKill('cart')] }), {}, {}, []],
  ])('%s is planned where it is due', (_, desired, live, policy, lines) => {
    expect(planLines(planFor(desired, live, { policy }))).toEqual(lines);
  });

  it('of a flag that is declared elsewhere shows and writes only the kill, and looks at nothing else', () => {
    const { changes, steps } = planFor(theirs, onShare(50));
    const options = { allEnvironments: [], counting: 'never', whole: true } as const;
    const scope = scopeOf({ desired: theirs, state: NO_STATE, policy: aPolicy(), ...options });

    const fields = [{ path: '/killed', reason: 'kill', before: false, after: true }];
    const step = { id: `${ID}#1-kill-flag`, change: ID, needs: [], action: 'kill-flag' };
    expect(changes).toMatchObject([
      { id: ID, action: 'update', location: desiredKill('pay').location, fields },
    ]);
    expect(steps).toEqual([{ ...step, flag: 'pay', environment: 'production' }]);
    expect(scope.flags).toEqual(
      new Map([['pay', { known: new Set(), environments: new Set(['production']) }]]),
    );
    expect(scope.users).toBe(false);
  });

  it('goes before everything, by itself, and the rest of the definition after it', () => {
    const other = desiredFlag('alpha', { environments: { staging: {}, production: onShare(5) } });
    const desired = aDesired({ flags: [other, pay(onShare(20))], kills: [desiredKill('pay')] });
    const alpha = liveFlag('alpha', { staging: onShare(5), production: {} });

    const plan = planOf(desired, { flags: [alpha, liveFlag('pay', { production: {} })] });

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
    const [environments, kills] = [{ production: {} }, [desiredKill('pay')]];
    const stranger = desiredFlag('pay', { trafficType: 'account', environments });
    const segments = [desiredSegment('vip', { production: ['a'] })];
    const needing = aDesired({ flags: [pay(inSegment('vip'))], segments, kills });
    const live = { flags: [liveFlag('pay', environments)], segments: [liveSegment('vip')] };
    const policy = { suspended: SUSPENDED_BY_CONFIG };

    expect(planLines(planFor(aDesired({ flags: [stranger], kills }), {}))).toContain(KILL);
    expect(stepLines(planOf(needing, live, { policy }))).toEqual([`${ID}#1-kill-flag`]);
  });

  it('is in the creation of what is not there yet', () => {
    const plan = planFor(saying({}, [desiredKill('pay')]));

    expect(plan.steps).toMatchObject([{ action: 'create-definition', body: { killed: true } }]);
  });
});

describe('a live kill', () => {
  const HELD = `withheld update ${ID}`;
  const [RESTORE, STAYS] = [`update ${ID} (restore)`, `${HELD}: live-kill`];
  const [elsewhere, suspended] = [[anEnvironment('staging')], SUSPENDED_BY_CONFIG];
  const restorable = new Map([[ID, REF]]);
  const byHistory = (policy: Partial<PlanPolicy> = {}): Given => {
    return { policy: { restorable, ...policy } };
  };
  const withBase = { state: remembered(killedBase) };
  const fromList = { state: remembered({ ...killedBase, killListed: true }) };
  const alive = saying({ killed: false });
  const asBefore = { state: stateOf(alive) };
  const reverted = { ...asBefore, policy: { environments: reverting } };
  const silent = { ...reverted, state: stateOf(saying({})) };
  const checked = saying({ killed: false, timed: { '/killed': { reason: 'ramp' } } });
  const ofCart = new Map([['flag/cart@production', { ...REF, name: 'cart' }]]);
  const listIn = (place: string): BoundDesired =>
    aDesired({ flags: [pay()], killLists: new Set([place]) });

  it.each<[string, BoundDesired, Definition | undefined, Given, string[]]>([
    ['that history takes back, of others', aDesired(), killed, byHistory(), [RESTORE]],
    ['that history takes back', saying({ trafficAllocation: 50 }), killed, byHistory(), [RESTORE]],
    ['that is none', aDesired(), {}, byHistory(), []],
    ['of no definition', aDesired(), undefined, byHistory(), []],
    ['of a flag that nobody looked at', aDesired(), killed, byHistory({ restorable: ofCart }), []],
    ['by a failed check, against the spec', checked, killed, reverted, []],
    ['of what was only begun', alive, killed, { state: PENDING }, [STAYS]],
    ['that git orders again', theirs, killed, byHistory(), []],
    ['that git orders again, declared', saying({}, [desiredKill('pay')]), killed, byHistory(), []],
    ['beyond the filter', aDesired(), killed, byHistory({ only: new Set(['flag/cart']) }), []],
    ['beyond the environments', aDesired(), killed, byHistory({ environments: unselected }), []],
    ['beyond the config', aDesired(), killed, byHistory({ environments: elsewhere }), []],
    ['whose file is invalid', aDesired(), killed, byHistory({ quarantined }), []],
    ['while suspended', aDesired(), killed, byHistory({ suspended }), [`${HELD}: suspended`]],
    ['of the base, taken back', alive, killed, withBase, [RESTORE]],
    ['of the base, of which the spec is silent', saying({}), killed, withBase, []],
    ['of a list that stands without it', listIn('production'), killed, fromList, [RESTORE]],
    ['of a list that is gone', listIn('staging'), killed, fromList, []],
    ['of a list that is gone, against the spec', alive, killed, fromList, [STAYS]],
    ['that nobody ordered, against the spec', alive, killed, asBefore, [STAYS]],
    ['that nobody ordered, reverted', alive, killed, reverted, [`update ${ID} (drift)`]],
    ['that nobody ordered, of a silent spec', saying({}), killed, silent, []],
  ])('%s is restored, or stays', (_, desired, live, given, lines) => {
    expect(planLines(planFor(desired, live, given))).toEqual(lines);
  });

  it('is restored by one operation, before what changes of a declared flag', () => {
    const undeclared = planFor(aDesired(), killed, byHistory());
    const declared = planFor(saying({ trafficAllocation: 50 }), killed, byHistory());
    const drift = planFor(alive, killed, reverted);
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
  const ordered = stateOf(saying({ killed: true }));
  const unordered = { id: ID, ref: REF, seen: null, commit: null };
  const taken = { state: stateOf(saying({ killed: false })), policy: { environments: reverting } };
  const held = { state: ordered, policy: { suspended: SUSPENDED_BY_CONFIG } };

  it('count as no change, and say that git ordered it until now where a revert leaves it standing', () => {
    const silent = planFor(saying({}), killed, { state: stateOf(saying({})) });
    const reverted = planFor(saying({}), killed, { state: ordered });

    expect(silent).toMatchObject({ changes: [], withheld: [], steps: [], liveKills: [unordered] });
    expect(silent.liveKills[0]).not.toHaveProperty('wasOrdered');
    expect(reverted).toMatchObject({ changes: [], liveKills: [{ id: ID, wasOrdered: true }] });
    expect(reverted.liveKills.map(sinceText)).toEqual([
      'git ordered it until now, and HEAD does not take it back',
    ]);
  });

  it.each<[string, BoundDesired, Definition, Given, string[]]>([
    ['those that the spec denies', saying({ killed: false }), killed, {}, [ID]],
    ['none that the spec orders', saying(killed), killed, {}, []],
    ['none that the list orders', saying({}, [desiredKill('pay')]), killed, {}, []],
    ['none that HEAD takes back', saying({ killed: false }), killed, { state: ordered }, []],
    ['none that HEAD takes back while suspended', saying({ killed: false }), killed, held, []],
    ['none that the plan reverts', saying({ killed: false }), killed, taken, []],
    ['those whose creation was only begun', saying({}), killed, { state: PENDING }, [ID]],
    ['none whose file is invalid', saying({}), killed, { policy: { quarantined } }, []],
    ['none elsewhere', saying({}), killed, { policy: { environments: unselected } }, []],
    ['none of a flag that is alive', saying({}), {}, {}, []],
  ])('are %s', (_, desired, live, given, ids) => {
    expect(planFor(desired, live, given).liveKills.map(({ id }) => id)).toEqual(ids);
  });

  it('are in the order of their names, with the word of the config for their environment', () => {
    const names = ['b', 'c', 'a'];
    const flags = names.map((name) => {
      return desiredFlag(name, { environments: { production: { killed: false } } });
    });
    const plan = planOf(
      aDesired({ flags }),
      { flags: names.map((name) => liveFlag(name, { production: killed })) },
      { policy: { environments: [anEnvironment('production', { place: 'prod' })] } },
    );

    expect(plan.liveKills.map(({ id, place }) => `${id} ${place ?? ''}`)).toEqual([
      'flag/a@production prod',
      'flag/b@production prod',
      'flag/c@production prod',
    ]);
    expect(plan.withheld[0]).toMatchObject({ why: 'live-kill', place: 'prod' });
  });
});

it('of very many definitions that left killed, the thousand newest kills are remembered', () => {
  const momentOf = (at: number): string => new Date(Date.UTC(2026, 0, 1, 0, 0, at)).toISOString();
  const known = Object.fromEntries(
    Array.from({ length: 1_002 }, (_, at) => [`flag/f-${at}@production`, momentOf(-at)]),
  );

  const kept = leftKilledAfter(known, inputOf(aDesired()), new Map(), momentOf(2_000));

  const lost = Object.keys(known).filter((id) => !(id in kept));
  expect(lost).toEqual(['flag/f-1000@production', 'flag/f-1001@production']);
});

describe('live kills that were seen', () => {
  const seenAt = { liveKillSeenAt: 'c0ffee' };
  const seen = { ref: REF, seenAt: 'c0ffee' };

  it.each<[string, Definition | null, State, object[]]>([
    ['against the spec', { killed: false }, remembered(seenAt), [seen]],
    ['of what the specs do not have', null, remembered(seenAt), []],
    ['of another environment', { killed: false }, flagState('pay', { staging: seenAt }), []],
    ['of which the spec is silent', {}, remembered(seenAt), []],
    ['that the spec wants', killed, remembered(seenAt), []],
    ['that no run saw', { killed: false }, remembered({}), []],
  ])('%s have the commit at which they were seen', (_, said, state, seen) => {
    const desired = said ? saying(said) : aDesired();

    expect(seenLiveKills({ desired, state, policy: aPolicy() })).toEqual(seen);
  });
});

it('is part of a definition as git orders it, by the flag or by the list', () => {
  const cart = desiredFlag('cart', { environments: { production: { killed: true } } });
  const desired = aDesired({
    flags: [cart, pay({ trafficAllocation: 50 }), desiredFlag('bare')],
    kills: [desiredKill('pay')],
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
  expect(killed('nowhere')).toBeUndefined();
  expect(killed('pay', 'staging')).toBeUndefined();
});

it('is ordered where another directory orders it, of that definition alone', () => {
  const desired = { ...aDesired({ flags: [pay()] }), killedElsewhere: new Set([ID]) };

  expect(isKillOrdered(desired, 'pay', 'production')).toBe(true);
  expect(isKillOrdered(desired, 'pay', 'staging')).toBe(false);
});

it('of a flag is forgotten with a restore outside all runs, and so is who ordered it', () => {
  const seen = { liveKillSeenAt: EARLIER, liveKillSeen: '2026-10-03T22:14:00.000Z' };
  const before = remembered({ ...killedBase, ...seen, killListed: true });

  expect(afterRestore(before, 'pay', 'env-production')).toStrictEqual(remembered({}));
  expect(afterRestore(PENDING, 'pay', 'env-production')).toStrictEqual(PENDING);
  expect(afterRestore(before, 'pay', 'env-staging')).toBe(before);
  expect(afterRestore(before, 'cart', 'env-production')).toBe(before);
});

it('by a failed check is planned like one of git, without the rest of the definition', () => {
  const by = (reason: Reason) => saying({ timed: { '/killed': { reason } } });
  const policy = { suspended: SUSPENDED_BY_CONFIG };

  const fields = [{ path: '/killed', after: true }];
  expect(planFor(by('ramp'), {}).changes).toMatchObject([
    { id: ID, reason: 'ramp', location: { file: 'spec.yaml' }, fields },
  ]);
  expect(planFor(by('ramp'), {}, { policy }).changes).toEqual([]);
  expect(planFor(by('commit'), {}).changes).toEqual([]);
  expect(planFor(by('ramp'), {}, { policy: { quarantined } }).changes).toEqual([]);
  expect(planFor(by('ramp'), {}, { policy: { only: new Set(['flag/pay']) } }).changes).toHaveLength(
    1,
  );
});

describe('what a base remembers of kills', () => {
  const silent = saying({});
  const inList = saying({}, [desiredKill('pay')]);
  const own = { killed: true, commit: EARLIER };
  const [ofList, byList] = [{ ...own, listed: true }, { killListed: true }];
  const taken = saying({ killed: false });
  const seen = { liveKillSeenAt: EARLIER };
  const other = { trafficAllocation: 50 };

  /** @param live null without a definition; undefined where nobody looked. */
  function after(
    desired: BoundDesired,
    live: Definition | null | undefined,
    state: State,
    now?: string,
  ): Base<Definition> | undefined {
    const flags = [liveFlag('pay', live ? { production: live } : {})];
    const input = inputOf(desired, live === undefined ? {} : { flags }, { state });
    const isEqual = live?.trafficAllocation === undefined;
    const next = stateAfterVerify(input, new Set(isEqual ? [ID] : []), HEAD, now);
    return flagEntry(next, 'pay')?.environments['env-production'];
  }

  it.each<[string, BoundDesired, Definition | null | undefined, Partial<Base<Definition>>, object]>(
    [
      ['the HEAD at which a kill of others was first seen', silent, killed, {}, { seenAt: HEAD }],
      ['that HEAD for as long as the kill is live', silent, killed, seen, { seenAt: EARLIER }],
      ['it no longer when the kill is over', silent, {}, seen, {}],
      ['it where nobody looked', silent, undefined, seen, { seenAt: EARLIER }],
      ['that the list ordered it', inList, killed, {}, { killed: true, listed: true }],
      ['that the flag ordered it', saying(killed), killed, {}, { killed: true }],
      ['no kill of the list that is not live', inList, other, {}, { commit: EARLIER }],
      ['a kill of the list that was live', inList, other, { ...killedBase, ...byList }, ofList],
      ['its own kill, while HEAD takes it back', taken, { ...other, ...killed }, killedBase, own],
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
    const seen = { liveKillSeenAt: HEAD, killedAsOf: '1' };
    const base = { commit: EARLIER, pending: 'create', ...seen };
    expect(after(silent, { ...other, killed: true }, PENDING)).toEqual(base);
  });
});
