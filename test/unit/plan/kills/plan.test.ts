import { describe, expect, it } from 'vitest';
import { SUSPENDED_BY_CONFIG } from '../../../../src/model/run.js';
import { keyList } from '../../../../src/model/segment-keys.js';
import type { Definition } from '../../../../src/model/flag/flag.js';
import type { BoundDesired } from '../../../../src/model/bound-desired.js';
import type { DesiredKill } from '../../../../src/model/desired.js';
import type { Base, State } from '../../../../src/model/state.js';
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

describe('a restore', () => {
  const killedBase = { spec: { killed: true } };

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

  it('waits while the repository is suspended', () => {
    const desired = aDesired({ flags: [pay({ killed: false })] });

    const plan = planFor(
      desired,
      { killed: true },
      { state: remembered(killedBase), policy: { suspended: SUSPENDED_BY_CONFIG } },
    );

    expect(planLines(plan)).toEqual([`withheld update ${ID}: suspended`]);
  });
});

describe('what a base remembers of kills', () => {
  function baseAfter(
    desired: BoundDesired,
    live: Definition,
    before?: Partial<Base<Definition>>,
  ): Base<unknown> | undefined {
    const actual = anActual({ flags: [liveFlag('pay', { production: live })] });
    const state = before ? remembered(before) : NO_STATE;
    const input = { desired, actual, state, policy: aPolicy() };
    return stateAfterVerify(input, new Set([ID]), HEAD).get('flag/pay')?.environments[
      'env-production'
    ];
  }

  it('is the HEAD at which a kill was first seen that git had not ordered', () => {
    const desired = aDesired({ flags: [pay()] });

    expect(baseAfter(desired, { killed: true })).toMatchObject({ liveKillSeenAt: HEAD });
    expect(baseAfter(desired, { killed: true }, { liveKillSeenAt: EARLIER })).toMatchObject({
      liveKillSeenAt: EARLIER,
    });
    expect(baseAfter(desired, {}, { liveKillSeenAt: EARLIER })).not.toHaveProperty(
      'liveKillSeenAt',
    );
  });

  it('is the time of that look, and stays that of the first', () => {
    const desired = aDesired({ flags: [pay()] });
    const after = (state: State, now: string): State => {
      const actual = anActual({ flags: [liveFlag('pay', { production: { killed: true } })] });
      const input = { desired, actual, state, policy: aPolicy() };
      return stateAfterVerify(input, new Set([ID]), HEAD, now);
    };
    const momentIn = (state: State): unknown =>
      state.get('flag/pay')?.environments['env-production'];
    const first = after(NO_STATE, '2026-10-03T22:14:00.000Z');

    expect(momentIn(first)).toMatchObject({ liveKillSeen: '2026-10-03T22:14:00.000Z' });
    expect(momentIn(after(first, '2026-10-04T08:00:00.000Z'))).toEqual(momentIn(first));
    expect(
      momentIn(after(remembered({ liveKillSeenAt: EARLIER }), '2026-10-04T08:00:00.000Z')),
    ).not.toHaveProperty('liveKillSeen');
  });

  it('is whether the list ordered it', () => {
    const entry = aDesired({ flags: [pay()], kills: [listed('pay')] });
    const own = aDesired({ flags: [pay({ killed: true })] });

    expect(baseAfter(entry, { killed: true })).toMatchObject({
      spec: { killed: true },
      killListed: true,
    });
    expect(baseAfter(own, { killed: true })).not.toHaveProperty('killListed');
    expect(baseAfter(own, { killed: true })).not.toHaveProperty('liveKillSeenAt');
  });

  it('stays as it was where the kill was not seen, and follows the kill where other fields differ', () => {
    const desired = aDesired({ flags: [pay()], kills: [listed('pay')] });
    const differing = (before: Partial<Base<Definition>>, killed = false) => {
      const production = { killed, trafficAllocation: 50 };
      const actual = anActual({ flags: [liveFlag('pay', { production })] });
      const input = { desired, actual, state: remembered(before), policy: aPolicy() };
      return stateAfterVerify(input, new Set(), HEAD).get('flag/pay')?.environments[
        'env-production'
      ];
    };

    expect(differing({})).not.toHaveProperty('killListed');
    const spec = { ...DEFINITION, killed: true };
    expect(differing({ spec, killListed: true })).toMatchObject({
      commit: EARLIER,
      killListed: true,
    });
    expect(differing({}, true)).toMatchObject({
      spec: { killed: true },
      commit: EARLIER,
      fields: { '/killed': HEAD },
      killListed: true,
    });
  });

  it('is no kill of others where the base has it, also while HEAD takes it back', () => {
    const desired = aDesired({ flags: [pay({ killed: false })] });
    const actual = anActual({ flags: [liveFlag('pay', { production: { killed: true } })] });
    const state = remembered({ spec: { killed: true } });
    const next = stateAfterVerify({ desired, actual, state, policy: aPolicy() }, new Set(), HEAD);

    const base = next.get('flag/pay')?.environments['env-production'];
    expect(base).toMatchObject({ spec: { killed: true }, commit: EARLIER });
    expect(base).not.toHaveProperty('liveKillSeenAt');
  });

  it('is a kill of others also where our own creation was about to be seen for the first time', () => {
    const actual = anActual({ flags: [liveFlag('pay', { production: { killed: true } })] });
    const environments = { 'env-production': { commit: EARLIER, pending: 'create' as const } };
    const state: State = new Map([['flag/pay', { kind: 'flag', name: 'pay', environments }]]);
    const input = { desired: aDesired({ flags: [pay()] }), actual, state, policy: aPolicy() };

    expect(stateAfterVerify(input, new Set(), HEAD).get('flag/pay')?.environments).toEqual({
      'env-production': { commit: EARLIER, pending: 'create', liveKillSeenAt: HEAD },
    });
  });

  it('keeps what was seen where nobody looked, and forgets it with the definition', () => {
    const desired = aDesired({ flags: [pay()] });
    const after = (actual: ReturnType<typeof anActual>) => {
      const state = remembered({ liveKillSeenAt: EARLIER });
      return stateAfterVerify({ desired, actual, state, policy: aPolicy() }, new Set(), HEAD).get(
        'flag/pay',
      )?.environments['env-production'];
    };

    expect(after(anActual())).toMatchObject({ liveKillSeenAt: EARLIER });
    expect(after(anActual({ flags: [liveFlag('pay')] }))).not.toHaveProperty('liveKillSeenAt');
  });
});
