import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  byCodeUnits,
  canonicalJson,
  isDeeperThan,
  sameJson,
  sha256,
  sortedSet,
} from '../../../src/model/json.js';

it('the canonical text of a value has one order of members, and U+FFFD for half of a surrogate pair', () => {
  expect(canonicalJson({ b: [2, 1], a: 'x' })).toBe('{"a":"x","b":[2,1]}');
  expect(canonicalJson({ a: 'x\uD800', b: '😀', c: [1, true, null] })).toBe(
    '{"a":"x\uFFFD","b":"😀","c":[1,true,null]}',
  );
  expect(() => canonicalJson(undefined)).toThrow('bug: canonical form asked of undefined');
});

describe('equality of JSON values', () => {
  const values = fc.jsonValue({ stringUnit: 'binary', maxDepth: 3 });

  it('is that of their canonical forms', () => {
    fc.assert(
      fc.property(values, values, (a, b) => {
        expect(sameJson(a, b)).toBe(canonicalJson(a) === canonicalJson(b));
        expect(sameJson(a, structuredClone(a))).toBe(true);
      }),
    );
  });

  it.each([
    ['the order of members', { a: 1, b: [2] }, { b: [2], a: 1 }, true],
    ['the order of a list', [1, 2], [2, 1], false],
    ['a list and its beginning', [1], [1, 2], false],
    ['a member that is undefined', { a: 1, b: undefined }, { a: 1 }, true],
    ['a member that is null', { a: 1, b: null }, { a: 1 }, false],
    ['a list and a mapping', [], {}, false],
    ['null and its text', null, 'null', false],
    ['undefined and null', undefined, null, false],
    ['a mapping and undefined', { a: 1 }, undefined, false],
    ['half a surrogate pair', '\uD800', '\uFFFD', true],
    ['a member of every object', { ['__proto__']: {} }, { a: {} }, false],
  ])('takes %s for what it is', (_what, a, b, same) => {
    expect(sameJson(a, b)).toBe(same);
    expect(sameJson(b, a)).toBe(same);
  });
});

it('texts have one order, by code units, and stand once in a set', () => {
  expect(['é', 'a', 'Z', 'b', 'a'].sort(byCodeUnits)).toEqual(['Z', 'a', 'a', 'b', 'é']);
  expect(byCodeUnits('a', 'a')).toBe(0);
  expect(sortedSet(new Set(['b', 'a']))).toEqual(['a', 'b']);
  expect(sortedSet(['b', 'a', 'b'])).toEqual(['a', 'b']);
});

it('takes the digest of UTF-8', () => {
  expect(sha256('é')).toBe('4a99557e4033c3539de2eb65472017cad5f9557f7a0625a09f1c3f6e2ba69c4c');
});

it.each<[unknown, number, boolean]>([
  ['a', 0, false],
  [null, 0, false],
  [[], 0, true],
  [['a', 'b'], 1, false],
  [{ flat: 1, deep: ['a'] }, 1, true],
  [{ flat: 1, deep: ['a'] }, 2, false],
])('%j is deeper than %i: %s', (value, levels, deeper) => {
  expect(isDeeperThan(value, levels)).toBe(deeper);
});
