import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalJson, sameJson } from '../../../src/model/json.js';

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
    ['a member that is undefined', { a: 1, b: undefined }, { a: 1 }, true],
    ['a member that is null', { a: 1, b: null }, { a: 1 }, false],
    ['a list and a mapping', [], {}, false],
    ['half a surrogate pair', '\uD800', '\uFFFD', true],
    ['a member of every object', { ['__proto__']: {} }, { a: {} }, false],
  ])('takes %s for what it is', (_what, a, b, same) => {
    expect(sameJson(a, b)).toBe(same);
    expect(sameJson(b, a)).toBe(same);
  });
});
