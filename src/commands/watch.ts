import { openCommitStatuses, readStatuses } from '../compose/commit-statuses.js';
import { startHousekeeping } from '../compose/housekeeping.js';
import { openOperations, readOperations } from '../compose/operations.js';
import { databaseOf, openReplicas, secretsInUrl } from '../compose/replicas.js';
import { createDaemon, ownRepositories, type WatchedSource } from '../compose/watch.js';
import { forgeToken, operatorSettings } from '../config.js';
import { Metrics } from '../daemon/metrics/metrics.js';
import type { ExitCode } from '../errors.js';
import { createLog, type Log } from '../log.js';
import { exitCodeOfSignal } from '../stages/reporting.js';
import type { Terminal, WatchFlags } from './options.js';
import { watchedSources } from './watched-sources.js';

interface Watched {
  readonly sources: readonly WatchedSource[];
  readonly plans: {
    readonly statuses: ReturnType<typeof readStatuses>;
    readonly operations: Awaited<ReturnType<typeof readOperations>>;
  };
  readonly replicas: Awaited<ReturnType<typeof openReplicas>>;
}

/** Keeps the service in line until a signal comes. Whatever fails meanwhile is said in the log, and tried again. */
export async function runWatch(
  directory: string,
  flags: WatchFlags,
  terminal: Terminal,
): Promise<ExitCode> {
  const settings = operatorSettings(terminal.environment);
  const sources = await watchedSources(directory, flags, settings);
  const database = databaseOf(flags, settings);
  const log = watchLog(flags, terminal, { sources, database });
  const { environment } = terminal;
  const plans = {
    statuses: readStatuses(flags, sources, environment),
    operations: await readOperations(flags),
  };
  const replicas = await openReplicas(database, flags.lease, log);
  try {
    await watch({ sources, plans, replicas }, terminal, log);
  } catch (error) {
    await replicas?.close();
    throw error;
  }
  return exitCodeOfSignal(terminal.signal);
}

/** Until the signal comes; what was opened is closed then. */
async function watch(
  { sources, plans, replicas }: Watched,
  terminal: Terminal,
  log: Log,
): Promise<void> {
  const metrics = new Metrics();
  const daemon = createDaemon(sources, log, { traffic: metrics.traffic, replicas });
  const operations = await openOperations(daemon, plans.operations, { metrics, log });
  const { environment } = terminal;
  const statuses = openCommitStatuses(daemon, plans.statuses, { environment, log });
  const house = startHousekeeping(daemon, ownRepositories(sources), log);
  const { url } = operations;
  log.info({ version: daemon.version, sources: daemon.sources().length, url }, 'watching');
  terminal.onHangup?.(() => {
    daemon.trigger(null, 'signal');
  });
  daemon.start();
  replicas?.start();
  await aborted(terminal.signal);
  log.info({ signal: terminal.signal.reason as unknown }, 'stopping');
  await daemon.stop(terminal.signal.reason);
  await replicas?.close();
  await Promise.all([operations.close(), statuses.close(), house.close()]);
  log.info({}, 'stopped');
}

function watchLog(
  { quiet, verbose, logFormat, color }: WatchFlags,
  { stderr, environment }: Terminal,
  { sources, database }: { sources: readonly WatchedSource[]; database: string | undefined },
): Log {
  return createLog({
    level: verbose === true ? 'debug' : quiet === true ? 'warn' : 'info',
    format: logFormat ?? (stderr.isTTY ? 'pretty' : 'json'),
    stream: stderr,
    colour: color && stderr.isTTY,
    secrets: () => [
      secret(() => forgeToken(environment)),
      ...sources.flatMap(({ settings: { apiKey, git } }) => [secret(apiKey), secret(git.token)]),
      ...(database === undefined ? [] : secretsInUrl(database)),
    ],
  });
}

function secret(read: () => string | undefined): string {
  try {
    return read() ?? '';
  } catch {
    return '';
  }
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise((resolve) => {
    signal.addEventListener('abort', resolve, { once: true });
  });
}
