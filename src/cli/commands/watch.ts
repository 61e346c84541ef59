import { Option, type Command } from 'commander';
import {
  readOperations,
  readStatuses,
  type ForgeRequest,
  type OperationsRequest,
} from '../../compose/operations.js';
import {
  createDaemon,
  databaseOf,
  openReplicas,
  ownRepositories,
  secretsInUrl,
  startMaintenance,
  type WatchedSource,
} from '../../compose/watch.js';
import {
  forgeToken,
  operatorSettings,
  secretInFile,
  secretOrNone,
  type OperatorSettings,
} from '../../compose/settings.js';
import { Metrics } from '../../daemon/metrics/metrics.js';
import { exitCodeOfSignal, FlagkeelError, type ExitCode } from '../../errors.js';
import { createLog, type Log } from '../../platform/log.js';
import {
  durationOption,
  givenNote,
  lockOption,
  logFormatOption,
  noteOptions,
  placeOptions,
  policyOptions,
  positive,
  repeatableOption,
  timeoutOption,
  type CommonOptions,
  type NoteOptions,
} from '../options.js';
import type { DeclareCommand } from '../command.js';
import { aborted, ending, isTerminal, type Screen, type Terminal } from '../terminal.js';
import { dirname, resolve } from 'node:path';
import { present } from '../../model/collections.js';
import { readBounded } from '../../platform/bounded-file.js';
import { parseDuration } from '../../platform/clock.js';
import type { RunFlags } from '../../compose/run.js';
import { isSchedule } from '../../daemon/source/triggers.js';
import type { SourceSpec } from '../../generated/watch.schema.d.js';
import { diagnosticsText } from '../../report/text/diagnostics.js';
import { readWatchConfig } from '../../specs/read-config.js';

const HOURLY = '0 * * * *';

interface WatchOptions
  extends
    SourceOptions,
    OperationsRequest,
    ForgeRequest,
    Pick<CommonOptions, 'color' | 'quiet' | 'verbose' | 'logFormat'> {
  readonly database?: string;
  /** Milliseconds. */
  readonly lease: number;
}

export const declareWatch: DeclareCommand = (command, invocation) => {
  command.argument('[directory]', 'config repository', '.');
  sourceOptions(command);
  runOptions(command);
  surfaceOptions(command);
  command
    .optionsGroup('Log:')
    .option('--no-color', 'plain text')
    .option('--quiet', 'only warnings and errors in the log')
    .option('--verbose', 'say more in the log')
    .addOption(logFormatOption());
  // Sources that share a state take turns.
  lockOption(timeoutOption(placeOptions(command)), '1m').action(ending(watch, invocation));
};

function sourceOptions(command: Command): void {
  const config = new Option('--config <file>', 'follow all sources that this file names');
  const jitter = 'random time added to the interval (default: a tenth of it)';
  const debounce = 'how long to wait for more changes before a run';
  command
    .optionsGroup('Source:')
    .option('--repo <url>', 'follow a git server instead of a directory')
    .option('--branch <name>', 'with --repo: which branch (default: the server’s HEAD)')
    .option('--path <path>', 'with --repo: where in the repository flagkeel.yaml lies')
    .addOption(config.conflicts(['repo', 'branch', 'path']))
    .addOption(durationOption('--interval', 'how often to look for commits', '30s'))
    .addOption(durationOption('--jitter', jitter))
    .addOption(durationOption('--debounce', debounce, '500ms'))
    .option('--schedule <cron>', 'full check for drift; or `off`', HOURLY);
}

