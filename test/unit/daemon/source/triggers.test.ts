import { expect, it, onTestFinished, vi } from 'vitest';
import { Alarm, Schedule } from '../../../../src/daemon/source/triggers.js';
import { HandTime } from '../../../support/hand-time.js';

const HOUR_MS = 3_600_000;
const NOON = new HandTime().now();

function waiting(): { clock: HandTime; due: Alarm; runs: number[] } {
  const clock = new HandTime();
  const runs: number[] = [];
  const due = new Alarm(clock, new AbortController().signal, () => {
    runs.push(clock.wall);
  });
  return { clock, due, runs };
}

it('a moment comes once, when the clock on the wall shows it', async () => {
  const { clock, due, runs } = waiting();
  due.at = NOON + 90_000;

  expect(await clock.pass()).toBe(90_000);

  expect(runs).toEqual([NOON + 90_000]);
  expect(due.at).toBeNull();
  expect(clock.waits).toEqual([]);
});

it('a clock that is set back by an hour makes it come an hour later, and not twice', async () => {
  const { clock, due, runs } = waiting();
  due.at = NOON + 60_000;

  await clock.pass({ set: -HOUR_MS });
  expect(runs).toEqual([]);
  while (clock.waits.length > 0) await clock.pass();

  expect(runs).toEqual([NOON + 60_000]);
});

it('a clock that is set forth by a day is noticed within ten minutes', async () => {
  const { clock, due, runs } = waiting();
  due.at = NOON + 20 * HOUR_MS;

  expect(await clock.pass({ set: 24 * HOUR_MS })).toBe(600_000);

  expect(runs).toEqual([NOON + 24 * HOUR_MS + 600_000]);
});

it('another moment takes the place of the one before, and none ends the wait', async () => {
  const { clock, due, runs } = waiting();
  due.at = NOON + 60_000;
  due.at = null;

  await clock.pass();

  expect(runs).toEqual([]);
  expect(clock.waits).toEqual([]);
});

/** A schedule by a clock that `pass` moves: also that of `new Date()`, which the library of schedules reads. */
function scheduled(fields: string): { clock: HandTime; schedule: Schedule; strikes: string[] } {
  const clock = new HandTime();
  vi.useFakeTimers({ now: clock.wall, toFake: ['Date'] });
  const end = new AbortController();
  Object.defineProperty(clock, 'wall', { get: Date.now, set: vi.setSystemTime });
  const strikes: string[] = [];
  const schedule = new Schedule(fields, { time: clock, signal: end.signal }, () => {
    strikes.push(new Date().toISOString());
  });
  onTestFinished(() => {
    end.abort();
    vi.useRealTimers();
  });
  return { clock, schedule, strikes };
}

async function passHours(clock: HandTime, hours: number): Promise<void> {
  const end = clock.wall + hours * HOUR_MS;
  while (clock.wall < end) await clock.pass();
}

it('a full check comes late, and once, where the process was busy or asleep at its time', async () => {
  const { clock, schedule, strikes } = scheduled('30 * * * *');
  expect(schedule.next).toBe('2026-11-24T12:30:00.000Z');
  await passHours(clock, 1);
  expect(strikes).toEqual(['2026-11-24T12:30:00.000Z']);

  const asleep = await clock.pass({ set: 5 * HOUR_MS });
  expect(strikes.slice(1)).toEqual([new Date(clock.wall).toISOString()]);
  expect(asleep).toBeLessThanOrEqual(600_000);
  expect(schedule.next).toBe('2026-11-24T18:30:00.000Z');
});

it('the next full check is shown as the clock has it, right after that was set back or ahead', () => {
  const { clock, schedule } = scheduled('30 * * * *');
  clock.wall -= 2 * HOUR_MS;
  expect(schedule.next).toBe('2026-11-24T10:30:00.000Z');
  clock.wall += 24 * HOUR_MS;
  expect(schedule.next).toBe('2026-11-25T10:30:00.000Z');
});

it('full checks go on after a clock that was a year ahead is set back', async () => {
  const { clock, schedule, strikes } = scheduled('30 * * * *');

  await clock.pass({ set: -365 * 24 * HOUR_MS });
  expect(schedule.next).toBe('2025-11-24T12:30:00.000Z');
  await passHours(clock, 2);

  expect(strikes).toEqual(['2025-11-24T12:30:00.000Z', '2025-11-24T13:30:00.000Z']);
});
