import { describe, expect, it } from 'vitest';
import { KINDS } from '../../../../src/model/ref.js';
import { declarationsIn, desiredInScope, plannedKind } from '../../../../src/plan/objects/kinds.js';
import { wholeScopeOf } from '../../../../src/plan/scope.js';
import { aDesired, aPolicy, desiredFlag, desiredSegment } from '../../../support/builders.js';

const IDENTITIES = {
  location: { file: 'identities/user.yaml', line: 1, column: 1 },
  trafficType: 'user',
  environment: 'staging',
  keys: new Map(),
};

const DESIRED = aDesired({
  flags: [desiredFlag('pay'), desiredFlag('banner')],
  segments: [desiredSegment('beta', {}), desiredSegment('staff', {})],
  identities: [IDENTITIES],
});

const namesOf = (objects: readonly { readonly name: string }[]): string[] =>
  objects.map(({ name }) => name).sort();

describe('what a run looks at of the specs', () => {
  it('is what its filter names, and all identities, which nothing is asked about', () => {
    const policy = aPolicy({ only: new Set(['flag/pay', 'segment/staff']) });
    const narrowed = desiredInScope(DESIRED, policy);

    expect([...narrowed.flags.keys()]).toEqual(['pay']);
    expect([...narrowed.segments.keys()]).toEqual(['staff']);
    expect(narrowed.identities).toEqual([IDENTITIES]);
    expect(narrowed.config).toBe(DESIRED.config);
  });

  it('is nothing of any kind that the service shows, where the filter names nothing', () => {
    const narrowed = desiredInScope(DESIRED, aPolicy({ only: new Set() }));

    for (const kind of KINDS) {
      const { observed, declarations } = plannedKind(kind);
      expect(declarations(DESIRED), kind).not.toEqual([]);
      if (observed) expect(declarations(narrowed), kind).toEqual([]);
    }
  });
});

it('counts the objects of every kind among what the specs declare', () => {
  expect(namesOf(declarationsIn(DESIRED))).toEqual(['banner', 'beta', 'pay', 'staff', 'user']);
});

it('looks by names alone at everything that the service has of an object', () => {
  const names = new Map([
    ['flag' as const, ['pay']],
    ['segment' as const, ['beta']],
  ]);

  expect(wholeScopeOf(names, ['staging'])).toEqual({
    flags: new Map([['pay', { known: new Set(['staging']), environments: new Set(['staging']) }]]),
    segments: new Map([['beta', { environments: new Map([['staging', 'keys']]) }]]),
    users: false,
    whole: true,
    flagsKnown: 0,
  });
});