function surfaceOptions(command: Command): void {
  const allowHost = 'with --listen on loopback: answer under this name of a proxy too';
  const statuses =
    'set statuses on commits: github or gitlab, or github:owner/name, gitlab:group/project';
  command
    .optionsGroup('Status page and messages:')
    .option('--listen <[host:]port>', 'serve status page, metrics, health and webhooks')
    .addOption(repeatableOption('--allow-host <name>', allowHost))
    .option('--token-file <file>', 'with --listen: take requests with one of these tokens')
    .option('--private', 'with --token-file: nothing can be seen without one of these tokens')
    .option('--webhook-secret-file <file>', 'with --listen: take webhooks signed with one of these')
    .addOption(repeatableOption('--notify <url>', 'send a message for each run that matters'))
    .option('--notify-file <file>', 'the same, one address a line')
    .option('--notify-template <file>', 'text of the messages to plain=… addresses')
    .option('--statuses <forge>', statuses)
    .option('--forge-url <url>', 'with --statuses: of the API of the forge')
    .option('--public-url <url>', 'with --statuses: where people find the status page');
}

function runOptions(command: Command): void {
  const lease = 'with --database: a replica is replaced after this time of silence';
  const allowOlder = 'apply a commit that is older than that of the last apply';
  command
    .optionsGroup('Replicas:')
    .option('--database <url>', 'share the work with other replicas, over PostgreSQL')
    .addOption(durationOption('--lease', lease, '15s'))
    .optionsGroup('What a run may write:')
    .addOption(repeatableOption('--environment <name>', 'only this environment'))
    .option('--concurrency <n>', 'requests at the same time', positive);
  policyOptions(command).option('--allow-older', allowOlder);
  noteOptions(command);
}

/** Reads the whole command line before it opens anything. What fails later is said in the log, and tried again. */
async function watch(
  directory: string,
  options: WatchOptions,
  { terminal }: Screen,
): Promise<ExitCode> {
  const settings = operatorSettings(terminal.environment);
  const sources = await watchedSources(directory, options, settings);
  const database = databaseOf(options, settings);
  const log = watchLog(options, terminal, { sources, database });
  const { environment, signal } = terminal;
  const openStatuses = readStatuses(options, sources, environment);
  const openOperations = await readOperations(options);
  const replicas = await openReplicas(database, options.lease, log);
  try {
    const metrics = new Metrics();
    const daemon = createDaemon(sources, log, { traffic: metrics.traffic, replicas });
    const operations = await openOperations(daemon, { metrics, log });
    const statuses = openStatuses(daemon, log);
    const house = startMaintenance(daemon, ownRepositories(sources), log);
    const { version } = daemon;
    log.info({ version, sources: daemon.sources().length, url: operations.url }, 'watching');
    terminal.onHangup?.(() => {
      daemon.trigger(null, 'signal');
    });
    daemon.start();
    replicas?.start();
    await aborted(signal);
    log.info({ signal: signal.reason as unknown }, 'stopping');
    // The sources end before what they report to.
    await daemon.stop(signal.reason);
    await replicas?.close();
    await Promise.all([operations.close(), statuses.close(), house.close()]);
    log.info({}, 'stopped');
  } catch (error) {
    await replicas?.close();
    throw error;
  }
  return exitCodeOfSignal(signal);
}

/** Reads every secret again for each line, since a file with a secret may change while the daemon runs. */
function watchLog(
  { quiet, verbose, logFormat, color }: WatchOptions,
  { stderr, environment }: Terminal,
  { sources, database }: { sources: readonly WatchedSource[]; database: string | undefined },
): Log {
  const otherwise = quiet === true ? 'warn' : 'info';
  return createLog({
    level: verbose === true ? 'debug' : otherwise,
    format: logFormat ?? (isTerminal(stderr) ? 'pretty' : 'json'),
    stream: stderr,
    colour: color && isTerminal(stderr),
    secrets: () => [
      secretOrNone(() => forgeToken(environment)),
      ...sources.flatMap(({ settings: { apiKey, git } }) => [apiKey, git.token].map(secretOrNone)),
      ...(database === undefined ? [] : secretsInUrl(database)),
    ],
  });
}

const JITTER_PART = 0.1;
/** A shorter interval would do nothing but look. */
const MIN_INTERVAL_MS = 100;

