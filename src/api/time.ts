import { setTimeout as sleep } from 'node:timers/promises';

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
