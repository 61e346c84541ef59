import { describe, expect, it } from 'vitest';
import type { Json } from '../../../src/model/json.js';
import { satisfies, targetPath, threeWay } from '../../../src/plan/fields.js';

const fields = (members: Record<string, Json>): ReadonlyMap<string, Json> =>
  new Map(Object.entries(members));

describe('a field in three states', () => {
  const one = (base: Json | undefined, desired: Json, actual: Json | undefined) =>
    threeWay({
      base: fields(base === undefined ? {} : { '/a': base }),
      desired: fields({ '/a': desired }),
      actual: fields(actual === undefined ? {} : { '/a': actual }),
      withoutBase: 'adopt',
    });

  it.each([
    ['commit', 1, 2, 1],
    ['drift', 1, 1, 2],
    ['conflict', 1, 2, 3],
    ['commit', undefined, 2, 1],
  ] as const)('%s: base %s, desired %s, actual %s', (reason, base, desired, actual) => {
    const said = base === undefined ? {} : { base };
    expect(one(base, desired, actual)).toStrictEqual([
      { path: '/a', reason, ...said, before: actual, after: desired },
    ]);
  });

  it('is no change where both sides are equal, whatever the base was', () => {
    expect(one(1, 2, 2)).toEqual([]);
  });
});

describe('individual targets', () => {
  it('are all new where the service has none, and none where none are wanted', () => {
    const at = (wanted: Json) =>
      threeWay({
        desired: fields({ '/targets/on': wanted }),
        actual: fields({}),
        withoutBase: 'adopt',
      });

    expect(at(['b'])[0]?.keys?.added).toEqual(['b']);
    expect(at([])).toEqual([]);
  });

  it('have a path that is a JSON Pointer', () => {
    expect(targetPath('a/b~c/d')).toBe('/targets/a~1b~0c~1d');
  });
});

describe('treatments', () => {
  const live: Json = [
    { name: 'on', description: 'live', configuration: { a: 1 } },
    { name: 'off' },
  ];

  it.each([
    ['say nothing of what the spec leaves unsaid', [{ name: 'on' }, { name: 'off' }], true],
    ['take no description for empty', [{ name: 'on' }, { name: 'off', description: '' }], true],
    ['see another description', [{ name: 'on', description: 'x' }, { name: 'off' }], false],
    ['see another configuration', [{ name: 'on', configuration: 1 }, { name: 'off' }], false],
    ['see a missing configuration', [{ name: 'on' }, { name: 'off', configuration: 1 }], false],
    ['keep their order', [{ name: 'off' }, { name: 'on' }], false],
    ['see one that is missing', [{ name: 'on' }], false],
  ] as const)('%s', (_, wanted, equal) => {
    expect(satisfies('/treatments', live, wanted)).toBe(equal);
  });
});
