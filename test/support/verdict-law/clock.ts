import { setTimeout as pause } from 'node:timers/promises';
import { vi } from 'vitest';
import type { Time } from '../../../src/platform/clock.js';

/** Monday, in an open window. */
export const BEGIN_MS = Date.UTC(2026, 0, 5, 10);

interface Sleeper {
  readonly until: number;
  readonly ms: number;
  readonly wake: () => void;
}

/** The time of day of a whole test, which moves when the test moves it. Waits end when it has moved past them. */
export class MovedTime implements Time {
  #sleepers: Sleeper[] = [];

  now(): number {
    return Date.now();
  }

  random(): number {
    return 0;
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    if (ms <= 0) return;
    await new Promise<void>((resolve, reject) => {
      const wake = (): void => {
        signal?.removeEventListener('abort', end);
        resolve();
      };
      const sleeper = { until: Date.now() + ms, ms, wake };
      const end = (): void => {
        this.#sleepers = this.#sleepers.filter((each) => each !== sleeper);
        reject(signal?.reason as Error);
      };
      this.#sleepers.push(sleeper);
      if (signal?.aborted === true) end();
      else signal?.addEventListener('abort', end, { once: true });
    });
  }

  /** Moves the time of day and wakes all whose wait is over. */
  move(ms: number): void {
    vi.setSystemTime(Date.now() + ms);
    const due = this.#sleepers.filter(({ until }) => until <= Date.now());
    this.#sleepers = this.#sleepers.filter(({ until }) => until > Date.now());
    for (const { wake } of due) wake();
  }

  /** Waits until so many sleep for that long. */
  async asleep(count: number, ms: number): Promise<void> {
    while (this.#sleepers.filter((each) => each.ms === ms).length < count) await pause(1);
  }
}
