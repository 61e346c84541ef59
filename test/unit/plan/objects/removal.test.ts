import { describe, expect, it } from 'vitest';
import { SUSPENDED_BY_CONFIG } from '../../../../src/model/run.js';
import { NO_KEYS } from '../../../../src/model/segment-keys.js';
import type { Actual } from '../../../../src/model/actual.js';
import type { BoundDesired } from '../../../../src/model/bound-desired.js';
import type { Plan } from '../../../../src/model/plan.js';
import type { State } from '../../../../src/model/state.js';
import { planChanges } from '../../../../src/plan/plan.js';
import type { PlanPolicy } from '../../../../src/plan/policy.js';
import {
  aDesired,
  anActual,
  anEnvironment,
  aPolicy,
  dependingOn,
  desiredFlag,
  desiredSegment,
  inSegment,
  liveFlag,
  liveSegment,
  noFlag,
  noSegment,
  planLines,
} from '../../../support/builders.js';
import { manyKeys } from '../../../support/plan-builder.js';
import { stateOf } from '../../../support/state-of.js';

const PLACES = ['', '@staging', '@production'];

/** A plan of what is gone from the specs, with every witness that a deletion needs. */
function planWithout(
  before: BoundDesired,
  actual: Actual,
  given: { desired?: BoundDesired; state?: State; policy?: Partial<PlanPolicy> } = {},
): Plan {
  const { desired = aDesired(), state = stateOf(before), policy } = given;
  const witnessed = [...state.keys()].flatMap((key) => PLACES.map((place) => key + place));
  return planChanges({
    desired,
    actual,
    state,
    policy: aPolicy({ prune: true, provenRemovals: new Set(witnessed), ...policy }),
  });
}

const pay = desiredFlag('pay', { environments: { staging: {}, production: {} } });
const livePay = liveFlag('pay', { staging: { targets: { on: ['a'] } }, production: {} });
const beta = desiredSegment('beta', { staging: ['a'], production: [] });
const liveBeta = liveSegment('beta', { staging: ['a'], production: [] });

describe('a flag that left the specs', () => {
  const before = aDesired({ flags: [pay] });

  it('goes from each environment and then wholly, and the plan shows all that goes but the keys', () => {
    const plan = planWithout(before, anActual({ flags: [livePay] }));

    expect(planLines(plan)).toEqual([
      'delete flag/pay@staging (prune)',
      'delete flag/pay@production (prune)',
      'delete flag/pay (prune)',
    ]);
    expect(plan.changes[0]?.fields.map(({ path }) => path)).toEqual([
      '/killed',
      '/treatments',
      '/defaultTreatment',
      '/baselineTreatment',
      '/trafficAllocation',
      '/rules',
      '/defaultRule',
    ]);
    expect(plan.changes[0]?.fields[2]).toEqual({
      path: '/defaultTreatment',
      reason: 'prune',
      base: 'off',
      before: 'off',
    });
    expect(plan.changes[2]).toMatchObject({
      location: null,
      dependsOn: ['flag/pay@production', 'flag/pay@staging'],
      fields: [
        { path: '/description', before: '' },
        { path: '/tags', before: [] },
        { path: '/rolloutStatus', before: 'Pre-Production' },
      ],
    });
    expect(plan.steps).toMatchObject([
      { action: 'delete-definition', flag: 'pay', environment: 'staging' },
      { action: 'delete-definition', flag: 'pay', environment: 'production' },
      { action: 'delete-flag', flag: 'pay' },
    ]);
  });

  const live = { flags: [livePay] };
  const definitionsAlone: State = new Map(
    [...stateOf(before)].map(([key, { workspace, ...entry }]) => [key, entry as never]),
  );
  const production = desiredFlag('pay', {
    environments: { production: { unsaid: ['killed', 'baselineTreatment', 'targets'] } },
  });
  const unselected = (...names: string[]): PlanPolicy['environments'] =>
    ['staging', 'production'].map((name) =>
      anEnvironment(name, { selected: !names.includes(name) }),
    );
  const [STAGING, PRODUCTION, WHOLE] = ['@staging', '@production', ''].map(
    (place) => `delete flag/pay${place} (prune)`,
  ) as [string, string, string];
  const HELD = 'withheld delete flag/pay: still-in-use';

  it.each<[string, Parameters<typeof anActual>[0], Parameters<typeof planWithout>[2], string[]]>([
    ['where the service does not have it any more', { flags: [noFlag('pay')] }, {}, []],
    [
      'in the environments that are left',
      { flags: [liveFlag('pay', { production: {} })] },
      {},
      [PRODUCTION, WHOLE],
    ],
    [
      'in the one environment that left the specs',
      live,
      { desired: aDesired({ flags: [production] }) },
      [STAGING],
    ],
    [
      'but for environments that the run does not select, and so not wholly',
      live,
      { policy: { environments: unselected('production') } },
      [STAGING, HELD],
    ],
    [
      'not wholly while it is in several environments',
      live,
      { policy: { environments: unselected('staging', 'production') } },
      [HELD],
    ],
    [
      'not wholly where only its definitions were ours',
      live,
      { state: definitionsAlone },
      [STAGING, PRODUCTION],
    ],
    ['nowhere where it was never ours', live, { state: new Map() }, []],
  ])('goes %s', (_, actual, given, lines) => {
    expect(planLines(planWithout(before, anActual(actual), given))).toEqual(lines);
  });

  it('says in which environments it still is', () => {
    const environments = unselected('staging', 'production');
    const { withheld } = planWithout(before, anActual(live), { policy: { environments } });

    expect(withheld.map(({ because }) => because)).toEqual(['it is still in staging, production']);
  });

  it('shows nothing of what a service cannot show, and goes all the same', () => {
    const [name, { definitions }] = liveFlag('pay');
    const unknown = anActual({ flags: [[name, { existence: 'unknown', definitions }]] });

    expect(planWithout(before, unknown).changes).toMatchObject([
      { id: 'flag/pay', action: 'delete', fields: [] },
    ]);
  });
});

