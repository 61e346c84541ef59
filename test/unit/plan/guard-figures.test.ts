import { describe, expect, it } from 'vitest';
import type { Config, Guards } from '../../../src/model/desired.js';
import type { Change } from '../../../src/model/plan.js';
import type { State } from '../../../src/model/state.js';
import { guardFindings, movedShare, strictestGuards } from '../../../src/plan/guards/guards.js';
import {
  aDesired,
  anActual,
  anEnvironment,
  aPolicy,
  desiredFlag,
  desiredSegment,
  NO_STATE,
  onShare,
} from '../../support/builders.js';
import { aChange, aField, aPlan, keyChange, manyKeys } from '../../support/plan-builder.js';
import { segmentState } from '../../support/planning.js';
import { stateOf } from '../../support/state-of.js';

const flags = (count: number) =>
  manyKeys('flag', count).map((name) => desiredFlag(name, { environments: { staging: {} } }));

/** An inventory of so many flags, each with a definition in staging. */
const inventory = (count: number): State => stateOf(aDesired({ flags: flags(count) }));

interface Given {
  readonly state?: State;
  readonly guards?: Guards;
  readonly staging?: Guards;
  readonly desired?: ReturnType<typeof aDesired>;
  readonly held?: readonly string[];
  /** Names of flags that another directory declares by now. */
  readonly moved?: readonly string[];
}

function reasonOf(name: string) {
  return { why: 'still-in-use', moved: { kind: 'flag', name, environment: null } } as const;
}

/** `GUARD OBJECT-OR-PLACE: FOUND > LIMIT` of a plan with these changes; production is protected. */
function findings(changes: readonly Change[], given: Given = {}): string[] {
  const { state = NO_STATE, guards = {}, staging = {}, held = [], moved = [] } = given;
  const desired = given.desired ?? aDesired({ flags: [desiredFlag('kept')] });
  const config: Config = {
    ...desired.config,
    guards,
    environments: [
      { name: 'staging', guards: staging },
      { name: 'production', guards: {} },
    ],
  };
  const environments = [anEnvironment('staging'), anEnvironment('production', { protected: true })];
  const input = {
    desired,
    actual: anActual(),
    state,
    policy: aPolicy({
      environments,
      quarantined: new Set(held),
      held: new Map(moved.map((name) => [`flag/${name}`, reasonOf(name)])),
    }),
  };
  return guardFindings(aPlan({ changes }), input, config).map(
    ({ guard, environment, id, found, limit }) =>
      `${guard} ${id ?? environment ?? 'workspace'}: ${found} > ${limit}`,
  );
}

const deletions = (count: number, place = '@staging'): Change[] =>
  manyKeys('flag', count).map((name) => aChange(`flag/${name}${place}`, 'delete'));

const removal = (count: number): Change =>
  aChange('segment/beta@staging', 'update', { keys: keyChange([], manyKeys('user', count)) });
const holding = (count: number): State =>
  stateOf(aDesired({ segments: [desiredSegment('beta', { staging: manyKeys('user', count) })] }));

const [one] = [...inventory(1).values()];
const { workspace, ...definitionAlone } = one as never as { workspace: unknown };
const definitionsAlone: Given = {
  state: new Map(manyKeys('flag', 12).map((name) => [`flag/${name}`, definitionAlone as never])),
};
const deactivations = manyKeys('segment', 3).map((name) =>
  aChange(`segment/${name}@staging`, 'deactivate'),
);
const updates = manyKeys('other', 9).map((name) => aChange(`flag/${name}@staging`, 'update'));
const sixRemovals = [...deletions(3), ...deactivations, ...updates];
const everywhere = ['@staging', '@production', ''].flatMap((place) => deletions(3, place));
const other = aChange('segment/other@staging', 'update', {
  keys: keyChange([], manyKeys('user', 9)),
});
const activated = aChange('segment/beta@staging', 'activate');
const begunElsewhere = segmentState('beta', { production: { pending: 'create' } });
const large = holding(10_000);
const BETA = 'segment/beta@staging';
const MOST_KEYS = `maxKeyRemovals ${BETA}:`;
const KEY_SHARE = `maxKeyRemovalPercent ${BETA}:`;
const ALL_KEYS = `${KEY_SHARE} 100 > 20`;

it.each<[string, readonly Change[], Given, string?]>([
  ['five removals', [...deletions(2), ...deactivations, ...updates], {}],
  ['six removals', sixRemovals, {}, 'maxDeletes staging: 6 > 5'],
  ['nine deletions, three in each place', everywhere, {}],
  [
    'the limit of the environment',
    deletions(3),
    { guards: { maxDeletes: 9 }, staging: { maxDeletes: 2 } },
    'maxDeletes staging: 3 > 2',
  ],
  ['the limit of another place', deletions(3, ''), { staging: { maxDeletes: 2 } }],
  ['a share of fewer than ten objects', deletions(4), { state: inventory(9) }],
  ['a share of ten', deletions(4), { state: inventory(10) }, 'maxDeletePercent staging: 40 > 30'],
  ['a share of none at workspace level', deletions(5, ''), definitionsAlone],
  ['a share of definitions', deletions(5), definitionsAlone, 'maxDeletePercent staging: 42 > 30'],
  ['500 keys of a segment', [removal(500), other], { state: large }],
  ['501 keys of a segment', [removal(501), other], { state: large }, `${MOST_KEYS} 501 > 500`],
  ['a fifth of the keys of the base', [removal(8)], { state: holding(40) }],
  ['more than a fifth of them', [removal(9)], { state: holding(40) }, `${KEY_SHARE} 23 > 20`],
  ['few keys that no base has', [removal(9)], {}],
  ['keys that no base has', [removal(10)], {}, ALL_KEYS],
  ['keys begun elsewhere', [removal(10)], { state: begunElsewhere }, ALL_KEYS],
  ['no keys that change', [activated], { state: holding(40) }],
  ['a creation', [aChange('segment/beta', 'create')], { state: holding(40) }],
])('a plan is stopped by its figures or not: %s', (_, changes, given, finding) => {
  expect(findings(changes, given)).toEqual(finding === undefined ? [] : [finding]);
});

