import { join, resolve } from 'node:path';
import { sha256 } from '../model/json.js';
import { realTime, type Time } from '../platform/clock.js';
import type { Traffic } from '../admin-api/http/request.js';
import type { OperatorSettings } from './settings.js';
import { Daemon } from '../daemon/daemon.js';
import type { Replicas } from '../daemon/replicas/replicas.js';
import type { Confirm, SourceOptions } from '../daemon/source/source-runs.js';
import type { OpenRun } from '../daemon/source/cycle.js';
import { RunTraffic } from '../daemon/source/run-traffic.js';
import {
  signedUpstream,
  RemoteUpstream,
  type Seen,
  type Upstream,
} from '../daemon/upstream/upstream.js';
import { LocalUpstream } from '../daemon/upstream/local.js';
import { remoteAccess } from '../git/remote-access.js';
import type { Log } from '../platform/log.js';
import { RunCache } from '../reconcile/context.js';
import { Limiters } from '../admin-api/http/rate-limiter.js';
import { findEnvironment, findWorkspace } from '../admin-api/workspace.js';
import type { Desired } from '../model/desired.js';
import { readSpecs } from '../specs/read-specs.js';
import { openReading, openRun, type RunFlags } from './run.js';
import { accessTroubleOf } from '../daemon/health.js';
import type { DaemonView } from '../daemon/view.js';
import { messageOf, FlagkeelError } from '../errors.js';
import { runMaintenance } from '../git/clone.js';

type SourceLocation =
  | { readonly directory: string }
  | {
      readonly repo: string;
      readonly branch: string | undefined;
      readonly path: string | undefined;
    };

export interface WatchedSource extends Pick<
  SourceOptions,
  'name' | 'intervalMs' | 'jitterMs' | 'debounceMs' | 'schedule' | 'note'
> {
  readonly place: SourceLocation;
  readonly run: Omit<
    RunFlags,
    'dryRun' | 'suspend' | 'keys' | 'touchedSince' | 'quarantineInvalid' | 'only' | 'since'
  >;
  readonly settings: OperatorSettings;
}

/** Bare repositories of our own that a daemon fills: its clones, and the repositories of states. */
export function ownRepositories(sources: readonly WatchedSource[]): readonly string[] {
  return sources.flatMap((source) => {
    const { stateDir } = source.settings;
    const states = stateDir === undefined ? [] : [resolve(stateDir)];
    return 'repo' in source.place ? [upstreamOf(source).directory, ...states] : states;
  });
}

export interface DaemonParts {
  readonly traffic?: Traffic;
  readonly replicas?: Replicas | undefined;
  readonly time?: Time;
}

/** The daemon sends and opens nothing before it is started. */
export function createDaemon(
  sources: readonly WatchedSource[],
  log: Log,
  { traffic, replicas, time = realTime }: DaemonParts = {},
): Daemon {
  const limiters = new Limiters();
  const all = new RunTraffic(traffic);
  return new Daemon({
    replica: replicas?.id,
    time,
    log,
    sources: sources.map((source) => {
      const { signers } = source.settings;
      const whole = upstreamOf(source);
      const upstream = signers === null ? whole : signedUpstream(whole, signers);
      const runs = new RunTraffic(all);
      const ownLog = log.child({ source: source.name });
      const parts = { limiters, traffic: all, memory: new RunCache(), log: ownLog };
      return {
        ...source,
        upstream,
        openRun: runsOf(source, upstream, { ...parts, traffic: runs }, replicas !== undefined),
        confirm:
          source.run.embedded === true ? undefined : confirming(source, upstream, parts, runs),
        leadership: replicas?.leadership(leaseName(source, upstream), ownLog),
        allowOlder: source.run.allowOlder === true,
      };
    }),
  });
}

interface RunParts {
  readonly limiters: Limiters;
  readonly log: Log;
  /** Of all sources together, whose requests wait for each other. */
  readonly traffic: RunTraffic;
  readonly memory: RunCache;
}

