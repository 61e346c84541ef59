import { describe, expect, it } from 'vitest';
import { keyDifference, keyList, NO_KEYS, sameKeys } from '../../../src/model/segment-keys.js';

describe('a list of keys', () => {
  it('is sorted, has each key once, and is known by its number and the digest of its lines', () => {
    expect(keyList(['b', 'a', 'b'])).toEqual({
      keys: ['a', 'b'],
      digest: {
        count: 2,
        sha256: '911169ddaaf146aff539f58c26c489af3b892dff0fe283c1c264c65ae5aa59a2',
      },
    });
  });

  it('is the same as another by number and digest', () => {
    const { digest } = keyList(['a']);

    expect(sameKeys(digest, keyList(['a']).digest)).toBe(true);
    expect(sameKeys(digest, keyList(['b']).digest)).toBe(false);
    expect(sameKeys(digest, NO_KEYS.digest)).toBe(false);
  });

  it('is not what a base remembers whose number contradicts its digest', () => {
    const { digest } = keyList(['a']);

    expect(sameKeys({ ...digest, count: 2 }, digest)).toBe(false);
  });
});

describe('what two lists of keys differ in', () => {
  it.each([
    [[], [], [], []],
    [['a', 'b'], ['a', 'b'], [], []],
    [['a', 'b'], [], ['a', 'b'], []],
    [[], ['a', 'b'], [], ['a', 'b']],
    [
      ['a', 'c', 'e'],
      ['b', 'c', 'd', 'f'],
      ['a', 'e'],
      ['b', 'd', 'f'],
    ],
  ])('from %j to %j', (desired, actual, added, removed) => {
    expect(keyDifference(desired, actual)).toEqual({ added, removed });
  });
});
