import { describe, expect, it } from 'vitest';
import type { DesiredFlag } from '../../../../src/model/desired.js';
import type { FlagFields } from '../../../../src/model/flag/fields.js';
import type { Definition } from '../../../../src/model/flag/flag.js';
import { flagEntry, type Base, type State } from '../../../../src/model/state.js';
import { stateAfterVerify } from '../../../../src/plan/bases/next-state.js';
import { planChanges } from '../../../../src/plan/plan.js';
import {
  aDesired,
  anActual,
  anEnvironment,
  aPolicy,
  DEFINITION,
  desiredFlag,
  liveFlag,
  onShare,
} from '../../../support/builders.js';
import { stateOf } from '../../../support/state-of.js';

const FIRST = 'a'.repeat(40);
const SECOND = 'b'.repeat(40);
const ID = 'flag/pay@production';
const policy = aPolicy({
  environments: [anEnvironment('production', { onDrift: 'report', onConflict: 'hold' })],
});

function specs(production: Definition) {
  return aDesired({ flags: [desiredFlag('pay', { environments: { production } })] });
}

/** One look: what a run that saw this plans, and what it remembers. */
function look(said: Definition, live: Definition, state: State, head = SECOND) {
  const actual = anActual({ flags: [liveFlag('pay', { production: live })] });
  const input = { desired: specs(said), actual, state, policy };
  const plan = planChanges(input);
  const next = stateAfterVerify(input, new Set(plan.unchanged), head);
  return { plan, next, base: productionBase(next) };
}

function productionBase(state: State): Base<Definition> | undefined {
  return flagEntry(state, 'pay')?.environments['env-production'];
}

/** The fields of a definition that `specs` manages, where it says nothing. */
const { killed: _, baselineTreatment: __, targets: ___, ...FIELDS } = DEFINITION;

const baseOf = (said: Definition, more: Partial<Base<Definition>> = {}): State => {
  const environments = {
    'env-production': { spec: { ...FIELDS, ...said }, commit: FIRST, ...more },
  };
  return new Map([['flag/pay', { kind: 'flag', name: 'pay', environments }]]);
};

const ramped = (percent: number, rest: Definition = {}): Definition => ({
  ...onShare(percent),
  ...rest,
});

describe('the base of a field', () => {
  const before = stateOf(specs(ramped(10)), policy);

  it.each([10, 30])('makes a live rollback to %i % drift after it was applied', (percent) => {
    const held = { trafficAllocation: 40 };
    const { next } = look(ramped(50), ramped(50, held), before);

    const { plan } = look(ramped(50), ramped(percent, held), next);

    expect(plan.changes).toEqual([]);
    expect(plan.withheld).toMatchObject([
      {
        id: ID,
        why: 'drift-reported',
        fields: [
          { path: '/trafficAllocation', reason: 'drift' },
          { path: '/defaultRule', reason: 'drift' },
        ],
      },
    ]);
  });

  it('keeps its commit while its value stays, and is one with the rest once all is equal', () => {
    const { next } = look(ramped(50), ramped(50, { trafficAllocation: 40 }), before);
    const third = 'c'.repeat(40);

    const again = look(ramped(50), ramped(50, { trafficAllocation: 40 }), next, third);
    const equal = look(ramped(50), ramped(50), again.next, third);

    expect(again.base).toEqual(productionBase(next));
    expect(equal.base).toEqual({ spec: again.base?.spec, commit: third });
  });

  const both = { on: ['a'], off: ['b'] };
  const half = { trafficAllocation: 40 };
  const oneOff = { targets: { on: ['a'], off: ['x'] }, ...half };
  const untargeted = { unsaid: ['killed', 'baselineTreatment', 'targets'] } as Definition;
  const BARE = { spec: FIELDS, commit: FIRST };
  const KILLED = { spec: { ...FIELDS, killed: true }, commit: FIRST, killedAsOf: '1' };
  const killed = { killed: true, ...half };
  const [BY_LIST, SEEN] = [{ killListed: true }, { liveKillSeenAt: SECOND, killedAsOf: '1' }];
  const listed = baseOf({ killed: true }, BY_LIST);
  const request = {
    ...({ id: 'cr-1', is: 'open', operation: 'UPDATE', by: null } as const),
    ...{ since: null, approvers: [], mark: { wanted: '0'.repeat(16), content: '1'.repeat(16) } },
  };

  it.each<[string, Definition, Definition, State, Partial<Base<Definition>>]>([
    ['is unmanaged where a target never was equal', { targets: both }, oneOff, baseOf({}), BARE],
    [
      'has no empty list of targets that the specs do not name',
      { targets: { on: ['a'] } },
      { targets: { on: ['a'] }, ...half },
      baseOf({ targets: { on: ['a'] } }),
      { spec: { ...FIELDS, targets: { on: ['a'] } }, commit: FIRST },
    ],
    [
      'has an empty list of targets, where the new ones are not live',
      { targets: both },
      { targets: { on: ['a'], off: ['x'] } },
      baseOf({ targets: { on: ['a'] } }),
      { spec: { ...FIELDS, targets: { on: ['a'], off: [] } }, commit: FIRST },
    ],
    [
      'keeps the targets that a change request of ours did not set',
      { targets: { on: ['c'] } },
      oneOff,
      baseOf(
        { targets: both },
        { request: { ...request, asked: { ...FIELDS, targets: { on: ['a'] } } } },
      ),
      {
        spec: { ...FIELDS, targets: both },
        commit: FIRST,
        request: { ...request, asked: { ...FIELDS, targets: { on: ['a'] } } },
      },
    ],
    ['knows of no kill by hand', untargeted, killed, baseOf({}), { ...BARE, ...SEEN }],
    ['knows that the list ordered a kill', untargeted, killed, listed, { ...KILLED, ...BY_LIST }],
    ['forgets the list after the kill', untargeted, { killed: false, ...half }, listed, BARE],
    ['forgets the list as the specs kill', { ...untargeted, killed: true }, killed, listed, KILLED],
    [
      'counts what a change request of ours set as found equal, at the commit of the base',
      { ...untargeted, ...onShare(30), trafficAllocation: 90 },
      { ...onShare(20), trafficAllocation: 40 },
      baseOf({}, { request: { ...request, asked: { ...FIELDS, ...onShare(20) } } }),
      {
        spec: { ...FIELDS, ...onShare(20), trafficAllocation: 100 },
        commit: FIRST,
        request: { ...request, asked: { ...FIELDS, ...onShare(20) } },
      },
    ],
  ])('%s', (_, said, live, state, base) => {
    expect(look(said, live, state).base).toStrictEqual(base);
  });

  it('leaves the base with the field: naming it again is a change in git', () => {
    const unsaid = { unsaid: ['trafficAllocation', 'killed'] } as Definition;
    const { base } = look({ ...ramped(10), ...unsaid }, ramped(20), before);

    expect(base?.spec).toMatchObject(onShare(10));
    expect(base?.spec).not.toHaveProperty('trafficAllocation');
  });
});