/** Bounds of the silence after which the service counts as away. */
const PATIENCE_MS = { least: 1_000, most: 10_000 };

/** Asks for the environments: an answer shows that service, key and workspace are there. */
function confirming(
  { run, settings, intervalMs }: WatchedSource,
  upstream: Upstream,
  { log, memory, ...parts }: RunParts,
  runs: RunTraffic,
): Confirm {
  let read: { readonly seen: Seen; readonly desired: Desired | null } | null = null;
  const desiredOf = async (seen: Seen): Promise<Desired | null> => {
    if (read?.seen !== seen) read = { seen, desired: await readDesired(upstream, seen) };
    return read.desired;
  };
  const note = (text: string): void => {
    log.debug({ note: text }, 'note');
  };
  const { least, most } = PATIENCE_MS;
  const timeoutMs = Math.min(most, Math.max(least, intervalMs));
  return async (ending, { seen, isRunning, isAway }) => {
    const isAnswered = isRunning && runs.silentMs < timeoutMs;
    if (isAnswered && !isAway) return undefined;
    const { answers } = runs;
    const asked = new RunTraffic(parts.traffic);
    const { place } = memory;
    const desired = place?.desired ?? (seen && (await desiredOf(seen).catch(() => null)));
    if (desired === null) return undefined;
    // The service may ask for longer pauses, which no confirmation waits for.
    const deadline = AbortSignal.timeout(2 * timeoutMs);
    const signal = AbortSignal.any([ending, deadline]);
    const flags = { ...run, timeout: timeoutMs };
    const surroundings = { settings, signal, note, ...parts, traffic: asked };
    try {
      await using opened = await openReading(upstream.directory, flags, surroundings, desired);
      const { reader } = opened;
      const live = place
        ? { ...place, environments: await reader.listEnvironments(place.workspace.id) }
        : await findWorkspace(reader, desired.config.workspace);
      for (const environment of desired.config.environments) {
        findEnvironment(live, environment.name);
      }
      return null;
    } catch (error) {
      if (isAnswered || runs.answers > answers) return undefined;
      if (!deadline.aborted || ending.aborted) return accessTroubleOf(error);
      // It has waited for its turn alone: behind what the service answers, or as long as that asked.
      const isPaused = asked.silentMs === 0 && parts.traffic.silentMs < timeoutMs;
      // 429 is the answer of a service that is there, 503 is not.
      if (isPaused && (asked.status ?? 429) === 429) return undefined;
      const silence = `no answer within ${String((2 * timeoutMs) / 1_000)} s`;
      const what = isPaused ? `the service answered ${String(asked.status)}` : silence;
      return { what: 'service', why: `cannot reach the service: ${what}` };
    }
  };
}

/** null: the specs are invalid, so that they do not say where the service is. */
async function readDesired(upstream: Upstream, { commit }: Seen): Promise<Desired | null> {
  await using source = await upstream.open(commit?.commit ?? null);
  const specs = await readSpecs(source.tree);
  return specs.ok ? specs.desired : (specs.rest?.desired ?? null);
}

function runsOf(
  { run, settings }: WatchedSource,
  { directory, pushState }: Upstream,
  { log, memory, ...parts }: RunParts,
  isShared: boolean,
): OpenRun {
  const note = (text: string): void => {
    log.info({ note: text }, 'note');
  };
  // The next replica has to find the records of this one.
  const sharing = isShared ? { pushState: true } : pushState !== undefined && { pushState };
  return async ({ open, isolated, signal, fence, progress, ...asked }) => {
    const adopt = run.adopt === true || asked.adopt;
    const flags = { ...run, ...asked, adopt, quarantineInvalid: true, ...sharing };
    const own = isolated ? memory.isolated() : memory;
    const around = { ...parts, settings, signal, note, open, fence, progress, memory: own };
    return openRun(directory, flags, around);
  };
}

