import { InvalidArgumentError } from 'commander';
import { describe, expect, it } from 'vitest';
import { duration, moment } from '../../../src/cli/options.js';

const DAY_MS = 86_400_000;

describe('a moment on the command line', () => {
  it('is a day, a time, or so long ago', () => {
    expect(moment('2026-10-03')).toBe(Date.UTC(2026, 9, 3));
    expect(moment('2026-10-03T22:14Z')).toBe(Date.UTC(2026, 9, 3, 22, 14));
    const [before, found, after] = [Date.now(), moment('7d'), Date.now()];
    expect(found).toBeGreaterThanOrEqual(before - 7 * DAY_MS);
    expect(found).toBeLessThanOrEqual(after - 7 * DAY_MS);
  });

  it.each(['', 'yesterday', '7', '2026', '2026-13-45', '3 October', '7days'])(
    'is not "%s"',
    (text) => {
      expect(() => moment(text)).toThrow(InvalidArgumentError);
    },
  );
});

it('a duration may be told in days', () => {
  expect(duration('2d')).toBe(2 * DAY_MS);
});
