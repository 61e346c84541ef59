import { describe, expect, it } from 'vitest';
import { SUSPENDED_BY_CONFIG, type Progress } from '../../../src/model/run.js';
import type { DesiredSegment } from '../../../src/model/desired.js';
import type { BoundDesired } from '../../../src/model/bound-desired.js';
import type { Scope } from '../../../src/model/actual.js';
import type { State } from '../../../src/model/state.js';
import type { PlanPolicy } from '../../../src/plan/policy.js';
import { objectsSeen, scopeOf, wholeScopeOf, type KeyCounting } from '../../../src/plan/scope.js';
import {
  aDesired,
  anEnvironment,
  aPolicy,
  dependingOn,
  desiredFlag,
  desiredKill,
  desiredSegment,
  inSegment,
  NO_STATE,
} from '../../support/builders.js';
import { manyKeys } from '../../support/plan-builder.js';
import { flagState, segmentState } from '../../support/planning.js';
import { stateOf } from '../../support/state-of.js';

const ALL = ['staging', 'production', 'elsewhere'];
const PRUNE = { prune: true };
const STAGING_ONLY = [anEnvironment('staging'), anEnvironment('production', { selected: false })];

function scope(
  desired: BoundDesired,
  state: State = NO_STATE,
  partial: Partial<PlanPolicy> = {},
  counting: KeyCounting = 'never',
): Scope {
  const policy = aPolicy(partial);
  return scopeOf({ desired, state, policy, allEnvironments: ALL, counting, whole: true });
}

function environmentsOf(of: Scope, flag: string): string[] {
  return [...(of.flags.get(flag)?.environments ?? [])];
}

const pay = desiredFlag('pay', { environments: { staging: {}, production: {} } });
const beta = desiredSegment('beta', { staging: ['a'], production: ['a'] });

describe('flags that are looked at', () => {
  const ours = stateOf(aDesired({ flags: [pay] }));

  it('are those of the specs, in the environments that they name', () => {
    const found = scope(aDesired({ flags: [pay, desiredFlag('bare')] }), NO_STATE, PRUNE);

    expect(found.flags).toEqual(
      new Map([
        ['pay', { known: new Set(), environments: new Set(['staging', 'production']) }],
        ['bare', { known: new Set(), environments: new Set() }],
      ]),
    );
    expect(found).toMatchObject({ users: false, flagsKnown: 2 });
  });

  it('are doubted where a list lacks them only in environments where a run has found them', () => {
    const desired = aDesired({ flags: [pay] });
    const workspace = { commit: null, pending: 'create' };
    const bases = { staging: { spec: {} }, production: { pending: 'create' } } as const;

    const found = scope(desired, flagState('pay', bases, { workspace }));

    expect(found.flags.get('pay')?.known).toEqual(new Set(['staging']));
  });

  it('are not looked at in environments that are filtered out, though they were ours there', () => {
    const desired = aDesired({ flags: [pay] });
    const found = scope(desired, stateOf(desired), { environments: STAGING_ONLY });

    expect(environmentsOf(found, 'pay')).toEqual(['staging']);
    expect(found.users).toBe(false);
  });

  it('are looked at where they were ours and the specs no longer name them, with all that may use them', () => {
    const narrowed = desiredFlag('pay', { environments: { staging: {} } });
    const found = scope(aDesired({ flags: [desiredFlag('cart'), narrowed] }), ours, PRUNE);

    expect(environmentsOf(found, 'pay')).toEqual(['staging', 'production']);
    expect(found.users).toBe(true);
    const there = scope(aDesired({ flags: [narrowed] }), flagState('pay', { production: {} }));
    expect(environmentsOf(there, 'pay')).toEqual(['staging', 'production']);
  });

  it('are looked at everywhere once the specs no longer have them', () => {
    const found = scope(aDesired(), ours, PRUNE);

    expect(found.flags).toEqual(
      new Map([['pay', { known: new Set(ALL), environments: new Set(ALL) }]]),
    );
    expect(found.users).toBe(true);
  });

  it.each([{ prune: false }, { prune: true, suspended: SUSPENDED_BY_CONFIG }])(
    'are no reason to look for what uses them where no removal is made: %o',
    (policy) => {
      expect(scope(aDesired(), ours, policy).users).toBe(false);
    },
  );

  it('are those that the filter names, of the specs and of the inventory', () => {
    const desired = aDesired({ flags: [pay, desiredFlag('cart')] });
    const state = stateOf(aDesired({ flags: [desiredFlag('old'), desiredFlag('older')] }));

    const found = scope(desired, state, { only: new Set(['flag/cart']) });

    expect([...found.flags.keys()]).toEqual(['cart']);
    expect(found.flagsKnown).toBe(2);
  });
});

