import { describe, expect, it } from 'vitest';
import { SUSPENDED_BY_CONFIG } from '../../../src/model/run.js';
import { WORKSPACE } from '../../../src/plan/place.js';
import { rulesIn, withholdReason, type FieldRules } from '../../../src/plan/policy.js';
import { anEnvironment, aPolicy } from '../../support/builders.js';

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
    [
      'conflict',
      {
        why: 'conflict-held',
      },
    ],
    ['adopt', { why: 'adopt-needed', because: MAY_BE_OURS }],
    ['unknown', { why: 'adopt-needed', because: MAY_BE_OURS }],
  ] as const)('in a protected environment: %s', (reason, held) => {
    expect(withholdReason({ reason }, CLOSED)).toEqual(held);
  });

  it('is drift that was corrected three times within an hour, unless somebody asked for it', () => {
    const moments = ['2026-10-03T22:00:00.000Z', '2026-10-03T22:20:00.000Z'];
    const fought = [...moments, '2026-10-03T23:00:00.000Z'];

    expect(withholdReason({ reason: 'drift' }, OPEN, moments)).toBeUndefined();
    expect(withholdReason({ reason: 'drift' }, OPEN, fought)?.why).toBe('contested');
    expect(withholdReason({ reason: 'drift' }, OPEN, fought)?.because).toBe(
      'corrected at 2026-10-03T22:00:00.000Z, 2026-10-03T22:20:00.000Z, 2026-10-03T23:00:00.000Z; another writer keeps changing it, perhaps another repository, and the service does not name it: find it, and leave the field to one side',
    );
    expect(
      withholdReason({ reason: 'drift' }, { ...OPEN, revertDrift: true }, fought),
    ).toBeUndefined();
    expect(withholdReason({ reason: 'commit' }, OPEN, fought)).toBeUndefined();
    expect(withholdReason({ reason: 'drift' }, CLOSED, fought)?.why).toBe('drift-reported');
  });

  it('is no adoption that somebody asked for', () => {
    expect(withholdReason({ reason: 'adopt' }, { ...CLOSED, adopt: true })).toBeUndefined();
  });

  it('is everything but a kill while the run is suspended', () => {
    const suspended = { ...OPEN, suspended: SUSPENDED_BY_CONFIG };

    expect(withholdReason({ reason: 'commit' }, suspended)).toEqual({
      why: 'suspended',
    });
    expect(withholdReason({ reason: 'kill' }, suspended)).toBeUndefined();
  });

  it('tells of a suspension by request until when it is, and not of the config', () => {
    const until = '2026-10-03T14:00:00.000Z';
    const suspended = { ...OPEN, suspended: { reason: 'ana: INC-4711', until } };

    expect(withholdReason({ reason: 'commit' }, suspended)).toEqual({
      why: 'suspended',
      until,
    });
  });

  it.each([
    ['drift', 'drift-reported'],
    ['conflict', 'conflict-held'],
    ['adopt', 'adopt-needed'],
  ] as const)('keeps its own reason while the run is suspended: %s', (reason, why) => {
    const suspended = { ...CLOSED, suspended: SUSPENDED_BY_CONFIG };

    expect(withholdReason({ reason }, suspended)?.why).toBe(why);
  });
});

describe('the rules of a place', () => {
  const strict = anEnvironment('production', {
    protected: true,
    onDrift: 'report',
    onConflict: 'hold',
  });
  const lax = anEnvironment('staging');

  it('are the environment’s own', () => {
    const policy = aPolicy({ environments: [lax, strict] });

    expect(rulesIn(policy, strict)).toEqual(CLOSED);
    expect(rulesIn(policy, lax)).toEqual(OPEN);
  });

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
