import { describe, expect, it } from 'vitest';
import type { FieldChange } from '../../../../src/model/plan.js';
import type { Outcomes } from '../../../../src/model/outcome.js';
import type { Base, State } from '../../../../src/model/state.js';
import {
  rememberingCorrections,
  stateAfterCorrections,
} from '../../../../src/plan/bases/corrections.js';
import { isContested } from '../../../../src/plan/policy.js';
import { aPolicy } from '../../../support/builders.js';
import { aChange, aField } from '../../../support/plan-builder.js';

const BASE: Base<never> = { commit: null };
const ID = 'flag/pay@staging';

function at(...times: string[]): string[] {
  return times.map((time) => `2026-10-03T${time}:00.000Z`);
}

function drift(path: string): FieldChange {
  return { ...aField(path, 1, 2), reason: 'drift' };
}

describe('a fight', () => {
  it.each([
    ['three corrections within an hour', at('10:00', '10:10', '11:00'), true],
    ['the last three of more, within an hour', at('08:00', '10:00', '10:10', '10:20'), true],
    ['three corrections in more than an hour', at('10:00', '10:10', '11:01'), false],
    ['two corrections', at('10:00', '10:01'), false],
    ['no correction', [], false],
  ])('%s: %s', (_, moments, expected) => {
    expect(isContested(moments)).toBe(expected);
  });
});

describe('what is remembered of corrections', () => {
  const state: State = new Map([
    ['flag/pay', { kind: 'flag', name: 'pay', environments: { 'env-staging': BASE } }],
    ['flag/new', { kind: 'flag', name: 'new', workspace: BASE as never, environments: {} }],
    ['segment/vip', { kind: 'segment', name: 'vip', environments: { 'env-staging': BASE } }],
    ['segment/new', { kind: 'segment', name: 'new', environments: { 'env-staging': BASE } }],
  ]);
  const applied = (...ids: string[]): Outcomes =>
    new Map(ids.map((id) => [id, { status: 'applied' }]));
  const [now = ''] = at('10:00');

  it('is when each field was corrected, and the latest three times only', () => {
    const changes = [aChange(ID, 'update', { fields: [drift('/rules'), aField('/killed', 1, 2)] })];
    const other = [aChange(ID, 'update', { fields: [drift('/tags')] })];
    const [first = ''] = at('09:59');
    const from = { state, policy: aPolicy() };
    let seen = stateAfterCorrections(from, other, applied(ID), first);
    for (const moment of at('10:00', '10:01', '10:02', '10:03')) {
      seen = stateAfterCorrections(
        { state: seen, policy: aPolicy() },
        changes,
        applied(ID),
        moment,
      );
    }

    expect(seen.get('flag/pay')?.environments['env-staging']?.corrections).toEqual({
      '/rules': at('10:01', '10:02', '10:03'),
      '/tags': at('09:59'),
    });
    expect(seen.get('segment/vip')).toBe(state.get('segment/vip'));
  });

  it('is that of the keys of a segment, and of an object that was deleted and made again', () => {
    const keys = { added: ['a'], removed: [], sha256: '' };
    const changes = [
      aChange('segment/vip@staging', 'update', { reason: 'drift', keys }),
      aChange(ID, 'create', { reason: 'drift', fields: [drift('/rules')] }),
      aChange('segment/new@staging', 'activate', { reason: 'drift', keys }),
      aChange('flag/new', 'update', { fields: [drift('/tags')] }),
    ];
    const ids = changes.map(({ id }) => id);

    const seen = stateAfterCorrections({ state, policy: aPolicy() }, changes, applied(...ids), now);

    expect(seen.get('segment/vip')?.environments['env-staging']?.corrections).toEqual({
      '/keys': [now],
    });
    expect(seen.get('flag/pay')?.environments['env-staging']?.corrections).toEqual({ '': [now] });
    expect(seen.get('segment/new')?.environments['env-staging']?.corrections).toEqual({
      '': [now],
    });
    expect(seen.get('flag/new')?.workspace?.corrections).toEqual({ '/tags': [now] });
  });

  it('is nothing of what was not applied', () => {
    const changes = [aChange(ID, 'update', { fields: [drift('/rules')] })];
    const skipped: Outcomes = new Map([[ID, { status: 'skipped', why: 'interrupted' }]]);

    expect(stateAfterCorrections({ state, policy: aPolicy() }, changes, skipped, now)).toEqual(
      state,
    );
  });

  it('is forgotten once the object is equal more than an hour after the last', () => {
    const before = {
      ...BASE,
      corrections: { '/rules': at('09:00', '10:00'), '/tags': at('08:00') },
    };
    const [within, after] = at('11:00', '11:01');

    expect(rememberingCorrections(BASE, before, within).corrections).toEqual({
      '/rules': at('09:00', '10:00'),
    });
    expect(rememberingCorrections(BASE, before, after)).toEqual(BASE);
    expect(rememberingCorrections(BASE, before, undefined).corrections).toEqual(before.corrections);
  });
});
