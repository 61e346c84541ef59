import { describe, expect, it } from 'vitest';
import { keyOf, type Kind, type ObjectId } from '../../../../src/model/ref.js';
import type { State } from '../../../../src/model/state.js';
import { fieldFormsOf, fingerprintOf } from '../../../../src/plan/bases/compare.js';
import {
  declarationsIn,
  declaredCount,
  declaredKeys,
  desiredInScope,
  namesInBase,
  plannedKind,
} from '../../../../src/plan/objects/kinds.js';
import {
  aDesired,
  aPolicy,
  desiredFlag,
  desiredIdentities,
  desiredKill,
  desiredSegment,
  onShare,
} from '../../../support/builders.js';
import { refOf } from '../../../support/plan-builder.js';
import { stateOf } from '../../../support/state-of.js';

const DESIRED = aDesired({
  flags: [desiredFlag('pay'), desiredFlag('banner')],
  segments: [desiredSegment('beta', {}), desiredSegment('staff', {})],
  identities: [desiredIdentities({ staging: {} })],
});

it('what a run looks at of the specs is what its filter names, and all identities, which nothing is asked about', () => {
  const policy = aPolicy({ only: new Set(['flag/pay', 'segment/staff']) });
  const narrowed = desiredInScope(DESIRED, policy);

  expect([...narrowed.flags.keys()]).toEqual(['pay']);
  expect([...narrowed.segments.keys()]).toEqual(['staff']);
  expect(narrowed.identities).toBe(DESIRED.identities);
  expect(narrowed.config).toBe(DESIRED.config);
});

describe('what the specs declare', () => {
  const unsaid = ['killed', 'baselineTreatment', 'targets', 'rules', 'treatments'] as const;
  const staging = { ...onShare(5), unsaid };
  const pay = desiredFlag('pay', {
    fields: { description: 'd' },
    environments: { staging, production: { ...staging, ...onShare(9) } },
  });
  const ramp = { key: 'default', percent: 50 } as never;
  const environments = new Map(
    [...pay.environments].map(([place, each]) => [
      place,
      place === 'staging' ? { ...each, ramps: [ramp] } : each,
    ]),
  );
  const kills = ['pay', 'theirs'].map((flag) => desiredKill(flag));
  const created = { ...desiredFlag('made'), creation: { rolloutStatus: 'Ramping' } };
  const desired = aDesired({
    flags: [{ ...pay, environments, ownershipTag: 'git' }, created],
    segments: [desiredSegment('beta', { staging: ['a'], production: undefined })],
    identities: [desiredIdentities({ staging: { ana: { plan: 'pro' } } })],
    kills,
  });
  const definition = (share: number) => ({
    defaultRule: onShare(share).defaultRule,
    defaultTreatment: 'off',
    trafficAllocation: 100,
  });
  const fieldsOf = (members: object) =>
    Object.fromEntries(Object.entries(members).map(([name, value]) => [`/${name}`, value]));
  const keys = { count: 1, sha256: expect.any(String) as string };

  it.each<[ObjectId, unknown, object?]>([
    [
      'flag/pay',
      { trafficType: 'user', fields: { description: 'd' }, ownershipTag: 'git' },
      { '/trafficType': 'user', '/description': 'd', '/tags': ['git'] },
    ],
    ['flag/pay@staging', { ...definition(5), steps: [ramp] }, fieldsOf(definition(5))],
    [
      'flag/pay@production',
      { ...definition(9), killed: true },
      fieldsOf({ ...definition(9), killed: true }),
    ],
    ['flag/pay@elsewhere', undefined],
    ['flag/none', undefined],
    ['flag/theirs@production', undefined, { '/killed': true }],
    ['flag/theirs@staging', undefined],
    ['segment/beta', { trafficType: 'user', description: '' }],
    ['segment/beta@staging', { mode: 'exact', keys }],
    ['segment/beta@production', { mode: 'exact', keys: null }],
    ['segment/beta@elsewhere', undefined],
    ['segment/none', undefined],
    ['segment/none@staging', undefined],
    ['identities/user@staging', { sha256: expect.any(String) as string }],
    ['identities/user@production', undefined],
  ])('is compared as a whole, and field by field: %s', (id, whole, fields) => {
    const ref = refOf(id);
    const text = fingerprintOf(desired, ref);
    const parsed = [...(fieldFormsOf(desired, ref) ?? [])].map(([path, form]) => [
      path,
      JSON.parse(form) as unknown,
    ]);

    expect(text && JSON.parse(text)).toEqual(whole);
    expect(Object.fromEntries(parsed)).toEqual(
      fields ?? (whole === undefined ? {} : { '': whole }),
    );
  });

  it('is listed by kind, with the traffic type, and the rollout status of a creation', () => {
    expect(
      declarationsIn(desired).map(({ key, location: { file }, trafficType, rolloutStatus }) => {
        return [key, file, trafficType, rolloutStatus];
      }),
    ).toEqual([
      ['flag/pay', 'spec.yaml', 'user', undefined],
      ['flag/made', 'spec.yaml', 'user', 'Ramping'],
      ['segment/beta', 'spec.yaml', 'user', undefined],
      ['identities/user', 'spec.yaml', 'user', undefined],
    ]);
    expect(declaredKeys(desired)).toEqual(declarationsIn(desired).map(({ key }) => key));
    expect(declaredCount(desired)).toBe(3);
  });

  it.each<[Kind, string, object | undefined, string]>([
    ['flag', 'made', { trafficType: 'user', rolloutStatus: 'Ramping' }, 'by-definition'],
    ['flag', 'none', undefined, 'by-definition'],
    ['segment', 'beta', { trafficType: 'user' }, 'by-keys'],
    ['segment', 'none', undefined, 'by-keys'],
    ['identities', 'user', { trafficType: 'user' }, 'nobody'],
    ['identities', 'account', undefined, 'nobody'],
  ])('is checked against what a base names: %s %s', (kind, name, names, reaches) => {
    const made = desiredFlag('made', { fields: { rolloutStatus: 'Ramping' } });
    const state: State = new Map([
      ...stateOf(aDesired({ flags: [made], segments: [desiredSegment('beta', {})] })),
      ['identities/user', { kind: 'identities', name: 'user', environments: {} }],
    ]);

    expect(namesInBase(state.get(keyOf(kind, name)))).toEqual(names);
    expect(plannedKind(kind).reaches).toBe(reaches);
  });
});
