import { describe, expect, it } from 'vitest';
import { dateMs } from '../../../../src/model/matcher/condition.js';

const DAY = Date.UTC(2026, 9, 3);
const MINUTE = 60_000;

describe('a date in a spec', () => {
  it.each<[string, string | number, number]>([
    ['a day is its midnight in UTC', '2026-10-03', DAY],
    ['a moment in UTC', '2026-10-03T22:14:00Z', DAY + 1334 * MINUTE],
    ['a moment without seconds', '2026-10-03T22:14Z', DAY + 1334 * MINUTE],
    ['a moment east of it', '2026-10-03T22:14:00+02:00', DAY + 1214 * MINUTE],
    ['a moment west of it', '2026-10-03T22:14-02:00', DAY + 1454 * MINUTE],
    ['a tenth of a second', '2026-10-03T00:00:00.5Z', DAY + 500],
    ['a millisecond', '2026-10-03T00:00:00.001Z', DAY + 1],
    ['milliseconds', DAY, DAY],
    ['milliseconds as text', String(DAY), DAY],
    ['a moment before 1970', '-86400000', -86_400_000],
    ['29 February of a leap year', '2028-02-29', Date.UTC(2028, 1, 29)],
  ])('%s: %s', (_, written, ms) => {
    expect(dateMs(written)).toBe(ms);
  });

  it.each<[string, string | number]>([
    ['a day of another spelling', '3.10.2026'],
    ['a day with something before it', 'x2026-10-03'],
    ['a day with something behind it', '2026-10-03x'],
    ['a year of five digits', '12026-10-03'],
    ['a day without leading zeros', '2026-1-3'],
    ['a moment with something before it', 'x2026-10-03T22:14:00Z'],
    ['a moment with something behind it', '2026-10-03T22:14:00Zx'],
    ['a moment without a zone', '2026-10-03T22:14:00'],
    ['a moment with a blank for the T', '2026-10-03 22:14:00Z'],
    ['a moment with a zone in words', '2026-10-03T22:14:00 CET'],
    ['more digits than a millisecond has', '2026-10-03T00:00:00.0001Z'],
    ['an hour that no day has', '2026-10-03T25:00:00Z'],
    ['a day that no year has', '2026-02-30'],
    ['a month that no year has', '2026-13-01'],
    ['a moment on a day that no year has', '2026-02-30T00:00:00Z'],
    ['a part of a millisecond', 1.5],
    ['a number with a fraction as text', '1.5'],
    ['a number that is not safe', 2 ** 53],
    ['a number that is not safe as text', '9007199254740993'],
    ['a number of seventeen digits', '12345678901234567'],
    ['a number with something before it', 'x5'],
    ['a number with something behind it', '5x'],
    ['nothing', ''],
  ])('is not %s: %s', (_, written) => {
    expect(dateMs(written)).toBeUndefined();
  });
});
