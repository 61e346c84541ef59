import { createDaemon, type WatchedSource } from '../compose/watch.js';
import { operatorSettings, type OperatorSettings } from '../config.js';
import { isSchedule } from '../daemon/schedule.js';
import { FlaghoistError, type ExitCode } from '../errors.js';
import { createLog, type Log } from '../log.js';
import { exitCodeOfSignal } from '../stages/reporting.js';
import type { Terminal, WatchFlags } from './options.js';

const JITTER_PART = 0.1;

/** Keeps the service in line until a signal comes. Whatever fails meanwhile is said in the log, and tried again. */
export async function runWatch(
  directory: string,
  flags: WatchFlags,
  terminal: Terminal,
): Promise<ExitCode> {
  const settings = operatorSettings(terminal.environment);
  const log = watchLog(flags, terminal, settings);
  const daemon = createDaemon([onlySource(directory, flags, settings)], log);
  log.info({ version: daemon.version, sources: daemon.sources().length }, 'watching');
  terminal.onHangup?.(() => {
    daemon.trigger(null, 'signal');
  });
  daemon.start();
  await aborted(terminal.signal);
  log.info({ signal: terminal.signal.reason as unknown }, 'stopping');
  await daemon.stop(terminal.signal.reason);
  log.info({}, 'stopped');
  return exitCodeOfSignal(terminal.signal);
}

function watchLog(
  { quiet, verbose, logFormat, color }: WatchFlags,
  { stderr }: Terminal,
  settings: OperatorSettings,
): Log {
  return createLog({
    level: verbose === true ? 'debug' : quiet === true ? 'warn' : 'info',
    format: logFormat ?? (stderr.isTTY ? 'pretty' : 'json'),
    stream: stderr,
    colour: color && stderr.isTTY,
    secrets: () => [secret(settings.apiKey), secret(settings.git.token)],
  });
}

function secret(read: () => string | undefined): string {
  try {
    return read() ?? '';
  } catch {
    return '';
  }
}

function onlySource(
  directory: string,
  flags: WatchFlags,
  settings: OperatorSettings,
): WatchedSource {
  const { repo, branch, path, interval, jitter, debounce, schedule, title, comment } = flags;
  if (repo === undefined && (branch !== undefined || path !== undefined)) {
    throw new FlaghoistError('USAGE', 'cannot use --branch or --path without --repo');
  }
  if (schedule !== 'off' && !isSchedule(schedule)) {
    throw new FlaghoistError(
      'USAGE',
      `cannot use --schedule "${schedule}": five fields of cron are expected, or off`,
    );
  }
  return {
    name: 'default',
    place: repo === undefined ? { directory } : { repo, branch, path },
    intervalMs: interval,
    jitterMs: jitter ?? interval * JITTER_PART,
    debounceMs: debounce,
    schedule: schedule === 'off' ? null : schedule,
    words: { ...(title !== undefined && { title }), ...(comment !== undefined && { comment }) },
    run: flags,
    settings,
  };
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise((resolve) => {
    signal.addEventListener('abort', resolve, { once: true });
  });
}
