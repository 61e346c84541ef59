import { setImmediate as turn } from 'node:timers/promises';
import type { Time } from '../../src/platform/clock.js';

/** A clock that moves on to the next one that sleeps, once nothing else is under way. */
export class SimulatedTime implements Time {
  readonly #turns: number;
  #now = Date.UTC(2026, 0, 1);
  #sleepers: { readonly until: number; readonly wake: () => void }[] = [];
  /** Ends the wait for one that sleeps, or for the end of the work. */
  #goOn = (): void => undefined;

  /**
   * @param turns of the event loop after which nothing is under way; each looks at all sockets, and what goes over
   *   loopback in this process needs many.
   */
  constructor(turns = 50) {
    this.#turns = turns;
  }

  now(): number {
    return this.#now;
  }

  random(): number {
    return 0.5;
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#sleepers.push({ until: this.#now + ms, wake: resolve });
      signal?.addEventListener('abort', () => {
        reject(signal.reason as Error);
      });
      this.#goOn();
    });
  }

  /**
   * Lets time pass until the work is done.
   *
   * @param activity a number that grows with whatever happens in between, which takes no time by this clock.
   */
  async runUntil<T>(work: Promise<T>, activity: () => number): Promise<T> {
    let isDone = false;
    const ended = (): void => {
      isDone = true;
      this.#goOn();
    };
    work.then(ended, ended);
    // `isDone` is set while something else is awaited.
    while (!(isDone as boolean)) {
      if (this.#sleepers.length === 0) {
        await this.#sleeperOrEnd();
        continue;
      }
      const before = activity();
      for (let i = 0; i < this.#turns; i += 1) await turn();
      if (activity() === before) this.#wakeNext();
    }
    return work;
  }

  /** Turns of the event loop, while nobody sleeps, would take the processor from the git that the work waits for. */
  async #sleeperOrEnd(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#goOn = resolve;
    });
  }

  /** Moves the clock by hand, where no work is run. */
  async pass(ms: number): Promise<void> {
    this.#wakeAt(this.#now + ms);
    await turn();
  }

  #wakeNext(): void {
    const [next] = this.#sleepers.toSorted((a, b) => a.until - b.until);
    if (next !== undefined) this.#wakeAt(Math.max(this.#now, next.until));
  }

  #wakeAt(now: number): void {
    this.#now = now;
    const due = this.#sleepers.filter(({ until }) => until <= this.#now);
    this.#sleepers = this.#sleepers.filter(({ until }) => until > this.#now);
    for (const { wake } of due) wake();
  }
}