describe('flags that are looked at for a kill', () => {
  it('are left alone where the config does not have the environment', () => {
    const kills = [desiredKill('pay', 'elsewhere')];

    expect(scope(aDesired({ kills })).flags.size).toBe(0);
  });

  it('are those whose kill git takes back as well', () => {
    const ref = { kind: 'flag', name: 'pay', environment: 'production' } as const;
    const restorable = new Map([['flag/pay@production', ref]]);

    expect(environmentsOf(scope(aDesired(), NO_STATE, { restorable }), 'pay')).toEqual([
      'production',
    ]);
  });
});

describe('segments that are looked at', () => {
  it('are those of the specs with their keys, in the selected environments', () => {
    const found = scope(aDesired({ segments: [beta] }), NO_STATE, { environments: STAGING_ONLY });

    expect(found.segments).toEqual(
      new Map([['beta', { environments: new Map([['staging', 'keys']]) }]]),
    );
  });

  it.each([
    ['keys that are not managed', desiredSegment('beta', { staging: undefined })],
    ['keys of others', desiredSegment('beta', { staging: ['a'] }, 'external')],
  ])('are asked for their activation only: %s', (_, segment) => {
    expect(lookAt(scope(aDesired({ segments: [segment] })))).toBe('activation');
  });

  const many = (count: number) =>
    desiredSegment('beta', { staging: manyKeys('user', count), production: ['a'] });

  it.each<[string, DesiredSegment, KeyCounting, boolean, DesiredSegment?]>([
    ['neither git nor anything else has changed', beta, 'always', true],
    ['as many as 20 requests list', many(2_000), 'large', false],
    ['more than 20 requests list', many(2_001), 'large', true],
    ['counts are not to be trusted', many(2_001), 'never', false],
    ['git has changed', desiredSegment('beta', { staging: ['b'] }), 'always', false, beta],
    ['others add', desiredSegment('beta', { staging: ['a'] }, 'add-only'), 'always', false, beta],
  ])('are counted or listed: %s', (_, segment, counting, isCounted, before = segment) => {
    const state = stateOf(aDesired({ segments: [before] }));
    const found = lookAt(scope(aDesired({ segments: [segment] }), state, {}, counting));

    expect(found).toEqual(isCounted ? segment.environments.get('staging')?.keys?.digest : 'keys');
  });

  it.each<[string, State]>([
    ['are listed where they were never ours', NO_STATE],
    ['are listed where a run began them', segmentState('beta', { staging: { pending: 'create' } })],
  ])('%s', (_, state) => {
    expect(lookAt(scope(aDesired({ segments: [beta] }), state, {}, 'always'))).toBe('keys');
  });

  it('are listed while they are out of sync, and those of other segments counted', () => {
    const other = desiredSegment('other', { staging: ['a'] });
    const desired = aDesired({ segments: [beta, other] });
    const about = { desired, state: stateOf(desired), policy: aPolicy(), allEnvironments: ALL };
    const open = new Set(['segment/beta']);
    const found = scopeOf({ ...about, counting: 'always', open, whole: false }).segments;

    expect(found.get('beta')?.environments.get('staging')).toBe('keys');
    expect(found.get('other')?.environments.get('staging')).not.toBe('keys');
  });

  it('are listed where they were ours and the specs no longer name them', () => {
    const narrowed = desiredSegment('beta', { staging: undefined });
    const state = stateOf(aDesired({ segments: [beta] }));
    const found = scope(aDesired({ segments: [narrowed] }), state, PRUNE);

    expect(found.segments.get('beta')?.environments).toEqual(
      new Map([
        ['staging', 'activation'],
        ['production', 'keys'],
      ]),
    );
    expect(found.users).toBe(true);
  });

  it('are listed everywhere once the specs no longer have them', () => {
    const found = scope(aDesired(), stateOf(aDesired({ segments: [beta] })), PRUNE);

    expect(found.segments.get('beta')?.environments).toEqual(
      new Map(ALL.map((environment) => [environment, 'keys'])),
    );
    expect(found.users).toBe(true);
  });
});

