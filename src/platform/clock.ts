import { setTimeout as sleep } from 'node:timers/promises';
import { FlagkeelError } from '../errors.js';

/** Clock, sleep and chance, passed in so that tests neither wait nor guess. */
export interface Time {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Rejects as soon as the signal is aborted. */
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

/** For how long something takes: `now` tells no moment of a day, and does not jump when somebody sets the clock of the machine. */
export const steadyTime: Time = { ...realTime, now: () => performance.now() };

/**
 * Waits between two looks at a lock that another run holds.
 *
 * @throws FlagkeelError `INTERRUPTED` as soon as the signal is aborted.
 */
export async function pauseForLock(ms: number, signal: AbortSignal | undefined): Promise<void> {
  try {
    await sleep(ms, undefined, signal === undefined ? {} : { signal });
  } catch (cause) {
    throw new FlagkeelError(
      'INTERRUPTED',
      'cannot lock the state: interrupted while another run held it',
      { cause },
    );
  }
}
