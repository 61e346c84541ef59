import { describe, expect, it } from 'vitest';
import type { Change, Reason } from '../../../src/model/plan.js';
import { SUSPENDED_BY_CONFIG } from '../../../src/model/run.js';
import { WORKSPACE } from '../../../src/plan/place.js';
import {
  closedFor,
  rulesIn,
  verifyingPolicy,
  withholdReason,
  type FieldRules,
  type PlanPolicy,
} from '../../../src/plan/policy.js';
import { anEnvironment, aPolicy } from '../../support/builders.js';
import { aChange, aWithheld } from '../../support/plan-builder.js';

const OPEN: FieldRules = {
  protected: false,
  onDrift: 'revert',
  onConflict: 'apply',
  adopt: false,
  revertDrift: false,
  suspended: null,
};
const CLOSED: FieldRules = { ...OPEN, protected: true, onDrift: 'report', onConflict: 'hold' };

const MAY_BE_OURS = 'no run remembers it here; it may be ours: look at the values that would go';

describe('what is held back', () => {
  it.each(['kill', 'restore', 'conflict', 'commit', 'prune', 'drift', 'adopt', 'unknown'] as const)(
    'is nothing where all doors are open: %s',
    (reason) => {
      expect(withholdReason({ reason }, OPEN)).toBeUndefined();
    },
  );

  it.each([
    ['kill', undefined],
    ['restore', undefined],
    ['commit', undefined],
    ['drift', { why: 'drift-reported' }],
    ['conflict', { why: 'conflict-held' }],
    ['adopt', { why: 'adopt-needed', because: MAY_BE_OURS }],
    ['unknown', { why: 'adopt-needed', because: MAY_BE_OURS }],
  ] as const)('in a protected environment: %s', (reason, held) => {
    expect(withholdReason({ reason }, CLOSED)).toEqual(held);
  });

  it.each<[string, string[], Reason, Partial<FieldRules>, string | undefined]>([
    ['three times within an hour', ['10:00', '10:10', '11:00'], 'drift', {}, 'contested'],
    ['often, thrice in an hour', ['8:00', '10:00', '10:10', '10:20'], 'drift', {}, 'contested'],
    ['three times in more than an hour', ['10:00', '10:10', '11:01'], 'drift', {}, undefined],
    ['twice', ['10:00', '10:01'], 'drift', {}, undefined],
    ['never', [], 'drift', {}, undefined],
    ['as asked', ['10:00', '10:10', '11:00'], 'drift', { revertDrift: true }, undefined],
    ['before a commit', ['10:00', '10:10', '11:00'], 'commit', {}, undefined],
    ['before it was reported', ['10:00', '10:10', '11:00'], 'drift', CLOSED, 'drift-reported'],
  ])('is drift that was corrected too often: %s', (_, times, reason, rules, why) => {
    const moments = times.map((time) => `2026-10-03T${time.padStart(5, '0')}:00.000Z`);
    const held = withholdReason({ reason }, { ...OPEN, ...rules }, moments);

    expect(held?.why).toBe(why);
    if (why === 'contested')
      expect(held?.because).toBe(
        `corrected at ${moments.join(', ')}; another writer keeps changing it, perhaps another repository, and the service does not name it: find it, and leave the field to one side`,
      );
  });

  const until = '2026-10-03T14:00:00.000Z';
  const byConfig = { suspended: SUSPENDED_BY_CONFIG };

  it.each<[Reason, FieldRules, object | undefined]>([
    ['commit', { ...OPEN, ...byConfig }, { why: 'suspended' }],
    ['commit', { ...OPEN, suspended: { reason: 'INC-4711', until } }, { why: 'suspended', until }],
    ['kill', { ...OPEN, ...byConfig }, undefined],
    ['drift', { ...CLOSED, ...byConfig }, { why: 'drift-reported' }],
    ['conflict', { ...CLOSED, ...byConfig }, { why: 'conflict-held' }],
    ['adopt', { ...CLOSED, ...byConfig }, { why: 'adopt-needed', because: MAY_BE_OURS }],
  ])('is everything but a kill while the run is suspended: %s', (reason, rules, held) => {
    expect(withholdReason({ reason }, rules)).toEqual(held);
  });
});

describe('the rules of a place', () => {
  const strict = anEnvironment('production', {
    protected: true,
    onDrift: 'report',
    onConflict: 'hold',
  });
  const lax = anEnvironment('staging');

  it('are those of the strictest environment at workspace level', () => {
    expect(rulesIn(aPolicy({ environments: [lax, strict] }), WORKSPACE)).toEqual(CLOSED);
    expect(rulesIn(aPolicy({ environments: [lax] }), WORKSPACE)).toEqual(OPEN);
  });

  it('revert drift everywhere when the run is told to', () => {
    const policy = aPolicy({ environments: [strict], revertDrift: true, adopt: true });

    const told = { ...CLOSED, adopt: true, onDrift: 'revert', revertDrift: true };
    expect(rulesIn(policy, strict)).toEqual(told);
    expect(rulesIn(policy, WORKSPACE)).toEqual(told);
  });
});

