import { describe, expect, it } from 'vitest';
import type { BoundDesired } from '../../../../src/model/bound-desired.js';
import type { Definition } from '../../../../src/model/flag/flag.js';
import type { Kind } from '../../../../src/model/ref.js';
import { flagEntry, type Base, type State } from '../../../../src/model/state.js';
import type { PlanPolicy } from '../../../../src/plan/policy.js';
import {
  comparedWithBases,
  fieldFormsOf,
  isAsWritten,
  isAtBase,
  type ComparedBases,
} from '../../../../src/plan/bases/compare.js';
import {
  aDesired,
  anEnvironment,
  aPolicy,
  desiredFlag,
  desiredIdentities,
  desiredKill,
  onShare,
} from '../../../support/builders.js';
import { stateOf } from '../../../support/state-of.js';

const policy = aPolicy({ environments: [anEnvironment('staging'), anEnvironment('production')] });

function flagAt(name: string, percent: number) {
  return desiredFlag(name, { environments: { staging: onShare(percent) } });
}

interface Step {
  readonly desired: BoundDesired;
  readonly state: State;
  readonly policy: PlanPolicy;
}

/** Away after each step, going on from the step before; and that it is what a comparison of all gives. */
function awayAfter(steps: readonly Step[]): string[][] {
  let last: ComparedBases | null = null;
  return steps.map((step) => {
    last = comparedWithBases(step, last);
    expect(last.away).toEqual(comparedWithBases(step, null).away);
    return [...last.away].toSorted();
  });
}

describe('what is away from its base', () => {
  const kept = flagAt('kept', 10);
  const first = aDesired({ flags: [kept, flagAt('pay', 10)], segments: [], kills: [] });
  const state = stateOf(first, policy);
  const start = { desired: first, state, policy };

  it('is a flag that was killed by the list alone, and no longer when it left the list', () => {
    const killed = { ...first, kills: [desiredKill('kept', 'staging')] };

    expect(awayAfter([start, { ...start, desired: killed }, start])).toEqual([
      [],
      ['flag/kept'],
      [],
    ]);
  });

  it('is a flag that left an environment, and no identities, which every run compares', () => {
    const bare = { ...first, flags: new Map([['kept', desiredFlag('kept')]]) };
    const identities = new Map([['user', desiredIdentities({ staging: { 'u-1': {} } })]]);

    expect(awayAfter([start, { ...start, desired: { ...bare, identities } }])).toEqual([
      [],
      ['flag/kept'],
    ]);
  });

  it('is another question where other environments are selected', () => {
    const [staging, production] = policy.environments;
    if (!staging || !production) throw new Error('no environments');
    const changed = new Map([...first.flags, ['pay', flagAt('pay', 20)]] as const);
    const desired = { ...first, flags: changed };
    const filtered = { ...policy, environments: [{ ...staging, selected: false }, production] };

    expect(
      awayAfter([
        { ...start, desired },
        { ...start, desired, policy: filtered },
      ]),
    ).toEqual([['flag/pay'], []]);
  });
});

it('is only the kill that the specs say of a listed flag that they do not have, and nothing of a segment', () => {
  const kills = [desiredKill('pay', 'staging')];
  const forms = (kind: Kind, environment: string | null) =>
    fieldFormsOf(aDesired({ kills }), { kind, name: 'pay', environment });

  expect(forms('flag', 'staging')).toEqual(new Map([['/killed', 'true']]));
  expect([forms('flag', null), forms('segment', 'staging')]).toEqual([undefined, undefined]);
});

describe('a definition', () => {
  const desired = aDesired({ flags: [flagAt('pay', 10)] });
  const spec = flagEntry(stateOf(desired), 'pay')?.environments['env-staging']?.spec ?? {};
  const other = { ...spec, trafficAllocation: 1 };
  const place = anEnvironment('staging');
  const input = (base: Partial<Base<Definition>> | undefined) => {
    const bases = base && { 'env-staging': { commit: null, ...base } };
    const workspace = { commit: null, spec: { trafficType: 'user', fields: {} } };
    const entry = { kind: 'flag', name: 'pay', workspace, environments: { ...bases } } as const;
    return { desired, policy, state: new Map([['flag/pay', entry]]) };
  };

  it.each<[string, Partial<Base<Definition>> | undefined, boolean, boolean]>([
    ['found equal', { spec }, true, true],
    ['found as git wanted it before', { spec: other }, false, false],
    ['created as git wants it', { pending: 'create', created: spec }, true, false],
    ['that is to be deleted', { pending: 'delete', spec }, false, false],
    ['whose creation was begun by several requests', { pending: 'create', spec }, false, false],
    ['never found', undefined, false, false],
  ])('%s: it is as written, and it is at its base', (_, base, isWritten, isBase) => {
    expect(isAsWritten('pay', place, input(base))).toBe(isWritten);
    expect(isAtBase('flag', 'pay', input(base))).toBe(isBase);
  });

  it('of which git knows nothing is neither', () => {
    const left = { ...input({ spec }), desired: aDesired() };

    expect(isAsWritten('pay', place, left)).toBe(false);
    expect(isAtBase('flag', 'pay', left)).toBe(false);
    expect(isAsWritten('pay', place, { desired, state: new Map() })).toBe(false);
    expect(isAsWritten('pay', place, { desired: aDesired(), state: new Map() })).toBe(false);
    expect(isAtBase('flag', 'pay', { desired, policy, state: new Map() })).toBe(false);
    const identities = new Map([['user', desiredIdentities({})]]);
    const known = { ...input({ spec }), desired: { ...desired, identities } };
    expect(isAtBase('identities', 'user', known)).toBe(false);
  });
});
