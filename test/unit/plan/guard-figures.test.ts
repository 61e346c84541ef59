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
}

/** `GUARD OBJECT-OR-PLACE: FOUND > LIMIT` of a plan with these changes; production is protected. */
function findings(changes: readonly Change[], given: Given = {}): string[] {
  const { state = NO_STATE, guards = {}, staging = {}, held = [] } = given;
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
    policy: aPolicy({ environments, quarantined: new Set(held) }),
  };
  return guardFindings(aPlan({ changes }), input, config).map(
    ({ guard, environment, id, found, limit }) =>
      `${guard} ${id ?? environment ?? 'workspace'}: ${found} > ${limit}`,
  );
}

const deletions = (count: number, place = '@staging'): Change[] =>
  manyKeys('flag', count).map((name) => aChange(`flag/${name}${place}`, 'delete'));

describe('a number of deletions', () => {
  it('counts deletions and deactivations, and nothing else', () => {
    const deactivations = manyKeys('segment', 3).map((name) =>
      aChange(`segment/${name}@staging`, 'deactivate'),
    );
    const others = manyKeys('other', 9).map((name) => aChange(`flag/${name}@staging`, 'update'));

    expect(findings([...deletions(2), ...deactivations, ...others])).toEqual([]);
    expect(findings([...deletions(3), ...deactivations, ...others])).toEqual([
      'maxDeletes staging: 6 > 5',
    ]);
  });

  it('is counted in each place by itself', () => {
    const six = [...deletions(3), ...deletions(3, '@production'), ...deletions(3, '')];

    expect(findings(six)).toEqual([]);
  });

  it('has the limit of its environment where that has one', () => {
    expect(
      findings(deletions(3), { guards: { maxDeletes: 9 }, staging: { maxDeletes: 2 } }),
    ).toEqual(['maxDeletes staging: 3 > 2']);
    expect(findings(deletions(3, ''), { staging: { maxDeletes: 2 } })).toEqual([]);
  });
});

describe('a share of deletions', () => {
  it('says nothing of fewer than ten objects', () => {
    expect(findings(deletions(4), { state: inventory(9) })).toEqual([]);
    expect(findings(deletions(4), { state: inventory(10) })).toEqual([
      'maxDeletePercent staging: 40 > 30',
    ]);
  });

  it('is of what is ours in that place', () => {
    const bare = manyKeys('bare', 8).map((name) => desiredFlag(name));
    const state = stateOf(aDesired({ flags: [...flags(4), ...bare] }));
    const [only] = [...inventory(1).values()];
    const { workspace, ...withoutLevel } = only as never as { workspace: unknown };
    const half: State = new Map(
      manyKeys('flag', 12).map((name) => [`flag/${name}`, withoutLevel as never]),
    );

    expect(findings(deletions(4), { state })).toEqual([]);
    expect(findings(deletions(5, ''), { state })).toEqual(['maxDeletePercent workspace: 42 > 30']);
    expect(findings(deletions(5, ''), { state: half })).toEqual([]);
    expect(findings(deletions(5), { state: half })).toEqual(['maxDeletePercent staging: 42 > 30']);
  });
});

describe('removals of keys', () => {
  const removal = (count: number, place = '@staging'): Change =>
    aChange(`segment/beta${place}`, 'update', { keys: keyChange([], manyKeys('user', count)) });
  const holding = (keys: string[] | undefined): State =>
    stateOf(aDesired({ segments: [desiredSegment('beta', { staging: keys })] }));

  it('are counted segment by segment', () => {
    const state = holding(manyKeys('user', 10_000));
    const other = aChange('segment/other@staging', 'update', {
      keys: keyChange([], manyKeys('user', 9)),
    });

    expect(findings([removal(500), other], { state })).toEqual([]);
    expect(findings([removal(501), other], { state })).toEqual([
      'maxKeyRemovals segment/beta@staging: 501 > 500',
    ]);
  });

  it('are a share of the keys that the base has', () => {
    const state = holding(manyKeys('user', 40));

    expect(findings([removal(8)], { state })).toEqual([]);
    expect(findings([removal(9)], { state })).toEqual([
      'maxKeyRemovalPercent segment/beta@staging: 23 > 20',
    ]);
  });

  it('are a share of themselves where no base tells', () => {
    const all = ['maxKeyRemovalPercent segment/beta@staging: 100 > 20'];

    expect(findings([removal(9)])).toEqual([]);
    expect(findings([removal(10)])).toEqual(all);
    expect(findings([removal(10)], { state: holding(undefined) })).toEqual(all);
    expect(findings([removal(10)], { state: pendingIn('env-staging') })).toEqual(all);
    expect(findings([removal(10)], { state: pendingIn('env-production') })).toEqual(all);
  });

  it('are none where no keys change', () => {
    const state = holding(manyKeys('user', 40));

    expect(findings([aChange('segment/beta@staging', 'activate')], { state })).toEqual([]);
    expect(findings([aChange('segment/beta@staging', 'activate')])).toEqual([]);
    expect(findings([aChange('segment/beta', 'create')], { state })).toEqual([]);
  });
});

