import { describe, expect, it } from 'vitest';
import {
  environmentRules,
  heldBack,
  workspaceRules,
  type FieldRules,
} from '../../../src/plan/policy.js';
import { anEnvironment, aPolicy } from '../../support/builders.js';

const OPEN: FieldRules = {
  protected: false,
  onDrift: 'revert',
  onConflict: 'apply',
  adopt: false,
  suspended: false,
};
const CLOSED: FieldRules = { ...OPEN, protected: true, onDrift: 'report', onConflict: 'hold' };

describe('what is held back', () => {
  it.each(['kill', 'restore', 'conflict', 'commit', 'prune', 'drift', 'adopt', 'unknown'] as const)(
    'is nothing where all doors are open: %s',
    (reason) => {
      expect(heldBack({ reason }, OPEN)).toBeUndefined();
    },
  );

  it.each([
    ['kill', undefined],
    ['restore', undefined],
    ['commit', undefined],
    [
      'drift',
      {
        why: 'drift-reported',
        wayOut: 'write the live value into the spec, or run with --revert-drift',
      },
    ],
    [
      'conflict',
      {
        why: 'conflict-held',
        wayOut: 'write the live value into the spec first, or set `onConflict: apply`',
      },
    ],
    [
      'adopt',
      { why: 'adopt-needed', wayOut: 'look at the values that would go, then run with --adopt' },
    ],
    [
      'unknown',
      { why: 'adopt-needed', wayOut: 'look at the values that would go, then run with --adopt' },
    ],
  ] as const)('in a protected environment: %s', (reason, held) => {
    expect(heldBack({ reason }, CLOSED)).toEqual(held);
  });

  it('is no adoption that somebody asked for', () => {
    expect(heldBack({ reason: 'adopt' }, { ...CLOSED, adopt: true })).toBeUndefined();
  });

  it('is everything but a kill while the run is suspended', () => {
    const suspended = { ...OPEN, suspended: true };

    expect(heldBack({ reason: 'commit' }, suspended)).toEqual({
      why: 'suspended',
      wayOut: 'remove `suspend: true` from flaghoist.yaml',
    });
    expect(heldBack({ reason: 'kill' }, suspended)).toBeUndefined();
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

    expect(environmentRules(policy, strict)).toEqual(CLOSED);
    expect(environmentRules(policy, lax)).toEqual(OPEN);
  });

  it('are those of the strictest environment at workspace level', () => {
    expect(workspaceRules(aPolicy({ environments: [lax, strict] }))).toEqual(CLOSED);
    expect(workspaceRules(aPolicy({ environments: [lax] }))).toEqual(OPEN);
  });

  it('revert drift everywhere when the run is told to', () => {
    const policy = aPolicy({ environments: [strict], revertDrift: true, adopt: true });

    expect(environmentRules(policy, strict)).toEqual({ ...CLOSED, adopt: true, onDrift: 'revert' });
    expect(workspaceRules(policy)).toEqual({ ...CLOSED, adopt: true, onDrift: 'revert' });
  });
});
