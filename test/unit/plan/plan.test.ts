import { describe, expect, it } from 'vitest';
import type { BoundDesired } from '../../../src/model/bound-desired.js';
import { SUSPENDED_BY_CONFIG } from '../../../src/model/run.js';
import type { ActualFlag } from '../../../src/model/actual.js';
import { remedyOf } from '../../../src/model/remedy.js';
import { keyList } from '../../../src/model/segment-keys.js';
import { stateBeforeApply } from '../../../src/plan/bases/next-state.js';
import { remedyText } from '../../../src/report/view/verdict.js';
import type { PlanPolicy } from '../../../src/plan/policy.js';
import { pendingWithheld, planChanges } from '../../../src/plan/plan.js';
import {
  aDesired,
  anActual,
  anEnvironment,
  aPolicy,
  desiredFlag,
  desiredKill,
  desiredSegment,
  liveFlag,
  liveSegment,
  noFlag,
  noSegment,
  NO_STATE,
  onShare,
  planLines,
} from '../../support/builders.js';
import { inputOf, planOf } from '../../support/planning.js';
import { stateOf } from '../../support/state-of.js';

describe('what a run was about to create when it died', () => {
  const specs = (share: number) => {
    const environments = { production: onShare(share) };
    const pay = desiredFlag('pay', { fields: { tags: ['web'] }, environments });
    const beta = desiredSegment('beta', { production: ['a', 'b'] });
    return aDesired({ flags: [pay], segments: [beta] });
  };
  const strict = { protected: true, onDrift: 'report', onConflict: 'hold' } as const;
  const policy = aPolicy({ environments: [anEnvironment('production', strict)] });
  const nothing = { flags: [noFlag('pay')], segments: [noSegment('beta')] };
  const input = inputOf(specs(10), nothing, { policy });
  const state = stateBeforeApply(input, planChanges(input).changes, 'a'.repeat(40));
  const half = (share: number) =>
    anActual({
      flags: [liveFlag('pay', { production: onShare(share) })],
      segments: [liveSegment('beta', { production: ['a'] })],
    });

  it('is its own, also in a protected environment', () => {
    const plan = planChanges({ desired: specs(20), actual: half(10), state, policy });

    expect(planLines(plan)).toEqual([
      'update flag/pay',
      'update segment/beta@production',
      'update flag/pay@production',
    ]);
  });

  it('is not what somebody set in the definition after it was created', () => {
    const lines = (share: number): string[] =>
      planLines(planChanges({ desired: specs(share), actual: half(5), state, policy }));

    expect(lines(10)).toContain('withheld update flag/pay@production: drift-reported');
    expect(lines(20)).toContain('withheld update flag/pay@production: conflict-held');
  });

  it('is made again where the definition is not there, whether it was created or not', () => {
    const desired = aDesired({ flags: [...specs(10).flags.values()] });

    const plan = planOf(desired, { flags: [liveFlag('pay')] }, { state, policy });

    expect(planLines(plan)).toContain('create flag/pay@production');
  });
});

const flagSpecs = (parts: Parameters<typeof desiredFlag>[1]) =>
  aDesired({ flags: [desiredFlag('pay', parts)] });

it.each<[string, (version: number) => BoundDesired, Parameters<typeof anActual>[0]]>([
  ['flag/pay', (at) => flagSpecs({ fields: { description: `${at}` } }), { flags: [noFlag('pay')] }],
  [
    'flag/pay@production',
    (at) => flagSpecs({ environments: { production: onShare(at) } }),
    { flags: [liveFlag('pay')] },
  ],
  [
    'segment/beta',
    (at) => aDesired({ segments: [{ ...desiredSegment('beta', {}), trafficType: `type-${at}` }] }),
    { segments: [noSegment('beta')] },
  ],
])(
  '%s that is gone was deleted outside git, and changed on both sides if git changed it',
  (id, specs, live) => {
    const reasonAfter = (version: number) => {
      const { changes } = planOf(specs(version), live, { state: stateOf(specs(1)) });
      return changes.find((change) => change.id === id)?.reason;
    };

    expect([reasonAfter(1), reasonAfter(2)]).toEqual(['drift', 'conflict']);
  },
);

