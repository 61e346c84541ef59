import type { Time } from '../../src/platform/clock.js';

/** A clock that jumps over every sleep. Requests themselves take no time by it. */
export class JumpingTime implements Time {
  readonly sleeps: number[] = [];
  #now = Date.UTC(2026, 0, 1);
  readonly #random: number;

  /** @param random what chance always answers. */
  constructor(random = 0.5) {
    this.#random = random;
  }

  now(): number {
    return this.#now;
  }

  random(): number {
    return this.#random;
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    this.sleeps.push(ms);
    this.#now += ms;
    await Promise.resolve();
  }
}