describe('a segment that left the specs', () => {
  const before = aDesired({ segments: [beta] });

  it('is emptied, deactivated and then deleted, and the plan shows how many keys go', () => {
    const plan = planWithout(before, anActual({ segments: [liveBeta] }));

    expect(planLines(plan)).toEqual([
      'deactivate segment/beta@staging (prune)',
      'deactivate segment/beta@production (prune)',
      'delete segment/beta (prune)',
    ]);
    expect(plan.changes[0]).toMatchObject({
      fields: [],
      keys: { added: [], removed: ['a'], sha256: NO_KEYS.digest.sha256 },
    });
    expect(plan.changes[2]).toMatchObject({
      dependsOn: ['segment/beta@production', 'segment/beta@staging'],
      fields: [{ path: '/trafficType', reason: 'prune', before: 'user' }],
    });
    expect(plan.steps).toMatchObject([
      { action: 'remove-keys', segment: 'beta', environment: 'staging', keys: ['a'] },
      { action: 'deactivate-segment', segment: 'beta', environment: 'staging' },
      { action: 'deactivate-segment', segment: 'beta', environment: 'production' },
      { action: 'delete-segment', segment: 'beta' },
    ]);
  });

  it('is emptied in requests of ten thousand keys', () => {
    const keys = manyKeys('user', 10_001);
    const many = aDesired({ segments: [desiredSegment('beta', { staging: keys })] });
    const plan = planWithout(
      many,
      anActual({ segments: [liveSegment('beta', { staging: keys })] }),
    );

    expect(plan.steps.map(({ action }) => action)).toEqual([
      'remove-keys',
      'remove-keys',
      'deactivate-segment',
      'delete-segment',
    ]);
  });

  const live = { segments: [liveBeta] };
  const staging = aDesired({ segments: [desiredSegment('beta', { staging: ['a'] })] });
  const activationsAlone: State = new Map(
    [...stateOf(before)].map(([key, { workspace, ...entry }]) => [key, entry as never]),
  );
  const environments = [anEnvironment('staging', { selected: false }), anEnvironment('production')];
  const [STAGING, PRODUCTION] = ['staging', 'production'].map(
    (place) => `deactivate segment/beta@${place} (prune)`,
  ) as [string, string];
  const HELD = 'withheld delete segment/beta: still-in-use';

  it.each<[string, Parameters<typeof anActual>[0], Parameters<typeof planWithout>[2], string[]]>([
    ['where the service does not have it any more', { segments: [noSegment('beta')] }, {}, []],
    [
      'where it is active nowhere',
      { segments: [liveSegment('beta')] },
      {},
      ['delete segment/beta (prune)'],
    ],
    [
      'in the one environment that left the specs',
      live,
      { desired: aDesired({ segments: [desiredSegment('beta', { production: [] })] }) },
      [STAGING],
    ],
    ['but for environments not selected', live, { policy: { environments } }, [PRODUCTION, HELD]],
    ['but for environments never ours', live, { state: stateOf(staging) }, [STAGING, HELD]],
    ['where its activations were ours', live, { state: activationsAlone }, [STAGING, PRODUCTION]],
  ])('goes %s', (_, actual, given, lines) => {
    expect(planLines(planWithout(before, anActual(actual), given))).toEqual(lines);
  });

  it('stays with keys that were never managed, and says what to do', () => {
    const external = aDesired({ segments: [desiredSegment('beta', { staging: undefined })] });
    const plan = planWithout(
      external,
      anActual({ segments: [liveSegment('beta', { staging: ['theirs'] })] }),
    );

    expect(planLines(plan)).toEqual([
      'withheld delete segment/beta: still-in-use',
      'withheld deactivate segment/beta@staging: still-in-use',
    ]);
    expect(plan.withheld[1]?.because).toBe(
      'it holds keys that git did not put there; empty it on the service first',
    );
  });

  it('goes where its keys were never managed and there are none', () => {
    const external = aDesired({ segments: [desiredSegment('beta', { staging: undefined })] });
    const actual = anActual({ segments: [liveSegment('beta', { staging: [] })] });

    expect(planLines(planWithout(external, actual))).toEqual([
      'deactivate segment/beta@staging (prune)',
      'delete segment/beta (prune)',
    ]);
  });
});