describe('the base of a flag at workspace level', () => {
  const flag = (fields: FlagFields, ownershipTag?: string, more: Partial<DesiredFlag> = {}) => ({
    ...desiredFlag('pay', { fields }),
    ...(ownershipTag !== undefined && { ownershipTag }),
    ...more,
  });
  const described = (description: string) => flag({ description, tags: ['a'] });
  const [one, two] = [described('one'), described('two')];
  const tagged = (ownershipTag?: string, description = 'one') =>
    flag({ description }, ownershipTag);
  const left = flag({ description: 'two' }, undefined, { creation: { tags: ['git'] } });
  const fields = (description: string) => ({
    ...{ spec: { trafficType: 'user', fields: { description } }, commit: FIRST },
    fields: { '/description': SECOND },
  });
  const owned = (description: string, ownershipTag: string) => {
    const base = fields(description);
    return { ...base, spec: { ...base.spec, ownershipTag } };
  };

  it.each<[string, DesiredFlag, DesiredFlag, string[] | null, object | null]>([
    ['waits for a tag that is not live', tagged('git', 'two'), tagged(), ['z'], fields('two')],
    ['keeps a live tag', tagged(undefined, 'two'), tagged('git'), ['git'], owned('two', 'git')],
    ['loses a tag that is gone', tagged(undefined, 'two'), tagged('git'), ['z'], fields('two')],
    ['leaves all tags to people', left, tagged('git'), ['git'], fields('two')],
    ['stays beside another traffic type', { ...two, trafficType: 'account' }, one, ['z'], null],
    ['stays where no answer shows the flag', two, one, null, null],
  ])('%s', (_, said, before, tags, expected) => {
    const live = { description: 'two', tags: (tags ?? []).map((name) => ({ name })) };
    const [name, actual] = liveFlag('pay', { production: {} }, live);
    const { flag: __, ...unseen } = actual;
    const input = {
      desired: aDesired({ flags: [said] }),
      actual: anActual({ flags: [[name, tags ? actual : unseen]] }),
      state: stateOf(aDesired({ flags: [before] }), policy),
      policy,
    };
    const base = (state: State) => flagEntry(state, 'pay')?.workspace;

    expect(base(stateAfterVerify(input, new Set(), SECOND))).toStrictEqual(
      expected ?? base(input.state),
    );
  });
});
