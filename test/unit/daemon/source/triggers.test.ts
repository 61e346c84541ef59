import { expect, it, onTestFinished, vi } from 'vitest';
import { Alarm, Schedule } from '../../../../src/daemon/source/triggers.js';
import { createLog } from '../../../../src/platform/log.js';
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

it('a full check comes late, and once, where the process was busy or asleep at its time', async () => {
  vi.useFakeTimers({ now: new Date('2026-10-01T12:00:00') });
  onTestFinished(() => void vi.useRealTimers());
  const stream = { write: () => undefined };
  const log = createLog({ level: 'silent', format: 'json', stream });
  let strikes = 0;
  const schedule = new Schedule('0 3 * * *', log, () => {
    strikes += 1;
  });
  await vi.advanceTimersByTimeAsync(14 * HOUR_MS);
  expect(strikes).toBe(0);

  // The hour that the timer still waits for ends two days later by the clock.
  vi.setSystemTime(new Date('2026-10-04T03:00:05'));
  await vi.advanceTimersByTimeAsync(HOUR_MS);
  expect(strikes).toBe(1);

  await vi.advanceTimersByTimeAsync(23 * HOUR_MS);
  expect(strikes).toBe(2);
  await schedule.stop();
});