/** A segment of which only an activation in this environment was begun. */
function pendingIn(environment: string): State {
  const environments = { [environment]: { commit: null, pending: 'create' as const } };
  return new Map([['segment/beta', { kind: 'segment', name: 'beta', environments }]]);
}

describe('a flip', () => {
  const flip = (id: string, path = '/defaultRule'): Change =>
    aChange(id, 'update', {
      fields: [
        aField('/trafficAllocation', 100, 50),
        aField(path, onShare(0).defaultRule, onShare(100).defaultRule),
      ],
    });

  it('is told in a protected environment only', () => {
    expect(findings([flip('flag/pay@production')])).toEqual([
      'fullFlip flag/pay@production: 100 > 99',
    ]);
    expect(findings([flip('flag/pay@staging')])).toEqual([]);
  });

  it('is one of the default rule, of all the traffic, and of what was there before', () => {
    const [before, after] = [onShare(0).defaultRule, onShare(100).defaultRule];
    const made = aChange('flag/new@production', 'create', {
      fields: [aField('/defaultRule', undefined, after)],
    });
    const gone = aChange('flag/old@production', 'delete', {
      fields: [aField('/defaultRule', before, undefined)],
    });
    const ramp = aChange('flag/pay@production', 'update', {
      fields: [aField('/defaultRule', before, onShare(99).defaultRule)],
    });

    expect(findings([flip('flag/pay@production', '/rules'), made, gone, ramp])).toEqual([]);
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
  ['swapped buckets', onShare(10).defaultRule, [...onShare(10).defaultRule].reverse(), 20],
  ['a ramp in the middle', three(10, 20, 70), three(20, 20, 60), 20],
])('the share that moves is exact for %s', (_, before, after, share) => {
  expect(movedShare(before, after)).toBe(share);
});

function three(...sizes: number[]) {
  return sizes.map((size, at) => ({ treatment: `t${at}`, size }));
}

describe('an empty repository', () => {
  it('is one without flags and segments over an inventory that has some', () => {
    const state = inventory(2);

    expect(findings([], { desired: aDesired(), state })).toEqual([
      'emptyRepository workspace: 2 > 0',
    ]);
    expect(findings([], { desired: aDesired(), state: NO_STATE })).toEqual([]);
  });

  it('is none while the specs of something are only wrong', () => {
    const given = { desired: aDesired(), state: inventory(2), held: ['flag/flag-001'] };

    expect(findings([], given)).toEqual([]);
  });

  it('is none with a flag or a segment left, or with one of each', () => {
    const state = inventory(2);
    const [flag, segment] = [desiredFlag('kept'), desiredSegment('kept', {})];

    expect(findings([], { desired: aDesired({ flags: [flag] }), state })).toEqual([]);
    expect(findings([], { desired: aDesired({ segments: [segment] }), state })).toEqual([]);
    expect(
      findings([], { desired: aDesired({ flags: [flag], segments: [segment] }), state }),
    ).toEqual([]);
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

  it('has the defaults for what neither says, and an environment over the top of its config', () => {
    const production = (guards: Guards): Config['environments'] => [{ name: 'production', guards }];
    const strict = strictestGuards(
      config({}, production({ maxDeletes: 50 })),
      config({ maxDeletes: 10 }, production({ maxDeletes: 20 })),
    );

    expect(strict.guards).toMatchObject({ maxDeletes: 5, maxDeletePercent: 30 });
    expect(strict.environments[0]?.guards).toMatchObject({ maxDeletes: 20 });
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
