import { createHash } from 'node:crypto';
import { join, resolve } from 'node:path';
import { realTime } from '../api/time.js';
import type { Traffic } from '../api/traffic.js';
import type { GitCredentials, OperatorSettings } from '../config.js';
import { Daemon } from '../daemon/daemon.js';
import type { Replicas } from '../daemon/replicas/replicas.js';
import type { SourceOptions } from '../daemon/source-options.js';
import type { OpenRun } from '../daemon/cycle.js';
import { LocalUpstream } from '../daemon/upstream/local.js';
import { RemoteUpstream } from '../daemon/upstream/remote.js';
import type { Upstream } from '../daemon/upstream/upstream.js';
import { remoteAccess } from '../git/remote-access.js';
import type { Log } from '../log.js';
import { RunMemory } from '../stages/run-memory.js';
import { packageVersion } from '../version.js';
import { Limiters } from './limiters.js';
import { openRun, type RunFlags } from './open-run.js';

/** Where the specs of a source come from. */
export type WatchedPlace =
  | { readonly directory: string }
  | {
      readonly repo: string;
      readonly branch: string | undefined;
      readonly path: string | undefined;
    };

/** One source, as the operator asked for it. */
export interface WatchedSource extends Pick<
  SourceOptions,
  'name' | 'intervalMs' | 'jitterMs' | 'debounceMs' | 'schedule' | 'words'
> {
  readonly place: WatchedPlace;
  readonly run: Omit<
    RunFlags,
    'dryRun' | 'suspend' | 'everyKey' | 'touched' | 'holdInvalid' | 'only' | 'since'
  >;
  /** The operator's settings, where this source has its own. */
  readonly settings: OperatorSettings;
}

/** Bare repositories of our own that a daemon over these sources fills: clones, and where states are kept. */
export function ownRepositories(sources: readonly WatchedSource[]): readonly string[] {
  return sources.flatMap((source) => {
    const { stateDir } = source.settings;
    const states = stateDir === undefined ? [] : [resolve(stateDir)];
    return 'repo' in source.place ? [upstreamOf(source).directory, ...states] : states;
  });
}

/** Builds the daemon. Nothing is looked at, opened or asked before it is started. */
export function createDaemon(
  sources: readonly WatchedSource[],
  log: Log,
  { traffic, replicas }: { traffic?: Traffic; replicas?: Replicas | undefined } = {},
): Daemon {
  const limiters = new Limiters();
  return new Daemon({
    version: packageVersion(),
    replica: replicas?.id,
    time: realTime,
    log,
    sources: sources.map((source) => {
      const upstream = upstreamOf(source);
      return {
        ...source,
        upstream,
        openRun: runsOf(source, upstream, {
          ...{ limiters, log, traffic },
          isShared: replicas !== undefined,
        }),
        seat: replicas?.seat(seatKey(source, upstream), log.child({ source: source.name })),
        allowOlder: source.run.allowOlder === true,
      };
    }),
  });
}

function runsOf(
  { name, run, settings }: WatchedSource,
  { directory, pushState }: Upstream,
  {
    limiters,
    log,
    traffic,
    isShared,
  }: { limiters: Limiters; log: Log; traffic: Traffic | undefined; isShared: boolean },
): OpenRun {
  const note = (text: string): void => {
    log.info({ source: name, note: text }, 'note');
  };
  const memory = new RunMemory();
  return async ({ open, look, everyKey, suspend, allowOlder, dryRun, signal, fence }) =>
    openRun(
      directory,
      {
        ...run,
        ...{ everyKey, suspend, allowOlder, dryRun, only: [], holdInvalid: true },
        touched: look === 'touched',
        // What one replica remembers, the next has to find.
        ...(isShared ? { pushState: true } : pushState !== undefined && { pushState }),
      },
      {
        ...{ settings, signal, note, open, limiters, traffic, fence },
        ...(look !== 'apart' && { memory }),
      },
    );
}

/** The same in all replicas of one daemon; another where the same source is kept for another service. */
function seatKey({ name, run, settings }: WatchedSource, { location, branch }: Upstream): string {
  const { url = settings.url ?? null, environment } = run;
  const words = JSON.stringify([name, location, branch, url, environment]);
  return `source-${createHash('sha256').update(words).digest('hex').slice(0, 16)}`;
}

/** @throws FlaghoistError `USAGE` the place cannot be one. */
function upstreamOf({ place, settings }: WatchedSource): Upstream {
  if ('directory' in place) return new LocalUpstream(place.directory);
  const { repo, branch = null, path = '' } = place;
  return new RemoteUpstream({
    remote: remoteAccess({ url: repo, ...credentials(settings.git) }),
    directory: join(clonesFolder(settings), `${cloneName(repo, branch, path)}.git`),
    branch,
    path,
  });
}

function credentials({ user, token, sshKeyFile, knownHostsFile }: GitCredentials) {
  return { user, token, sshKeyFile, knownHostsFile };
}

/** Beside the state, which is on a volume that lasts; otherwise where the daemon was started. */
function clonesFolder({ stateDir }: OperatorSettings): string {
  return stateDir === undefined
    ? resolve('.flaghoist', 'clones')
    : join(resolve(stateDir), 'flaghoist', 'clones');
}

function cloneName(...words: readonly (string | null)[]): string {
  return createHash('sha256').update(JSON.stringify(words)).digest('hex').slice(0, 16);
}