/** Equal in all replicas of one daemon; different for the same source and another service. */
function leaseName({ name, run, settings }: WatchedSource, { location, branch }: Upstream): string {
  const { url = settings.url ?? null, environment } = run;
  return `source-${hashOf(name, location, branch, url, environment)}`;
}

function upstreamOf({ place, settings }: WatchedSource): Upstream {
  if ('directory' in place) return new LocalUpstream(place.directory);
  const { repo, branch = null, path = '' } = place;
  return new RemoteUpstream({
    remote: remoteAccess({ ...settings.git, url: repo }),
    directory: join(clonesFolder(settings), `${hashOf(repo, branch, path)}.git`),
    branch,
    path,
  });
}

/** Beside the state, which is on a lasting volume; otherwise in the working directory. */
function clonesFolder({ stateDir }: OperatorSettings): string {
  return stateDir === undefined
    ? resolve('.flagkeel', 'clones')
    : join(resolve(stateDir), 'flagkeel', 'clones');
}

function hashOf(...words: readonly unknown[]): string {
  return sha256(JSON.stringify(words)).slice(0, 16);
}

const RUNS = 50;

/**
 * Packs repositories after the daemon's first run, because an earlier process may have left much to pack, and then after
 * each `RUNS`.
 *
 * @param directories bare repositories of our own.
 */
export function startMaintenance(
  daemon: DaemonView,
  directories: readonly string[],
  log: Log,
): { readonly close: () => Promise<void> } {
  const ending = new AbortController();
  const isEnding = (): boolean => ending.signal.aborted;
  let runs = 0;
  let working: Promise<void> = Promise.resolve();
  const work = async (): Promise<void> => {
    for (const directory of new Set(directories)) {
      if (isEnding()) return;
      try {
        // One after the other, because each occupies a core.
        await runMaintenance(directory, ending.signal);
      } catch (error) {
        if (!isEnding()) log.warn({ why: messageOf(error) }, 'cannot keep house');
      }
    }
  };
  daemon.events.on('end', () => {
    if (runs % RUNS === 0) working = working.then(work);
    runs += 1;
  });
  return {
    close: async () => {
      ending.abort();
      await working;
    },
  };
}

/** During a shorter lease, a pause of the machine would look like the end of a replica. */
const MIN_LEASE_MS = 1_000;

/** undefined for a daemon without replicas. @throws FlagkeelError `USAGE` */
export function databaseOf(
  { database, embedded }: { readonly database?: string; readonly embedded?: boolean },
  settings: OperatorSettings,
): string | undefined {
  const url = database ?? settings.database();
  if (url === undefined) return undefined;
  if (embedded === true) {
    throw new FlagkeelError('USAGE', 'cannot use --database with --embedded: nobody shares that');
  }
  if (URL.canParse(url) && /^postgres(ql)?:$/.test(new URL(url).protocol)) return url;
  throw new FlagkeelError('USAGE', 'cannot use the database: a URL postgres://… is expected');
}

/** @throws FlagkeelError `USAGE`, `STATE_UNREADABLE` */
export async function openReplicas(
  database: string | undefined,
  leaseMs: number,
  log: Log,
): Promise<Replicas | undefined> {
  if (database === undefined) return undefined;
  if (leaseMs < MIN_LEASE_MS) {
    throw new FlagkeelError('USAGE', `cannot lease for less than ${MIN_LEASE_MS} ms`);
  }
  // Loaded on use, because it brings the queue and the driver of the database.
  const { Replicas: Loaded } = await import('../daemon/replicas/replicas.js');
  return Loaded.open({ url: database, leaseMs, time: realTime, log });
}

/** The password, both as the URL has it and decoded. */
export function secretsInUrl(url: string): readonly string[] {
  const { password } = new URL(url);
  return password === '' ? [] : [password, decodeURIComponent(password)];
}
