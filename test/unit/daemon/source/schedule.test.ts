import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Schedule } from '../../../../src/daemon/source/triggers.js';
import { createLog } from '../../../../src/platform/log.js';

const HOUR_MS = 3_600_000;
const log = createLog({ level: 'silent', format: 'json', stream: { write: () => undefined } });

beforeEach(() => {
  vi.useFakeTimers({ now: new Date('2026-10-01T12:00:00') });
});

afterEach(() => {
  vi.useRealTimers();
});

it('a full check comes late, and once, where the process was busy or asleep at its time', async () => {
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
