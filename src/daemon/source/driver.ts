import { paused, type Time } from '../../platform/clock.js';
import {
  INITIAL,
  next,
  retryDelayMs,
  type Effect,
  type Machine,
  type MachineEvent,
} from './machine.js';
import type { Phase, Trigger } from '../view.js';

interface DriverOptions {
  readonly time: Time;
  readonly debounceMs: number;
  /** Does one run, and never rejects. @returns whether it failed in a way that another try may mend. */
  readonly run: (triggers: readonly Trigger[], signal: AbortSignal) => Promise<boolean>;
  readonly onChange: () => void;
}

/** Drives the state machine of one source: waits, starts runs, and reports their ends to the machine. */
export class Driver {
  readonly #options: DriverOptions;
  #state: Machine = INITIAL;
  #wait: AbortController | null = null;
  #run: AbortController | null = null;
  #nextRetryAt: number | null = null;
  #stopReason: unknown;
  #stopped: (() => void)[] = [];

  constructor(options: DriverOptions) {
    this.#options = options;
  }

  get phase(): Phase {
    return this.#state.phase === 'stopped' ? 'stopping' : this.#state.phase;
  }

  get nextRetryAt(): number | null {
    return this.#state.phase === 'backing-off' ? this.#nextRetryAt : null;
  }

  trigger(trigger: Trigger): void {
    this.#send({ type: 'trigger', trigger });
  }

  interrupt(reason: unknown): void {
    this.#run?.abort(reason);
  }

  /** Resolves when the run under way, if any, has ended. @param reason passed to the signal of that run. */
  async stop(reason: unknown): Promise<void> {
    if (this.#state.phase === 'stopped') return;
    const stopped = new Promise<void>((resolve) => this.#stopped.push(resolve));
    this.#stopReason = reason;
    this.#send({ type: 'stop' });
    await stopped;
  }

  #send(event: MachineEvent): void {
    const { state, effects } = next(this.#state, event);
    this.#state = state;
    for (const effect of effects) this.#take(effect);
    this.#options.onChange();
  }

  #take(effect: Effect): void {
    switch (effect.do) {
      case 'run':
        void this.#start(effect.triggers);
        return;
      case 'wait':
        void this.#sleep(effect);
        return;
      case 'cancel-wait':
        this.#wait?.abort();
        return;
      case 'interrupt':
        this.#run?.abort(this.#stopReason ?? 'kill');
        return;
      case 'stopped':
        for (const resolve of this.#stopped) resolve();
    }
  }

  async #start(triggers: readonly Trigger[]): Promise<void> {
    const run = new AbortController();
    this.#run = run;
    const failed = await this.#options.run(triggers, run.signal);
    this.#send({ type: 'ended', failed });
  }

  async #sleep(effect: Extract<Effect, { do: 'wait' }>): Promise<void> {
    const { time, debounceMs } = this.#options;
    const isRetry = effect.for === 'retry';
    const ms = isRetry ? retryDelayMs(effect.failures, time.random()) : debounceMs;
    this.#nextRetryAt = isRetry ? time.now() + ms : null;
    const wait = new AbortController();
    this.#wait = wait;
    if (await paused(ms, time, wait.signal)) this.#send({ type: 'time-is-up' });
  }
}