/** What the command line says of all sources; a file of sources may say some of it for each source anew. */
interface SourceOptions extends RunFlags, NoteOptions {
  readonly repo?: string;
  readonly branch?: string;
  readonly path?: string;
  readonly config?: string;
  /** Milliseconds, as `jitter` and `debounce`. */
  readonly interval: number;
  readonly jitter?: number;
  readonly debounce: number;
  readonly schedule: string;
}

/** @throws FlagkeelError `USAGE`: options contradict each other, or the file cannot be used. */
async function watchedSources(
  directory: string,
  options: SourceOptions,
  settings: OperatorSettings,
): Promise<readonly WatchedSource[]> {
  const { config, repo, branch, path } = options;
  if (config !== undefined) {
    const specs = await readSources(config);
    return specs.map((spec) => sourceOf(spec, dirname(resolve(config)), options, settings));
  }
  if (repo === undefined && (branch !== undefined || path !== undefined)) {
    throw new FlagkeelError('USAGE', 'cannot use --branch or --path without --repo');
  }
  const place = repo === undefined ? { directory } : { repo, branch, path };
  return [{ ...rhythm(options), name: 'default', place, run: options, settings }];
}

async function readSources(file: string): Promise<readonly SourceSpec[]> {
  const result = readWatchConfig(file, await readBounded(file, 'read the sources in'));
  if (result.ok) return result.config.sources;
  const items = diagnosticsText(result.diagnostics, { color: false }).split('\n').filter(Boolean);
  throw new FlagkeelError('USAGE', `cannot use the sources in "${file}"`, { items });
}

/** One source of a file. Paths in the file start at its folder, as the file may be used from anywhere. */
function sourceOf(
  spec: SourceSpec,
  folder: string,
  options: SourceOptions,
  settings: OperatorSettings,
): WatchedSource {
  const { name, directory, repo, branch, path, environments, interval, schedule } = spec;
  const { url, prune, adopt, revertDrift } = spec;
  const place =
    repo === undefined ? { directory: resolve(folder, directory ?? '.') } : { repo, branch, path };
  return {
    ...rhythm({ ...options, ...present({ interval: parseDuration(interval ?? ''), schedule }) }),
    name,
    place,
    settings: ownSettings(spec, folder, settings),
    run: { ...options, ...present({ environment: environments, url, prune, adopt, revertDrift }) },
  };
}

/** Credentials of one source go before those of the environment. */
function ownSettings(
  { apiKeyFile, gitUser, gitTokenFile, sshKeyFile, knownHostsFile }: SourceSpec,
  folder: string,
  settings: OperatorSettings,
): OperatorSettings {
  const { git, apiKey } = settings;
  const own = <T>(file: string | undefined, read: (path: string) => T, others: T): T =>
    file === undefined ? others : read(resolve(folder, file));
  const secret = (what: string) => (path: string) => (): string => secretInFile(path, what);
  return {
    ...settings,
    apiKey: own(apiKeyFile, secret('Admin API key'), apiKey),
    git: {
      ...git,
      user: gitUser ?? git.user,
      token: own(gitTokenFile, secret('token of the git server'), git.token),
      sshKeyFile: own(sshKeyFile, String, git.sshKeyFile),
      knownHostsFile: own(knownHostsFile, String, git.knownHostsFile),
    },
  };
}

function rhythm(
  options: SourceOptions,
): Pick<WatchedSource, 'intervalMs' | 'jitterMs' | 'debounceMs' | 'schedule' | 'note'> {
  const { interval, jitter, debounce, schedule } = options;
  if (interval < MIN_INTERVAL_MS) {
    throw new FlagkeelError('USAGE', `cannot look more often than every ${MIN_INTERVAL_MS} ms`);
  }
  if (schedule !== 'off' && !isSchedule(schedule)) {
    const why = 'five fields of cron are expected, or off';
    throw new FlagkeelError('USAGE', `cannot use the schedule "${schedule}": ${why}`);
  }
  return {
    intervalMs: interval,
    jitterMs: jitter ?? interval * JITTER_PART,
    debounceMs: debounce,
    schedule: schedule === 'off' ? null : schedule,
    note: givenNote(options),
  };
}
