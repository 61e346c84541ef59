import { describe, expect, it } from 'vitest';
import { SUSPENDED_BY_CONFIG } from '../../../../src/model/run.js';
import { keyList } from '../../../../src/model/segment-keys.js';
import type { Definition } from '../../../../src/model/flag/flag.js';
import type { BoundDesired } from '../../../../src/model/bound-desired.js';
import type { DesiredKill } from '../../../../src/model/desired.js';
import { flagEntry, type Base, type State } from '../../../../src/model/state.js';
import type { Reason } from '../../../../src/model/plan.js';
import { afterRestore } from '../../../../src/plan/kills/plan.js';
import { stateAfterVerify } from '../../../../src/plan/bases/next-state.js';
import { planChanges } from '../../../../src/plan/plan.js';
import type { PlanPolicy } from '../../../../src/plan/policy.js';
import { scopeOf } from '../../../../src/plan/scope.js';
import {
  aDesired,
  anActual,
  aPolicy,
  DEFINITION,
  desiredFlag,
  inSegment,
  liveFlag,
  NO_STATE,
  onShare,
  planLines,
  stepLines,
} from '../../../support/builders.js';

const HEAD = 'b'.repeat(40);
const EARLIER = 'a'.repeat(40);
const ID = 'flag/pay@production';

function listed(flag: string, environment = 'production'): DesiredKill {
  return { flag, environment, reason: 'r', location: { file: 'k', line: 1, column: 1 } };
}

function pay(said: Definition = {}): ReturnType<typeof desiredFlag> {
  return desiredFlag('pay', { environments: { production: said } });
}

function remembered(base: Partial<Base<Definition>>): State {
  const spec = { ...DEFINITION, ...base.spec };
  const environments = { 'env-production': { commit: EARLIER, ...base, spec } };
  const workspace = { commit: EARLIER, spec: { trafficType: 'user', fields: {} } };
  return new Map([['flag/pay', { kind: 'flag', name: 'pay', workspace, environments }]]);
}

function planFor(
  desired: BoundDesired,
  live: Definition,
  { state = NO_STATE, policy = {} }: { state?: State; policy?: Partial<PlanPolicy> } = {},
): ReturnType<typeof planChanges> {
  const actual = anActual({ flags: [liveFlag('pay', { production: live })] });
  return planChanges({ desired, actual, state, policy: aPolicy(policy) });
}

describe('a kill', () => {
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
    expect(plan.changes.find(({ id }) => id === ID)).toMatchObject({ reason: 'kill' });
  });

  it('is planned though the flag cannot be: another traffic type, a rule over what is withheld', () => {
    const stranger = desiredFlag('pay', {
      trafficType: 'account',
      environments: { production: {} },
    });
    const held = {
      name: 'vip',
      location: { file: 's', line: 1, column: 1 },
      trafficType: 'user',
      description: '',
      environments: new Map([
        [
          'production',
          {
            location: { file: 's', line: 1, column: 1 },
            mode: 'exact' as const,
            keys: keyList(['a']),
          },
        ],
      ]),
    };
    const kills = [listed('pay')];
    const needing = aDesired({ flags: [pay(inSegment('vip'))], segments: [held], kills });
    const actual = anActual({
      flags: [liveFlag('pay', { production: {} })],
      segments: [['vip', { environments: new Map([['production', { active: false }]]) }]],
    });
    const suspended = aPolicy({ suspended: SUSPENDED_BY_CONFIG });

    expect(planLines(planFor(aDesired({ flags: [stranger], kills }), {}))).toContain(
      `update ${ID} (kill)`,
    );
    expect(
      stepLines(planChanges({ desired: needing, actual, state: NO_STATE, policy: suspended })),
    ).toEqual([`${ID}#1-kill-flag`]);
  });

  it('of a flag that is declared elsewhere writes only the kill', () => {
    const plan = planFor(aDesired({ kills: [listed('pay')] }), onShare(50));

    expect(plan.steps).toEqual([
      {
        id: `${ID}#1-kill-flag`,
        change: ID,
        needs: [],
        action: 'kill-flag',
        flag: 'pay',
        environment: 'production',
      },
    ]);
  });

  it('of a flag that is declared elsewhere makes nothing else of it looked at', () => {
    const scope = scopeOf(aDesired({ kills: [listed('pay')] }), NO_STATE, aPolicy(), {
      allEnvironments: [],
      counting: 'never',
      whole: true,
    });

    expect(scope.flags).toEqual(
      new Map([['pay', { known: new Set(), environments: new Set(['production']) }]]),
    );
    expect(scope.users).toBe(false);
  });

  it('is in the creation of what is not there yet', () => {
    const desired = aDesired({ flags: [pay()], kills: [listed('pay')] });
    const actual = anActual({ flags: [liveFlag('pay')] });

    const plan = planChanges({ desired, actual, state: NO_STATE, policy: aPolicy() });

    expect(plan.steps).toMatchObject([{ action: 'create-definition', body: { killed: true } }]);
  });
});

const killedBase = { spec: { killed: true } };

describe('a restore', () => {
  it('needs a base with the kill and a spec that takes it back', () => {
    const said = aDesired({ flags: [pay({ killed: false })] });
    const silent = aDesired({ flags: [pay()] });
    const live = { killed: true };

    expect(planLines(planFor(said, live, { state: remembered(killedBase) }))).toEqual([
      `update ${ID} (restore)`,
    ]);
    expect(planLines(planFor(silent, live, { state: remembered(killedBase) }))).toEqual([]);
    expect(planLines(planFor(said, live))).toContain(`withheld update ${ID}: live-kill`);
  });

  it('of an entry needs the list to stand without it', () => {
    const state = remembered({ ...killedBase, killListed: true });
    const standing = aDesired({ flags: [pay()], killLists: new Set(['production']) });
    const elsewhere = aDesired({ flags: [pay()], killLists: new Set(['staging']) });
    const said = aDesired({ flags: [pay({ killed: false })] });

    expect(planLines(planFor(standing, { killed: true }, { state }))).toEqual([
      `update ${ID} (restore)`,
    ]);
    expect(planLines(planFor(elsewhere, { killed: true }, { state }))).toEqual([]);
    expect(planLines(planFor(said, { killed: true }, { state }))).toEqual([
      `withheld update ${ID}: live-kill`,
    ]);
  });
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
  const killed = { killed: true };
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
