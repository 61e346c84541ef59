import type { Time } from '../../platform/clock.js';

/** Asks whether service, key, workspace and environments still answer. */
export type Confirm = (signal: AbortSignal) => Promise<'confirmed' | 'nothing-to-confirm'>;

export interface ConfirmerOptions {
  readonly time: Time;
  /** Time between two confirmations. */
  readonly intervalMs: number;
  readonly confirm: Confirm;
  /** Whether a run is under way, which asks the service itself. */
  readonly isRunning: () => boolean;
  /** Called after each confirmation. `error` is null if everything answered. */
  readonly onEnd: (error: unknown) => void;
}

/** Confirms at each interval that the service still answers, so that silence cannot look like peace. */
export class Confirmer {
  readonly #options: ConfirmerOptions;
  readonly #ending = new AbortController();
  #working: Promise<void> = Promise.resolve();

  constructor(options: ConfirmerOptions) {
    this.#options = options;
  }

  start(): void {
    this.#working = this.#confirmByTheClock();
  }

  /** Resolves when the confirmation under way has ended. */
  async close(): Promise<void> {
    this.#ending.abort();
    await this.#working;
  }

  async #confirmByTheClock(): Promise<void> {
    const { time, intervalMs, isRunning } = this.#options;
    const { signal } = this.#ending;
    for (;;) {
      try {
        await time.sleep(intervalMs, signal);
      } catch {
        return;
      }
      if (!isRunning()) await this.#confirmOnce(signal);
    }
  }

  async #confirmOnce(signal: AbortSignal): Promise<void> {
    const { confirm, isRunning, onEnd } = this.#options;
    const end = await confirm(signal).then(
      (found) => ({ isNews: found === 'confirmed', error: null as unknown }),
      (error: unknown) => ({ isNews: true, error }),
    );
    // A run that began meanwhile knows more.
    if (end.isNews && !signal.aborted && !isRunning()) onEnd(end.error);
  }
}
