import { describe, expect, it } from 'vitest';
import { keyOf, keyOfId, KINDS, objectId, parseKey } from '../../../src/model/ref.js';

describe('names of objects', () => {
  it.each(KINDS)('reads the key of a %s back', (kind) => {
    expect(parseKey(keyOf(kind, 'beta'))).toEqual({ kind, name: 'beta' });
  });

  it('takes the environment off an id, whatever its name holds', () => {
    const id = objectId({ kind: 'flag', name: 'pay', environment: 'a@b/c' });
    expect(id).toBe('flag/pay@a@b/c');
    expect(keyOfId(id)).toBe('flag/pay');
    expect(keyOfId('flag/pay')).toBe('flag/pay');
  });

  it.each(['flag', 'flags/pay', 'toString/pay', '', '/pay', 'fla/pay'])(
    'knows no kind in "%s"',
    (text) => {
      expect(parseKey(text)).toBeUndefined();
    },
  );
});