describe('what a plan tells besides its changes', () => {
  const desired = aDesired({
    flags: [
      desiredFlag('pay', { environments: { staging: {}, production: onShare(5) } }),
      desiredFlag('cart'),
    ],
    segments: [{ ...desiredSegment('beta', { staging: ['a'] }), description: 'Opted in' }],
  });
  const actual = anActual({
    flags: [liveFlag('pay', { staging: {}, production: {} }), noFlag('cart'), liveFlag('theirs')],
    segments: [liveSegment('beta', { staging: ['a'] }), liveSegment('vip')],
  });
  const input = { desired, actual, state: NO_STATE, policy: aPolicy() };

  it('is what is equal, also where the service cannot change a description any more', () => {
    expect(planChanges(input).unchanged).toEqual([
      'flag/pay',
      'flag/pay@staging',
      'segment/beta',
      'segment/beta@staging',
    ]);
  });

  it('is nothing equal about an object of another traffic type, or held back', () => {
    const account = desiredFlag('pay', { trafficType: 'account' });
    const live = { flags: [liveFlag('pay')] };
    const described = desiredFlag('pay', { fields: { description: 'd' } });
    const policy = { suspended: SUSPENDED_BY_CONFIG };

    expect(planOf(aDesired({ flags: [account] }), live).unchanged).toEqual([]);
    expect(planOf(aDesired({ flags: [described] }), live, { policy }).unchanged).toEqual([]);
  });

  it('is how much was looked at', () => {
    expect(planChanges(input).observed).toBe('full');
    expect(planChanges(input, 'touched').observed).toBe('touched');
  });

  it('is what was compared by a number or by the base alone, and what was not looked at', () => {
    const described = (name: string) => desiredFlag(name, { fields: { description: 'd' } });
    const names = ['unread', 'seen', 'unseen', 'gone', 'new', 'known'];
    const flags = [...names.map(described), desiredFlag('bare')];
    const seen = flags.map(({ name }): [string, ActualFlag] => {
      const [, { flag, ...live }] = liveFlag(name);
      if (name === 'gone') return noFlag(name);
      if (name === 'seen') return liveFlag(name);
      if (name === 'unread') return [name, { ...live, unread: new Set(['staging']) }];
      return [name, name === 'new' || name === 'known' ? { ...live, existence: 'unknown' } : live];
    });
    const [segment, counted] = liveSegment('beta', { production: ['a'] });
    const assumedKeys = keyList(['a']).digest;
    const environments = new Map([
      ...counted.environments,
      ['staging', { active: true, assumedKeys }] as const,
    ]);
    const hidden = {
      desired: aDesired({ flags, segments: [desiredSegment('beta', { staging: ['a'] })] }),
      actual: {
        ...anActual({ flags: seen, segments: [[segment, { ...counted, environments }]] }),
        showsFlags: false,
      },
      state: stateOf(aDesired({ flags: [described('known')] })),
      policy: aPolicy(),
    };

    const { notCompared, observed } = planChanges(hidden);
    expect(notCompared).toEqual([
      { id: 'flag/known', what: 'fields', why: 'not-shown' },
      { id: 'flag/unread', what: 'fields', why: 'not-shown' },
      { id: 'flag/unread@staging', what: 'definition', why: 'written-before' },
      { id: 'flag/unseen', what: 'fields', why: 'not-shown' },
      { id: 'segment/beta@staging', what: 'keys', why: 'counted' },
    ]);
    expect(observed).toBe('touched');
    const filtered = { ...hidden, policy: aPolicy({ only: new Set(['flag/unseen']) }) };
    expect(planChanges(filtered).notCompared.map(({ id }) => id)).toContain('flag/unseen');
    const shown = { ...hidden, actual: { ...hidden.actual, showsFlags: true } };
    expect(planChanges(shown).notCompared.map(({ why }) => why)).toEqual([
      'written-before',
      'counted',
    ]);
  });

  it('is how much is not ours, neither by the specs nor by the inventory', () => {
    const ours = stateOf(
      aDesired({ flags: [desiredFlag('theirs')], segments: [desiredSegment('vip', {})] }),
    );

    expect(planChanges(input).unmanaged).toEqual({ flags: 1, segments: 1 });
    expect(planChanges({ ...input, state: ours }).unmanaged).toEqual({ flags: 0, segments: 0 });
  });

  it.each(['allFlags', 'allSegments'] as const)(
    'is nothing of what is not ours where the service does not list it: %s',
    (list) => {
      expect(planChanges({ ...input, actual: { ...actual, [list]: null } }).unmanaged).toBeNull();
    },
  );

  it('is what waits, and not what the service can never make', () => {
    const policy = { suspended: SUSPENDED_BY_CONFIG };
    const suspended = planOf(desired, actual, { policy });

    expect(suspended.withheld.map(({ id }) => id)).toEqual([
      'flag/cart',
      'flag/pay@production',
      'segment/beta',
    ]);
    expect(pendingWithheld(suspended).map(({ id }) => id)).toEqual([
      'flag/cart',
      'flag/pay@production',
    ]);
  });

  it('offers no run as a way out before the suspension is over', () => {
    const drifted = aDesired({
      flags: [desiredFlag('pay', { environments: { production: onShare(10) } })],
    });
    const { withheld } = planChanges({
      desired: drifted,
      actual: anActual({ flags: [liveFlag('pay', { production: onShare(50) })] }),
      state: stateOf(drifted),
      policy: aPolicy({
        environments: [anEnvironment('production', { onDrift: 'report' })],
        suspended: SUSPENDED_BY_CONFIG,
      }),
    });

    expect(withheld.map(({ why }) => why)).toEqual(['drift-reported']);
    expect(withheld.map((each) => remedyText(remedyOf(each)))).toEqual([
      'run `flagkeel drift --adopt --only flag/pay` to write what is live into the files, and commit, or run `flagkeel reconcile --revert-drift --only flag/pay` to write what git says, once the suspension is over',
    ]);
  });

  it('is what an earlier look at more objects held back, and no kill of an older HEAD', () => {
    const reason = { why: 'needs-withheld', because: 'it needs flag/cart' } as const;
    const held = new Map([['flag/pay@production', reason]] as const);
    const killed = { ...desired, kills: [desiredKill('pay', 'staging')] };
    const behind = (...ids: string[]) => ({ behind: true, reviewed: new Set(ids) }) as const;
    const linesOf = (policy: Partial<PlanPolicy>) => planLines(planOf(killed, actual, { policy }));

    expect(linesOf({ held })).toContain('withheld update flag/pay@production: needs-withheld');
    expect(linesOf(behind('flag/pay@staging'))).toEqual(['update flag/pay@staging (kill)']);
    expect(linesOf(behind())).toEqual([]);
  });

  it('is only of objects that the filter names, of the specs and of the inventory', () => {
    const state = stateOf(aDesired({ flags: [desiredFlag('theirs')] }));
    const ids = (...only: string[]) => {
      return idsOf({ only: new Set(only) });
    };
    const idsOf = (limits: Partial<PlanPolicy>) => {
      const policy = { prune: true, ...limits };
      const { changes, withheld, unchanged } = planOf(desired, actual, { state, policy });
      return [...changes, ...withheld].map(({ id }) => id).concat(unchanged);
    };

    const quarantined = new Set(['flag/pay', 'segment/beta', 'flag/theirs'] as const);
    expect(idsOf({ quarantined })).toEqual(['flag/cart']);
    expect(ids('flag/cart')).toEqual(['flag/cart']);
    expect(ids('segment/cart')).toEqual([]);
    expect(ids('segment/beta')).toEqual(['segment/beta', 'segment/beta', 'segment/beta@staging']);
    expect(ids('flag/theirs')).toEqual(['flag/theirs']);
  });
});
