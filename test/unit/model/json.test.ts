import { describe, expect, it } from 'vitest';
import {
  byCodeUnits,
  canonicalJson,
  isDeeperThan,
  sameJson,
  sha256,
  sortedSet,
} from '../../../src/model/json.js';

describe('the canonical text of a value', () => {
  it('does not tell in which order members were written', () => {
    expect(canonicalJson({ b: [2, 1], a: 'x' })).toBe('{"a":"x","b":[2,1]}');
  });

  it('is asked of something', () => {
    expect(() => canonicalJson(undefined)).toThrow('bug: canonical form asked of undefined');
  });

  it('counts half of a surrogate pair as U+FFFD, and keeps whole pairs and what is no text', () => {
    expect(canonicalJson({ a: 'x\uD800', b: '😀', c: [1, true, null] })).toBe(
      '{"a":"x\uFFFD","b":"😀","c":[1,true,null]}',
    );
  });
});

describe('two values are the same', () => {
  it.each<[unknown, unknown, boolean]>([
    [{ a: 1, b: 2 }, { b: 2, a: 1 }, true],
    [[1, 2], [2, 1], false],
    ['a', 'a', true],
    ['a', 'b', false],
    [null, 'null', false],
    [undefined, undefined, true],
    [undefined, null, false],
    [{ a: 1 }, undefined, false],
  ])('%j and %j: %s', (a, b, same) => {
    expect(sameJson(a, b)).toBe(same);
  });
});

describe('order of texts', () => {
  it('goes by code units, not by what a language makes of them', () => {
    expect(['é', 'a', 'Z', 'b', 'a'].sort(byCodeUnits)).toEqual(['Z', 'a', 'a', 'b', 'é']);
    expect(byCodeUnits('a', 'a')).toBe(0);
  });

  it('leaves each text once in a set', () => {
    expect(sortedSet(new Set(['b', 'a']))).toEqual(['a', 'b']);
    expect(sortedSet(['b', 'a', 'b'])).toEqual(['a', 'b']);
  });
});

it('takes the digest of UTF-8', () => {
  expect(sha256('é')).toBe('4a99557e4033c3539de2eb65472017cad5f9557f7a0625a09f1c3f6e2ba69c4c');
});

describe('depth', () => {
  it.each<[string, unknown, number, boolean]>([
    ['a text has none', 'a', 0, false],
    ['null has none', null, 0, false],
    ['an empty list is one level', [], 0, true],
    ['a list of texts is one level', ['a', 'b'], 1, false],
    ['a list in an object is two', { flat: 1, deep: ['a'] }, 1, true],
    ['and not three', { flat: 1, deep: ['a'] }, 2, false],
  ])('%s', (_, value, levels, deeper) => {
    expect(isDeeperThan(value, levels)).toBe(deeper);
  });
});