describe('windows and freezes', () => {
  const frozen = (why: string, day: number | null) => {
    const until = day === null ? null : `2026-10-0${String(day)}T00:00:00.000Z`;
    return { why, until, untilText: day === null ? null : `the ${String(day)}th` };
  };
  const [early, late, open] = [frozen('early', 5), frozen('late', 6), frozen('for ever', null)];
  const both = new Map([
    ['staging', late],
    ['production', early],
  ]);
  const update = (id: string, ...reasons: Reason[]) =>
    aChange(id, 'update', {
      fields: reasons.map((reason) => ({ path: `/${reason}`, reason, after: true })),
    });
  const deletion = aChange('flag/pay', 'delete');
  const endless = new Map([...both, ['production', open]]);
  const endlessFirst = new Map([...both, ['staging', open]]);
  const inOne = new Map([['staging', late]]);
  const inStaging = (...reasons: Reason[]) => update('flag/pay@staging', ...reasons);
  const kill = aChange('flag/pay@staging', 'update', {
    fields: [{ path: '/killed', reason: 'ramp', before: false, after: true }],
  });

  it.each<[string, Change, Partial<PlanPolicy>, object | undefined]>([
    ['an open environment', inStaging('commit'), {}, undefined],
    ['its environment', inStaging('commit'), { closed: both }, late],
    ['a change of keys', aChange('segment/vip@staging', 'update'), { closed: both }, late],
    ['an override', inStaging('commit'), { closed: both, windowOverride: 'INC-1' }, undefined],
    ['a kill and a restore', inStaging('kill', 'restore'), { closed: both }, undefined],
    ['a kill by a failed check', kill, { closed: both }, undefined],
    ['more than a kill', inStaging('kill', 'commit'), { closed: both }, late],
    ['one of two', update('flag/pay', 'commit'), { closed: inOne }, undefined],
    ['a deletion, as long as the last', deletion, { closed: both }, late],
    ['a deletion without an end', deletion, { closed: endless }, open],
    ['a deletion while the first has no end', deletion, { closed: endlessFirst }, open],
    ['a deactivation', aChange('segment/vip@staging', 'deactivate'), { closed: both }, late],
  ])('close %s', (_, change, policy, expected) => {
    expect(closedFor(aPolicy(policy), change)).toEqual(expected);
  });

  it.each<[Reason, Partial<FieldRules>, object | undefined]>([
    ['commit', { closed: early }, { because: 'early; it goes at the 5th', until: early.until }],
    ['commit', { closed: open }, { because: 'for ever; it stays until the config says otherwise' }],
    ['kill', { closed: early }, undefined],
    ['restore', { closed: early }, undefined],
  ])('hold %s back: %j', (reason, rules, held) => {
    expect(withholdReason({ reason }, { ...OPEN, ...rules })).toEqual(
      held && { why: 'window-closed', ...held },
    );
  });

  it('are part of the rules of a place, with its own name in the config', () => {
    const environments = [anEnvironment('staging', { place: 'test' }), anEnvironment('production')];
    const policy = aPolicy({ environments, closed: both });
    const rules = [...environments, WORKSPACE].map((place) => rulesIn(policy, place));

    expect(rules.map(({ closed, place }) => [closed, place])).toEqual([
      [late, 'test'],
      [early, undefined],
      [early, undefined],
    ]);
    expect(withholdReason({ reason: 'conflict' }, { ...CLOSED, place: 'test' })).toEqual({
      why: 'conflict-held',
      place: 'test',
    });
  });
});

it('verifies the touched objects alone, and holds back again what was held for the sake of others', () => {
  const withheld = [
    aWithheld('flag/a', 'update', 'needs-withheld', { because: 'it needs flag/b' }),
    aWithheld('flag/b', 'delete', 'still-in-use'),
    aWithheld('flag/c', 'update', 'drift-reported'),
  ];
  const touched = new Set(['flag/a']);
  const verifying = (identities: PlanPolicy['identities']) =>
    verifyingPolicy(aPolicy({ identities }), touched, { withheld });

  expect(verifying('all')).toEqual({
    ...aPolicy({ identities: 'changed', only: touched }),
    held: new Map([
      ['flag/a', { why: 'needs-withheld', because: 'it needs flag/b' }],
      ['flag/b', { why: 'still-in-use' }],
    ]),
  });
  expect(verifying('none').identities).toBe('none');
});
