import { describe, expect, it } from 'vitest';
import {
  FLAG_NAME,
  keyOf,
  keyOfId,
  KINDS,
  objectId,
  parseKey,
  RESERVED_FLAG_NAMES,
  RESERVED_TREATMENT_NAMES,
  SEGMENT_NAME,
  TREATMENT_NAME,
} from '../../../src/model/ref.js';

describe('keys and ids of objects', () => {
  it.each(KINDS)('reads the key of a %s back', (kind) => {
    expect(parseKey(keyOf(kind, 'beta'))).toEqual({ kind, name: 'beta' });
  });

  it('takes the environment off an id, whatever its name holds', () => {
    const id = objectId({ kind: 'flag', name: 'pay', environment: 'a@b/c' });
    expect(id).toBe('flag/pay@a@b/c');
    expect(keyOfId(id)).toBe('flag/pay');
    expect(keyOfId('flag/pay')).toBe('flag/pay');
  });

  it('knows no kind in a text that names none', () => {
    const texts = ['flag', 'flags/pay', 'toString/pay', '', '/pay', 'fla/pay'];
    expect(texts.map(parseKey)).toEqual(texts.map(() => undefined));
  });
});

describe('valid names', () => {
  it.each([
    ['a flag', [FLAG_NAME], ['a', 'Z', 'new-checkout', 'new_checkout_2']],
    [
      'a segment or a treatment',
      [SEGMENT_NAME, TREATMENT_NAME],
      ['a', '7', '_', 'beta-testers', 'v1.2_b'],
    ],
  ])('of %s', (_of, patterns, names) => {
    for (const pattern of patterns) {
      expect(names.filter((name) => !pattern.test(name))).toEqual([]);
    }
  });

  it.each([
    ['a flag', [FLAG_NAME], ['', '2nd', '-a', '_a', 'a.b', 'a b', 'a/b', 'é', 'a\n']],
    [
      'a segment or a treatment',
      [SEGMENT_NAME, TREATMENT_NAME],
      ['', '-a', '.a', '..', 'a b', 'a/b', 'é', 'a\n'],
    ],
  ])('of %s are not any text', (_of, patterns, names) => {
    for (const pattern of patterns) {
      expect(names.filter((name) => pattern.test(name))).toEqual([]);
    }
  });

  it('leave the reserved words out, which are compared as a whole', () => {
    expect([...RESERVED_FLAG_NAMES]).toEqual(['datetime', 'string', 'set', 'integer']);
    const words = ['all', 'control', 'not', 'number', 'true', 'with', 'on', 'off', ''];
    expect(words.filter((word) => RESERVED_TREATMENT_NAMES.has(word))).toEqual(words.slice(0, 6));
  });
});
