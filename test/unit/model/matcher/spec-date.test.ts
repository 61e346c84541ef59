import { expect, it } from 'vitest';
import { dateMs } from '../../../../src/model/matcher/condition.js';

const DAY = Date.UTC(2026, 9, 3);
const MINUTE = 60_000;

it.each<[string | number, number]>([
  ['2026-10-03', DAY],
  ['2026-10-03T22:14:00Z', DAY + 1334 * MINUTE],
  ['2026-10-03T22:14Z', DAY + 1334 * MINUTE],
  ['2026-10-03T22:14:00+02:00', DAY + 1214 * MINUTE],
  ['2026-10-03T22:14-02:00', DAY + 1454 * MINUTE],
  ['2026-10-03T00:00:00.5Z', DAY + 500],
  ['2026-10-03T00:00:00.001Z', DAY + 1],
  [DAY, DAY],
  [String(DAY), DAY],
  ['-86400000', -86_400_000],
  ['2028-02-29', Date.UTC(2028, 1, 29)],
])('the date %s in a spec is %i', (written, ms) => {
  expect(dateMs(written)).toBe(ms);
});

it.each([
  ...['3.10.2026', 'x2026-10-03', '2026-10-03x', '12026-10-03', '2026-1-3', ''],
  ...['x2026-10-03T22:14:00Z', '2026-10-03T22:14:00Zx', '2026-10-03T22:14:00'],
  ...['2026-10-03 22:14:00Z', '2026-10-03T22:14:00 CET', '2026-10-03T00:00:00.0001Z'],
  ...['2026-10-03T25:00:00Z', '2026-02-30', '2026-13-01', '2026-02-30T00:00:00Z'],
  ...[1.5, '1.5', 2 ** 53, '9007199254740993', '12345678901234567', 'x5', '5x'],
])('is no date: %s', (written) => {
  expect(dateMs(written)).toBeUndefined();
});
