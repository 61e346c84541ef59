import { createDaemon, type DaemonParts, type WatchedSource } from '../../src/compose/watch.js';
import { operatorSettings } from '../../src/compose/settings.js';
import type { Daemon } from '../../src/daemon/daemon.js';
import type { RunRecord, SourceView } from '../../src/daemon/view.js';
import { createLog } from '../../src/platform/log.js';
import { onTestFinished } from 'vitest';
import type { Files } from './git.js';
import { flagSpec, PIPELINE_CONFIG, pipelineWorld, type PipelineWorld } from './pipeline-world.js';
import type { ServiceOptions } from '../../src/service/service.js';
import type { TestService } from './service.js';

const PATIENCE_MS = 60_000;

/** A daemon in this process, over a real directory and a real service; it looks only when it is told to. */
export class InProcessDaemon {
  readonly daemon: Daemon;
  readonly runs: RunRecord[] = [];
  readonly log: string[] = [];

  constructor(
    directory: string,
    { origin, key }: Pick<TestService, 'origin' | 'key'>,
    options: Partial<WatchedSource> = {},
    parts: DaemonParts = {},
  ) {
    const settings = operatorSettings({ FLAGKEEL_API_KEY: key });
    const log = createLog({
      level: 'debug',
      format: 'json',
      stream: { write: (line) => this.log.push(line) },
    });
    const source: WatchedSource = {
      name: 'default',
      place: { directory },
      intervalMs: 3_600_000,
      jitterMs: 0,
      debounceMs: 10,
      schedule: null,
      note: {},
      run: { url: origin, environment: [], lockTimeout: 0 },
      settings,
      ...options,
    };
    this.daemon = createDaemon([source], log, parts);
    this.daemon.events.on('end', (_, run) => this.runs.push(run));
  }

  get view(): SourceView {
    const [view] = this.daemon.sources();
    if (!view) throw new Error('the daemon has no source');
    return view;
  }

  /** Waits until it is true, looking after each change. */
  async until(isTrue: () => boolean, what = 'it'): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      const look = (): void => {
        if (!isTrue()) return;
        end();
        resolve();
      };
      const timer = setTimeout(() => {
        end();
        reject(new Error(`waited in vain for ${what}:\n${this.log.slice(-20).join('')}`));
      }, PATIENCE_MS);
      const end = (): void => {
        clearTimeout(timer);
        this.daemon.events.off('change', look);
      };
      this.daemon.events.on('change', look);
      look();
    });
  }

  /** Starts one more run, and waits until it and all that follow are over. */
  async run(): Promise<RunRecord> {
    const before = this.runs.length;
    this.daemon.trigger(null, 'request');
    return this.rest(before + 1);
  }

  /** Waits until so many runs are over and none is under way; after a failure, one may be due. */
  async rest(runs: number): Promise<RunRecord> {
    const what = `rest after ${String(runs)} runs`;
    const rests = (): boolean => ['idle', 'backing-off'].includes(this.view.phase);
    await this.until(() => this.runs.length >= runs && rests(), what);
    const last = this.runs.at(-1);
    if (!last) throw new Error('there was no run');
    return last;
  }
}

/** A daemon over the repository of a test, past its first run. It ends with the test. */
export async function watchHere(
  { repository, service }: Pick<PipelineWorld, 'repository' | 'service'>,
  options?: Partial<WatchedSource>,
): Promise<InProcessDaemon> {
  const watched = new InProcessDaemon(repository.directory, service, options);
  onTestFinished(async () => watched.daemon.stop('SIGTERM'));
  watched.daemon.start();
  await watched.rest(1);
  return watched;
}

export interface WatchedWorld {
  readonly world: PipelineWorld;
  readonly watched: InProcessDaemon;
  /** Commits, and waits for the run of a poll that finds it. */
  readonly follow: (message: string, files: Files) => Promise<RunRecord>;
}

/** A daemon, past its first run, over a repository with these flags. It ends with the test. */
export async function watchedWorld(
  flags: readonly string[],
  {
    service,
    options,
  }: {
    readonly service?: Partial<ServiceOptions>;
    readonly options?: (world: PipelineWorld) => Partial<WatchedSource>;
  } = {},
): Promise<WatchedWorld> {
  const world = await pipelineWorld(undefined, service);
  const { repository } = world;
  const files = flags.map((name) => [`flags/${name}.yaml`, flagSpec(name)]);
  repository.commit('Add flags', {
    'flagkeel.yaml': PIPELINE_CONFIG,
    ...(Object.fromEntries(files) as Files),
  });
  const watched = await watchHere(world, options?.(world));
  return {
    world,
    watched,
    follow: async (message, changed) => {
      repository.commit(message, changed);
      watched.daemon.trigger(null, 'webhook');
      return watched.rest(watched.runs.length + 1);
    },
  };
}
