import { describe, expect, it } from 'vitest';
import type { Definition } from '../../../src/model/flag/flag.js';
import type { BoundDesired } from '../../../src/model/bound-desired.js';
import type { ActualFlag } from '../../../src/model/actual.js';
import type { DesiredFlag, DesiredSegment } from '../../../src/model/desired.js';
import type { Plan } from '../../../src/model/plan.js';
import type { PlanPolicy } from '../../../src/plan/policy.js';
import {
  aDesired,
  anEnvironment,
  dependingOn,
  desiredFlag,
  desiredSegment,
  inSegment,
  liveFlag,
  liveSegment,
  noFlag,
  noSegment,
  planLines,
  serving,
  stepLines,
} from '../../support/builders.js';
import { planOf, provenIn } from '../../support/planning.js';
import { stateOf } from '../../support/state-of.js';

const inStaging = (name: string, said: Definition): DesiredFlag =>
  desiredFlag(name, { environments: { staging: said } });

interface Given {
  readonly before?: readonly DesiredFlag[];
  readonly flags: readonly DesiredFlag[];
  readonly live: [string, ActualFlag][];
  readonly segments?: readonly DesiredSegment[];
  readonly segmentBefore?: readonly DesiredSegment[];
  readonly policy?: Partial<PlanPolicy>;
}

function planFor({ flags, live, policy, ...given }: Given): Plan {
  const { before = [], segments = [], segmentBefore = [] } = given;
  const state = stateOf(aDesired({ flags: [...before], segments: [...segmentBefore] }));
  const liveSegments = [
    ...segments.map(({ name }) => noSegment(name)),
    ...segmentBefore.map(({ name }) => liveSegment(name, { staging: ['u1'] })),
  ];
  return planOf(
    aDesired({ flags: [...flags], segments: [...segments] }),
    { flags: live, segments: liveSegments },
    { state, policy: { prune: true, provenRemovals: provenIn(state), ...policy } },
  );
}

const heldBy = ({ withheld }: Plan) =>
  withheld.map(({ id, why, because }) => [id, why, because].filter(Boolean).join(': '));

describe('a change that needs what is withheld', () => {
  it('is withheld with the flag that it would be a definition of', () => {
    const plan = planFor({
      flags: [inStaging('pay', {})],
      live: [noFlag('pay')],
      policy: { reviewed: new Set(['flag/pay@staging']) },
    });

    expect(planLines(plan)).toEqual([
      'withheld create flag/pay: not-reviewed',
      'withheld create flag/pay@staging: needs-withheld',
    ]);
  });

  it('is withheld where its new rules ask for a treatment that nobody brings', () => {
    const environments = [anEnvironment('staging', { onConflict: 'hold' })];
    const user = { ...dependingOn('low', 'v2'), trafficAllocation: 50 };
    const plan = planFor({
      before: [inStaging('low', serving('on', 'off', 'old')), inStaging('top', {})],
      flags: [inStaging('low', serving('on', 'off', 'v2')), inStaging('top', user)],
      live: [
        liveFlag('low', { staging: serving('on', 'off', 'theirs') }),
        liveFlag('top', { staging: {} }),
      ],
      policy: { environments },
    });

    expect(plan.steps).toEqual([]);
    expect(heldBy(plan)).toContain(
      'flag/top@staging: needs-withheld: it needs treatment "v2" of flag/low@staging, which has none of that name',
    );
  });

  it('is withheld where its new rules name what a look-up did not find', () => {
    const plan = planOf(
      aDesired({ flags: [inStaging('top', inSegment('gone'))] }),
      { flags: [liveFlag('top')], segments: [noSegment('gone')] },
      { policy: { adopt: true } },
    );

    expect(heldBy(plan)).toEqual([
      'flag/top@staging: needs-withheld: it needs segment/gone@staging, which is not on the service',
    ]);
  });

  it('is made where its rules stay, whatever they ask for', () => {
    const user = dependingOn('low', 'gone');
    const plan = planFor({
      before: [inStaging('low', {}), inStaging('top', user)],
      flags: [inStaging('low', {}), inStaging('top', { ...user, trafficAllocation: 50 })],
      live: [liveFlag('low', { staging: {} }), liveFlag('top', { staging: user })],
    });

    expect(planLines(plan)).toEqual(['update flag/top@staging']);
  });

  it('is made where only an update of what it needs is withheld', () => {
    const environments = [anEnvironment('staging', { onDrift: 'report' })];
    const plan = planFor({
      before: [inStaging('low', {})],
      flags: [inStaging('low', {}), inStaging('top', dependingOn('low'))],
      live: [liveFlag('low', { staging: { trafficAllocation: 50 } }), liveFlag('top')],
      policy: { environments },
    });

    expect(planLines(plan)).toEqual([
      'create flag/top@staging',
      'withheld update flag/low@staging: drift-reported',
    ]);
  });
});

