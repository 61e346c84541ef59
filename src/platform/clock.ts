import { setTimeout as sleep } from 'node:timers/promises';
import { FlagkeelError } from '../errors.js';

/** Clock, sleep and randomness, passed in so that tests are fast and deterministic. */
export interface Time {
  /** Milliseconds since the epoch. */
  now(): number;
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** From 0 (inclusive) to 1 (exclusive). */
  random(): number;
}

export const realTime: Time = {
  now: () => Date.now(),
  sleep: async (ms, signal) => {
    await sleep(ms, undefined, signal === undefined ? {} : { signal });
  },
  random: () => Math.random(),
};

export const UNIT_MS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** `250ms`, `30s`, `5m`, `2h`, `7d` in milliseconds; undefined for other texts. */
export function parseDuration(text: string): number | undefined {
  const [, count, unit] = /^(\d+)(ms|s|m|h|d)$/.exec(text) ?? [];
  return unit === undefined ? undefined : Number(count) * UNIT_MS[unit as keyof typeof UNIT_MS];
}

/** Monotonic clock, for durations only: `now` is no time of day, and setting the machine's clock does not move it. */
export const steadyTime: Time = { ...realTime, now: () => performance.now() };

/** @returns whether the time has passed; false as soon as the signal is aborted. */
export async function paused(
  ms: number,
  time: Pick<Time, 'sleep'>,
  signal: AbortSignal,
): Promise<boolean> {
  return time.sleep(ms, signal).then(
    () => !signal.aborted,
    () => false,
  );
}

/** Calls `work`, which must not reject, after each pause, until the signal is aborted or there is no further pause. */
export async function afterEachPause(
  pauseMs: () => number | null,
  { time, signal }: { readonly time: Pick<Time, 'sleep'>; readonly signal: AbortSignal },
  work: () => Promise<void> | void,
): Promise<void> {
  for (let ms = pauseMs(); ms !== null; ms = pauseMs()) {
    if (!(await paused(ms, time, signal))) return;
    await work();
  }
}

/** @throws FlagkeelError `INTERRUPTED` as soon as the signal is aborted. */
export async function pauseForLock(ms: number, signal: AbortSignal | undefined): Promise<void> {
  try {
    await realTime.sleep(ms, signal);
  } catch (cause) {
    const message = 'cannot lock the state: interrupted while another run held it';
    throw new FlagkeelError('INTERRUPTED', message, { cause });
  }
}
