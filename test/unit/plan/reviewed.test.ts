import { describe, expect, it } from 'vitest';
import { onlyReviewed } from '../../../src/plan/plan.js';
import type { ObjectPlan } from '../../../src/plan/planned-change.js';
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
  it('holds a change to another object back', () => {
    const [only] = onlyReviewed([drafted(['/rules'])], {
      reviewed: new Set(['flag/other@production']),
    });

    expect(only?.change).toBeUndefined();
    expect(only?.withheld).toMatchObject([{ id: ID, why: 'not-reviewed', dependsOn: [] }]);
  });

  it('leaves the reviewed objects, and all where nothing was reviewed, as they are', () => {
    const change = drafted(['/rules']);

    expect(onlyReviewed([change], { reviewed: new Set([ID]) })).toEqual([change]);
    expect(onlyReviewed([change], { reviewed: null })).toEqual([change]);
  });
});