describe('a flip', () => {
  const [before, after] = [onShare(0).defaultRule, onShare(100).defaultRule];
  const most = onShare(99).defaultRule;
  const changing = (id: string, path: string, from: unknown, to: unknown): Change =>
    aChange(id, 'update', {
      fields: [aField('/trafficAllocation', 100, 50), aField(path, from, to)],
    });

  it.each<[string, Change, string?]>([
    [
      'in a protected environment',
      changing('flag/pay@production', '/defaultRule', before, after),
      'fullFlip flag/pay@production: 100 > 99',
    ],
    ['in another environment', changing('flag/pay@staging', '/defaultRule', before, after)],
    ['of a rule', changing('flag/pay@production', '/rules', before, after)],
    ['of what was made', changing('flag/new@production', '/defaultRule', undefined, after)],
    ['of less than all', changing('flag/pay@production', '/defaultRule', before, most)],
  ])('is one or not: %s', (_, change, finding) => {
    expect(findings([change])).toEqual(finding === undefined ? [] : [finding]);
  });
});

it('stand against another workspace than that of the states there are', () => {
  const input = { desired: aDesired(), actual: anActual(), state: NO_STATE, policy: aPolicy() };
  const elsewhere = [{ workspaceId: 'ws-old', objects: 13 }];

  expect(guardFindings(aPlan(), input, input.desired.config, elsewhere)).toEqual([
    { guard: 'anotherWorkspace', environment: null, workspace: 'ws-old', found: 13, limit: 0 },
  ]);
});

it.each([
  ['a ramp', onShare(10).defaultRule, onShare(25).defaultRule, 15],
  ['a ramp in the middle', three(10, 20, 70), three(20, 20, 60), 20],
])('the share that moves is exact for %s', (_, before, after, share) => {
  expect(movedShare(before, after)).toBe(share);
});

function three(...sizes: number[]) {
  return sizes.map((size, at) => ({ treatment: `t${at}`, size }));
}

describe('an empty repository', () => {
  const [flag, segment] = [desiredFlag('kept'), desiredSegment('kept', {})];
  const state = inventory(2);

  it.each<[string, Given, string?]>([
    ['over an inventory', { desired: aDesired(), state }, 'emptyRepository workspace: 2 > 0'],
    [
      'over an inventory that moved in part',
      { desired: aDesired(), state, moved: ['flag-001'] },
      'emptyRepository workspace: 1 > 0',
    ],
    ['over one that moved away', { desired: aDesired(), state, moved: ['flag-001', 'flag-002'] }],
    ['while specs are only wrong', { desired: aDesired(), state, held: ['flag/flag-001'] }],
    ['with a flag left', { desired: aDesired({ flags: [flag] }), state }],
    ['with a segment left', { desired: aDesired({ segments: [segment] }), state }],
  ])('is one or not: %s', (_, given, finding) => {
    expect(findings([], given)).toEqual(finding === undefined ? [] : [finding]);
  });
});

describe('the stricter of two configs', () => {
  const config = (guards: Guards, environments: Config['environments'] = []): Config => ({
    ...aDesired().config,
    guards,
    environments,
  });
  const LOOSE: Required<Guards> = {
    maxDeletes: 90,
    maxDeletePercent: 91,
    maxKeyRemovals: 9_000,
    maxKeyRemovalPercent: 92,
    maxShift: 93,
  };
  const STRICT: Required<Guards> = {
    maxDeletes: 1,
    maxDeletePercent: 2,
    maxKeyRemovals: 3,
    maxKeyRemovalPercent: 4,
    maxShift: 5,
  };

  it('is that of each figure, whichever side has it', () => {
    expect(strictestGuards(config(LOOSE), config(STRICT)).guards).toEqual(STRICT);
    expect(strictestGuards(config(STRICT), config(LOOSE)).guards).toEqual(STRICT);
    expect(
      strictestGuards(
        config({ ...LOOSE, maxDeletes: 1, maxKeyRemovals: 3, maxShift: 5 }),
        config({ ...LOOSE, maxDeletePercent: 2, maxKeyRemovalPercent: 4 }),
      ).guards,
    ).toEqual(STRICT);
  });

  it('is told environment by environment, and one that is new brings its own', () => {
    const now = config(LOOSE, [
      { name: 'new', guards: LOOSE },
      { name: 'staging', guards: {} },
      { name: 'production', guards: {} },
    ]);
    const before = config(LOOSE, [
      { name: 'production', guards: STRICT },
      { name: 'staging', guards: { maxDeletes: 7 } },
    ]);

    expect(strictestGuards(now, before).environments).toEqual([
      { name: 'new', guards: LOOSE },
      { name: 'staging', guards: { ...LOOSE, maxDeletes: 7 } },
      { name: 'production', guards: STRICT },
    ]);
  });
});
