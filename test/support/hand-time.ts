import { setImmediate as turn } from 'node:timers/promises';
import type { Time } from '../../src/platform/clock.js';

/** A clock on the wall that can be set; a wait takes as long as the steady clock beside it says, once a test ends it. */
export class HandTime implements Time {
  wall = Date.parse('2026-11-24T12:00:00Z');
  waits: { readonly ms: number; readonly wake: () => void }[] = [];

  now(): number {
    return this.wall;
  }

  random(): number {
    return 0.5;
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      const end = (): void => {
        reject(signal?.reason as Error);
      };
      signal?.addEventListener('abort', end);
      const wake = (): void => {
        signal?.removeEventListener('abort', end);
        resolve();
      };
      this.waits.push({ ms, wake });
    });
  }

  /** Lets the newest wait pass. @param set the wall clock is set by so much besides. @returns its milliseconds. */
  async pass({ set = 0 } = {}): Promise<number> {
    const wait = this.waits.pop();
    if (!wait) throw new Error('nothing waits');
    this.wall += wait.ms + set;
    wait.wake();
    await turn();
    return wait.ms;
  }
}
