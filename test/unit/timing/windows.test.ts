import { describe, expect, it } from 'vitest';
import type { Freeze, TimeWindow } from '../../../src/model/desired.js';
import { closingAt, nextOpening, openingText } from '../../../src/timing/windows.js';

const at = (text: string): number => Date.parse(text);
const iso = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString());

function aWindow(parts: Partial<TimeWindow> = {}): TimeWindow {
  const office = { fromMinute: 9 * 60, toMinute: 17 * 60, zone: 'Europe/Madrid' };
  return { name: 'office', days: [1, 2, 3, 4, 5, 6, 7], ...office, ...parts };
}

function aFreeze(from: string, to: string, name = 'sale'): Freeze {
  return { name, fromMs: at(from), toMs: at(to), zone: 'Europe/Madrid' };
}

/** When a calendar with this window alone opens next. */
function opens(window: TimeWindow, from: string): string | null {
  return iso(nextOpening([{ windows: [window], freezes: [] }], at(from)));
}

it('a window beside another is enough, and both are named while both are closed', () => {
  const evening = aWindow({ name: 'evening', fromMinute: 20 * 60, toMinute: 1440 });
  const two = { windows: [aWindow(), evening], freezes: [] };
  const one = { windows: [aWindow()], freezes: [] };

  expect(closingAt(one, at('2026-11-23T07:59:59Z'))?.why).toBe('outside the window "office"');

  expect(closingAt(two, at('2026-11-23T20:00:00Z'))).toBeUndefined();
  expect(closingAt(two, at('2026-11-23T17:00:00Z'))?.why).toBe(
    'outside the windows "office" and "evening"',
  );
});

describe('two calendars', () => {
  const SUNDAYS = { days: [7], fromMinute: 0, toMinute: 1440, zone: 'UTC' };
  const NEW_YORK = { fromMinute: 660, toMinute: 720, zone: 'America/New_York' };
  const EARLY = { fromMinute: 420, toMinute: 480, zone: 'UTC' };
  const madrid = { windows: [aWindow()], freezes: [] };

  it.each<[string, Partial<TimeWindow>, string | null]>([
    // Madrid is open from 8:00 to 16:00 UTC in winter, and an hour earlier in summer.
    ['that meet', { fromMinute: 900, toMinute: 1080, zone: 'UTC' }, '2026-11-23T15:00:00.000Z'],
    ['that meet once a week', SUNDAYS, '2026-11-29T08:00:00.000Z'],
    ['that meet in summer alone', EARLY, '2027-03-28T07:00:00.000Z'],
    ['that meet while one clock is changed', NEW_YORK, '2027-03-14T15:00:00.000Z'],
    ['that never meet', { fromMinute: 1200, toMinute: 1380 }, null],
  ])('%s', (_, parts, opening) => {
    const other = { windows: [aWindow({ name: 'late', ...parts })], freezes: [] };

    expect(iso(nextOpening([madrid, other], at('2026-11-23T12:30:00Z')))).toBe(opening);
  });
});

it('a freeze beats a window that is open, and one after the other lasts to the end of the last', () => {
  const freezes = [
    aFreeze('2026-11-24T00:00:00Z', '2026-11-26T10:00:00Z'),
    aFreeze('2026-11-26T09:00:00Z', '2026-11-27T12:00:00Z', 'move'),
  ];
  const closing = closingAt({ windows: [aWindow()], freezes }, at('2026-11-24T12:00:00Z'));

  expect(closing?.why).toBe('frozen by "sale"');
  expect(iso(closing?.untilMs ?? null)).toBe('2026-11-27T12:00:00.000Z');
  expect(closing && openingText(closing)).toBe('2026-11-27T13:00+01:00 (Europe/Madrid)');
});

describe('days on which clocks are changed', () => {
  const MADRID = 'Europe/Madrid';
  const NEW_YORK = { zone: 'America/New_York' };
  const LORD_HOWE = { zone: 'Australia/Lord_Howe' };
  const small = { fromMinute: 135, toMinute: 165 };

  it.each<[string, Partial<TimeWindow>, string, string]>([
    // The clock goes from 02:00 to 03:00, and in autumn from 03:00 back to 02:00.
    ['keep the hour in spring', {}, '2027-03-27T20:00:00Z', '2027-03-28T07:00:00.000Z'],
    ['keep it the day before', {}, '2027-03-26T20:00:00Z', '2027-03-27T08:00:00.000Z'],
    ['keep it in autumn', {}, '2026-10-24T20:00:00Z', '2026-10-25T08:00:00.000Z'],
    ['keep it elsewhere', NEW_YORK, '2027-03-14T02:00:00Z', '2027-03-14T13:00:00.000Z'],
    [
      'keep it at a half-hour change',
      LORD_HOWE,
      '2027-04-03T14:00:00Z',
      '2027-04-03T22:30:00.000Z',
    ],
    ['leave out a window in that hour', small, '2027-03-27T12:00:00Z', '2027-03-29T00:15:00.000Z'],
    ['open one whose hour comes twice', small, '2026-10-24T12:00:00Z', '2026-10-25T00:15:00.000Z'],
    ['open it once more', small, '2026-10-25T00:45:00Z', '2026-10-25T01:15:00.000Z'],
    [
      'open one at the change into it',
      { ...small, toMinute: 300 },
      '2027-03-27T12:00:00Z',
      '2027-03-28T01:00:00.000Z',
    ],
    ['leap days', { days: [2], zone: 'UTC' }, '2028-02-28T12:00:00Z', '2028-02-29T09:00:00.000Z'],
  ])('%s', (_, parts, now, until) => {
    expect(opens(aWindow({ zone: MADRID, ...parts }), now)).toBe(until);
  });
});