describe('a removal is held back', () => {
  const before = aDesired({ segments: [beta] });
  const actual = anActual({ segments: [liveBeta] });
  const heldBy = (policy: Partial<PlanPolicy>, look = actual) => {
    const { changes, withheld } = planWithout(before, look, { policy });
    expect(changes).toEqual([]);
    return new Set(withheld.map(({ why }) => why));
  };

  it.each<[string, Partial<PlanPolicy>]>([
    ['prune-off', { prune: false, suspended: SUSPENDED_BY_CONFIG }],
    ['suspended', { suspended: SUSPENDED_BY_CONFIG }],
    ['no-witness', { provenRemovals: new Set() }],
  ])('%s', (held, policy) => {
    expect(heldBy(policy)).toEqual(new Set([held]));
  });

  it('where nobody can tell which flags use the segment, though a flag would go', () => {
    const blind = { ...anActual({ segments: [liveBeta], flags: [livePay] }), allFlags: null };
    const plan = planWithout(aDesired({ segments: [beta], flags: [pay] }), blind);

    expect(planLines(plan)).toEqual([
      'delete flag/pay@staging (prune)',
      'delete flag/pay@production (prune)',
      'delete flag/pay (prune)',
      'withheld delete segment/beta: still-in-use',
      'withheld deactivate segment/beta@production: still-in-use',
      'withheld deactivate segment/beta@staging: still-in-use',
    ]);
    expect(plan.withheld[0]?.because).toBe(
      'the service cannot list the flags that may use it; delete it there by hand',
    );
  });
});

describe('a removal of what others use', () => {
  const withFlags = (...names: string[]) =>
    anActual({
      flags: names.map((name) => liveFlag(name, { staging: inSegment('beta') })),
      segments: [liveSegment('beta', { staging: ['a'] })],
    });
  const before = aDesired({ segments: [desiredSegment('beta', { staging: ['a'] })] });

  it('names who uses it, one or several', () => {
    const becauseWith = (...names: string[]) =>
      planWithout(before, withFlags(...names)).withheld.map(({ because }) => because);

    expect(becauseWith('one')).toEqual([
      'it is still in staging',
      'flag/one@staging still uses it',
    ]);
    expect(becauseWith('one', 'two')).toEqual([
      'it is still in staging',
      'flag/one@staging, flag/two@staging still use it',
    ]);
  });

  it('is no concern of what uses it in another environment', () => {
    const actual = anActual({
      flags: [liveFlag('one', { production: inSegment('beta') })],
      segments: [liveSegment('beta', { staging: ['a'] })],
    });

    expect(planLines(planWithout(before, actual))).toEqual([
      'deactivate segment/beta@staging (prune)',
      'delete segment/beta (prune)',
    ]);
  });

  it('keeps what it uses itself: flag by flag, down to the segment', () => {
    const chain = (flags: string[]) =>
      aDesired({
        flags: flags.map((name) =>
          desiredFlag(name, {
            environments: { staging: name === 'low' ? inSegment('beta') : dependingOn('low') },
          }),
        ),
        segments: [desiredSegment('beta', { staging: ['a'] })],
      });
    const actual = anActual({
      flags: [
        liveFlag('low', { staging: inSegment('beta') }),
        liveFlag('mid', { staging: dependingOn('low') }),
        liveFlag('theirs', { staging: dependingOn('mid') }),
      ],
      segments: [liveSegment('beta', { staging: ['a'] })],
    });

    const plan = planWithout(chain(['low', 'mid']), actual);

    expect(plan.steps).toEqual([]);
    expect(new Set(plan.withheld.map(({ id, because }) => `${id}: ${because ?? ''}`))).toEqual(
      new Set([
        'flag/mid@staging: flag/theirs@staging still uses it',
        'flag/mid: it is still in staging',
        'flag/low@staging: flag/mid@staging still uses it',
        'flag/low: it is still in staging',
        'segment/beta@staging: flag/low@staging still uses it',
        'segment/beta: it is still in staging',
      ]),
    );
  });
});
