import { createHash } from 'node:crypto';
import { join, resolve } from 'node:path';
import { realTime } from '../api/time.js';
import type { Traffic } from '../api/traffic.js';
import type { GitCredentials, OperatorSettings } from '../config.js';
import { Daemon } from '../daemon/daemon.js';
import type { SourceOptions } from '../daemon/source-loop.js';
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

/** Builds the daemon. Nothing is looked at, opened or asked before it is started. */
export function createDaemon(
  sources: readonly WatchedSource[],
  log: Log,
  traffic?: Traffic,
): Daemon {
  const limiters = new Limiters();
  return new Daemon({
    version: packageVersion(),
    time: realTime,
    log,
    sources: sources.map((source) => {
      const upstream = upstreamOf(source);
      return {
        ...source,
        upstream,
        openRun: runsOf(source, upstream, { limiters, log, traffic }),
        allowOlder: source.run.allowOlder === true,
      };
    }),
  });
}

function runsOf(
  { name, run, settings }: WatchedSource,
  { directory, pushState }: Upstream,
  { limiters, log, traffic }: { limiters: Limiters; log: Log; traffic: Traffic | undefined },
): OpenRun {
  const note = (text: string): void => {
    log.info({ source: name, note: text }, 'note');
  };
  const memory = new RunMemory();
  return async ({ open, look, everyKey, suspend, allowOlder, dryRun, signal }) =>
    openRun(
      directory,
      {
        ...run,
        ...{ everyKey, suspend, allowOlder, dryRun, only: [], holdInvalid: true },
        touched: look === 'touched',
        ...(pushState !== undefined && { pushState }),
      },
      {
        ...{ settings, signal, note, open, limiters, traffic },
        ...(look !== 'apart' && { memory }),
      },
    );
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
