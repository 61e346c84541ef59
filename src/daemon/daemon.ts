import { EventEmitter } from 'node:events';
import type { Time } from '../platform/clock.js';
import type { Log } from '../platform/log.js';
import { packageVersion } from '../platform/package-files.js';
import { SourceLoop } from './source/source-loop.js';
import type { SourceOptions } from './source/source-runs.js';
import type { DaemonControls, DaemonEvents, DaemonView } from './view.js';

interface DaemonOptions {
  readonly sources: readonly SourceOptions[];
  /** Not set for the only one over its sources. */
  readonly replica?: string | undefined;
  readonly time: Time;
  readonly log: Log;
}

/** All of `watch` but its HTTP surface: reconciles each source on its own. */
export class Daemon implements DaemonView, DaemonControls {
  readonly version = packageVersion();
  readonly startedAt: string;
  readonly #loops: readonly SourceLoop[];
  readonly events = new EventEmitter<DaemonEvents>();
  #runs = 0;

  constructor({ sources, replica, time, log }: DaemonOptions) {
    this.startedAt = new Date(time.now()).toISOString();
    const started = this.startedAt.replace(/\D/g, '').slice(0, 14);
    const around = {
      time,
      log,
      newRunId: () => {
        this.#runs += 1;
        const number = String(this.#runs).padStart(6, '0');
        return [started, number, ...(replica === undefined ? [] : [replica])].join('-');
      },
      events: this.events,
    };
    this.#loops = sources.map((source) => new SourceLoop(source, around));
  }

  start(): void {
    for (const loop of this.#loops) loop.start();
  }

  /** Resolves once every run under way has finished its current request and ended. @param reason name of the signal. */
  async stop(reason: unknown): Promise<void> {
    await Promise.all(this.#loops.map(async (loop) => loop.stop(reason)));
  }

  readonly sources: DaemonView['sources'] = () => this.#loops.map((loop) => loop.view());

  readonly trigger: DaemonControls['trigger'] = (source, trigger) => {
    for (const loop of this.#named(source)) loop.ask(trigger);
  };

  readonly override: DaemonControls['override'] = (source, asked) => {
    for (const loop of this.#named(source)) loop.setOverride(asked);
  };

  #named(source: string | null): readonly SourceLoop[] {
    return this.#loops.filter(({ name }) => source === null || name === source);
  }
}
