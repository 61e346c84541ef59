import { openCommitStatuses } from '../compose/commit-statuses.js';
import { openOperations } from '../compose/operations.js';
import { databaseOf, openReplicas, secretsInUrl } from '../compose/replicas.js';
import { createDaemon, type WatchedSource } from '../compose/watch.js';
import { forgeToken, operatorSettings } from '../config.js';
import { Metrics } from '../daemon/metrics/metrics.js';
import type { ExitCode } from '../errors.js';
import { createLog, type Log } from '../log.js';
import { exitCodeOfSignal } from '../stages/reporting.js';
import type { Terminal, WatchFlags } from './options.js';
import { watchedSources } from './watched-sources.js';

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
  const metrics = new Metrics();
  const replicas = await openReplicas(database, flags.lease, log);
  const daemon = createDaemon(sources, log, { traffic: metrics.traffic, replicas });
  const { environment } = terminal;
  const statuses = openCommitStatuses(daemon, flags, { sources, environment, log });
  const operations = await openOperations(daemon, flags, { metrics, log });
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
  await Promise.all([operations.close(), statuses.close()]);
  log.info({}, 'stopped');
  return exitCodeOfSignal(terminal.signal);
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