describe('a treatment that goes and one that comes', () => {
  const swapped = inStaging('b', serving('on', 'off', 'v2'));
  const before = inStaging('b', serving('on', 'off', 'v1'));
  const liveB = liveFlag('b', { staging: serving('on', 'off', 'v1') });
  const stranger = liveFlag('theirs', { staging: dependingOn('b', 'v1') });

  it('keep each other back while a stranger uses the one, with all that needs the other', () => {
    const plan = planFor({
      before: [before],
      flags: [
        inStaging('a', dependingOn('b', 'v2')),
        swapped,
        inStaging('c', dependingOn('a', 'on')),
      ],
      live: [noFlag('a'), liveB, noFlag('c'), stranger],
    });

    expect(plan.changes.map(({ id }) => id)).toEqual(['flag/a', 'flag/c']);
    expect(heldBy(plan)).toEqual([
      'flag/a@staging: needs-withheld: it needs flag/b@staging, which is withheld',
      'flag/b@staging: still-in-use: flag/theirs@staging still uses it',
      'flag/c@staging: needs-withheld: it needs flag/a@staging, which is withheld',
    ]);
    expect(plan.withheld.map(({ dependsOn }) => dependsOn)).toEqual([[], [], []]);
  });

  it('are kept back by who asks for more than the one that goes', () => {
    const plan = planFor({
      before: [before],
      flags: [swapped],
      live: [liveB, liveFlag('theirs', { staging: dependingOn('b', 'on', 'v1') })],
    });

    expect(planLines(plan)).toEqual(['withheld update flag/b@staging: still-in-use']);
  });

  it('are not kept back by who asks for one that stays', () => {
    const live = [liveB, liveFlag('theirs', { staging: dependingOn('b', 'on') })];

    expect(planLines(planFor({ before: [before], flags: [swapped], live }))).toEqual([
      'update flag/b@staging',
    ]);
  });
});

describe('a segment that goes', () => {
  const staff = desiredSegment('staff', { staging: ['u1'] });
  const held = [
    'withheld delete segment/staff: still-in-use',
    'withheld deactivate segment/staff@staging: still-in-use',
  ];
  const inStaff = liveFlag('pay', { staging: inSegment('staff') });
  const unruled = liveFlag('pay', { staging: {} });
  const changed = inStaging('pay', { trafficAllocation: 50 });
  const onDriftReport = [anEnvironment('staging', { onDrift: 'report' })];
  const rules = [...dependingOn('cart', 'on').rules, ...inSegment('staff').rules];

  const treatments = ['on', 'off'].map((name) => ({ name, description: '', segments: ['staff'] }));
  const targeting = liveFlag('pay', { staging: {} }, {}, { treatments });
  const untouched = { before: [inStaging('pay', {})], policy: { environments: onDriftReport } };

  it.each<[string, DesiredFlag, [string, ActualFlag], Partial<Given>, string[]]>([
    ['stays while the new rules of a flag are held back', changed, inStaff, untouched, held],
    ['stays while a new rule uses it', inStaging('pay', { rules }), unruled, {}, held],
    ['stays while a treatment targets it whole', inStaging('pay', {}), targeting, {}, held],
    [
      'goes when the new rules use it no longer',
      changed,
      inStaff,
      {},
      ['deactivate segment/staff@staging (prune)', 'delete segment/staff (prune)'],
    ],
  ])('%s', (_, flag, live, given, lines) => {
    const plan = planFor({ flags: [flag], live: [live], segmentBefore: [staff], ...given });

    expect(planLines(plan).filter((line) => line.includes('segment/'))).toEqual(lines);
  });
});

/** Plans specs on top of flags of ours that are live in production as they are given here. */
function planOver(live: Readonly<Record<string, Definition>>, desired: BoundDesired): Plan {
  const names = Object.keys(live);
  const flags = [
    ...[...desired.flags.keys()].map(noFlag),
    ...names.map((name) => liveFlag(name, { production: live[name] ?? {} })),
  ];
  const declared = names.map((name) => desiredFlag(name, { environments: { production: {} } }));
  const state = stateOf(aDesired({ flags: declared }));
  const policy = { prune: true, provenRemovals: provenIn(state) };
  return planOf(desired, { flags }, { state, policy });
}

const TWO_IN_A_CIRCLE = { cart: dependingOn('pay'), pay: dependingOn('cart') };

describe('live flags that depend on each other in a circle', () => {
  it('stay, with the path shown, when both are pruned, and what is beside them comes and goes', () => {
    const beside = aDesired({ flags: [desiredFlag('fresh')] });
    const plan = planOver({ ...TWO_IN_A_CIRCLE, search: {} }, beside);

    expect(planLines(plan)).toEqual([
      'create flag/fresh',
      'delete flag/search@production (prune)',
      'delete flag/search (prune)',
      'withheld delete flag/cart: still-in-use',
      'withheld delete flag/cart@production: still-in-use',
      'withheld delete flag/pay: still-in-use',
      'withheld delete flag/pay@production: still-in-use',
    ]);
    expect(plan.withheld.find(({ id }) => id === 'flag/pay@production')?.because).toBe(
      'they use each other: flag/cart@production → flag/pay@production → flag/cart@production; take a rule of one of them away on the service',
    );
  });

  it('are taken apart where git still declares one of them, without the rule', () => {
    const cart = desiredFlag('cart', { environments: { production: {} } });

    expect(stepLines(planOver(TWO_IN_A_CIRCLE, aDesired({ flags: [cart] })))).toEqual([
      'flag/cart@production#1-patch-definition',
      'flag/pay@production#1-delete-definition',
      'flag/pay#1-delete-flag',
    ]);
  });
});
