import { describe, expect, it } from 'vitest';
import type { WireFlag } from '../../../../src/admin-api/wire.js';
import type { ActualFlag } from '../../../../src/model/actual.js';
import type { DesiredFlag } from '../../../../src/model/desired.js';
import type { Plan } from '../../../../src/model/plan.js';
import type { State } from '../../../../src/model/state.js';
import { aDesired, desiredFlag, liveFlag, noFlag, planLines } from '../../../support/builders.js';
import { planOf, type Given } from '../../../support/planning.js';
import { stateOf } from '../../../support/state-of.js';

function planFor(flag: DesiredFlag, live: [string, ActualFlag], given: Given = {}): Plan {
  return planOf(aDesired({ flags: [flag] }), { flags: [live] }, given);
}

const payWith = (fields: DesiredFlag['fields']): DesiredFlag => desiredFlag('pay', { fields });
const liveWith = (flag: Partial<WireFlag>) => liveFlag('pay', {}, flag);
const found = (flag: DesiredFlag): State => stateOf(aDesired({ flags: [flag] }));

describe('a flag that is not there', () => {
  it('is made with its description, and a patch for the rest behind it', () => {
    const fields = { description: 'd', tags: ['web'] };
    const plan = planFor(payWith(fields), noFlag('pay'));

    const written = [
      { path: '/trafficType', reason: 'commit', after: 'user' },
      { path: '/description', reason: 'commit', after: 'd' },
      { path: '/tags', reason: 'commit', after: ['web'] },
    ];
    const operations = [{ op: 'replace', path: '/tags', value: [{ name: 'web' }] }];
    expect(plan.changes).toMatchObject([{ action: 'create', fields: written }]);
    expect(plan.steps).toMatchObject([
      { action: 'create-flag', flag: 'pay', description: 'd', mayExist: false },
      {
        ...{ action: 'patch-flag', flag: 'pay', operations },
        fields: { before: { tags: [] }, after: { tags: ['web'] } },
      },
    ]);
  });

  it('is made with an empty description and without a patch where the specs say nothing', () => {
    const plan = planFor(payWith({}), noFlag('pay'));

    expect(plan.steps).toMatchObject([{ action: 'create-flag', description: '' }]);
    expect(plan.steps).toHaveLength(1);
  });
});

describe('the workspace level of a flag', () => {
  it('is written field by field, and only what differs', () => {
    const fields = { description: 'new', tags: ['web'], rolloutStatus: 'Ramping' };
    const plan = planFor(payWith(fields), liveWith({ tags: [{ name: 'web' }] }));

    expect(plan.changes[0]?.fields).toEqual([
      { path: '/description', reason: 'adopt', before: '', after: 'new' },
      { path: '/rolloutStatus', reason: 'adopt', before: 'Pre-Production', after: 'Ramping' },
    ]);
    expect(plan.steps).toMatchObject([
      {
        action: 'patch-flag',
        operations: [
          { op: 'replace', path: '/description', value: 'new' },
          { op: 'replace', path: '/rolloutStatus/id', value: 'rs-2' },
        ],
        fields: {
          before: { description: '', rolloutStatus: 'Pre-Production' },
          after: { description: 'new', rolloutStatus: 'Ramping' },
        },
      },
    ]);
  });

  it('is left alone where the specs say nothing of it', () => {
    expect(planLines(planFor(payWith({}), liveWith({ description: 'theirs' })))).toEqual([]);
  });
});

describe('another traffic type', () => {
  const account = desiredFlag('pay', { trafficType: 'account', environments: { staging: {} } });
  const immutable = {
    id: 'flag/pay',
    action: 'update',
    why: 'immutable',
    fields: [{ path: '/trafficType', reason: 'conflict', before: 'user', after: 'account' }],
    because: 'the traffic type of a flag is set at its creation',
  };

  it('is told by any definition, where a service cannot show the flag', () => {
    const [name, { definitions }] = liveFlag('pay', { production: {} });
    const plan = planFor(account, [name, { existence: 'unknown', definitions }]);

    expect(plan.withheld).toMatchObject([immutable]);
  });
});

describe('a flag that a service cannot show', () => {
  const [name, { definitions }] = liveFlag('pay');
  const live: [string, ActualFlag] = [name, { existence: 'unknown', definitions }];

  it('may be there already when it is made', () => {
    expect(planFor(payWith({}), live).steps).toMatchObject([
      { action: 'create-flag', mayExist: true },
    ]);
  });

  it('gets no tag with its creation: it may have others', () => {
    const { steps } = planFor({ ...payWith({}), ownershipTag: 'git' }, live);

    expect(steps.map(({ action }) => action)).toEqual(['create-flag']);
  });

  it('is there when it was found there once: what git changed since is written, and nothing else', () => {
    const state = found(payWith({ description: 'old', tags: ['web'] }));
    const plan = planFor(payWith({ description: 'new', tags: ['web'] }), live, { state });

    expect(planLines(plan)).toEqual(['update flag/pay']);
    expect(plan.steps).toMatchObject([
      { operations: [{ op: 'replace', path: '/description', value: 'new' }] },
    ]);
  });
});