describe('what changed rules name outside the filter of a run', () => {
  const uses = { rules: [...inSegment('beta').rules, ...dependingOn('low').rules] };
  const flags = [
    desiredFlag('pay', { environments: { staging: uses, production: uses } }),
    desiredFlag('low', { environments: { staging: {} } }),
  ];
  const desired = aDesired({ flags, segments: [beta] });
  const only = new Set(['flag/pay']);
  const state = new Map(
    [...stateOf(aDesired({ flags: [desiredFlag('low')] }))].map(([key, entry]) => [
      key,
      { ...entry, id: 'id-low' } as never,
    ]),
  );
  const both = new Set(['staging', 'production']);
  const low = { id: 'id-low', known: both, environments: both };
  const inProduction = { known: new Set(['production']), environments: new Set(['production']) };
  const lowThere = { low: { id: undefined, ...inProduction } };
  const used = {
    beta: { environments: new Map([['production', 'activation']]), placesAlone: true },
  };
  const before = (production: object) =>
    flagState('pay', { staging: { spec: uses }, ...production });
  const begun = before({ production: { pending: 'create' } });
  const inBoth = (detail: string) => new Map([...both].map((name) => [name, detail]));
  const vip = aDesired({
    flags: [desiredFlag('pay', { environments: { staging: inSegment('vip') } })],
  });

  it.each<[string, BoundDesired, State, Partial<PlanPolicy>, object, object]>([
    [
      'must be there, in each environment of the rules',
      desired,
      state,
      {},
      { low },
      { beta: { environments: inBoth('activation'), placesAlone: true } },
    ],
    [
      'must be there in selected environments',
      desired,
      NO_STATE,
      { environments: STAGING_ONLY },
      { low: { id: undefined, known: new Set(['staging']), environments: new Set(['staging']) } },
      { beta: { environments: new Map([['staging', 'activation']]), placesAlone: true } },
    ],
    [
      'is looked at in full where the filter names it',
      desired,
      state,
      { only: new Set([...only, 'segment/beta']) },
      { low },
      { beta: { environments: inBoth('keys') } },
    ],
    ['must be there where the flag was not yet', desired, before({}), {}, lowThere, used],
    ['must be there where the flag was begun', desired, begun, {}, lowThere, used],
    ['is nothing where the rules did not change', desired, stateOf(desired), {}, {}, {}],
    ['is nothing that the specs do not declare', vip, NO_STATE, {}, {}, {}],
    ['was looked at by the observation before', desired, NO_STATE, { held: new Map() }, {}, {}],
  ])('%s', (_, desired, state, policy, flags, segments) => {
    const found = scope(desired, state, { only, ...policy });
    const others = [...found.flags].filter(([name]) => name !== 'pay');

    expect(Object.fromEntries(others)).toStrictEqual(flags);
    expect(Object.fromEntries(found.segments)).toStrictEqual(segments);
  });
});

it('is counted as it is read, by flags and segments in each environment, and beyond what was to be read', () => {
  const names = new Map([
    ['flag', ['pay', 'cart']],
    ['segment', ['beta']],
  ] as const);
  const counts: string[] = [];
  const count = (done: number, total: number) => void counts.push(`${done} of ${total}`);

  const seen = objectsSeen(wholeScopeOf(names, ['staging', 'production']), { count } as Progress);
  [4, 2, 3].forEach(seen);
  expect(counts).toEqual(['0 of 6', '4 of 6', '6 of 6', '9 of 9']);
  const nothing = wholeScopeOf(new Map(), ['staging']);
  objectsSeen(nothing, undefined)(1);
  expect(nothing).toMatchObject({ users: false, whole: true, flagsKnown: 0 });
});

function lookAt({ segments }: Scope): unknown {
  return segments.get('beta')?.environments.get('staging');
}
