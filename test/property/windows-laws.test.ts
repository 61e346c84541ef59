import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Freeze, TimeWindow } from '../../src/model/desired.js';
import { closingAt } from '../../src/timing/windows.js';
import { lawSettings } from './law-settings.js';

const SETTINGS = lawSettings('laws of windows', 100);
const HOUR_MS = 3_600_000;

describe('windows and freezes', () => {
  const zones = ['UTC', 'Europe/Madrid', 'America/New_York', 'Australia/Lord_Howe', 'Africa/Cairo'];
  const window = fc
    .record({
      days: fc.subarray([1, 2, 3, 4, 5, 6, 7], { minLength: 1 }),
      fromMinute: fc.integer({ min: 0, max: 1439 }),
      toMinute: fc.integer({ min: 0, max: 1440 }),
      zone: fc.constantFrom(...zones),
    })
    .filter(({ fromMinute, toMinute }) => fromMinute !== toMinute)
    .map((parts) => ({ name: 'office', ...parts }));
  const start = fc.integer({ min: Date.UTC(2026, 0, 1), max: Date.UTC(2029, 0, 1) });

  /** What a clock shows, as the platform itself tells it and not our library. */
  function isOpenByTheWall({ days, fromMinute, toMinute, zone }: TimeWindow, ms: number): boolean {
    const parts = new Intl.DateTimeFormat('en-GB', {
      ...{ timeZone: zone, weekday: 'short', hour: '2-digit', minute: '2-digit' },
      hourCycle: 'h23',
    }).formatToParts(ms);
    const part = (type: string): string => parts.find((each) => each.type === type)?.value ?? '';
    const day = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'].indexOf(part('weekday')) + 1;
    const minute = Number(part('hour')) * 60 + Number(part('minute'));
    const yesterday = day === 1 ? 7 : day - 1;
    if (fromMinute < toMinute)
      return days.includes(day) && minute >= fromMinute && minute < toMinute;
    return (
      (days.includes(day) && minute >= fromMinute) ||
      (days.includes(yesterday) && minute < toMinute)
    );
  }

  it('are open just while a clock there shows so, and the next opening is the first', () => {
    fc.assert(
      fc.property(
        fc.array(window, { minLength: 1, maxLength: 3 }),
        fc.array(fc.tuple(fc.integer({ min: 0, max: 300 }), fc.integer({ min: 1, max: 200 })), {
          maxLength: 3,
        }),
        start,
        (windows, times, now) => {
          const freezes = times.map(([from, hours], index): Freeze => {
            const fromMs = now + (from - 100) * HOUR_MS;
            return { name: `f${index}`, fromMs, toMs: fromMs + hours * HOUR_MS, zone: 'UTC' };
          });
          const mayGo = (ms: number): boolean =>
            !freezes.some(({ fromMs, toMs }) => fromMs <= ms && ms < toMs) &&
            windows.some((each) => isOpenByTheWall(each, ms));
          const calendar = { windows, freezes };
          const closing = closingAt(calendar, now);
          expect(closing === undefined).toBe(mayGo(now));
          if (!closing) return;
          const until = closing.untilMs ?? Number.NaN;
          expect(mayGo(until)).toBe(true);
          const step = (until - now) / 60;
          for (let i = 1; i < 60; i += 1) expect(mayGo(now + i * step)).toBe(false);
          expect(mayGo(until - 1)).toBe(false);
        },
      ),
      SETTINGS,
    );
  });
});
