import { expect, it } from 'vitest';
import { Alarm } from '../../../../src/daemon/source/triggers.js';
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
