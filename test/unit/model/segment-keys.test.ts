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

  it('is the same as another by number and digest, which may contradict each other', () => {
    const { digest } = keyList(['a']);

    const others = [digest, keyList(['b']).digest, NO_KEYS.digest, { ...digest, count: 2 }];
    expect(others.map((each) => sameKeys(each, keyList(['a']).digest))).toEqual([
      true,
      false,
      false,
      false,
    ]);
  });
});

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
])('what two lists of keys differ in from %j to %j', (desired, actual, added, removed) => {
  expect(keyDifference(desired, actual)).toEqual({ added, removed });
});
