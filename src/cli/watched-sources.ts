import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { present } from '../model/collections.js';
import { parseDuration } from '../platform/clock.js';
import type { ConnectionFlags, RunFlags } from '../compose/run.js';
import type { WatchedSource } from '../compose/watch.js';
import { secretInFile, type OperatorSettings } from '../compose/settings.js';
import { isSchedule } from '../daemon/source/schedule.js';
import { FlagkeelError, messageOf } from '../errors.js';
import type { SourceSpec } from '../generated/watch.schema.d.js';
import { diagnosticsText } from '../report/text/diagnostics.js';
import { readWatchConfig } from '../specs/read-config.js';
import { givenNote, type NoteOptions } from './options.js';

/** Of the interval, where no jitter is given. */
const JITTER_PART = 0.1;
/** A shorter interval would do nothing but look. */
const MIN_INTERVAL_MS = 100;

/** What the command line says of all sources; a file of sources may say some of it for each source anew. */
export interface SourceOptions
  extends
    ConnectionFlags,
    NoteOptions,
    Pick<
      RunFlags,
      | 'environment'
      | 'concurrency'
      | 'prune'
      | 'adopt'
      | 'revertDrift'
      | 'allowOlder'
      | 'lockTimeout'
    > {
  readonly repo?: string;
  readonly branch?: string;
  readonly path?: string;
  readonly config?: string;
  /** Milliseconds; likewise the two below. */
  readonly interval: number;
  readonly jitter?: number;
  readonly debounce: number;
  readonly schedule: string;
}

/**
 * @param directory what is watched if the command line names neither a repository nor a file of sources.
 *
 * @throws FlagkeelError `USAGE`: options contradict each other, or the file cannot be used.
 */
export async function watchedSources(
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
  let bytes: Buffer;
  try {
    bytes = await readFile(file);
  } catch (error) {
    const message = `cannot read the sources in "${file}": ${messageOf(error)}`;
    throw new FlagkeelError('USAGE', message, { cause: error });
  }
  const result = readWatchConfig(file, bytes);
  if (result.ok) return result.config.sources;
  const problems = diagnosticsText(result.diagnostics, { color: false });
  throw new FlagkeelError('USAGE', `cannot use the sources in "${file}": ${problems}`);
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
    ...{ name, place, settings: ownSettings(spec, folder, settings) },
    run: { ...options, ...present({ environment: environments, url, prune, adopt, revertDrift }) },
  };
}

/** Credentials of one source go before those of the environment. */
function ownSettings(
  { apiKeyFile, gitUser, gitTokenFile, sshKeyFile, knownHostsFile }: SourceSpec,
  folder: string,
  settings: OperatorSettings,
): OperatorSettings {
  const { git } = settings;
  const at = (file: string): string => resolve(folder, file);
  return {
    ...settings,
    ...(apiKeyFile !== undefined && {
      apiKey: () => secretInFile(at(apiKeyFile), 'Admin API key'),
    }),
    git: {
      user: gitUser ?? git.user,
      token:
        gitTokenFile === undefined
          ? git.token
          : () => secretInFile(at(gitTokenFile), 'token of the git server'),
      sshKeyFile: sshKeyFile === undefined ? git.sshKeyFile : at(sshKeyFile),
      knownHostsFile: knownHostsFile === undefined ? git.knownHostsFile : at(knownHostsFile),
    },
  };
}

/** How often a source is looked at, and the note of every write. */
function rhythm(
  options: SourceOptions,
): Pick<WatchedSource, 'intervalMs' | 'jitterMs' | 'debounceMs' | 'schedule' | 'note'> {
  const { interval, jitter, debounce, schedule } = options;
  if (interval < MIN_INTERVAL_MS) {
    throw new FlagkeelError('USAGE', `cannot look more often than every ${MIN_INTERVAL_MS} ms`);
  }
  if (schedule !== 'off' && !isSchedule(schedule)) {
    throw new FlagkeelError(
      'USAGE',
      `cannot use the schedule "${schedule}": five fields of cron are expected, or off`,
    );
  }
  return {
    intervalMs: interval,
    jitterMs: jitter ?? interval * JITTER_PART,
    debounceMs: debounce,
    schedule: schedule === 'off' ? null : schedule,
    note: givenNote(options),
  };
}
