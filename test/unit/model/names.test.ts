import { describe, expect, it } from 'vitest';
import {
  FLAG_NAME,
  RESERVED_FLAG_NAMES,
  RESERVED_TREATMENT_NAMES,
  SEGMENT_NAME,
  TREATMENT_NAME,
} from '../../../src/model/ref.js';

describe('a name', () => {
  it.each(['a', 'Z', 'new-checkout', 'new_checkout_2'])('of a flag may be %s', (name) => {
    expect(FLAG_NAME.test(name)).toBe(true);
  });

  it.each(['', '2nd', '-a', '_a', 'a.b', 'a b', 'a/b', 'é', 'a\n'])(
    'of a flag may not be %j',
    (name) => {
      expect(FLAG_NAME.test(name)).toBe(false);
    },
  );

  it.each(['a', '7', '_', 'beta-testers', 'v1.2_b'])(
    'of a segment or a treatment may be %s',
    (name) => {
      expect([SEGMENT_NAME.test(name), TREATMENT_NAME.test(name)]).toEqual([true, true]);
    },
  );

  it.each(['', '-a', '.a', '..', 'a b', 'a/b', 'é', 'a\n'])(
    'of a segment or a treatment may not be %j',
    (name) => {
      expect([SEGMENT_NAME.test(name), TREATMENT_NAME.test(name)]).toEqual([false, false]);
    },
  );
});

describe('reserved', () => {
  it('are four words for flags', () => {
    expect([...RESERVED_FLAG_NAMES]).toEqual(['datetime', 'string', 'set', 'integer']);
  });

  it.each(['all', 'control', 'not', 'number', 'true', 'with'])('for treatments is %s', (name) => {
    expect(RESERVED_TREATMENT_NAMES.has(name)).toBe(true);
  });

  it.each(['on', 'off', ''])('for treatments is not %j', (name) => {
    expect(RESERVED_TREATMENT_NAMES.has(name)).toBe(false);
  });
});
