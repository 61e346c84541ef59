import { describe, expect, it } from 'vitest';
import { onlyReviewed } from '../../../src/plan/plan.js';
import type { ObjectPlan } from '../../../src/plan/planned-change.js';
import type { Withheld } from '../../../src/model/plan.js';
import type { WireDefinition } from '../../../src/admin-api/wire.js';

const ID = 'flag/pay@production';

function drafted(paths: readonly string[]): ObjectPlan {
  const fields = paths.map((path) => ({
    path,
    reason: 'commit' as const,
    after: true,
  }));
  const place = { flag: 'pay', environment: 'production' };
  const operations = paths.map((path) => ({ op: 'replace' as const, path, value: true }));
  const expected = {} as WireDefinition;
  return {
    id: ID,
    withheld: [],
    change: {
      change: {
        id: ID,
        ref: { kind: 'flag', name: 'pay', environment: 'production' },
        action: 'update',
        reason: 'commit',
        location: null,
        fields,
      },
      requests: [{ action: 'patch-definition', ...place, operations, expected }],
      after: ['flag/pay'],
      uses: [],
    },
  };
}

describe('a run that is held to a reviewed plan', () => {
  const other = { id: 'flag/other', why: 'protected' } as Withheld;
  const change = { ...drafted(['/rules']), withheld: [other] };
  const held = { ...change.change?.change, dependsOn: [], why: 'not-reviewed' };
  const whole = [change];
  const none = [{ id: ID, withheld: [other, held] }];
  const OTHERS = new Set(['flag/other@production']);

  it.each<[string, Parameters<typeof onlyReviewed>[1], readonly unknown[]]>([
    ['the change of a reviewed object goes', { reviewed: new Set([ID]) }, whole],
    ['the change of another object is held back', { reviewed: OTHERS }, none],
    ['all go where nothing was reviewed', { reviewed: null }, whole],
    ['a change that no reviewed plan shows is held back', { shows: () => false }, none],
    ['an older HEAD covers the reviewed objects', { reviewed: new Set([ID]), behind: true }, whole],
    ['an older HEAD does not cover the others', { reviewed: OTHERS, behind: true }, []],
  ])('%s', (_, policy, planned) => {
    expect(onlyReviewed([change], policy)).toStrictEqual(planned);
  });
});
