import { expect, it } from 'vitest';
import {
  FLAG_NAME,
  keyOf,
  keyOfId,
  KINDS,
  NAMED_KINDS,
  objectId,
  parseKey,
  refOfId,
  RESERVED_TREATMENT_NAMES,
  TREATMENT_NAME,
} from '../../../src/model/ref.js';

it('keys and ids of objects are read back, whatever the name of the environment holds', () => {
  const read = KINDS.map((kind) => parseKey(keyOf(kind, 'beta')));
  expect(read).toEqual(KINDS.map((kind) => ({ kind, name: 'beta' })));
  const ref = { kind: 'flag', name: 'pay', environment: 'a@b/c' } as const;
  expect(objectId(ref)).toBe('flag/pay@a@b/c');
  expect(refOfId('flag/pay@a@b/c')).toEqual(ref);
  expect(['flag/pay@a@b/c', 'flag/pay'].map(keyOfId)).toEqual(['flag/pay', 'flag/pay']);
  const texts = ['flag', 'flags/pay', 'toString/pay', '', '/pay', 'fla/pay'];
  expect(texts.map(parseKey)).toEqual(texts.map(() => undefined));
});

it.each([
  ['a flag', [FLAG_NAME], ['a', 'Z', 'new_checkout-2'], ['2nd', '_a', 'a.b']],
  [
    'others',
    [NAMED_KINDS.segment.pattern, TREATMENT_NAME],
    ['a', '7', '_', 'v1.2_b-c'],
    ['.a', '..'],
  ],
])('names of %s are valid by one pattern', (_of, patterns, names, wrong) => {
  for (const pattern of patterns) {
    const all = [...names, ...wrong, '', '-a', 'a b', 'a/b', 'é', 'a\n'];
    expect(all.filter((name) => pattern.test(name))).toEqual(names);
  }
});

it('reserved words are compared as a whole', () => {
  expect([...NAMED_KINDS.flag.reserved]).toEqual(['datetime', 'string', 'set', 'integer']);
  const words = ['all', 'control', 'not', 'number', 'true', 'with', 'on', 'off', ''];
  expect(words.filter((word) => RESERVED_TREATMENT_NAMES.has(word))).toEqual(words.slice(0, 6));
});
